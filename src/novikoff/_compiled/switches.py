"""Which fast paths are on: NOVIKOFF_PLAIN=1 turns everything hand-written off.

    hand-written IR       functions that are written for LLVM (llvm.py, loops/simd.py), instead of by numba
    compiled dicts        `learn_one` and `predict_one` of dicts in compiled code (pyobjects.py, loops/dicts.py)
    fewer reference counts, checked cache, uninterrupted compilation      see numba_private.py

Each has a fallback with equal results: numba compiles the plain loop, or Python does the work.
"""

from __future__ import annotations

import os

from llvmlite.binding import get_host_cpu_features

__all__ = ["PLAIN", "PREFETCHES_ROWS", "fast_paths", "note"]

PLAIN = os.environ.get("NOVIKOFF_PLAIN", "") not in ("", "0")

# Whether the processor prefetches rows that are read in order early enough by itself. By measurement: AMD Zen 4 and
# later (the first of AMD with 512-bit vectors) do, and prefetch instructions slow them down by a tenth; older
# processors are faster by as much with them.
PREFETCHES_ROWS = get_host_cpu_features().get("avx512f", False)

_statuses: dict[str, str] = {}


def note(path: str, status: str) -> None:
    """Remember whether a fast path is on, or why not."""
    _statuses[path] = status


def fast_paths() -> dict[str, str]:
    """Return the status of each fast path that has been imported so far: "on", or why not."""
    return dict(_statuses)
