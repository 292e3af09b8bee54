"""Operations on one row, dense or sparse: dot products, sums, squared norms, prefetching.

    given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); weights w; an order in which
              rows are visited, None for the order in memory
    result    <w, x_i>; |x_i|^2; w + tau * x_i

A pass over many rows could learn from them faster than they arrive from main memory, so each pass prefetches the rows
that it visits next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novikoff._compiled import PREFETCHES_ROWS, inlined, inlined_in_order, loop
from novikoff._compiled.loops.simd import prefetch, prefetch_far, sum_weighted_rows

UNMEASURED = -1.0  # instead of a squared norm: that of this row has not been computed yet
LARGEST_SQUARED_NORM = 1e290  # a larger one could overflow a score within 1e18 mistakes
SMALLEST_SQUARED_NORM = 1e-290  # a row with a smaller one counts as zeros: no finite step moves towards it

# How far ahead to prefetch, by measurement: counted in non-zeros where rows are read in order, in rows where not.
AHEAD, FAR_AHEAD = 64, 2048
SOON, LATER = 2, 16

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


class RowArrays(NamedTuple):
    """The arrays of `Rows` (inputs/rows.py), as loops take them.

    Inlined functions take them one by one: numba resolves `data.ndim` at compile time for arguments only, and LLVM
    compiles the dot product of a loop that passes them on as a tuple to slower code (by 6 % in float64).
    """

    data: np.ndarray
    indices: np.ndarray | None
    indptr: np.ndarray | None
    n_features: int
    squared_norms: np.ndarray  # UNMEASURED where a loop has to compute it

    @classmethod
    def of(cls, rows: Any) -> RowArrays:
        """Return the arrays of some `Rows`, not copied."""
        return cls(rows.data, rows.indices, rows.indptr, rows.n_features, rows.squared_norms)


@inlined
def row_dot(data, indices, indptr, i, w):
    """Return <w, x_i>."""
    return row_dot_prefetching(data, indices, indptr, i, w, True)


@inlined
def row_dot_prefetching(data, indices, indptr, i, w, in_order):
    """Return <w, x_i>. If rows are read in order, also prefetch the non-zeros that follow those of a sparse row."""
    if data.ndim == 2:
        s = 0.0
        for j in range(w.shape[0]):
            s += data[i, j] * w[j]
        return s
    else:
        return sparse_dot(data, indices, indptr[i], indptr[i + 1], w, in_order)


@inlined_in_order
def sparse_dot(data, indices, lo, hi, w, in_order):
    """Return <w, x> for the row stored at lo..hi-1, in four partial sums, so that no load waits for the sum before."""
    s0 = s1 = s2 = s3 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(4) <= end:
        if in_order:
            prefetch_nonzeros(data, indices, p)
        s0 += data[p] * w[_u(indices[p])]
        s1 += data[p + _u(1)] * w[_u(indices[p + _u(1)])]
        s2 += data[p + _u(2)] * w[_u(indices[p + _u(2)])]
        s3 += data[p + _u(3)] * w[_u(indices[p + _u(3)])]
        p += _u(4)
    while p < end:
        s0 += data[p] * w[_u(indices[p])]
        p += _u(1)
    return (s0 + s2) + (s1 + s3)


@inlined
def prefetch_nonzeros(data, indices, p):
    """Prefetch the non-zeros that follow position p, first into the second-level cache, later into the first.

    The processor does not do so by itself: between the scattered loads of weights it does not detect that the
    non-zeros are read in order.
    """
    prefetch_far(data, p + _u(FAR_AHEAD))
    prefetch_far(indices, p + _u(FAR_AHEAD))
    prefetch(data, p + _u(AHEAD))
    prefetch(indices, p + _u(AHEAD))


@inlined
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


@inlined
def row_add_with_sums(data, indices, indptr, i, tau, w, age, sums):
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


@inlined
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


@inlined_in_order
def sparse_squared_norm(data, lo, hi):
    """Return |x|^2 for the row stored at lo..hi-1, added up as in `sparse_dot_and_squared_norm`."""
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


@inlined
def squared_norm_or_unmeasured(data, lo, hi):
    """Return the squared norm of the sparse row stored at lo..hi-1; UNMEASURED if it is no number or too large, so that
    `measure_rows` computes it again and reports the row."""
    q = sparse_squared_norm(data, lo, hi)
    return q if q <= LARGEST_SQUARED_NORM else UNMEASURED


@inlined
def row_dot_and_squared_norm(data, indices, indptr, i, w):
    """Return row_dot and row_squared_norm, equal to the last bit, while reading a sparse row only once."""
    if data.ndim == 2:
        return row_dot(data, indices, indptr, i, w), row_squared_norm(data, indices, indptr, i, w.shape[0])
    else:
        return sparse_dot_and_squared_norm(data, indices, indptr[i], indptr[i + 1], w)


@inlined_in_order
def sparse_dot_and_squared_norm(data, indices, lo, hi, w):
    """Return sparse_dot and sparse_squared_norm of the row stored at lo..hi-1."""
    s0 = s1 = s2 = s3 = 0.0
    q0 = q1 = q2 = q3 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(4) <= end:
        prefetch_nonzeros(data, indices, p)
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


@inlined
def row_at(order, position):
    """Return the index of the row that is visited at this position of a pass.

    An order of None must be known when this is compiled. Otherwise the address of each row is computed with a
    multiplication, which takes a quarter of the time of a pass.
    """
    if order is None:
        return _u(position)
    else:
        return _u(order[position])


@inlined
def prefetch_distance(data, n_features, order):
    """Return how many rows ahead to prefetch when rows are read in order; 0 for not at all.

    By measurement: dense rows of medium length are read faster than the prefetcher of some processors follows; it
    keeps up with shorter and longer rows.
    """
    size = n_features * data.itemsize
    if data.ndim == 2 and order is None and not PREFETCHES_ROWS and 128 <= size <= 1024:
        return 1 + 2048 // size
    return 0


@inlined
def prefetch_upcoming(data, indices, indptr, n_features, squared_norms, targets, order, position, stop, distance):
    """Prefetch rows that are visited a few positions after this one, before `stop`; `distance` is prefetch_distance.

    Nothing is prefetched here for sparse rows that are read in order: row_dot_prefetching does it.
    """
    if order is not None:
        prefetch_visits(data, indices, indptr, n_features, squared_norms, targets, order, position, stop - 1)
    elif distance:
        prefetch_row(data, min(position + distance, stop - 1), n_features, False)


@inlined
def prefetch_visits(data, indices, indptr, n_features, squared_norms, targets, order, position, last):
    """Prefetch rows that are visited in an arbitrary order, up to position `last`.

    No processor foresees such an order; without prefetching, three quarters of the time would be waiting. A row goes
    into the second-level cache, which is large enough for a few, and later into the first. The offsets of a sparse row
    must be prefetched before the row itself.
    """
    soon = _u(order[min(position + SOON, last)])
    later = _u(order[min(position + LATER, last)])
    first = _u(order[min(position + 2 * LATER, last)])
    prefetch(squared_norms, first)
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


@inlined
def prefetch_row(data, i, n_features, is_far):
    """Prefetch dense row i; into the second-level cache if `is_far`."""
    prefetch_span(data, _u(i) * _u(n_features), _u(i + 1) * _u(n_features), is_far)


@inlined
def prefetch_span(values, lo, hi, is_far):
    """Prefetch the values lo..hi-1 of an array, counted in memory order; at most the first 4096 bytes of them."""
    at = _u(lo)
    end = min(_u(hi), at + _u(4096 // values.itemsize))  # after that the processor prefetches the rest by itself
    while at < end:
        if is_far:
            prefetch_far(values, at)
        else:
            prefetch(values, at)
        at += _u(64 // values.itemsize)  # a cache line


@inlined
def row_scores(data, indices, indptr, i, w, s):
    """s[k] = <w_k, x_i> for every class. Weights have the shape (class, feature) for dense rows and (feature, class)
    for CSR, so that both read memory in order."""
    if data.ndim == 2:
        for k in range(s.size):
            s[k] = row_dot(data, indices, indptr, i, w[k])
    else:
        sum_weighted_rows(data, indices, np.int64(indptr[i]), np.int64(indptr[i + 1]), w, s)


@inlined
def row_transfer(data, indices, indptr, i, tau, w, to, source):
    """w_to += tau * x_i and w_source -= tau * x_i, for weights in the layouts of row_scores."""
    if data.ndim == 2:
        row_add(data, indices, indptr, i, tau, w[to])
        row_add(data, indices, indptr, i, -tau, w[source])
    else:
        for p in range(indptr[i], indptr[i + 1]):
            v = tau * data[p]
            w[indices[p], to] += v
            w[indices[p], source] -= v


@loop
def measure_rows(data, indices, indptr, n_features, squared_norms, start, stop):
    """Fill in the squared norms of rows start..stop-1 that are UNMEASURED; return the first row whose squared norm is
    no number or too large, or `stop`."""
    for i in range(start, stop):
        if squared_norms[i] < 0.0:
            q = row_squared_norm(data, indices, indptr, i, n_features)
            if not q <= LARGEST_SQUARED_NORM:
                return i
            squared_norms[i] = q
    return stop
