"""Threads that share the work of a loop, and locks that survive copies and forks.

Compiled loops release the interpreter's lock, so that threads run them at the same time.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

from novikoff.system.registry import WeakRegistry

__all__ = ["Lock", "limit_threads", "run_in_threads"]

_locks: WeakRegistry[Lock] = WeakRegistry()  # all locks of this process
_ReentrantLock: Any = type(RLock())  # threading.RLock is a function


class Lock(_ReentrantLock):  # type: ignore[misc]
    """A reentrant lock that can be copied, pickled and forked.

    A copy of a lock, also by pickle, is a new lock. A lock that another thread held at a fork is free in the child,
    which does not have that thread.
    """

    def __init__(self) -> None:
        _locks.add(self)

    @property
    def is_held_here(self) -> bool:
        """Whether the current thread holds it."""
        return bool(self._is_owned())

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


def _free_locks_of_missing_threads() -> None:
    for lock in _locks.live_objects():
        if lock.acquire(blocking=False):
            lock.release()
        else:
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):  # not on every system
    os.register_at_fork(after_in_child=_free_locks_of_missing_threads)


_limits: list[int] = []  # in force, for the whole process


def run_in_threads(work: Callable[[int, int], object], n: int, min_size: int) -> None:
    """Call work(start, stop) on parts of range(n), one part per processor, at the same time.

    No part is smaller than min_size, unless n is.
    """
    n_parts = max(1, min(n_processors(), n // max(1, min_size)))
    edges = [part * n // n_parts for part in range(n_parts + 1)]
    futures = [_submit(work, *part) for part in itertools.pairwise(edges[1:])]
    work(*edges[:2])
    for future in futures:
        future.result()


def _submit(work: Callable[[int, int], object], start: int, stop: int) -> Future[object]:
    try:
        return _pool(os.getpid()).submit(work, start, stop)
    except RuntimeError:  # the interpreter is about to exit and starts no more threads
        done: Future[object] = Future()
        done.set_result(work(start, stop))
        return done


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of this process: a fork does not have those of its parent."""
    return ThreadPoolExecutor(thread_name_prefix="novikoff")


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Limit the threads of `run_in_threads` within a block, for the whole process; None for no limit.

    threadpoolctl does this for BLAS and OpenMP.
    """
    if threads is None:
        yield
        return
    _limits.append(threads)
    try:
        yield
    finally:
        _limits.remove(threads)


def n_processors() -> int:
    """Return how many processors this process may use; OMP_NUM_THREADS, which joblib sets in its workers, limits it."""
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        available = os.cpu_count() or 1
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(available, *_limits, int(setting) if setting.isdecimal() and int(setting) else available)
