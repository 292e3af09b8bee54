"""Chains of tags: the perceptron on whole sentences.

    problem   find a chain of tags y_1..y_n for the tokens x_1..x_n of a sentence, and learn to
    given     the features f of every token, as `kernels.tokens` numbers them; its right tag
    result    argmax_y sum_i <W[f], y_i> over the features f of token i, + sum_i P[y_i-1, y_i] + T[y_i-2, y_i-1, y_i];
              on a mistake w <- w + phi(x, y) - phi(x, y^)
    source    Collins 2002, fig. 1 and section 3.4; the average in one extra sum: Daume III 2006, p. 19

All weights are whole numbers and so are all sums here: nothing is rounded. W has a row of tags for each feature, so
that a feature is one short read. A feature has no row before its first update, which most never see. A feature may
also go with the tag before: then it is another for each of these.
With delta_t what example t adds, the mean of all weight vectors after N examples is

    1/N sum_t w_t  =  1/N sum_t (N - t + 1) delta_t  =  w - 1/N sum_t (t - 1) delta_t  =  (N W - U) / N

so U, the sum of (t - 1) delta_t, is the only other thing to keep; its rows change when those of W do, and only then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.beam_search import beam_chain
from novikoff._compiled.loops.simd import add_rows, ask_for, prefetch
from novikoff._compiled.loops.viterbi import add_links, bar_ends, chain_score, decode

EXAMPLES, MISTAKES, ROWS, SQUARED_NORM, SQUARED_RADIUS, LOGGED = range(6)  # in `counts`
N_COUNTS = 6


class Room(NamedTuple):
    """Memory for the work on one sentence, of the longest there is; what is not needed may be empty.

    E, Q, best and top are of 32 or 64 bits, as the sums demand.
    """

    E: np.ndarray
    Q: np.ndarray
    best: np.ndarray
    top: np.ndarray  # a single number
    best_pairs: np.ndarray
    guess: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray


class Learned(NamedTuple):
    """The weights of features and of pairs of tags, each with its sum of (t - 1) delta_t."""

    W: np.ndarray
    U: np.ndarray
    P: np.ndarray
    P_moments: np.ndarray


class Lessons(NamedTuple):
    """Sentences to learn from, and the row of weights that each feature has."""

    starts: np.ndarray
    features: np.ndarray
    links: np.ndarray  # features that go with the tag before
    after: np.ndarray  # after[f, a], what f is after tag a
    tags: np.ndarray
    row_of: np.ndarray
    feature_of: np.ndarray  # feature_of[row], the way back


# -- tagging


@kernel
def tag_sentences(starts, E, P, T, barred, ends, links, after, row_of, W, floor, room, beam, tags):
    """The best chain of every sentence, given what every token says of every tag. Where no chain may be, none is
    barred."""
    Q, is_ready = room.Q, False
    none = np.empty(0, np.int32)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        n = end - begin
        if n == 0:
            continue
        e, y = E[begin:end], tags[begin:end]
        bar_ends(e, 0, n, ends, 1)
        for turn in range(2):
            if turn == 1 or not is_ready:
                add_links(P, barred if turn == 0 else barred[:0], links, begin, n, after, row_of, W, floor, Q)
            is_ready = turn == 0 and links.shape[1] == 0  # for the next sentence as well
            if beam is None:
                found = decode(e, Q, T, n, floor, room.best, room.top, room.best_pairs, y)
            else:
                found = beam_chain(e, Q, T, n, floor, False, none, beam, y) > 0
            if found:
                break
            bar_ends(e, 0, n, ends, -1)


@kernel
def score_sentences(starts, E, P, T, links, after, row_of, W, longest, tags, scores):
    """The sum of every sentence's chain of tags; NaN where one of them is -1."""
    Q = np.empty((longest if links.shape[1] > 0 else 1, P.shape[0], P.shape[1]), np.int64)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        scores[s] = 0.0
        is_known = True
        for i in range(begin, end):
            is_known &= tags[i] >= 0
        if not is_known:
            scores[s] = np.nan
        elif end > begin:
            add_links(P, P[:0], links, begin, end - begin, after, row_of, W, 0, Q)
            scores[s] = chain_score(E[begin:end], Q, T, end - begin, tags[begin:end])


# -- learning


@part
def ask_for_places(features, begin, end, row_of):
    """Ask early for where the rows of the features of a sentence are."""
    for i in range(begin, end):
        for k in range(features.shape[1]):
            prefetch(row_of, features[i, k])


@part
def find_rows(features, begin, n, row_of, W, rows, sizes):
    """The rows that the features of each token have: the first sizes[i] of rows[i]."""
    for i in range(n):
        m = 0
        for k in range(features.shape[1]):
            f = features[begin + i, k]
            if f >= 0 and row_of[f] >= 0:
                rows[i, m] = row_of[f]
                ask_for(W, row_of[f])
                m += 1
        sizes[i] = m


@part
def add_up(W, n, rows, sizes, E):
    """E[i, y] = sum of W[f, y] over the features f of token i."""
    for i in range(n):
        e = E[i]
        for y in range(e.size):
            e[y] = 0
        add_rows(W, rows[i], sizes[i], e)


@part
def add_one(W, U, row, tag, sign, before):
    """w <- w + sign at one place, `before` examples having gone before. Return how much |w|^2 grows."""
    old = np.int64(W[row, tag])
    W[row, tag] = old + sign
    U[row, tag] += sign * before
    return 2 * sign * old + 1


@part
def row_for(f, row_of, feature_of, counts):
    """The row of a feature; one that has none gets the next."""
    row = np.int64(row_of[f])
    if row < 0:
        row = counts[ROWS]
        counts[ROWS] += 1
        row_of[f] = row
        feature_of[row] = f
    return row


@part
def add_features(features, i, row_of, feature_of, counts, W, U, y, guess, before):
    """w <- w + phi(x, y) - phi(x, y^) for the features of one token."""
    grown = 0
    for k in range(features.shape[1]):
        if features[i, k] >= 0:
            row = row_for(features[i, k], row_of, feature_of, counts)
            grown += add_one(W, U, row, y, 1, before)
            grown += add_one(W, U, row, guess, -1, before)
    return grown


@part
def add_pair(links, i, after, row_of, feature_of, counts, W, U, P, V, with_pairs, a, z, sign, before):
    """The same for two neighbouring tags: their own weight, and those of features that go with both."""
    grown = add_one(P, V, a, z, sign, before) if with_pairs else 0
    for k in range(links.shape[1]):
        if links[i, k] >= 0:
            row = row_for(after[links[i, k], a], row_of, feature_of, counts)
            grown += add_one(W, U, row, z, sign, before)
    return grown


@part
def add_difference(
    features, links, after, row_of, feature_of, counts, W, U, P, V, with_pairs, T, X, begin, n, y, guess, before
):
    """w <- w + phi(x, y) - phi(x, y^) for the first n tokens. Return how much |w|^2 grows."""
    grown = 0
    for i in range(n):
        if guess[i] != y[i]:
            grown += add_features(features, begin + i, row_of, feature_of, counts, W, U, y[i], guess[i], before)
        if i > 0 and (guess[i - 1] != y[i - 1] or guess[i] != y[i]):
            grown += add_pair(
                links, begin + i, after, row_of, feature_of, counts, W, U, P, V, with_pairs, y[i - 1], y[i], 1, before
            )
            grown += add_pair(
                links,
                begin + i,
                after,
                row_of,
                feature_of,
                counts,
                W,
                U,
                P,
                V,
                with_pairs,
                guess[i - 1],
                guess[i],
                -1,
                before,
            )
        if T is not None:
            if i > 1:
                grown += add_one(T[y[i - 2]], X[y[i - 2]], y[i - 1], y[i], 1, before)
                grown += add_one(T[guess[i - 2]], X[guess[i - 2]], guess[i - 1], guess[i], -1, before)
    return grown


@kernel
def learn_sentences(order, lessons, learned, T, X, with_pairs, barred, ends, floor, room, beam, counts, log):
    """Collins' perceptron, once through the order. W must have a row to spare for each feature that has none yet.

        for each sentence x with tags y:
            y^ = argmax_z <w, phi(x, z)>
            if y^ != y:  w <- w + phi(x, y) - phi(x, y^)

    T and X are W and U of three tags in a row. With a beam, x ends where y falls out of it (early update). log[k] is
    (examples, mistakes, |w|^2) after update k of this call.
    """
    starts, features, links, after, tags, row_of, feature_of = lessons
    W, U, P, V = learned
    E, Q, guess = room.E, room.Q, room.guess
    counts[LOGGED] = 0
    for p in range(order.size):
        begin, end = starts[order[p]], starts[order[p] + 1]
        n, before = end - begin, counts[EXAMPLES]
        counts[EXAMPLES] += 1
        if n == 0:
            continue
        y = tags[begin:end]
        find_rows(features, begin, n, row_of, W, room.rows, room.sizes)
        if p + 1 < order.size:  # table and weights are larger than the cache
            ask_for_places(features, starts[order[p + 1]], starts[order[p + 1] + 1], row_of)
        add_up(W, n, room.rows, room.sizes, E)
        bar_ends(E, 0, n, ends, 1)
        add_links(P, barred, links, begin, n, after, row_of, W, floor, Q)
        if beam is None:
            decode(E, Q, T, n, floor, room.best, room.top, room.best_pairs, guess)
        else:
            n = beam_chain(E, Q, T, n, floor, True, y, beam, guess)
        is_right = True
        for i in range(n):
            is_right &= guess[i] == y[i]
        if is_right:
            continue
        gap = chain_score(E, Q, T, n, y) - chain_score(E, Q, T, n, guess)  # <w, delta>, before w changes
        grown = add_difference(
            features, links, after, row_of, feature_of, counts, W, U, P, V, with_pairs, T, X, begin, n, y, guess, before
        )
        counts[MISTAKES] += 1
        counts[SQUARED_NORM] += grown
        # |w + delta|^2 = |w|^2 + 2 <w, delta> + |delta|^2, and all but the last are known
        counts[SQUARED_RADIUS] = max(counts[SQUARED_RADIUS], grown - 2 * gap)
        log[counts[LOGGED], 0], log[counts[LOGGED], 1] = counts[EXAMPLES], counts[MISTAKES]
        log[counts[LOGGED], 2] = counts[SQUARED_NORM]
        counts[LOGGED] += 1
