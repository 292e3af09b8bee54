"""From points to a verdict with its proof: search in doubles, decide in exact arithmetic.

1  a witness of one or two rows, which explains most to a person: a row of zeros, or identical rows with opposite labels
2  the nearest point in doubles (_compiled/loops/hull.py), or a linear program for a second opinion
3  if it is not 0, its margins prove the separator; if it may be 0, the exact multipliers of its rows prove the witness
4  what is still open is decided by Wolfe's algorithm over the rationals (exact.py)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from novikoff._compiled.loops.rows import SMALLEST_SQUARED_NORM
from novikoff.inputs.rows import Rows
from novikoff.theory import exact, hull, linprog
from novikoff.theory.certificates import Certificate, Inseparable, Separable
from novikoff.theory.hull import Corral
from novikoff.theory.questions import Question
from novikoff.theory.signed_points import SignedPoints, normalize

__all__ = ["METHODS", "Separator", "Witness", "certify_signs", "find_obvious_witness", "search_in_doubles"]

METHODS = {"hull": hull.search, "lp": linprog.search}

# Rows: exact steps take time that grows with the fourth power of the corral. With more rows than this the gap between
# the two margins is left as doubles found it.
_MOST_EXACT_ROWS = 200

_SMALLEST_SQUARE = 1e-200  # below this, products of such numbers lose their digits


def certify_signs(
    rows: Rows, signs: np.ndarray, question: Question, method: str = "hull", tol: float = 1e-9
) -> Certificate:
    """Decide about rows with signs -1 and +1, and prove it; rows with sign 0 are left out."""
    signed_rows = np.flatnonzero(signs)
    question = replace(question, n_asked=len(signed_rows))
    points = SignedPoints(rows, signs, question.constant)
    if len(signed_rows) < len(signs):
        chosen = Rows.of(rows.take(signed_rows))
        chosen.require_numbers()
        points = SignedPoints(chosen, signs[signed_rows], question.constant)
    proof = find_obvious_witness(points) or _decide(points, search_in_doubles(points, method, tol), tol)
    size = (len(signs), rows.n_features)
    if isinstance(proof, Separator):
        order = np.argsort(proof.support)
        return Separable(
            question,
            proof.w[:-1],
            proof.w[-1],
            proof.lower,
            proof.upper,
            signed_rows[proof.support[order]],
            proof.weights[order],
            exact.radius_upper_bound(points),
            *size,
        )
    witness, multipliers = proof
    order = np.argsort(witness)
    return Inseparable(question, signed_rows[witness[order]], tuple(multipliers[a] for a in order), *size)


@dataclass(frozen=True, eq=False)
class Separator:
    """w with its bias last, and what is proved: it attains the margin `lower`, and the support rows prove that no w
    attains more than `upper`."""

    w: np.ndarray
    lower: float | Fraction
    upper: float
    support: np.ndarray
    weights: np.ndarray


Witness = tuple[np.ndarray, tuple[Fraction, ...]]  # rows and their multipliers


def find_obvious_witness(points: SignedPoints) -> Witness | None:
    """Return a witness of one or two rows, if there is one that needs no search: a row of zeros, or two opposite
    points."""
    return _find_zero_row(points) or _find_opposite_pair(points)


def search_in_doubles(points: SignedPoints, method: str, tol: float) -> Corral:
    """Search in doubles, unless the squares of these numbers would underflow."""
    if points.squared_lengths.max() < _SMALLEST_SQUARE:
        return Corral.empty(points)
    return METHODS[method](points, tol)


def _find_zero_row(points: SignedPoints) -> Witness | None:
    """Return a row of zeros, which no half-space has strictly inside."""
    for row in np.flatnonzero(points.squared_lengths < SMALLEST_SQUARED_NORM).tolist():
        if not points.take_used(np.array([row]))[0].any():
            return np.array([row]), (Fraction(1),)
    return None


def _find_opposite_pair(points: SignedPoints) -> Witness | None:
    """Return two rows that are identical and have opposite labels."""
    hashes, _ = points.hashes(up_to_sign=False)
    order = np.argsort(hashes)
    hashes = hashes[order]
    for pair in np.flatnonzero(hashes[:-1] == hashes[1:]).tolist():
        rows = order[pair : pair + 2]
        if points.signs[rows].sum() == 0 and not points.take_used(rows)[0].sum(axis=0).any():
            return rows, (Fraction(1), Fraction(1))
    return None


def _decide(points: SignedPoints, corral: Corral, tol: float) -> Separator | Witness:
    """Prove what the search in doubles found, or continue from there in exact arithmetic."""
    if corral.lower <= 0.0 and len(corral.rows):
        witness = exact.find_witness(points, corral.rows)
        if witness is not None:
            return witness
    if corral.best.any():
        separator = _prove_separator(points, normalize(corral.best), corral, tol)
        if separator is not None:
            return separator
    return _decide_exactly(points, corral, tol)


def _prove_separator(points: SignedPoints, w: np.ndarray, corral: Corral, tol: float) -> Separator | None:
    """Prove that w is a separator, in doubles if that is enough, otherwise in exact arithmetic; None if it is not."""
    weights = corral.weights / corral.weights.sum()
    lower: float | Fraction = points.margin_lower_bound(w)
    upper = points.length_upper_bound(corral.rows, weights) if len(corral.rows) else 0.0
    if not 0.0 < (1.0 - tol) * upper <= lower:
        lower = exact.margin_lower_bound(points, exact.to_rational_vector(w))
        if lower <= 0.0:
            return None
        upper = exact.length_upper_bound(points, corral.rows, exact.to_rationals(weights))
        if lower < (1.0 - tol) * upper and len(corral.rows) <= _MOST_EXACT_ROWS:
            return None
    return Separator(w, lower, upper, corral.rows, weights)


def _decide_exactly(points: SignedPoints, start: Corral, tol: float) -> Separator | Witness:
    """Decide by Wolfe's algorithm over the rationals, from the corral that doubles found."""
    corral = exact.find_nearest_point(points, start.rows, start.weights, tol)
    rows, x = np.array(corral.rows), corral.point()
    if not x:
        return rows, exact.to_coprime_integers(corral.weights)
    w = normalize(exact.direction_in_doubles(x, points))
    fractions = exact.to_fraction_array(corral.weights)
    weights = fractions.astype(float)
    lower = exact.margin_lower_bound(points, exact.to_rational_vector(w))
    upper = exact.length_upper_bound(points, rows, exact.to_rationals(weights))
    if lower >= (1.0 - tol) * upper:
        return Separator(w, lower, upper, rows, weights)
    # The margin is so small that rounding w to doubles would lose it, or much of it.
    w = exact.to_fraction_array(x.numbers.get(column, 0) * x.unit for column in range(len(w)))
    return Separator(w, exact.margin_lower_bound(points, x), exact.norm_upper_bound(x), rows, fractions)
