"""Wolfe's algorithm over the rationals, for what doubles leave open.

A corral is Wolfe's term for affinely independent points with positive weights that sum to 1: the points of the hull of
which the current nearest point is a combination. Weights are rationals, so the point that they stand for is exactly a
point of the hull. Where a tolerance allows it, they need not be exactly those of the nearest point of the affine hull:
numbers of a few hundred bits solve for them many times faster, and only where these leave a doubt the solution is
exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from novikoff.theory.exact import (
    RationalVector,
    combine,
    direction_in_doubles,
    iterate_vectors,
    largest_entry,
    to_double,
    to_rational,
    to_rationals,
)
from novikoff.theory.null_vectors import find_witness
from novikoff.theory.signed_points import SignedPoints

__all__ = ["ExactCorral", "RationalCorral", "find_nearest_point"]

_BITS, _MOST_BITS = 256, 8192  # of the numbers that solve for weights; beyond that they are exact
_LEAST_TOLERANCE = 1e-12  # below it weights are exact from the start
_MANY = 100  # rows: from here on it is worth to compute how far rounding may move each of them


class RationalCorral(ABC):
    """Affinely independent points with positive weights that sum to 1, all rational, known by their inner products.

    Attributes
    ----------
    bits : int or None
        The precision of the numbers that solve for weights; None if weights are exact.
    """

    bits: int | None = None

    def __init__(self, rows: list[int], weights: list[fmpq]) -> None:
        self.rows, self.weights = rows, weights
        self._products: dict[tuple[int, int], fmpq] = {}

    @abstractmethod
    def _inner(self, a: int, b: int) -> fmpq:
        """<z_a, z_b>."""

    def enter(self, row: int) -> None:
        """Add a row and move to the nearest point of the new affine hull, as far as weights stay positive."""
        self.rows.append(row)
        self.weights.append(fmpq(0))
        self.move_to_nearest()

    def move_to_nearest(self) -> None:
        """Move towards the nearest point of the affine hull, dropping rows whose weight reaches 0 on the way."""
        while True:
            goal = self._affine_weights()
            if all(weight > 0 for weight in goal):
                self.weights = goal
                return
            reach = min(w / (w - g) for w, g in zip(self.weights, goal, strict=True) if g <= 0)
            moved = [w + reach * (g - w) for w, g in zip(self.weights, goal, strict=True)]
            kept = [a for a, w in enumerate(moved) if w > 0]
            self.rows, self.weights = [self.rows[a] for a in kept], [moved[a] for a in kept]

    def _affine_weights(self) -> list[fmpq]:
        """Return weights of the nearest point of the affine hull: G weights is constant and they sum to 1."""
        k = len(self.rows)
        G = [[self.product(a, b) for b in self.rows] for a in self.rows]
        if self.bits is not None:
            return _solve_in_bits(G, self.bits)
        system = [[fmpq(0)] + [fmpq(1)] * k] + [[fmpq(1), *row] for row in G]
        solution = fmpq_mat(system).solve(fmpq_mat([[1]] + [[0]] * k))
        return [solution[a + 1, 0] for a in range(k)]

    def product(self, a: int, b: int) -> fmpq:
        """<z_a, z_b>, computed once."""
        key = (min(a, b), max(a, b))
        if key not in self._products:
            self._products[key] = self._inner(*key)
        return self._products[key]


def _solve_in_bits(G: list[list[fmpq]], bits: int) -> list[fmpq]:
    """Return weights that sum to 1, exactly, and solve G weights = constant to about so many bits.

    G + 1 is as good as G, since weights sum to 1, and regular where the points are affinely independent.
    """
    shift = max(row[a] for a, row in enumerate(G)) or fmpq(1)
    with ctx.workprec(bits):
        A = arb_mat([[arb(value + shift) for value in row] for row in G])
        solution = A.solve(arb_mat([[1]] * len(G)), algorithm="approx")
        parts = [solution[a, 0].mid().man_exp() for a in range(len(G))]
    least = min(int(exponent) for _, exponent in parts)
    weights = [fmpq(int(mantissa) << (int(exponent) - least)) for mantissa, exponent in parts]
    total = sum(weights, fmpq(0))
    return [weight / total for weight in weights]


class ExactCorral(RationalCorral):
    """A corral of points with coordinates."""

    def __init__(self, points: SignedPoints, rows: list[int], weights: list[fmpq], bits: int | None = None) -> None:
        super().__init__(rows, weights)
        self.points, self.bits = points, bits
        self._vectors: dict[int, RationalVector] = {}

    def vector(self, row: int) -> RationalVector:
        if row not in self._vectors:
            (self._vectors[row],) = iterate_vectors(self.points, np.array([row]))
        return self._vectors[row]

    def point(self) -> RationalVector:
        """x = sum weights * z."""
        return combine([self.vector(row) for row in self.rows], self.weights)

    def _inner(self, a: int, b: int) -> fmpq:
        return self.vector(a).dot(self.vector(b))

    def is_nearest(self, x: RationalVector, tol: float) -> bool:
        """Return whether the weights are so precise that no row of the corral is nearer to 0 than (1 - tol) |x| along
        x."""
        enough = x.squared_norm * to_rational(1.0 - tol)
        return self.bits is None or all(x.dot(self.vector(row)) >= enough for row in self.rows)

    def may_be_zero(self, x: RationalVector) -> bool:
        """Return whether x is so short that it may be 0 but for the precision of the weights."""
        if self.bits is None:
            return False
        reach = sum((weight * self.product(row, row) for row, weight in zip(self.rows, self.weights, strict=True)), 0)
        return bool(x.squared_norm * 2**self.bits < reach)


def find_nearest_point(
    points: SignedPoints,
    rows: np.ndarray,
    weights: np.ndarray,
    tol: float,
    max_steps: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> ExactCorral:
    """Run Wolfe's algorithm exactly, from a corral that doubles found.

    It ends where x = 0, or where no point is nearer to 0 than (1 - tol) |x| along x, or after `max_steps`; `check` is
    called before each. |x| decreases in every step and there are finitely many corrals, so this decides what doubles
    cannot.
    """
    octaves = -int(np.log2(points.length_ratios.min()))  # powers of two, by which lengths differ
    corral = _start_corral(points, rows, weights, _BITS + 4 * octaves if tol >= _LEAST_TOLERANCE else None)
    steps, shortest = 0, None
    while x := corral.point():
        check()
        if corral.may_be_zero(x) or (shortest is not None and corral.bits is not None and x.squared_norm >= shortest):
            if _move_to_zero(corral):
                break
            corral, shortest = _with_more_bits(corral), None
            continue
        if steps == max_steps:
            break
        entering = _find_nearer_row(corral, x, tol)
        if entering is None:
            if corral.is_nearest(x, tol):
                break
            corral, shortest = _with_more_bits(corral), None
            continue
        shortest, steps = x.squared_norm, steps + 1
        try:
            corral.enter(entering)
        except ZeroDivisionError:  # it got no weight: the weights are not precise enough
            corral, shortest = _with_more_bits(corral), None
    return corral


def _move_to_zero(corral: ExactCorral) -> bool:
    """Make the weights of a corral those with which its rows cancel, exactly; False if there are none."""
    witness = find_witness(corral.points, np.array(corral.rows))
    if witness is None:
        return False
    rows, multipliers = witness
    total = sum(multipliers, Fraction(0))
    corral.rows = rows.tolist()
    corral.weights = [fmpq(*(multiplier / total).as_integer_ratio()) for multiplier in multipliers]
    return True


def _with_more_bits(corral: ExactCorral) -> ExactCorral:
    """Return the corral after it has moved to the nearest point with weights of twice the precision, or exact ones."""
    while corral.bits is not None:
        corral.bits = 2 * corral.bits if corral.bits < _MOST_BITS else None
        try:
            corral.move_to_nearest()
            return corral
        except ZeroDivisionError:
            pass
    # By FLINT, for a singular system: it was no corral.
    first = corral.rows[max(range(len(corral.rows)), key=lambda a: corral.weights[a])]
    return ExactCorral(corral.points, [first], [fmpq(1)])


def _start_corral(points: SignedPoints, rows: np.ndarray, weights: np.ndarray, bits: int | None) -> ExactCorral:
    """Return the corral that doubles found if its rows are affinely independent, otherwise its row of largest
    weight."""
    if len(rows):
        exact = to_rationals(weights)
        corral = ExactCorral(points, rows.tolist(), [w / sum(exact, fmpq(0)) for w in exact], bits)
        try:
            corral.move_to_nearest()
            return corral
        except ZeroDivisionError:  # raised by FLINT for a singular system
            pass
    first = int(rows[np.argmax(weights)]) if len(rows) else int(np.argmin(points.squared_lengths))
    return ExactCorral(points, [first], [fmpq(1)], bits)


def _find_nearer_row(corral: ExactCorral, x: RationalVector, tol: float) -> int | None:
    """Return a row with <x, z> < (1 - tol) |x|^2, the smallest as far as doubles can tell; None if there is none."""
    points = corral.points
    direction = direction_in_doubles(x, points)
    margins, rounding = points.margins(direction), points.rounding(direction)
    enough = x.squared_norm * to_rational(1.0 - tol)
    limit = to_double(enough / largest_entry(x))
    doubtful = np.flatnonzero(margins - rounding <= limit)
    if len(doubtful) > _MANY:  # Cauchy-Schwarz says little where columns have different units
        sharper = points.rounding_by_entries(direction, doubtful)
        doubtful = doubtful[margins[doubtful] - sharper <= limit]
    members = set(corral.rows)
    for row in doubtful[np.argsort((margins[doubtful] - limit) * points.length_ratios[doubtful])].tolist():
        if row not in members and x.dot(corral.vector(row)) < enough:
            return row
    return None
