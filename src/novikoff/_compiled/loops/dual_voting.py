"""The vote of every sum of potential functions that a kernel perceptron ever had.

    problem   sum over k of c_k * vote(f_k, x), where f_k = the first k updates sign_e * K(x_e, .)
    given     `high` and `low`, whose sum is K(x_s, x_q) for stored rows s and queries q (low is None where K is as
              computed); the updates in order: which stored row (slot), which sum (vector), which sign, which example;
              for each slot the first that holds the same row (twin)
    result    votes added in place
    source    Freund & Schapire 1999, section 4 (dual form) and 5 (one against the rest); Collins 2002, fig. 1 (direct)

A running sum of kernels is the score of each f_k in turn. What is left of it by rounding must not vote. A function in
which the updates of every row cancel is 0, and its scores are. If K is a polynomial of <x, z>, different rows cancel
too: beside each score goes a size, the lengths of the updates that had a part in it, and a score within reach * size of
a tie marks its query as `near`. Those vote again with kernels and sums in twice the precision, and a much shorter
reach; what is within that is a tie.
"""

from __future__ import annotations

from novikoff._compiled import kernel, part, part_to_the_letter
from novikoff._compiled.loops.voting import add_twice, score_twice


@kernel
def rest_votes(
    high, low, slots, vectors, signs, twins, examples, born, now, tie_sign, lengths, reach, sums, sizes, votes, near
):
    """votes[v, q] += sum over the functions that vector v ever was of (examples survived) * (sign of their score on q).

    `born[v]` is the number of examples before vector v. `sums` are scores, their rests and the sum of the signs of each
    row; these and sizes are zeros. All of them are used up.
    """
    scores, rests, balance = sums
    for e in range(slots.size):
        v, s = vectors[e], slots[e]
        cast_sign(examples[e] - 1 - born[v], tie_sign, reach, scores[v], rests[v], sizes[v], votes[v], near)
        born[v] = examples[e] - 1
        own = None if low is None else low[s]
        add_kernels(signs[e], lengths[s], high[s], own, scores[v], rests[v], sizes[v])
        if balances(balance[v], twins[s], signs[e]):
            clear(scores[v], rests[v], sizes[v])
    for v in range(born.size):
        cast_sign(now - born[v], tie_sign, reach, scores[v], rests[v], sizes[v], votes[v], near)


@kernel
def direct_votes(
    high, low, slots, winners, rivals, twins, survived, last_of_ties, lengths, reach, sums, sizes, votes, near
):
    """votes[c, q] += sum of survived[k] over k for which class c has the highest score on query q: of ties the last, or
    the first. sums and sizes are those of rest_votes."""
    scores, rests, balance = sums
    for k in range(slots.size + 1):
        if k > 0:
            s = slots[k - 1]
            own = None if low is None else low[s]
            for v, sign in ((winners[k - 1], 1.0), (rivals[k - 1], -1.0)):
                add_kernels(sign, lengths[s], high[s], own, scores[v], rests[v], sizes[v])
                if balances(balance[v], twins[s], sign):
                    clear(scores[v], rests[v], sizes[v])
        cast_highest(survived[k], last_of_ties, reach, scores, rests, sizes, votes, near)


@part
def cast_sign(survived, tie_sign, reach, scores, rests, sizes, votes, near):
    """Let one function vote on every query."""
    if survived > 0:
        for q in range(scores.size):
            s, limit = scores[q] + rests[q], reach[q] * sizes[q]
            is_tied = abs(s) <= limit
            near[q] |= is_tied and limit > 0.0
            votes[q] += survived * (tie_sign if is_tied else 1.0 if s > 0.0 else -1.0)


@part
def cast_highest(survived, last_of_ties, reach, scores, rests, sizes, votes, near):
    """Let the functions of all classes vote on every query."""
    for q in range(scores.shape[1]):
        best = 0
        for c in range(1, scores.shape[0]):
            ahead = (scores[c, q] - scores[best, q]) + (rests[c, q] - rests[best, q])
            limit = reach[q] * (sizes[c, q] + sizes[best, q])
            is_tied = abs(ahead) <= limit
            near[q] |= is_tied and limit > 0.0
            if last_of_ties if is_tied else ahead > 0.0:
                best = c
        votes[best, q] += survived


@part
def balances(balance, twin, sign):
    """Count an update of a row; return whether those of every row cancel now. The last place counts the rows whose
    updates do not."""
    before = balance[twin]
    balance[twin] = before + sign
    balance[balance.size - 1] += (balance[twin] != 0.0) - (before != 0.0)
    return balance[balance.size - 1] == 0.0


@part
def clear(scores, rests, sizes):
    """Begin again with a function that is 0."""
    scores[:] = 0.0
    rests[:] = 0.0
    sizes[:] = 0.0


@part_to_the_letter
def add_kernels(sign, length, high, low, scores, rests, sizes):
    """scores += sign * high, and the length to all sizes. With `low`, scores + rests is a
    sum in twice the precision."""
    for q in range(scores.size):
        s, k = scores[q], sign * high[q]
        scores[q] = s + k
        if low is not None:
            virtual = scores[q] - s
            rests[q] += (s - (scores[q] - virtual)) + (k - virtual) + sign * low[q]
        sizes[q] += length


@kernel
def polynomials_twice(data, indices, indptr, query, gamma, coef0, degree, constant, q, high, low):
    """high[s, q] + low[s, q] = (gamma * <x_s, x> + coef0)^degree + constant for one dense query x, in twice the
    precision."""
    for s in range(high.shape[0]):
        dot, rest, _ = score_twice(data, indices, indptr, s, 0.0, query, 0.0)
        base, base_rest, _ = add_twice(dot, gamma, coef0, rest * gamma, 0.0)
        power, power_rest = 1.0, 0.0
        for _ in range(degree):
            power, power_rest = times_twice(power, power_rest, base, base_rest)
        high[s, q], low[s, q], _ = add_twice(constant, 1.0, power, power_rest, 0.0)


@part_to_the_letter
def times_twice(a, a_rest, b, b_rest):
    """Return (a + a_rest) * (b + b_rest) as a sum of two numbers."""
    high, low, _ = add_twice(a, b, 0.0, a * b_rest + a_rest * b, 0.0)
    return high, low
