"""Sharing rows among the processors: our kernels let other threads run meanwhile."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

__all__ = ["Lock", "at_most", "share"]

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()  # of the process
_ReentrantLock: Any = type(RLock())  # threading.RLock is a function


class Lock(_ReentrantLock):  # type: ignore[misc]
    """A lock that a thread may take again while it has it. Copies of an object that has one get locks of their own,
    also by way of pickle. After a fork a lock is free in the child if another thread held it, as the child has none.
    """

    def __init__(self) -> None:
        _locks.add(self)

    @property
    def is_mine(self) -> bool:
        """Whether this thread has it."""
        return bool(self._is_owned())

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


def _free_locks_of_others() -> None:
    for lock in list(_locks):
        if lock.acquire(blocking=False):
            lock.release()
        else:
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):  # not on every system
    os.register_at_fork(after_in_child=_free_locks_of_others)


_limits: list[int] = []  # those in force, in the whole process


def share(work: Callable[[int, int], object], n: int, least: int) -> None:
    """Call work(begin, end) for parts of range(n) that are none below `least`, one for each processor, all at once."""
    parts = max(1, min(_processors(), n // max(1, least)))
    cuts = [part * n // parts for part in range(parts + 1)]
    waiting = [_begun(work, *cut) for cut in itertools.pairwise(cuts[1:])]
    work(*cuts[:2])
    for each in waiting:
        each.result()


def _begun(work: Callable[[int, int], object], begin: int, end: int) -> Future[object]:
    try:
        return _pool(os.getpid()).submit(work, begin, end)
    except RuntimeError:  # Python is about to end, and starts no threads any more
        done: Future[object] = Future()
        done.set_result(work(begin, end))
        return done


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of this process: a fork has none of those of its parent."""
    return ThreadPoolExecutor(thread_name_prefix="novikoff")


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """No more threads than this for each, for the time being and in the whole process, as threadpoolctl has it for
    others; None for no limit."""
    if threads is None:
        yield
        return
    _limits.append(threads)
    try:
        yield
    finally:
        _limits.remove(threads)


def _processors() -> int:
    """As many as this process may use; OMP_NUM_THREADS, which joblib sets in its workers, may say fewer."""
    try:
        free = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        free = os.cpu_count() or 1
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(free, *_limits, int(said) if said.isdecimal() and int(said) else free)
