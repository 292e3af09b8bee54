"""Tokens: the features that templates extract from them, and the sums of their weights.

    problem   number, find and sum up the features of every token without ever forming their names
    given     sentences as word ids; hashes of the words' attributes; templates, each of which extracts one feature of a
              token and its neighbours
    result    the number of each feature, in order of first occurrence; or E[i, y], the sum of their weights for tag y
    source    the mixer is that of `loops.hashed_names`

A template is a list of atoms (attribute, column, offset): the attribute of the cell in that column, `offset` tokens
away. Outside the sentence the value is the distance from it; such positions have negative word ids: -2d, d tokens
before the beginning, or -2d - 1, d tokens after the end.

The key of a feature is its 64-bit hash, 0 if the token has no such feature. A hash table maps keys to indices 0, 1, ...
in order of insertion; see `loops.hash_table`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.hash_table import fill_slot, find_slot, index_in, index_of, is_too_small, prefetch_home
from novikoff._compiled.loops.hashed_names import SEED, mix, name_hash
from novikoff._compiled.loops.simd import add_rows, prefetch, prefetch_ends

_u = np.uint64

_LINE = 16  # 32-bit integers in a cache line


class TokenArrays(NamedTuple):
    """All tokens of some sentences: words[i, column] is a word id, sentence s is starts[s]..starts[s + 1] - 1, and
    hashes[word, attribute] is the hash of an attribute of a word, 0 if the word does not have it."""

    words: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray


class TemplateArrays(NamedTuple):
    """Some templates: template k has atoms[ends[k]:ends[k + 1]], and seeds[k] is the hash that its features begin with.
    Keys are hashes shifted right by `shift` bits."""

    atoms: np.ndarray
    ends: np.ndarray
    seeds: np.ndarray
    shift: np.uint64


class WordSums(NamedTuple):
    """Cached sums of weights: row (word + margin) * groups + g of `sums` is that of a word and group g of templates, if
    has_sum says so. The margin is for the negative ids of positions outside the sentence."""

    sums: np.ndarray
    has_sum: np.ndarray
    margin: int


@inlined
def word_at(words, begin, j, end, column):
    """Return the word id at token j, which may be outside the sentence begin..end-1."""
    if j < begin:
        return np.int64(-2 * (begin - j))
    if j >= end:
        return np.int64(-2 * (j - end + 1) - 1)
    return np.int64(words[_u(j), column])


@inlined
def attribute_hash(hashes, attribute, word):
    """Return the hash of an attribute of a word; 0 if the word does not have it."""
    return hashes[_u(word), attribute] if word >= 0 else mix(SEED, _u(-word))


@inlined
def key_from_hash(h, shift):
    """Return the leading bits of a hash as a key; 0 stays 0, for no feature."""
    return h if h == _u(0) else (h >> shift) + _u(1)


@inlined
def fill_keys(tokens, begin, end, templates, keys):
    """keys[i, k] = the key of template k's feature at token i of the sentence begin..end-1; 0 if an atom has no value.

    The inner loop runs along the sentence, one atom at a time, so that the processor works on the hashes of many tokens
    at once.
    """
    words, hashes = tokens.words, tokens.hashes
    atoms, ends, seeds, shift = templates
    for k in range(seeds.size):
        for i in range(end - begin):
            keys[i, k] = seeds[k]
        for a in range(ends[k], ends[k + 1]):
            attribute, column, offset = _u(atoms[a, 0]), _u(atoms[a, 1]), np.int64(atoms[a, 2])
            for i in range(end - begin):
                value = attribute_hash(hashes, attribute, word_at(words, begin, begin + i + offset, end, column))
                keys[i, k] = _u(0) if keys[i, k] == _u(0) or value == _u(0) else mix(keys[i, k], value)
        for i in range(end - begin):
            keys[i, k] = key_from_hash(keys[i, k], shift)


# -- while learning: numbers for all features


@loop
def find_features(tokens, templates, first, table, longest, count, features, firsts):
    """features[i, k] = the index of template k's feature at token i, -1 if it has none; new features get the next
    indices.

    firsts[index] is where a feature occurred first, token * templates + template. Begin with sentence `first`; return
    (next, count), where `next` is the first sentence that was not processed because the table is too small for it.
    """
    starts, n_templates = tokens.starts, templates.seeds.size
    keys = np.empty((longest, n_templates), np.uint64)
    for s in range(first, starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        if is_too_small(table, count + (end - begin) * n_templates):
            return s, count
        fill_keys(tokens, begin, end, templates, keys)
        for i in range(end - begin):  # the table is larger than the cache
            for k in range(n_templates):
                prefetch_home(table, keys[i, k])
        for i in range(begin, end):
            for k in range(n_templates):
                key = keys[i - begin, k]
                features[i, k] = -1
                if key != _u(0):
                    slot = find_slot(table, key)
                    if index_in(table, slot) < 0:
                        fill_slot(table, slot, key, count)
                        firsts[count] = i * n_templates + k
                        count += 1
                    features[i, k] = index_in(table, slot)
    return starts.size - 1, count


# -- words


@loop
def split_words(text, spans):
    """Write where each word begins and ends, in a text of words separated by zero bytes. Return whether it has as many
    words as spans."""
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


@loop
def hash_words(text, spans, hashes):
    """hashes[i] = the hash of word i. A zero byte at the end does not change the hash of a name, so for words that end
    with one the length is hashed as well."""
    for i in range(hashes.size):
        begin, end = spans[i, 0], spans[i, 1]
        h = name_hash(SEED, text, begin, end)
        hashes[i] = mix(h, _u(end - begin)) if begin < end and text[end - 1] == 0 else h


# -- transition features


@loop
def fill_token_keys(tokens, templates, keys):
    """keys[i, k] = the key of template k's feature at token i."""
    starts = tokens.starts
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        fill_keys(tokens, begin, end, templates, keys[begin:end])


@loop
def combine_with_tags(keys, shift, combined):
    """combined[f, a] = the key of feature f after tag a."""
    for f in range(keys.size):
        for a in range(combined.shape[1]):
            combined[f, a] = _u(0) if keys[f] == _u(0) else key_from_hash(mix(keys[f], _u(a + 1)), shift)


# -- while tagging: sums of weights


@inlined
def sum_word_weights(word, hashes, templates, first, last, table, W, rows, total):
    """total = the sum of the rows of templates first..last-1, all of which depend on this word only."""
    atoms, ends, seeds, shift = templates
    m = 0
    for k in range(first, last):
        h = seeds[k]
        for a in range(ends[k], ends[k + 1]):
            value = attribute_hash(hashes, atoms[a, 0], word)
            h = _u(0) if h == _u(0) or value == _u(0) else mix(h, value)
        if h != _u(0):
            rows[m] = index_of(table, key_from_hash(h, shift))
            m += rows[m] >= 0
    for y in range(total.size):
        total[y] = 0
    add_rows(W, rows, m, total)


@inlined
def prefetch_sentence(tokens, begin, end, keys, n_keys, table, sums, margin, per_word):
    """Prefetch the slots of a sentence's keys, and the cached sums of its words."""
    for i in range(end - begin):
        for k in range(n_keys):
            prefetch_home(table, keys[i, k])
        for at in range(0, per_word, _LINE):
            prefetch(sums, (tokens.words[begin + i, 0] + margin) * per_word + at)


@inlined
def find_weight_rows(n, keys, n_keys, table, W, rows, sizes):
    """Write the rows of W that the keys of each token have to the first sizes[i] elements of rows[i], and prefetch
    them."""
    for i in range(n):
        m = 0
        for k in range(n_keys):
            row = index_of(table, keys[i, k]) if keys[i, k] != _u(0) else np.int64(-1)
            if row >= 0:
                rows[i, m] = row
                prefetch_ends(W, row)
                m += 1
        sizes[i] = m


@loop
def score_tokens(tokens, groups, single, joint, table, W, cache, longest, E):
    """E[i, y] = the sum of W[f, y] over the features f of token i.

    Most templates depend on a single word. Group g of them, (column, offset, first, last), has the same sum wherever
    that word occurs, so the sum is cached (see `WordSums`). The features of other templates, `joint`, are looked up one
    by one; table and weights are larger than the cache of the processor, so both are prefetched for a whole sentence.
    """
    words, starts, hashes = tokens
    sums, has_sum, margin = cache
    n_joint, n_groups = joint.seeds.size, groups.shape[0]
    keys, rows = np.empty((longest, n_joint), np.uint64), np.empty((longest, n_joint), np.int64)
    sizes = np.empty(longest, np.int64)
    cached, single_rows = np.empty(n_groups, np.int64), np.empty(single.seeds.size, np.int64)
    total = np.empty(W.shape[1], W.dtype)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        fill_keys(tokens, begin, end, joint, keys)
        prefetch_sentence(tokens, begin, end, keys, n_joint, table, sums, margin, n_groups * W.shape[1])
        find_weight_rows(end - begin, keys, n_joint, table, W, rows, sizes)
        for i in range(begin, end):
            e = E[i]
            for y in range(e.size):
                e[y] = 0
            for g in range(n_groups):
                word = word_at(words, begin, i + groups[g, 1], end, groups[g, 0])
                cached[g] = (word + margin) * n_groups + g
                if not has_sum[cached[g]]:
                    sum_word_weights(word, hashes, single, groups[g, 2], groups[g, 3], table, W, single_rows, total)
                    sums[cached[g]] = total  # in one assignment: another thread may be writing the same sum
                    has_sum[cached[g]] = True
            add_rows(sums, cached, n_groups, e)
            add_rows(W, rows[i - begin], sizes[i - begin], e)
