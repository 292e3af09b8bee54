"""Whether the three arrays of a compressed sparse matrix fit together.

    problem   compiled code follows indptr and indices without looking; a value outside leads it out of its arrays
    given     indptr and indices of a CSR matrix (rows, and columns inside them) or a CSC matrix (the other way round)
    result    where indptr falls; in which rows an index is outside; whether the indices rise in every row

One pass at the speed of memory. Rows are taken together in spans that fit into the first cache: in a span one loop
without branches finds the largest index and counts the places where an index is not larger than the one before it.
Those at the beginning of a row are then counted again; the indices rise in every row if there are no others.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part

_SPAN = 1 << 12  # indices: 16 or 32 kB
_u = np.uint64  # unsigned indices spare numba's test for negative ones


@kernel
def first_fall(indptr):
    """Return the first i with indptr[i] > indptr[i + 1], or the number of rows."""
    for i in range(indptr.size - 1):
        if indptr[i] > indptr[i + 1]:
            return i
    return indptr.size - 1


@kernel
def survey(indices, indptr, limit):
    """Return how many rows are known to have all their indices below `limit`, and whether the indices rise strictly in
    each row. `indices` are unsigned, so that negative ones are too large; indptr rises from 0 to at most their number.
    """
    n, rises, i = indptr.size - 1, True, 0
    while i < n:
        first, lo = i, indptr[i]
        i += 1
        while i < n and indptr[i + 1] - lo <= _SPAN:
            i += 1
        hi = indptr[i]
        if lo < hi:
            largest, falls = look_over(indices, _u(lo), _u(hi))
            if largest >= limit:
                return first, rises
            rises = rises and np.int64(falls) == falls_between_rows(indices, indptr, first, i)
    return n, rises


@part
def look_over(indices, lo, hi):
    """Return the largest of the indices at lo..hi-1, and how many of them are followed there by one not larger."""
    largest, falls = indices[hi - _u(1)], np.uint32(0)
    p = lo
    while p + _u(1) < hi:
        largest = max(largest, indices[p])
        falls += np.uint32(indices[p] >= indices[p + _u(1)])
        p += _u(1)
    return largest, falls


@part
def falls_between_rows(indices, indptr, first, last):
    """Return how many of rows first+1..last-1 begin with an index not larger than the one before it."""
    falls, lo = np.int64(0), indptr[first]
    for i in range(first + 1, last):
        begin = indptr[i]
        if lo < begin < indptr[i + 1]:  # neither the first entry of the span, nor an empty row
            falls += np.int64(indices[_u(begin) - _u(1)] >= indices[_u(begin)])
    return falls


@kernel
def sort_by_row(row, column, values, indptr, indices, data):
    """Write entries (row, column, value) as CSR, in each row in the order in which they come: a counting sort. `indptr`
    holds zeros, one more than there are rows."""
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
