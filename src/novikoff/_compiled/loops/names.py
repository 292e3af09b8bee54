"""Names as bytes: keyed hashes, and a hash table that gives every name an index.

    problem   give every new name the next index, as long as there are indices left
    given     names, each with a prefix (a namespace or a column), and their 64-bit hashes under a secret key
    result    an index per name; once all indices are given out, further names share them, by a hash under another key
    source    the hash table: `hash_table.py`; the hash: Wang Yi, "wyhash", 2019 (folded products); against crafted
              names: Crosby and Wallach, "Denial of service via algorithmic complexity attacks", 2003; sharing:
              Weinberger et al., "Feature hashing for large scale multitask learning", 2009

Two names are equal if their bytes and those of their prefixes are: where hashes agree, the names are compared. So no
result depends on the key. It prevents anyone who does not know it from choosing names whose searches all begin at the
same slot.

A table has a slot of two 64-bit words for each name, zeros if the slot is free. Prefixes have indices too, in a table
of their own. The second word of a slot holds, from its lowest bit on:

    a name of up to 8 bytes   its size + 1 (8 bits), its index (28), the index of its prefix (28); the first word holds
                              its bytes, padded with zeros, so that it is compared without another read from memory
    a longer name             255 (8 bits) and the offset of its record; the first word holds its hash

A record is a header word with the size of the name (8 bits), its index (28) and the index of its prefix (28); then its
first eight bytes, its last eight bytes, and those from the ninth on, eight to a word, until all are there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.decimals import load_eight_bytes, load_first_bytes, multiply_wide
from novikoff._compiled.loops.hash_table import find_free_slot, home_slot, is_too_small, next_slot, prefetch_home

_u = np.uint64

MAX_SHOWN = 100  # bytes of a name that are shown to people
MAX_BYTES = 133  # of a name or a prefix in a table
MAX_RECORD = 1 + (MAX_BYTES + 7) // 8  # words of the largest record
MAX_NAMES = 1 << 28  # in a table
DONE, TOO_SMALL, NO_INDEX_LEFT, TOO_LONG = range(4)  # why `find_indices` has returned
_MAX_IN_SLOT = 8  # bytes
_HAS_RECORD = _u(255)
_28_BITS = _u(MAX_NAMES - 1)
_MIXER = _u(0x9E3779B97F4A7C15)
_SLOTS_AHEAD = _u(24)  # names whose slots are prefetched: a table is larger than the cache


class NameArrays(NamedTuple):
    """Names: name i is text[spans[i, 0]:spans[i, 1]], its prefix is number prefix_of[i] of those that occur, and
    hashes[i] is the hash of both."""

    text: np.ndarray
    spans: np.ndarray
    hashes: np.ndarray
    prefix_of: np.ndarray


class SharingHash(NamedTuple):
    """The hash by which names share the indices of others: the hashes of all prefixes under its key, none if there is
    no key yet; the factor of the key; how many bits a hash is shifted by. is_shared[index] is set for a shared one."""

    prefix_hashes: np.ndarray
    factor: np.uint64
    shift: np.uint64
    is_shared: np.ndarray


# -- hashes


@inlined
def folded_product(a, b):
    """Return the product of two words, with its upper half folded onto the lower. Without b it is not known
    which a give equal results."""
    high, low = multiply_wide(a, b)
    return high ^ low


@inlined
def short_hash(h, word, size, factor):
    """Continue hash h with a name of at most eight bytes, given as a word padded with zeros.

    A second product, which needs no key, makes every bit depend on every bit: after the first one, names that differ in
    one bit have hashes that differ in much the same way.
    """
    return folded_product(folded_product(h ^ word, factor ^ _u(size)), _MIXER)


@inlined
def name_hash(h, text, at, end, factor):
    """Continue hash h with the bytes text[at:end] of a name and its size, because the last bytes are padded with
    zeros."""
    size = end - at
    while end - at > 8:
        h = folded_product(h ^ load_eight_bytes(text, at), factor)
        at += 8
    return short_hash(h, load_first_bytes(text, at, end - at), size, factor)


@loop
def name_hashes(text, spans, begin, which, factor, hashes):
    """hashes[i] = begin[which[i]] continued with text[spans[i, 0]:spans[i, 1]]."""
    for i in range(hashes.size):
        hashes[i] = name_hash(begin[which[i]], text, np.int64(spans[i, 0]), np.int64(spans[i, 1]), factor)


@inlined
def same_bytes(text, a, b, size):
    """Return whether text[a : a + size] equals text[b : b + size]."""
    if size <= 8:  # the usual case
        return load_first_bytes(text, a, size) == load_first_bytes(text, b, size)
    for at in range(0, size, 8):
        n = min(size - at, 8)
        if load_first_bytes(text, a + at, n) != load_first_bytes(text, b + at, n):
            return False
    return True


# -- slots and records


@inlined
def pack_header(size, index, prefix):
    """Return a size, an index and the index of a prefix in one word."""
    return _u(size) | _u(index) << _u(8) | _u(prefix) << _u(36)


@inlined
def without_index(header_word):
    """Return a header with 0 for its index: what two headers are compared by."""
    return header_word & ~(_28_BITS << _u(8))


@inlined
def index_in_header(header_word):
    return np.int64(header_word >> _u(8) & _28_BITS)


@inlined
def is_record(records, at, text, start, size, prefix):
    """Return whether the record at `at` is that of the name text[start : start + size]. Most names have at most 16
    bytes here, and no branch depends on how many."""
    different = without_index(records[at]) ^ pack_header(size, 0, prefix)
    different |= records[at + _u(1)] ^ load_eight_bytes(text, start)
    different |= records[at + _u(2)] ^ load_eight_bytes(text, start + size - 8)
    for k in range(8, size - 8, 8):
        different |= records[at + _u(2 + k // 8)] ^ load_eight_bytes(text, start + k)
    return different == _u(0)


@inlined
def write_record(records, at, text, start, size, index, prefix):
    """Write the record of a name at `at`; return where it ends."""
    records[_u(at)] = pack_header(size, index, prefix)
    records[_u(at + 1)] = load_eight_bytes(text, start)
    records[_u(at + 2)] = load_eight_bytes(text, start + size - 8)
    for k in range(8, size - 8, 8):
        records[_u(at + 2 + k // 8)] = load_eight_bytes(text, start + k)
    return at + 1 + (size + 7) // 8


@inlined
def find_short_name(slots, h, word, wanted):
    """Return the slot of a name of up to 8 bytes with this header, or the free slot where it would be inserted."""
    slot = home_slot(slots, h)
    while slots[slot, 1] != _u(0) and (slots[slot, 0] != word or without_index(slots[slot, 1]) != wanted):
        slot = next_slot(slots, slot)
    return slot


@inlined
def find_long_name(slots, records, h, text, start, size, prefix):
    """Return the slot of a longer name, or the free slot where it would be inserted."""
    slot = home_slot(slots, h)
    while slots[slot, 1] != _u(0) and not (
        slots[slot, 0] == h
        and slots[slot, 1] & _HAS_RECORD == _HAS_RECORD
        and is_record(records, slots[slot, 1] >> _u(8), text, start, size, prefix)
    ):
        slot = next_slot(slots, slot)
    return slot


# -- tables


@loop
def find_indices(names, prefixes, at, learn, limit, sharing, slots, records, count, used, indices):
    """Find the index of every name from number `at` on; prefixes[prefix_of[i]] is the index of its prefix, -1 if that
    is unknown. A new name gets the index `count` if `learn`, else -1.

    Once `limit` indices are given out, a new name gets the index that its hash under the key for sharing says, and that
    is marked as shared if `learn`. Return (at, count, used, why): `at` is the first name without a result, because
    slots or records are TOO_SMALL, because there is NO_INDEX_LEFT and no key for sharing yet, or because it is TOO_LONG
    for the table. `used` is where the last record ends.
    """
    text, spans, hashes, prefix_of = names
    share_prefixes, share_factor, share_shift, is_shared = sharing
    for i in range(_u(at), _u(hashes.size)):
        if i + _SLOTS_AHEAD < _u(hashes.size):
            prefetch_home(slots, hashes[i + _SLOTS_AHEAD])
        start, prefix, h = np.int64(spans[i, _u(0)]), np.int64(prefixes[_u(prefix_of[i])]), hashes[i]
        size = np.int64(spans[i, _u(1)]) - start
        is_short = size <= _MAX_IN_SLOT
        if size > MAX_BYTES:
            return np.int64(i), count, used, TOO_LONG
        word = load_first_bytes(text, start, size) if is_short else h
        slot, content = _u(0), _u(0)
        if prefix >= 0:
            if is_short:
                slot = find_short_name(slots, h, word, pack_header(size + 1, 0, prefix))
            else:
                slot = find_long_name(slots, records, h, text, start, size, prefix)
            content = slots[slot, 1]
        if content != _u(0):
            indices[i] = index_in_header(content if is_short else records[content >> _u(8)])
        elif count == limit:
            if share_prefixes.size == 0:
                return np.int64(i), count, used, NO_INDEX_LEFT
            share = name_hash(share_prefixes[_u(prefix_of[i])], text, start, start + size, share_factor) >> share_shift
            indices[i] = np.int64(share)
            if learn:
                is_shared[share] = 1
        elif not learn:
            indices[i] = -1
        else:
            if is_too_small(slots, count + 1) or used + MAX_RECORD > records.size:
                return np.int64(i), count, used, TOO_SMALL
            slots[slot, 0] = word
            if is_short:
                slots[slot, 1] = pack_header(size + 1, count, prefix)
            else:
                slots[slot, 1] = _u(used) << _u(8) | _HAS_RECORD
                used = write_record(records, used, text, start, size, count, prefix)
            indices[i] = count
            count += 1
    return hashes.size, count, used, DONE


@loop
def copy_slots(slots, records, count, prefix_hashes, factor, larger):
    """Insert the first `count` names of a table into an empty one that is not smaller. prefix_hashes[prefix] is the
    hash that names with a prefix continue."""
    for at in range(slots.shape[0]):
        word, content = slots[at, 0], slots[at, 1]
        if content == _u(0):
            continue
        h, tag = word, content & _HAS_RECORD
        if index_in_header(records[content >> _u(8)] if tag == _HAS_RECORD else content) >= count:
            continue
        if tag != _HAS_RECORD:
            h = short_hash(prefix_hashes[content >> _u(36)], word, tag - _u(1), factor)
        slot = find_free_slot(larger, h)
        larger[slot, 0], larger[slot, 1] = word, content


@loop
def read_sizes(slots, records, sizes, prefix_of, slot_of):
    """Write the size of every name, the index of its prefix and its slot, each by the index of the name."""
    for slot in range(slots.shape[0]):
        content, surplus = slots[slot, 1], _u(1)  # a slot holds the size + 1
        if content == _u(0):
            continue
        if content & _HAS_RECORD == _HAS_RECORD:
            content, surplus = records[content >> _u(8)], _u(0)
        index = index_in_header(content)
        if index >= sizes.size:  # inserted by a call that was interrupted before it was counted
            continue
        sizes[index], prefix_of[index] = np.int64((content & _HAS_RECORD) - surplus), np.int64(content >> _u(36))
        slot_of[index] = slot


@loop
def read_bytes(slots, records, sizes, slot_of, out):
    """Write the bytes of all names, one after another."""
    used = 0
    for index in range(sizes.size):
        size, word, at = sizes[index], slots[slot_of[index], 0], slots[slot_of[index], 1] >> _u(8)
        for k in range(size):
            if size > _MAX_IN_SLOT:
                if k < 8:
                    word, shift = records[at + _u(1)], k
                elif k >= size - 8:
                    word, shift = records[at + _u(2)], k - (size - 8)
                else:
                    word, shift = records[at + _u(2 + k // 8)], k % 8
                out[used] = np.uint8(word >> _u(8 * shift) & _u(255))
            else:
                out[used] = np.uint8(word >> _u(8 * k) & _u(255))
            used += 1
