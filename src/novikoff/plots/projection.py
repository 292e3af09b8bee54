"""Projection of rows with any number of features to points of the plane.

One or two features are drawn as they are. Rows with more features are projected orthogonally on the normal w of the
boundary, which preserves their distances from it, and on the direction of largest variance orthogonal to w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.plots.style import escape_dollars

__all__ = [
    "DISTANCE_LABEL",
    "MAX_ROWS",
    "ProjectedRows",
    "convex_hull",
    "project",
    "sample_row_indices",
    "validate_matrix",
]

MAX_ROWS = 5000  # drawn in a picture: more would only cover each other
DISTANCE_LABEL = r"distance from the boundary,  $(w \cdot x + b)\,/\,\Vert w \Vert$"
_MAX_STEPS = 300  # of the power method; if it has not converged by then, two directions have about equal variance


@dataclass(frozen=True, eq=False)
class ProjectedRows:
    """Rows as points of the plane.

    Attributes
    ----------
    coordinates : ndarray of shape (n, 2)
    axes : tuple of str
        The labels of the axes.
    normal, offset : ndarray of shape (2,), float
        The score <w, x> + b of a row that is drawn at p is <normal, p> + offset.
    n_features : int
    """

    coordinates: np.ndarray
    axes: tuple[str, str]
    normal: np.ndarray
    offset: float
    n_features: int


def validate_matrix(X: Any, feature_names: Any = None) -> tuple[Any, list[str]]:
    """Validate rows; return them as an array or a CSR array, and the names of their columns."""
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    rows = Rows.of(X, None if names is None else list(map(escape_dollars, names)))
    rows.require_numbers()
    names = [f"$x_{{{j + 1}}}$" for j in range(rows.n_features)] if rows.names is None else list(rows.names)
    if len(names) != rows.n_features:
        raise DataError(f"X has {rows.n_features} features, feature_names has {len(names)}.")
    if not rows.is_sparse:
        return rows.data, names
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(rows), rows.n_features)), names


def sample_row_indices(indices: np.ndarray, required: np.ndarray) -> np.ndarray:
    """Return the sorted indices of the rows to draw: at most MAX_ROWS of `indices`, at random, and all `required`."""
    if len(indices) > MAX_ROWS:
        indices = np.random.default_rng(0).choice(indices, MAX_ROWS, replace=False)
    return np.union1d(indices, required)


def project(
    X: Any, w: np.ndarray, intercept: float, names: list[str], w_axis_label: str = DISTANCE_LABEL
) -> ProjectedRows:
    """Project the rows X on the plane; their scores are <w, x> + intercept.

    `w_axis_label` is the label of the axis along w, if rows have more than two features.
    """
    n, d = X.shape
    if d <= 2:
        points = np.zeros((n, 2))
        points[:, :d] = X.toarray() if sp.issparse(X) else X
        axes = names[0], names[1] if d == 2 else ""
        return ProjectedRows(points, axes, np.append(w, np.zeros(2 - d)), intercept, d)
    length = float(np.linalg.norm(w))
    first = w / length if length else _principal_direction(X, w)
    points = np.column_stack([X @ first + (intercept / length if length else 0.0), X @ _principal_direction(X, first)])
    axes = w_axis_label if length else "direction of largest variance", "direction of largest remaining variance"
    return ProjectedRows(points, axes, np.array([length, 0.0]), 0.0, d)


def _principal_direction(X: Any, away_from: np.ndarray) -> np.ndarray:
    """Return the unit vector of largest variance orthogonal to `away_from`, which is a unit vector or zero.

    Return the zero vector if there is no variance in any remaining direction. This is the power method; the mean is
    subtracted from products, never from X, so that sparse rows stay sparse.
    """
    mean = np.asarray(X.mean(axis=0), float).ravel()
    v = np.random.default_rng(0).normal(size=X.shape[1])
    v -= (v @ away_from) * away_from
    v /= np.linalg.norm(v)
    for _ in range(_MAX_STEPS):
        scores = X @ v - mean @ v
        new = X.T @ scores - mean * scores.sum()
        new -= (new @ away_from) * away_from
        length = np.linalg.norm(new)
        if not length:
            return np.zeros_like(v)
        new /= length
        has_converged = np.linalg.norm(new - v) < 1e-9
        v = new
        if has_converged:
            break
    # v and -v have equal variance: choose the sign so that pictures do not flip between machines
    return v if (v**3).sum() >= 0.0 else -v


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, counter-clockwise (Andrew's monotone chain, 1979)."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    return np.array(_half_hull(ordered)[:-1] + _half_hull(ordered[::-1])[:-1])


def _half_hull(ordered: np.ndarray) -> list[np.ndarray]:
    """Return the lower chain of the hull of sorted points, or the upper one if they are sorted in reverse."""
    chain: list[np.ndarray] = []
    for p in ordered:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Return a number that is positive if a, b, c turn counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
