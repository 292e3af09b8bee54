"""Geometric margins: how far rows are from a hyperplane, on their own side of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.labels import Labels, encode
from novikoff.theory.points import Points, unit
from novikoff.theory.separability import names_of, read_data

__all__ = ["margin", "margins"]


def margins(w: Any, X: Any, y: Any, *, intercept: float | None = None) -> np.ndarray:
    """y <w, x> / |w| for every row: its distance from the hyperplane, negative on the wrong side.

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
        raise DataError(f"Expected {rows.n_features} weights, as X has columns, and one intercept; "
                        f"found {len(weights)} numbers.")  # fmt: skip
    if not np.isfinite(weights).all() or not weights.any():
        raise DataError("A hyperplane needs finite weights that are not all zero.")
    points = Points(rows, _signs(labels), 0.0 if intercept is None else 1.0)
    return points.margins(unit(weights))


def margin(w: Any, X: Any, y: Any, *, intercept: float | None = None) -> float:
    """The smallest of `margins`: positive iff w has every row on its side.

    >>> import novikoff as nk
    >>> nk.margin([3.0, 4.0], [[5.0, 0.0], [0.0, 5.0], [-5.0, -5.0]], [1, 1, -1])
    3.0
    """
    return float(margins(w, X, y, intercept=intercept).min())


def _signs(labels: np.ndarray) -> np.ndarray:
    classes, codes = encode(labels)
    names = names_of(classes)
    if len(classes) > 2:
        raise DataError(f"Margins need two labels, found {len(classes)}: {names!r}. "
                        "Compare one with the rest: y == label.")  # fmt: skip
    if len(classes) == 1:
        return np.full(len(labels), 2 * Labels(names).codes[names[0]] - 1)
    return 2 * codes - 1
