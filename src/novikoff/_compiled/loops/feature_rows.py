"""Sparse rows from the indices and values of features.

problem   make CSR rows of features that may occur twice in a row, or have no index
given     for each row the indices of its features and their values, -1 for a feature without an index
result    a CSR matrix in which no row has an index twice: values of one index add up
source    sets that need no clearing: Briggs and Torczon, "An efficient representation for sparse sets", 1993
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.hats import find_hats
from novikoff._compiled.loops.rows import squared_norm_or_unmeasured
from novikoff._compiled.loops.simd import prefetch

_u = np.uint64
_AHEAD = _u(12)  # features whose entries of `last_entry` are prefetched: it is larger than the cache


class Numbers(NamedTuple):
    """The numbers of a table, 0 where they are missing; the index of each column, -1 for none; the indices of the hats
    of each column, none of which is -1, or an array of width 0 if there are no hats; and where numbers are missing, an
    empty array if none is."""

    values: np.ndarray
    indices: np.ndarray
    hats: np.ndarray
    is_missing: np.ndarray


class Entries(NamedTuple):
    """The arrays of CSR rows."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


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
def join_rows(numbers, ones, bag, out, last_entry):
    """Make rows of a table: the numbers that are not 0, and the hats of those that are not missing; a 1 at every index
    in `ones`, where -1 stands for none; and the entries of a bag. Return the number of entries."""
    used = 0
    out.indptr[0] = 0
    for i in range(numbers.values.shape[0]):
        begin = used
        used = add_numbers(numbers, i, begin, used, out, last_entry)
        for j in range(ones.shape[1]):
            if ones[i, j] >= 0:
                used = add_entry(ones[i, j], 1.0, begin, used, out.indices, out.data, last_entry)
        for p in range(bag.indptr[i], bag.indptr[i + 1]):
            used = add_entry(bag.indices[p], bag.data[p], begin, used, out.indices, out.data, last_entry)
        out.indptr[i + 1] = used
    return used


@inlined
def add_numbers(numbers, i, begin, used, out, last_entry):
    """Add the numbers of row i and their hats to a row that begins at `begin`; return the new end."""
    values, indices, hats, is_missing = numbers
    for j in range(values.shape[1]):
        z = values[i, j]
        if z != 0.0 and indices[j] >= 0:
            used = add_entry(indices[j], z, begin, used, out.indices, out.data, last_entry)
        if hats.shape[1] and z == z and not (is_missing.size and is_missing[i, j]):
            left, a = find_hats(z)
            if a != 1.0:
                used = add_entry(hats[j, left], 1.0 - a, begin, used, out.indices, out.data, last_entry)
            if a != 0.0:
                used = add_entry(hats[j, left + 1], a, begin, used, out.indices, out.data, last_entry)
    return used


@loop
def normalise_rows(indptr, counts, logs, length, out, squared_norms):
    """Scale every row of counts, or with `logs` of 1 + ln count, to this length, except rows of zeros, and measure the
    result as learning does."""
    for i in range(indptr.size - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = 1.0 + math.log(counts[p]) if logs and counts[p] > 1.0 else counts[p]
            total += out[p] * out[p]
        scale = length / np.sqrt(total) if total > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] *= scale
        squared_norms[i] = squared_norm_or_unmeasured(out, indptr[i], indptr[i + 1])
