"""Hats of the dense features of sparse rows, with an index for each feature and each hat in the order of the rows.

    problem   give the dense numbers of sparse rows hats, without leaving room for those of all other features
    given     CSR rows of standardised features, and which entries are those of dense features
    result    CSR rows of features and hats: features get the next index in the order of their numbers, up to the
              largest in each row; the hats of a feature get the next ones when it is dense for the first time

So the indices depend on the rows before only, not on the blocks in which they come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.hats import N_KNOTS, find_hats
from novikoff._compiled.loops.rows import squared_norm_or_unmeasured


class HatIndices(NamedTuple):
    """The index of each feature, ascending, and that of the first of its hats, which lie side by side; -1 if it has
    none."""

    features: np.ndarray  # int32
    first_hats: np.ndarray  # int32


@loop
def add_hats(rows, indices, n_known, n_indices, learn, out):
    """Make rows with hats; if `learn`, also indices for what is new, else it is left out. There are n_known features so
    far, and n_indices with their hats; return these two numbers and that of the entries."""
    used = 0
    out.indptr[0] = 0
    for i in range(rows.indptr.size - 1):
        lo, hi, begin = rows.indptr[i], rows.indptr[i + 1], used
        if learn:
            n_known, n_indices = add_features(rows.indices, lo, hi, indices, n_known, n_indices)
        for p in range(lo, hi):
            j, z = rows.indices[p], rows.data[p]
            if j >= n_known:
                continue
            out.indices[used], out.data[used] = indices.features[j], z
            used += 1
            if rows.is_standardised[p] and z == z:
                if learn and indices.first_hats[j] < 0:
                    indices.first_hats[j] = n_indices
                    n_indices += N_KNOTS
                if indices.first_hats[j] >= 0:
                    used = add_pair(indices.first_hats[j], z, out, used)
        out.indptr[i + 1] = used
        out.squared_norms[i] = squared_norm_or_unmeasured(out.data, begin, used)
    return n_known, n_indices, used


@inlined
def add_features(row_indices, lo, hi, indices, n_known, n_indices):
    """Give indices to all features up to the largest of a row; return the numbers of features and of indices."""
    largest = -1
    for p in range(lo, hi):
        largest = max(largest, row_indices[p])
    while n_known <= largest:
        indices.features[n_known], indices.first_hats[n_known] = n_indices, -1
        n_known += 1
        n_indices += 1
    return n_known, n_indices


@inlined
def add_pair(first, z, out, used):
    """Add the hats of z other than 0, given the index of the first; return the number of entries."""
    left, a = find_hats(z)
    if a != 1.0:
        out.indices[used], out.data[used] = first + left, 1.0 - a
        used += 1
    if a != 0.0:
        out.indices[used], out.data[used] = first + left + 1, a
        used += 1
    return used
