"""Places for hashes."""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops import tokens as kernels

__all__ = ["Table"]


class Table:
    """Places for hashes, numbered from 0 as they come.

    Attributes
    ----------
    slots : ndarray of uint64
        Pairs of a hash and its place + 1, or zeros; never more than half full.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.structured.hash_table import Table
    >>> table = Table()
    >>> table.enter(np.array([7, 5], np.uint64))
    >>> table.places(np.array([5, 6, 7], np.uint64)).tolist()
    [1, -1, 0]
    """

    def __init__(self, size: int = 1 << 12) -> None:
        self.slots = np.zeros((size, 2), np.uint64)
        self.count = 0

    @classmethod
    def of(cls, keys: np.ndarray) -> Table:
        """A table that has keys[i] at place i."""
        found = cls()
        found.add(keys)
        return found

    def copy(self) -> Table:
        """The same places, in memory that only the copy changes."""
        found = Table(0)
        found.slots, found.count = self.slots.copy(), self.count
        return found

    def grow(self, count: int) -> None:
        """Make room for this many."""
        if 2 * count > len(self.slots):
            larger = np.zeros((1 << (2 * count - 1).bit_length(), 2), np.uint64)
            kernels.move_table(self.slots, larger)
            self.slots = larger

    def enter(self, keys: np.ndarray) -> None:
        """Have keys[i] at place i; those that had one before are the first of them."""
        self.add(keys[self.count :])

    def add(self, keys: np.ndarray) -> None:
        """Give new keys, each different from the others, the next places."""
        self.grow(self.count + len(keys))
        self.count = kernels.enter_keys(keys, self.slots, self.count)

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
