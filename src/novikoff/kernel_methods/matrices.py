"""Points of whatever a user passes, and their kernel matrix."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from novikoff.errors import DataError, RuleError
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.kernel_methods.points import Points

__all__ = ["are_objects", "is_row", "kernel_matrix", "kernel_rows", "make_points", "require_numbers"]

_MAX_ROWS = 20_000  # whose kernel matrix takes 3 GB


def is_row(x: Any) -> bool:
    """Return whether x is a sequence of numbers, or a single one, for which scikit-learn has a message."""
    if isinstance(x, (list, tuple)):
        return all(isinstance(value, (Real, np.generic)) for value in x)
    return isinstance(x, (Real, Integral, np.ndarray)) or hasattr(x, "toarray")


def are_objects(X: Any) -> bool:
    """Return whether X is no table of numbers, but a sequence of objects for a custom kernel."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS" and len(X) > 0
    return isinstance(X, (list, tuple)) and len(X) > 0 and not is_row(X[0])


def make_points(X: Any, function: Kernel | CustomKernel, *, square: bool = False) -> Points:
    """Return points of whatever this kernel takes: a table of numbers, a kernel matrix, or objects."""
    if isinstance(function, CustomKernel) and are_objects(X):
        return Points.of_objects(X)
    rows = Rows.of(X, getattr(X, "columns", None))
    rows.require_numbers()
    if isinstance(function, Kernel) and function.name == "precomputed":
        return kernel_rows(rows, square=square)
    return Points.of(rows)


def kernel_rows(rows: Rows, *, square: bool) -> Points:
    """Return the rows of a kernel matrix as points; `square` if it must be the symmetric matrix of a training set."""
    if rows.is_sparse:
        raise DataError("Sparse input is not supported for a precomputed kernel: pass a dense array, X.toarray().")
    K = rows.data.astype(np.float64, copy=False)
    if square:
        if K.shape[0] != K.shape[1]:
            raise DataError(
                f"Precomputed kernel matrix must be a square matrix: one row and one column for each "
                f"row of the training set, found shape {K.shape}."
            )
        asymmetry = np.abs(K - K.T)
        if asymmetry.max() > 1e-8 * max(1.0, np.abs(K).max()):
            i, j = np.unravel_index(int(np.argmax(asymmetry)), asymmetry.shape)
            raise DataError(
                f"The precomputed kernel is not symmetric: {K[i, j]} in row {i}, column {j}, but "
                f"{K[j, i]} in row {j}, column {i}. K(x, z) must be K(z, x)."
            )
    return Points(K, 0, True)


def kernel_matrix(X: Any, function: Kernel | CustomKernel) -> np.ndarray:
    """Return K of all rows with one another, exactly symmetric.

    Equal rows have equal kernel values, which matrix products might round differently.
    """
    if isinstance(function, Kernel) and not function.is_positive:
        raise RuleError(
            f"The kernel {function.name!r} with these parameters is no inner product, so there is no "
            "feature space to separate rows in. Choose another, such as 'rbf', or 'poly' with coef0 >= 0 "
            "and a whole degree."
        )
    points = make_points(X, function, square=True)
    n = len(points)
    if n > _MAX_ROWS:
        raise DataError(
            f"The kernel matrix of {n:,} rows would take {8e-9 * n * n:.0f} GB: certify {_MAX_ROWS:,} of them at most."
        )
    representatives = np.arange(n)
    if points.kind == "dense":
        distinct, representatives = np.unique(points.data, axis=0, return_inverse=True)
        points = Points(distinct, points.exact_columns)
    K = function.gram(points, np.arange(len(points)))
    K = (0.5 * (K + K.T))[np.ix_(representatives.reshape(-1), representatives.reshape(-1))]
    require_numbers(K, np.arange(n))
    return K


def require_numbers(kernels: np.ndarray, at: np.ndarray) -> None:
    """Raise a DataError unless kernel values, or sums of them, are finite; their row k is row at[k] of the user."""
    if np.isfinite(kernels).all():
        return
    row = at[int(np.argmin(np.isfinite(kernels).all(axis=1)))]
    raise DataError(
        f"The kernel is NaN or infinite at row {row}. A power of large numbers overflows: scale the "
        "columns (sklearn.preprocessing.MaxAbsScaler) or choose a smaller gamma or degree; a kernel of "
        "your own must give a finite number for every two rows."
    )
