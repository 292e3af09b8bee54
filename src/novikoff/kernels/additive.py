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

from novikoff._jit import kernel, part, part_in_order
from novikoff.kernels.lanes import prefetch, weighted_rows

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

UNMEASURED = -1.0  # in place of a squared norm: this row has not been looked at yet
LARGEST = 1e290  # squared norms beyond this could overflow a score within 1e18 mistakes
SMALLEST = 1e-290  # a squared norm below this is a row of zeros: no finite step moves towards it

AHEAD = 128  # non-zeros before their turn, to ask memory for them: by measurement, it saves a tenth of the time

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@part
def row_dot(data, indices, indptr, i, w):
    """Return <w, x_i>."""
    return row_dot_ahead(data, indices, indptr, i, w, _u(AHEAD))


@part
def row_dot_ahead(data, indices, indptr, i, w, ahead):
    """Return <w, x_i>; ask for non-zeros so far ahead, or for none: 0 is for rows that are not read in order."""
    if data.ndim == 2:
        s = 0.0
        for j in range(w.shape[0]):
            s += data[i, j] * w[j]
        return s
    else:
        return sparse_dot(data, indices, indptr[i], indptr[i + 1], w, ahead)


@part_in_order
def sparse_dot(data, indices, lo, hi, w, ahead):
    """Return <w, x> for the row stored at lo..hi-1, in four partial sums: no load waits for the sum before it."""
    s0 = s1 = s2 = s3 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(4) <= end:
        if ahead:
            prefetch(data, p + ahead)
            prefetch(indices, p + ahead)
        s0 += data[p] * w[_u(indices[p])]
        s1 += data[p + _u(1)] * w[_u(indices[p + _u(1)])]
        s2 += data[p + _u(2)] * w[_u(indices[p + _u(2)])]
        s3 += data[p + _u(3)] * w[_u(indices[p + _u(3)])]
        p += _u(4)
    while p < end:
        s0 += data[p] * w[_u(indices[p])]
        p += _u(1)
    return (s0 + s2) + (s1 + s3)


@part
def row_add(data, indices, indptr, i, tau, w):
    """w += tau * x_i."""
    if data.ndim == 2:
        for j in range(w.shape[0]):
            w[j] += tau * data[i, j]
    else:
        p, end = _u(indptr[i]), _u(indptr[i + 1])
        while p < end:
            w[_u(indices[p])] += tau * data[p]
            p += _u(1)


@part
def row_squared_norm(data, indices, indptr, i, n_features):
    """Return |x_i|^2 in double precision: NaN or inf if the row holds one, or if its square overflows; NaN too
    if a CSR row (its indices rise, or are sound anyway: see rows.py) leaves the matrix."""
    if data.ndim == 2:
        q = 0.0
        for j in range(n_features):
            v = np.float64(data[i, j])
            q += v * v
        return q
    else:
        lo, hi = indptr[i], indptr[i + 1]
        return sparse_squared_norm(data, lo, hi) if within(indices, lo, hi, n_features) else np.nan


@part
def within(indices, lo, hi, n_features):
    """Whether the columns at lo..hi-1, which rise or are sound, are columns of the matrix."""
    return lo >= hi or (indices[lo] >= 0 and indices[hi - 1] < n_features)


@part_in_order
def sparse_squared_norm(data, lo, hi):
    """Return |x|^2 for the row stored at lo..hi-1, added up as in sparse_look."""
    q0 = q1 = q2 = q3 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(4) <= end:
        v0, v1 = np.float64(data[p]), np.float64(data[p + _u(1)])
        v2, v3 = np.float64(data[p + _u(2)]), np.float64(data[p + _u(3)])
        q0 += v0 * v0
        q1 += v1 * v1
        q2 += v2 * v2
        q3 += v3 * v3
        p += _u(4)
    while p < end:
        v0 = np.float64(data[p])
        q0 += v0 * v0
        p += _u(1)
    return (q0 + q2) + (q1 + q3)


@part
def measured(data, lo, hi):
    """The squared norm of the sparse row stored at lo..hi-1, for `measure` to find it there; it looks again at a row
    whose norm is too large."""
    q = sparse_squared_norm(data, lo, hi)
    return q if q <= LARGEST else UNMEASURED


@part
def row_look(data, indices, indptr, i, w):
    """Return row_dot and row_squared_norm, to the last bit, of a row that memory is asked for once."""
    if data.ndim == 2:
        return row_dot(data, indices, indptr, i, w), row_squared_norm(data, indices, indptr, i, w.shape[0])
    else:
        lo, hi = indptr[i], indptr[i + 1]
        return sparse_look(data, indices, lo, hi, w) if within(indices, lo, hi, w.shape[0]) else (0.0, np.nan)


@part_in_order
def sparse_look(data, indices, lo, hi, w):
    """Return sparse_dot and sparse_squared_norm of the row stored at lo..hi-1."""
    s0 = s1 = s2 = s3 = 0.0
    q0 = q1 = q2 = q3 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(4) <= end:
        prefetch(data, p + _u(AHEAD))
        prefetch(indices, p + _u(AHEAD))
        v0, v1 = np.float64(data[p]), np.float64(data[p + _u(1)])
        v2, v3 = np.float64(data[p + _u(2)]), np.float64(data[p + _u(3)])
        s0 += v0 * w[_u(indices[p])]
        s1 += v1 * w[_u(indices[p + _u(1)])]
        s2 += v2 * w[_u(indices[p + _u(2)])]
        s3 += v3 * w[_u(indices[p + _u(3)])]
        q0 += v0 * v0
        q1 += v1 * v1
        q2 += v2 * v2
        q3 += v3 * v3
        p += _u(4)
    while p < end:
        v0 = np.float64(data[p])
        s0 += v0 * w[_u(indices[p])]
        q0 += v0 * v0
        p += _u(1)
    return (s0 + s2) + (s1 + s3), (q0 + q2) + (q1 + q3)


@part
def rows_ahead(data, n_features, order):
    """Return how many rows before its turn to ask memory for a row, 0 for never. By measurement: dense rows of middling
    length are read faster than the processor guesses what comes next; it has time to guess shorter and longer ones."""
    size = n_features * data.itemsize
    if data.ndim == 2 and order.size == 0 and 128 <= size <= 1024:
        return 1 + 2048 // size
    return 0


@part
def prefetch_row(data, i, n_features):
    """Ask memory for dense row i."""
    at, end = _u(i) * _u(n_features), _u(i + 1) * _u(n_features)
    while at < end:
        prefetch(data, at)
        at += _u(64 // data.itemsize)  # a cache line


@part
def row_scores(data, indices, indptr, i, w, s):
    """s[k] = <w_k, x_i> for every class. Weights are (class, feature) for dense rows, (feature, class) for CSR:
    each reads memory in order."""
    if data.ndim == 2:
        for k in range(s.size):
            s[k] = row_dot(data, indices, indptr, i, w[k])
    else:
        weighted_rows(data, indices, np.int64(indptr[i]), np.int64(indptr[i + 1]), w, s)


@part
def row_move(data, indices, indptr, i, tau, w, to, off):
    """w_to += tau * x_i and w_off -= tau * x_i, in the layouts of row_scores."""
    if data.ndim == 2:
        row_add(data, indices, indptr, i, tau, w[to])
        row_add(data, indices, indptr, i, -tau, w[off])
    else:
        for p in range(indptr[i], indptr[i + 1]):
            v = tau * data[p]
            w[indices[p], to] += v
            w[indices[p], off] -= v


@kernel
def measure(data, indices, indptr, n_features, sqnorms, start, stop):
    """Fill in the squared norms of rows start..stop-1; return the first row that has none, or stop."""
    for i in range(start, stop):
        if sqnorms[i] < 0.0:
            q = row_squared_norm(data, indices, indptr, i, n_features)
            if not q <= LARGEST:
                return i
            sqnorms[i] = q
    return stop


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
    data, indices, indptr, n_features, sqnorms, codes, order, start, stop, constant, tie, rule, knob,
    w, bias, sums, sums_bias, pocket, pocket_bias, counts, measures, log, log_values,
):  # fmt: skip
    """Learn two classes, codes 0 and 1, from rows order[start:stop], or start..stop-1 if order is empty.

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
        i = _u(order[position] if order.size else position)
        if ahead:
            prefetch_row(data, min(position + ahead, stop - 1), n_features)
        q = sqnorms[i]
        if q < 0.0:
            s, q = row_look(data, indices, indptr, i, w)
            if not q <= LARGEST:
                break
            sqnorms[i] = q
        else:
            s = row_dot(data, indices, indptr, i, w)
        q += constant
        y = 2.0 * codes[i] - 1.0
        margin = y * (s + offset)
        squared_radius = max(squared_radius, q)
        if rule == PERCEPTRON and margin > 0.0:  # most rows: said early, it saves a tenth of the time
            position += 1
            continue
        mistake = margin < 0.0 or (margin == 0.0 and y != tie)
        tau = step_size(rule, knob, margin, q, mistake)
        if not (0.0 <= tau < np.inf):
            break
        if mistake or tau > 0.0:
            counts[MISTAKES] += mistake
            end_run(position - fresh, w, bias, pocket, pocket_bias, counts)
            fresh = position + 1
        if tau > 0.0:
            row_add(data, indices, indptr, i, tau * y, w)
            bias[0] += tau * y * constant
            offset = constant * bias[0]
            if sums_bias.size:
                age = np.float64(seen + position)
                row_add(data, indices, indptr, i, age * tau * y, sums)
                sums_bias[0] += age * tau * y * constant
            logged = record(position, 1 - codes[i], tau, margin, q, counts, measures, log, log_values, logged)
        position += 1
    counts[EXAMPLES] = seen + position
    counts[RUN] = position - fresh
    measures[SQUARED_RADIUS] = squared_radius
    return logged, position


@kernel
def multiclass_pass(
    data, indices, indptr, n_features, sqnorms, codes, order, start, stop, constant, tie, rule, knob,
    w, bias, sums, sums_bias, pocket, pocket_bias, counts, measures, log, log_values,
):  # fmt: skip
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
        i = order[position] if order.size else position
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
