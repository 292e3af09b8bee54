"""A registry of live objects, to be visited after a fork.

`weakref.WeakSet` removes dead objects in callbacks written in Python. A KeyboardInterrupt there is printed and
swallowed, so that a Ctrl-C can get lost. Here dead entries are dropped when objects are added.
"""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

__all__ = ["WeakRegistry"]

T = TypeVar("T")

_SMALLEST = 64  # entries that are never searched for dead ones


class WeakRegistry(Generic[T]):
    """Objects that are visited while something else keeps them alive.

    >>> registry = WeakRegistry()
    >>> one, other = {1}, {2}
    >>> registry.add(one), registry.add(other)
    (None, None)
    >>> del one
    >>> registry.live_objects()
    [{2}]
    """

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[T]] = {}
        self._limit = _SMALLEST

    def add(self, value: T) -> None:
        """Visit an object from now on. An address that is used again replaces the entry of a dead object."""
        if len(self._references) >= self._limit:
            live = {key: ref for key, ref in list(self._references.items()) if ref() is not None}
            self._references, self._limit = live, 2 * max(_SMALLEST, len(live))
        self._references[id(value)] = weakref.ref(value)

    def live_objects(self) -> list[T]:
        """Return the objects that are alive."""
        return [value for ref in list(self._references.values()) if (value := ref()) is not None]
