"""From points to a verdict with its proof: search in doubles, decide in exact arithmetic.

1  a witness of one or two rows, which explains most to a person: a row of zeros, or identical rows with opposite labels
2  the nearest point in doubles (_compiled/loops/hull.py), or a linear program for a second opinion
3  if it is not 0, its margins prove the separator; if it may be 0, the exact multipliers of its rows prove the witness
4  what is still open is decided on scaled points, and at last by Wolfe's algorithm over the rationals (verdicts.py)
5  if the two margins of a separator are apart, Wolfe's algorithm over the rationals brings them together
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq

from novikoff._compiled.loops.rows import SMALLEST_SQUARED_NORM
from novikoff.inputs.rows import Rows
from novikoff.theory import exact, hull, linprog
from novikoff.theory.certificates import Certificate, ClosedSeparable, Inseparable, Separable
from novikoff.theory.closed_half_spaces import ClosedSearch
from novikoff.theory.exact_corrals import ExactCorral, find_nearest_point
from novikoff.theory.hull import Corral
from novikoff.theory.null_vectors import find_witness
from novikoff.theory.precise_corrals import MOST_PRECISE_ROWS, improve_corral
from novikoff.theory.proofs import Separator, Witness
from novikoff.theory.questions import Question
from novikoff.theory.search_clock import OutOfTimeError, SearchClock
from novikoff.theory.signed_points import SignedPoints, normalize
from novikoff.theory.verdicts import VerdictSearch
from novikoff.theory.wide_corrals import find_wide_corral

__all__ = ["METHODS", "certify_signs", "find_obvious_witness", "search_in_doubles"]

METHODS = {"hull": hull.search, "lp": linprog.search}

# Rows: with more than this the gap between the two margins is left as doubles found it.
_MOST_EXACT_ROWS = 200
# An exact step takes time that grows with the third power of the corral. The gap is left after steps that sum to this,
# except where a user has asked for a smaller gap than usual.
_USUAL_TOL = 1e-9
_FEW_ROWS, _NEARLY = 40, 1e-3  # few steps are not worth the time where many rows leave a wide gap
_EXACT_WORK, _FEWEST_STEPS = 1_000_000, 4

_MARGIN_WORK = 1e8  # products of the search for the margin, where the verdict is known and rows may be thousands
_WIDE = 256  # dimensions: from here on it is worth to look for rows that need no search

_SMALLEST_SQUARE = 1e-200  # below this, products of such numbers lose their digits


def certify_signs(
    rows: Rows,
    signs: np.ndarray,
    question: Question,
    method: str = "hull",
    tol: float = 1e-9,
    clock: SearchClock | None = None,
) -> Certificate:
    """Decide about rows with signs -1 and +1, and prove it; rows with sign 0 are left out.

    Where the clock runs out before the verdict, a TimeLimitError.
    """
    clock = SearchClock() if clock is None else clock
    signed_rows = np.flatnonzero(signs)
    question = replace(question, n_asked=len(signed_rows))
    points = SignedPoints(rows, signs, question.constant)
    if len(signed_rows) < len(signs):
        chosen = Rows.of(rows.take(signed_rows))
        chosen.require_numbers()
        points = SignedPoints(chosen, signs[signed_rows], question.constant)
    size = (len(signs), rows.n_features)
    with clock.explain(question, len(points)):
        proof = find_obvious_witness(points) or _decide(points, method, tol, clock)
        if isinstance(proof, tuple) and question.ties == "positive" and (points.signs[proof[0]] > 0).all():
            closed = ClosedSearch(points, proof, clock.check).run()
            if isinstance(closed, np.ndarray):
                return ClosedSeparable(question, closed, *size)
            proof = closed
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


def find_obvious_witness(points: SignedPoints) -> Witness | None:
    """Return a witness of one or two rows, if there is one that needs no search: a row of zeros, or two opposite
    points."""
    return _find_zero_row(points) or _find_opposite_pair(points)


def search_in_doubles(points: SignedPoints, method: str, tol: float, clock: SearchClock | None = None) -> Corral:
    """Search in doubles, unless the squares of these numbers would underflow."""
    if points.squared_lengths.max() < _SMALLEST_SQUARE:
        return Corral.empty(points)
    return METHODS[method](points, tol, clock)


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


def _decide(points: SignedPoints, method: str, tol: float, clock: SearchClock) -> Separator | Witness:
    """Prove what the search in doubles finds, or decide by other means; then bring the two margins together."""
    verdict, corral = None, None
    if method == "hull" and points.dimension > _WIDE and points.squared_lengths.min() > _SMALLEST_SQUARE:
        corral = find_wide_corral(points, clock) if len(points) <= points.dimension else None
        verdict = _decide_core_first(points, clock) if corral is None else None
    if isinstance(verdict, tuple):
        return verdict
    if corral is None and verdict is not None:
        corral = hull.search(points, tol, clock, _MARGIN_WORK)
    elif corral is None:
        corral = search_in_doubles(points, method, tol, clock)
    if verdict is None and corral.lower <= 0.0 and len(corral.rows):
        witness = find_witness(points, corral.rows)
        if witness is not None:
            return witness
    separator = _prove_separator(points, normalize(corral.best), corral, tol) if corral.best.any() else None
    if separator is None:
        verdict = VerdictSearch(points, clock).run() if verdict is None else verdict
        if isinstance(verdict, tuple):
            return verdict
        separator = _prove_verdict(points, verdict, corral)
    clock.report(float(separator.lower), separator.upper)
    return separator if separator.is_within(tol) else _sharpen(points, separator, corral, tol, clock)


def _decide_core_first(points: SignedPoints, clock: SearchClock) -> Witness | np.ndarray | None:
    """Decide about the rows that no column alone puts on their side, if these are fewer; None if they are not.

    Where there are many columns, most rows often have one of their own, and the search on all of them takes long.
    """
    search = VerdictSearch(points, clock)
    return search.run() if len(search.core) < len(points) else None


def _prove_separator(points: SignedPoints, w: np.ndarray, corral: Corral, tol: float) -> Separator | None:
    """Prove that w is a separator, in doubles if that is enough, otherwise in exact arithmetic; None if it is not."""
    if not len(corral.rows):
        lower = exact.margin_lower_bound(points, exact.to_rational_vector(w))
        return Separator(w, lower, *_shortest_point(points)) if lower > 0.0 else None
    weights = corral.weights / corral.weights.sum()
    lower = points.margin_lower_bound(w)
    upper = points.length_upper_bound(corral.rows, weights)
    if not 0.0 < (1.0 - tol) * upper <= lower:
        lower = exact.margin_lower_bound(points, exact.to_rational_vector(w))
        if lower <= 0.0:
            return None
        upper = exact.length_upper_bound(points, corral.rows, exact.to_rationals(weights))
    return Separator(w, lower, upper, corral.rows, weights)


def _prove_verdict(points: SignedPoints, w: np.ndarray, corral: Corral) -> Separator:
    """Return the margins that are proved of weights, doubles or Fractions, that separate."""
    rows, weights = corral.rows, corral.weights
    if len(rows):
        weights = weights / weights.sum()
        upper = exact.length_upper_bound(points, rows, exact.to_rationals(weights))
    else:
        upper, rows, weights = _shortest_point(points)
    if w.dtype != object:
        unit = normalize(w)
        lower = exact.margin_lower_bound(points, exact.to_rational_vector(unit))
        if lower > 0.0:
            return Separator(unit, lower, upper, rows, weights)
        w = exact.to_fraction_array(exact.to_rationals(w))
    w = w / max(abs(weight) for weight in w)  # so that doubles bound its length well
    vector = exact.to_vector_of_fractions(w)
    lower = exact.margin_lower_bound(points, vector)
    length = (Fraction(lower) + Fraction(upper)) / 2  # of Fractions it is between the two margins
    return Separator(w * (length / Fraction(exact.norm_upper_bound(vector))), lower, upper, rows, weights)


def _shortest_point(points: SignedPoints) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the length of the shortest point, rounded up, as a bound on the margin, with its row and weight."""
    at = np.array([int(np.argmin(points.squared_lengths))])
    return exact.length_upper_bound(points, at, [fmpq(1)]), at, np.ones(1)


def _sharpen(points: SignedPoints, separator: Separator, start: Corral, tol: float, clock: SearchClock) -> Separator:
    """Bring the margins of a separator together, as far as steps and time allow; what is proved of it stays proved."""
    try:
        if 0 < len(start.rows) <= MOST_PRECISE_ROWS:
            start = improve_corral(points, start, tol, clock)
            better = _prove_separator(points, normalize(start.best), start, tol) if start.best.any() else None
            separator = separator if better is None else _choose(tol, separator, better)
        is_worth_it = len(start.rows) <= _FEW_ROWS or separator.is_within(_NEARLY) or tol < _USUAL_TOL
        if is_worth_it and len(start.rows) <= _MOST_EXACT_ROWS and not separator.is_within(tol):
            steps = max(_FEWEST_STEPS, _EXACT_WORK // max(1, len(start.rows)) ** 3) if tol >= _USUAL_TOL else None
            nearest = find_nearest_point(points, start.rows, start.weights, tol, steps, clock.check)
            separator = _choose(tol, separator, *_prove_nearest(points, nearest, tol))
    except (OutOfTimeError, KeyboardInterrupt):
        pass
    return separator


def _prove_nearest(points: SignedPoints, corral: ExactCorral, tol: float) -> list[Separator]:
    """Return the separators that the exact nearest point gives: its direction in doubles, and itself if that is too
    coarse."""
    rows, x = np.array(corral.rows), corral.point()
    w = normalize(exact.direction_in_doubles(x, points))
    fractions = exact.to_fraction_array(corral.weights)
    weights = fractions.astype(float)
    lower = exact.margin_lower_bound(points, exact.to_rational_vector(w))
    upper = exact.length_upper_bound(points, rows, exact.to_rationals(weights))
    in_doubles = Separator(w, lower, upper, rows, weights)
    if in_doubles.is_within(tol):
        return [in_doubles]
    # The margin is so small that rounding w to doubles would lose it, or much of it.
    w = exact.to_fraction_array(x.numbers.get(column, 0) * x.unit for column in range(len(w)))
    return [in_doubles, Separator(w, exact.margin_lower_bound(points, x), exact.norm_upper_bound(x), rows, fractions)]


def _choose(tol: float, *separators: Separator) -> Separator:
    """Return the first separator whose margins meet; if there is none, that with the largest margin, with the best
    proof that there is no larger one."""
    for separator in separators:
        if separator.is_within(tol):
            return separator
    best = max(separators, key=lambda separator: separator.lower)
    tightest = min(separators, key=lambda separator: separator.upper)
    if best.w.dtype == object:  # its length is between its own two margins
        return best
    return replace(best, upper=tightest.upper, support=tightest.support, weights=tightest.weights)
