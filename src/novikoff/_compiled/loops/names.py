"""Names as bytes: their hashes, places for them, and rows of the places.

    problem   give every name that comes along a place of its own, as long as there are places
    given     names, each with a head (a namespace or a column), and their 64-bit hashes under a secret key
    result    a place per name; once all are taken, further names share those there are, by a hash under another key
    source    open addressing: Knuth, TAOCP 6.4, algorithm L; the hash: Wang Yi, "wyhash", 2019 (folded products);
              against crafted names: Crosby and Wallach, "Denial of service via algorithmic complexity attacks", 2003;
              sharing: Weinberger et al., "Feature hashing for large scale multitask learning", 2009; sets that need no
              clearing: Briggs and Torczon 1993

Two names are the same if their bytes and those of their heads are: where hashes agree, the names are compared. So no
result depends on the key; it keeps whoever does not know it from choosing names that all begin their search at the same
slot.

A table has a slot of two words for each name, or zeros; it is never more than half full. Heads have numbers, by a table
of their own. The second word of a slot has, from its lowest bit on:

    a name of up to 8 bytes   its size + 1 (8 bits), its place (28), the number of its head (28); the first word has its
                              bytes, filled up with zeros: nothing else is to be fetched to compare it
    a longer name             255 (8 bits), where its record is; the first word has its hash

A record is a word with the size of the name (8 bits), its place (28) and the number of its head (28); then its first
eight bytes, its last eight bytes, and those from the ninth on, eight to a word, until all are there.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.decimals import LAST_BYTES, eight_bytes, high_product
from novikoff._compiled.loops.rows import measured
from novikoff._compiled.loops.simd import prefetch

_u = np.uint64

LONGEST = 100  # bytes of a name that are shown
MOST = 133  # bytes of a name or a head that a table holds
ROOM = 1 + (MOST + 7) // 8  # words of the largest record
LIMIT = 1 << 28  # names of a table
DONE, CROWDED, FULL, LONG = range(4)  # why `find_places` has ended
_SHORT = 8
_IN_RECORD = _u(255)
_NUMBER = _u(LIMIT - 1)
_SPREAD = _u(0x9E3779B97F4A7C15)
_AHEAD = _u(12)  # names: `seen` is larger than the cache, and places are known early
_SLOTS_AHEAD = _u(24)  # names: so is a table, and hashes are


@part
def folded(a, b):
    """The product of two words, its upper half folded onto the lower. Without b, nobody can tell which a and a' have
    the same."""
    high, low = high_product(a, b)
    return high ^ low


@part
def few_bytes(text, at, n):
    """The first n <= 8 bytes at text[at:], as `eight_bytes` would have them if zeros followed."""
    if at + 8 <= text.size:
        return eight_bytes(text, at) & ~LAST_BYTES[_u(8 - n)]
    word = _u(0)
    for k in range(n):
        word |= _u(text[_u(at + k)]) << _u(8 * k)
    return word


@part
def short_hash(h, word, size, factor):
    """Go on from hash h with a name of at most eight bytes, given as a word that zeros fill up.

    A second product, which needs no key, makes every bit depend on every bit: after the first, names that differ in one
    bit have hashes that differ in much the same way.
    """
    return folded(folded(h ^ word, factor ^ _u(size)), _SPREAD)


@part
def name_hash(h, text, at, end, factor):
    """Go on from hash h with the bytes of a name and its size, for the last bytes are filled up with zeros."""
    size = end - at
    while end - at > 8:
        h = folded(h ^ eight_bytes(text, at), factor)
        at += 8
    return short_hash(h, few_bytes(text, at, end - at), size, factor)


@kernel
def name_hashes(text, spans, begin, which, factor, hashes):
    """The hash of text[spans[i, 0]:spans[i, 1]] after begin[which[i]], for every i."""
    for i in range(hashes.size):
        hashes[i] = name_hash(begin[which[i]], text, np.int64(spans[i, 0]), np.int64(spans[i, 1]), factor)


@part
def same_bytes(text, a, b, size):
    """Whether text[a : a + size] is text[b : b + size]."""
    if size <= 8:  # as a rule
        return few_bytes(text, a, size) == few_bytes(text, b, size)
    for at in range(0, size, 8):
        n = min(size - at, 8)
        if few_bytes(text, a + at, n) != few_bytes(text, b + at, n):
            return False
    return True


# -- tables


@part
def content_of(size, place, head):
    """A size, a place and the number of a head in one word."""
    return _u(size) | _u(place) << _u(8) | _u(head) << _u(36)


@part
def place_in(word):
    return np.int64(word >> _u(8) & _NUMBER)


@part
def is_record(records, at, text, start, size, head):
    """Whether the record at `at` is that of the name text[start : start + size]: most have two words, and no branch
    depends on how many bytes these have."""
    different = records[at] & ~(_NUMBER << _u(8)) ^ content_of(size, 0, head)
    different |= records[at + _u(1)] ^ eight_bytes(text, start)
    different |= records[at + _u(2)] ^ eight_bytes(text, start + size - 8)
    for k in range(8, size - 8, 8):
        different |= records[at + _u(2 + k // 8)] ^ eight_bytes(text, start + k)
    return different == _u(0)


@part
def write_record(records, at, text, start, size, place, head):
    """Write the record of a name; return where it ends."""
    records[_u(at)] = content_of(size, place, head)
    records[_u(at + 1)] = eight_bytes(text, start)
    records[_u(at + 2)] = eight_bytes(text, start + size - 8)
    for k in range(8, size - 8, 8):
        records[_u(at + 2 + k // 8)] = eight_bytes(text, start + k)
    return at + 1 + (size + 7) // 8


@part
def short_slot(slots, h, word, content):
    """Where the slot of a name of up to 8 bytes is, or would be."""
    mask = _u(slots.shape[0] - 1)
    k = h & mask
    while slots[k, 1] != _u(0) and (slots[k, 0] != word or slots[k, 1] & ~(_NUMBER << _u(8)) != content):
        k = (k + _u(1)) & mask
    return k


@part
def long_slot(slots, records, h, text, start, size, head):
    """Where the slot of a longer name is, or would be."""
    mask = _u(slots.shape[0] - 1)
    k = h & mask
    while slots[k, 1] != _u(0) and not (
        slots[k, 0] == h
        and slots[k, 1] & _IN_RECORD == _IN_RECORD
        and is_record(records, slots[k, 1] >> _u(8), text, start, size, head)
    ):
        k = (k + _u(1)) & mask
    return k


@kernel
def find_places(
    text,
    spans,
    hashes,
    numbers,
    head_of,
    at,
    learn,
    limit,
    share_heads,
    share_factor,
    share_shift,
    shared,
    slots,
    records,
    count,
    used,
    places,
):
    """Find the place of every name from number `at` on; numbers[head_of[i]] is that of its head, -1 if that is not
    known. A name that is new takes place `count` if `learn`; else its place is -1.

    With `limit` places taken, a new name goes where its hash under the key for sharing says, after that of its head,
    and shared[place] becomes 1 if `learn`. Return (at, count, used, why): `at` is the first name that has not been
    looked at, because slots or records have no room (CROWDED), because there is no key for sharing yet (FULL), or
    because it is longer than MOST (LONG). `used` is where the last record ends.
    """
    mask = _u(slots.shape[0] - 1)
    for i in range(_u(at), _u(hashes.size)):
        if i + _SLOTS_AHEAD < _u(hashes.size):
            prefetch(slots, _u(2) * (hashes[i + _SLOTS_AHEAD] & mask))
        start, head, h = np.int64(spans[i, _u(0)]), np.int64(numbers[_u(head_of[i])]), hashes[i]
        size = np.int64(spans[i, _u(1)]) - start
        is_short = size <= _SHORT
        if size > MOST:
            return np.int64(i), count, used, LONG
        word = few_bytes(text, start, size) if is_short else h
        k, content = _u(0), _u(0)
        if head >= 0:
            if is_short:
                k = short_slot(slots, h, word, content_of(size + 1, 0, head))
            else:
                k = long_slot(slots, records, h, text, start, size, head)
            content = slots[k, 1]
        if content != _u(0):
            places[i] = place_in(content if is_short else records[content >> _u(8)])
        elif count == limit:
            if share_heads.size == 0:
                return np.int64(i), count, used, FULL
            share = name_hash(share_heads[_u(head_of[i])], text, start, start + size, share_factor) >> share_shift
            places[i] = np.int64(share)
            if learn:
                shared[share] = 1
        elif not learn:
            places[i] = -1
        else:
            if 2 * (count + 1) > slots.shape[0] or used + ROOM > records.size:
                return np.int64(i), count, used, CROWDED
            slots[k, 0] = word
            if is_short:
                slots[k, 1] = content_of(size + 1, count, head)
            else:
                slots[k, 1] = _u(used) << _u(8) | _IN_RECORD
                used = write_record(records, used, text, start, size, count, head)
            places[i] = count
            count += 1
    return hashes.size, count, used, DONE


@kernel
def move_slots(slots, records, count, heads, factor, larger):
    """Enter the first `count` names of a table into another one that is empty, and not smaller; heads[number] is the
    hash that names go on from."""
    mask = _u(larger.shape[0] - 1)
    for at in range(slots.shape[0]):
        word, content = slots[at, 0], slots[at, 1]
        if content == _u(0):
            continue
        h, tag = word, content & _IN_RECORD
        if place_in(records[content >> _u(8)] if tag == _IN_RECORD else content) >= count:
            continue
        if tag != _IN_RECORD:
            h = short_hash(heads[content >> _u(36)], word, tag - _u(1), factor)
        k = h & mask
        while larger[k, 1] != _u(0):
            k = (k + _u(1)) & mask
        larger[k, 0], larger[k, 1] = word, content


@kernel
def read_sizes(slots, records, sizes, head_of, which):
    """Of every name, by its place, the size, the number of its head, and its slot."""
    for k in range(slots.shape[0]):
        content, more = slots[k, 1], _u(1)
        if content == _u(0):
            continue
        if content & _IN_RECORD == _IN_RECORD:
            content, more = records[content >> _u(8)], _u(0)
        place = place_in(content)
        if place >= sizes.size:  # entered by a call that was interrupted before it was counted
            continue
        sizes[place], head_of[place] = np.int64((content & _IN_RECORD) - more), np.int64(content >> _u(36))
        which[place] = k


@kernel
def read_bytes(slots, records, sizes, which, out):
    """The bytes of every name, one after another."""
    used = 0
    for place in range(sizes.size):
        size, word, at = sizes[place], slots[which[place], 0], slots[which[place], 1] >> _u(8)
        for k in range(size):
            if size > _SHORT:
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


# -- rows


@part
def add_entry(place, value, begin, used, indices, data, seen):
    """Add a value to a place of the row whose entries are `begin` to `used`; return the new end.

    `seen` has an entry for every place, of any content: that the row has this place already is certain only if
    seen[place] points at an entry of the row that says so.
    """
    at = seen[place]
    if begin <= at < used and indices[at] == place:
        data[at] += value
        return used
    seen[place] = used
    indices[used] = place
    data[used] = value
    return used + 1


@kernel
def gather_rows(indptr, places, values, out_indptr, indices, data, seen):
    """Rows of places and values, without those that have no place; a place that is there twice in a row has the sum."""
    used = 0
    out_indptr[0] = 0
    for i in range(indptr.size - 1):
        begin = used
        for p in range(indptr[i], indptr[i + 1]):
            # Of names that have a place, `seen` is larger than the cache.
            prefetch(seen, np.int64(places[min(_u(p) + _AHEAD, _u(places.size) - _u(1))]))
            if places[p] >= 0:
                used = add_entry(places[p], values[p], begin, used, indices, data, seen)
        out_indptr[i + 1] = used
    return used


@kernel
def join_rows(numbers, number_places, ones, bag_indptr, bag_places, bag_values, out_indptr, indices, data, seen):
    """Rows of a table: the numbers that are not 0, a 1 at every place of `ones`, -1 for none, and a bag of others."""
    used = 0
    out_indptr[0] = 0
    for i in range(numbers.shape[0]):
        begin = used
        for j in range(numbers.shape[1]):
            if numbers[i, j] != 0.0 and number_places[j] >= 0:
                used = add_entry(number_places[j], numbers[i, j], begin, used, indices, data, seen)
        for j in range(ones.shape[1]):
            if ones[i, j] >= 0:
                used = add_entry(ones[i, j], 1.0, begin, used, indices, data, seen)
        for p in range(bag_indptr[i], bag_indptr[i + 1]):
            used = add_entry(bag_places[p], bag_values[p], begin, used, indices, data, seen)
        out_indptr[i + 1] = used
    return used


@kernel
def normalise_rows(indptr, data, length, out, squared_norms):
    """Give every row a length; rows of zeros stay. Measure what comes out, as learning does."""
    for i in range(indptr.size - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * data[p]
        scale = length / np.sqrt(total) if total > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = data[p] * scale
        squared_norms[i] = measured(out, indptr[i], indptr[i + 1])
