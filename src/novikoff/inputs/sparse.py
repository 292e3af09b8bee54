"""Sparse matrices of SciPy, checked before compiled code reads them.

SciPy checks a matrix when it is built and never again. Arrays that are written to or replaced afterwards, and flags
that were cached before that (`has_canonical_format`, `has_sorted_indices`), are used unchecked, and an index out of
bounds reads or writes other memory. So no attribute of a matrix is trusted here: all lengths and every index are
checked, once for each call that is given a matrix, before SciPy's own conversions and our loops. The same pass tests
whether the columns of each row are sorted.

The arrays of a CSR matrix are not copied. The check holds only as long as nobody writes to them: writing from another
thread while a call runs is as unsafe as it is with NumPy and SciPy.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import csr_checks
from novikoff.errors import DataError
from novikoff.inputs.arrays import as_floats, as_writable
from novikoff.inputs.duplicates import sum_duplicates

__all__ = ["CheckedCsr", "dense_example", "to_checked_csr"]

_MAX_INT32 = np.iinfo(np.int32).max


class CheckedCsr(NamedTuple):
    """The arrays of a CSR matrix whose lengths and indices have been checked."""

    data: np.ndarray  # float32 or float64
    indices: np.ndarray  # int32 or int64
    indptr: np.ndarray  # of the dtype of indices
    shape: tuple[int, int]
    is_sorted: bool  # whether the columns of every row are strictly increasing; if not, one may occur twice

    @property
    def matrix(self) -> sp.csr_array:
        """A scipy CSR array that shares these arrays."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def sum_duplicates(self) -> CheckedCsr:
        """Return a copy with the columns of each row sorted and repeated ones added up; this one if they are sorted."""
        if self.is_sorted:
            return self
        return CheckedCsr(*sum_duplicates(self.data, self.indices, self.indptr, self.shape), self.shape, True)


def to_checked_csr(X: Any) -> CheckedCsr:
    """Convert a sparse matrix or array of any format to CSR; CSR is not copied.

    Raise a DataError that says what is wrong with it, and where.

    >>> import numpy as np, scipy.sparse as sp
    >>> from novikoff.inputs.sparse import to_checked_csr
    >>> X = sp.csr_array(np.eye(3))
    >>> X.indices[1] = 1_000_000_000
    >>> try:
    ...     to_checked_csr(X)
    ... except ValueError as error:
    ...     print(str(error)[:80])
    Input X is a corrupt CSR matrix: row 1 has column index 1000000000 at position 1
    """
    if X.ndim != 2:
        raise DataError(f"Expected a 2-D sparse matrix of rows, found {X.ndim} dimension(s).")
    return _READERS[X.format](X, _check_shape(X))


def dense_example(x: Any) -> Any:
    """Return a sparse matrix of one row as an array, and anything else as it is.

    A DOK matrix is a subclass of dict, so call this before testing whether an example is a dict of named features.
    """
    if not sp.issparse(x):
        return x
    csr = to_checked_csr(x)
    if csr.shape[0] != 1:
        raise DataError(f"One example is a dict or a 1-D array, found a matrix of shape {csr.shape}.")
    return csr.matrix.toarray()


def _of_csr(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    indices, indptr, is_sorted = _check_compressed(X, "CSR", "row", "column", shape)
    size = int(indptr[-1])
    data = _to_values(X.data, 1, size, "CSR")
    return CheckedCsr(data[:size], indices[:size], indptr, shape, is_sorted)


def _of_csc(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    indices, indptr, _ = _check_compressed(X, "CSC", "column", "row", shape[::-1])
    size = int(indptr[-1])
    data = _to_values(X.data, 1, size, "CSC")
    return _of_csr(sp.csc_array((data[:size], indices[:size], indptr), shape=shape).tocsr(), shape)


def _of_bsr(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    _, height, width = _to_values(X.data, 3, 0, "BSR").shape
    if not height or not width or shape[0] % height or shape[1] % width:
        raise _corrupt_error("BSR", f"blocks of {height} x {width} do not fill a matrix of shape {shape}")
    blocks = shape[0] // height, shape[1] // width
    indices, indptr, _ = _check_compressed(X, "BSR", "row of blocks", "column of blocks", blocks)
    size = int(indptr[-1])
    data = _to_values(X.data, 3, size, "BSR")
    return _of_csr(sp.bsr_array((data[:size], indices[:size], indptr), shape=shape).tocsr(), shape)


def _of_coo(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    return _of_entries(X.row, X.col, X.data, shape, "COO")


def _of_dok(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    keys, values = list(X.keys()), list(X.values())
    if not keys:
        return _empty(shape)
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        raise _corrupt_error("DOK", "a key is not a pair of a row and a column")
    rows, columns = zip(*keys, strict=True)
    return _of_entries(np.array(rows), np.array(columns), np.array(values), shape, "DOK")


def _of_dia(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    offsets = _to_integers(X.offsets, "offsets", "DIA").astype(np.int64)
    values = _to_values(X.data, 2, len(offsets), "DIA")[: len(offsets), : shape[1]]
    column = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    row = column - np.clip(offsets, -shape[0], shape[1])[:, None]
    inside = (row >= 0) & (row < shape[0]) & (values != 0.0)
    return _of_entries(row[inside], column[inside], values[inside], shape, "DIA")


def _of_lil(X: Any, shape: tuple[int, int]) -> CheckedCsr:
    if not len(X.rows) == len(X.data) == shape[0]:
        given = f"{len(X.rows)} lists of columns and {len(X.data)} lists of values"
        raise _corrupt_error("LIL", f"{given} are not one for each of {shape[0]} rows")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise _corrupt_error("LIL", f"row {row} has {len(columns)} columns and {len(values)} values")
    columns, values = (np.array(list(chain.from_iterable(lists))) for lists in (X.rows, X.data))
    if not columns.size:
        return _empty(shape)
    return _of_entries(np.repeat(np.arange(shape[0]), [len(row) for row in X.rows]), columns, values, shape, "LIL")


_READERS = {
    "csr": _of_csr,
    "csc": _of_csc,
    "bsr": _of_bsr,
    "coo": _of_coo,
    "dok": _of_dok,
    "dia": _of_dia,
    "lil": _of_lil,
}


def _check_compressed(
    X: Any, kind: str, major: str, minor: str, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return indices and indptr, checked, and whether the indices are strictly increasing within each row.

    `shape` is (rows, columns) for CSR and (columns, rows) for CSC; `major` and `minor` name its two parts in messages.
    """
    n, limit = shape
    indptr, indices = _to_integers(X.indptr, "indptr", kind), _to_integers(X.indices, "indices", kind)
    if len(indptr) != n + 1:
        raise _corrupt_error(kind, f"indptr has length {len(indptr)}, and {n} {major}s need {n + 1}")
    if indptr[0] != 0:
        raise _corrupt_error(kind, f"{major} 0 begins at position {indptr[0]} (indptr[0]), not at 0")
    if (row := int(csr_checks.find_first_decrease(indptr))) < n:
        raise _corrupt_error(
            kind, f"{major} {row} begins at position {indptr[row]} and ends at {indptr[row + 1]} (indptr)"
        )
    if indptr[-1] > len(indices):
        row = int(np.searchsorted(indptr, len(indices), "right")) - 1
        raise _corrupt_error(kind, f"{major} {row} ends at position {indptr[row + 1]} of {len(indices)} indices")
    indices, indptr = _to_common_dtype(indices, indptr)
    bound = np.uint64(min(limit, _largest(indices) + 1))
    n_checked, is_sorted = csr_checks.check_indices(_view_unsigned(indices), indptr, bound)
    if n_checked < n:
        start = int(indptr[n_checked])
        rest = indices[start : indptr[-1]]
        position = start + int(np.argmax((rest < 0) | (rest >= limit)))
        row = int(np.searchsorted(indptr, position, "right")) - 1
        index = np.asarray(X.indices)[position]
        where = f"{major} {row} has {minor} index {index} at position {position} of indices"
        raise _corrupt_error(kind, f"{where}, and there are {limit} {minor}s, from 0")
    return indices, indptr, bool(is_sorted)


def _of_entries(row: Any, column: Any, values: Any, shape: tuple[int, int], kind: str) -> CheckedCsr:
    """Build CSR of single entries, each with its row and column."""
    row, column = _to_integers(row, "row", kind), _to_integers(column, "column", kind)
    values = _to_values(values, 1, 0, kind)
    if not len(row) == len(column) == len(values):
        raise _corrupt_error(
            kind, f"it has {len(row)} row indices, {len(column)} column indices and {len(values)} values"
        )
    for name, indices, limit in (("row", row, shape[0]), ("column", column, shape[1])):
        if indices.size and not (indices.min() >= 0 and indices.max() < limit):
            at = int(np.argmax((indices < 0) | (indices >= limit)))
            where = f"the entry at position {at} has row index {row[at]} and column index {column[at]}"
            raise _corrupt_error(kind, f"{where}, and there are {limit} {name}s, from 0")
    index = np.int32 if max(len(row), *shape) <= _MAX_INT32 else np.int64
    indptr, indices, data = np.zeros(shape[0] + 1, index), np.empty(len(row), index), np.empty_like(values)
    csr_checks.sort_by_row(
        row.astype(index, copy=False), column.astype(index, copy=False), values, indptr, indices, data
    )
    _, is_sorted = csr_checks.check_indices(_view_unsigned(indices), indptr, np.uint64(shape[1]))
    return CheckedCsr(data, indices, indptr, shape, bool(is_sorted))


def _empty(shape: tuple[int, int]) -> CheckedCsr:
    none = np.empty(0, np.int32)
    return CheckedCsr(np.empty(0), none, np.zeros(shape[0] + 1, np.int32), shape, True)


def _to_integers(values: Any, name: str, kind: str) -> np.ndarray:
    """Return indices as contiguous int32 or int64 in the byte order of this machine."""
    values = np.asarray(values)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise _corrupt_error(
            kind, f"{name} is not a 1-D array of integers, but has shape {values.shape}, dtype {values.dtype}"
        )
    native = np.int32 if values.dtype.newbyteorder("=") == np.int32 else np.int64
    return as_writable(np.ascontiguousarray(values, native))


def _to_common_dtype(indices: np.ndarray, indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both in one dtype, as loops are compiled for each pair of dtypes; indptr is converted if its values
    fit."""
    if indices.dtype == indptr.dtype:
        return indices, indptr
    if indptr[-1] <= _largest(indices):
        return indices, indptr.astype(indices.dtype)
    return indices.astype(np.int64), indptr


def _view_unsigned(indices: np.ndarray) -> np.ndarray:
    return indices.view(np.uint32 if indices.dtype == np.int32 else np.uint64)


def _largest(indices: np.ndarray) -> int:
    return int(np.iinfo(indices.dtype).max)


def _to_values(values: Any, ndim: int, size: int, kind: str) -> np.ndarray:
    """Return data as contiguous floats; raise a DataError if it has fewer than `size` entries."""
    values = np.asarray(values)
    if values.ndim != ndim or len(values) < size:
        expected = f"{ndim}-D and of length {size} or more"
        raise _corrupt_error(kind, f"data should be {expected} by its indices, but has shape {values.shape}")
    return as_writable(np.ascontiguousarray(as_floats(values)))


def _check_shape(X: Any) -> tuple[int, int]:
    shape = tuple(X.shape)
    if len(shape) != 2 or not all(isinstance(size, (int, np.integer)) and size >= 0 for size in shape):
        raise _corrupt_error(X.format.upper(), f"its shape is {shape}")
    return int(shape[0]), int(shape[1])


def _corrupt_error(kind: str, fault: str) -> DataError:
    return DataError(f"Input X is a corrupt {kind} matrix: {fault}. Build it again from sound arrays.")
