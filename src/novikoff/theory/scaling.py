"""Powers of two for rows and columns, so that numbers in very different units become comparable.

Multiplying a row of X by a positive number changes no verdict, and multiplying a column only the units of its weight.
Powers of two round nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.inputs.rows import Rows
from novikoff.theory.signed_points import SignedPoints

__all__ = ["EvenPoints", "find_exponents", "multiply_by_powers"]

_ROUNDS = 3  # of fitting exponents of rows and columns in turns
_FEWEST = -900  # exponents of entries: smaller ones could underflow where they are multiplied


@dataclass(frozen=True, eq=False)
class EvenPoints:
    """Points whose coordinates are of similar size: each is z, its row and columns multiplied by powers of two.

    Attributes
    ----------
    points : SignedPoints
        The constant coordinate is their last column, like any other.
    row_exponents, column_exponents : ndarray
        The entry in row i and column j was multiplied by 2 ** -(row_exponents[i] + column_exponents[j]).
    """

    points: SignedPoints
    row_exponents: np.ndarray
    column_exponents: np.ndarray

    @classmethod
    def of(cls, points: SignedPoints) -> EvenPoints:
        """Choose exponents such that those of the entries of each column are 0 on average, and the largest of each row
        is 0."""
        x = _with_constant(points)
        rows, columns = _fit_exponents(x)
        scaled = multiply_by_powers(multiply_by_powers(x, rows, axis=1), columns, axis=0)
        even = Rows.of(scaled)
        even.require_numbers()
        return cls(SignedPoints(even, points.signs, 0.0), rows, columns)

    def original_direction(self, w: np.ndarray) -> np.ndarray:
        """Return the weights, bias last, that have the same sign on the points as they were given."""
        return np.ldexp(w[:-1], self.column_exponents.min() - self.column_exponents)


def _with_constant(points: SignedPoints) -> Any:
    """Return all rows as doubles with the constant coordinate as their last column, which may be 0."""
    x: Any = points.rows.take(np.arange(len(points)))
    last = np.full((len(points), 1), points.constant)
    if sp.issparse(x):
        return sp.csr_array(sp.hstack([x.astype(np.float64), sp.csr_array(last)], format="csr"))
    return np.hstack([x, last])


def _fit_exponents(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return integers r and c such that r[i] + c[j] is near the exponent of x[i, j], in the mean of each row and
    column."""
    values, row_of, column_of = _nonzero_entries(x)
    exponents = np.maximum(np.frexp(values)[1], _FEWEST).astype(float)
    n, d = x.shape
    in_row, in_column = np.maximum(np.bincount(row_of, minlength=n), 1), np.bincount(column_of, minlength=d)
    rows, columns = np.zeros(n), np.zeros(d)
    for _ in range(_ROUNDS):
        rows = np.bincount(row_of, exponents - columns[column_of], n) / in_row
        columns = np.bincount(column_of, exponents - rows[row_of], d) / np.maximum(in_column, 1)
    columns = np.rint(columns)
    rows = np.full(n, -np.inf)  # at last by the largest entry, so that no square overflows
    np.maximum.at(rows, row_of, exponents - columns[column_of])
    return np.where(np.isfinite(rows), rows, 0.0).astype(np.int64), columns.astype(np.int64)


def _nonzero_entries(x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the entries that are not 0, their rows and their columns."""
    if not sp.issparse(x):
        row_of, column_of = np.nonzero(x)
        return x[row_of, column_of], row_of, column_of
    entries = x.tocoo()
    kept = entries.data != 0.0
    return entries.data[kept], entries.row[kept], entries.col[kept]


def find_exponents(x: Any, axis: int) -> np.ndarray:
    """Return the exponent of the largest value of each column (axis 0) or row (axis 1); 0 if scaling would round."""
    size = x.shape[1 - axis]
    values, axis_indices = _entries(x, axis)
    largest = np.zeros(size)
    np.maximum.at(largest, axis_indices, np.abs(values))
    exponents = np.frexp(largest)[1].astype(np.int64)
    scaled = np.ldexp(values, -exponents[axis_indices])
    exponents[axis_indices[np.ldexp(scaled, exponents[axis_indices]) != values]] = 0
    return exponents


def multiply_by_powers(x: Any, exponents: np.ndarray, axis: int) -> Any:
    """Multiply each column (axis 0) or row (axis 1) of x by 2 ** -exponent."""
    if not sp.issparse(x):
        return np.ldexp(x, -(exponents if axis == 0 else exponents[:, None]))
    values, axis_indices = _entries(x, axis)
    return sp.csr_array((np.ldexp(values, -exponents[axis_indices]), x.indices, x.indptr), shape=x.shape)


def _entries(x: Any, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of x, and for each of them the index of its column (axis 0) or row (axis 1)."""
    if sp.issparse(x):
        return x.data, x.indices if axis == 0 else np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    return x.ravel(), np.broadcast_to(
        np.arange(x.shape[1]) if axis == 0 else np.arange(len(x))[:, None], x.shape
    ).ravel()
