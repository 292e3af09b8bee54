"""HashTable: the index of each of a growing number of hashes."""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops import hash_table as loops

__all__ = ["HashTable"]


class HashTable:
    """A map from 64-bit hashes, the keys, to the indices 0, 1, ... in order of insertion; open addressing.

    Attributes
    ----------
    slots : ndarray of uint64
        One row per slot: a key and its index + 1, or zeros if the slot is free. The number of slots is a power of two,
        and at most half of them are used. A key is searched from its home slot on, slot by slot; see
        `loops.hash_table`.
    count : int
        The number of keys.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.structured.hash_table import HashTable
    >>> table = HashTable()
    >>> table.append(np.array([7, 5], np.uint64))
    >>> table.find(np.array([5, 6, 7], np.uint64)).tolist()
    [1, -1, 0]
    """

    def __init__(self, n_slots: int = 1 << 12) -> None:
        self.slots = np.zeros((n_slots, 2), np.uint64)
        self.count = 0

    @classmethod
    def from_keys(cls, keys: np.ndarray) -> HashTable:
        """Make a table in which keys[i] has index i."""
        table = cls()
        table.append(keys)
        return table

    def copy(self) -> HashTable:
        """Return a table of the same keys that shares no memory with this one."""
        table = HashTable(0)
        table.slots, table.count = self.slots.copy(), self.count
        return table

    def reserve(self, count: int) -> None:
        """Allocate more slots if there are too few for this many keys."""
        if 2 * count > len(self.slots):
            larger = np.zeros((1 << (2 * count - 1).bit_length(), 2), np.uint64)
            loops.copy_table(self.slots, larger)
            self.slots = larger

    def append(self, keys: np.ndarray) -> None:
        """Insert new, distinct keys, with the next indices."""
        self.reserve(self.count + len(keys))
        self.count = loops.append_keys(keys, self.slots, self.count)

    def extend_to(self, keys: np.ndarray) -> None:
        """Insert those of keys[i] that are new, with index i; the first ones are those of this table."""
        self.append(keys[self.count :])

    def keys(self) -> np.ndarray:
        """Return all keys by index."""
        keys = np.empty(self.count, np.uint64)
        loops.list_keys(self.slots, keys)
        return keys

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Return the index of each key, or -1."""
        indices = np.empty(len(keys), np.int32)
        loops.find_keys(keys, self.slots, indices)
        return indices
