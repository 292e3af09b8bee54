"""Tokens: the features that templates make of their surroundings, as places in a table, and what those add up to.

    problem   name, find and add up the features of every token without ever making their names
    given     sentences as numbers of words; hashes of what templates ask of a word; templates, each of which makes one
              feature out of a token's surroundings
    result    a place per feature, in the order in which they came; or E[i, y], the sum of their weights for tag y
    source    open addressing: Knuth, TAOCP 6.4, algorithm L; the mixer is that of `kernels.mixed_names`

An atom of a template is (attribute, column, offset): the attribute of the cell in that column, so many tokens away.
Beyond the sentence the value is how far beyond, and there words have negative numbers: -2d, d tokens before the
beginning, or -2d - 1, d after the end. A table holds (hash, place + 1) or zeros, and is never more than half full.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.hashed_names import SEED, mixed, name_hash
from novikoff._compiled.loops.simd import add_rows, ask_for, prefetch

_u = np.uint64

_LINE = 16  # whole numbers of 32 bits in a line of the cache
_KEYS_AHEAD = _u(16)  # to ask memory for where they may be


@part
def word_at(types, begin, j, end, column):
    """The number of the word at token j, which may be beyond the sentence begin..end-1."""
    if j < begin:
        return np.int64(-2 * (begin - j))
    if j >= end:
        return np.int64(-2 * (j - end + 1) - 1)
    return np.int64(types[_u(j), column])


@part
def value_of(values, attribute, word):
    """The hash of an attribute of a word; 0 if it has nothing to say."""
    return values[_u(word), attribute] if word >= 0 else mixed(SEED, _u(-word))


@part
def key_of(h, shift):
    """As many bits of a hash as count; 0 stays what it is, no feature."""
    return h if h == _u(0) else (h >> shift) + _u(1)


@part
def sentence_keys(types, begin, end, values, atoms, ends, seeds, shift, keys):
    """keys[i, k], that of template k's feature at token i of the sentence begin..end-1; 0 if a value is missing.

    One atom after another goes along the sentence: the processor has the hashes of many tokens on their way at once.
    """
    for k in range(seeds.size):
        for i in range(end - begin):
            keys[i, k] = seeds[k]
        for a in range(ends[k], ends[k + 1]):
            attribute, column, offset = _u(atoms[a, 0]), _u(atoms[a, 1]), np.int64(atoms[a, 2])
            for i in range(end - begin):
                value = value_of(values, attribute, word_at(types, begin, begin + i + offset, end, column))
                keys[i, k] = _u(0) if keys[i, k] == _u(0) or value == _u(0) else mixed(keys[i, k], value)
        for i in range(end - begin):
            keys[i, k] = key_of(keys[i, k], shift)


@part
def home(table, h):
    """Where in the table this key would best be."""
    return (h ^ (h >> _u(32))) & _u(table.shape[0] - 1)


@part
def slot_of(table, h):
    """Where in the table this key is, or would be."""
    k = home(table, h)
    while table[k, 1] != _u(0) and table[k, 0] != h:
        k = (k + _u(1)) & _u(table.shape[0] - 1)
    return k


@part
def place_of(table, h):
    """The place of this key, -1 for those without: 0 - 1."""
    return np.int64(table[slot_of(table, h), 1]) - 1


# -- while learning: places for all features


@kernel
def find_features(types, starts, at, values, atoms, ends, seeds, shift, table, longest, count, features, firsts):
    """The place of every feature of every token, -1 for those without; new ones take the next.

    firsts[place] is where a feature was first seen, token * templates + template. Return (at, count): `at` is the first
    sentence that was not looked at, for lack of room in the table.
    """
    n_templates = seeds.size
    keys = np.empty((longest, n_templates), np.uint64)
    for s in range(at, starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        if 2 * (count + (end - begin) * n_templates) > table.shape[0]:
            return s, count
        sentence_keys(types, begin, end, values, atoms, ends, seeds, shift, keys)
        for i in range(end - begin):  # the table is larger than the cache: ask early for what is needed
            for k in range(n_templates):
                prefetch(table, _u(2) * home(table, keys[i, k]))
        for i in range(begin, end):
            for k in range(n_templates):
                h = keys[i - begin, k]
                features[i, k] = -1
                if h != _u(0):
                    slot = slot_of(table, h)
                    if table[slot, 1] == _u(0):
                        table[slot, 0] = h
                        table[slot, 1] = _u(count + 1)
                        firsts[count] = i * n_templates + k
                        count += 1
                    features[i, k] = np.int64(table[slot, 1]) - 1
    return starts.size - 1, count


@kernel
def move_table(table, larger):
    """Enter all of a table into a larger one that is empty."""
    for k in range(table.shape[0]):
        if table[k, 1] != _u(0):
            slot = slot_of(larger, table[k, 0])
            larger[slot, 0] = table[k, 0]
            larger[slot, 1] = table[k, 1]


@kernel
def keys_of_places(table, keys):
    """The key that has each place."""
    for k in range(table.shape[0]):
        if table[k, 1] != _u(0):
            keys[table[k, 1] - _u(1)] = table[k, 0]


@kernel
def look_up(keys, table, places):
    """The place of each key, -1 for those without."""
    for i in range(_u(keys.size)):
        prefetch(table, _u(2) * home(table, keys[min(i + _KEYS_AHEAD, _u(keys.size) - _u(1))]))
        places[i] = place_of(table, keys[i])


@kernel
def enter_keys(keys, table, count):
    """Enter new keys, each different from the others, into a table that has room; return how many there are then."""
    for i in range(keys.size):
        slot = slot_of(table, keys[i])
        count += 1
        table[slot, 0] = keys[i]
        table[slot, 1] = _u(count)
    return count


# -- words


@kernel
def part_words(text, spans):
    """Where each word begins and ends, if zero bytes part them. Return whether there are as many words as spans."""
    at = 0
    for i in range(spans.shape[0]):
        if at > text.size:
            return False
        spans[i, 0] = at
        while at < text.size and text[_u(at)] != 0:
            at += 1
        spans[i, 1] = at
        at += 1
    return at == text.size + 1


@kernel
def word_hashes(text, spans, hashes):
    """The hash of each word; of its length too if it ends with a zero byte, which leaves that of a name as it is."""
    for i in range(hashes.size):
        begin, end = spans[i, 0], spans[i, 1]
        h = name_hash(SEED, text, begin, end)
        hashes[i] = mixed(h, _u(end - begin)) if begin < end and text[end - 1] == 0 else h


# -- features that go with the tag before


@kernel
def token_keys(types, starts, values, atoms, ends, seeds, shift, keys):
    """The key of each template's feature at each token."""
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        sentence_keys(types, begin, end, values, atoms, ends, seeds, shift, keys[begin:end])


@kernel
def keys_after(keys, shift, found):
    """found[f, a], the key of feature f together with tag a before."""
    for f in range(keys.size):
        for a in range(found.shape[1]):
            found[f, a] = _u(0) if keys[f] == _u(0) else key_of(mixed(keys[f], _u(a + 1)), shift)


# -- while tagging: what they add up to


@part
def add_alone(word, values, atoms, ends, seeds, shift, first, last, table, W, rows, s):
    """s = the sum of the rows of templates first..last-1, all of which look at this word and no other."""
    m = 0
    for k in range(first, last):
        h = seeds[k]
        for a in range(ends[k], ends[k + 1]):
            value = value_of(values, atoms[a, 0], word)
            h = _u(0) if h == _u(0) or value == _u(0) else mixed(h, value)
        if h != _u(0):
            rows[m] = place_of(table, key_of(h, shift))
            m += rows[m] >= 0
    for y in range(s.size):
        s[y] = 0
    add_rows(W, rows, m, s)


@kernel
def score_tokens(
    types,
    starts,
    values,
    groups,
    alone_atoms,
    alone_ends,
    alone_seeds,
    atoms,
    ends,
    seeds,
    shift,
    table,
    W,
    margin,
    sums,
    has_sum,
    longest,
    E,
):
    """E[i, y] = the sum of W[f, y] over the features f of token i.

    Most templates look at one word. Group g of them, (column, offset, first, last), adds up to the same whenever that
    word comes along, so the sum is kept: row (word + margin) * groups + g of `sums`, if has_sum says so, where the
    margin is for the negative numbers of words beyond the sentence. Other templates are looked up one by one; table and
    weights are larger than the cache, so each is asked for a sentence ahead.
    """
    keys, rows = np.empty((longest, seeds.size), np.uint64), np.empty((longest, seeds.size), np.int64)
    sizes, n_groups = np.empty(longest, np.int64), groups.shape[0]
    per_word = n_groups * W.shape[1]
    kept, some = np.empty(n_groups, np.int64), np.empty(alone_seeds.size, np.int64)
    whole = np.empty(W.shape[1], W.dtype)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        sentence_keys(types, begin, end, values, atoms, ends, seeds, shift, keys)
        for i in range(end - begin):
            for k in range(seeds.size):
                prefetch(table, _u(2) * home(table, keys[i, k]))
            for at in range(0, per_word, _LINE):
                prefetch(sums, (types[begin + i, 0] + margin) * per_word + at)
        for i in range(end - begin):
            m = 0
            for k in range(seeds.size):
                row = place_of(table, keys[i, k]) if keys[i, k] != _u(0) else np.int64(-1)
                if row >= 0:
                    rows[i, m] = row
                    ask_for(W, row)
                    m += 1
            sizes[i] = m
        for i in range(begin, end):
            e = E[i]
            for y in range(e.size):
                e[y] = 0
            for g in range(n_groups):
                word = word_at(types, begin, i + groups[g, 1], end, groups[g, 0])
                kept[g] = (word + margin) * n_groups + g
                if not has_sum[kept[g]]:
                    add_alone(
                        word,
                        values,
                        alone_atoms,
                        alone_ends,
                        alone_seeds,
                        shift,
                        groups[g, 2],
                        groups[g, 3],
                        table,
                        W,
                        some,
                        whole,
                    )
                    sums[kept[g]] = whole  # at once: another thread may be here with the same word
                    has_sum[kept[g]] = True
            add_rows(sums, kept, n_groups, e)
            add_rows(W, rows[i - begin], sizes[i - begin], e)
