"""Sharing rows among the processors: our kernels let other threads run meanwhile."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["share"]


def share(work: Callable[[int, int], object], n: int, least: int) -> None:
    """Call work(begin, end) for parts of range(n) that are none below `least`, one for each processor, all at once."""
    parts = max(1, min(_processors(), n // max(1, least)))
    cuts = [part * n // parts for part in range(parts + 1)]
    waiting = [_pool(os.getpid()).submit(work, *cut) for cut in itertools.pairwise(cuts[1:])]
    work(*cuts[:2])
    for each in waiting:
        each.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of this process: a fork has none of those of its parent."""
    return ThreadPoolExecutor(thread_name_prefix="novikoff")


def _processors() -> int:
    """As many as this process may use; OMP_NUM_THREADS, which joblib sets in its workers, may say fewer."""
    try:
        free = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        free = os.cpu_count() or 1
    said = os.environ.get("OMP_NUM_THREADS", "")
    return min(free, int(said)) if said.isdigit() and int(said) > 0 else free
