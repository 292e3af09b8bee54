"""Additive learning on dense and sparse rows: the perceptron and its family.

    problem   along a stream, make few mistakes: times t with y_t <w, x_t> on the wrong side of 0
    given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); classes y_t;
              a rule that turns margin and squared norm into a step tau >= 0
    result    weights changed in place, w += tau * y * x at each update; counts, measures, a log of the updates
    source    Rosenblatt 1958; Novikoff 1962; Freund & Schapire 1999, fig. 1 (averaging, survival counts);
              Gallant 1990 (pocket); Crammer et al. 2006, fig. 1 (passive-aggressive);
              Collins 2002, fig. 1 (many classes: add to the true class, subtract from its rival)

Two classes share one weight vector, y = -1 or +1. Many classes have one each; there the vector that the proofs
speak of is the difference phi(x, y) - phi(x, z), whose squared norm is twice that of x.

The constant coordinate is written `constant` (1 with an intercept, 0 without): it adds constant * bias to a score
and constant to a squared norm, so that radius and steps are those of the vectors actually used.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.rows import (
    LARGEST,
    SMALLEST,
    row_add,
    row_add_twice,
    row_at,
    row_dot,
    row_dot_ahead,
    row_look,
    row_move,
    row_scores,
    row_squared_norm,
    rows_ahead,
    tell_memory,
)

# Rules, by code: a function passed as an argument would miss the disk cache in every process.
PERCEPTRON, MARGIN, PASSIVE_AGGRESSIVE_1, PASSIVE_AGGRESSIVE_2 = range(4)

# What a score of exactly 0 means: the label -1, a mistake whatever the label, or the label +1.
TIE_NEGATIVE, TIE_MISTAKE, TIE_POSITIVE = -1, 0, 1

# Places in `counts` (int64) and `measures` (float64), the part of a state that changes with every example.
EXAMPLES, MISTAKES, UPDATES, RUN, BEST_RUN = range(5)
SQUARED_RADIUS, SQUARED_NORM, STEP_SUM, PROGRESS, SEEN_MARGIN = range(5)

# Columns of the log: where in the pass, which rival class, mistakes so far; and the step, |w|^2 after it.
POSITION, RIVAL, MISTAKES_SO_FAR = range(3)
STEP, SQUARED_NORM_AFTER = range(2)


@part
def step_size(rule, knob, margin, squared_norm, mistake):
    """Return tau >= 0, the multiple of y * x to add; 0 leaves w alone."""
    if rule == PERCEPTRON:
        return knob if mistake else 0.0
    if rule == MARGIN:
        return 1.0 if margin <= knob else 0.0
    loss = 1.0 - margin
    if loss <= 0.0 or squared_norm <= SMALLEST:
        return 0.0
    if rule == PASSIVE_AGGRESSIVE_1:
        return min(knob, loss / squared_norm)
    return loss / (squared_norm + 0.5 / knob)


@kernel
def binary_pass(
    data,
    indices,
    indptr,
    n_features,
    sqnorms,
    codes,
    order,
    start,
    stop,
    constant,
    tie,
    rule,
    knob,
    w,
    bias,
    sums,
    sums_bias,
    pocket,
    pocket_bias,
    counts,
    measures,
    log,
    log_values,
):
    """Learn two classes, codes 0 and 1, from rows order[start:stop], or start..stop-1 if order is None.

    Return (updates logged, position reached); short of `stop` means a row or a step that is not a number.
    """
    seen = counts[EXAMPLES] - start  # examples before position p: seen + p
    fresh = start - counts[RUN]  # right answers since the weights last changed or erred: p - fresh
    squared_radius = measures[SQUARED_RADIUS]
    logged = 0
    position = start
    offset = constant * bias[0]
    ahead = rows_ahead(data, n_features, order)
    while position < stop:
        i = row_at(order, position)
        tell_memory(data, indices, indptr, n_features, sqnorms, codes, order, position, stop, ahead)
        q = sqnorms[i]
        if q < 0.0:
            s, q = row_look(data, indices, indptr, i, w)
            if not q <= LARGEST:
                break
            sqnorms[i] = q
        else:
            s = row_dot_ahead(data, indices, indptr, i, w, order is None)
        q += constant
        y = 2.0 * codes[i] - 1.0
        margin = y * (s + offset)
        squared_radius = max(squared_radius, q)
        mistake = margin < 0.0 or (margin == 0.0 and y != tie)
        tau = step_size(rule, knob, margin, q, mistake)
        if tau == 0.0 and not mistake:  # most rows: said early, it saves a tenth of the time
            position += 1
            continue
        if not (0.0 <= tau < np.inf):
            break
        if mistake or tau > 0.0:
            counts[MISTAKES] += mistake
            end_run(position - fresh, w, bias, pocket, pocket_bias, counts)
            fresh = position + 1
        if tau > 0.0:
            bias[0] += tau * y * constant
            offset = constant * bias[0]
            if sums_bias.size:
                age = np.float64(seen + position)
                row_add_twice(data, indices, indptr, i, tau * y, w, age, sums)
                sums_bias[0] += age * tau * y * constant
            else:
                row_add(data, indices, indptr, i, tau * y, w)
            logged = record(position, 1 - codes[i], tau, margin, q, counts, measures, log, log_values, logged)
        position += 1
    counts[EXAMPLES] = seen + position
    counts[RUN] = position - fresh
    measures[SQUARED_RADIUS] = squared_radius
    return logged, position


@kernel
def multiclass_pass(
    data,
    indices,
    indptr,
    n_features,
    sqnorms,
    codes,
    order,
    start,
    stop,
    constant,
    tie,
    rule,
    knob,
    w,
    bias,
    sums,
    sums_bias,
    pocket,
    pocket_bias,
    counts,
    measures,
    log,
    log_values,
):
    """Learn many classes, codes 0..K-1: the structured update against the strongest rival class.

    Return as binary_pass does. Weights lie as row_scores wants them.
    """
    s = np.empty(bias.size)
    seen = counts[EXAMPLES] - start  # examples before position p: seen + p
    fresh = start - counts[RUN]  # right answers since the weights last changed or erred: p - fresh
    squared_radius = measures[SQUARED_RADIUS]
    logged = 0
    position = start
    while position < stop:
        i = row_at(order, position)
        tell_memory(data, indices, indptr, n_features, sqnorms, codes, order, position, stop, 0)
        if sqnorms[i] < 0.0:
            q = row_squared_norm(data, indices, indptr, i, n_features)
            if not q <= LARGEST:
                break
            sqnorms[i] = q
        q = 2.0 * (sqnorms[i] + constant)
        y = codes[i]
        row_scores(data, indices, indptr, i, w, s)
        for k in range(s.size):
            s[k] += constant * bias[k]
        z = strongest_rival(s, y, tie)
        margin = s[y] - s[z]
        mistake = margin < 0.0 or (margin == 0.0 and (z - y) * tie >= 0)
        tau = step_size(rule, knob, margin, q, mistake)
        if not (0.0 <= tau < np.inf):
            break
        squared_radius = max(squared_radius, q)
        if mistake or tau > 0.0:
            counts[MISTAKES] += mistake
            end_run(position - fresh, w, bias, pocket, pocket_bias, counts)
            fresh = position + 1
        if tau > 0.0:
            row_move(data, indices, indptr, i, tau, w, y, z)
            bias[y] += tau * constant
            bias[z] -= tau * constant
            if sums_bias.size:
                age = np.float64(seen + position)
                row_move(data, indices, indptr, i, age * tau, sums, y, z)
                sums_bias[y] += age * tau * constant
                sums_bias[z] -= age * tau * constant
            logged = record(position, z, tau, margin, q, counts, measures, log, log_values, logged)
        position += 1
    counts[EXAMPLES] = seen + position
    counts[RUN] = position - fresh
    measures[SQUARED_RADIUS] = squared_radius
    return logged, position


@part
def end_run(run, w, bias, pocket, pocket_bias, counts):
    """These weights have ended a run of right answers; pocket them if none ran longer (Gallant's pocket)."""
    if pocket_bias.size and run > counts[BEST_RUN]:
        counts[BEST_RUN] = run
        copy_into(pocket, w)
        copy_into(pocket_bias, bias)


@part
def copy_into(to, source):
    """to[:] = source, in loops: numba's own assignment takes seconds to compile."""
    if to.ndim == 2:
        for a in range(to.shape[0]):
            for b in range(to.shape[1]):
                to[a, b] = source[a, b]
    else:
        for a in range(to.shape[0]):
            to[a] = source[a]


@part
def strongest_rival(s, y, tie):
    """Return the highest-scoring class other than y; among equals the first if ties go to the lowest label,
    else the last, as prediction does."""
    best = 0 if y != 0 else 1
    for k in range(best + 1, s.size):
        if k != y and (s[k] > s[best] or (s[k] == s[best] and tie != TIE_NEGATIVE)):
            best = k
    return best


@part
def record(position, rival, tau, margin, q, counts, measures, log, log_values, logged):
    """Account for one update: |w + tau*v|^2 = |w|^2 + 2*tau*<w,v> + tau^2*|v|^2, and <w,v> is the margin."""
    counts[UPDATES] += 1
    measures[STEP_SUM] += tau
    measures[SQUARED_NORM] += tau * (2.0 * margin + tau * q)
    log[logged, POSITION] = position
    log[logged, RIVAL] = rival
    log[logged, MISTAKES_SO_FAR] = counts[MISTAKES]
    log_values[logged, STEP] = tau
    log_values[logged, SQUARED_NORM_AFTER] = measures[SQUARED_NORM]
    return logged + 1


@kernel
def binary_scores(data, indices, indptr, constant, w, bias, out):
    """out[i] = <w, x_i> + constant * bias, in the arithmetic of binary_pass: what it got right stays right."""
    for i in range(out.shape[0]):
        out[i] = row_dot(data, indices, indptr, i, w) + constant * bias[0]


@kernel
def multiclass_scores(data, indices, indptr, constant, w, bias, out):
    """out[i, k] = <w_k, x_i> + constant * bias_k, in the arithmetic of multiclass_pass."""
    for i in range(out.shape[0]):
        row_scores(data, indices, indptr, i, w, out[i])
        for k in range(bias.size):
            out[i, k] += constant * bias[k]
