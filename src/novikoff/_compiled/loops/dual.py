"""The perceptron in dual form: scores are sums of potential functions K(x_s, .) around the rows it erred on.

    problem   along a stream, make few mistakes: times t with y_t f(x_t) on the wrong side of 0, where
              f = sum over past updates e of sign_e * K(x_e, .)
    given     a block of rows as numbers alone: scores (vector, row) of the weights so far, and the block's own kernel
              matrix `gram`; or `products` K(x_s, x_q) of stored rows s with rows q; the updates as they came: which
              stored row (slot), which weight vector, which sign
    result    scores brought up to date; mistakes, |w|^2 and max K(x, x) counted; a log of the updates; votes
    source    Aizerman, Braverman & Rozonoer 1964; Freund & Schapire 1999, section 4 (dual form) and 5 (one against
              the rest); Collins 2002, fig. 1 (direct: add to the true class, subtract from its rival)

Scores are added up update by update, in the order of the updates, whatever the blocks: every block size gives the sums
of the algorithm that takes one example at a time, but for the rounding of kernels that are not whole.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.additive import (
    EXAMPLES,
    MISTAKES,
    PROGRESS,
    SQUARED_NORM,
    SQUARED_RADIUS,
    STEP_SUM,
    TIE_MISTAKE,
    TIE_POSITIVE,
    UPDATES,
    strongest_rival,
)

# Columns of the log: which row of the block, which weight vector, mistakes so far; and the sign, |w|^2 after it.
ROW, VECTOR, MISTAKES_SO_FAR = range(3)
SIGN, SQUARED_NORM_AFTER = range(2)

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product

LOSS = PROGRESS  # place in `measures` of the sum of squared residuals: a regression has no separator to progress along


@kernel
def catch_up(products, slots, vectors, signs, first, seen, scores, begin, end):
    """Add to the scores of rows begin..end-1 the updates that they have not seen: seen[q] and up, of those numbered
    from `first`."""
    latest = seen[begin:end].max() if begin < end else 0
    for e in range(slots.size):
        k, s, sign, number = products[slots[e]], scores[vectors[e]], signs[e], first + e
        if number >= latest:  # new to all of them: nothing to ask row by row, which takes twice as long
            for q in range(_u(begin), _u(end)):
                s[q] += sign * k[q]
        else:
            for q in range(_u(begin), _u(end)):
                if seen[q] <= number:
                    s[q] += sign * k[q]


@kernel
def rest_walk(gram, codes, tie, scores, counts, measures, log, values):
    """Walk through a block; every weight vector says yes or no. One vector alone says yes to class 1, one of many to
    the class of its own number. Return how many updates were logged."""
    n_vectors, n = scores.shape
    logged = 0
    for t in range(n):
        look(gram[t, t], counts, measures)
        for v in range(n_vectors):
            y = 1.0 if codes[t] == (v if n_vectors > 1 else 1) else -1.0
            if is_wrong(y, scores[v, t], tie):
                counts[MISTAKES] += 1
                count_update(2.0 * y * scores[v, t] + gram[t, t], counts, measures)
                logged = add(gram, t, v, y, scores, counts, measures, log, values, logged)
    return logged


@kernel
def direct_walk(gram, codes, tie, scores, counts, measures, log, values):
    """Walk through a block; the highest score wins. On a mistake the row is added to the true class and taken from its
    rival: two entries in the log, in this order. Return how many."""
    n = scores.shape[1]
    logged = 0
    for t in range(n):
        look(2.0 * gram[t, t], counts, measures)  # |phi(x, y) - phi(x, z)|^2
        y = codes[t]
        rival = strongest_rival(scores[:, t], y, tie)
        margin = scores[y, t] - scores[rival, t]
        if is_beaten(margin, y, rival, tie):
            counts[MISTAKES] += 1
            count_update(2.0 * margin + 2.0 * gram[t, t], counts, measures)
            logged = add(gram, t, y, 1.0, scores, counts, measures, log, values, logged)
            logged = add(gram, t, rival, -1.0, scores, counts, measures, log, values, logged)
    return logged


@kernel
def residual_walk(gram, targets, step, scores, counts, measures, log, values):
    """Walk through a block of a regression: f <- f + step * (y - f(x)) K(x, .) after every example. Return how many
    updates were logged; the squared residuals are added up in measures[LOSS]."""
    logged = 0
    for t in range(scores.shape[1]):
        look(gram[t, t], counts, measures)
        r = targets[t] - scores[0, t]
        measures[LOSS] += r * r
        if r != 0.0:
            tau = step * r
            count_update(2.0 * tau * scores[0, t] + tau * tau * gram[t, t], counts, measures)
            logged = add(gram, t, 0, tau, scores, counts, measures, log, values, logged)
    return logged


@part
def is_wrong(y, score, tie):
    """Whether a score is on the wrong side for the sign y, or at 0 where that counts as wrong."""
    if score == 0.0:
        return tie == TIE_MISTAKE or y * tie < 0.0
    return y * score < 0.0


@part
def is_beaten(margin, y, rival, tie):
    """Whether class y is not ahead of its rival, by a margin below 0 or at 0 where that counts as wrong."""
    if margin == 0.0:
        return tie == TIE_MISTAKE or (rival > y) == (tie == TIE_POSITIVE)
    return margin < 0.0


@part
def look(squared_norm, counts, measures):
    """Take note of one more example."""
    counts[EXAMPLES] += 1
    measures[SQUARED_RADIUS] = max(measures[SQUARED_RADIUS], squared_norm)


@part
def count_update(growth, counts, measures):
    """Account for one update of the weights by a vector v: |w + v|^2 = |w|^2 + 2<w, v> + |v|^2."""
    counts[UPDATES] += 1
    measures[STEP_SUM] += 1.0
    measures[SQUARED_NORM] += growth


@part
def add(gram, t, v, sign, scores, counts, measures, log, values, logged):
    """w_v <- w_v + sign * K(x_t, .): this row and the later ones of the block score anew. In a regression the sign is
    any number."""
    for u in range(t, scores.shape[1]):
        scores[v, u] += sign * gram[t, u]
    log[logged, ROW], log[logged, VECTOR], log[logged, MISTAKES_SO_FAR] = t, v, counts[MISTAKES]
    values[logged, SIGN], values[logged, SQUARED_NORM_AFTER] = sign, measures[SQUARED_NORM]
    return logged + 1
