"""Exact arithmetic of the search, for the few rows that decide, with rationals of FLINT.

Witnesses are in null_vectors.py, Wolfe's algorithm over the rationals is in exact_corrals.py.

    iterate_products    on which side of a hyperplane some rows are
    margin_lower_bound, length_upper_bound, radius_upper_bound
                        what a separator, a point of the hull and the rows prove, rounded outwards

A double is an integer times a power of two, so a vector of doubles is a dict from column to integer, columns that are
zero left out, times one unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from flint import fmpq

from novikoff.theory.signed_points import SignedPoints

__all__ = [
    "RationalVector",
    "combine",
    "direction_in_doubles",
    "iterate_products",
    "iterate_vectors",
    "largest_entry",
    "length_upper_bound",
    "margin_lower_bound",
    "norm_upper_bound",
    "radius_upper_bound",
    "root_lower_bound",
    "root_upper_bound",
    "to_coprime_integers",
    "to_double",
    "to_fraction_array",
    "to_rational",
    "to_rational_vector",
    "to_rationals",
    "to_vector_of_fractions",
]

_CHUNK = 1024  # rows that are copied at once
_MANY = 100  # rows: from here on it is worth to compute how far rounding may move each of them
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


def margin_lower_bound(points: SignedPoints, w: RationalVector, squared_norm: fmpq | None = None) -> float | Fraction:
    """Return the largest double that is a lower bound on y <w, x> / |w| for all rows; 0 or less if w does not separate.

    A Fraction where no positive double is small enough. `squared_norm` counts instead of |w|^2 if it is given.
    """
    direction = direction_in_doubles(w, points)
    margins, rounding = points.margins(direction), points.rounding(direction)
    near = np.flatnonzero(margins - rounding <= (margins + rounding).min())
    if len(near) > _MANY:  # Cauchy-Schwarz says little where columns have different units
        sharper = points.rounding_by_entries(direction, near)
        near = near[margins[near] - sharper <= (margins[near] + sharper).min()]
    least = min(z.dot(w) for z in iterate_vectors(points, near))
    if least <= 0:
        return -1.0 if least < 0 else 0.0
    return root_lower_bound(least * least / (w.squared_norm if squared_norm is None else squared_norm))


def iterate_products(points: SignedPoints, rows: np.ndarray, w: RationalVector) -> Iterator[fmpq]:
    """Yield <w, z> for some of the points, exactly."""
    for start in range(0, len(rows), _CHUNK):
        yield from (z.dot(w) for z in iterate_vectors(points, rows[start : start + _CHUNK]))


def length_upper_bound(points: SignedPoints, rows: np.ndarray, weights: list[fmpq]) -> float:
    """Return an upper bound on |sum weights * z| / sum weights, as a double: the margin of the data is no larger."""
    total = sum(weights, fmpq(0))
    return norm_upper_bound(combine(list(iterate_vectors(points, rows)), [weight / total for weight in weights]))


def radius_upper_bound(points: SignedPoints) -> float:
    """Return an upper bound on all |z|, as a double that exceeds the largest of them by rounding only."""
    largest = float(points.squared_lengths.max())
    if largest > _SAFE:
        # n products and their sum, in any order, are off by n units at most; four times that, so that a checker that
        # adds in another order arrives at the same verdict
        return math.sqrt(largest * (1.0 + 4.0 * (points.dimension + 4) * 2.0**-52)) * (1.0 + 2.0**-52)
    return max(map(norm_upper_bound, iterate_vectors(points, np.arange(len(points)))))


def root_lower_bound(squared: fmpq) -> float | Fraction:
    """Return the largest double that does not exceed the square root of a number > 0; a Fraction where that double is
    0."""
    root = math.nextafter(_root(squared), math.inf)
    while to_rational(root) ** 2 > squared:
        root = math.nextafter(root, 0.0)
    return root or _rational_root(squared)


def norm_upper_bound(x: RationalVector) -> float:
    """Return the smallest double that is no less than |x|."""
    return root_upper_bound(x.squared_norm)


def root_upper_bound(squared: fmpq) -> float:
    """Return the smallest double that is no less than the square root."""
    root = math.nextafter(_root(squared), 0.0)
    while to_rational(root) ** 2 < squared:
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


def to_vector_of_fractions(values: np.ndarray) -> RationalVector:
    """Convert an array of Fractions, exactly."""
    common = math.lcm(*(value.denominator for value in values.tolist()))
    integers = [value.numerator * (common // value.denominator) for value in values.tolist()]
    return RationalVector({column: value for column, value in enumerate(integers) if value}, fmpq(1, common))


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


def iterate_vectors(points: SignedPoints, rows: np.ndarray) -> Iterator[RationalVector]:
    """Yield some of the points, exactly."""
    z = points.take(rows)
    if not sp.issparse(z):
        yield from map(to_rational_vector, z)
        return
    for start, stop in pairwise(z.indptr.tolist()):
        yield to_rational_vector(z.data[start:stop], z.indices[start:stop])


def combine(vectors: list[RationalVector], weights: list[fmpq]) -> RationalVector:
    """sum weights * z, without the columns that sum to 0."""
    factors = [weight * z.unit for z, weight in zip(vectors, weights, strict=True)]
    common = math.lcm(*(int(factor.q) for factor in factors))
    sums: dict[int, int] = {}
    for z, factor in zip(vectors, factors, strict=True):
        integer = int(factor.p) * (common // int(factor.q))
        for column, value in z.numbers.items():
            sums[column] = sums.get(column, 0) + integer * value
    return RationalVector({column: value for column, value in sums.items() if value}, fmpq(1, common))


def largest_entry(x: RationalVector) -> fmpq:
    """Return the largest absolute value of the entries."""
    return max(map(abs, x.numbers.values())) * x.unit


def to_rational(value: float) -> fmpq:
    """Convert a double, exactly."""
    return fmpq(*value.as_integer_ratio())


def to_double(value: fmpq) -> float:
    """Round a rational to a double."""
    return float(Fraction(int(value.p), int(value.q)))


def _root(squared: fmpq) -> float:
    """Return the square root to the last bit or two, also of numbers that would be 0 as doubles."""
    return float(_rational_root(squared))


def _rational_root(squared: fmpq) -> Fraction:
    """Return the square root, rounded down to 64 significant bits."""
    p, q = int(squared.p), int(squared.q)
    bits = max(0, 64 + (q.bit_length() - p.bit_length()) // 2)
    return Fraction(math.isqrt((p << 2 * bits) // q), 1 << bits)
