"""The entries of a row, in order of columns, whether it is dense or sparse.

A loop that goes from `first_entry` to `end_entry` and skips entries of value 0 takes the same steps on a dense row as
on the sparse row that equals it, so its results agree to the last bit if its sums are compiled in order
(`inlined_in_order`).
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined_in_order
from novikoff._compiled.loops.rows import SMALLEST_SQUARED_NORM

__all__ = ["end_entry", "entry_coordinate", "entry_value", "first_entry"]


@inlined_in_order
def first_entry(data, indptr, i):
    """Return the index of the first entry of row i: of a column if dense, of a non-zero if sparse."""
    if data.ndim == 2:
        return np.int64(0)
    else:
        return np.int64(indptr[i])


@inlined_in_order
def end_entry(data, indptr, i):
    """Return the index after that of the last entry of row i."""
    if data.ndim == 2:
        return np.int64(data.shape[1])
    else:
        return np.int64(indptr[i + 1])


@inlined_in_order
def without_dust(x):
    """Return x, or 0 if it is so small that its square would be lost."""
    return x if x * x > SMALLEST_SQUARED_NORM else 0.0


@inlined_in_order
def entry_value(data, i, p):
    """Return the value of an entry of row i."""
    if data.ndim == 2:
        return without_dust(np.float64(data[i, p]))
    else:
        return without_dust(np.float64(data[p]))


@inlined_in_order
def entry_coordinate(data, indices, p):
    """Return the coordinate of an entry: coordinate 0 is the constant 1, coordinate 1 + j is feature j."""
    if data.ndim == 2:
        return p + 1
    else:
        return np.int64(indices[p]) + 1
