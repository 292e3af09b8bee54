"""What a user passes as points, and the kernel matrix of all of them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from novikoff.errors import DataError, RuleError
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.kernels import Potential, UsersPotential
from novikoff.kernel_methods.points import Points

__all__ = ["are_objects", "is_row", "kernel_matrix", "kernel_rows", "points_of", "require_numbers"]

_MOST = 20_000  # rows: their kernel matrix takes 3 GB


def is_row(x: Any) -> bool:
    """Numbers one after another, or a single one (which scikit-learn knows what to say about)."""
    if isinstance(x, (list, tuple)):
        return all(isinstance(value, (Real, np.generic)) for value in x)
    return isinstance(x, (Real, Integral, np.ndarray)) or hasattr(x, "toarray")


def are_objects(X: Any) -> bool:
    """Whether X is for a kernel of the user's own to understand: no table of numbers."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS" and len(X) > 0
    return isinstance(X, (list, tuple)) and len(X) > 0 and not is_row(X[0])


def points_of(X: Any, function: Potential | UsersPotential, *, square: bool = False) -> Points:
    """Points of whatever this kernel takes: a table of numbers, a kernel matrix, or objects."""
    if isinstance(function, UsersPotential) and are_objects(X):
        return Points.of_objects(X)
    rows = Rows.of(X, getattr(X, "columns", None))
    rows.require_numbers()
    if isinstance(function, Potential) and function.name == "precomputed":
        return kernel_rows(rows, square=square)
    return Points.of(rows)


def kernel_rows(rows: Rows, *, square: bool) -> Points:
    """Rows of a kernel matrix; that of the training set must be one."""
    if rows.is_sparse:
        raise DataError("Sparse input is not supported for a precomputed kernel: pass a dense array, X.toarray().")
    K = rows.data.astype(np.float64, copy=False)
    if square:
        if K.shape[0] != K.shape[1]:
            raise DataError(
                f"Precomputed kernel matrix must be a square matrix: one row and one column for each "
                f"row of the training set, found shape {K.shape}."
            )
        apart = np.abs(K - K.T)
        if apart.max() > 1e-8 * max(1.0, np.abs(K).max()):
            i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
            raise DataError(
                f"The precomputed kernel is not symmetric: {K[i, j]} in row {i}, column {j}, but "
                f"{K[j, i]} in row {j}, column {i}. K(x, z) must be K(z, x)."
            )
    return Points(K, 0, True)


def kernel_matrix(X: Any, function: Potential | UsersPotential) -> np.ndarray:
    """K of all rows with one another, exactly symmetric; and the same for rows that are equal, which matrix products
    may round differently."""
    if isinstance(function, Potential) and not function.is_positive:
        raise RuleError(
            f"The kernel {function.name!r} with these parameters is no inner product, so there is no "
            "feature space to separate rows in. Choose another, such as 'rbf', or 'poly' with coef0 >= 0 "
            "and a whole degree."
        )
    points = points_of(X, function, square=True)
    n = len(points)
    if n > _MOST:
        raise DataError(
            f"The kernel matrix of {n:,} rows would take {8e-9 * n * n:.0f} GB: certify {_MOST:,} of them at most."
        )
    same = np.arange(n)
    if points.kind == "dense":
        distinct, same = np.unique(points.data, axis=0, return_inverse=True)
        points = Points(distinct, points.width)
    K = function.gram(points, np.arange(len(points)))
    K = (0.5 * (K + K.T))[np.ix_(same.reshape(-1), same.reshape(-1))]
    require_numbers(K, np.arange(n))
    return K


def require_numbers(kernels: np.ndarray, at: np.ndarray) -> None:
    """Kernels, or sums of them, must be finite; row k of them belongs to row at[k] of the user's."""
    if np.isfinite(kernels).all():
        return
    row = at[int(np.argmin(np.isfinite(kernels).all(axis=1)))]
    raise DataError(
        f"The kernel is NaN or infinite at row {row}. A power of large numbers overflows: scale the "
        "columns (sklearn.preprocessing.MaxAbsScaler) or choose a smaller gamma or degree; a kernel of "
        "your own must give a finite number for every two rows."
    )
