"""The best chain of tags: exactly, by dynamic programming.

    problem   argmax_y sum_i E[i, y_i] + Q_i[y_i-1, y_i] + T[y_i-2, y_i-1, y_i]
    given     emission scores E[i, z] of tag z at token i; transition scores Q_i[a, z] of tag a at token i - 1 and
              tag z at token i; scores T[a, b, z] of three tags in a row
    result    y; of equal chains the one whose last tag has the lowest number, then the last but one
    source    Viterbi 1967; for chains of order two Thede and Harper 1999

Q has one layer if transition scores are the same at all tokens, and otherwise one layer per token. T is None for chains
of order one: numba then removes the branches that use it before it compiles, but only where T is itself an argument,
not a field of a tuple. Rows of tags are padded to a multiple of eight, as many as the processor adds at once. The
padding of Q is `neg_inf`, so that a padding column never holds the maximum.

All scores are integers, so ties are exact. After each step the largest score so far is subtracted from all of them:
only differences matter, and these do not grow with the sentence, so 32 bits hold them. `neg_inf` stands for minus
infinity: it is the score of whatever is forbidden, and lower than any sum of weights (`chain.neg_inf_of`). Scores
are clipped at `neg_inf`, so that sums of several of them do not overflow.

Functions that process a whole sentence are loops of their own and not inlined: a call costs nothing at that size, and
compiling them once instead of in each caller halves the compile time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.simd import advance_best, subtract_max


class TransitionWeights(NamedTuple):
    """The weights that transition scores are made of: those of tag pairs, and those of transition features.

    A transition feature is one that is combined with the previous tag: features[i, k] is what transition template k
    extracts at token i, or -1, and after[f, a] the feature that f becomes after tag a. Feature f has the row row_of[f]
    of W, or -1.
    """

    P: np.ndarray
    features: np.ndarray
    after: np.ndarray
    row_of: np.ndarray
    W: np.ndarray


class Penalties(NamedTuple):
    """What a constraint adds to scores: 0 where a tag is allowed, `neg_inf` where it is forbidden.

    pairs[a, z] is for tag z after tag a, ends[0, z] for z as the first tag of a chain, ends[1, z] for z as the last.
    Without constraints, pairs has no rows and ends no columns.
    """

    pairs: np.ndarray
    ends: np.ndarray
    neg_inf: int


@loop
def fill_transitions(weights, pair_penalties, begin, n, neg_inf, Q):
    """Q_i = P + penalties + the weights of the transition features of token i; `neg_inf` in the padding."""
    P, features, after, row_of, W = weights
    n_tags, width = P.shape
    for i in range(n if Q.shape[0] > 1 else 1):
        for a in range(n_tags):
            q = Q[i, a]
            for z in range(width):
                q[z] = P[a, z]
            if pair_penalties.shape[0] > 0:
                for z in range(width):
                    q[z] += pair_penalties[a, z]
            for k in range(features.shape[1]):
                if features[begin + i, k] >= 0:
                    row = row_of[after[features[begin + i, k], a]]
                    if row >= 0:
                        w = W[row]
                        for z in range(width):
                            q[z] += w[z]
            for z in range(n_tags, width):
                q[z] = neg_inf


@inlined
def add_end_penalties(E, begin, end, ends, sign):
    """Add the penalties of the first and the last tag of a chain, or with sign -1 subtract them again."""
    for z in range(ends.shape[1]):
        E[begin, z] += sign * ends[0, z]
        E[end - 1, z] += sign * ends[1, z]


@loop
def find_best_chain(E, Q, n, neg_inf, best, top, y):
    """Viterbi. best[i, z] is the largest score of the first i + 1 tags that end in z, minus the largest of all z.
    Return whether an allowed chain exists.

    The backward pass recomputes where each maximum came from, for one tag per token, instead of storing it for all
    tags in the forward pass. So a forward step is an addition and a maximum, which the processor does for eight tags at
    once.
    """
    n_tags, width = Q.shape[1], Q.shape[2]
    for z in range(width):
        best[0, z] = E[0, z] if z < n_tags else neg_inf
    subtract_max(best[0], neg_inf, top)
    for i in range(1, n):
        if top[0] <= neg_inf // 2:
            return False
        advance_best(best[i - 1], Q[i if Q.shape[0] > 1 else 0], n_tags, E[i], best[i])
        subtract_max(best[i], neg_inf, top)
    if top[0] <= neg_inf // 2:
        return False
    z = 0
    while best[n - 1, z] != 0:  # the maximum is 0 after subtract_max
        z += 1
    y[n - 1] = z
    for i in range(n - 1, 0, -1):
        q, before = Q[i if Q.shape[0] > 1 else 0], best[i - 1]
        previous, largest = 0, before[0] + q[0, z]
        for a in range(1, n_tags):
            new = before[a] + q[a, z]
            previous, largest = (a, new) if new > largest else (previous, largest)  # no branch: it is unpredictable
        y[i - 1] = z = previous
    return True


@loop
def find_best_chain_of_order_two(E, Q, T, n, neg_inf, best, y):
    """Viterbi over pairs of tags, for n >= 2. best[i, b, z] is the largest score of the first i + 1 tags that end in b
    and z, minus the largest of all pairs. Return whether an allowed chain exists."""
    n_tags, width = Q.shape[1], Q.shape[2]
    integer = best.dtype.type
    q = Q[1 if Q.shape[0] > 1 else 0]
    for b in range(n_tags):
        for z in range(width):
            start = max(integer(E[0, b] + q[b, z]), integer(neg_inf))
            best[1, b, z] = start + E[1, z]
    for i in range(2, n):
        if not subtract_max_of_pairs(best[i - 1], n_tags, neg_inf):
            return False
        q = Q[i if Q.shape[0] > 1 else 0]
        for b in range(n_tags):
            row = best[i, b]
            for z in range(width):
                row[z] = best[i - 1, 0, b] + T[0, b, z]
            for a in range(1, n_tags):
                so_far, t = best[i - 1, a, b], T[a, b]
                for z in range(width):
                    new = integer(so_far + t[z])
                    row[z] = new if new > row[z] else row[z]
            for z in range(width):
                new = integer(row[z] + q[b, z])
                row[z] = (new if new > neg_inf else integer(neg_inf)) + E[i, z]
    if not subtract_max_of_pairs(best[n - 1], n_tags, neg_inf):
        return False
    trace_back_pairs(T, n, best, n_tags, y)
    return True


@inlined
def trace_back_pairs(T, n, best, n_tags, y):
    """Read the best chain of order two from its table, from the last tag to the first."""
    y[n - 2] = y[n - 1] = 0
    for z in range(n_tags):
        for b in range(n_tags):
            if best[n - 1, b, z] > best[n - 1, y[n - 2], y[n - 1]]:
                y[n - 2], y[n - 1] = b, z
    for i in range(n - 1, 1, -1):
        b, z, previous = y[i - 1], y[i], 0
        for a in range(1, n_tags):
            if best[i - 1, a, b] + T[a, b, z] > best[i - 1, previous, b] + T[previous, b, z]:
                previous = a
        y[i - 2] = previous


@inlined
def subtract_max_of_pairs(scores, n_tags, neg_inf):
    """Subtract the largest score of a pair of tags from all, and clip at `neg_inf`. Return whether an allowed pair
    exists."""
    top = scores[0, 0]
    for b in range(n_tags):
        for z in range(n_tags):
            top = max(top, scores[b, z])
    if top <= neg_inf // 2:
        return False
    for b in range(n_tags):
        for z in range(scores.shape[1]):
            new = scores[b, z] - top
            scores[b, z] = new if new > neg_inf else neg_inf
    return True


@inlined
def decode(E, Q, T, n, neg_inf, buffers, y):
    """Find the best chain of either order. Return whether an allowed chain exists."""
    if T is not None:
        if n > 1:
            return find_best_chain_of_order_two(E, Q, T, n, neg_inf, buffers.best_pairs, y)
    return find_best_chain(E, Q, n, neg_inf, buffers.best, buffers.top, y)


@inlined
def score_chain(E, Q, T, n, y):
    """<w, phi(x, y)> of the first n tags."""
    total = np.int64(E[0, y[0]])
    for i in range(1, n):
        total += np.int64(E[i, y[i]]) + Q[i if Q.shape[0] > 1 else 0, y[i - 1], y[i]]
        if T is not None:
            if i > 1:
                total += T[y[i - 2], y[i - 1], y[i]]
    return total
