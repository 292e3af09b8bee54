"""Names that are identified by their hashes alone: in taggers, and in old model files.

    problem   give every new name the next index, as long as there are indices left
    given     the 64-bit hashes of names, and a hash table of their indices
    result    an index per name; once all indices are given out, further names share them, by their hash
    source    the hash table: `hash_table.py`; sharing: Weinberger et al., "Feature hashing for large scale multitask
              learning", 2009; the mixer: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014

Two names are equal if their hashes are. The mixer is a bijection of 64 bits without a key: names of up to eight bytes
never collide, but longer ones can be crafted to. `names.py` compares names; vocabularies use it since, but model files
written before hold hashes of this kind, so this one must not change.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.decimals import load_eight_bytes, load_first_bytes
from novikoff._compiled.loops.hash_table import fill_slot, find_slot, index_in, is_too_small, prefetch_home

_u = np.uint64

SEED = _u(0x9E3779B97F4A7C15)
MAX_SHOWN = 100  # bytes of a name that are kept, to be shown to people
_SLOTS_AHEAD = _u(12)  # names whose slots are prefetched: a table is larger than the cache


@inlined
def mix(h, word):
    """Return a hash continued with eight bytes."""
    h ^= word
    h = (h ^ (h >> _u(30))) * _u(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> _u(27))) * _u(0x94D049BB133111EB)
    return h ^ (h >> _u(31))


@inlined
def name_hash(h, text, at, end):
    """Continue hash h with the bytes of a name. Names hold no zero bytes, so the last ones may be padded with zeros."""
    while at + 8 <= end:
        h = mix(h, load_eight_bytes(text, at))
        at += 8
    return mix(h, load_first_bytes(text, at, end - at)) if at < end else h


@loop
def name_hashes(text, spans, begin, hashes):
    """hashes[i] = begin[i] continued with text[spans[i, 0]:spans[i, 1]]."""
    for i in range(hashes.size):
        hashes[i] = name_hash(begin[i], text, spans[i, 0], spans[i, 1])


@inlined
def ngram_hash(h, text, at, end):
    """Continue hash h with words that are separated by single blanks: word, blank, word, and so on."""
    begin = at
    while at <= end:
        if at == end or text[_u(at)] == 32:
            h = name_hash(h, text, begin, at)
            if at < end:
                h = mix(h, _u(32))
            begin = at + 1
        at += 1
    return h


@loop
def hashes_after(text, spans, begin, prefix_of, is_ngram, hashes):
    """hashes[i] = the hash of the prefix, begin[prefix_of[i]], continued with name i; is_ngram[prefix] says that names
    with this prefix are n-grams of words."""
    for i in range(hashes.size):
        prefix = prefix_of[i]
        if is_ngram[prefix]:
            hashes[i] = ngram_hash(begin[prefix], text, np.int64(spans[i, 0]), np.int64(spans[i, 1]))
        else:
            hashes[i] = name_hash(begin[prefix], text, np.int64(spans[i, 0]), np.int64(spans[i, 1]))


@loop
def find_indices(hashes, at, count, limit, learn, table, new, indices, is_shared):
    """Find the index of every name from hashes[at] on. A new name gets the index `count` if `learn`, and its number i
    is written to `new`; else its index is -1.

    Once `limit` indices are given out, a new name gets the index that its hash says, and that is marked as shared if
    `learn`. Return (at, count): `at` is the first name without a result, because the table is too small.
    """
    before = count
    for i in range(at, hashes.size):
        ahead = _u(i) + _SLOTS_AHEAD
        if ahead < _u(hashes.size):
            prefetch_home(table, hashes[ahead])
        h = hashes[i]
        slot = find_slot(table, h)
        indices[i] = index_in(table, slot)
        if indices[i] >= 0:
            continue
        if count == limit:
            indices[i] = (h >> _u(20)) % _u(limit)
            if learn:
                is_shared[indices[i]] = 1
        elif learn:
            if is_too_small(table, count + 1):
                return i, count
            fill_slot(table, slot, h, count)
            new[count - before] = i
            indices[i] = count
            count += 1
    return hashes.size, count


@loop
def size_of_names(spans, new, prefix_of, prefix_spans):
    """Return how many bytes `append_names` will write at most."""
    total = 0
    for i in range(new.size):
        p, prefix = new[i], prefix_of[new[i]]
        size = spans[p, 1] - spans[p, 0] + prefix_spans[prefix, 1] - prefix_spans[prefix, 0] + 1
        total += min(size, MAX_SHOWN + 1)
    return total


@loop
def append_names(text, spans, new, prefixes, prefix_of, prefix_spans, separator, used, ends, buffer):
    """Append names to `buffer` for people to read: the prefix, which is a namespace or a column, the separator unless
    the prefix is empty or the separator 0, and the name; MAX_SHOWN bytes at most. ends[i] is where the i-th ends.
    Return the end of all."""
    for i in range(new.size):
        p = new[i]
        start = used
        prefix = prefix_of[p]
        for at in range(prefix_spans[prefix, 0], min(prefix_spans[prefix, 1], prefix_spans[prefix, 0] + MAX_SHOWN)):
            buffer[used] = prefixes[at]
            used += 1
        if used > start and separator != 0:
            buffer[used] = separator
            used += 1
        for at in range(spans[p, 0], spans[p, 1]):
            if used - start >= MAX_SHOWN:
                break
            buffer[used] = text[at]
            used += 1
        ends[i] = used
    return used
