"""Exclusive access to objects that learn: threads, interrupts and forks leave them valid.

An object that uses this has a lock, from `make_lock`, and follows three rules.

1.  Only a call that holds the lock changes the object, or reads several of its parts.
2.  A change that takes several steps is first stored in one attribute, the pending change, in such a form that applying
    it twice does no harm. A KeyboardInterrupt may occur between any two of the steps: the next call that takes the lock
    applies the change, or undoes it.
3.  A call from within another call of the same thread (a signal handler, a finalizer, a method of an argument) cannot
    wait for the lock. It may read, after it has applied the pending change; learning is refused.

The lock is acquired inside `try` and released in `finally`. CPython handles signals after calls and backward jumps, so
an interrupt comes after `acquire`, where `finally` releases the lock, or after `release`. A `with` statement is twice
as slow, and from Python 3.14 on an interrupt may come after `__enter__` and before the block that it belongs to.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from novikoff.errors import ReentryError
from novikoff.system.registry import WeakRegistry
from novikoff.system.threads import Lock

__all__ = ["ExclusiveAccess", "exclusive_read", "exclusive_write", "make_lock", "reentry_error", "refuse_reentry"]

Method = TypeVar("Method", bound=Callable[..., Any])

_owners: WeakRegistry[Any] = WeakRegistry()


def make_lock(owner: Any) -> Any:
    """Set and return the attribute `_lock` of an object; a forked process replaces it if another thread held it."""
    owner._lock = lock = threading.RLock()  # before a fork can find the owner
    _owners.add(owner)
    return lock


def reentry_error(owner: object) -> ReentryError:
    """Return the error for a call that comes from within another one of the same thread."""
    return ReentryError(
        f"A {type(owner).__name__} was asked to learn while this thread was inside another call on it: by a signal "
        "handler, a finalizer, a rule, an attribute, a problem, or a method of an example. Nothing of this example was "
        "learned; learn from it after the other call has returned."
    )


def refuse_reentry(lock: Lock, owner: object) -> None:
    """Raise a ReentryError if this thread holds the lock already, since it cannot wait for itself.

    For learners that take a lock with `with` in the middle of a method, such as taggers: they first convert their
    arguments, which calls code of the user, and then learn.
    """
    if lock.is_held_here:
        raise reentry_error(owner)


def exclusive_write(method: Method) -> Method:
    """Decorate a method that changes the object: it waits for other threads, and is refused within another call."""
    return _call_with_lock(method, is_read=False)


def exclusive_read(method: Method) -> Method:
    """Decorate a method that reads the object: it waits for other threads, but also works within another call."""
    return _call_with_lock(method, is_read=True)


def _call_with_lock(method: Method, *, is_read: bool) -> Method:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = self._lock
        if lock._is_owned():
            if not is_read:
                raise reentry_error(self)
            self._apply_pending()
            return method(self, *args, **kwargs)
        try:
            lock.acquire()
            self._recover()
            if is_read:
                self._compact()
            result = method(self, *args, **kwargs)
            self._before_release()
            return result
        finally:
            try:  # noqa: SIM105 - one call, and nothing that could be interrupted before it
                lock.release()
            except RuntimeError:  # interrupted while it waited for the lock
                pass

    return call  # type: ignore[return-value]


class ExclusiveAccess:
    """An object with a lock. Subclasses define how they recover from a call that was interrupted."""

    _lock: Any

    def _apply_pending(self) -> None:
        """Apply the pending change, if there is one."""

    def _recover(self) -> None:
        """Apply or undo the change that an interrupted call has left pending."""
        self._apply_pending()

    def _compact(self) -> None:
        """Reorganise data so that reading is faster; not called within another call."""

    def _before_release(self) -> None:
        """Run at the end of a call, before the lock is released."""

    def _on_fork(self) -> None:
        """Run in a forked process on a copy of an object that another thread was using at the fork."""


def _after_fork() -> None:
    """Replace locks that are held by a thread which does not exist in this process."""
    for owner in _owners.live_objects():
        lock = owner._lock
        if lock.acquire(blocking=False):
            lock.release()
        else:
            owner._lock = threading.RLock()
            owner._on_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
