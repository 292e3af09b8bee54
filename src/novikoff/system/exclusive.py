"""One call at a time: how an object that learns is shared by threads, and survives interrupts and forks.

An object that uses this has a lock, from `lock_for`, and keeps to three rules.

1.  Only a call that holds the lock changes the object, or reads several of its parts.
2.  A change that takes several steps is written down first, in one attribute, in such a way that carrying it out twice
    does no harm. A KeyboardInterrupt may strike between any two of the steps: whoever takes the lock next carries the
    change out, or takes it back.
3.  A call from within another call of the same thread (a signal handler, a finalizer, a method of an argument) cannot
    wait for the lock. It may read, after it has carried out the change that is written down; to learn is refused.

The lock is acquired inside `try` and released in `finally`. CPython handles signals after calls and backward jumps, so
an interrupt comes after `acquire`, where `finally` releases the lock, or after `release`. A `with` statement is twice
as slow, and from Python 3.14 on an interrupt may come after `__enter__` and before the block that it belongs to.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from novikoff.errors import ReentryError

__all__ = ["Exclusive", "learning", "lock_for", "reading", "refuse_to_learn"]

Method = TypeVar("Method", bound=Callable[..., Any])

_owners: weakref.WeakSet[Any] = weakref.WeakSet()


def lock_for(owner: Any) -> Any:
    """A lock for the attribute `_lock` of an object, which gets another one in a forked process if need be."""
    _owners.add(owner)
    return threading.RLock()


def refuse_to_learn(owner: object) -> ReentryError:
    """What to raise where a call comes from within another one of the same thread."""
    return ReentryError(
        f"A {type(owner).__name__} was asked to learn while this thread was inside another call on it: by a signal "
        "handler, a finalizer, a rule, or a method of an example. Nothing of this example was learned; learn from it "
        "after the other call has returned."
    )


def learning(method: Method) -> Method:
    """Make a method one that changes the object: it waits for other threads, and is refused within another call."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = self._lock
        if lock._is_owned():
            raise refuse_to_learn(self)
        try:
            lock.acquire()
            self._recover()
            found = method(self, *args, **kwargs)
            self._leave()
            return found
        finally:
            try:  # noqa: SIM105 - one call, and nothing that could be interrupted before it
                lock.release()
            except RuntimeError:  # interrupted while it waited for the lock
                pass

    return call  # type: ignore[return-value]


def reading(method: Method) -> Method:
    """Make a method one that reads the object: it waits for other threads, not for a call that it comes from within."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = self._lock
        if lock._is_owned():
            self._carry_out()
            return method(self, *args, **kwargs)
        try:
            lock.acquire()
            self._recover()
            self._tidy()
            found = method(self, *args, **kwargs)
            self._leave()
            return found
        finally:
            try:  # noqa: SIM105 - one call, and nothing that could be interrupted before it
                lock.release()
            except RuntimeError:  # interrupted while it waited for the lock
                pass

    return call  # type: ignore[return-value]


class Exclusive:
    """An object with a lock; subclasses say how they come back from a call that did not end."""

    _lock: Any

    def _carry_out(self) -> None:
        """Carry out the change that is written down, if it can be; what is not begun stays as it is."""

    def _recover(self) -> None:
        """Carry out the change that a call left behind that was interrupted, or take it back."""
        self._carry_out()

    def _tidy(self) -> None:
        """Do what makes reading faster, and must not be done within another call."""

    def _leave(self) -> None:
        """Do what is to be done before the lock is released."""

    def _forked(self) -> None:
        """Note that this is a copy of an object that another thread was changing when the process forked."""


def _after_fork() -> None:
    """Give objects a new lock whose old one was held by a thread that this process does not have."""
    for owner in list(_owners):
        lock = owner._lock
        if lock.acquire(blocking=False):
            lock.release()
        else:
            owner._lock = threading.RLock()
            owner._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
