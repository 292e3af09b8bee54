"""Inner products of every row of one block with every row of another, and their powers.

Whole numbers are multiplied in float32 piece by piece, exactly (see points.py), all others in float64. Rows with many
zeros, as pictures have, are walked from one number that is not zero to the next, if they are whole numbers two columns
at a time in 32-bit integers, which are exact as well: at a fifth of them, twice or thrice as fast as multiplying all.
Sparse rows that are not so sparse are filled first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from novikoff._compiled.loops import kernel_matrix
from novikoff.errors import DataError
from novikoff.kernel_methods.points import Points
from novikoff.system.threads import share

__all__ = ["powers_of_dots"]

_FEW = 0.25  # of the numbers are not zero: below, walking from one to the next beats multiplying all
_FEW_WHOLE = 0.4  # the same for whole numbers
_VERY_FEW = 0.05  # below, a product of sparse matrices beats both
_COLUMNS = 64  # so few are multiplied sooner than looked at
_ROWS = 16  # to judge a block by
_MANY = 64  # rows to multiply them with: for fewer, looking for the zeros takes longer than multiplying them
_CELLS = 1 << 23  # 64 MB: sparse rows are filled up to here
_LEAST = 1 << 15  # cells of the result for a thread, which takes as long to start as ten thousand


def powers_of_dots(A: Points, B: Points, gamma: float = 1.0, coef0: float = 0.0, degree: int = 1) -> np.ndarray:
    """(gamma <x, z> + coef0)^degree for every row x of A and z of B, in double precision."""
    if A.kind == "sparse" or B.kind == "sparse":
        A, B = A.like("sparse"), B.like("sparse")
        if not _worth_filling(A.data, B.data):
            return _powers(_sparse_dots(A.data, B.data)[None], gamma, coef0, degree)
        A, B = A.filled, B.filled
    if A.data.shape[1] != B.data.shape[1]:
        raise DataError(
            f"Rows of {A.data.shape[1]} columns and of {B.data.shape[1]} have no product: pass rows with "
            "the columns that the others have."
        )
    width = min(A.width, B.width)
    if len(B) >= _MANY and A.data.dtype == B.data.dtype and _has_few(A.data, _FEW_WHOLE if width else _FEW):
        walk, others = (kernel_matrix.whole_powers, B.tiles) if width else (kernel_matrix.sparse_powers, B.transposed)
        found = np.empty((len(A), len(B)))
        share(partial(walk, A.data, others, gamma, coef0, degree, found), *_sizes(found))
        return found
    return _powers(_pieces(A.data, B.data, width), gamma, coef0, degree)


def _worth_filling(A: Any, B: Any) -> bool:
    """Whether it takes less time, and not too much room. With columns that only one of them knows it never does."""
    cells = max(A.shape[0], B.shape[0]) * A.shape[1]
    return A.shape[1] == B.shape[1] and cells <= _CELLS and min(_share(A), _share(B)) > _VERY_FEW


def _share(data: Any) -> float:
    """How much of a sparse array is not zero."""
    return data.nnz / max(1, data.shape[0] * data.shape[1])


def _sparse_dots(A: Any, B: Any) -> np.ndarray:
    shared = min(A.shape[1], B.shape[1])  # later columns were not known to one of them, and zero
    return np.asarray((A[:, :shared] @ B[:, :shared].T).toarray(), np.float64)


def _has_few(data: np.ndarray, few: float) -> bool:
    """Whether so few of the numbers are not zero, judged by some rows."""
    some = data[:: max(1, len(data) // _ROWS)]
    return data.shape[1] >= _COLUMNS and bool(np.count_nonzero(some) < few * some.size)


def _pieces(A: np.ndarray, B: np.ndarray, width: int) -> np.ndarray:
    """Products of neighbouring columns, so few at a time that they are exact in single precision; of all columns in
    double precision if there is no such width."""
    if not width:
        return (A.astype(np.float64, copy=False) @ B.astype(np.float64, copy=False).T)[None]
    starts = range(0, A.shape[1], width)
    pieces = np.empty((len(starts), len(A), len(B)), np.float32)
    for piece, start in zip(pieces, starts, strict=True):
        np.matmul(A[:, start : start + width], B[:, start : start + width].T, out=piece)
    return pieces


def _powers(pieces: np.ndarray, gamma: float, coef0: float, degree: int) -> np.ndarray:
    """In one go through memory."""
    if pieces.dtype == np.float64 and (gamma, coef0, degree) == (1.0, 0.0, 1):
        return pieces[0]
    found = np.empty(pieces.shape[1:])
    share(partial(kernel_matrix.powers, pieces, gamma, coef0, degree, found), *_sizes(found))
    return found


def _sizes(found: np.ndarray) -> tuple[int, int]:
    """The rows, and of how many a thread takes at least."""
    return len(found), -(-_LEAST // max(1, found.shape[1]))
