"""From points to a verdict with its proof: doubles do the searching, exact arithmetic has the last word.

1  rows that settle it by themselves, and say most to a person: of zeros, or identical with opposite labels
2  the nearest point in doubles (_compiled/loops/hull.py), or a linear program for a second opinion
3  if it is not 0, its margins prove the separator; if it may be 0, the exact multipliers of its rows the witness
4  what is still open is decided by the same algorithm over the rationals (exact.py)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from novikoff._compiled.loops.rows import SMALLEST
from novikoff.inputs.rows import Rows
from novikoff.theory import exact, hull, linprog
from novikoff.theory.certificates import Certificate, Inseparable, Question, Separable
from novikoff.theory.hull import Corral
from novikoff.theory.signed_points import Points, unit

__all__ = ["METHODS", "Separator", "Witness", "certify_signs", "searched", "settled"]

METHODS = {"hull": hull.search, "lp": linprog.search}

# Exact steps grow with the fourth power of the corral; beyond this many rows the gap is stated as it is.
_POLISHED = 200

_SMALLEST_SQUARE = 1e-200  # below, products of such numbers lose their digits


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
    found = settled(points) or _decide(points, searched(points, method, tol), tol)
    size = (len(signs), rows.n_features)
    if isinstance(found, Separator):
        order = np.argsort(found.support)
        return Separable(
            question,
            found.w[:-1],
            found.w[-1],
            found.lower,
            found.upper,
            asked[found.support[order]],
            found.weights[order],
            exact.radius_above(points),
            *size,
        )
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


def settled(points: Points) -> Witness | None:
    """Rows that settle it by themselves."""
    return _zero(points) or _twins(points)


def searched(points: Points, method: str, tol: float) -> Corral:
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
    weights = found.weights / found.weights.sum()
    lower: float | Fraction = points.margin_below(w)
    upper = points.length_above(found.rows, weights) if len(found.rows) else 0.0
    if not 0.0 < (1.0 - tol) * upper <= lower:
        lower = exact.margin_below(points, exact.vector(w))
        if lower <= 0.0:
            return None
        upper = exact.length_above(points, found.rows, exact.rationals(weights))
        if lower < (1.0 - tol) * upper and len(found.rows) <= _POLISHED:
            return None
    return Separator(w, lower, upper, found.rows, weights)


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
