"""Sparse rows in which a column occurs more than once.

Such a row means the sum of these entries, as it does to SciPy. Sums of floats depend on their order, and SciPy sorts
rows of more than 16 entries in an order that is not the stored one. So the order is fixed here: entries of one cell are
added as they are stored, from the first to the last, which is what `X.toarray()` does. Learning, certificates and their
checker read the same numbers, whatever the version of SciPy.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["summed"]


def summed(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return copies of the arrays of a CSR matrix, the columns of each row rising and none there twice.

    >>> import numpy as np
    >>> summed(np.array([1e16, 2.0, 1.0, -1e16]), np.array([1, 0, 1, 1]), np.array([0, 4]), (1, 2))
    (array([2., 0.]), array([0, 1]), array([0, 2]))
    """
    csr = sp.csr_array((data, indices, indptr), shape=shape, copy=True)
    csr.has_sorted_indices = False
    csr.sort_indices()
    if not _twice(csr.indices, csr.indptr).any():
        return csr.data, csr.indices, csr.indptr
    size = int(indptr[-1])
    row = np.repeat(np.arange(shape[0]), np.diff(indptr))
    order = np.lexsort((indices[:size], row))  # stable: entries of one cell keep their order
    is_first = ~_twice(indices[order], indptr)
    cell = np.cumsum(is_first) - 1
    values = np.zeros(np.count_nonzero(is_first), data.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # whoever asks for numbers finds what is none
        np.add.at(values, cell, data[order])
    ends = np.concatenate([[0], np.cumsum(is_first)])[indptr]
    return values, indices[order][is_first], ends.astype(indptr.dtype)


def _twice(indices: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Mark entries of sorted rows that are in the column of the entry before."""
    found = np.zeros(int(indptr[-1]), bool)
    if found.size:
        found[1:] = indices[1 : found.size] == indices[: found.size - 1]
        starts = indptr[:-1]
        found[starts[starts < found.size]] = False
    return found
