"""Picture: what a PlaneDisplay shows of a classifier or a certificate, composed before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.kernel_methods.kernels import Kernel
from novikoff.plots.curve import Curve
from novikoff.plots.plane_parts import Boundary, MarkedRows, WitnessHulls
from novikoff.plots.projection import ProjectedRows, project, sample_row_indices
from novikoff.plots.questions import describe_question, mean_row, note_sample, read_half_space
from novikoff.plots.style import escape_dollars, format_number
from novikoff.theory.certificates import Inseparable, KernelSeparable, Separable

__all__ = ["Picture", "compose_certificate", "compose_classifier"]

_MARGIN_LABEL = "$f(x)$ = \u00b1 margin $\\gamma$ = {}"

Sides = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Picture:
    """The parts of a picture of the plane; see the attributes of `PlaneDisplay`, which draws them."""

    points: ProjectedRows
    signs: np.ndarray
    names: Sides
    title: str
    note: str | None
    boundary: Boundary | None = None
    ringed: MarkedRows | None = None
    crossed: MarkedRows | None = None
    witness: WitnessHulls | None = None
    curve: Curve | None = None


# -- classifiers


def compose_classifier(clf: Any, X: Any, signs: np.ndarray, sides: Sides, names: list[str]) -> Picture:
    """Return the picture of a classifier: its boundary, the rows, and which of them it gets wrong.

    The boundary is a line for a classifier with `coef_`, and otherwise the curve on which `decision_function` is 0.
    """
    if not hasattr(clf, "coef_"):
        return _compose_curved_classifier(clf, X, signs, sides, names)
    w, intercept = read_half_space(clf.coef_, clf.intercept_, X.shape[1])
    scores = signs * (X @ w + intercept)
    wrong = np.flatnonzero(scores <= 0.0)
    nearest = wrong[:0] if len(wrong) else np.flatnonzero(scores <= scores.min() * (1.0 + 1e-9))
    rows = sample_row_indices(np.arange(len(signs)), nearest)
    points = project(X[rows], w, intercept, names)
    margin = None if len(wrong) else float(scores.min())
    return Picture(
        points,
        signs[rows],
        sides,
        _count_right(clf, signs, wrong),
        note_sample(len(rows), len(signs)),
        Boundary(points.normal, points.offset, r"$w \cdot x + b$", "$w$", margin, "no row is nearer"),
        ringed=MarkedRows(np.searchsorted(rows, nearest), "nearest row") if len(nearest) else None,
        crossed=_cross_rows(rows, wrong),
    )


def _compose_curved_classifier(clf: Any, X: Any, signs: np.ndarray, sides: Sides, names: list[str]) -> Picture:
    X = _require_two_features(X)
    scores = signs * np.asarray(clf.decision_function(X), float)
    wrong, support = np.flatnonzero(scores <= 0.0), _find_support(clf, X)
    rows = sample_row_indices(np.arange(len(signs)), support)
    return Picture(
        _project_plane(X[rows], names),
        signs[rows],
        sides,
        _count_right(clf, signs, wrong),
        note_sample(len(rows), len(signs)),
        ringed=MarkedRows(np.searchsorted(rows, support), "support row") if len(support) else None,
        crossed=_cross_rows(rows, wrong),
        curve=Curve(lambda at: np.asarray(clf.decision_function(at), float)),
    )


def _count_right(clf: Any, signs: np.ndarray, wrong: np.ndarray) -> str:
    return f"{type(clf).__name__}: {len(signs) - len(wrong):,} of {len(signs):,} rows on their side"


def _cross_rows(rows: np.ndarray, wrong: np.ndarray) -> MarkedRows | None:
    """Mark those of the drawn rows that are wrong."""
    drawn = np.flatnonzero(np.isin(rows, wrong))
    return MarkedRows(drawn, "not on its side") if len(drawn) else None


def _find_support(clf: Any, X: np.ndarray) -> np.ndarray:
    """Return the indices of the rows of X that are support vectors of the classifier."""
    kept = getattr(clf, "support_vectors_", None)
    if kept is None or getattr(kept, "shape", (0, 0))[1:] != (2,):
        return np.empty(0, np.int64)
    known = {tuple(row) for row in np.asarray(kept.toarray() if sp.issparse(kept) else kept, float).tolist()}
    return np.flatnonzero([tuple(row) in known for row in X.tolist()])


# -- certificates


def compose_certificate(certificate: Separable | Inseparable, X: Any, signs: np.ndarray, names: list[str]) -> Picture:
    """Return the picture of a certificate: the separator with its margin and support, or the rows of the witness."""
    if certificate.question.kernel is not None:
        return _compose_in_feature_space(certificate, X, signs, names)
    if isinstance(certificate, Separable):
        return _compose_separable(certificate, X, signs, names)
    return _compose_inseparable(certificate, X, signs, names)


def _compose_separable(certificate: Separable, X: Any, signs: np.ndarray, names: list[str]) -> Picture:
    signed_rows = np.flatnonzero(signs)
    rows = sample_row_indices(signed_rows, certificate.support)
    w, intercept = read_half_space(certificate.separator, certificate.intercept, X.shape[1])
    points = project(X[rows], w, intercept, names)
    equation = r"$w^* \cdot x + b$" if certificate.question.fit_intercept else r"$w^* \cdot x$"
    margin = rf"margin $\gamma$ = {format_number(certificate.margin)}"
    if certificate.question.fit_intercept and (length := float(np.linalg.norm(w))):
        # The width of the band does not count the bias, as the geometric margin of this boundary; gamma does.
        margin = f"nearest row {format_number(certificate.margin / length)} away ({margin})"
    question, sides = describe_question(certificate.question)
    return Picture(
        points,
        signs[rows],
        sides,
        f"{question}: separable",
        note_sample(len(rows), len(signed_rows)),
        Boundary(points.normal, points.offset, equation, "$w^*$", certificate.margin, margin),
        ringed=MarkedRows(np.searchsorted(rows, certificate.support), "support row"),
    )


def _compose_inseparable(certificate: Inseparable, X: Any, signs: np.ndarray, names: list[str]) -> Picture:
    signed_rows = np.flatnonzero(signs)
    rows = sample_row_indices(signed_rows, certificate.rows)
    drawn, drawn_signs, at = X[rows], signs[rows], np.searchsorted(rows, certificate.rows)
    if certificate.question.fit_intercept:
        toward = mean_row(drawn[drawn_signs > 0]) - mean_row(drawn[drawn_signs < 0])
        points = project(drawn, toward, 0.0, names, "along the difference of the class means")
        of_class = {sign: drawn_signs[at] == sign for sign in (1, -1)}
        # The multipliers of either class add up to half of all: a weighted mean of each, and both are the same.
        common = 2.0 * certificate.shares[of_class[1]] @ points.coordinates[at[of_class[1]]]
        witness = WitnessHulls({sign: at[of] for sign, of in of_class.items()}, common, "in both hulls")
    else:
        drawn = sp.diags_array(drawn_signs.astype(float)) @ drawn
        mirrored = [f"$y$ · {name}" for name in names]
        points = project(drawn, mean_row(drawn), 0.0, mirrored, "along the mean of $y$ · x")
        witness = WitnessHulls({0: at}, np.zeros(2), "0, in the hull of $y$ · x")
    question, sides = describe_question(certificate.question)
    return Picture(
        points,
        drawn_signs,
        sides,
        f"{question}: not separable",
        note_sample(len(rows), len(signed_rows)),
        ringed=MarkedRows(at, f"{len(at)} rows that prove it"),
        witness=witness,
    )


def _compose_in_feature_space(
    certificate: Separable | Inseparable, X: Any, signs: np.ndarray, names: list[str]
) -> Picture:
    X = _require_two_features(X)
    signed_rows = np.flatnonzero(signs)
    if isinstance(certificate, KernelSeparable):
        proof, verdict, mark = certificate.support, "separable", "support row"
        label = _MARGIN_LABEL.format(format_number(certificate.margin))
        curve = Curve(lambda at: certificate.scores(X, at), certificate.margin, label)
    else:
        assert isinstance(certificate, Inseparable)
        proof, verdict, mark = certificate.rows, "not separable", f"{len(certificate.rows)} rows that prove it"
        curve = None
    rows = sample_row_indices(signed_rows, proof)
    question, sides = describe_question(certificate.question)
    return Picture(
        _project_plane(X[rows], names),
        signs[rows],
        sides,
        f"{question}: {verdict} with K = {_formula(certificate.question.kernel)}",
        note_sample(len(rows), len(signed_rows)),
        ringed=MarkedRows(np.searchsorted(rows, proof), mark),
        curve=curve,
    )


def _formula(kernel: Any) -> str:
    """Return a kernel as a formula; a user's own function by its name."""
    if not isinstance(kernel, Kernel) or kernel.name in ("hamming", "precomputed"):
        return escape_dollars(kernel)
    text = str(kernel).replace("<x, z>", r"\langle x, z \rangle").replace("sum ", r"\sum ")
    for name in ("exp", "tanh"):
        text = text.replace(name, "\\" + name)
    return f"${text}$"


# -- the plane of two features


def _require_two_features(X: Any) -> np.ndarray:
    if X.shape[1] != 2:
        raise DataError(
            f"A curved boundary is drawn in the plane of two features, X has {X.shape[1]}. Choose two columns and "
            "fit again."
        )
    return np.asarray(X.toarray() if sp.issparse(X) else X, float)


def _project_plane(X: np.ndarray, names: list[str]) -> ProjectedRows:
    return project(X, np.zeros(2), 0.0, names)
