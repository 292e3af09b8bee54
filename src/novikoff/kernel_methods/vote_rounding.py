"""Bounds on the rounding of votes, and kernel values in double-double precision.

See _compiled/loops/dual_voting.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import dual_voting
from novikoff.inputs.arrays import bound_row_norms, integer_rows
from novikoff.kernel_methods.points import Points

__all__ = ["double_double_bounds", "double_double_kernels", "first_equal_rows", "rounding_bounds"]

_UNIT = 2.0**-53
_EXACT_INTEGERS = 2.0**53  # doubles represent every integer up to this

Polynomial = tuple[int, float, float, float]  # degree, gamma, coef0, constant


def first_equal_rows(points: Points) -> np.ndarray:
    """Return for each row the index of the first equal row; its own for rows of a kernel matrix and for objects."""
    own = np.arange(len(points))
    if points.is_kernel or points.kind == "objects":
        return own
    data = points.as_float64().data
    first: dict[Any, int] = {}
    if sp.issparse(data):
        bounds = zip(data.indptr[:-1].tolist(), data.indptr[1:].tolist(), strict=True)
        rows = ((data.indices[lo:hi].tobytes(), (data.data[lo:hi] + 0.0).tobytes()) for lo, hi in bounds)
    else:
        rows = (row.tobytes() for row in data + 0.0)  # without -0.0, which is equal to 0.0 but has other bytes
    return np.array([first.setdefault(row, index) for index, row in enumerate(rows)], np.int64)


def rounding_bounds(
    polynomial: Polynomial, support: Points, rows: Points, n_updates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each kept row its norm in feature space, and for each query a factor.

    In double precision, rounding may change a score by the factor times the sum of the norms of its rows. The factor is
    0 if all kernel values are integers that doubles represent exactly.
    """
    degree, *factors = polynomial
    norms, query_norms = _feature_norms(polynomial, support), _feature_norms(polynomial, rows)
    terms = n_updates + (rows.data.shape[1] + 6) * max(1, degree)
    bounds = 4.0 * _UNIT * terms * query_norms
    if all(float(factor).is_integer() for factor in factors) and integer_rows(support.data).all():
        largest = max(1, n_updates) * norms.max() * query_norms
        bounds[integer_rows(rows.data) & (largest < _EXACT_INTEGERS)] = 0.0
    return norms, bounds


def double_double_bounds(bounds: np.ndarray, n_updates: int) -> np.ndarray:
    """Return the bounds in double-double precision for bounds in double precision."""
    return bounds * (4.0 * _UNIT * (n_updates + 64))


def double_double_kernels(polynomial: Polynomial, support: Points, rows: Points) -> tuple[np.ndarray, np.ndarray]:
    """Return K(x, z) for kept rows and queries as the sum of two arrays, high and low."""
    degree, gamma, coef0, constant = polynomial
    stored, queries = support.as_float64().data, rows.as_float64().data
    arrays = (stored.data, stored.indices, stored.indptr) if sp.issparse(stored) else (stored, None, None)
    high, low = np.empty((2, len(support), len(rows)))
    width = max(stored.shape[1], queries.shape[1])
    for q in range(len(rows)):
        query = np.zeros(width)
        query[: queries.shape[1]] = queries[[q]].toarray()[0] if sp.issparse(queries) else queries[q]
        query = query if sp.issparse(stored) else query[: stored.shape[1]]
        dual_voting.fill_precise_polynomials(*arrays, query, gamma, coef0, degree, constant, q, high, low)
    return high, low


def _feature_norms(polynomial: Polynomial, points: Points) -> np.ndarray:
    """Return an upper bound on the root of K(x, x), with the absolute values of all factors."""
    degree, gamma, coef0, constant = polynomial
    squares = bound_row_norms(points.as_float64().data)[0] ** 2
    return np.sqrt((abs(gamma) * squares + abs(coef0)) ** degree + abs(constant))
