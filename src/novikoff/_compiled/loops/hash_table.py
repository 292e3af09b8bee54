"""Hash tables with open addressing: the search for a slot, which all tables here share.

    problem   find the slot that holds a key, or the free slot where it would be inserted
    given     a table whose number of slots is a power of two, of which at most half are used
    result    the number of a slot
    source    linear probing: Knuth, TAOCP 6.4, algorithm L

A search begins at the home slot of a key and goes on slot by slot, after the last one with the first, until it meets
the key or a free slot. Nothing is ever removed.

Most tables map 64-bit keys, which are hashes, to the indices 0, 1, ... in order of insertion: a slot is
(key, index + 1), or zeros if it is free. The tables of `names.py`, `ngrams.py` and `delimited.py` hold something else
and compare names by themselves; they share `home_slot`, `next_slot` and `is_too_small`.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.simd import prefetch

_u = np.uint64

_KEYS_AHEAD = _u(16)  # keys whose slots are prefetched: a table is larger than the cache


@inlined
def home_slot(table, key):
    """Return the slot where the search for a key begins. The upper half of a key counts too, because the lower bits of
    a shifted hash may be few."""
    return (key ^ (key >> _u(32))) & _u(table.shape[0] - 1)


@inlined
def next_slot(table, slot):
    """Return the slot after a slot."""
    return (slot + _u(1)) & _u(table.shape[0] - 1)


@inlined
def prefetch_home(table, key):
    """Prefetch the slot where the search for a key begins, in a table of two 64-bit words per slot."""
    prefetch(table, _u(2) * home_slot(table, key))


@inlined
def is_too_small(table, count):
    """Return whether a table has too few slots for this many keys."""
    return 2 * count > table.shape[0]


@inlined
def find_slot(table, key):
    """Return the slot that holds a key, or the free slot where it would be inserted."""
    slot = home_slot(table, key)
    while table[slot, 1] != _u(0) and table[slot, 0] != key:
        slot = next_slot(table, slot)
    return slot


@inlined
def find_free_slot(table, key):
    """Return the free slot where a key that is not in the table would be inserted."""
    slot = home_slot(table, key)
    while table[slot, 1] != _u(0):
        slot = next_slot(table, slot)
    return slot


@inlined
def fill_slot(table, slot, key, index):
    """Write a key and its index to a slot."""
    table[slot, 0] = key
    table[slot, 1] = _u(index + 1)


@inlined
def index_in(table, slot):
    """Return the index that a slot holds, -1 if it is free (a free slot holds 0, and 0 - 1 is -1)."""
    return np.int64(table[slot, 1]) - 1


@inlined
def index_of(table, key):
    """Return the index of a key, -1 if it is not in the table."""
    return index_in(table, find_slot(table, key))


@loop
def find_keys(keys, table, indices):
    """indices[i] = the index of keys[i], -1 if it is not in the table."""
    for i in range(_u(keys.size)):
        prefetch_home(table, keys[min(i + _KEYS_AHEAD, _u(keys.size) - _u(1))])
        indices[i] = index_of(table, keys[i])


@loop
def append_keys(keys, table, count):
    """Insert new, distinct keys into a table that is large enough, with indices from `count` on. Return the new
    count."""
    for i in range(keys.size):
        fill_slot(table, find_free_slot(table, keys[i]), keys[i], count + i)
    return count + keys.size


@loop
def copy_table(table, larger):
    """Insert all keys of a table into a larger one that is empty."""
    for k in range(table.shape[0]):
        if table[k, 1] != _u(0):
            slot = find_free_slot(larger, table[k, 0])
            larger[slot, 0] = table[k, 0]
            larger[slot, 1] = table[k, 1]


@loop
def list_keys(table, keys):
    """keys[index] = the key with this index."""
    for k in range(table.shape[0]):
        if table[k, 1] != _u(0):
            keys[table[k, 1] - _u(1)] = table[k, 0]
