"""Chains of tags: features of tokens as rows of a table, the best chain, and the perceptron on whole sentences.

    problem   find a chain of tags y_1..y_n for the tokens x_1..x_n of a sentence, and learn to
    given     sentences as numbers of words; templates, each of which makes one feature out of a token's surroundings
    result    argmax_y sum_i <W[f], y_i> over the features f of token i, + sum_i P[y_i-1, y_i], by dynamic programming;
              on a mistake w <- w + phi(x, y) - phi(x, y^)
    source    Collins 2002, fig. 1 and section 3.4; Viterbi 1967; the average in one extra sum: Daume III 2006, p. 19

All weights are whole numbers and so are all sums here: nothing is rounded, and a tie is a tie. W has a row of tags for
each feature, so that a feature is one short read; rows of W and P are filled up with zeros to a multiple of eight, as
many as the processor adds at once. A feature has no row before its first update, which most never see.
With delta_t what example t adds, the mean of all weight vectors after N examples is

    1/N sum_t w_t  =  1/N sum_t (N - t + 1) delta_t  =  w - 1/N sum_t (t - 1) delta_t  =  (N W - U) / N

so U, the sum of (t - 1) delta_t, is the only other thing to keep; its rows change when those of W do, and only then.
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part, prefetch
from novikoff.kernels.names import SEED, mixed

_u = np.uint64

EXAMPLES, MISTAKES, ROWS, SQUARED_NORM, SQUARED_RADIUS, LOGGED = range(6)  # in `counts`
N_COUNTS = 6


# -- features


@part
def token_hashes(types, begin, i, end, values, atoms, ends, seeds, shift, hashes):
    """The hash of each template's feature at token i of the sentence begin..end-1; 0 if a value of it is missing.

    An atom is (attribute, column, offset): the attribute of the cell in that column, that many tokens away. Beyond the
    sentence the value is how far beyond.
    """
    for k in range(seeds.size):
        h = seeds[k]
        for a in range(ends[k], ends[k + 1]):
            j = i + atoms[a, 2]
            if j < begin:
                value = mixed(SEED, _u(2 * (begin - j)))
            elif j >= end:
                value = mixed(SEED, _u(2 * (j - end + 1) + 1))
            else:
                value = values[atoms[a, 0], types[j, atoms[a, 1]]]
            if value == _u(0):
                h = _u(0)
                break
            h = mixed(h, value)
        hashes[k] = h if h == _u(0) else (h >> shift) + _u(1)


@part
def slot_of(table, h):
    """Where in the table this hash is, or would be."""
    mask = _u(table.shape[0] - 1)
    k = (h ^ (h >> _u(32))) & mask
    while table[k, 1] != _u(0) and table[k, 0] != h:
        k = (k + _u(1)) & mask
    return k


@kernel
def find_features(types, starts, at, values, atoms, ends, seeds, shift, table, count, learn, features, firsts):
    """The place of every feature of every token, -1 for those without; new ones take the next place if `learn`.

    table[k] is (hash, place + 1) or zeros, never more than half full. firsts[place] is where a new feature was first
    seen, token * templates + template. Return (at, count): `at` is the first sentence that was not looked at, for lack
    of room in the table.
    """
    n_templates = seeds.size
    hashes = np.zeros((2, n_templates), np.uint64)
    mask = _u(table.shape[0] - 1)
    for s in range(at, starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        if learn and 2 * (count + (end - begin) * n_templates) > table.shape[0]:
            return s, count
        if begin < end:
            token_hashes(types, begin, begin, end, values, atoms, ends, seeds, shift, hashes[begin & 1])
        for i in range(begin, end):
            if i + 1 < end:  # the table is larger than the cache: ask early for what the next token needs
                later = hashes[(i + 1) & 1]
                token_hashes(types, begin, i + 1, end, values, atoms, ends, seeds, shift, later)
                for k in range(n_templates):
                    prefetch(table, _u(2) * ((later[k] ^ (later[k] >> _u(32))) & mask))
            for k in range(n_templates):
                h = hashes[i & 1, k]
                features[i, k] = -1
                if h != _u(0):
                    slot = slot_of(table, h)
                    if learn and table[slot, 1] == _u(0):
                        table[slot, 0] = h
                        table[slot, 1] = _u(count + 1)
                        firsts[count] = i * n_templates + k
                        count += 1
                    features[i, k] = np.int64(table[slot, 1]) - 1  # 0 - 1 for those that are not in it
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
def fill_keys(keys, first, table):
    """Enter hashes into a table that has room; keys[i] has place i, and those before `first` are in it already."""
    for i in range(first, keys.size):
        slot = slot_of(table, keys[i])
        table[slot, 0] = keys[i]
        table[slot, 1] = _u(i + 1)


@kernel
def keys_of_places(table, keys):
    """The hash that has each place."""
    for k in range(table.shape[0]):
        if table[k, 1] != _u(0):
            keys[table[k, 1] - _u(1)] = table[k, 0]


@kernel
def look_up(keys, table, places):
    """The place of each hash, -1 for those without."""
    for i in range(keys.size):
        places[i] = np.int64(table[slot_of(table, keys[i]), 1]) - 1


# -- the best chain


@part
def add_up(features, begin, n, row_of, through, W, E):
    """E[i, y] = sum of W[f, y] over the features f of token i."""
    width = W.shape[1]
    for i in range(n):
        e = E[i]
        for y in range(width):
            e[y] = 0
        for k in range(features.shape[1]):
            row = features[begin + i, k]
            if through and row >= 0:
                row = row_of[row]
            if row >= 0:
                w = W[row]
                for y in range(width):
                    e[y] += w[y]


@part
def best_chain(E, P, n, best, y):
    """Viterbi: the y that maximises sum_i E[i, y_i] + sum_i P[y_i-1, y_i]. best[i, z] is the most that the first i + 1
    tags can have if the last is z. Of equal chains the one whose last tag has the lowest number, then the last but one.

    Where the maximum came from is not noted on the way but looked up on the way back, for one tag of a token instead of
    all: what is left of the inner loop is an addition and a maximum, which the processor does for eight tags at once.
    """
    n_tags, width = P.shape
    whole = best.dtype.type  # of 32 bits while learning: numba would go on in 64, half as many at once
    for z in range(width):
        best[0, z] = E[0, z]
    for i in range(1, n):
        b, before, e = best[i], best[i - 1], E[i]
        for z in range(width):
            b[z] = before[0] + P[0, z]
        for a in range(1, n_tags):
            so_far, p = before[a], P[a]
            for z in range(width):
                new = whole(so_far + p[z])
                b[z] = new if new > b[z] else b[z]
        for z in range(width):
            b[z] += e[z]
    last = 0
    for z in range(1, n_tags):
        if best[n - 1, z] > best[n - 1, last]:
            last = z
    y[n - 1] = last
    for i in range(n - 1, 0, -1):
        z, a = y[i], 0
        while best[i - 1, a] + P[a, z] != best[i, z] - E[i, z]:
            a += 1
        y[i - 1] = a


@part
def chain_score(E, P, n, y):
    """<w, phi(x, y)>."""
    total = np.int64(E[0, y[0]])
    for i in range(1, n):
        total += np.int64(E[i, y[i]]) + P[y[i - 1], y[i]]
    return total


@kernel
def tag_sentences(starts, features, W, P, longest, tags):
    """The best chain of every sentence; features are rows of W."""
    E, best = np.empty((longest, W.shape[1]), W.dtype), np.empty((longest, W.shape[1]), W.dtype)
    for s in range(starts.size - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        if n > 0:
            add_up(features, begin, n, tags, False, W, E)
            best_chain(E, P, n, best, tags[begin : begin + n])


# -- learning


@part
def add_one(W, U, row, tag, sign, before):
    """w <- w + sign at one place, `before` examples having gone before. Return how much |w|^2 grows."""
    old = np.int64(W[row, tag])
    W[row, tag] = old + sign
    U[row, tag] += sign * before
    return 2 * sign * old + 1


@part
def add_features(features, i, row_of, local_of, counts, W, U, y, guess, before):
    """w <- w + phi(x, y) - phi(x, y^) for the features of one token; a feature that has no row gets the next one."""
    grown = 0
    for k in range(features.shape[1]):
        f = features[i, k]
        if f >= 0:
            row = row_of[f]
            if row < 0:
                row = counts[ROWS]
                counts[ROWS] += 1
                row_of[f] = row
                local_of[row] = f
            grown += add_one(W, U, row, y, 1, before)
            grown += add_one(W, U, row, guess, -1, before)
    return grown


@part
def add_pairs(P, V, n, y, guess, before):
    """The same for the pairs of neighbouring tags."""
    grown = 0
    for i in range(1, n):
        if y[i - 1] != guess[i - 1] or y[i] != guess[i]:
            grown += add_one(P, V, y[i - 1], y[i], 1, before)
            grown += add_one(P, V, guess[i - 1], guess[i], -1, before)
    return grown


@kernel
def learn_sentences(order, starts, features, tags, row_of, local_of, W, U, P, V, with_pairs, longest, counts, log):
    """Collins' perceptron, once through the order. W must have a row to spare for each feature that has none yet.

        for each sentence x with tags y:
            y^ = argmax_z <w, phi(x, z)>
            if y^ != y:  w <- w + phi(x, y) - phi(x, y^)

    log[k] is (examples, mistakes, |w|^2) after update k of this call.
    """
    E, best = np.empty((longest, W.shape[1]), W.dtype), np.empty((longest, W.shape[1]), W.dtype)
    guess = np.empty(longest, np.int32)
    counts[LOGGED] = 0
    for p in range(order.size):
        begin, end = starts[order[p]], starts[order[p] + 1]
        n = end - begin
        before = counts[EXAMPLES]
        counts[EXAMPLES] += 1
        if n == 0:
            continue
        y = tags[begin:end]
        add_up(features, begin, n, row_of, True, W, E)
        best_chain(E, P, n, best, guess)
        is_right = True
        for i in range(n):
            is_right &= guess[i] == y[i]
        if is_right:
            continue
        gap = chain_score(E, P, n, y) - chain_score(E, P, n, guess)  # <w, delta>, before w changes
        grown = 0
        for i in range(n):
            if guess[i] != y[i]:
                grown += add_features(features, begin + i, row_of, local_of, counts, W, U, y[i], guess[i], before)
        if with_pairs:
            grown += add_pairs(P, V, n, y, guess, before)
        counts[MISTAKES] += 1
        counts[SQUARED_NORM] += grown
        # |w + delta|^2 = |w|^2 + 2 <w, delta> + |delta|^2, and all but the last are known
        counts[SQUARED_RADIUS] = max(counts[SQUARED_RADIUS], grown - 2 * gap)
        log[counts[LOGGED], 0], log[counts[LOGGED], 1] = counts[EXAMPLES], counts[MISTAKES]
        log[counts[LOGGED], 2] = counts[SQUARED_NORM]
        counts[LOGGED] += 1
