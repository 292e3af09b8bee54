"""Sparse rows in which a column occurs more than once: such entries are added up.

SciPy adds them up as well. But sums of floats depend on the order, and SciPy sorts rows of more than 16 entries without
keeping the order of equal columns. So the order is fixed here: entries of one cell are added from the first to the last
as they are stored, which is what `X.toarray()` does. Learning, certificates and their checker read the same numbers,
whatever the version of SciPy.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["sum_duplicates"]


def sum_duplicates(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return copies of the arrays of a CSR matrix in which the columns of each row are sorted and occur once.

    >>> import numpy as np
    >>> sum_duplicates(np.array([1e16, 2.0, 1.0, -1e16]), np.array([1, 0, 1, 1]), np.array([0, 4]), (1, 2))
    (array([2., 0.]), array([0, 1]), array([0, 2]))
    """
    csr = sp.csr_array((data, indices, indptr), shape=shape, copy=True)
    csr.has_sorted_indices = False
    csr.sort_indices()
    if not _is_repeated(csr.indices, csr.indptr).any():
        return csr.data, csr.indices, csr.indptr
    size = int(indptr[-1])
    row = np.repeat(np.arange(shape[0]), np.diff(indptr))
    order = np.lexsort((indices[:size], row))  # stable: entries of one cell keep their order
    is_first = ~_is_repeated(indices[order], indptr)
    cell = np.cumsum(is_first) - 1
    values = np.zeros(np.count_nonzero(is_first), data.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # `Rows.require_numbers` reports NaN and infinity
        np.add.at(values, cell, data[order])
    ends = np.concatenate([[0], np.cumsum(is_first)])[indptr]
    return values, indices[order][is_first], ends.astype(indptr.dtype)


def _is_repeated(indices: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return which entries of sorted rows have the same column as the entry before."""
    is_repeated = np.zeros(int(indptr[-1]), bool)
    if is_repeated.size:
        is_repeated[1:] = indices[1 : is_repeated.size] == indices[: is_repeated.size - 1]
        starts = indptr[:-1]
        is_repeated[starts[starts < is_repeated.size]] = False
    return is_repeated
