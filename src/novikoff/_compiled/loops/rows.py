"""What is done with one row, dense or sparse: products with weights, sums, norms; and asking memory for rows in time.

    given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); weights w; an order in which
              rows are visited, None for as they stand
    result    <w, x_i>; |x_i|^2; w + tau * x_i

Rows pass once through a processor that could learn from them faster than memory hands them over. So each pass asks for
rows before their turn.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import FETCHES_AHEAD, kernel, part, part_in_order
from novikoff._compiled.loops.simd import prefetch, prefetch_far, weighted_rows

UNMEASURED = -1.0  # in place of a squared norm: this row has not been looked at yet
LARGEST = 1e290  # squared norms beyond this could overflow a score within 1e18 mistakes
SMALLEST = 1e-290  # a squared norm below this is a row of zeros: no finite step moves towards it

# How long before their turn to ask memory for them, by measurement: non-zeros in order, and rows in any other.
AHEAD, FAR_AHEAD = 64, 2048
SOON, LATER = 2, 16

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@part
def row_dot(data, indices, indptr, i, w):
    """Return <w, x_i>."""
    return row_dot_ahead(data, indices, indptr, i, w, True)


@part
def row_dot_ahead(data, indices, indptr, i, w, ahead):
    """Return <w, x_i>; ask for the non-zeros ahead of these, which are of no use if rows are not read in order."""
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
            ask_ahead(data, indices, p)
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
def ask_ahead(data, indices, p):
    """Ask memory for non-zeros before their turn, first into the second cache and then into the first: between the
    weights that are looked up all over, the processor does not see by itself that they are read in order."""
    prefetch_far(data, p + _u(FAR_AHEAD))
    prefetch_far(indices, p + _u(FAR_AHEAD))
    prefetch(data, p + _u(AHEAD))
    prefetch(indices, p + _u(AHEAD))


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
def row_add_twice(data, indices, indptr, i, tau, w, age, sums):
    """w += tau * x_i and sums += age * tau * x_i."""
    if data.ndim == 2:
        for j in range(w.shape[0]):
            v = tau * data[i, j]
            w[j] += v
            sums[j] += age * v
    else:
        p, end = _u(indptr[i]), _u(indptr[i + 1])
        while p < end:
            column, v = _u(indices[p]), tau * data[p]
            w[column] += v
            sums[column] += age * v
            p += _u(1)


@part
def row_squared_norm(data, indices, indptr, i, n_features):
    """Return |x_i|^2 in double precision: NaN or inf if the row holds one, or if its square overflows."""
    if data.ndim == 2:
        q = 0.0
        for j in range(n_features):
            v = np.float64(data[i, j])
            q += v * v
        return q
    else:
        return sparse_squared_norm(data, indptr[i], indptr[i + 1])


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
        return sparse_look(data, indices, indptr[i], indptr[i + 1], w)


@part_in_order
def sparse_look(data, indices, lo, hi, w):
    """Return sparse_dot and sparse_squared_norm of the row stored at lo..hi-1."""
    s0 = s1 = s2 = s3 = 0.0
    q0 = q1 = q2 = q3 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(4) <= end:
        ask_ahead(data, indices, p)
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
def row_at(order, position):
    """Return which row is visited at this position of a pass. That rows are read as they stand must be known when this
    is compiled, or where each begins is multiplied out, and a quarter of the time of a pass goes into that."""
    if order is None:
        return _u(position)
    else:
        return _u(order[position])


@part
def rows_ahead(data, n_features, order):
    """Return how many rows before its turn to ask memory for a row, 0 for never. By measurement: dense rows of middling
    length are read faster than some processors guess what comes next; they have time to guess shorter and longer
    ones."""
    size = n_features * data.itemsize
    if data.ndim == 2 and order is None and not FETCHES_AHEAD and 128 <= size <= 1024:
        return 1 + 2048 // size
    return 0


@part
def tell_memory(data, indices, indptr, n_features, sqnorms, targets, order, position, stop, ahead):
    """Ask memory for what will be read some positions after this one, short of `stop`: `ahead` is what rows_ahead says.
    Sparse rows that are read as they stand ask for what comes after them by themselves."""
    if order is not None:
        prefetch_in_order(data, indices, indptr, n_features, sqnorms, targets, order, position, stop - 1)
    elif ahead:
        prefetch_row(data, min(position + ahead, stop - 1), n_features, False)


@part
def prefetch_in_order(data, indices, indptr, n_features, sqnorms, targets, order, position, last):
    """The same for rows in some order, which no processor guesses, so that waiting would be three quarters of the time:
    into the second cache, which has room for a few, and then into the first. Where a sparse row lies must itself be
    asked for, earlier still."""
    soon = _u(order[min(position + SOON, last)])
    later = _u(order[min(position + LATER, last)])
    first = _u(order[min(position + 2 * LATER, last)])
    prefetch(sqnorms, first)
    prefetch(targets, first)
    if data.ndim == 2:
        prefetch_row(data, later, n_features, True)
        prefetch_row(data, soon, n_features, False)
    else:
        prefetch(indptr, first)
        prefetch_span(data, indptr[later], indptr[later + _u(1)], True)
        prefetch_span(indices, indptr[later], indptr[later + _u(1)], True)
        prefetch_span(data, indptr[soon], indptr[soon + _u(1)], False)
        prefetch_span(indices, indptr[soon], indptr[soon + _u(1)], False)


@part
def prefetch_row(data, i, n_features, is_far):
    """Ask memory for dense row i."""
    prefetch_span(data, _u(i) * _u(n_features), _u(i + 1) * _u(n_features), is_far)


@part
def prefetch_span(values, lo, hi, is_far):
    """Ask memory for the values from lo to hi, counted in memory order; of many, for those that come first."""
    at = _u(lo)
    end = min(_u(hi), at + _u(4096 // values.itemsize))  # by then the processor has guessed what comes next
    while at < end:
        if is_far:
            prefetch_far(values, at)
        else:
            prefetch(values, at)
        at += _u(64 // values.itemsize)  # a cache line


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
