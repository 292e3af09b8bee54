"""Passes of stochastic gradient descent; objective, gradient and Hessian products for other solvers.

problem   minimise  F(w, b) = 1/n sum_i c_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2;  b is not penalised
given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); targets y_i; a loss;
          importances c_i > 0, or None: all are 1, and numba leaves out the branches that read them
result    w and b after one more pass, in place; or F, its gradient, and products with its Hessian
source    Robbins & Monro 1951; Bottou 2012 (w = scale * u, so that shrinking w is one product);
          Lacoste-Julien, Schmidt & Bach 2012 (averages with weights 1, 2, 3, ...);
          Bordes, Bottou & Gallinari 2009 (stochastic Newton)

The vector v of the other solvers has the bias as its last entry; `constant` is 1 with an intercept, 0 without.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.rows import (
    LARGEST_SQUARED_NORM,
    SMALLEST_SQUARED_NORM,
    prefetch_distance,
    prefetch_upcoming,
    row_add,
    row_add_with_sums,
    row_at,
    row_dot,
    row_dot_and_squared_norm,
    row_dot_prefetching,
)

# Losses and step sizes, by code: a function passed as an argument would miss the disk cache in every process.
HINGE_AT_ZERO, HINGE, SQUARED_HINGE, LOGISTIC, SQUARED = range(5)
CONSTANT, INVERSE_ROOT, INVERSE, FITTED = range(4)

# Indices of `counts` (int64) and `measures` (float64) of a run of SGD.
EXAMPLES, MISTAKES, UPDATES = range(3)
SCALE, AVERAGE_SCALE, AVERAGE_TOTAL, SQUARED_RADIUS, STEP_SUM, WEIGHTED_RADIUS, LENGTH_SUM = range(7)

PATIENCE = 10_000.0  # examples; with more a9a took longer, with fewer reuters did
TINY = 1e-9  # a scale below this is multiplied into the weights before they lose digits

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


class DescentSettings(NamedTuple):
    """The objective and the step sizes of stochastic gradient descent.

    `loss` and `schedule` are codes. `steepness` bounds the second derivative of the loss. `eta` is the first step, or 0
    for 1 / (steepness R^2), where R is the longest row so far, which no row overshoots, or with FITTED the mean length
    of the rows; INVERSE adds it to t. With importances c the length of a row is sqrt(c) |x|.
    """

    constant: float
    loss: int
    steepness: float
    alpha: float
    schedule: int
    eta: float


class AveragedWeights(NamedTuple):
    """w and bias, and the sums behind their average, which are empty if there is none."""

    w: np.ndarray
    bias: np.ndarray
    sums: np.ndarray
    sums_bias: np.ndarray


@inlined
def loss_value(loss, s, y):
    """Return the loss of the score s for the target y."""
    m = y * s
    if loss == HINGE_AT_ZERO:
        return max(0.0, -m)
    if loss == HINGE:
        return max(0.0, 1.0 - m)
    if loss == SQUARED_HINGE:
        missing = max(0.0, 1.0 - m)
        return missing * missing
    if loss == LOGISTIC:
        return max(0.0, -m) + np.log1p(np.exp(-abs(m)))
    return (s - y) * (s - y)


@inlined
def loss_slope(loss, s, y):
    """Return d loss / d s."""
    m = y * s
    if loss == HINGE_AT_ZERO:
        return -y if m <= 0.0 else 0.0
    if loss == HINGE:
        return -y if m < 1.0 else 0.0
    if loss == SQUARED_HINGE:
        return -2.0 * y * max(0.0, 1.0 - m)
    if loss == LOGISTIC:
        e = np.exp(-abs(m))  # also in loss_value: computed once where both are inlined
        return -y * (e if m > 0.0 else 1.0) / (1.0 + e)
    return 2.0 * (s - y)


@inlined
def loss_curvature(loss, s, y):
    """Return d2 loss / d s2."""
    m = y * s
    if loss == SQUARED_HINGE:
        return 2.0 * y * y if m < 1.0 else 0.0
    if loss == LOGISTIC:
        e = np.exp(-abs(m))
        return y * y * e / ((1.0 + e) * (1.0 + e))
    return 2.0 if loss == SQUARED else 0.0


@inlined
def step_sizes(settings, squared_radius, t):
    """Return the steps of example t = 1, 2, ... for the weights and for the bias.

    FITTED starts with a step that does not overshoot a row of mean length; `longest_step` keeps it from overshooting
    others. After PATIENCE examples it falls like 1 / sqrt(t), which is right whatever the curvature (Bach & Moulines
    2011), and in the end like 1 / (alpha t), which is right for the curvature that the penalty guarantees. Along the
    bias only the losses have curvature: steps of 1 / (alpha t) would be too short for it.
    """
    alpha, schedule, eta = settings.alpha, settings.schedule, settings.eta
    if schedule == INVERSE:
        tau = 1.0 / (alpha * (eta + t))
        return tau, tau
    if eta == 0.0:
        if squared_radius <= SMALLEST_SQUARED_NORM:  # rows of zeros so far, and no intercept: nothing moves
            return 0.0, 0.0
        eta = 1.0 / (settings.steepness * squared_radius)
    if schedule == CONSTANT:
        return eta, eta
    if schedule == INVERSE_ROOT:
        tau = eta / np.sqrt(t)
        return tau, tau
    slowly = eta / np.sqrt(1.0 + t / PATIENCE)
    return slowly / (1.0 + slowly * alpha * t), slowly


@inlined
def longest_step(settings, q):
    """Return the longest step of FITTED on a row of squared length q: the slope of its loss changes its sign in none.

    So one long row neither makes all steps short, as it would if they were fitted to it, nor moves the weights far."""
    if settings.schedule == FITTED and q > SMALLEST_SQUARED_NORM:
        return 1.0 / (settings.steepness * q)
    return np.inf


@loop
def run_sgd_pass(rows, targets, order, settings, weights, counts, measures, importances):
    """Take one step for each row in `order`, a permutation, or in the order in memory if it is None.

    Squared norms that are missing are filled in. Return the number of rows visited before one whose squared norm or
    slope is no number.

    The weights are scale * w. Their average with weights 1, 2, 3, ... is (average_scale * w - sums) / average_total,
    which costs nothing where nothing is added: what is added to w at time t is missing from the average before t, and
    `sums` corrects for that.
    """
    data, indices, indptr, n_features, squared_norms = rows
    constant, loss, alpha = settings.constant, settings.loss, settings.alpha
    w, bias, sums, sums_bias = weights
    scale, average_scale = measures[SCALE], measures[AVERAGE_SCALE]
    squared_radius, step_sum = measures[SQUARED_RADIUS], measures[STEP_SUM]
    weighted_radius, length_sum = measures[WEIGHTED_RADIUS], measures[LENGTH_SUM]
    fits = settings.schedule == FITTED
    b, b_sum, total = constant * bias[0], 0.0, measures[AVERAGE_TOTAL]
    t, mistakes, updates = counts[EXAMPLES], counts[MISTAKES], counts[UPDATES]
    averages = sums_bias.size > 0
    if averages:
        b_sum = sums_bias[0]
    n = squared_norms.size
    distance = prefetch_distance(data, n_features, order)
    position = 0
    while position < n:
        i = row_at(order, position)
        prefetch_upcoming(data, indices, indptr, n_features, squared_norms, targets, order, position, n, distance)
        q = squared_norms[i]
        if q < 0.0:
            s, q = row_dot_and_squared_norm(data, indices, indptr, i, w)
            if not q <= LARGEST_SQUARED_NORM:
                break
            squared_norms[i] = q
        else:
            s = row_dot_prefetching(data, indices, indptr, i, w, order is None)
        t += 1
        squared_radius = max(squared_radius, q + constant)
        if importances is None:
            r, longest = q + constant, squared_radius
        else:
            r = importances[i] * (q + constant)
            weighted_radius = longest = max(weighted_radius, r)
        length_sum += np.sqrt(r)
        mean = length_sum / t
        tau, bias_tau = step_sizes(settings, mean * mean if fits else longest, np.float64(t))
        y = targets[i]
        s = scale * s + b
        mistakes += y * s <= 0.0
        g = loss_slope(loss, s, y)
        if importances is not None:
            g *= importances[i]
        if alpha > 0.0:
            scale *= 1.0 - min(tau * alpha, 1.0 - TINY)
        if g != 0.0:
            if not abs(g) < np.inf:
                break
            if fits:
                limit = longest_step(settings, r)
                tau, bias_tau = min(tau, limit), min(bias_tau, limit)
            updates += 1
            step_sum += tau * abs(g)
            if averages and average_scale > 0.0:
                row_add_with_sums(data, indices, indptr, i, -tau * g / scale, w, average_scale, sums)
            else:
                row_add(data, indices, indptr, i, -tau * g / scale, w)
            b -= bias_tau * g * constant
        if averages:
            average_scale += t * scale
            b_sum += t * b
            total += t
        if scale < TINY:
            fold_scale(scale, average_scale, w, sums)
            scale, average_scale = 1.0, 0.0
        position += 1
    counts[EXAMPLES], counts[MISTAKES], counts[UPDATES] = t, mistakes, updates
    measures[SCALE], measures[AVERAGE_SCALE], measures[AVERAGE_TOTAL] = scale, average_scale, total
    measures[SQUARED_RADIUS], measures[STEP_SUM] = squared_radius, step_sum
    measures[WEIGHTED_RADIUS], measures[LENGTH_SUM] = weighted_radius, length_sum
    bias[0] = b
    if averages:
        sums_bias[0] = b_sum
    return position


@inlined
def fold_scale(scale, average_scale, w, sums):
    """Multiply the scale into w; the part of w in the average goes into the sums, if there are any."""
    for j in range(w.size):
        if sums.size:
            sums[j] -= average_scale * w[j]
        w[j] *= scale


@loop
def run_stochastic_newton_pass(rows, targets, order, constant, loss, alpha, inverse, lag, v, counts, importances):
    """v -= inverse @ (gradient of row i) / (lag + t) for each row in order; the bias is the last entry of v.

    Return the number of rows visited before one whose slope is no number.
    """
    data, indices, indptr, _, _ = rows
    x, gradient = np.empty(v.size), np.empty(v.size)
    t = counts[EXAMPLES]
    d = v.size - 1
    position = 0
    while position < order.size:
        i = order[position]
        t += 1
        fill_dense_row(data, indices, indptr, i, constant, x)
        y = targets[i]
        s = 0.0
        for j in range(v.size):
            s += x[j] * v[j]
        counts[MISTAKES] += y * s <= 0.0
        g = loss_slope(loss, s, y)
        if importances is not None:
            g *= importances[i]
        if not abs(g) < np.inf:
            break
        counts[UPDATES] += g != 0.0
        for j in range(d):
            gradient[j] = g * x[j] + alpha * v[j]
        gradient[d] = g * x[d]
        eta = 1.0 / (lag + t)
        for a in range(v.size):
            p = 0.0
            for b in range(v.size):
                p += inverse[a, b] * gradient[b]
            v[a] -= eta * p
        position += 1
    counts[EXAMPLES] = t
    return position


@inlined
def fill_dense_row(data, indices, indptr, i, constant, x):
    """x = (x_i, constant)."""
    if data.ndim == 2:
        for j in range(data.shape[1]):
            x[j] = data[i, j]
    else:
        x[:] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            x[indices[p]] = data[p]
    x[x.size - 1] = constant


@loop
def fill_gradient(data, indices, indptr, targets, constant, loss, v, scores, out, importances):
    """Return sum_i c_i loss_i; scores_i = <v, (x_i, constant)> and out = sum_i c_i loss'_i (x_i, constant)."""
    total, last = 0.0, 0.0
    d = v.size - 1
    out[:] = 0.0
    offset = constant * v[d]
    w, w_out = v[:d], out[:d]
    for i in range(targets.size):
        s = row_dot(data, indices, indptr, _u(i), w) + offset
        scores[i] = s
        value = loss_value(loss, s, targets[i])
        g = loss_slope(loss, s, targets[i])
        if importances is not None:
            value *= importances[i]
            g *= importances[i]
        total += value
        if g != 0.0:
            row_add(data, indices, indptr, _u(i), g, w_out)
            last += g
    out[d] = constant * last
    return total


@loop
def sum_losses_along(scores, direction_scores, t, targets, loss, importances):
    """Return sum_i c_i loss_i at scores + t * direction_scores, and its derivative by t."""
    total, slope = 0.0, 0.0
    for i in range(targets.size):
        s = scores[i] + t * direction_scores[i]
        value = loss_value(loss, s, targets[i])
        g = loss_slope(loss, s, targets[i])
        if importances is not None:
            value *= importances[i]
            g *= importances[i]
        total += value
        slope += g * direction_scores[i]
    return total, slope


@loop
def fill_curvatures(scores, targets, loss, out, importances):
    """out_i = c_i loss''_i."""
    for i in range(targets.size):
        out[i] = loss_curvature(loss, scores[i], targets[i])
        if importances is not None:
            out[i] *= importances[i]


@loop
def fill_hessian_product(data, indices, indptr, constant, curvatures, direction, out):
    """out = sum_i curvatures_i (x_i, constant) <direction, (x_i, constant)>."""
    out[:] = 0.0
    last = 0.0
    d = direction.size - 1
    offset = constant * direction[d]
    w, w_out = direction[:d], out[:d]
    for i in range(curvatures.size):
        if curvatures[i] != 0.0:
            c = curvatures[i] * (row_dot(data, indices, indptr, _u(i), w) + offset)
            row_add(data, indices, indptr, _u(i), c, w_out)
            last += c
    out[d] = constant * last


@loop
def add_sparse_hessian(data, indices, indptr, constant, curvatures, out):
    """out += sum_i curvatures_i (x_i, constant)(x_i, constant)^T, its lower half only, for CSR rows with increasing
    indices."""
    d = _u(out.shape[0] - 1)
    for i in range(curvatures.size):
        if curvatures[i] == 0.0:
            continue
        for p in range(_u(indptr[i]), _u(indptr[i + 1])):
            c = curvatures[i] * data[p]
            a = _u(indices[p])
            for q in range(_u(indptr[i]), p + _u(1)):
                out[a, _u(indices[q])] += c * data[q]
            out[d, a] += c * constant
        out[d, d] += curvatures[i] * constant
