"""Data as the checkers of certificates take them: rows of numbers, or inner products in a feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import CertificateError, DataError
from novikoff.inputs.sparse import to_checked_csr
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.kernel_methods.matrices import kernel_matrix
from novikoff.theory.checkers.kernel_values import GivenMatrix, InnerProducts, kernel_by_name
from novikoff.theory.checkers.rows import canonicalize_rows
from novikoff.theory.exact_inputs import require_doubles

__all__ = ["inner_products_for_checking", "read_for_checking"]


def read_for_checking(X: Any) -> np.ndarray | sp.csr_array:
    """Read rows for the checkers; a DataError if the arrays of a sparse matrix do not fit together, if an entry is no
    number, or if rounding to doubles would change it; a CertificateError if one is NaN or infinite.

    This is the only step that checkers share with other readers: the arrays of any sparse matrix, checked, as those of
    a CSR matrix with the same entries in the same order. Which numbers these are, the checkers find out themselves.
    """
    matrix = to_checked_csr(X).matrix if sp.issparse(X) else _to_array(X)
    require_doubles(X)
    rows = canonicalize_rows(matrix)
    if rows.dtype.kind not in "biuf":
        rows = _to_floats(rows)
    if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
        raise CertificateError("X contains NaN or infinity: a certificate is about finite numbers.")
    return rows


def _to_array(X: Any) -> np.ndarray:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(f"Expected rows of numbers, all of the same length: {error}.") from error


def _to_floats(rows: Any) -> Any:
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"Expected numbers, found dtype {rows.dtype}: {error}.") from error


def inner_products_for_checking(X: Any, function: Kernel | CustomKernel) -> InnerProducts:
    """Return kernel values: of a named kernel as the checkers compute them, of a user's function as it returns them."""
    if isinstance(function, CustomKernel):
        return GivenMatrix(kernel_matrix(X, function))
    return kernel_by_name(X, function.name, function.degree, function.gamma, function.coef0, function.constant)
