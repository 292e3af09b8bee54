"""certify: is it linearly separable, by how much, and which rows say no?

Rows x with signs y are separable iff 0 is not in the convex hull of the points z = y * (x, constant); the margin is the
distance of that hull from 0, and the best separator points along its nearest point. Doubles do the searching, exact
arithmetic has the last word:

    1  rows that settle it by themselves, and say most to a person: of zeros, or identical with opposite labels
    2  the nearest point in doubles (hull.py), or a linear program for a second opinion
    3  if it is not 0, its margins prove the separator; if it may be 0, the exact multipliers of its rows the witness
    4  what is still open is decided by the same algorithm over the rationals (exact.py)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.kernels.additive import SMALLEST
from novikoff.labels import Labels, encode
from novikoff.rows import Rows
from novikoff.theory import exact, hull, linprog
from novikoff.theory.certificates import Certificate, Inseparable, Question, Separable, Verdicts
from novikoff.theory.hull import Corral
from novikoff.theory.points import Points, unit

__all__ = ["certify", "certify_signs", "names_of", "read_data"]

METHODS = {"hull": hull.search, "lp": linprog.search}

# Exact steps grow with the fourth power of the corral; beyond this many rows the gap is stated as it is.
_POLISHED = 200

_SMALLEST_SQUARE = 1e-200  # below, products of such numbers lose their digits


def certify(
    X: Any, y: Any, *, fit_intercept: bool = True, positive: Any = None, method: str = "hull", tol: float = 1e-9
) -> Certificate | Verdicts:
    """Decide whether a half-space can have every row on its side, and prove it.

    Separable if and only if some w has y <w, x> > 0 for every row; the answer is exact, whatever the scales, and
    `verify` checks its proof by other means.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        As doubles; float32, float64 and CSR are not copied.
    y : array of shape (n,)
        Labels. The larger of two is the positive one. More than two give `Verdicts`: every class against the rest,
        and every pair.
    fit_intercept : bool
        Whether every row has a constant coordinate 1.
    positive : label, optional
        Ask only about this label against the rest.
    method : {"hull", "lp"}
        Wolfe's nearest point of the hull; or a linear program (SciPy's HiGHS) to start from, slow, as a second
        opinion.
    tol : float
        How far apart margin_lower and margin_upper may be, as a fraction. Doubles usually leave 1e-12.

    Returns
    -------
    Separable, Inseparable or Verdicts
        True where separable.

    References
    ----------
    Novikoff 1962; Gordan 1873 (either a separator or a witness exists); Carathéodory 1911 (d + 1 rows are enough);
    Wolfe 1976.

    Examples
    --------
    >>> import novikoff as nk
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> certificate = nk.certify(X, [0, 1, 1, 1])  # OR
    >>> round(certificate.margin, 6), certificate.support.tolist()
    (0.333333, [0, 1, 2])
    >>> nk.certify(X, [0, 1, 1, 0])  # XOR
    Inseparable: 1 against 0
      rows           0, 1, 2, 3
      shares         0.25, 0.25, 0.25, 0.25
      proof          the rows, times their labels and these shares, add up to exactly 0
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, found {method!r}.")
    if not 0.0 <= tol < 1.0:
        raise ValueError(f"tol must be a number in [0, 1), found {tol!r}.")
    rows, labels = read_data(X, y)
    names = names_of(encode(labels)[0])

    def ask(question: Question) -> Certificate:
        return certify_signs(rows, question.signs(labels), question, method, tol)

    if positive is not None:
        if positive not in names:
            raise DataError(f"The label {positive!r} is not in y, whose labels are {names!r}.")
        return ask(Question(positive, None, fit_intercept, one_against_rest=True))
    if len(names) <= 2:
        negative, positive = Labels(names).of_code
        return ask(Question(positive, negative, fit_intercept))
    return Verdicts(
        {name: ask(Question(name, None, fit_intercept, one_against_rest=True)) for name in names},
        {(one, other): ask(Question(other, one, fit_intercept)) for one, other in combinations(names, 2)},
    )


def names_of(classes: np.ndarray) -> list[Any]:
    """Classes as Python's own values; dates stay as they are, of which Python would make numbers."""
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()


def read_data(X: Any, y: Any) -> tuple[Rows, np.ndarray]:
    """Rows that are numbers, and as many labels."""
    rows = Rows.of(X, getattr(X, "columns", None))
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"Expected a 1-D array of labels, found {labels.ndim} dimension(s).")
    if len(labels) != len(rows):
        raise DataError(f"Found {len(rows)} rows in X and {len(labels)} labels in y: each row needs one.")
    if not len(rows):
        raise DataError("Found no rows: there is nothing to separate.")
    _require_labels(labels)
    rows.require_numbers()
    return rows, labels


def _require_labels(labels: np.ndarray) -> None:
    """Numbers, text, truth values or dates, none of them missing."""
    if labels.dtype.kind in "cV":
        raise DataError(f"Labels of dtype {labels.dtype} cannot be sorted; use strings or real numbers.")
    if labels.dtype.kind == "O":
        lacking = [label is None or type(label).__name__ == "NAType" or label != label for label in labels.tolist()]
    else:
        lacking = labels != labels
    missing = np.flatnonzero(lacking)
    if missing.size:
        raise DataError(f"Input y contains NaN or None in row {missing[0]}, which is no label. Leave the row out.")
    if labels.dtype.kind == "O" and not all(np.isscalar(label) for label in labels.tolist()):
        raise DataError("Labels must be single values, strings or numbers; found some that hold others.")


def certify_signs(
    rows: Rows, signs: np.ndarray, question: Question, method: str = "hull", tol: float = 1e-9
) -> Certificate:
    """The certificate for rows with signs -1 and +1; rows with sign 0 are left out."""
    asked = np.flatnonzero(signs)
    question = replace(question, n_asked=len(asked))
    points = Points(rows, signs, question.constant)
    if len(asked) < len(signs):
        chosen = Rows.of(rows.take(asked))
        chosen.require_numbers()
        points = Points(chosen, signs[asked], question.constant)
    found = _zero(points) or _twins(points) or _decide(points, _searched(points, method, tol), tol)
    size = (len(signs), rows.n_features)
    if isinstance(found, Separator):
        order = np.argsort(found.support)
        return Separable(question, found.w[:-1], found.w[-1], found.lower, found.upper, asked[found.support[order]],
                         found.weights[order], exact.radius_above(points), *size)  # fmt: skip
    witness, multipliers = found
    order = np.argsort(witness)
    return Inseparable(question, asked[witness[order]], tuple(multipliers[a] for a in order), *size)


@dataclass(frozen=True, eq=False)
class Separator:
    """w with its bias last, and what is proved: it attains `lower`, and the support rows show no w attains more
    than `upper`."""

    w: np.ndarray
    lower: float | Fraction
    upper: float
    support: np.ndarray
    weights: np.ndarray


Witness = tuple[np.ndarray, tuple[Fraction, ...]]


def _searched(points: Points, method: str, tol: float) -> Corral:
    """What doubles find, if they can hold the squares of these numbers."""
    if points.squared_lengths.max() < _SMALLEST_SQUARE:
        return Corral.nowhere(points)
    return METHODS[method](points, tol)


def _zero(points: Points) -> Witness | None:
    """A row of zeros, which is on no side of anything."""
    for row in np.flatnonzero(points.squared_lengths < SMALLEST).tolist():
        if not points.take_used(np.array([row]))[0].any():
            return np.array([row]), (Fraction(1),)
    return None


def _twins(points: Points) -> Witness | None:
    """Two rows that are identical but for their labels."""
    hashes, _ = points.hashes(up_to_sign=False)
    order = np.argsort(hashes)
    hashes = hashes[order]
    for pair in np.flatnonzero(hashes[:-1] == hashes[1:]).tolist():
        twins = order[pair : pair + 2]
        if points.signs[twins].sum() == 0 and not points.take_used(twins)[0].sum(axis=0).any():
            return twins, (Fraction(1), Fraction(1))
    return None


def _decide(points: Points, found: Corral, tol: float) -> Separator | Witness:
    """What the search in doubles found, proved; or what exact arithmetic finds from there."""
    if found.lower <= 0.0 and len(found.rows):
        witness = exact.witness(points, found.rows)
        if witness is not None:
            return witness
    if found.best.any():
        proved = _proved(points, unit(found.best), found, tol)
        if proved is not None:
            return proved
    return _decide_exactly(points, found, tol)


def _proved(points: Points, w: np.ndarray, found: Corral, tol: float) -> Separator | None:
    """w as a separator: what doubles prove of it if that is enough, else what exact arithmetic does."""
    lower: float | Fraction = points.margin_below(w)
    upper = points.length_above(found.rows, found.weights) if len(found.rows) else 0.0
    if not 0.0 < (1.0 - tol) * upper <= lower:
        lower = exact.margin_below(points, exact.vector(w))
        if lower <= 0.0:
            return None
        upper = exact.length_above(points, found.rows, exact.rationals(found.weights))
        if lower < (1.0 - tol) * upper and len(found.rows) <= _POLISHED:
            return None
    return Separator(w, lower, upper, found.rows, found.weights)


def _decide_exactly(points: Points, found: Corral, tol: float) -> Separator | Witness:
    corral = exact.nearest_point(points, found.rows, found.weights, tol)
    rows, x = np.array(corral.rows), corral.point()
    if not x:
        return rows, exact.as_multipliers(corral.weights)
    w = unit(exact.as_doubles(x, points))
    fractions = exact.as_fractions(corral.weights)
    weights = fractions.astype(float)
    lower = exact.margin_below(points, exact.vector(w))
    upper = exact.length_above(points, rows, exact.rationals(weights))
    if lower >= (1.0 - tol) * upper:
        return Separator(w, lower, upper, rows, weights)
    # so thin a margin that rounding to doubles would lose it, or much of it
    w = exact.as_fractions(x.numbers.get(column, 0) * x.unit for column in range(len(w)))
    return Separator(w, exact.margin_below(points, x), exact.norm_above(x), rows, fractions)
