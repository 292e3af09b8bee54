"""Passes of the perceptron and its family over dense and sparse rows.

    problem   along a stream, make few mistakes: times t with y_t <w, x_t> on the wrong side of 0
    given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); classes y_t;
              a rule that turns margin and squared norm into a step tau >= 0; importances c_t > 0, or None: all are 1
    result    weights changed in place, w += c * tau * y * x at each update; counters, a log of the updates
    source    Rosenblatt 1958; Novikoff 1962; Freund & Schapire 1999, fig. 1 (averaging, survival counts);
              Gallant 1990 (pocket); Crammer et al. 2006, fig. 1 (passive-aggressive);
              Collins 2002, fig. 1 (many classes: add to the true class, subtract from its rival)

Two classes share one weight vector, y = -1 or +1. More classes have one each; there the proofs are about the vector
phi(x, y) - phi(x, z), whose squared norm is twice that of x.

Each row has a further coordinate `constant`, 1 with an intercept and 0 without: it adds constant * bias to a score and
constant to a squared norm, so that radius and steps are those of the vectors actually used.

`importances` is None in nearly all calls. numba then leaves out the branches that read it, and a pass with importances
is compiled only when there are some.

A pass takes its arguments in groups, `rows.RowArrays` and the NamedTuples below, and accepts each as a plain tuple too,
which numba unboxes 0.4 us faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, inlined_exactly, loop
from novikoff._compiled.loops.rows import (
    LARGEST_SQUARED_NORM,
    prefetch_distance,
    prefetch_upcoming,
    row_add,
    row_add_with_sums,
    row_at,
    row_dot,
    row_dot_and_squared_norm,
    row_dot_prefetching,
    row_scores,
    row_squared_norm,
    row_transfer,
)
from novikoff._compiled.loops.step_size import LARGEST_SQUARED_UPDATE, step_size

# What a score of exactly 0 means: the label -1, a mistake whatever the label, or the label +1.
TIE_NEGATIVE, TIE_MISTAKE, TIE_POSITIVE = -1, 0, 1

# Indices of `Counters.counts` (int64) and `Counters.measures` (float64).
EXAMPLES, MISTAKES, UPDATES, RUN, BEST_RUN = range(5)
SQUARED_RADIUS, SQUARED_NORM, STEP_SUM, PROGRESS, SEEN_MARGIN = range(5)

# Columns of `UpdateLog.integers`: position in the pass, rival class, mistakes so far; and of `UpdateLog.floats`: the
# step, and |w|^2 after it.
POSITION, RIVAL, MISTAKES_SO_FAR = range(3)
STEP, SQUARED_NORM_AFTER = range(2)


class PassSettings(NamedTuple):
    """How a pass learns: the constant coordinate, the meaning of a score of 0, the rule and its parameter."""

    constant: float
    tie: int
    rule: int  # a code, see step_size.py
    parameter: float


class PassWeights(NamedTuple):
    """The weights that a pass changes: w, the sums behind their average, and the pocket; the latter may be empty.

    One vector (features,) for two classes; for more, one per class in the layout that `row_scores` needs.
    """

    w: np.ndarray
    bias: np.ndarray
    sums: np.ndarray
    sums_bias: np.ndarray
    pocket: np.ndarray
    pocket_bias: np.ndarray


class Counters(NamedTuple):
    """The part of a state that changes with every example."""

    counts: np.ndarray
    measures: np.ndarray


class UpdateLog(NamedTuple):
    """One row per update, with capacity for as many as there are examples."""

    integers: np.ndarray
    floats: np.ndarray


@loop
def learn_binary(rows, codes, order, start, stop, settings, weights, counters, log, importances):
    """Learn two classes, codes 0 and 1, from rows order[start:stop], or start..stop-1 if order is None.

    Row i is learned with the step importances[i] * tau, or tau if there are none. Return (updates logged, position
    reached). A position below `stop` is that of a row or a step that is not a number, or of a step that is too long.
    """
    data, indices, indptr, n_features, squared_norms = rows
    constant, tie, rule, parameter = settings
    w, bias, sums, sums_bias, pocket, pocket_bias = weights
    integers, floats = log
    counts, measures = counters
    examples_before = counts[EXAMPLES] - start  # examples before position p: examples_before + p
    run_start = start - counts[RUN]  # correct answers since the weights last changed or erred: p - run_start
    squared_radius = measures[SQUARED_RADIUS]
    logged = 0
    position = start
    offset = constant * bias[0]
    distance = prefetch_distance(data, n_features, order)
    while position < stop:
        i = row_at(order, position)
        prefetch_upcoming(data, indices, indptr, n_features, squared_norms, codes, order, position, stop, distance)
        q = squared_norms[i]
        if q < 0.0:
            s, q = row_dot_and_squared_norm(data, indices, indptr, i, w)
            if not q <= LARGEST_SQUARED_NORM:
                break
            squared_norms[i] = q
        else:
            s = row_dot_prefetching(data, indices, indptr, i, w, order is None)
        q += constant
        y = 2.0 * codes[i] - 1.0
        margin = y * (s + offset)
        squared_radius = max(squared_radius, q)
        mistake = margin < 0.0 or (margin == 0.0 and y != tie)
        tau = step_size(rule, parameter, margin, q, mistake)
        if tau == 0.0 and not mistake:  # most rows: testing for them early saves a tenth of the time
            position += 1
            continue
        if not (0.0 <= tau < np.inf):
            break
        if importances is not None:
            tau *= importances[i]
            if not tau * tau * q <= LARGEST_SQUARED_UPDATE:
                break
        if mistake or tau > 0.0:
            counts[MISTAKES] += mistake
            end_run(position - run_start, w, bias, pocket, pocket_bias, counts)
            run_start = position + 1
        if tau > 0.0:
            bias[0] += tau * y * constant
            offset = constant * bias[0]
            if sums_bias.size:
                age = np.float64(examples_before + position)
                row_add_with_sums(data, indices, indptr, i, tau * y, w, age, sums)
                sums_bias[0] += age * tau * y * constant
            else:
                row_add(data, indices, indptr, i, tau * y, w)
            logged = log_update(position, 1 - codes[i], tau, margin, q, counts, measures, integers, floats, logged)
        position += 1
    counts[EXAMPLES] = examples_before + position
    counts[RUN] = position - run_start
    measures[SQUARED_RADIUS] = squared_radius
    return logged, position


@loop
def learn_multiclass(rows, codes, order, start, stop, settings, weights, counters, log, importances):
    """Learn many classes, codes 0..K-1: on an update add to the true class, subtract from its strongest rival.

    Arguments and result are those of learn_binary.
    """
    data, indices, indptr, n_features, squared_norms = rows
    constant, tie, rule, parameter = settings
    w, bias, sums, sums_bias, pocket, pocket_bias = weights
    integers, floats = log
    counts, measures = counters
    s = np.empty(bias.size)
    examples_before = counts[EXAMPLES] - start  # examples before position p: examples_before + p
    run_start = start - counts[RUN]  # correct answers since the weights last changed or erred: p - run_start
    squared_radius = measures[SQUARED_RADIUS]
    logged = 0
    position = start
    while position < stop:
        i = row_at(order, position)
        prefetch_upcoming(data, indices, indptr, n_features, squared_norms, codes, order, position, stop, 0)
        if squared_norms[i] < 0.0:
            q = row_squared_norm(data, indices, indptr, i, n_features)
            if not q <= LARGEST_SQUARED_NORM:
                break
            squared_norms[i] = q
        q = 2.0 * (squared_norms[i] + constant)
        y = codes[i]
        row_scores(data, indices, indptr, i, w, s)
        for k in range(s.size):
            s[k] += constant * bias[k]
        z = find_strongest_rival(s, y, tie)
        margin = s[y] - s[z]
        mistake = margin < 0.0 or (margin == 0.0 and (z - y) * tie >= 0)
        tau = step_size(rule, parameter, margin, q, mistake)
        if not (0.0 <= tau < np.inf):
            break
        if importances is not None:
            tau *= importances[i]
            if not tau * tau * q <= LARGEST_SQUARED_UPDATE:
                break
        squared_radius = max(squared_radius, q)
        if mistake or tau > 0.0:
            counts[MISTAKES] += mistake
            end_run(position - run_start, w, bias, pocket, pocket_bias, counts)
            run_start = position + 1
        if tau > 0.0:
            row_transfer(data, indices, indptr, i, tau, w, y, z)
            bias[y] += tau * constant
            bias[z] -= tau * constant
            if sums_bias.size:
                age = np.float64(examples_before + position)
                row_transfer(data, indices, indptr, i, age * tau, sums, y, z)
                sums_bias[y] += age * tau * constant
                sums_bias[z] -= age * tau * constant
            logged = log_update(position, z, tau, margin, q, counts, measures, integers, floats, logged)
        position += 1
    counts[EXAMPLES] = examples_before + position
    counts[RUN] = position - run_start
    measures[SQUARED_RADIUS] = squared_radius
    return logged, position


@inlined
def end_run(length, w, bias, pocket, pocket_bias, counts):
    """End a run of correct answers of the current weights; keep them in the pocket if none ran longer (Gallant)."""
    if pocket_bias.size and length > counts[BEST_RUN]:
        counts[BEST_RUN] = length
        copy_into(pocket, w)
        copy_into(pocket_bias, bias)


@inlined
def copy_into(to, source):
    """to[:] = source, as a loop: numba's own assignment takes seconds to compile."""
    if to.ndim == 2:
        for a in range(to.shape[0]):
            for b in range(to.shape[1]):
                to[a, b] = source[a, b]
    else:
        for a in range(to.shape[0]):
            to[a] = source[a]


@inlined
def find_strongest_rival(s, y, tie):
    """Return the highest-scoring class other than y; of equal scores the first class if ties are negative, else the
    last, as in predictions."""
    best = 0 if y != 0 else 1
    for k in range(best + 1, s.size):
        if k != y and (s[k] > s[best] or (s[k] == s[best] and tie != TIE_NEGATIVE)):
            best = k
    return best


@inlined_exactly
def judge(scores, code, tie):
    """Return the margin of a class by one score of two classes or by a score of each, whether these are a mistake, and
    the strongest rival."""
    if scores.shape[0] == 1:
        y = 2.0 * code - 1.0
        margin = y * scores[0]
        return margin, margin < 0.0 or (margin == 0.0 and y != tie), 1 - code
    rival = find_strongest_rival(scores, code, tie)
    margin = scores[code] - scores[rival]
    return margin, margin < 0.0 or (margin == 0.0 and (rival - code) * tie >= 0), rival


@inlined
def log_update(position, rival, tau, margin, q, counts, measures, integers, floats, logged):
    """Count and log one update: |w + tau*v|^2 = |w|^2 + 2*tau*<w,v> + tau^2*|v|^2, where <w,v> is the margin."""
    counts[UPDATES] += 1
    measures[STEP_SUM] += tau
    measures[SQUARED_NORM] += tau * (2.0 * margin + tau * q)
    return append_to_log(position, rival, tau, counts, measures, integers, floats, logged)


@inlined
def append_to_log(position, rival, tau, counts, measures, integers, floats, logged):
    """Log an update that has been counted; return the number of updates in the log."""
    integers[logged, POSITION] = position
    integers[logged, RIVAL] = rival
    integers[logged, MISTAKES_SO_FAR] = counts[MISTAKES]
    floats[logged, STEP] = tau
    floats[logged, SQUARED_NORM_AFTER] = measures[SQUARED_NORM]
    return logged + 1


@loop
def score_binary(data, indices, indptr, constant, w, bias, out):
    """out[i] = <w, x_i> + constant * bias, rounded as in learn_binary, so that both agree on every row."""
    for i in range(out.shape[0]):
        out[i] = row_dot(data, indices, indptr, i, w) + constant * bias[0]


@loop
def score_multiclass(data, indices, indptr, constant, w, bias, out):
    """out[i, k] = <w_k, x_i> + constant * bias_k, rounded as in learn_multiclass."""
    for i in range(out.shape[0]):
        row_scores(data, indices, indptr, i, w, out[i])
        for k in range(bias.size):
            out[i, k] += constant * bias[k]
