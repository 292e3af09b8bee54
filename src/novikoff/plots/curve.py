"""Boundaries that bend: where a function of the plane is 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.kernel_methods.kernels import Potential
from novikoff.plots.plane_parts import Marked, Window
from novikoff.plots.projection import Points, project, sample
from novikoff.plots.style import BLACK, BLUE, GREY, ORANGE, literal, number
from novikoff.plots.subjects import note_on
from novikoff.theory.certificates import Certificate, KernelSeparable

__all__ = ["Bent", "Curve", "bent_certificate", "bent_estimator"]

_FINE = 400  # points of a grid across the window
_BEYOND = 0.35  # windows on each side: axes of one scale may show more than was asked for
_AT_ONCE = 20_000  # points scored at a time
_EDGE = "$f(x)$ = \u00b1 margin $\\gamma$ = {}"


@dataclass(frozen=True)
class Curve:
    """The curve f = 0 between two shaded regions, perhaps with a band around it.

    Attributes
    ----------
    score : callable
        f of points in the plane, (n, 2) -> (n,).
    margin, margin_label : float or None, str
        How large f is on the edges of the band.
    """

    score: Callable[[np.ndarray], np.ndarray]
    margin: float | None = None
    margin_label: str = ""

    def draw(self, ax: Any, window: Window) -> dict[str, Any]:
        """Draw regions, curve and band; what is in the legend are lines that look like them."""
        low, high = window.low - _BEYOND * window.size, window.high + _BEYOND * window.size
        across, up = (np.linspace(*ends, _FINE) for ends in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(across, up), axis=-1)
        cells = grid.reshape(-1, 2)
        parts = [self.score(cells[start : start + _AT_ONCE]) for start in range(0, len(cells), _AT_ONCE)]
        f = np.concatenate(parts).reshape(grid.shape[:2])
        largest = max(float(np.abs(f).max()), 1e-300) * 2.0
        regions = ax.contourf(across, up, f, [-largest, 0.0, largest], colors=[ORANGE, BLUE], alpha=0.13, zorder=0)
        line = band = None
        if f.min() < 0.0 < f.max():
            line = ax.contour(across, up, f, [0.0], colors=[BLACK], linewidths=1.6, zorder=2)
            ax.plot([], [], color=BLACK, lw=1.6, label="$f(x)$ = 0")
        if self.margin is not None:
            band = ax.contour(
                across,
                up,
                f,
                [-self.margin, self.margin],
                colors=[GREY],
                linewidths=1.0,
                linestyles=[(0, (4, 3))],
                zorder=2,
            )
            ax.plot([], [], color=GREY, lw=1.0, ls=(0, (4, 3)), label=self.margin_label)
        return {"regions_": regions, "boundary_": line, "band_": band}


@dataclass(frozen=True)
class Bent:
    """What a picture with a curve is made of."""

    points: Points
    signs: np.ndarray
    title: str
    note: str | None
    curve: Curve | None = None
    ringed: Marked | None = None
    crossed: Marked | None = None


def bent_estimator(clf: Any, X: Any, signs: np.ndarray, names: list[str]) -> Bent:
    """The boundary of any classifier that has a `decision_function`, or the score of its second class."""
    X = _in_the_plane(X)
    scores = signs * np.asarray(clf.decision_function(X), float)
    wrong, support = np.flatnonzero(scores <= 0.0), _support(clf, X)
    rows = sample(np.arange(len(signs)), support)
    seen = np.flatnonzero(np.isin(rows, wrong))
    title = f"{type(clf).__name__}: {len(signs) - len(wrong):,} of {len(signs):,} rows on their side"
    return Bent(
        _points(X[rows], names),
        signs[rows],
        title,
        note_on(len(rows), len(signs)),
        Curve(lambda at: np.asarray(clf.decision_function(at), float)),
        Marked(np.searchsorted(rows, support), "support row") if len(support) else None,
        Marked(seen, "not on its side") if len(seen) else None,
    )


def bent_certificate(found: Certificate, told: str, X: Any, signs: np.ndarray, names: list[str]) -> Bent:
    """The separator of a certificate in feature space with its margin, or the rows that allow none."""
    X = _in_the_plane(X)
    asked = np.flatnonzero(signs)
    kernel = _formula(found.question.kernel)
    if isinstance(found, KernelSeparable):
        rows = sample(asked, found.support)
        curve = Curve(lambda at: found.scores(X, at), found.margin, _EDGE.format(number(found.margin)))
        return Bent(
            _points(X[rows], names),
            signs[rows],
            f"{told}: separable with K = {kernel}",
            note_on(len(rows), len(asked)),
            curve,
            Marked(np.searchsorted(rows, found.support), "support row"),
        )
    proof: Any = found
    rows = sample(asked, proof.rows)
    at = np.searchsorted(rows, proof.rows)
    return Bent(
        _points(X[rows], names),
        signs[rows],
        f"{told}: not separable with K = {kernel}",
        note_on(len(rows), len(asked)),
        None,
        Marked(at, f"{len(at)} rows that prove it"),
    )


def _formula(kernel: Any) -> str:
    """A kernel as a textbook prints it; a function of the user's by its name."""
    if not isinstance(kernel, Potential) or kernel.name in ("hamming", "precomputed"):
        return literal(kernel)
    text = str(kernel).replace("<x, z>", r"\langle x, z \rangle").replace("sum ", r"\sum ")
    for name in ("exp", "tanh"):
        text = text.replace(name, "\\" + name)
    return f"${text}$"


def _in_the_plane(X: Any) -> np.ndarray:
    if X.shape[1] != 2:
        raise DataError(
            f"A boundary that bends is drawn in the plane of two features, X has {X.shape[1]}. Choose two "
            "columns and fit again."
        )
    return np.asarray(X.toarray() if sp.issparse(X) else X, float)


def _points(X: np.ndarray, names: list[str]) -> Points:
    return project(X, np.zeros(2), 0.0, names)


def _support(clf: Any, X: np.ndarray) -> np.ndarray:
    """The rows of X that the classifier has kept."""
    kept = getattr(clf, "support_vectors_", None)
    if kept is None or getattr(kept, "shape", (0, 0))[1:] != (2,):
        return np.empty(0, np.int64)
    known = {tuple(row) for row in np.asarray(kept.toarray() if sp.issparse(kept) else kept, float).tolist()}
    return np.flatnonzero([tuple(row) in known for row in X.tolist()])
