"""Votes of all sums of kernels along a run of a voted kernel perceptron.

    problem   sum over k of c_k * vote(f_k, x), where f_k = the first k updates sign_e * K(x_e, .)
    given     `high` and `low`, whose sum is K(x_s, x_q) for stored rows s and queries q (low is None where K has double
              precision only); the updates in order: which stored row (slot), which sum (vector), which sign, which
              example; for each slot the first one that holds an equal row (twin)
    result    votes added in place
    source    Freund & Schapire 1999, section 4 (dual form) and 5 (one against the rest); Collins 2002, fig. 1 (direct)

A running sum of kernels is the score of each f_k in turn. Where a sum cancels, its rounding error must not decide a
vote. A function in which the updates of every row cancel is 0, and so are its scores. If K is a polynomial of <x, z>,
updates of different rows may cancel too. So each score has a size, the sum of the lengths of the updates that
contributed to it, and each query a factor `rounding`; a score within rounding * size of a tie marks its query as
`near`. The votes on such queries are counted again, with kernels and sums in twice the precision and a much smaller
factor; a score within that is a tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, inlined_exactly, loop
from novikoff._compiled.loops.voting import add_product, score_precisely


class SignedUpdates(NamedTuple):
    """Updates of separate sums, in order: the stored row, the sum, the sign, the example; and the twin of each slot."""

    slots: np.ndarray
    vectors: np.ndarray
    signs: np.ndarray
    examples: np.ndarray
    twins: np.ndarray


class PairedUpdates(NamedTuple):
    """Updates of two classes at a time, in order: row, winning class, rival class; and the twin of each slot."""

    slots: np.ndarray
    winners: np.ndarray
    rivals: np.ndarray
    twins: np.ndarray


class RunningSums(NamedTuple):
    """Buffers of zeros, (vectors, queries) but for `balance`, which is (vectors, slots + 1).

    scores + corrections is a sum in twice the precision. balance[v, s] sums the signs of the updates of vector v by
    rows equal to that of slot s; its last column counts the rows for which that is not 0.
    """

    scores: np.ndarray
    corrections: np.ndarray
    balance: np.ndarray
    sizes: np.ndarray


@loop
def count_one_vs_rest_votes(high, low, updates, born, now, tie_sign, lengths, rounding, sums, votes, near):
    """votes[v, q] += sum over the functions that vector v ever was of (examples survived) * (sign of their score on q).

    `born[v]` is the number of examples before vector v began; it and `sums` are changed.
    """
    slots, vectors, signs, examples, twins = updates
    scores, corrections, balance, sizes = sums
    for e in range(slots.size):
        v, s = vectors[e], slots[e]
        survived = examples[e] - 1 - born[v]
        cast_sign(survived, tie_sign, rounding, scores[v], corrections[v], sizes[v], votes[v], near)
        born[v] = examples[e] - 1
        low_row = None if low is None else low[s]
        add_kernels(signs[e], lengths[s], high[s], low_row, scores[v], corrections[v], sizes[v])
        if update_balance(balance[v], twins[s], signs[e]):
            clear(scores[v], corrections[v], sizes[v])
    for v in range(born.size):
        cast_sign(now - born[v], tie_sign, rounding, scores[v], corrections[v], sizes[v], votes[v], near)


@loop
def count_direct_votes(high, low, updates, survived, last_of_ties, lengths, rounding, sums, votes, near):
    """votes[c, q] += sum of survived[k] over k for which class c has the highest score on query q, of equal scores the
    last class or the first. `sums` is changed."""
    slots, winners, rivals, twins = updates
    scores, corrections, balance, sizes = sums
    for k in range(slots.size + 1):
        if k > 0:
            s = slots[k - 1]
            low_row = None if low is None else low[s]
            for v, sign in ((winners[k - 1], 1.0), (rivals[k - 1], -1.0)):
                add_kernels(sign, lengths[s], high[s], low_row, scores[v], corrections[v], sizes[v])
                if update_balance(balance[v], twins[s], sign):
                    clear(scores[v], corrections[v], sizes[v])
        cast_highest(survived[k], last_of_ties, rounding, scores, corrections, sizes, votes, near)


@inlined
def cast_sign(survived, tie_sign, rounding, scores, corrections, sizes, votes, near):
    """Add the votes of one function on every query."""
    if survived > 0:
        for q in range(scores.size):
            s, bound = scores[q] + corrections[q], rounding[q] * sizes[q]
            is_tied = abs(s) <= bound
            near[q] |= is_tied and bound > 0.0
            votes[q] += survived * (tie_sign if is_tied else 1.0 if s > 0.0 else -1.0)


@inlined
def cast_highest(survived, last_of_ties, rounding, scores, corrections, sizes, votes, near):
    """Add the votes of the functions of all classes on every query."""
    for q in range(scores.shape[1]):
        best = 0
        for c in range(1, scores.shape[0]):
            lead = (scores[c, q] - scores[best, q]) + (corrections[c, q] - corrections[best, q])
            bound = rounding[q] * (sizes[c, q] + sizes[best, q])
            is_tied = abs(lead) <= bound
            near[q] |= is_tied and bound > 0.0
            if last_of_ties if is_tied else lead > 0.0:
                best = c
        votes[best, q] += survived


@inlined
def update_balance(balance, twin, sign):
    """Add an update to the balance of its row; return whether the updates of every row cancel now."""
    before = balance[twin]
    balance[twin] = before + sign
    balance[balance.size - 1] += np.int64(balance[twin] != 0.0) - np.int64(before != 0.0)
    return balance[balance.size - 1] == 0.0


@inlined
def clear(scores, corrections, sizes):
    """Set the function to exactly 0."""
    scores[:] = 0.0
    corrections[:] = 0.0
    sizes[:] = 0.0


@inlined_exactly
def add_kernels(sign, length, high, low, scores, corrections, sizes):
    """scores += sign * high, and sizes += length. With `low`, scores + corrections is a sum in twice the precision."""
    for q in range(scores.size):
        s, k = scores[q], sign * high[q]
        scores[q] = s + k
        if low is not None:
            virtual = scores[q] - s
            corrections[q] += (s - (scores[q] - virtual)) + (k - virtual) + sign * low[q]
        sizes[q] += length


@loop
def fill_precise_polynomials(data, indices, indptr, query, gamma, coef0, degree, constant, q, high, low):
    """high[s, q] + low[s, q] = (gamma * <x_s, x> + coef0)^degree + constant for one dense query x, in twice the
    precision."""
    for s in range(high.shape[0]):
        dot, dot_low, _ = score_precisely(data, indices, indptr, s, 0.0, query, 0.0)
        base, base_low, _ = add_product(dot, gamma, coef0, dot_low * gamma, 0.0)
        power, power_low = 1.0, 0.0
        for _ in range(degree):
            power, power_low = multiply_precisely(power, power_low, base, base_low)
        high[s, q], low[s, q], _ = add_product(constant, 1.0, power, power_low, 0.0)


@inlined_exactly
def multiply_precisely(a, a_low, b, b_low):
    """Return (a + a_low) * (b + b_low) as a sum of two doubles."""
    high, low, _ = add_product(a, b, 0.0, a * b_low + a_low * b, 0.0)
    return high, low
