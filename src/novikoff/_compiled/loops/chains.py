"""Chains of tags: the perceptron on whole sentences.

    problem   find a chain of tags y_1..y_n for the tokens x_1..x_n of a sentence, and learn to
    given     the features f of every token, as numbered by `loops.tokens`; its true tag
    result    y^ = argmax_y sum_i E[i, y_i] + P[y_i-1, y_i] + T[y_i-2, y_i-1, y_i], where E[i, y] is the sum of W[f, y]
              over the features f of token i; on a mistake w <- w + phi(x, y) - phi(x, y^)
    source    Collins 2002, fig. 1 and section 3.4; the average in one extra sum: Daume III 2006, p. 19

All weights are integers and so are all sums here: nothing is rounded. W has a row of tags for each feature, so that
one short read has a feature's weights for all tags. A feature has no row before its first update, and most features
never take part in one. A transition feature is combined with the previous tag: it is a different feature after each.
With delta_t the change that example t makes, the mean of all weight vectors after N examples is

    1/N sum_t w_t  =  1/N sum_t (N - t + 1) delta_t  =  w - 1/N sum_t (t - 1) delta_t  =  (N W - U) / N

so U, the sum of (t - 1) delta_t, is all that averaging needs; its rows change when those of W do, and only then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.beam_search import search_beam
from novikoff._compiled.loops.simd import add_rows, prefetch, prefetch_ends
from novikoff._compiled.loops.viterbi import (
    TransitionWeights,
    add_end_penalties,
    decode,
    fill_transitions,
    score_chain,
)

EXAMPLES, MISTAKES, ROWS, SQUARED_NORM, SQUARED_RADIUS, LOGGED = range(6)  # in `counts`
N_COUNTS = 6


class SentenceBuffers(NamedTuple):
    """Memory for one sentence at a time, as long as the longest; arrays that a search does not use may be empty.

    E, Q, best and top are of 32 or 64 bits, as the sums require.
    """

    E: np.ndarray  # emission scores
    Q: np.ndarray  # transition scores
    best: np.ndarray
    top: np.ndarray  # a single number
    best_pairs: np.ndarray
    guess: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray


class ChainWeights(NamedTuple):
    """The weights of features and of tag pairs, each with its sum of (t - 1) delta_t."""

    W: np.ndarray
    U: np.ndarray
    P: np.ndarray
    P_moments: np.ndarray


class TrainingArrays(NamedTuple):
    """Sentences to learn from, and the row of weights that each feature has."""

    starts: np.ndarray
    features: np.ndarray
    transitions: np.ndarray  # transition features, before they are combined with a tag
    after: np.ndarray  # after[f, a], the feature that transition feature f becomes after tag a
    tags: np.ndarray
    row_of: np.ndarray
    feature_of: np.ndarray  # feature_of[row], the inverse


# -- tagging


@loop
def tag_sentences(starts, E, weights, T, penalties, buffers, beam, tags):
    """Write the best chain of every sentence to `tags`, given the emission scores of all tokens. A sentence that has no
    allowed chain gets the best of all chains."""
    Q, is_ready = buffers.Q, False
    neg_inf, no_tags = penalties.neg_inf, np.empty(0, np.int32)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        n = end - begin
        if n == 0:
            continue
        e, y = E[begin:end], tags[begin:end]
        add_end_penalties(e, 0, n, penalties.ends, 1)
        for attempt in range(2):  # with constraints, then without
            if attempt == 1 or not is_ready:
                pairs = penalties.pairs if attempt == 0 else penalties.pairs[:0]
                fill_transitions(weights, pairs, begin, n, neg_inf, Q)
            # without transition features, Q is the same for the next sentence
            is_ready = attempt == 0 and weights.features.shape[1] == 0
            if beam is None:
                is_allowed = decode(e, Q, T, n, neg_inf, buffers, y)
            else:
                is_allowed = search_beam(e, Q, T, n, neg_inf, False, no_tags, beam, y) > 0
            if is_allowed:
                break
            add_end_penalties(e, 0, n, penalties.ends, -1)


@loop
def score_sentences(starts, E, weights, T, longest, tags, scores):
    """scores[s] = the score of the chain of tags of sentence s; NaN where one of its tags is -1."""
    P = weights.P
    Q = np.empty((longest if weights.features.shape[1] > 0 else 1, P.shape[0], P.shape[1]), np.int64)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        scores[s] = 0.0
        is_known = True
        for i in range(begin, end):
            is_known &= tags[i] >= 0
        if not is_known:
            scores[s] = np.nan
        elif end > begin:
            fill_transitions(weights, P[:0], begin, end - begin, 0, Q)
            scores[s] = score_chain(E[begin:end], Q, T, end - begin, tags[begin:end])


# -- learning


@inlined
def prefetch_row_numbers(features, begin, end, row_of):
    """Prefetch row_of[f] for the features f of a sentence."""
    for i in range(begin, end):
        for k in range(features.shape[1]):
            prefetch(row_of, features[i, k])


@inlined
def find_rows(features, begin, n, row_of, W, rows, sizes):
    """Write the rows that the features of each token have to the first sizes[i] elements of rows[i], and prefetch
    them."""
    for i in range(n):
        m = 0
        for k in range(features.shape[1]):
            f = features[begin + i, k]
            if f >= 0 and row_of[f] >= 0:
                rows[i, m] = row_of[f]
                prefetch_ends(W, row_of[f])
                m += 1
        sizes[i] = m


@inlined
def fill_emissions(W, n, rows, sizes, E):
    """E[i, y] = sum of W[f, y] over the features f of token i."""
    for i in range(n):
        e = E[i]
        for y in range(e.size):
            e[y] = 0
        add_rows(W, rows[i], sizes[i], e)


@inlined
def add_one(W, U, row, tag, sign, before):
    """W[row, tag] += sign, after `before` examples. Return the increase of |w|^2."""
    old = np.int64(W[row, tag])
    W[row, tag] = old + sign
    U[row, tag] += sign * before
    return 2 * sign * old + 1


@inlined
def find_or_add_row(f, training, counts):
    """Return the row of a feature; a feature without a row gets the next free one."""
    row = np.int64(training.row_of[f])
    if row < 0:
        row = counts[ROWS]
        counts[ROWS] += 1
        training.row_of[f] = row
        training.feature_of[row] = f
    return row


@inlined
def update_features(training, weights, counts, i, y, guess, before):
    """w <- w + phi(x, y) - phi(x, y^) for the features of token i. Return the increase of |w|^2."""
    increase, features = 0, training.features
    for k in range(features.shape[1]):
        if features[i, k] >= 0:
            row = find_or_add_row(features[i, k], training, counts)
            increase += add_one(weights.W, weights.U, row, y, 1, before)
            increase += add_one(weights.W, weights.U, row, guess, -1, before)
    return increase


@inlined
def update_pair(training, weights, with_pairs, counts, i, a, z, sign, before):
    """Add `sign` to the weight of tag z at token i after tag a, and to those of the transition features there. Return
    the increase of |w|^2."""
    increase = add_one(weights.P, weights.P_moments, a, z, sign, before) if with_pairs else 0
    transitions = training.transitions
    for k in range(transitions.shape[1]):
        if transitions[i, k] >= 0:
            row = find_or_add_row(training.after[transitions[i, k], a], training, counts)
            increase += add_one(weights.W, weights.U, row, z, sign, before)
    return increase


@inlined
def update_weights(training, weights, T, T_moments, with_pairs, counts, begin, n, y, guess, before):
    """w <- w + phi(x, y) - phi(x, y^) for the first n tokens. Return the increase of |w|^2."""
    increase = 0
    for i in range(n):
        if guess[i] != y[i]:
            increase += update_features(training, weights, counts, begin + i, y[i], guess[i], before)
        if i > 0 and (guess[i - 1] != y[i - 1] or guess[i] != y[i]):
            increase += update_pair(training, weights, with_pairs, counts, begin + i, y[i - 1], y[i], 1, before)
            increase += update_pair(
                training, weights, with_pairs, counts, begin + i, guess[i - 1], guess[i], -1, before
            )
        if T is not None:
            if i > 1:
                increase += add_one(T[y[i - 2]], T_moments[y[i - 2]], y[i - 1], y[i], 1, before)
                increase += add_one(T[guess[i - 2]], T_moments[guess[i - 2]], guess[i - 1], guess[i], -1, before)
    return increase


@loop
def learn_sentences(order, training, weights, T, T_moments, with_pairs, penalties, buffers, beam, counts, log):
    """Collins' perceptron, once through the sentences in this order.

        for each sentence x with tags y:
            y^ = argmax_z <w, phi(x, z)>
            if y^ != y:  w <- w + phi(x, y) - phi(x, y^)

    W must have a free row for each feature that has none yet. T and T_moments are W and U of three tags in a row, or
    None. With a beam, x ends where y falls out of it (early update). log[k] is (examples, mistakes, |w|^2) after update
    k of this call.
    """
    starts, features, row_of, W = training.starts, training.features, training.row_of, weights.W
    E, Q, guess, neg_inf = buffers.E, buffers.Q, buffers.guess, penalties.neg_inf
    transition_weights = TransitionWeights(weights.P, training.transitions, training.after, row_of, W)
    counts[LOGGED] = 0
    for p in range(order.size):
        begin, end = starts[order[p]], starts[order[p] + 1]
        n, before = end - begin, counts[EXAMPLES]
        counts[EXAMPLES] += 1
        if n == 0:
            continue
        y = training.tags[begin:end]
        find_rows(features, begin, n, row_of, W, buffers.rows, buffers.sizes)
        if p + 1 < order.size:  # row_of and W are larger than the cache
            prefetch_row_numbers(features, starts[order[p + 1]], starts[order[p + 1] + 1], row_of)
        fill_emissions(W, n, buffers.rows, buffers.sizes, E)
        add_end_penalties(E, 0, n, penalties.ends, 1)
        fill_transitions(transition_weights, penalties.pairs, begin, n, neg_inf, Q)
        if beam is None:
            decode(E, Q, T, n, neg_inf, buffers, guess)
        else:
            n = search_beam(E, Q, T, n, neg_inf, True, y, beam, guess)
        is_right = True
        for i in range(n):
            is_right &= guess[i] == y[i]
        if is_right:
            continue
        gap = score_chain(E, Q, T, n, y) - score_chain(E, Q, T, n, guess)  # <w, delta>, before w changes
        increase = update_weights(training, weights, T, T_moments, with_pairs, counts, begin, n, y, guess, before)
        counts[MISTAKES] += 1
        counts[SQUARED_NORM] += increase
        # |w + delta|^2 = |w|^2 + 2 <w, delta> + |delta|^2, and all but the last are known
        counts[SQUARED_RADIUS] = max(counts[SQUARED_RADIUS], increase - 2 * gap)
        log[counts[LOGGED], 0], log[counts[LOGGED], 1] = counts[EXAMPLES], counts[MISTAKES]
        log[counts[LOGGED], 2] = counts[SQUARED_NORM]
        counts[LOGGED] += 1
