"""The six experts of the rule "auto": their scores of a row, and their updates, one pass over its entries for all.

    problem   along a stream, keep six linear learners that fail on different kinds of streams
    given     rows x_1..x_n, dense or CSR; per coordinate and weight vector the numbers below; importances c_t
    result    the scores of each expert; its numbers after the row, changed in place
    source    AdaGrad: Duchi, Hazan & Singer 2011; PA-II: Crammer et al. 2006; AROW: Crammer, Kulesza & Dredze 2009;
              coin betting: Orabona & Tommasi 2017, with wealth per coordinate as in Kempka, Kotlowski & Warmuth 2019

With m the margin by an expert's own weights, q = |x|^2 and n the number of examples before, for two classes, which
share one vector, y = -1 or +1:

    AdaGrad        g = -c clip(1 - m, 0, 1);  G_j += (g x_j)^2;  w_j -= 0.3 g y x_j / sqrt(G_j)
    PA-II          tau = c max(0, 1 - m) / (q + 5);  w += tau y x;  sums += n tau y x
    its average    w - sums / n
    plain          PA-II on the coordinates that are no hats, and its average, which is the expert
    AROW           if m < 1: beta = 1 / (sum_j S_j x_j^2 + 1/c);  w_j += (1 - m) beta y S_j x_j
                   S_j -= beta (S_j x_j)^2
    coin betting   M_j = largest |x_j| max(1, c) so far;  w_j = W_j theta_j / (M_j (M_j + A_j));  g = -c / (1 + e^m)
                   W_j -= g y x_j w_j;  theta_j -= g y x_j;  A_j += |g x_j|
                   W_j = 4 / sqrt(mean over the rows of sum_j (x_j / M_j)^2) when x_j is first not 0

More classes have a vector each, and y = +1 for that of the true class, -1 for the others:

    AdaGrad, coin  g = -c (1 - p_k) for the true class and -c p_k for the others, where p is the softmax of the scores
    PA-II, plain   the true class against its strongest rival: m is the difference of their scores, q is 2 |x|^2, and
                   only these two vectors change
    AROW           one against all: every vector learns its own two classes

Sums run in the order of the entries and are rounded after each operation, so that dense rows, sparse rows, blocks of
any size and the reference in plain Python agree to the last bit. Entries that are 0 are skipped.
"""

from __future__ import annotations

import math

import numpy as np

from novikoff._compiled import inlined_exactly
from novikoff._compiled.loops.entries import end_entry, entry_coordinate, entry_value, first_entry
from novikoff._compiled.loops.simd import prefetch

__all__ = [
    "ADAGRAD",
    "AROW",
    "COIN",
    "LARGEST",
    "N_KEPT",
    "N_SCORED",
    "PA",
    "PA_SUMS",
    "PLAIN",
    "PLAIN_SUMS",
    "POTENTIAL",
    "SLOPES",
    "SQUARED_SLOPES",
    "VARIANCE",
    "WEALTH",
]

# Columns of `scored`, which are multiplied with a row together; the last holds M_j, by which coin betting's weight is
# corrected where |x_j| is larger than ever.
ADAGRAD, PA, PA_SUMS, AROW, COIN, PLAIN, PLAIN_SUMS, LARGEST = range(8)
N_SCORED = 8

# Columns of `kept`, which only updates need: G, S, W, theta, A.
SQUARED_SLOPES, VARIANCE, WEALTH, POTENTIAL, SLOPES = range(5)
N_KEPT = 5

ADAGRAD_RATE = 0.3
PA_SOFTNESS = 5.0  # 1 / (2 C) for C = 0.1
AROW_R = 1.0
COIN_WEALTH = 4.0

_u = np.uint64
AHEAD = _u(12)  # entries from here to the one whose feature is prefetched, by measurement


@inlined_exactly
def coin_weight(kept, j, k, largest):
    """Return coin betting's w_j of vector k, where M_j is `largest`."""
    return kept[j, k, WEALTH] * kept[j, k, POTENTIAL] / (largest * (largest + kept[j, k, SLOPES]))


@inlined_exactly
def prefetch_features(data, indices, p, scored, kept):
    """Prefetch the numbers of a feature that comes after entry p of sparse rows, in this row or the next."""
    if data.ndim == 1:
        ahead = _u(p) + AHEAD
        if ahead < _u(indices.shape[0]):
            j = _u(indices[ahead]) + _u(1)
            prefetch(scored, j * _u(N_SCORED))
            prefetch(kept, j * _u(N_KEPT))


# -- scores


@inlined_exactly
def score_entries(row, constant, scored, kept, s):
    """s[k, c] = <column c of vector k, x_i> for the columns of `scored`; return |x_i|^2, with the constant."""
    data, indices, indptr, i = row
    if s.shape[0] == 1:
        return score_one_vector(row, constant, scored, kept, s)
    for k in range(s.shape[0]):
        for c in range(N_SCORED):
            s[k, c] = constant * scored[0, k, c]
    q = constant
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            j = _u(entry_coordinate(data, indices, p))
            is_raised = abs(x) > scored[j, 0, LARGEST]
            for k in range(_u(s.shape[0])):
                coin = s[k, COIN]
                for c in range(_u(N_SCORED)):
                    s[k, c] += x * scored[j, k, c]
                if is_raised:
                    s[k, COIN] = coin + x * coin_weight(kept, j, k, abs(x))
            q += x * x
    return q


@inlined_exactly
def score_one_vector(row, constant, scored, kept, s):
    """Do what `score_entries` does where two classes share one vector: with the sums in registers."""
    data, indices, indptr, i = row
    z = _u(0)
    adagrad, arow = constant * scored[z, z, ADAGRAD], constant * scored[z, z, AROW]
    pa, pa_sums = constant * scored[z, z, PA], constant * scored[z, z, PA_SUMS]
    plain, plain_sums = constant * scored[z, z, PLAIN], constant * scored[z, z, PLAIN_SUMS]
    coin = constant * scored[z, z, COIN]
    q = constant
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        prefetch_features(data, indices, p, scored, kept)
        x = entry_value(data, i, p)
        if x != 0.0:
            j = _u(entry_coordinate(data, indices, p))
            adagrad += x * scored[j, z, ADAGRAD]
            pa += x * scored[j, z, PA]
            pa_sums += x * scored[j, z, PA_SUMS]
            arow += x * scored[j, z, AROW]
            plain += x * scored[j, z, PLAIN]
            plain_sums += x * scored[j, z, PLAIN_SUMS]
            if abs(x) > scored[j, z, LARGEST]:
                coin += x * coin_weight(kept, j, z, abs(x))
            else:
                coin += x * scored[j, z, COIN]
            q += x * x
    s[0, ADAGRAD], s[0, PA], s[0, PA_SUMS], s[0, AROW] = adagrad, pa, pa_sums, arow
    s[0, COIN], s[0, PLAIN], s[0, PLAIN_SUMS] = coin, plain, plain_sums
    return q


@inlined_exactly
def plain_squared_norm(row, constant, is_hat):
    """Return the squared norm of the coordinates of row i that are no hats, and the constant."""
    data, indices, indptr, i = row
    q = constant
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0 and is_hat[_u(entry_coordinate(data, indices, p) - 1)] == 0:
            q += x * x
    return q


# -- largest values


@inlined_exactly
def raise_largest(row, constant, importance, scored, kept, numbers):
    """Raise M_j to the values of row i, times an importance above 1; give new coordinates their wealth.

    `numbers` begin with the sum over examples of sum_j (x_j / M_j)^2, and the number of examples. Return whether an
    M_j was raised.
    """
    data, indices, indptr, i = row
    factor = max(1.0, importance)
    total, n_new = 0.0, 0
    is_raised = False
    if constant != 0.0:
        if factor > scored[0, 0, LARGEST]:
            is_raised = True
            n_new += raise_coordinate(_u(0), factor, scored, kept)
        ratio = 1.0 / scored[0, 0, LARGEST]
        total += ratio * ratio
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            j = _u(entry_coordinate(data, indices, p))
            if factor * abs(x) > scored[j, 0, LARGEST]:
                is_raised = True
                n_new += raise_coordinate(j, factor * abs(x), scored, kept)
            ratio = x / scored[j, 0, LARGEST]
            total += ratio * ratio
    numbers[0] += total
    numbers[1] += 1.0
    if n_new:
        wealth = COIN_WEALTH / math.sqrt(numbers[0] / numbers[1])
        give_wealth(_u(0), wealth, kept, constant)
        for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
            x = entry_value(data, i, p)
            give_wealth(_u(entry_coordinate(data, indices, p)), wealth, kept, x)
    return is_raised


@inlined_exactly
def raise_coordinate(j, largest, scored, kept):
    """M_j = largest; return whether it was 0."""
    is_new = scored[j, 0, LARGEST] == 0.0
    for k in range(_u(scored.shape[1])):
        scored[j, k, LARGEST] = largest
        scored[j, k, COIN] = coin_weight(kept, j, k, largest)
    return is_new


@inlined_exactly
def give_wealth(j, wealth, kept, x):
    """W_j = wealth, if x is not 0 and the coordinate has none."""
    if x != 0.0 and kept[j, 0, WEALTH] == 0.0:
        for k in range(_u(kept.shape[1])):
            kept[j, k, WEALTH] = wealth


@inlined_exactly
def coin_score(row, constant, scored, k):
    """Return coin betting's score of vector k, after M has been raised by an importance."""
    data, indices, indptr, i = row
    s = constant * scored[0, k, COIN]
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            s += x * scored[_u(entry_coordinate(data, indices, p)), k, COIN]
    return s


# -- updates


@inlined_exactly
def variance_of_margin(row, constant, kept, k):
    """Return sum_j S_j x_j^2 for row i and vector k."""
    data, indices, indptr, i = row
    v = constant * kept[0, k, VARIANCE]
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            v += kept[_u(entry_coordinate(data, indices, p)), k, VARIANCE] * x * x
    return v


@inlined_exactly
def update_vector(row, constant, is_hat, k, sign, steps, scored, kept):
    """Update vector k by sign * x_i, in one pass over the entries; a step of 0 leaves an expert as it is.

    `steps` holds those of AdaGrad (g), PA-II (tau), plain PA-II (tau), AROW (1 - m) beta and beta, coin betting (g),
    and n.
    """
    data, indices, indptr, i = row
    if constant != 0.0:
        update_coordinate(_u(0), sign, True, k, steps, scored, kept)
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            j = _u(entry_coordinate(data, indices, p))
            is_plain = is_hat.shape[0] == 0 or is_hat[j - _u(1)] == 0
            update_coordinate(j, sign * x, is_plain, k, steps, scored, kept)


@inlined_exactly
def update_coordinate(j, x, is_plain, k, steps, scored, kept):
    """Update coordinate j of vector k by the value x, which has the sign of the update."""
    g, tau, plain_tau, arow_step, beta, coin_g, n = steps
    if g != 0.0:
        slope = g * x
        kept[j, k, SQUARED_SLOPES] += slope * slope
        if kept[j, k, SQUARED_SLOPES] > 0.0:
            scored[j, k, ADAGRAD] -= ADAGRAD_RATE * slope / math.sqrt(kept[j, k, SQUARED_SLOPES])
    if tau != 0.0:
        scored[j, k, PA] += tau * x
        scored[j, k, PA_SUMS] += n * (tau * x)
    if plain_tau != 0.0 and is_plain:
        scored[j, k, PLAIN] += plain_tau * x
        scored[j, k, PLAIN_SUMS] += n * (plain_tau * x)
    if beta != 0.0:
        move = kept[j, k, VARIANCE] * x
        scored[j, k, AROW] += arow_step * move
        kept[j, k, VARIANCE] = max(0.0, kept[j, k, VARIANCE] - beta * move * move)
    if coin_g != 0.0:
        slope = coin_g * x
        kept[j, k, WEALTH] -= slope * scored[j, k, COIN]
        kept[j, k, POTENTIAL] -= slope
        kept[j, k, SLOPES] += abs(slope)
        scored[j, k, COIN] = coin_weight(kept, j, k, scored[j, k, LARGEST])
