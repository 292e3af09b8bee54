"""Small inputs: files that plain Python has read and learned long before the loops for them would be compiled."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

__all__ = ["claim_process", "run_small_inputs_uncompiled"]

_SMALL = 24 << 10  # bytes of text; plain Python takes up to 30 microseconds for a byte of a table, 170 for one of prose
_SMALL_MODEL = 1 << 20  # bytes; a model that holds many names takes as long to load
_SWITCH = "NUMBA_DISABLE_JIT"
_CONTROLS = bytes({*range(32)} - set(b"\t\n\v\f\r"))  # text has none of these, compressed files nearly always

_is_own_process = False


def claim_process() -> None:
    """Say that this process runs one command and then ends, so that the compiler may be turned off in it."""
    global _is_own_process
    _is_own_process = True


def run_small_inputs_uncompiled(
    files: Iterable[str | Path], passes: int = 1, model: Path | None = None, cluster: str | None = None
) -> None:
    """Turn the compiler off in this process if it would only delay the answer: for a few kilobytes of text.

    Whether it is off depends only on the inputs, not on what has been compiled before: sums of several numbers are
    rounded in another order then, and a command that is given again has to write the same bytes. Nothing changes unless
    the process has been claimed, or where NUMBA_DISABLE_JIT is set.

    Parameters
    ----------
    files : iterable of str or Path
        All files that will be read.
    passes : int
        How many times.
    model : Path, optional
        The model that will be loaded.
    cluster : str, optional
        The cluster that will compute. Its processes compile, and all have to round alike, so nothing changes.
    """
    if not _is_own_process or cluster is not None or "numba" in sys.modules or _SWITCH in os.environ:
        return
    if all(_is_small(Path(file), _SMALL_MODEL) for file in [model] if file is not None) and _are_small(files, passes):
        os.environ[_SWITCH] = "1"
        # Outside of compiled code NumPy warns of hashes, which are the lower half of a product, and of 1/0.
        warnings.filterwarnings("ignore", r"[\w ]+ encountered in scalar", RuntimeWarning)


def _are_small(files: Iterable[str | Path], passes: int) -> bool:
    room = _SMALL // passes
    for file in map(Path, files):
        if not (_is_small(file, room) and _is_text(file)):
            return False
        room -= file.stat().st_size
    return True


def _is_small(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size <= size


def _is_text(path: Path) -> bool:
    """Whether a file is not compressed, neither as a whole nor, as Parquet and Excel files are, in parts."""
    content = path.read_bytes()
    return not content.startswith(b"BZh") and len(content.translate(None, _CONTROLS)) == len(content)
