"""DistinctPoints: rows grouped into different points, for the search of the fewest errors.

Rows that are the same point z = y * (x, constant) are wrong together, and of z and -z one is always wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops.rows import SMALLEST_SQUARED_NORM
from novikoff.inputs.rows import Rows
from novikoff.theory.scaling import find_exponents, multiply_by_powers
from novikoff.theory.signed_points import SignedPoints, scale_to_doubles

__all__ = ["DistinctPoints", "exact_signs"]


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """The different points other than 0, each of them and its negative once: z where more rows are z, else -z.

    Attributes
    ----------
    points : SignedPoints
        One row for each, its columns scaled by powers of two, and without a constant the rows too. That rounds nothing,
        half-spaces are found sooner, and the result does not depend on the units of the data.
    exponents, row_exponents : ndarray
        Column j was multiplied by 2 ** -exponents[j], the row of point i by 2 ** -row_exponents[i].
    costs : ndarray
        How many more rows are z than -z.
    first, opposite : ndarray
        A row that is z, and one that is -z, or -1.
    pairs : ndarray
        How many rows are -z: so many are wrong whatever the half-space.
    point_of_row, agrees : ndarray
        For each row the index of its point, -1 if it is 0; and whether it is z rather than -z.
    """

    points: SignedPoints
    exponents: np.ndarray
    row_exponents: np.ndarray
    costs: np.ndarray
    first: np.ndarray
    opposite: np.ndarray
    pairs: np.ndarray
    point_of_row: np.ndarray
    agrees: np.ndarray

    @classmethod
    def from_points(cls, points: SignedPoints) -> DistinctPoints:
        """Group rows that are the same point up to sign, and scale what is left."""
        group, side = _group_rows(points)
        zero = _find_zero_rows(points)
        n_groups = int(group.max()) + 1
        n_plus = np.bincount(group[side], minlength=n_groups)
        n_minus = np.bincount(group[~side], minlength=n_groups)
        is_plus_majority = n_plus >= n_minus
        agrees = side == is_plus_majority[group]
        first, opposite = np.full(n_groups, -1), np.full(n_groups, -1)
        first[group[agrees]] = np.flatnonzero(agrees)
        opposite[group[~agrees]] = np.flatnonzero(~agrees)
        kept = np.ones(n_groups, bool)
        kept[group[zero]] = False
        point_of_row = np.where(kept, np.cumsum(kept) - 1, -1)[group]
        first, opposite = first[kept], opposite[kept]
        rows, exponents, row_exponents = _scale_by_powers(points.rows, first, of_rows=not points.constant)
        return cls(
            SignedPoints(rows, points.signs[first], points.constant),
            exponents,
            row_exponents,
            np.abs(n_plus - n_minus)[kept],
            first,
            opposite,
            np.minimum(n_plus, n_minus)[kept],
            point_of_row,
            agrees,
        )

    @property
    def zeros(self) -> np.ndarray:
        """The rows that are 0, which no half-space gets right."""
        return np.flatnonzero(self.point_of_row < 0)

    @property
    def unavoidable(self) -> int:
        """The number of rows that are wrong whatever the half-space: those that are 0, and one of each z and -z."""
        return len(self.zeros) + int(self.pairs.sum())

    def rows_wrong(self, signs: np.ndarray) -> np.ndarray:
        """Return the rows that are wrong for a half-space where <w, z> of the points has these signs, -1, 0 or +1."""
        of_row = np.append(signs, 0)[self.point_of_row]
        return np.flatnonzero(np.where(self.agrees, of_row, -of_row) <= 0)

    def unscale_weights(self, w: np.ndarray) -> np.ndarray:
        """Return the weights for the rows as they were given: doubles, or Fractions where doubles would be rounded."""
        if w.dtype != object:
            given = np.append(np.ldexp(w[:-1], -self.exponents), w[-1])
            if np.array_equal(np.ldexp(given[:-1], self.exponents), w[:-1]):
                return given
        given = np.empty(len(w), object)
        exact = [Fraction(v) for v in w.tolist()]
        given[:] = [v / Fraction(2) ** e for v, e in zip(exact, [*self.exponents.tolist(), 0], strict=True)]
        return given

    def unscale_multipliers(self, at: np.ndarray, multipliers: Sequence[Fraction]) -> list[Fraction]:
        """Return multipliers of a witness for the rows as they were given, as integers without a common factor."""
        exponents = self.row_exponents[at].tolist()
        given = [factor / Fraction(2) ** e for factor, e in zip(multipliers, exponents, strict=True)]
        common = math.lcm(*(factor.denominator for factor in given))
        integers = [int(factor * common) for factor in given]
        return [Fraction(value // math.gcd(*integers)) for value in integers]


def _group_rows(points: SignedPoints) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row the number of its group, shared by rows that are z or -z, and which of the two it is."""
    # With a constant, the last coordinate of z is y: z and -z are the same x with opposite labels.
    hashes, leads = points.hashes(up_to_sign=not points.constant)
    side = points.signs > 0 if points.constant else points.signs * leads > 0.0
    order = np.argsort(hashes, kind="stable")
    near = np.flatnonzero(hashes[order][:-1] == hashes[order][1:])
    one, other = order[near], order[near + 1]
    flip = np.ones(len(near)) if points.constant else leads[one] * leads[other]
    starts = np.ones(len(order), bool)
    starts[near + 1] = _are_different(points.rows, one, other, flip)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(starts) - 1
    # Number groups by their first row: the order of hashes depends on the units of the data.
    first_row = np.unique(group, return_index=True)[1]
    number = np.empty(len(first_row), np.int64)
    number[np.argsort(first_row)] = np.arange(len(first_row))
    return number[group], side


def _are_different(rows: Rows, one: np.ndarray, other: np.ndarray, flip: np.ndarray) -> np.ndarray:
    """Return for each pair of rows, whether x of one is not flip * x of the other."""
    if not rows.is_sparse:
        return (rows.data[one] != flip[:, None] * rows.data[other]).any(axis=1)
    gap = sp.csr_array(rows.take(one) - sp.diags_array(flip) @ rows.take(other))
    gap.eliminate_zeros()
    return np.diff(gap.indptr) > 0


def _find_zero_rows(points: SignedPoints) -> np.ndarray:
    """Return the rows that are exactly 0; a squared length of 0 does not suffice, because small squares underflow."""
    short = np.flatnonzero(points.squared_lengths < SMALLEST_SQUARED_NORM)
    x: Any = points.rows.take(short)
    return short[np.asarray(abs(x).sum(axis=1)) == 0.0]


def _scale_by_powers(rows: Rows, chosen: np.ndarray, *, of_rows: bool) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Scale some of the rows: each column, and before that each row if `of_rows`, times the power of two that brings
    its largest value near 1, where that rounds nothing. Returns the rows, and the exponents of columns and rows."""
    x: Any = rows.take(chosen)
    row_exponents = np.zeros(len(chosen), np.int64)
    if of_rows:
        row_exponents = find_exponents(x, axis=1)
        x = multiply_by_powers(x, row_exponents, axis=1)
    exponents = find_exponents(x, axis=0)
    scaled = Rows.of(multiply_by_powers(x, exponents, axis=0))
    scaled.require_numbers()
    return scaled, exponents, row_exponents


def exact_signs(points: SignedPoints, w: np.ndarray) -> np.ndarray:
    """-1, 0 or +1 for each point: the sign of <w, z>, computed in integers where rounding could change it."""
    direction = scale_to_doubles(w)
    margins = points.margins(direction)
    signs = np.sign(margins).astype(np.int64)
    unsure = np.flatnonzero(np.abs(margins) <= points.rounding(direction))
    if unsure.size:
        z, columns = points.take_used(unsure)
        exact = [Fraction(v) for v in w[columns].tolist()]
        common = math.lcm(*(v.denominator for v in exact))
        integers = [int(v * common) for v in exact]
        signs[unsure] = [_sign_of_product(row, integers) for row in z.tolist()]
    return signs


def _sign_of_product(row: list[float], weights: list[int]) -> int:
    ratios = [value.as_integer_ratio() for value in row]
    common = max((q for _, q in ratios), default=1)  # powers of two
    total = sum(p * (common // q) * v for (p, q), v in zip(ratios, weights, strict=True))
    return (total > 0) - (total < 0)
