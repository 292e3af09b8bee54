"""Consistency checks for the three arrays of a compressed sparse matrix.

    problem   loops use indptr and indices without bounds checks; a wrong value would make them access other memory
    given     indptr and indices of a CSR matrix (rows of column indices) or of a CSC matrix (columns of row indices)
    result    where indptr decreases; which rows have an index out of bounds; whether the indices increase in every row

One pass at the speed of memory. Rows are checked in spans that fit into the first-level cache: for each span, one loop
without branches finds the largest index and counts the indices that are not larger than the one before. Those that
begin a row are then counted separately; the indices increase in every row if there are no others.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop

_SPAN = 1 << 12  # indices: 16 or 32 kB
_u = np.uint64  # unsigned indices spare numba's test for negative ones


@loop
def find_first_decrease(indptr):
    """Return the first i with indptr[i] > indptr[i + 1], or the number of rows."""
    for i in range(indptr.size - 1):
        if indptr[i] > indptr[i + 1]:
            return i
    return indptr.size - 1


@loop
def check_indices(indices, indptr, limit):
    """Return how many rows are known to have all their indices below `limit`, and whether the indices increase strictly
    in each row.

    `indices` are unsigned, so that negative ones are too large. indptr must increase from 0 to at most their number.
    """
    n, is_increasing, i = indptr.size - 1, True, 0
    while i < n:
        first, lo = i, indptr[i]
        i += 1
        while i < n and indptr[i + 1] - lo <= _SPAN:
            i += 1
        hi = indptr[i]
        if lo < hi:
            largest, decreases = scan_span(indices, _u(lo), _u(hi))
            if largest >= limit:
                return first, is_increasing
            between_rows = count_decreases_between_rows(indices, indptr, first, i)
            is_increasing = is_increasing and np.int64(decreases) == between_rows
    return n, is_increasing


@inlined
def scan_span(indices, lo, hi):
    """Return the largest of the indices at lo..hi-1, and how many of them are followed there by one not larger."""
    largest, decreases = indices[hi - _u(1)], np.uint32(0)
    p = lo
    while p + _u(1) < hi:
        largest = max(largest, indices[p])
        decreases += np.uint32(indices[p] >= indices[p + _u(1)])
        p += _u(1)
    return largest, decreases


@inlined
def count_decreases_between_rows(indices, indptr, first, last):
    """Return how many of rows first+1..last-1 begin with an index not larger than the one before it."""
    decreases, lo = np.int64(0), indptr[first]
    for i in range(first + 1, last):
        begin = indptr[i]
        if lo < begin < indptr[i + 1]:  # neither the first entry of the span, nor an empty row
            decreases += np.int64(indices[_u(begin) - _u(1)] >= indices[_u(begin)])
    return decreases


@loop
def sort_by_row(row, column, values, indptr, indices, data):
    """Write entries (row, column, value) as CSR by a counting sort, which keeps their order within each row. `indptr`
    has one zero more than there are rows."""
    for p in range(row.size):
        indptr[row[p] + 1] += 1
    for i in range(1, indptr.size):
        indptr[i] += indptr[i - 1]
    for p in range(row.size):
        to = indptr[row[p]]
        indices[to], data[to] = column[p], values[p]
        indptr[row[p]] = to + 1
    for i in range(indptr.size - 1, 0, -1):
        indptr[i] = indptr[i - 1]
    indptr[0] = 0
