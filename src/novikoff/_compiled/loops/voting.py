"""Votes of all weight vectors along a run of a voted perceptron.

    problem   sum over k of c_k * vote(w_k, x), where vote is a sign (two classes) or a class (more)
    given     w_k = w_0 + the first k updates; products <x_s, x> of the stored rows with the query rows;
              the updates in order: which stored row, which step; survival counts c_0..c_k
    result    votes added in place
    source    Freund & Schapire 1999, fig. 1, in the dual form of their section 4; the dot product in twice the
              precision is Dot2 of Ogita, Rump & Oishi 2005

The weight vectors are not formed: a running sum of products is the score of each in turn. Its rounding error must not
decide a vote. So each score has a size, |w_0| plus the lengths of the updates that contributed to it, and each query
has a factor `rounding`, such that rounding * size bounds the rounding error. A score that is nearer to a tie than that
bound is computed again in twice the precision, from weights that are formed for this, in the same steps in which they
were learned. One that is 0 to that precision is a tie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novikoff._compiled import inlined, inlined_exactly, loop
from novikoff._compiled.loops.rows import row_add

_SPLITTER = 134217729.0  # 2^27 + 1
_UNIT = 2.0**-53


class BinaryUpdates(NamedTuple):
    """Updates of one weight vector, in order: the stored row, the step with the sign of the example, its length."""

    slots: np.ndarray
    steps: np.ndarray
    lengths: np.ndarray


class MulticlassUpdates(NamedTuple):
    """Updates of one weight vector per class, in order: the row is added to the winner, subtracted from the rival."""

    slots: np.ndarray
    steps: np.ndarray
    lengths: np.ndarray
    winners: np.ndarray
    rivals: np.ndarray


class NearTies(NamedTuple):
    """What scores near a tie are computed from again: rows as (data, indices, indptr), and w_0, which is changed."""

    stored: tuple[Any, Any, Any]
    queries: tuple[Any, Any, Any]
    constant: float
    w: np.ndarray
    bias: np.ndarray


@loop
def count_binary_votes(products, meets, updates, survived, tie_sign, rounding, sizes, scores, votes, near_ties):
    """votes[q] += sum_k survived[k] * sign(score of w_k on query q); a score of 0 votes tie_sign.

    `scores` are those of w_0 and `sizes` are |w_0|; these and the weights of `near_ties` are changed. meets[s, q] is
    true if stored row s and query q have a column in common; None if all may have.
    """
    slots, steps, lengths = updates
    stored, queries, constant, w, bias = near_ties
    n_formed = 0  # updates that w has
    for k in range(slots.size + 1):
        if k > 0:
            s = slots[k - 1]
            add_products(steps[k - 1], products[s], scores)
            add_length(lengths[k - 1], None if meets is None else meets[s], sizes)
        if cast_binary(survived[k], tie_sign, rounding, sizes, scores, votes):
            while n_formed < k:
                add_row(*stored, slots[n_formed], steps[n_formed], constant, w, bias)
                n_formed += 1
            for q in range(scores.size):
                if abs(scores[q]) < rounding[q] * sizes[q]:
                    high, low, bound = score_precisely(*queries, q, constant, w, bias[0])
                    score = high + low if abs(high + low) > bound else 0.0
                    votes[q] += survived[k] * (sign(score, tie_sign) - sign(scores[q], tie_sign))


@inlined
def add_products(step, products, scores):
    """Add an update to the scores of all queries."""
    for q in range(scores.size):
        scores[q] += step * products[q]


@inlined
def add_length(length, meets, sizes):
    """Add the length of an update to the sizes of the queries whose scores it changes."""
    for q in range(sizes.size):
        if meets is None:
            sizes[q] += length
        else:
            sizes[q] += length * meets[q]


@inlined
def cast_binary(weight, tie_sign, rounding, sizes, scores, votes):
    """Add the votes of one weight vector on every query; return whether rounding may decide one of them."""
    is_near = np.int64(0)
    for q in range(scores.size):
        votes[q] += weight * sign(scores[q], tie_sign)
        is_near |= np.int64(abs(scores[q]) < rounding[q] * sizes[q])
    return is_near


@inlined
def sign(score, tie_sign):
    """Return the vote of a score."""
    return 1.0 if score > 0.0 else -1.0 if score < 0.0 else tie_sign


@loop
def count_multiclass_votes(products, meets, updates, survived, last_of_ties, rounding, sizes, scores, votes, near_ties):
    """votes[c, q] += sum of survived[k] over the vectors k that assign query q to class c; see count_binary_votes."""
    slots, steps, lengths, winners, rivals = updates
    stored, queries, constant, w, bias = near_ties
    n_formed = 0  # updates that w has
    for k in range(slots.size + 1):
        if k > 0:
            s = slots[k - 1]
            add_products(steps[k - 1], products[s], scores[winners[k - 1]])
            add_products(-steps[k - 1], products[s], scores[rivals[k - 1]])
            add_length(lengths[k - 1], None if meets is None else meets[s], sizes)
        if cast_multiclass(survived[k], last_of_ties, rounding, sizes, scores, votes):
            while n_formed < k:
                winner, rival = winners[n_formed], rivals[n_formed]
                add_row(*stored, slots[n_formed], steps[n_formed], constant, w[winner], bias[winner : winner + 1])
                add_row(*stored, slots[n_formed], -steps[n_formed], constant, w[rival], bias[rival : rival + 1])
                n_formed += 1
            for q in range(scores.shape[1]):
                best, lead = find_leader(scores, q, last_of_ties)
                bound = 2.0 * rounding[q] * sizes[q]
                if lead < bound:
                    votes[best, q] -= survived[k]
                    lowest = scores[best, q] - bound
                    best = find_leader_precisely(*queries, q, constant, w, bias, scores, lowest, last_of_ties)
                    votes[best, q] += survived[k]


@inlined
def cast_multiclass(weight, last_of_ties, rounding, sizes, scores, votes):
    """Add the votes of one set of class weights on every query; return whether rounding may decide one of them."""
    is_near = np.int64(0)
    for q in range(scores.shape[1]):
        best, lead = find_leader(scores, q, last_of_ties)
        votes[best, q] += weight
        is_near |= np.int64(lead < 2.0 * rounding[q] * sizes[q])
    return is_near


@inlined
def find_leader(scores, q, last_of_ties):
    """Return the class with the highest score, of equal ones the last or the first, and its lead over the second."""
    best, top, second = 0, scores[0, q], -np.inf
    for c in range(1, scores.shape[0]):
        s = scores[c, q]
        if s > top or (last_of_ties and s == top):
            best, top, second = c, s, top
        else:
            second = max(second, s)
    return best, top - second


@inlined
def find_leader_precisely(data, indices, indptr, q, constant, w, bias, scores, lowest, last_of_ties):
    """Return the class with the highest score in twice the precision, among those with scores above `lowest`."""
    best, high, low, bound = -1, 0.0, 0.0, 0.0
    for c in range(scores.shape[0]):
        if scores[c, q] > lowest:
            own_high, own_low, own_bound = score_precisely(data, indices, indptr, q, constant, w[c], bias[c])
            lead = (own_high - high) + (own_low - low)
            is_tied = abs(lead) <= own_bound + bound
            if best < 0 or (last_of_ties if is_tied else lead > 0.0):
                best, high, low, bound = c, own_high, own_low, own_bound
    return best


@inlined
def add_row(data, indices, indptr, slot, step, constant, w, bias):
    """w += step * x and bias += step * constant for a stored row x, which may be narrower than w."""
    if data.ndim == 2:
        row_add(data, indices, indptr, slot, step, w[: data.shape[1]])
    else:
        row_add(data, indices, indptr, slot, step, w)
    bias[0] += step * constant


@inlined_exactly
def score_precisely(data, indices, indptr, q, constant, w, bias):
    """Return <w, x_q> + bias * constant as a sum of two doubles, and a bound on its error: about the square of the unit
    of rounding times the sum of the absolute values of all products."""
    high, low, size = bias * constant, 0.0, abs(bias * constant)
    if data.ndim == 2:
        n = w.size
        for j in range(n):
            high, low, size = add_product(data[q, j], w[j], high, low, size)
    else:
        n = indptr[q + 1] - indptr[q]
        for p in range(indptr[q], indptr[q + 1]):
            high, low, size = add_product(data[p], w[indices[p]], high, low, size)
    return high, low, 4.0 * ((n + 3) * _UNIT) * ((n + 3) * _UNIT) * size


@inlined_exactly
def add_product(a, b, high, low, size):
    """Return (high, low) + a * b and size + |a * b|: the rounding errors of product and sum are added to low."""
    product = a * b
    a_high = _SPLITTER * a - (_SPLITTER * a - a)
    b_high = _SPLITTER * b - (_SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = high + product
    virtual = total - high
    error += (high - (total - virtual)) + (product - virtual)
    return total, low + error, size + abs(product)
