"""Passes of stateful rules over dense and sparse rows, for two classes and for more.

    problem   along a stream, make few mistakes: times t with y_t <w, x_t> on the wrong side of 0
    given     rows x_1..x_n, dense or CSR; classes y_t; the index of a rule in `stateful_rules.KINDS` and its parameter;
              importances c_t > 0, or None: all are 1
    result    weights and slots changed in place; counters, a log of the updates
    source    the formulas of stateful_formulas.py, and where they come from

Weights are w[k, j], one vector for two classes (y = -1 or +1) and one for each of more; their slots are
slots[1 + j, k], and slots[0, k] those of the constant coordinate, whose weights are bias[k]. An example changes one
vector, by y * x, or two: that of its class by x, that of its strongest rival by -x.

What the additive passes count here is counted likewise, except that a run of correct answers ends with a mistake, not
with an update: some of these rules change the weights on nearly all examples. Every rule also keeps theta, the sum of
y * x over the mistakes: STEP_SUM counts them, and SQUARED_NORM is |theta|^2.

All is added up in order of columns and rounded after each operation: dense and sparse rows agree to the last bit.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined_exactly, loop
from novikoff._compiled.loops.additive import (
    EXAMPLES,
    MISTAKES,
    RUN,
    SQUARED_NORM,
    SQUARED_RADIUS,
    STEP_SUM,
    UPDATES,
    append_to_log,
    end_run,
    judge,
)
from novikoff._compiled.loops.entries import end_entry, entry_coordinate, entry_value, first_entry
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM, row_at, row_squared_norm
from novikoff._compiled.loops.stateful_formulas import (
    NEEDS_REFRESH,
    NEEDS_SIZE,
    SATISFIED,
    THETA,
    measure,
    refresh,
    settle,
    step,
)
from novikoff._compiled.loops.step_size import LARGEST_SQUARED_UPDATE

__all__ = ["learn_stateful", "score_stateful"]


@loop
def learn_stateful(rows, codes, order, start, stop, settings, weights, memory, counters, log, importances):
    """Learn from rows order[start:stop], or start..stop-1 if order is None.

    `memory` is (slots, totals); the other arguments and the result are those of `additive.learn_binary`. It stops
    before a row that is not a number, or that its importance makes too long.
    """
    data, indices, indptr, n_features, squared_norms = rows
    constant, tie, rule, parameter = settings
    w, bias, sums, sums_bias, pocket, pocket_bias = weights
    slots, totals = memory
    integers, floats = log
    counts, measures = counters
    s = np.empty(bias.size)
    n_changed = 1 if bias.size == 1 else 2
    examples_before = counts[EXAMPLES] - start  # examples before position p: examples_before + p
    run_start = start - counts[RUN]  # correct answers since the last mistake: p - run_start
    logged, position = 0, start
    while position < stop:
        i = row_at(order, position)
        if squared_norms[i] < 0.0:
            q = row_squared_norm(data, indices, indptr, i, n_features)
            if not q <= LARGEST_SQUARED_NORM:
                break
            squared_norms[i] = q
        q = n_changed * (squared_norms[i] + constant)
        c = 1.0 if importances is None else importances[i]
        if importances is not None and not c * c * q <= LARGEST_SQUARED_UPDATE:
            break
        row_scores_in_order(data, indices, indptr, i, constant, w, bias, s)
        y = codes[i]
        margin, mistake, rival = judge(s, y, tie)
        up, down, sign = (0, 0, 2.0 * y - 1.0) if n_changed == 1 else (y, rival, 1.0)
        row = (data, indices, indptr, i, constant)
        measures[SQUARED_RADIUS] = max(measures[SQUARED_RADIUS], q)
        if mistake:
            counts[MISTAKES] += 1
            measures[STEP_SUM] += 1.0
            end_run(position - run_start, w, bias, pocket, pocket_bias, counts)
            run_start = position + 1
            for n in range(n_changed):
                k, of_k = (up, sign) if n == 0 else (down, -1.0)
                measures[SQUARED_NORM] += add_mistake(row, slots, k, of_k)
        if mistake or margin < SATISFIED[rule]:
            age, size = np.float64(examples_before + position), 0.0
            if NEEDS_SIZE[rule]:
                for n in range(n_changed):
                    k, of_k = (up, sign) if n == 0 else (down, -1.0)
                    size += measure_row(row, rule, slots, k, of_k, c)
            if NEEDS_REFRESH[rule]:
                totals[0] += size
                margin = 0.0
                for n in range(n_changed):
                    k, of_k = (up, sign) if n == 0 else (down, -1.0)
                    kept = (w, bias, sums, sums_bias, age)
                    margin += of_k * refresh_row(row, rule, kept, slots, k, totals[0] / (age + 1.0))
            steps = step(rule, margin, size, c, parameter)
            for n in range(n_changed):
                k, of_k = (up, sign) if n == 0 else (down, -1.0)
                settle_row(row, rule, (w, bias, sums, sums_bias, age), slots, k, of_k, c, steps)
            counts[UPDATES] += 1
            tau = 1.0 if mistake else 0.0
            logged = append_to_log(position, rival, tau, counts, measures, integers, floats, logged)
        position += 1
    counts[EXAMPLES] = examples_before + position
    counts[RUN] = position - run_start
    return logged, position


@loop
def score_stateful(rows, constant, w, bias, out):
    """out[i, k] = <w_k, x_i> + constant * bias_k, rounded as in `learn_stateful`, so that both agree on every row."""
    data, indices, indptr, _, _ = rows
    for i in range(out.shape[0]):
        row_scores_in_order(data, indices, indptr, i, constant, w, bias, out[i])


@inlined_exactly
def row_scores_in_order(data, indices, indptr, i, constant, w, bias, out):
    """out[k] = constant * bias[k] + <w_k, x_i>, added up in order of columns."""
    for k in range(out.size):
        out[k] = constant * bias[k]
    first, end = first_entry(data, indptr, i), end_entry(data, indptr, i)
    if data.ndim == 2:
        for k in range(out.size):
            total = out[k]
            for p in range(first, end):
                total += entry_value(data, i, p) * w[k, p]
            out[k] = total
    else:
        for p in range(first, end):
            x, j = entry_value(data, i, p), indices[p]
            for k in range(out.size):
                out[k] += x * w[k, j]


@inlined_exactly
def coordinate_of(data, indices, first, p):
    """Return the coordinate of entry p of a row; the constant counts as the entry before the first."""
    return np.int64(0) if p < first else entry_coordinate(data, indices, p)


@inlined_exactly
def value_at(data, i, constant, first, p):
    """Return the value of entry p of row i; the constant counts as the entry before the first."""
    return constant if p < first else entry_value(data, i, p)


@inlined_exactly
def add_mistake(row, slots, k, sign):
    """Add sign * x to theta_k; return by how much |theta|^2 has grown."""
    data, indices, indptr, i, constant = row
    first = first_entry(data, indptr, i)
    growth = 0.0
    for p in range(first - 1, end_entry(data, indptr, i)):
        x = sign * value_at(data, i, constant, first, p)
        if x != 0.0:
            j = coordinate_of(data, indices, first, p)
            growth += x * (2.0 * slots[j, k, THETA] + x)
            slots[j, k, THETA] += x
    return growth


@inlined_exactly
def measure_row(row, rule, slots, k, sign, c):
    """Return the size of a row in vector k, of which every coordinate has its part."""
    data, indices, indptr, i, constant = row
    first = first_entry(data, indptr, i)
    size = 0.0
    for p in range(first - 1, end_entry(data, indptr, i)):
        x = sign * value_at(data, i, constant, first, p)
        if x != 0.0:
            size += measure(rule, slots, coordinate_of(data, indices, first, p), k, x, c)
    return size


@inlined_exactly
def refresh_row(row, rule, weights, slots, k, mean_size):
    """Refresh the weights of a row in vector k; return its score by them."""
    data, indices, indptr, i, constant = row
    first = first_entry(data, indptr, i)
    score = 0.0
    for p in range(first - 1, end_entry(data, indptr, i)):
        x = value_at(data, i, constant, first, p)
        if x != 0.0:
            j = coordinate_of(data, indices, first, p)
            fresh = refresh(rule, slots, j, k, get_weight(weights, k, j), mean_size)
            set_weight(weights, k, j, fresh)
            score += fresh * x
    return score


@inlined_exactly
def settle_row(row, rule, weights, slots, k, sign, c, steps):
    """Learn from sign * x in vector k."""
    data, indices, indptr, i, constant = row
    one, two, three = steps
    first = first_entry(data, indptr, i)
    for p in range(first - 1, end_entry(data, indptr, i)):
        x = sign * value_at(data, i, constant, first, p)
        if x != 0.0:
            j = coordinate_of(data, indices, first, p)
            w = get_weight(weights, k, j)
            set_weight(weights, k, j, settle(rule, slots, j, k, x, c, w, one, two, three))


@inlined_exactly
def get_weight(weights, k, j):
    """Return the weight of coordinate j."""
    w, bias, _, _, _ = weights
    return bias[k] if j == 0 else w[k, j - 1]


@inlined_exactly
def set_weight(weights, k, j, value):
    """Set the weight of coordinate j, and add the change to the sums behind the average, if there are any."""
    w, bias, sums, sums_bias, age = weights
    if j == 0:
        if sums_bias.size:
            sums_bias[k] += age * (value - bias[k])
        bias[k] = value
    else:
        if sums_bias.size:
            sums[k, j - 1] += age * (value - w[k, j - 1])
        w[k, j - 1] = value
