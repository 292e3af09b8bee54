"""Names that are told by their hashes alone: those of taggers, and those of model files written before names were
compared.

    problem   give every name that comes along a place of its own, as long as there are places
    given     the 64-bit hashes of names, and a table of the places that names with these hashes have
    result    a place per name; once all are taken, further names share those there are, by their hash
    source    open addressing: Knuth, TAOCP 6.4, algorithm L; sharing: Weinberger et al., "Feature hashing for large
              scale multitask learning", 2009; the mixer: Steele, Lea and Flood, "Fast splittable pseudorandom number
              generators", 2014

Two names are the same if their hashes are. The mixer is a bijection of 64 bits without a key: names of up to eight
bytes never fall together, but longer ones can be made to. `kernels.names` compares names; this hash stays as it is,
because model files hold it.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.decimals import eight_bytes
from novikoff._compiled.loops.simd import prefetch

_u = np.uint64

SEED = _u(0x9E3779B97F4A7C15)
LONGEST = 100  # bytes of a name that are kept to be shown
_AHEAD = _u(12)  # names: a table is larger than the cache, and its hashes are known early


@part
def mixed(h, word):
    """Stir eight bytes into a hash."""
    h ^= word
    h = (h ^ (h >> _u(30))) * _u(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> _u(27))) * _u(0x94D049BB133111EB)
    return h ^ (h >> _u(31))


@part
def last_bytes(text, at, n):
    """The n < 8 bytes at text[at:], as `eight_bytes` would have them if zeros followed."""
    if at + 8 <= text.size:
        return eight_bytes(text, at) & ((_u(1) << _u(8 * n)) - _u(1))
    word = _u(0)
    for k in range(n):
        word |= _u(text[_u(at + k)]) << _u(8 * k)
    return word


@part
def name_hash(h, text, at, end):
    """Go on from hash h with the bytes of a name. Names hold no zero bytes, so that the last of them may be zeros."""
    while at + 8 <= end:
        h = mixed(h, eight_bytes(text, at))
        at += 8
    return mixed(h, last_bytes(text, at, end - at)) if at < end else h


@kernel
def name_hashes(text, spans, begin, hashes):
    """The hash of text[spans[i, 0]:spans[i, 1]] after begin[i], for every i."""
    for i in range(hashes.size):
        hashes[i] = name_hash(begin[i], text, spans[i, 0], spans[i, 1])


@part
def run_hash(h, text, at, end):
    """The hash of words with a blank between each two: each word goes on from those before it and a blank."""
    begin = at
    while at <= end:
        if at == end or text[_u(at)] == 32:
            h = name_hash(h, text, begin, at)
            if at < end:
                h = mixed(h, _u(32))
            begin = at + 1
        at += 1
    return h


@kernel
def hashes_after(text, spans, begin, head_of, runs, hashes):
    """The hash of every name after that of its head, begin[head_of[i]]; runs[head_of[i]] says that it is a run of
    words."""
    for i in range(hashes.size):
        head = head_of[i]
        if runs[head]:
            hashes[i] = run_hash(begin[head], text, np.int64(spans[i, 0]), np.int64(spans[i, 1]))
        else:
            hashes[i] = name_hash(begin[head], text, np.int64(spans[i, 0]), np.int64(spans[i, 1]))


@kernel
def find_places(hashes, at, count, limit, learn, table, fresh, places, shared):
    """Find the place of every name from hashes[at] on; one that is new takes place `count` if `learn`, and is noted in
    `fresh`, by number; else its place is -1.

    With `limit` places taken, a new name goes where its hash says, and shared[place] becomes 1 if `learn`. table[k] is
    (hash, place + 1), or zeros; it must not be more than half full. Return (at, count): `at` is the first name that has
    not been looked at, for lack of room in the table.
    """
    mask = _u(table.shape[0] - 1)
    before = count
    for i in range(at, hashes.size):
        ahead = _u(i) + _AHEAD
        if ahead < _u(hashes.size):
            prefetch(table, _u(2) * (hashes[ahead] & mask))
        h = hashes[i]
        k = h & mask
        while table[k, 1] != _u(0) and table[k, 0] != h:
            k = (k + _u(1)) & mask
        if table[k, 1] != _u(0):
            places[i] = table[k, 1] - _u(1)
        elif count == limit:
            places[i] = (h >> _u(20)) % _u(limit)
            if learn:
                shared[places[i]] = 1
        elif not learn:
            places[i] = -1
        else:
            if 2 * (count + 1) > table.shape[0]:
                return i, count
            table[k, 0] = h
            table[k, 1] = _u(count + 1)
            fresh[count - before] = i
            places[i] = count
            count += 1
    return hashes.size, count


@kernel
def fill_table(hashes, table):
    """Enter names by their hashes, the i-th with place i, into an empty table."""
    mask = _u(table.shape[0] - 1)
    for i in range(hashes.size):
        k = hashes[i] & mask
        while table[k, 1] != _u(0):
            k = (k + _u(1)) & mask
        table[k, 0] = hashes[i]
        table[k, 1] = _u(i + 1)


@kernel
def room_for_names(spans, fresh, head_of, head_spans):
    """How many bytes `keep_names` will write at most."""
    room = 0
    for i in range(fresh.size):
        p, head = fresh[i], head_of[fresh[i]]
        size = spans[p, 1] - spans[p, 0] + head_spans[head, 1] - head_spans[head, 0] + 1
        room += min(size, LONGEST + 1)
    return room


@kernel
def keep_names(text, spans, fresh, heads, head_of, head_spans, mark, used, ends, kept):
    """Append names to `kept` for people to read: the head, which is a namespace or a column, `mark` unless the head is
    empty or the mark 0, and the name; LONGEST bytes at most. ends[i] is where the i-th ends. Return the end of all."""
    for i in range(fresh.size):
        p = fresh[i]
        start = used
        head = head_of[p]
        for at in range(head_spans[head, 0], min(head_spans[head, 1], head_spans[head, 0] + LONGEST)):
            kept[used] = heads[at]
            used += 1
        if used > start and mark != 0:
            kept[used] = mark
            used += 1
        for at in range(spans[p, 0], spans[p, 1]):
            if used - start >= LONGEST:
                break
            kept[used] = text[at]
            used += 1
        ends[i] = used
    return used
