"""Rows, labels and row indices as the checkers read them.

Checked here: that rows are real numbers, that the arrays of a sparse matrix fit together, that labels are one per row,
and that row indices of a certificate exist. Nothing is rounded, except that a cell which a sparse matrix stores more
than once is the sum of its entries as doubles (see `canonicalize_rows`). Uses no code of the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_integers

__all__ = [
    "assign_signs",
    "canonicalize_rows",
    "combine_rows",
    "drop_zero_columns",
    "exact_squared_lengths",
    "iterate_blocks",
    "require_rows",
    "squared_lengths",
]

_BLOCK = 1 << 15  # numbers at a time: what fits in a fast cache


def canonicalize_rows(X: Any) -> np.ndarray | sp.csr_array:
    """Return rows of real numbers as an array, or as a CSR array that stores no cell twice.

    A cell that a sparse matrix stores more than once means the sum of its entries, added in the order in which they are
    stored: as float32 if the matrix is of float32, otherwise as doubles.
    """
    matrix: Any = X if sp.issparse(X) else np.asarray(X)
    if matrix.dtype.kind == "c":
        raise CertificateError("Certificates are about real numbers; X is complex.")
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    if matrix.format == "csr":
        matrix = _require_valid_csr(matrix)
        if _has_increasing_columns(matrix):
            return matrix
    return _sum_duplicate_cells(matrix.tocoo())


def _require_valid_csr(X: Any) -> sp.csr_array:
    """Raise a CertificateError unless the arrays of a CSR matrix fit together; SciPy would follow bad indices out of
    memory."""
    try:
        matrix = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise CertificateError(f"X is a corrupt CSR matrix: {error}.") from error
    return matrix


def _has_increasing_columns(X: sp.csr_array) -> bool:
    """Return whether the columns of every row increase, so that none is stored twice. SciPy's own flags may be out of
    date."""
    starts = np.zeros(len(X.indices) + 1, bool)
    starts[X.indptr] = True
    return bool((starts[1:-1] | (X.indices[1:] > X.indices[:-1])).all())


def _sum_duplicate_cells(entries: sp.coo_array) -> sp.csr_array:
    """One entry for each cell: the sum of all its entries, in the order in which they are stored."""
    values = entries.data if entries.data.dtype == np.float32 else entries.data.astype(np.float64)
    order = np.lexsort((entries.col, entries.row))  # stable
    cells = np.stack([entries.row[order], entries.col[order]])
    is_new = np.append(True, (cells[:, 1:] != cells[:, :-1]).any(axis=0))[: len(order)]
    sums = np.zeros(int(is_new.sum()), values.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.at(sums, np.cumsum(is_new) - 1, values[order])  # one after the other
    return sp.csr_array((sums, tuple(cells[:, is_new])), shape=entries.shape)


def assign_signs(y: np.ndarray, positive: Any, negative: Any, against_rest: bool) -> np.ndarray:
    """+1 for rows with the positive label, -1 for those with the negative one (or any other), 0 for the rest."""
    if y.ndim != 1:
        raise CertificateError(f"Labels are a 1-D array, not one of shape {y.shape}.")
    # numpy answers a single False where no label can be equal
    is_positive, is_negative = (
        np.broadcast_to(np.asarray(y == label, bool), y.shape) for label in (positive, negative)
    )
    return is_positive.astype(np.int64) - (~is_positive if against_rest else is_negative)


def require_rows(rows: np.ndarray, signs: np.ndarray) -> None:
    """Raise a CertificateError unless these are indices, all different, of rows that have a sign."""
    rows = np.asarray(rows)
    n = len(signs)
    if rows.dtype.kind not in "iu" or not rows.size or len(set(rows.tolist())) != len(rows):
        raise CertificateError("The rows of a certificate must be integers, all different.")
    if rows.min() < 0 or rows.max() >= n:
        raise CertificateError(f"The rows of a certificate must lie in 0..{n - 1}.")
    if not np.isin(signs[rows], (-1, 1)).all():
        raise CertificateError("A row of the certificate has a label that the certificate is not about.")


def iterate_blocks(X: Any, signs: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
    """Yield the rows that have a sign as doubles, a block at a time: their indices, and the block."""
    chosen = np.flatnonzero(signs)
    step = len(chosen) if sp.issparse(X) else max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(chosen), max(1, step)):
        rows = chosen[start : start + step]
        is_contiguous = rows[-1] - rows[0] + 1 == len(rows)
        yield rows, (X[rows[0] : rows[-1] + 1] if is_contiguous else X[rows]).astype(np.float64)


def drop_zero_columns(block: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of a block that are not all zero, as a dense array, and their indices; a dense block as it
    is."""
    if not sp.issparse(block):
        return block, np.arange(block.shape[1])
    columns = np.unique(block.indices)
    return block[:, columns].toarray(), columns


def squared_lengths(block: Any) -> np.ndarray:
    """|x|^2 of each row, in doubles."""
    return block.multiply(block).sum(axis=1) if sp.issparse(block) else np.einsum("ij,ij->i", block, block)


def exact_squared_lengths(block: Any) -> list[Fraction]:
    """|x|^2 of each row, exactly."""
    if not block.shape[0]:
        return []
    numbers, scale = to_integers(drop_zero_columns(block)[0])
    unit = Fraction(4) ** scale
    return [int(total) * unit for total in (numbers * numbers).sum(axis=1)]


def combine_rows(
    X: Any, signs: np.ndarray, rows: np.ndarray, factors: list[int], constant: float
) -> tuple[list[int], int]:
    """sum factors * y * x over the rows, exactly, as integers times 2**scale.

    The constant coordinate is the last; columns that are zero in all of these rows are left out.
    """
    block, _ = drop_zero_columns(X[rows].astype(np.float64))
    numbers, scale = to_integers(np.hstack([block, np.full((len(rows), 1), constant)]))
    signed = [factor * int(y) for factor, y in zip(factors, signs[rows], strict=True)]
    return (np.array(signed, object) @ numbers).tolist(), scale
