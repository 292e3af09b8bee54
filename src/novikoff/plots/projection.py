"""From rows with any number of features to points of a picture.

One or two features are drawn as they are. More are projected orthogonally on the normal w of the boundary, where
distance from the boundary is kept, and on the direction of largest variance among those orthogonal to w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.plots.style import literal

__all__ = ["DISTANCE", "LIMIT", "Points", "convex_hull", "matrix", "project", "sample"]

LIMIT = 5000  # rows in a picture: more would only be ink
DISTANCE = r"distance from the boundary,  $(w \cdot x + b)\,/\,\Vert w \Vert$"
_STEPS = 300  # of the power method, where it has not settled by then two directions are about as good


@dataclass(frozen=True, eq=False)
class Points:
    """Rows in a picture.

    Attributes
    ----------
    at : ndarray of shape (n, 2)
    axes : tuple of str
        What the axes show.
    normal, offset : ndarray of shape (2,), float
        The score <w, x> + b of a row that is drawn at p is <normal, p> + offset.
    n_features : int
    """

    at: np.ndarray
    axes: tuple[str, str]
    normal: np.ndarray
    offset: float
    n_features: int


def matrix(X: Any, feature_names: Any = None) -> tuple[Any, list[str]]:
    """Valid rows as an array or a CSR array, and the names of their columns."""
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    rows = Rows.of(X, None if names is None else list(map(literal, names)))
    rows.require_numbers()
    names = [f"$x_{{{j + 1}}}$" for j in range(rows.n_features)] if rows.names is None else list(rows.names)
    if len(names) != rows.n_features:
        raise DataError(f"X has {rows.n_features} features, feature_names has {len(names)}.")
    if not rows.is_sparse:
        return rows.data, names
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(rows), rows.n_features)), names


def sample(asked: np.ndarray, always: np.ndarray) -> np.ndarray:
    """Which of the rows asked about to draw: all, or a random LIMIT of them and those that must not be missing."""
    if len(asked) > LIMIT:
        asked = np.random.default_rng(0).choice(asked, LIMIT, replace=False)
    return np.union1d(asked, always)


def project(X: Any, w: np.ndarray, intercept: float, names: list[str], along: str = DISTANCE) -> Points:
    """Points of a picture for rows X and the score <w, x> + intercept; `along` says what w is if it is projected on."""
    n, d = X.shape
    if d <= 2:
        at = np.zeros((n, 2))
        at[:, :d] = X.toarray() if sp.issparse(X) else X
        return Points(at, (names[0], names[1] if d == 2 else ""), np.append(w, np.zeros(2 - d)), intercept, d)
    length = float(np.linalg.norm(w))
    first = w / length if length else _leading(X, w)
    at = np.column_stack([X @ first + (intercept / length if length else 0.0), X @ _leading(X, first)])
    labels = along if length else "direction of largest variance", "direction of largest remaining variance"
    return Points(at, labels, np.array([length, 0.0]), 0.0, d)


def _leading(X: Any, away_from: np.ndarray) -> np.ndarray:
    """The unit direction of largest variance orthogonal to a unit vector, by the power method; 0 if all rows agree.

    The mean is subtracted from products, never from X, so that sparse rows stay sparse.
    """
    mean = np.asarray(X.mean(axis=0), float).ravel()
    v = np.random.default_rng(0).normal(size=X.shape[1])
    v -= (v @ away_from) * away_from
    v /= np.linalg.norm(v)
    for _ in range(_STEPS):
        scores = X @ v - mean @ v
        new = X.T @ scores - mean * scores.sum()
        new -= (new @ away_from) * away_from
        length = np.linalg.norm(new)
        if not length:
            return np.zeros_like(v)
        new /= length
        settled = np.linalg.norm(new - v) < 1e-9
        v = new
        if settled:
            break
    # v and -v are equally good: the larger weights positive, so that pictures do not flip between machines
    return v if (v**3).sum() >= 0.0 else -v


def convex_hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull, counter-clockwise (Andrew's monotone chain, 1979)."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    return np.array(_half(ordered)[:-1] + _half(ordered[::-1])[:-1])


def _half(ordered: np.ndarray) -> list[np.ndarray]:
    chain: list[np.ndarray] = []
    for p in ordered:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
