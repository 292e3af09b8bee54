"""Exact arithmetic for the few rows that decide: doubles are rationals, and FLINT computes with those.

    witness        positive multipliers with sum multipliers * z = 0, if a corral has them
    nearest_point  Wolfe's algorithm over the rationals, for what doubles leave open
    products       on which side of a hyperplane some rows are
    margin_below, length_above, radius_above
                   what a separator, a point of the hull and the rows prove, rounded outwards

A double is a whole number times a power of two, so a vector of doubles is a dict from its columns, those that are zero
left out, to whole numbers, times one unit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from flint import fmpq, fmpq_mat, fmpz_mat

from novikoff.theory.signed_points import Points

__all__ = [
    "ExactCorral",
    "RationalCorral",
    "Vector",
    "as_doubles",
    "as_fractions",
    "as_multipliers",
    "length_above",
    "margin_below",
    "nearest_point",
    "norm_above",
    "positive_null",
    "products",
    "radius_above",
    "rationals",
    "root_above",
    "root_below",
    "vector",
    "witness",
]

_CHUNK = 1024  # rows that are copied at once
_SAFE = 1e-280  # squares of numbers below its root may have lost digits, or everything


@dataclass(frozen=True)
class Vector:
    """unit * numbers."""

    numbers: dict[int, int]
    unit: fmpq

    def __bool__(self) -> bool:
        """Whether it is not 0."""
        return bool(self.numbers)

    def dot(self, other: Vector) -> fmpq:
        one, two = self.numbers, other.numbers
        if len(two) < len(one):
            one, two = two, one
        return sum(value * two[column] for column, value in one.items() if column in two) * self.unit * other.unit

    @property
    def squared_norm(self) -> fmpq:
        return sum(value * value for value in self.numbers.values()) * self.unit * self.unit


def witness(points: Points, rows: np.ndarray) -> tuple[np.ndarray, tuple[Fraction, ...]] | None:
    """Rows among these and their multipliers, whole numbers without a common factor; None if these rows have none.

    A corral is affinely independent, so there is one way at most to write 0 as a combination of its rows.
    """
    z = list(_vectors(points, rows))
    columns = sorted(set().union(*(vector.numbers for vector in z)))
    null = positive_null([[vector.numbers.get(column, 0) for vector in z] for column in columns])
    if null is None:
        return None
    kept = [a for a, factor in enumerate(null) if factor]
    return rows[kept], as_multipliers([null[a] / z[a].unit for a in kept])


def positive_null(matrix: list[list[int]]) -> list[fmpq] | None:
    """v >= 0 with matrix v = 0, if there is one but for its length, and no other v at all."""
    null, nullity = fmpz_mat(matrix).nullspace()
    if nullity != 1:
        return None
    v = [fmpq(null[a, 0]) for a in range(len(matrix[0]))]
    if any(value < 0 for value in v):
        v = [-value for value in v]
    return None if any(value < 0 for value in v) else v


class RationalCorral(ABC):
    """Affinely independent points with positive weights that sum to 1, all rational, known by their inner products."""

    def __init__(self, rows: list[int], weights: list[fmpq]) -> None:
        self.rows, self.weights = rows, weights
        self._products: dict[tuple[int, int], fmpq] = {}

    @abstractmethod
    def _inner(self, a: int, b: int) -> fmpq:
        """<z_a, z_b>."""

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
        system = [[0] + [1] * k] + [[1] + [self.product(a, b) for b in self.rows] for a in self.rows]
        solution = fmpq_mat(system).solve(fmpq_mat([[1]] + [[0]] * k))
        return [solution[a + 1, 0] for a in range(k)]

    def product(self, a: int, b: int) -> fmpq:
        """<z_a, z_b>, computed once."""
        key = (min(a, b), max(a, b))
        if key not in self._products:
            self._products[key] = self._inner(*key)
        return self._products[key]


class ExactCorral(RationalCorral):
    """The same of points with coordinates."""

    def __init__(self, points: Points, rows: list[int], weights: list[fmpq]) -> None:
        super().__init__(rows, weights)
        self.points = points
        self._vectors: dict[int, Vector] = {}

    def vector(self, row: int) -> Vector:
        if row not in self._vectors:
            (self._vectors[row],) = _vectors(self.points, np.array([row]))
        return self._vectors[row]

    def point(self) -> Vector:
        """x = sum weights * z."""
        return _combination([self.vector(row) for row in self.rows], self.weights)

    def _inner(self, a: int, b: int) -> fmpq:
        return self.vector(a).dot(self.vector(b))


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
    enough = x.squared_norm * _rational(1.0 - tol)
    doubtful = np.flatnonzero(margins - points.rounding(direction) <= _double(enough / _largest(x)))
    members = set(corral.rows)
    for row in doubtful[np.argsort(margins[doubtful])].tolist():
        if row not in members and x.dot(corral.vector(row)) < enough:
            return row
    return None


def margin_below(points: Points, w: Vector) -> float | Fraction:
    """The largest double that y <w, x> / |w| does not fall below on any row, a Fraction if none is small enough; 0 or
    less if w does not separate."""
    direction = as_doubles(w, points)
    margins, rounding = points.margins(direction), points.rounding(direction)
    near = np.flatnonzero(margins - rounding <= (margins + rounding).min())
    least = min(z.dot(w) for z in _vectors(points, near))
    if least <= 0:
        return -1.0 if least < 0 else 0.0
    return root_below(least * least / w.squared_norm)


def products(points: Points, rows: np.ndarray, w: Vector) -> Iterator[fmpq]:
    """<w, z> for some of the points."""
    for start in range(0, len(rows), _CHUNK):
        yield from (z.dot(w) for z in _vectors(points, rows[start : start + _CHUNK]))


def length_above(points: Points, rows: np.ndarray, weights: list[fmpq]) -> float:
    """A double that |sum weights * z| / sum weights does not exceed: the margin of the data is no larger."""
    total = sum(weights, fmpq(0))
    return norm_above(_combination(list(_vectors(points, rows)), [weight / total for weight in weights]))


def radius_above(points: Points) -> float:
    """A double that no |z| exceeds, and that is no further above the longest than rounding makes it."""
    largest = float(points.squared_lengths.max())
    if largest > _SAFE:
        # n products and their sum, in any order, are off by n units at most; four times that, so that whoever computes
        # it again finds the same
        return math.sqrt(largest * (1.0 + 4.0 * (points.dimension + 4) * 2.0**-52)) * (1.0 + 2.0**-52)
    return max(map(norm_above, _vectors(points, np.arange(len(points)))))


def root_below(squared: fmpq) -> float | Fraction:
    """The largest double that does not exceed the square root of a number > 0, a Fraction if none is small enough."""
    root = math.nextafter(_root(squared), math.inf)
    while _rational(root) ** 2 > squared:
        root = math.nextafter(root, 0.0)
    return root or _rational_root(squared)


def norm_above(x: Vector) -> float:
    """The smallest double that |x| does not exceed."""
    return root_above(x.squared_norm)


def root_above(squared: fmpq) -> float:
    """The smallest double that the square root does not exceed."""
    root = math.nextafter(_root(squared), 0.0)
    while _rational(root) ** 2 < squared:
        root = math.nextafter(root, math.inf)
    return root


def vector(values: np.ndarray, columns: np.ndarray | None = None) -> Vector:
    """Doubles as they are; they belong to these columns, or to all."""
    at = np.flatnonzero(values)
    ratios = [value.as_integer_ratio() for value in values[at].tolist()]
    common = max((denominator for _, denominator in ratios), default=1)
    names = (at if columns is None else columns[at]).tolist()
    return Vector({name: p * (common // q) for name, (p, q) in zip(names, ratios, strict=True)}, fmpq(1, common))


def rationals(values: np.ndarray) -> list[fmpq]:
    """Doubles, or Fractions, as they are."""
    return [fmpq(*value.as_integer_ratio()) for value in values.tolist()]


def as_doubles(x: Vector, points: Points) -> np.ndarray:
    """x over its largest entry, each entry to the nearest double: direction is all that matters."""
    largest = max(map(abs, x.numbers.values()))
    doubles = np.zeros(points.rows.n_features + 1)
    doubles[list(x.numbers)] = [value / largest for value in x.numbers.values()]
    return doubles


def as_fractions(values: Iterable[fmpq]) -> np.ndarray:
    """Rationals as an array."""
    found = [Fraction(int(value.p), int(value.q)) for value in values]
    fractions = np.empty(len(found), object)
    fractions[:] = found
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
        yield vector(z.data[start:stop], z.indices[start:stop])


def _combination(vectors: list[Vector], weights: list[fmpq]) -> Vector:
    """sum weights * z, without the columns that cancel."""
    factors = [weight * z.unit for z, weight in zip(vectors, weights, strict=True)]
    common = math.lcm(*(int(factor.q) for factor in factors))
    sums: dict[int, int] = {}
    for z, factor in zip(vectors, factors, strict=True):
        whole = int(factor.p) * (common // int(factor.q))
        for column, value in z.numbers.items():
            sums[column] = sums.get(column, 0) + whole * value
    return Vector({column: value for column, value in sums.items() if value}, fmpq(1, common))


def _largest(x: Vector) -> fmpq:
    return max(map(abs, x.numbers.values())) * x.unit


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
