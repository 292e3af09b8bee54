"""The vote of every weight vector a perceptron ever had.

    problem   sum over k of c_k * vote(w_k, x), where vote is a sign (two classes) or a class (many)
    given     w_k = w_0 + the first k updates; products <x_s, x> of the stored rows with the query rows;
              the updates in order: which stored row, which step; c_0..c_k, the examples each vector survived
    result    votes added in place
    source    Freund & Schapire 1999, fig. 1, in the dual form of their section 4; the dot product in twice the
              precision is Dot2 of Ogita, Rump & Oishi 2005

The weight vectors are not formed: a running sum of products is the score of each in turn. Its rounding must not decide
a vote. So beside each score goes a size, |w_0| and the lengths of the updates that had a part in it, and each query has
a `reach`: reach * size is more than rounding can have added. A score that is nearer to a tie than that is computed
again in twice the precision, from weights that are formed for this, in the steps in which learning formed them. One
that is 0 to that precision is a tie.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part, part_to_the_letter
from novikoff._compiled.loops.rows import row_add

_SPLITTER = 134217729.0  # 2^27 + 1
_UNIT = 2.0**-53


@kernel
def binary_votes(
    products,
    meets,
    slots,
    steps,
    lengths,
    survived,
    tie_sign,
    reach,
    sizes,
    scores,
    votes,
    stored,
    queries,
    constant,
    w,
    bias,
):
    """votes[q] += sum_k survived[k] * sign(score of w_k on query q); a score of 0 votes tie_sign.

    `steps` carry the sign of the example, `lengths` are those of the updates. `scores` hold those of w_0, `sizes`
    |w_0|, `w` and `bias` w_0 itself; all four are used up. `stored` and `queries` are rows: (data, indices, indptr).
    meets[s, q] says whether stored row s and query q have a column in common; None if all may have.
    """
    formed = 0
    for k in range(slots.size + 1):
        if k > 0:
            s = slots[k - 1]
            add_products(steps[k - 1], products[s], scores)
            add_length(lengths[k - 1], None if meets is None else meets[s], sizes)
        if cast_binary(survived[k], tie_sign, reach, sizes, scores, votes):
            while formed < k:
                add_row(*stored, slots[formed], steps[formed], constant, w, bias)
                formed += 1
            for q in range(scores.size):
                if abs(scores[q]) < reach[q] * sizes[q]:
                    high, low, limit = score_twice(*queries, q, constant, w, bias[0])
                    score = high + low if abs(high + low) > limit else 0.0
                    votes[q] += survived[k] * (sign(score, tie_sign) - sign(scores[q], tie_sign))


@part
def add_products(step, products, scores):
    """Add an update to the scores of all queries."""
    for q in range(scores.size):
        scores[q] += step * products[q]


@part
def add_length(length, meets, sizes):
    """Add the length of an update to the sizes of the queries that it meets."""
    for q in range(sizes.size):
        if meets is None:
            sizes[q] += length
        else:
            sizes[q] += length * meets[q]


@part
def cast_binary(weight, tie_sign, reach, sizes, scores, votes):
    """Let one weight vector vote on every query; return whether a score is so near to 0 that rounding may decide."""
    near = np.int64(0)
    for q in range(scores.size):
        votes[q] += weight * sign(scores[q], tie_sign)
        near |= np.int64(abs(scores[q]) < reach[q] * sizes[q])
    return near


@part
def sign(score, tie_sign):
    """The vote of a score."""
    return 1.0 if score > 0.0 else -1.0 if score < 0.0 else tie_sign


@kernel
def multiclass_votes(
    products,
    meets,
    slots,
    steps,
    lengths,
    winners,
    rivals,
    survived,
    last_of_ties,
    reach,
    sizes,
    scores,
    votes,
    stored,
    queries,
    constant,
    w,
    bias,
):
    """votes[c, q] += sum of survived[k] over the vectors k that put query q in class c; see binary_votes."""
    formed = 0
    for k in range(slots.size + 1):
        if k > 0:
            s = slots[k - 1]
            add_products(steps[k - 1], products[s], scores[winners[k - 1]])
            add_products(-steps[k - 1], products[s], scores[rivals[k - 1]])
            add_length(lengths[k - 1], None if meets is None else meets[s], sizes)
        if cast_multiclass(survived[k], last_of_ties, reach, sizes, scores, votes):
            while formed < k:
                winner, rival = winners[formed], rivals[formed]
                add_row(*stored, slots[formed], steps[formed], constant, w[winner], bias[winner : winner + 1])
                add_row(*stored, slots[formed], -steps[formed], constant, w[rival], bias[rival : rival + 1])
                formed += 1
            for q in range(scores.shape[1]):
                best, lead = leader(scores, q, last_of_ties)
                near = 2.0 * reach[q] * sizes[q]
                if lead < near:
                    votes[best, q] -= survived[k]
                    best = leader_again(*queries, q, constant, w, bias, scores, scores[best, q] - near, last_of_ties)
                    votes[best, q] += survived[k]


@part
def cast_multiclass(weight, last_of_ties, reach, sizes, scores, votes):
    """Let one set of class weights vote on every query; return whether a lead is so short that rounding may decide."""
    near = np.int64(0)
    for q in range(scores.shape[1]):
        best, lead = leader(scores, q, last_of_ties)
        votes[best, q] += weight
        near |= np.int64(lead < 2.0 * reach[q] * sizes[q])
    return near


@part
def leader(scores, q, last_of_ties):
    """Return the class with the highest score, of equals the last, or the first; and how far it is ahead."""
    best, top, second = 0, scores[0, q], -np.inf
    for c in range(1, scores.shape[0]):
        s = scores[c, q]
        if s > top or (last_of_ties and s == top):
            best, top, second = c, s, top
        else:
            second = max(second, s)
    return best, top - second


@part
def leader_again(data, indices, indptr, q, constant, w, bias, scores, lowest, last_of_ties):
    """Return the class with the highest score in twice the precision, among those with scores above `lowest`."""
    best, high, low, limit = -1, 0.0, 0.0, 0.0
    for c in range(scores.shape[0]):
        if scores[c, q] > lowest:
            own_high, own_low, own_limit = score_twice(data, indices, indptr, q, constant, w[c], bias[c])
            ahead = (own_high - high) + (own_low - low)
            is_tied = abs(ahead) <= own_limit + limit
            if best < 0 or (last_of_ties if is_tied else ahead > 0.0):
                best, high, low, limit = c, own_high, own_low, own_limit
    return best


@part
def add_row(data, indices, indptr, slot, step, constant, w, bias):
    """w += step * x and bias += step * constant for a stored row x, which may be narrower than w."""
    if data.ndim == 2:
        row_add(data, indices, indptr, slot, step, w[: data.shape[1]])
    else:
        row_add(data, indices, indptr, slot, step, w)
    bias[0] += step * constant


@part_to_the_letter
def score_twice(data, indices, indptr, q, constant, w, bias):
    """Return <w, x_q> + bias * constant as a sum of two numbers, and what may be missing from it: about the square of
    the unit of rounding times the sum of the sizes of all products."""
    high, low, size = bias * constant, 0.0, abs(bias * constant)
    if data.ndim == 2:
        n = w.size
        for j in range(n):
            high, low, size = add_twice(data[q, j], w[j], high, low, size)
    else:
        n = indptr[q + 1] - indptr[q]
        for p in range(indptr[q], indptr[q + 1]):
            high, low, size = add_twice(data[p], w[indices[p]], high, low, size)
    return high, low, 4.0 * ((n + 3) * _UNIT) * ((n + 3) * _UNIT) * size


@part_to_the_letter
def add_twice(a, b, high, low, size):
    """Return (high, low) + a * b and size + |a * b|: the product and the sum each with what rounding took from them."""
    product = a * b
    a_high = _SPLITTER * a - (_SPLITTER * a - a)
    b_high = _SPLITTER * b - (_SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = high + product
    virtual = total - high
    rest += (high - (total - virtual)) + (product - virtual)
    return total, low + rest, size + abs(product)
