"""Passes of dual coordinate ascent for linear classifiers.

problem   minimise  P(w, b) = sum_i C_i loss(m_i) + 1/2 |w|^2,  m_i = y_i (<w, x_i> + b);  b is not penalised
dual      maximise  D(a) = sum_i C_i psi(a_i) - 1/2 |w(a)|^2,  w(a) = sum_i C_i a_i y_i x_i,
          subject to sum_i C_i a_i y_i = 0 if there is an intercept
              hinge            psi(a) = a                                  0 <= a <= 1
              squared hinge    psi(a) = a - a^2 / 4                        0 <= a
              logistic         psi(a) = -a log a - (1 - a) log(1 - a)      0 <  a <  1
given     rows, dense or CSR, with their squared norms; y_i = -1 or +1; C_i > 0
result    a, w = w(a) and b after one more pass, in place; an estimate of P - D from the margins met along the pass
source    Hsieh, Chang, Lin, Keerthi & Sundararajan 2008 (hinge losses, with shrinking);
          Yu, Huang & Lin 2011 (logistic loss). Here the one-variable problem is solved for t = log((1 - a) / a) by
          Newton's method within a bracket, so that a never leaves (0, 1) and no logarithm is needed;
          Hestenes 1969 (the constraint, by multipliers: b = b_0 + kappa sum_i C_i a_i y_i, where b_0 is the b that the
          pass before ended with)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.rows import SMALLEST_SQUARED_NORM, prefetch_upcoming, row_add, row_dot

NEWTON_STEPS = 30
NEAR = 1e-3  # a Newton step in t this short leaves an error of the order of its square


class DualArrays(NamedTuple):
    """C, a, t = log((1 - a) / a) for the logistic loss, w; and two numbers, b and sum_i C_i a_i y_i."""

    caps: np.ndarray
    a: np.ndarray
    t: np.ndarray
    w: np.ndarray
    bias: np.ndarray


@loop
def shuffle_rows(order, n, state):
    """Permute order[:n] at random (Fisher & Yates; xorshift, Marsaglia 2003); `state` is one uint64 other than 0."""
    x = state[0]
    for k in range(n - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = np.int64(((x >> np.uint64(32)) * np.uint64(k + 1)) >> np.uint64(32))
        order[k], order[j] = order[j], order[k]
    state[0] = x


@loop
def run_hinge_pass(rows, targets, order, n_active, dual, kappa, is_squared, limits):
    """Maximise D over each a_i for the rows in order[:n_active].

    `limits` are the smallest and largest projected gradient of the pass before. A row whose a is at its bound, with a
    gradient beyond those, is unlikely to move and is left out of later passes: it is moved behind the active rows.
    Return the number of active rows, the estimate of P - D on them, and the limits for the next pass.
    """
    data, indices, indptr, n_features, squared_norms = rows
    caps, a, _, w, bias = dual
    lowest, highest = limits
    b, violation = bias[0] + kappa * bias[1], bias[1]
    gap, least, most = 0.0, np.inf, -np.inf
    top, bend = (np.inf, 0.5) if is_squared else (1.0, 0.0)
    position = 0
    while position < n_active:
        prefetch_upcoming(data, indices, indptr, n_features, squared_norms, targets, order, position, n_active, 0)
        i = np.uint64(order[position])
        y, old, cap = targets[i], a[i], caps[i]
        missing = 1.0 - y * (row_dot(data, indices, indptr, i, w) + b)
        slope = bend * old - missing
        if (old == 0.0 and slope > highest) or (old == top and slope < lowest):
            n_active -= 1
            order[position], order[n_active] = order[n_active], order[position]
            continue
        position += 1
        value = max(0.0, missing)
        gap += cap * ((value * value + 0.25 * old * old if is_squared else value) - old * missing)
        projected = slope
        if old == 0.0:
            projected = min(slope, 0.0)
        elif old == top:
            projected = max(slope, 0.0)
        least, most = min(least, projected), max(most, projected)
        if projected == 0.0:
            continue
        curvature = cap * (squared_norms[i] + kappa) + bend
        if curvature > SMALLEST_SQUARED_NORM:
            new = min(max(old - slope / curvature, 0.0), top)
        else:
            new = 1.0 if slope < 0.0 else 0.0
        if new != old:
            a[i] = new
            step = cap * (new - old) * y
            row_add(data, indices, indptr, i, step, w)
            b += kappa * step
            violation += step
    bias[0], bias[1] = b, violation
    return n_active, gap, least, most


@inlined
def solve_logistic(m, k, old, t):
    """Return the t with t - m = k (1 / (1 + e^t) - old), which lies between m and the t of `old`, where we start."""
    low, high = min(m, t), max(m, t)
    for _ in range(NEWTON_STEPS):
        e = np.exp(-abs(t))
        a = (e if t > 0.0 else 1.0) / (1.0 + e)
        excess = t - m - k * (a - old)
        if excess > 0.0:
            high = t
        else:
            low = t
        following = t - excess / (1.0 + k * e / ((1.0 + e) * (1.0 + e)))
        if not low <= following <= high:
            following = 0.5 * (low + high)
        moved = abs(following - t)
        t = following
        if moved <= NEAR:
            break
    return t


@loop
def run_logistic_pass(rows, targets, order, dual, kappa):
    """Maximise D over each a_i for the rows in `order`; return the estimate of P - D."""
    data, indices, indptr, n_features, squared_norms = rows
    caps, a, t, w, bias = dual
    b, violation = bias[0] + kappa * bias[1], bias[1]
    gap, n = 0.0, order.size
    for position in range(n):
        prefetch_upcoming(data, indices, indptr, n_features, squared_norms, targets, order, position, n, 0)
        i = np.uint64(order[position])
        y, old, before, cap = targets[i], a[i], t[i], caps[i]
        m = y * (row_dot(data, indices, indptr, i, w) + b)
        after = solve_logistic(m, cap * (squared_norms[i] + kappa), old, before)
        e = np.exp(-abs(after))
        new = (e if after > 0.0 else 1.0) / (1.0 + e)
        # P - D is a sum of C (loss(m) - loss(t) - loss'(t) (m - t)), here by the trapezoidal rule.
        gap += 0.5 * cap * abs((new - old + new * (1.0 - new) * (after - m)) * (m - before))
        if new != old:
            a[i], t[i] = new, after
            step = cap * (new - old) * y
            row_add(data, indices, indptr, i, step, w)
            b += kappa * step
            violation += step
    bias[0], bias[1] = b, violation
    return gap
