"""Exact arithmetic for the few rows that decide: doubles are rationals, and FLINT computes with those.

    witness        positive multipliers with sum multipliers * z = 0, if a corral has them
    nearest_point  Wolfe's algorithm over the rationals, for what doubles leave open
    margin_below, length_above, radius_above
                   what a separator, a point of the hull and the rows prove, rounded outwards

Vectors are dicts from the columns that are not zero to rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from novikoff.theory.points import Points

__all__ = [
    "ExactCorral",
    "as_doubles",
    "as_fractions",
    "as_multipliers",
    "length_above",
    "margin_below",
    "nearest_point",
    "norm_above",
    "radius_above",
    "rationals",
    "vector",
    "witness",
]

Vector = dict[int, fmpq]

_SAFE = 1e-280  # squares of numbers below its root may have lost digits, or everything


def witness(points: Points, rows: np.ndarray) -> tuple[np.ndarray, tuple[Fraction, ...]] | None:
    """Rows among these and their multipliers, whole numbers without a common factor; None if these rows have none.

    A corral is affinely independent, so there is one way at most to write 0 as a combination of its rows.
    """
    z, _ = points.take_used(rows)
    scaled = [_whole(row) for row in z]
    null, nullity = fmpz_mat([numbers for numbers, _ in scaled]).transpose().nullspace()
    if nullity != 1:
        return None
    # each row was multiplied by 2**-scale to become whole
    factors = [null[a, 0] * fmpq(2) ** (-scale) for a, (_, scale) in enumerate(scaled)]
    if any(factor < 0 for factor in factors):
        factors = [-factor for factor in factors]
    if any(factor < 0 for factor in factors):
        return None
    kept = [a for a, factor in enumerate(factors) if factor != 0]
    return rows[kept], as_multipliers([factors[a] for a in kept])


class ExactCorral:
    """Affinely independent points with positive weights that sum to 1, all rational."""

    def __init__(self, points: Points, rows: list[int], weights: list[fmpq]) -> None:
        self.points, self.rows, self.weights = points, rows, weights
        self._vectors: dict[int, Vector] = {}
        self._products: dict[tuple[int, int], fmpq] = {}

    def vector(self, row: int) -> Vector:
        if row not in self._vectors:
            (self._vectors[row],) = _vectors(self.points, np.array([row]))
        return self._vectors[row]

    def point(self) -> Vector:
        """x = sum weights * z."""
        return _combination(map(self.vector, self.rows), self.weights)

    def enter(self, row: int) -> None:
        """Add a row and walk to the nearest point of the new affine hull."""
        self.rows.append(row)
        self.weights.append(fmpq(0))
        self.walk()

    def walk(self) -> None:
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
        """Weights of the nearest point of the affine hull: G weights is constant and they sum to 1."""
        k = len(self.rows)
        system = [[0] + [1] * k] + [[1] + [self._product(a, b) for b in self.rows] for a in self.rows]
        solution = fmpq_mat(system).solve(fmpq_mat([[1]] + [[0]] * k))
        return [solution[a + 1, 0] for a in range(k)]

    def _product(self, a: int, b: int) -> fmpq:
        key = (min(a, b), max(a, b))
        if key not in self._products:
            self._products[key] = _dot(self.vector(a), self.vector(b))
        return self._products[key]


def nearest_point(points: Points, rows: np.ndarray, weights: np.ndarray, tol: float) -> ExactCorral:
    """Wolfe's algorithm, exactly, from a corral that doubles found; ends where x = 0, or where no point is nearer to
    0 than (1 - tol) |x| along x.

    Each step is finite and |x| falls, so this decides what doubles cannot.
    """
    corral = _start(points, rows, weights)
    while x := corral.point():
        entering = _nearer(corral, x, tol)
        if entering is None:
            break
        corral.enter(entering)
    return corral


def _start(points: Points, rows: np.ndarray, weights: np.ndarray) -> ExactCorral:
    """The corral as doubles left it if its rows are affinely independent, else its heaviest row alone."""
    if len(rows):
        exact = rationals(weights)
        corral = ExactCorral(points, rows.tolist(), [w / sum(exact, fmpq(0)) for w in exact])
        try:
            corral.walk()
            return corral
        except ZeroDivisionError:  # FLINT's word for a singular system
            pass
    first = int(rows[np.argmax(weights)]) if len(rows) else int(np.argmin(points.squared_lengths))
    return ExactCorral(points, [first], [fmpq(1)])


def _nearer(corral: ExactCorral, x: Vector, tol: float) -> int | None:
    """A row with <x, z> < (1 - tol) |x|^2, the smallest as far as doubles see; None if there is none."""
    points = corral.points
    direction = as_doubles(x, points)
    margins = points.margins(direction)
    enough = _dot(x, x) * _rational(1.0 - tol)
    doubtful = np.flatnonzero(margins - points.rounding(direction) <= _double(enough / _largest(x)))
    members = set(corral.rows)
    for row in doubtful[np.argsort(margins[doubtful])].tolist():
        if row not in members and _dot(x, corral.vector(row)) < enough:
            return row
    return None


def margin_below(points: Points, w: Vector) -> float | Fraction:
    """The largest double that y <w, x> / |w| does not fall below on any row, a Fraction if none is small enough; 0 or
    less if w does not separate."""
    direction = as_doubles(w, points)
    margins, rounding = points.margins(direction), points.rounding(direction)
    near = np.flatnonzero(margins - rounding <= (margins + rounding).min())
    least = min(_dot(z, w) for z in _vectors(points, near))
    if least <= 0:
        return -1.0 if least < 0 else 0.0
    target = least * least / _dot(w, w)
    root = math.nextafter(_root(target), math.inf)
    while _rational(root) ** 2 > target:
        root = math.nextafter(root, 0.0)
    return root or _rational_root(target)


def length_above(points: Points, rows: np.ndarray, weights: list[fmpq]) -> float:
    """A double that |sum weights * z| / sum weights does not exceed: the margin of the data is no larger."""
    total = sum(weights, fmpq(0))
    return norm_above(_combination(_vectors(points, rows), [weight / total for weight in weights]))


def radius_above(points: Points) -> float:
    """A double that no |z| exceeds, and that is no further above the longest than rounding makes it."""
    largest = float(points.squared_lengths.max())
    if largest > _SAFE:
        # n products and their sum, in any order, are off by n units at most
        return math.sqrt(largest * (1.0 + (points.dimension + 4) * 2.0**-52)) * (1.0 + 2.0**-52)
    return max(map(norm_above, _vectors(points, np.arange(len(points)))))


def norm_above(x: Vector) -> float:
    """The smallest double that |x| does not exceed."""
    squared = _dot(x, x)
    root = math.nextafter(_root(squared), 0.0)
    while _rational(root) ** 2 < squared:
        root = math.nextafter(root, math.inf)
    return root


def vector(values: np.ndarray) -> Vector:
    """Doubles as a vector of rationals."""
    at = np.flatnonzero(values)
    return dict(zip(at.tolist(), rationals(values[at]), strict=True))


def rationals(values: np.ndarray) -> list[fmpq]:
    """Doubles as they are."""
    return [_rational(value) for value in values.tolist()]


def as_doubles(x: Vector, points: Points) -> np.ndarray:
    """x over its largest entry, each entry to the nearest double: direction is all that matters."""
    largest = _largest(x)
    doubles = np.zeros(points.rows.n_features + 1)
    doubles[list(x)] = [_double(value / largest) for value in x.values()]
    return doubles


def as_fractions(x: Vector, size: int) -> np.ndarray:
    """x as it is."""
    fractions = np.full(size, Fraction(0), object)
    for column, value in x.items():
        fractions[column] = Fraction(int(value.p), int(value.q))
    return fractions


def as_multipliers(factors: list[fmpq]) -> tuple[Fraction, ...]:
    """Whole numbers without a common factor, in the same proportions."""
    common = math.lcm(*(int(f.q) for f in factors))
    whole = [int(f.p) * (common // int(f.q)) for f in factors]
    divisor = math.gcd(*whole)
    return tuple(Fraction(value // divisor) for value in whole)


def _vectors(points: Points, rows: np.ndarray) -> Iterator[Vector]:
    z = points.take(rows)
    if not sp.issparse(z):
        yield from map(vector, z)
        return
    for start, stop in pairwise(z.indptr.tolist()):
        yield dict(zip(z.indices[start:stop].tolist(), rationals(z.data[start:stop]), strict=True))


def _combination(vectors: Iterable[Vector], weights: list[fmpq]) -> Vector:
    """sum weights * z, without the columns that cancel; over one denominator, which spares a division in each step."""
    common = fmpz(math.lcm(*(int(weight.q) for weight in weights)))
    sums: Vector = {}
    for z, weight in zip(vectors, weights, strict=True):
        whole = weight.p * (common // weight.q)
        for column, value in z.items():
            sums[column] = sums.get(column, fmpq(0)) + whole * value
    return {column: value / common for column, value in sums.items() if value != 0}


def _dot(a: Vector, b: Vector) -> fmpq:
    if len(b) < len(a):
        a, b = b, a
    return sum((value * b[column] for column, value in a.items() if column in b), fmpq(0))


def _largest(x: Vector) -> fmpq:
    return max(abs(value) for value in x.values())


def _whole(row: np.ndarray) -> tuple[list[fmpz], int]:
    """Doubles as whole numbers times 2**scale."""
    ratios = [value.as_integer_ratio() for value in row.tolist()]
    common = max(denominator for _, denominator in ratios)
    return [fmpz(p * (common // q)) for p, q in ratios], 1 - common.bit_length()


def _rational(value: float) -> fmpq:
    return fmpq(*value.as_integer_ratio())


def _double(value: fmpq) -> float:
    return float(Fraction(int(value.p), int(value.q)))


def _root(squared: fmpq) -> float:
    """The square root to the last bit or two, also of numbers that as doubles would be 0."""
    return float(_rational_root(squared))


def _rational_root(squared: fmpq) -> Fraction:
    """The square root, rounded down after 64 digits in base two."""
    p, q = int(squared.p), int(squared.q)
    bits = max(0, 64 + (q.bit_length() - p.bit_length()) // 2)
    return Fraction(math.isqrt((p << 2 * bits) // q), 1 << bits)
