"""geometric_margin: the distance of the best hyperplane from two classes, its bias free, as an SVM reports it.

Novikoff's margin counts the bias as a weight, and the constant 1 as a coordinate of every row. The geometric margin
does not: it is half the distance between the hulls of the two classes. With a constant coordinate C instead of 1,
Novikoff's margin tends to it as C grows; so the search takes a large C, and then solves for the rows that it found with
C infinite. What it finds is proved on the rows as they were given, in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import fmpq

from novikoff.errors import CertificateError, DataError
from novikoff.inputs.rows import Rows
from novikoff.theory import exact, hull
from novikoff.theory.certificates import Certificate, Inseparable, Separable
from novikoff.theory.checkers.fields import require_array, require_numbers, require_row_indices
from novikoff.theory.checkers.geometric_margin import check_geometric_separator, check_geometric_support
from novikoff.theory.questions import Question
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.separability import certify, read_data
from novikoff.theory.signed_points import SignedPoints

__all__ = ["GeometricMargin", "find_geometric_margin", "geometric_margin"]

_FAR = 10  # binary orders of magnitude by which the constant coordinate exceeds the longest row
_MOST_SUPPORT = 1000  # rows: up to here the equations for an infinite constant are solved


@dataclass(frozen=True, eq=False, repr=False)
class GeometricMargin(Certificate):
    """The largest distance of a hyperplane from two classes, each on its own side, with a proof of both bounds.

    The bias is free: it does not count in |w|. This is the margin of a support vector machine, never smaller than
    Novikoff's for the same data, and half the distance between the hulls of the classes.

    Attributes
    ----------
    separator, intercept : ndarray, float
        A hyperplane: y (<w, x> + b) >= margin_lower |w| for every row.
    margin_lower, margin_upper : float
        What is proved of the largest geometric margin: the hyperplane attains `margin_lower` (a Fraction if no double
        is small enough), and no hyperplane attains more than `margin_upper`.
    support, multipliers : ndarray
        Rows of both classes, with weights >= 0: the means of the two classes, weighted so, are at most
        2 margin_upper apart.
    """

    question: Question
    separator: np.ndarray
    intercept: float
    margin_lower: float | Fraction
    margin_upper: float
    support: np.ndarray
    multipliers: np.ndarray
    n_rows: int
    n_features: int

    def __bool__(self) -> bool:
        return True

    @property
    def margin(self) -> float:
        """The proved part of it: what the hyperplane attains."""
        return float(self.margin_lower)

    def _check_types(self) -> None:
        require_array(separator=self.separator, multipliers=self.multipliers)
        require_row_indices(support=self.support)
        require_numbers(intercept=self.intercept, margin_lower=self.margin_lower, margin_upper=self.margin_upper)

    def _check(self, X: Any, signs: np.ndarray) -> None:
        if not self.question.fit_intercept:
            raise CertificateError("A geometric margin is about hyperplanes with a free bias.")
        check_geometric_support(X, signs, self.support, self.multipliers, self.margin_upper)
        check_geometric_separator(X, signs, self.separator, self.intercept, self.margin_lower)

    def _lines(self) -> list[tuple[str, str]]:
        most = f"no hyperplane is farther than {self.margin_upper:.6g} from every row"
        return [
            ("geometric margin", f"{self.margin:.6g}   ({most}, its bias free)"),
            ("support", f"{len(self.support)} rows"),
        ]


def geometric_margin(
    X: Any, y: Any, *, positive: Any = None, tol: float = 1e-9, time_limit: float | None = None
) -> GeometricMargin | Inseparable:
    """Return the largest distance of a hyperplane from two classes, as an SVM reports it, with its proof.

    The hyperplane's bias is free, where Novikoff's margin (`certify`) counts it as one more weight. The mistake bound
    is about Novikoff's.

    Parameters
    ----------
    X, y, positive, tol, time_limit
        As for `certify`. y needs two labels, or `positive`.

    Returns
    -------
    GeometricMargin, or Inseparable if there is no such hyperplane.

    Examples
    --------
    >>> import novikoff as nk
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1]
    >>> round(nk.geometric_margin(X, y).margin, 9), round(nk.certify(X, y).margin, 9)
    (1.0, 0.707106781)
    """
    verdict = certify(X, y, positive=positive, tol=tol, time_limit=time_limit)
    if isinstance(verdict, Inseparable):
        return verdict
    if not isinstance(verdict, Separable):
        raise DataError("A geometric margin is about two labels. Pass positive=label to set one against the rest.")
    rows, labels = read_data(X, y)
    return find_geometric_margin(rows, verdict.question.signs(labels), verdict, tol, SearchClock(time_limit))


def find_geometric_margin(
    rows: Rows, signs: np.ndarray, known: Separable, tol: float, clock: SearchClock
) -> GeometricMargin:
    """Return the geometric margin of rows that a certificate, with an intercept, says are separable."""
    signed_rows = np.flatnonzero(signs)
    if len(np.unique(signs[signed_rows])) < 2:
        raise DataError("All rows have one label: a hyperplane can be as far from them as you like.")
    chosen = Rows.of(rows.take(signed_rows))
    chosen.require_numbers()
    points = SignedPoints(chosen, signs[signed_rows], 1.0)
    corral = hull.search(_with_large_constant(points), tol, clock)
    at, shares = _require_both_classes(points, corral.rows, corral.weights, known, signed_rows)
    u, polished = _solve_for_support(points, at, shares)
    directions = [u, corral.best[:-2], np.asarray(known.separator, float)]
    lower, w = max(
        (_prove_direction(points, direction) for direction in directions if direction.any()), key=lambda proof: proof[0]
    )
    upper, weights = min(
        ((_upper_bound(points, at, shares), shares) for shares in (shares, polished)), key=lambda p: p[0]
    )
    kept = np.flatnonzero(weights)
    question = replace(known.question, n_asked=len(signed_rows))
    support = signed_rows[at[kept]]
    order = np.argsort(support)
    size = known.n_rows, known.n_features
    return GeometricMargin(question, w[:-1], float(w[-1]), lower, upper, support[order], weights[kept][order], *size)


def _with_large_constant(points: SignedPoints) -> SignedPoints:
    """Return the points with a constant coordinate far larger than their rows, which are moved to have mean 0 if they
    are dense: in doubles, which will do for a search."""
    x: Any = points.rows.take(np.arange(len(points)))
    if not sp.issparse(x):
        x = x - x.mean(axis=0)
    lengths = np.sqrt(np.asarray((x * x).sum(axis=1)).ravel())
    C = float(np.ldexp(1.0, int(np.frexp(lengths.max())[1]) + _FAR))
    last = np.full((len(points), 1), C)
    lifted = Rows.of(sp.csr_array(sp.hstack([x, sp.csr_array(last)])) if sp.issparse(x) else np.hstack([x, last]))
    lifted.require_numbers()
    return SignedPoints(lifted, points.signs, 0.0)


def _require_both_classes(
    points: SignedPoints, rows: np.ndarray, weights: np.ndarray, known: Separable, signed_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of both classes and their weights: those found, or the first row of each class."""
    if len(rows) and len(np.unique(points.signs[rows])) == 2:
        return rows, weights
    return np.array([int(np.argmax(points.signs > 0)), int(np.argmax(points.signs < 0))]), np.ones(2)


def _solve_for_support(points: SignedPoints, at: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the direction and the weights of the two nearest points of the affine hulls of both classes.

    Given the rows that matter, they solve G weights = A' nu and A weights = 1, where A sums the weights of each class.
    Negative weights become 0: then the direction is only a guess, and what is proved of both stays true.
    """
    signs = points.signs[at].astype(float)
    x: Any = points.rows.take(at)
    x = (x.toarray() if sp.issparse(x) else x).astype(float)
    z = signs[:, None] * (x - x.mean(axis=0))
    weights = shares / np.where(signs > 0, shares[signs > 0].sum(), shares[signs < 0].sum())
    if len(at) <= _MOST_SUPPORT:
        A = np.stack([signs > 0, signs < 0]).astype(float)
        unit = max(float(np.abs(z).max()), 1e-150) ** 2
        system = np.block([[z @ z.T / unit, A.T], [A, np.zeros((2, 2))]])
        solution = np.linalg.lstsq(system, np.append(np.zeros(len(at)), [1.0, 1.0]), rcond=None)[0][: len(at)]
        solution = np.maximum(solution, 0.0)
        if np.isfinite(solution).all() and (A @ solution > 0.5).all():
            weights = solution
    return z.T @ weights, weights


def _prove_direction(points: SignedPoints, u: np.ndarray) -> tuple[float | Fraction, np.ndarray]:
    """Return the geometric margin that is proved of a direction with its best bias, and w with that bias."""
    w = np.append(u / np.abs(u).max(), 0.0)
    scores = points.margins(w) * points.signs
    w[-1] = -0.5 * (scores[points.signs > 0].min() + scores[points.signs < 0].max())
    vector = exact.to_rational_vector(w)
    without_bias = exact.to_rational_vector(w[:-1])
    return exact.margin_lower_bound(points, vector, without_bias.squared_norm), w


def _upper_bound(points: SignedPoints, at: np.ndarray, weights: np.ndarray) -> float:
    """Return half the distance of the means of both classes, weighted so, rounded up."""
    exactly = exact.to_rationals(weights)
    signs = points.signs[at].tolist()
    totals = {sign: sum((w for w, s in zip(exactly, signs, strict=True) if s == sign), fmpq(0)) for sign in (1, -1)}
    shares = [w / totals[s] / 2 for w, s in zip(exactly, signs, strict=True)]
    vectors = list(exact.iterate_vectors(replace(points, constant=0.0), at))
    return exact.norm_upper_bound(exact.combine(vectors, shares))
