"""Exact arithmetic of the search, for the few rows that decide, with rationals of FLINT.

    find_witness        positive multipliers with sum multipliers * z = 0, if a corral has them
    find_nearest_point  Wolfe's algorithm over the rationals, for what doubles leave open
    iterate_products    on which side of a hyperplane some rows are
    margin_lower_bound, length_upper_bound, radius_upper_bound
                        what a separator, a point of the hull and the rows prove, rounded outwards

A corral is Wolfe's term for affinely independent points with positive weights that sum to 1: the points of the hull of
which the current nearest point is a combination.

A double is an integer times a power of two, so a vector of doubles is a dict from column to integer, columns that are
zero left out, times one unit.
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

from novikoff.theory.signed_points import SignedPoints

__all__ = [
    "ExactCorral",
    "RationalCorral",
    "RationalVector",
    "direction_in_doubles",
    "find_nearest_point",
    "find_positive_null_vector",
    "find_witness",
    "iterate_products",
    "length_upper_bound",
    "margin_lower_bound",
    "norm_upper_bound",
    "radius_upper_bound",
    "root_lower_bound",
    "root_upper_bound",
    "to_coprime_integers",
    "to_fraction_array",
    "to_rational_vector",
    "to_rationals",
]

_CHUNK = 1024  # rows that are copied at once
_SAFE = 1e-280  # squares below this may have lost some of their digits, or all


@dataclass(frozen=True)
class RationalVector:
    """The vector unit * numbers, where numbers maps columns to integers."""

    numbers: dict[int, int]
    unit: fmpq

    def __bool__(self) -> bool:
        """False for the zero vector."""
        return bool(self.numbers)

    def dot(self, other: RationalVector) -> fmpq:
        one, two = self.numbers, other.numbers
        if len(two) < len(one):
            one, two = two, one
        return sum(value * two[column] for column, value in one.items() if column in two) * self.unit * other.unit

    @property
    def squared_norm(self) -> fmpq:
        return sum(value * value for value in self.numbers.values()) * self.unit * self.unit


def find_witness(points: SignedPoints, rows: np.ndarray) -> tuple[np.ndarray, tuple[Fraction, ...]] | None:
    """Return rows among these and their multipliers, integers without a common factor; None if these rows have none.

    A corral is affinely independent, so there is one way at most to write 0 as a combination of its rows.
    """
    z = list(_iterate_vectors(points, rows))
    columns = sorted(set().union(*(vector.numbers for vector in z)))
    null = find_positive_null_vector([[vector.numbers.get(column, 0) for vector in z] for column in columns])
    if null is None:
        return None
    kept = [a for a, factor in enumerate(null) if factor]
    return rows[kept], to_coprime_integers([null[a] / z[a].unit for a in kept])


def find_positive_null_vector(matrix: list[list[int]]) -> list[fmpq] | None:
    """v >= 0 with matrix v = 0, if the null space has dimension 1 and contains such a v; otherwise None."""
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
    """A corral of points with coordinates."""

    def __init__(self, points: SignedPoints, rows: list[int], weights: list[fmpq]) -> None:
        super().__init__(rows, weights)
        self.points = points
        self._vectors: dict[int, RationalVector] = {}

    def vector(self, row: int) -> RationalVector:
        if row not in self._vectors:
            (self._vectors[row],) = _iterate_vectors(self.points, np.array([row]))
        return self._vectors[row]

    def point(self) -> RationalVector:
        """x = sum weights * z."""
        return _combine([self.vector(row) for row in self.rows], self.weights)

    def _inner(self, a: int, b: int) -> fmpq:
        return self.vector(a).dot(self.vector(b))


def find_nearest_point(points: SignedPoints, rows: np.ndarray, weights: np.ndarray, tol: float) -> ExactCorral:
    """Run Wolfe's algorithm exactly, from a corral that doubles found.

    It ends where x = 0, or where no point is nearer to 0 than (1 - tol) |x| along x. |x| decreases in every step and
    there are finitely many corrals, so this decides what doubles cannot.
    """
    corral = _start_corral(points, rows, weights)
    while x := corral.point():
        entering = _find_nearer_row(corral, x, tol)
        if entering is None:
            break
        corral.enter(entering)
    return corral


def _start_corral(points: SignedPoints, rows: np.ndarray, weights: np.ndarray) -> ExactCorral:
    """Return the corral that doubles found if its rows are affinely independent, otherwise its row of largest
    weight."""
    if len(rows):
        exact = to_rationals(weights)
        corral = ExactCorral(points, rows.tolist(), [w / sum(exact, fmpq(0)) for w in exact])
        try:
            corral.move_to_nearest()
            return corral
        except ZeroDivisionError:  # raised by FLINT for a singular system
            pass
    first = int(rows[np.argmax(weights)]) if len(rows) else int(np.argmin(points.squared_lengths))
    return ExactCorral(points, [first], [fmpq(1)])


def _find_nearer_row(corral: ExactCorral, x: RationalVector, tol: float) -> int | None:
    """Return a row with <x, z> < (1 - tol) |x|^2, the smallest as far as doubles can tell; None if there is none."""
    points = corral.points
    direction = direction_in_doubles(x, points)
    margins = points.margins(direction)
    enough = x.squared_norm * _rational(1.0 - tol)
    doubtful = np.flatnonzero(margins - points.rounding(direction) <= _double(enough / _largest(x)))
    members = set(corral.rows)
    for row in doubtful[np.argsort(margins[doubtful])].tolist():
        if row not in members and x.dot(corral.vector(row)) < enough:
            return row
    return None


def margin_lower_bound(points: SignedPoints, w: RationalVector) -> float | Fraction:
    """Return the largest double that is a lower bound on y <w, x> / |w| for all rows; 0 or less if w does not separate.

    A Fraction where no positive double is small enough.
    """
    direction = direction_in_doubles(w, points)
    margins, rounding = points.margins(direction), points.rounding(direction)
    near = np.flatnonzero(margins - rounding <= (margins + rounding).min())
    least = min(z.dot(w) for z in _iterate_vectors(points, near))
    if least <= 0:
        return -1.0 if least < 0 else 0.0
    return root_lower_bound(least * least / w.squared_norm)


def iterate_products(points: SignedPoints, rows: np.ndarray, w: RationalVector) -> Iterator[fmpq]:
    """Yield <w, z> for some of the points, exactly."""
    for start in range(0, len(rows), _CHUNK):
        yield from (z.dot(w) for z in _iterate_vectors(points, rows[start : start + _CHUNK]))


def length_upper_bound(points: SignedPoints, rows: np.ndarray, weights: list[fmpq]) -> float:
    """Return an upper bound on |sum weights * z| / sum weights, as a double: the margin of the data is no larger."""
    total = sum(weights, fmpq(0))
    return norm_upper_bound(_combine(list(_iterate_vectors(points, rows)), [weight / total for weight in weights]))


def radius_upper_bound(points: SignedPoints) -> float:
    """Return an upper bound on all |z|, as a double that exceeds the largest of them by rounding only."""
    largest = float(points.squared_lengths.max())
    if largest > _SAFE:
        # n products and their sum, in any order, are off by n units at most; four times that, so that a checker that
        # adds in another order arrives at the same verdict
        return math.sqrt(largest * (1.0 + 4.0 * (points.dimension + 4) * 2.0**-52)) * (1.0 + 2.0**-52)
    return max(map(norm_upper_bound, _iterate_vectors(points, np.arange(len(points)))))


def root_lower_bound(squared: fmpq) -> float | Fraction:
    """Return the largest double that does not exceed the square root of a number > 0; a Fraction where that double is
    0."""
    root = math.nextafter(_root(squared), math.inf)
    while _rational(root) ** 2 > squared:
        root = math.nextafter(root, 0.0)
    return root or _rational_root(squared)


def norm_upper_bound(x: RationalVector) -> float:
    """Return the smallest double that is no less than |x|."""
    return root_upper_bound(x.squared_norm)


def root_upper_bound(squared: fmpq) -> float:
    """Return the smallest double that is no less than the square root."""
    root = math.nextafter(_root(squared), 0.0)
    while _rational(root) ** 2 < squared:
        root = math.nextafter(root, math.inf)
    return root


def to_rational_vector(values: np.ndarray, columns: np.ndarray | None = None) -> RationalVector:
    """Convert doubles, exactly; they belong to these columns, or to all."""
    at = np.flatnonzero(values)
    ratios = [value.as_integer_ratio() for value in values[at].tolist()]
    common = max((denominator for _, denominator in ratios), default=1)
    names = (at if columns is None else columns[at]).tolist()
    return RationalVector(
        {name: p * (common // q) for name, (p, q) in zip(names, ratios, strict=True)}, fmpq(1, common)
    )


def to_rationals(values: np.ndarray) -> list[fmpq]:
    """Convert doubles or Fractions, exactly."""
    return [fmpq(*value.as_integer_ratio()) for value in values.tolist()]


def direction_in_doubles(x: RationalVector, points: SignedPoints) -> np.ndarray:
    """x divided by its largest entry, rounded to doubles: only its direction matters."""
    largest = max(map(abs, x.numbers.values()))
    doubles = np.zeros(points.rows.n_features + 1)
    doubles[list(x.numbers)] = [value / largest for value in x.numbers.values()]
    return doubles


def to_fraction_array(values: Iterable[fmpq]) -> np.ndarray:
    """Convert rationals to an array of Fractions."""
    exactly = [Fraction(int(value.p), int(value.q)) for value in values]
    fractions = np.empty(len(exactly), object)
    fractions[:] = exactly
    return fractions


def to_coprime_integers(factors: list[fmpq]) -> tuple[Fraction, ...]:
    """Convert rationals to integers without a common factor, in the same proportions."""
    common = math.lcm(*(int(f.q) for f in factors))
    integers = [int(f.p) * (common // int(f.q)) for f in factors]
    divisor = math.gcd(*integers)
    return tuple(Fraction(value // divisor) for value in integers)


def _iterate_vectors(points: SignedPoints, rows: np.ndarray) -> Iterator[RationalVector]:
    z = points.take(rows)
    if not sp.issparse(z):
        yield from map(to_rational_vector, z)
        return
    for start, stop in pairwise(z.indptr.tolist()):
        yield to_rational_vector(z.data[start:stop], z.indices[start:stop])


def _combine(vectors: list[RationalVector], weights: list[fmpq]) -> RationalVector:
    """sum weights * z, without the columns that sum to 0."""
    factors = [weight * z.unit for z, weight in zip(vectors, weights, strict=True)]
    common = math.lcm(*(int(factor.q) for factor in factors))
    sums: dict[int, int] = {}
    for z, factor in zip(vectors, factors, strict=True):
        integer = int(factor.p) * (common // int(factor.q))
        for column, value in z.numbers.items():
            sums[column] = sums.get(column, 0) + integer * value
    return RationalVector({column: value for column, value in sums.items() if value}, fmpq(1, common))


def _largest(x: RationalVector) -> fmpq:
    return max(map(abs, x.numbers.values())) * x.unit


def _rational(value: float) -> fmpq:
    return fmpq(*value.as_integer_ratio())


def _double(value: fmpq) -> float:
    return float(Fraction(int(value.p), int(value.q)))


def _root(squared: fmpq) -> float:
    """Return the square root to the last bit or two, also of numbers that would be 0 as doubles."""
    return float(_rational_root(squared))


def _rational_root(squared: fmpq) -> Fraction:
    """Return the square root, rounded down to 64 significant bits."""
    p, q = int(squared.p), int(squared.q)
    bits = max(0, 64 + (q.bit_length() - p.bit_length()) // 2)
    return Fraction(math.isqrt((p << 2 * bits) // q), 1 << bits)
