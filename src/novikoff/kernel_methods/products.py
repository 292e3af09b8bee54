"""Inner products of every row of one block with every row of another, and their powers.

Integers are multiplied in float32 piece by piece, exactly (see points.py), all other numbers in float64. For dense rows
with many zeros, as images have, a loop visits only the nonzero entries; integers are multiplied two columns at a time
in 32-bit integers, which is exact as well. If a fifth of the entries are nonzero, that is two to three times as fast as
multiplying all. Sparse rows with many nonzero entries are made dense first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from novikoff._compiled.loops import kernel_matrix
from novikoff.errors import DataError
from novikoff.kernel_methods.points import Points
from novikoff.system.threads import run_in_threads

__all__ = ["powers_of_dots"]

_FEW = 0.25  # share of nonzero entries below which visiting only those is faster than multiplying all
_FEW_INTEGERS = 0.4  # the share for integers
_VERY_FEW = 0.05  # share below which a product of sparse matrices is faster than both
_COLUMNS = 64  # with fewer columns, multiplying takes less time than counting nonzero entries
_ROWS = 16  # rows from which the share of nonzero entries is estimated
_MANY = 64  # rows of the other block: for fewer, finding the zeros takes longer than multiplying them
_CELLS = 1 << 23  # largest dense array that sparse rows are converted to: 64 MB
_LEAST = 1 << 15  # entries of the result per thread, which takes as long to start as ten thousand of them


def powers_of_dots(A: Points, B: Points, gamma: float = 1.0, coef0: float = 0.0, degree: int = 1) -> np.ndarray:
    """Return (gamma <x, z> + coef0)^degree for every row x of A and z of B, in double precision."""
    if A.kind == "sparse" or B.kind == "sparse":
        A, B = A.as_kind("sparse"), B.as_kind("sparse")
        if not _is_worth_densifying(A.data, B.data):
            return _powers(_sparse_dots(A.data, B.data)[None], gamma, coef0, degree)
        A, B = A.as_dense, B.as_dense
    if A.data.shape[1] != B.data.shape[1]:
        raise DataError(
            f"Rows of {A.data.shape[1]} columns and of {B.data.shape[1]} have no product: pass rows with "
            "the columns that the others have."
        )
    exact_columns = min(A.exact_columns, B.exact_columns)
    if len(B) >= _MANY and A.data.dtype == B.data.dtype and _has_few(A.data, _FEW_INTEGERS if exact_columns else _FEW):
        multiply, others = (
            (kernel_matrix.fill_integer_powers, B.tiles)
            if exact_columns
            else (kernel_matrix.fill_sparse_powers, B.transposed)
        )
        powers = np.empty((len(A), len(B)))
        run_in_threads(partial(multiply, A.data, others, gamma, coef0, degree, powers), *_sizes(powers))
        return powers
    return _powers(_pieces(A.data, B.data, exact_columns), gamma, coef0, degree)


def _is_worth_densifying(A: Any, B: Any) -> bool:
    """Return whether dense products take less time and fit into memory; False if one of them has more columns."""
    cells = max(A.shape[0], B.shape[0]) * A.shape[1]
    return A.shape[1] == B.shape[1] and cells <= _CELLS and min(_share(A), _share(B)) > _VERY_FEW


def _share(data: Any) -> float:
    """Return the share of nonzero entries of a sparse array."""
    return data.nnz / max(1, data.shape[0] * data.shape[1])


def _sparse_dots(A: Any, B: Any) -> np.ndarray:
    shared = min(A.shape[1], B.shape[1])  # later columns were not known to one of them, and are zero
    return np.asarray((A[:, :shared] @ B[:, :shared].T).toarray(), np.float64)


def _has_few(data: np.ndarray, few: float) -> bool:
    """Return whether the share of nonzero entries is below `few`, estimated from some rows."""
    some = data[:: max(1, len(data) // _ROWS)]
    return data.shape[1] >= _COLUMNS and bool(np.count_nonzero(some) < few * some.size)


def _pieces(A: np.ndarray, B: np.ndarray, exact_columns: int) -> np.ndarray:
    """Return inner products over pieces of adjacent columns, which are exact in single precision.

    If `exact_columns` is 0, the one piece is all columns, in double precision.
    """
    if not exact_columns:
        return (A.astype(np.float64, copy=False) @ B.astype(np.float64, copy=False).T)[None]
    starts = range(0, A.shape[1], exact_columns)
    pieces = np.empty((len(starts), len(A), len(B)), np.float32)
    for piece, start in zip(pieces, starts, strict=True):
        np.matmul(A[:, start : start + exact_columns], B[:, start : start + exact_columns].T, out=piece)
    return pieces


def _powers(pieces: np.ndarray, gamma: float, coef0: float, degree: int) -> np.ndarray:
    """Return the powers of the sums of pieces, in one pass through memory."""
    if pieces.dtype == np.float64 and (gamma, coef0, degree) == (1.0, 0.0, 1):
        return pieces[0]
    powers = np.empty(pieces.shape[1:])
    run_in_threads(partial(kernel_matrix.fill_powers, pieces, gamma, coef0, degree, powers), *_sizes(powers))
    return powers


def _sizes(powers: np.ndarray) -> tuple[int, int]:
    """Return the number of rows, and the least number for a thread."""
    return len(powers), -(-_LEAST // max(1, powers.shape[1]))
