"""Sparse rows from the indices and values of features.

problem   make CSR rows of features that may occur twice in a row, or have no index
given     for each row the indices of its features and their values, -1 for a feature without an index
result    a CSR matrix in which no row has an index twice: values of one index add up
source    sets that need no clearing: Briggs and Torczon, "An efficient representation for sparse sets", 1993
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.rows import squared_norm_or_unmeasured
from novikoff._compiled.loops.simd import prefetch

_u = np.uint64
_AHEAD = _u(12)  # features whose entries of `last_entry` are prefetched: it is larger than the cache


@inlined
def add_entry(index, value, begin, used, indices, data, last_entry):
    """Add a value to an index of the row whose entries are `begin` to `used`; return the new end.

    `last_entry` has an element for every index, of any content: the row has this index already only if
    last_entry[index] is one of its entries and that entry has this index.
    """
    at = last_entry[index]
    if begin <= at < used and indices[at] == index:
        data[at] += value
        return used
    last_entry[index] = used
    indices[used] = index
    data[used] = value
    return used + 1


@loop
def gather_rows(indptr, feature_indices, values, out_indptr, indices, data, last_entry):
    """Make rows of features and their values, without those that have no index. Return the number of entries."""
    used = 0
    out_indptr[0] = 0
    for i in range(indptr.size - 1):
        begin = used
        for p in range(indptr[i], indptr[i + 1]):
            ahead = min(_u(p) + _AHEAD, _u(feature_indices.size) - _u(1))
            prefetch(last_entry, np.int64(feature_indices[ahead]))
            if feature_indices[p] >= 0:
                used = add_entry(feature_indices[p], values[p], begin, used, indices, data, last_entry)
        out_indptr[i + 1] = used
    return used


@loop
def join_rows(
    numbers, number_indices, ones, bag_indptr, bag_indices, bag_values, out_indptr, indices, data, last_entry
):
    """Make rows of a table: the numbers that are not 0, a 1 at every index in `ones`, where -1 stands for none, and the
    entries of a bag. Return the number of entries."""
    used = 0
    out_indptr[0] = 0
    for i in range(numbers.shape[0]):
        begin = used
        for j in range(numbers.shape[1]):
            if numbers[i, j] != 0.0 and number_indices[j] >= 0:
                used = add_entry(number_indices[j], numbers[i, j], begin, used, indices, data, last_entry)
        for j in range(ones.shape[1]):
            if ones[i, j] >= 0:
                used = add_entry(ones[i, j], 1.0, begin, used, indices, data, last_entry)
        for p in range(bag_indptr[i], bag_indptr[i + 1]):
            used = add_entry(bag_indices[p], bag_values[p], begin, used, indices, data, last_entry)
        out_indptr[i + 1] = used
    return used


@loop
def normalise_rows(indptr, data, length, out, squared_norms):
    """Scale every row to this length, except rows of zeros, and measure the result as learning does."""
    for i in range(indptr.size - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * data[p]
        scale = length / np.sqrt(total) if total > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = data[p] * scale
        squared_norms[i] = squared_norm_or_unmeasured(out, indptr[i], indptr[i + 1])
