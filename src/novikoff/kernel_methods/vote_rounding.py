"""What keeps rounding from voting: equal rows, how far rounding may take a score, and kernels in twice the precision.

See _compiled/loops/dual_voting.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import dual_voting
from novikoff.inputs.arrays import row_lengths, whole_rows
from novikoff.kernel_methods.points import Points

__all__ = ["kernels_in_twice", "reach", "reach_in_twice", "twins"]

_UNIT = 2.0**-53
_WHOLE = 2.0**53  # doubles hold every whole number up to this

Polynomial = tuple[int, float, float, float]  # degree, gamma, coef0, constant


def twins(points: Points) -> np.ndarray:
    """For each row the place of the first that is equal to it; rows of a kernel matrix and objects have none."""
    places = np.arange(len(points))
    if points.is_kernel or points.kind == "objects":
        return places
    data = points.doubled().data
    first: dict[Any, int] = {}
    if sp.issparse(data):
        bounds = zip(data.indptr[:-1].tolist(), data.indptr[1:].tolist(), strict=True)
        rows = ((data.indices[lo:hi].tobytes(), (data.data[lo:hi] + 0.0).tobytes()) for lo, hi in bounds)
    else:
        rows = (row.tobytes() for row in data + 0.0)  # no -0.0, which is equal but other bytes
    return np.array([first.setdefault(row, place) for place, row in enumerate(rows)], np.int64)


def reach(polynomial: Polynomial, kept: Points, rows: Points, n_updates: int) -> tuple[np.ndarray, np.ndarray]:
    """For each kept row its length in feature space, and for each query what times a sum of lengths is within rounding
    of 0, in double precision; nothing is if all kernels are whole numbers that doubles hold."""
    degree, *factors = polynomial
    lengths, length = _lengths(polynomial, kept), _lengths(polynomial, rows)
    terms = n_updates + (rows.data.shape[1] + 6) * max(1, degree)
    found = 4.0 * _UNIT * terms * length
    if all(float(factor).is_integer() for factor in factors) and whole_rows(kept.data).all():
        found[whole_rows(rows.data) & (max(1, n_updates) * lengths.max() * length < _WHOLE)] = 0.0
    return lengths, found


def reach_in_twice(reach: np.ndarray, n_updates: int) -> np.ndarray:
    """What a reach in double precision is in twice the precision."""
    return reach * (4.0 * _UNIT * (n_updates + 64))


def kernels_in_twice(polynomial: Polynomial, kept: Points, rows: Points) -> tuple[np.ndarray, np.ndarray]:
    """K(x, z) for kept rows and queries as a sum of two arrays."""
    degree, gamma, coef0, constant = polynomial
    stored, queries = kept.doubled().data, rows.doubled().data
    arrays = (stored.data, stored.indices, stored.indptr) if sp.issparse(stored) else (stored, None, None)
    high, low = np.empty((2, len(kept), len(rows)))
    width = max(stored.shape[1], queries.shape[1])
    for q in range(len(rows)):
        query = np.zeros(width)
        query[: queries.shape[1]] = queries[[q]].toarray()[0] if sp.issparse(queries) else queries[q]
        query = query if sp.issparse(stored) else query[: stored.shape[1]]
        dual_voting.polynomials_twice(*arrays, query, gamma, coef0, degree, constant, q, high, low)
    return high, low


def _lengths(polynomial: Polynomial, points: Points) -> np.ndarray:
    """At least the root of K(x, x), with the sizes of all factors."""
    degree, gamma, coef0, constant = polynomial
    squares = row_lengths(points.doubled().data)[0] ** 2
    return np.sqrt((abs(gamma) * squares + abs(coef0)) ** degree + abs(constant))
