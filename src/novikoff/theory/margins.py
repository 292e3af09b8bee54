"""margin and margins: the distances of rows from a hyperplane, with exact signs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.inputs.labels import Labels, encode_labels
from novikoff.theory.exact import iterate_products, to_rational_vector
from novikoff.theory.questions import names_of
from novikoff.theory.separability import read_data
from novikoff.theory.signed_points import SignedPoints

__all__ = ["margin", "margins"]

_TINY = math.ulp(0.0)


def margins(w: Any, X: Any, y: Any, *, intercept: float | None = None) -> np.ndarray:
    """y <w, x> / |w| for every row: its distance from the hyperplane, negative on the wrong side.

    The sign of each is exact: positive, negative or 0 as y <w, x> is of these numbers as doubles, without rounding.
    Rows so near the hyperplane that rounding could change the sign are computed again in rational arithmetic. The
    distances themselves are rounded; one that is too small for a double is plus or minus the smallest there is.

    Parameters
    ----------
    w : array of shape (d,) or (1, d)
    X : array, sparse matrix or DataFrame of shape (n, d)
    y : array of shape (n,)
        Two labels, the larger one positive; or one that is positive unless it is a number <= 0.
    intercept : float, optional
        The bias, weight of a constant coordinate 1. It counts in |w|, as the constant counts in the radius.

    Examples
    --------
    >>> import novikoff as nk
    >>> nk.margins([3.0, 4.0], [[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]], [1, 1, -1])
    array([ 3.,  4., -7.])
    """
    rows, labels = read_data(X, y)
    weights = np.append(np.asarray(w, float).reshape(-1), 0.0 if intercept is None else np.asarray(intercept, float))
    if len(weights) != rows.n_features + 1:
        raise DataError(
            f"Expected {rows.n_features} weights, as X has columns, and one intercept; found {len(weights)} numbers."
        )
    if not np.isfinite(weights).all() or not weights.any():
        raise DataError("A hyperplane needs finite weights that are not all zero.")
    return _margins_with_exact_signs(SignedPoints(rows, _signs(labels), 0.0 if intercept is None else 1.0), weights)


def margin(w: Any, X: Any, y: Any, *, intercept: float | None = None) -> float:
    """Return the smallest of `margins`: positive if and only if w has every row on its side, in exact arithmetic.

    >>> import novikoff as nk
    >>> nk.margin([3.0, 4.0], [[5.0, 0.0], [0.0, 5.0], [-5.0, -5.0]], [1, 1, -1])
    3.0
    """
    return float(margins(w, X, y, intercept=intercept).min())


def _margins_with_exact_signs(points: SignedPoints, weights: np.ndarray) -> np.ndarray:
    """<w, z> / |w| for all points, each with the sign that it has in exact arithmetic."""
    exponent = math.frexp(np.abs(weights).max())[1]
    w = np.ldexp(
        weights, -exponent
    )  # so that squares neither overflow nor underflow; scaling by a power of two rounds nothing else
    length = float(np.linalg.norm(w))
    distances = points.margins(w)
    doubtful = np.flatnonzero(np.abs(distances) <= points.rounding(w))
    distances /= length
    scale = Fraction(2) ** exponent
    for row, product in zip(
        doubtful.tolist(), iterate_products(points, doubtful, to_rational_vector(weights)), strict=True
    ):
        distance = float(Fraction(int(product.p), int(product.q)) / scale) / length
        distances[row] = distance or math.copysign(_TINY, product.p) if product else 0.0
    return distances


def _signs(labels: np.ndarray) -> np.ndarray:
    classes, codes = encode_labels(labels)
    names = names_of(classes)
    if len(classes) > 2:
        raise DataError(
            f"Margins need two labels, found {len(classes)}: {names!r}. Compare one with the rest: y == label."
        )
    if len(classes) == 1:
        return np.full(len(labels), 2 * Labels(names).codes[names[0]] - 1)
    return 2 * codes - 1
