"""Places for hashes."""

from __future__ import annotations

import numpy as np

from novikoff.kernels import tokens as kernels

__all__ = ["Table"]

_SOME = (
    4096  # keys to have room for at a time: were there room for all, few of them new, the table would not stay small
)


class Table:
    """Places for hashes, numbered from 0 as they come.

    Attributes
    ----------
    slots : ndarray of uint64
        Pairs of a hash and its place + 1, or zeros; never more than half full.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.structured.table import Table
    >>> table = Table()
    >>> table.enter(np.array([7, 5], np.uint64))
    >>> table.places(np.array([5, 6, 7], np.uint64)).tolist()
    [1, -1, 0]
    """

    def __init__(self, size: int = 1 << 12) -> None:
        self.slots = np.zeros((size, 2), np.uint64)
        self.count = 0

    def grow(self, count: int) -> None:
        """Make room for this many."""
        if 2 * count > len(self.slots):
            larger = np.zeros((1 << (2 * count - 1).bit_length(), 2), np.uint64)
            kernels.move_table(self.slots, larger)
            self.slots = larger

    def enter(self, keys: np.ndarray) -> None:
        """Have keys[i] at place i; those that had one before are the first of them."""
        self.grow(len(keys))
        kernels.fill_keys(keys, self.count, self.slots)
        self.count = len(keys)

    def add(self, keys: np.ndarray) -> np.ndarray:
        """Have a place for each of these, of which many may be the same; return which of them were the first with a new
        one."""
        found = []
        for at in range(0, len(keys), _SOME):
            some = keys[at : at + _SOME]
            fresh = np.empty(len(some), np.int64)
            self.grow(self.count + len(some))
            before, self.count = self.count, kernels.enter_keys(some, self.slots, self.count, fresh)
            found.append(at + fresh[: self.count - before])
        return np.concatenate([np.empty(0, np.int64), *found])

    def keys(self) -> np.ndarray:
        """The hash at each place."""
        found = np.empty(self.count, np.uint64)
        kernels.keys_of_places(self.slots, found)
        return found

    def places(self, keys: np.ndarray) -> np.ndarray:
        """The place of each hash, or -1."""
        found = np.empty(len(keys), np.int32)
        kernels.look_up(keys, self.slots, found)
        return found
