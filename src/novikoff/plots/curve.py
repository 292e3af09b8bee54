"""Curved boundaries: the curve in the plane on which a function is 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.kernel_methods.kernels import Kernel
from novikoff.plots.plane_parts import MarkedRows, Window
from novikoff.plots.projection import ProjectedRows, project, sample_row_indices
from novikoff.plots.questions import note_sample
from novikoff.plots.style import BLACK, BLUE, GREY, ORANGE, escape_dollars, format_number
from novikoff.theory.certificates import Certificate, KernelSeparable

__all__ = ["Curve", "CurvedPicture", "compose_certificate_picture", "compose_estimator_picture"]

_GRID_POINTS = 400  # across the window
_OVERHANG = 0.35  # of the window, on each side: axes of equal scale may show more than the window
_CHUNK = 20_000  # points scored at a time
_MARGIN_LABEL = "$f(x)$ = \u00b1 margin $\\gamma$ = {}"


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
        """Draw regions, curve and band; the legend gets empty lines of the same style, as contours have no label."""
        low, high = window.low - _OVERHANG * window.size, window.high + _OVERHANG * window.size
        across, up = (np.linspace(*ends, _GRID_POINTS) for ends in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(across, up), axis=-1)
        cells = grid.reshape(-1, 2)
        parts = [self.score(cells[start : start + _CHUNK]) for start in range(0, len(cells), _CHUNK)]
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
class CurvedPicture:
    """The parts of a picture with a curved boundary."""

    points: ProjectedRows
    signs: np.ndarray
    title: str
    note: str | None
    curve: Curve | None = None
    ringed: MarkedRows | None = None
    crossed: MarkedRows | None = None


def compose_estimator_picture(clf: Any, X: Any, signs: np.ndarray, names: list[str]) -> CurvedPicture:
    """Return the picture of any classifier that has a `decision_function`: its boundary, rows, and rows that it gets
    wrong."""
    X = _require_two_features(X)
    scores = signs * np.asarray(clf.decision_function(X), float)
    wrong, support = np.flatnonzero(scores <= 0.0), _find_support(clf, X)
    rows = sample_row_indices(np.arange(len(signs)), support)
    wrong_drawn = np.flatnonzero(np.isin(rows, wrong))
    title = f"{type(clf).__name__}: {len(signs) - len(wrong):,} of {len(signs):,} rows on their side"
    return CurvedPicture(
        _project_plane(X[rows], names),
        signs[rows],
        title,
        note_sample(len(rows), len(signs)),
        Curve(lambda at: np.asarray(clf.decision_function(at), float)),
        MarkedRows(np.searchsorted(rows, support), "support row") if len(support) else None,
        MarkedRows(wrong_drawn, "not on its side") if len(wrong_drawn) else None,
    )


def compose_certificate_picture(
    certificate: Certificate, question: str, X: Any, signs: np.ndarray, names: list[str]
) -> CurvedPicture:
    """Return the picture of a certificate in feature space: the separator with its margin, or the rows of the
    witness."""
    X = _require_two_features(X)
    signed_rows = np.flatnonzero(signs)
    kernel = _formula(certificate.question.kernel)
    if isinstance(certificate, KernelSeparable):
        rows = sample_row_indices(signed_rows, certificate.support)
        curve = Curve(
            lambda at: certificate.scores(X, at),
            certificate.margin,
            _MARGIN_LABEL.format(format_number(certificate.margin)),
        )
        return CurvedPicture(
            _project_plane(X[rows], names),
            signs[rows],
            f"{question}: separable with K = {kernel}",
            note_sample(len(rows), len(signed_rows)),
            curve,
            MarkedRows(np.searchsorted(rows, certificate.support), "support row"),
        )
    proof: Any = certificate
    rows = sample_row_indices(signed_rows, proof.rows)
    at = np.searchsorted(rows, proof.rows)
    return CurvedPicture(
        _project_plane(X[rows], names),
        signs[rows],
        f"{question}: not separable with K = {kernel}",
        note_sample(len(rows), len(signed_rows)),
        None,
        MarkedRows(at, f"{len(at)} rows that prove it"),
    )


def _formula(kernel: Any) -> str:
    """Return a kernel as a formula; a user's own function by its name."""
    if not isinstance(kernel, Kernel) or kernel.name in ("hamming", "precomputed"):
        return escape_dollars(kernel)
    text = str(kernel).replace("<x, z>", r"\langle x, z \rangle").replace("sum ", r"\sum ")
    for name in ("exp", "tanh"):
        text = text.replace(name, "\\" + name)
    return f"${text}$"


def _require_two_features(X: Any) -> np.ndarray:
    if X.shape[1] != 2:
        raise DataError(
            f"A curved boundary is drawn in the plane of two features, X has {X.shape[1]}. Choose two columns and "
            "fit again."
        )
    return np.asarray(X.toarray() if sp.issparse(X) else X, float)


def _project_plane(X: np.ndarray, names: list[str]) -> ProjectedRows:
    return project(X, np.zeros(2), 0.0, names)


def _find_support(clf: Any, X: np.ndarray) -> np.ndarray:
    """Return the indices of the rows of X that are support vectors of the classifier."""
    kept = getattr(clf, "support_vectors_", None)
    if kept is None or getattr(kept, "shape", (0, 0))[1:] != (2,):
        return np.empty(0, np.int64)
    known = {tuple(row) for row in np.asarray(kept.toarray() if sp.issparse(kept) else kept, float).tolist()}
    return np.flatnonzero([tuple(row) in known for row in X.tolist()])
