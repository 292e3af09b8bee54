"""Passes of the kernel perceptron: scores are sums of kernels K(x_s, .) around the rows it erred on.

    problem   along a stream, make few mistakes: times t with y_t f(x_t) on the wrong side of 0, where
              f = sum over past updates e of sign_e * K(x_e, .)
    given     the scores (vector, row) of a block of rows under the weights so far, and the kernel matrix `gram` of the
              block; or `products` K(x_s, x_q) of stored rows s with rows q, and the updates in order: which stored row
              (slot), which weight vector, which sign
    result    scores under the weights after the updates; counters, |w|^2, max K(x, x); a log of the updates
    source    Aizerman, Braverman & Rozonoer 1964; Freund & Schapire 1999, section 4 (dual form) and 5 (one against
              the rest); Collins 2002, fig. 1 (direct: add to the true class, subtract from its rival)

Scores are summed update by update, in the order of the updates. So every block size gives the sums of the algorithm
that takes one example at a time, except for the rounding of kernel values that are not integers.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
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
    find_strongest_rival,
)

# Columns of `log`: row of the block, weight vector, mistakes so far; and of `values`: the sign, |w|^2 after the update.
ROW, VECTOR, MISTAKES_SO_FAR = range(3)
SIGN, SQUARED_NORM_AFTER = range(2)

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product

LOSS = PROGRESS  # index in `measures` of the sum of squared residuals; a regression has no separator to progress along


@loop
def catch_up(products, slots, vectors, signs, first, seen, scores, begin, end):
    """Add to the scores of rows begin..end-1 the updates that they do not include yet.

    The updates are numbered from `first`; the score of row q includes those below seen[q].
    """
    latest = seen[begin:end].max() if begin < end else 0
    for e in range(slots.size):
        k, s, sign, number = products[slots[e]], scores[vectors[e]], signs[e], first + e
        if number >= latest:  # missing from all of them: a test for each row would take twice as long
            for q in range(_u(begin), _u(end)):
                s[q] += sign * k[q]
        else:
            for q in range(_u(begin), _u(end)):
                if seen[q] <= number:
                    s[q] += sign * k[q]


@loop
def learn_one_vs_rest(gram, codes, tie, scores, counts, measures, log, values):
    """Learn from a block, each weight vector on its own: a single vector separates class 1 from class 0, one of many
    the class of its own index from all others. Return the number of updates logged."""
    n_vectors, n = scores.shape
    logged = 0
    for t in range(n):
        count_example(gram[t, t], counts, measures)
        for v in range(n_vectors):
            y = 1.0 if codes[t] == (v if n_vectors > 1 else 1) else -1.0
            if is_wrong(y, scores[v, t], tie):
                counts[MISTAKES] += 1
                count_update(2.0 * y * scores[v, t] + gram[t, t], counts, measures)
                logged = add_update(gram, t, v, y, scores, counts, measures, log, values, logged)
    return logged


@loop
def learn_direct(gram, codes, tie, scores, counts, measures, log, values):
    """Learn from a block; the class with the highest score is the answer. On a mistake the row is added to the true
    class and subtracted from its rival: two entries in the log, in this order. Return the number of entries."""
    n = scores.shape[1]
    logged = 0
    for t in range(n):
        count_example(2.0 * gram[t, t], counts, measures)  # |phi(x, y) - phi(x, z)|^2
        y = codes[t]
        rival = find_strongest_rival(scores[:, t], y, tie)
        margin = scores[y, t] - scores[rival, t]
        if is_beaten(margin, y, rival, tie):
            counts[MISTAKES] += 1
            count_update(2.0 * margin + 2.0 * gram[t, t], counts, measures)
            logged = add_update(gram, t, y, 1.0, scores, counts, measures, log, values, logged)
            logged = add_update(gram, t, rival, -1.0, scores, counts, measures, log, values, logged)
    return logged


@loop
def learn_regression(gram, targets, step, scores, counts, measures, log, values):
    """Learn from a block: f <- f + step * (y - f(x)) K(x, .) after every example. Return the number of updates logged;
    the squared residuals are added to measures[LOSS]."""
    logged = 0
    for t in range(scores.shape[1]):
        count_example(gram[t, t], counts, measures)
        r = targets[t] - scores[0, t]
        measures[LOSS] += r * r
        if r != 0.0:
            tau = step * r
            count_update(2.0 * tau * scores[0, t] + tau * tau * gram[t, t], counts, measures)
            logged = add_update(gram, t, 0, tau, scores, counts, measures, log, values, logged)
    return logged


@inlined
def is_wrong(y, score, tie):
    """Return whether a score is on the wrong side for the sign y, or 0 where that counts as wrong."""
    if score == 0.0:
        return tie == TIE_MISTAKE or y * tie < 0.0
    return y * score < 0.0


@inlined
def is_beaten(margin, y, rival, tie):
    """Return whether class y loses to its rival: its margin is below 0, or 0 where that counts as wrong."""
    if margin == 0.0:
        return tie == TIE_MISTAKE or (rival > y) == (tie == TIE_POSITIVE)
    return margin < 0.0


@inlined
def count_example(squared_norm, counts, measures):
    """Count one example with this squared norm."""
    counts[EXAMPLES] += 1
    measures[SQUARED_RADIUS] = max(measures[SQUARED_RADIUS], squared_norm)


@inlined
def count_update(growth, counts, measures):
    """Count one update of the weights by a vector v: |w + v|^2 = |w|^2 + 2<w, v> + |v|^2 grows by `growth`."""
    counts[UPDATES] += 1
    measures[STEP_SUM] += 1.0
    measures[SQUARED_NORM] += growth


@inlined
def add_update(gram, t, v, sign, scores, counts, measures, log, values, logged):
    """w_v <- w_v + sign * K(x_t, .): update the scores of this row and the later ones of the block, and log it. In a
    regression the sign is any number."""
    for u in range(t, scores.shape[1]):
        scores[v, u] += sign * gram[t, u]
    log[logged, ROW], log[logged, VECTOR], log[logged, MISTAKES_SO_FAR] = t, v, counts[MISTAKES]
    values[logged, SIGN], values[logged, SQUARED_NORM_AFTER] = sign, measures[SQUARED_NORM]
    return logged + 1
