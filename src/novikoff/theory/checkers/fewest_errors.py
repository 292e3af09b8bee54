"""Checks both bounds on the errors of the best half-space.

Checked, for the upper bound: the half-space has exactly the listed rows on the wrong side or on its boundary. Doubles
decide for rows far from the boundary (separator.py says how their rounding is bounded), integers for all others.

Checked, for the lower bound: every half-space errs on some row of each witness, and every set of rows that hits all
witnesses costs at least as much as claimed. Shares are Fractions and costs are integers: nothing is rounded. Uses no
code of the search.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_fractions, to_integers
from novikoff.theory.checkers.rows import drop_zero_columns, iterate_blocks, require_rows
from novikoff.theory.checkers.separator import find_violation, integer_weights

__all__ = ["MOST_VISITS", "check_fewest_errors", "check_rows_right", "check_rows_wrong"]

MOST_VISITS = 6_000_000  # visits to witnesses in a proof by cases: a few seconds


def check_rows_right(X: Any, signs: np.ndarray, w: np.ndarray, bias: float, wrong: np.ndarray, constant: float) -> None:
    """y <w, x> > 0 for every row with a sign that is not listed as wrong."""
    others = np.array(signs)
    others[wrong] = 0
    if not others.any():
        return
    row = find_violation(X, others, integer_weights(X, w, bias, constant), Fraction(0), constant)
    if row is not None:
        raise CertificateError(f"Row {row} is not listed as wrong, and is not on its side.")


def check_rows_wrong(X: Any, signs: np.ndarray, w: np.ndarray, bias: float, wrong: np.ndarray, constant: float) -> None:
    """y <w, x> <= 0 for every row listed as wrong, and none is listed twice."""
    if not len(wrong):
        return
    require_rows(wrong, signs)
    listed = np.zeros_like(signs)
    listed[wrong] = signs[wrong]
    weights = integer_weights(X, w, bias, constant)
    for rows, block in iterate_blocks(X, listed):
        coordinates, columns = drop_zero_columns(block)
        numbers, _ = to_integers(np.hstack([coordinates, np.full((len(rows), 1), constant)]))
        scores = (numbers @ weights[np.append(columns, len(w))]) * signs[rows].astype(int).astype(object)
        if (scores > 0).any():
            raise CertificateError(f"Row {rows[np.argmax(scores > 0)]} is listed as wrong, and is on its side.")


def check_fewest_errors(
    X: Any,
    signs: np.ndarray,
    witnesses: Sequence[np.ndarray],
    shares: Sequence[Fraction],
    lower: int,
    constant: float,
    most_visits: int = MOST_VISITS,
) -> None:
    """Every half-space errs on at least `lower` rows, given that it errs on some row of each witness.

    Rows that are the same point z = y (x, constant) are wrong together, so that erring on one costs as many rows as
    there are copies of it. If the shares of the witnesses that contain a point never sum to more than its copies, the
    shares of all witnesses sum to no more than any half-space errs on (linear programming duality). Where that sum
    falls short of `lower`, a proof by cases decides: some row of a witness is wrong, the first, or the second, ... It
    may visit witnesses `most_visits` times.
    """
    shares = to_fractions(shares)
    if len(shares) != len(witnesses) or not all(share >= 0 for share in shares):
        raise CertificateError("Every witness needs one share >= 0.")
    points = [frozenset(_point_keys(X[rows].astype(np.float64), signs[rows], constant)) for rows in witnesses]
    sets = list(zip(points, shares, strict=True))
    loads = _sum_shares_by_point(sets)
    proved_by_shares = math.ceil(sum(shares))
    needed = set(loads) if proved_by_shares < lower else {point for point, load in loads.items() if load > 1}
    copies = dict.fromkeys(loads, 1) | _count_copies(X, signs, needed, constant)
    if any(load > copies[point] for point, load in loads.items()):
        raise CertificateError("The shares of the witnesses of a row sum to more than there are copies of it.")
    if proved_by_shares < lower:
        costs, rest, paid = _pay_without_choice(copies, sets)
        if _HittingSets(costs, rest, most_visits).may_exist(lower - 1 - paid):
            raise CertificateError(f"The witnesses do not prove that every half-space errs on {lower} rows.")


_SharedSets = list[tuple[frozenset[bytes], Fraction]]  # the points of each witness, and its share


def _sum_shares_by_point(sets: _SharedSets) -> dict[bytes, Fraction]:
    """Return for each point the sum of the shares of the sets that contain it."""
    loads: dict[bytes, Fraction] = {}
    for points, share in sets:
        for point in points:
            loads[point] = loads.get(point, Fraction(0)) + share
    return loads


def _pay_without_choice(copies: dict[bytes, int], sets: _SharedSets) -> tuple[dict[bytes, int], _SharedSets, int]:
    """Reduce the problem by sets that leave no choice: remaining costs, remaining sets, and what has been paid.

    Such a set has one or two points, the cheapest of which is in no other set: pay for that one. The other point then
    costs so much less, because a hitting set that contains it need not contain the first.
    """
    n_sets = Counter(point for points, _ in sets for point in points)
    costs, rest, paid = dict(copies), [], 0
    for points, share in sets:
        cheapest = min(points, key=lambda point: (costs[point], n_sets[point]))
        if len(points) > 2 or n_sets[cheapest] > 1:
            rest.append((points, share))
            continue
        cost = costs[cheapest]
        paid += cost
        for point in points:
            costs[point] -= cost
    rest = [(points, share) for points, share in rest if all(costs[point] for point in points)]
    if any(load > costs[point] for point, load in _sum_shares_by_point(rest).items()):
        rest = [(points, Fraction(0)) for points, _ in rest]
    return costs, rest, paid


class _HittingSets:
    """Branch and bound: can points be chosen, within a budget, such that every set contains one of them?

    For speed, points are bits of Python integers, sets are masks of these bits, and shares are multiples of one unit.
    """

    def __init__(self, costs: dict[bytes, int], sets: _SharedSets, most_visits: int) -> None:
        bits = {point: 1 << index for index, point in enumerate(sorted(_sum_shares_by_point(sets)))}
        self.unit = math.lcm(*(share.denominator for _, share in sets))
        self.sets = [(sum(bits[point] for point in points), int(share * self.unit)) for points, share in sets]
        self.costs = {bit: costs[point] for point, bit in bits.items()}
        self.cheapest = {
            mask: min(costs[point] for point in points) for (mask, _), (points, _) in zip(self.sets, sets, strict=True)
        }
        self.visits_left = most_visits

    def may_exist(self, budget: int) -> bool:
        """Return whether a hitting set within the budget exists; True also if the visits did not suffice to tell."""
        return self._may_exist(self.sets, budget, 0)

    def _may_exist(self, sets: list[tuple[int, int]], budget: int, excluded: int) -> bool:
        """Return whether these sets have a hitting set within the budget that contains none of the excluded points."""
        if not sets or budget < 0:
            return budget >= 0
        self.visits_left -= len(sets)
        if self.visits_left < 0:
            return True
        if sum([share for _, share in sets]) > budget * self.unit:
            return False
        # by size, as far as points are allowed: (size, allowed points, all points)
        by_size = sorted([((mask & ~excluded).bit_count(), mask & ~excluded, mask) for mask, _ in sets])
        if not by_size[0][0] or self._packing_bound(by_size) > budget:
            return False
        for bit in self._branching_points(by_size):
            rest = [(mask, share) for mask, share in sets if not mask & bit]
            if self._may_exist(rest, budget - self.costs[bit], excluded):
                return True
            excluded |= bit
        return False

    def _packing_bound(self, by_size: list[tuple[int, int, int]]) -> int:
        """Return a lower bound on the cost: sets without a common point, the smallest first, each at its cheapest
        point."""
        used = total = 0
        for _, allowed, mask in by_size:
            if not allowed & used:
                used |= allowed
                total += self.cheapest[mask]
        return total

    def _branching_points(self, by_size: list[tuple[int, int, int]]) -> list[int]:
        """Return the points of the smallest set, those that are in many sets first."""
        smallest, bits = by_size[0][1], []
        while smallest:
            bits.append(smallest & -smallest)
            smallest &= smallest - 1
        return sorted(bits, key=lambda bit: -sum([bit & allowed != 0 for _, allowed, _ in by_size]))


def _count_copies(X: Any, signs: np.ndarray, points: set[bytes], constant: float) -> dict[bytes, int]:
    """Return the number of rows that are each of these points."""
    copies = dict.fromkeys(points, 0)
    if points:
        for rows, block in iterate_blocks(X, signs):
            for point in _point_keys(block, signs[rows], constant):
                if point in copies:
                    copies[point] += 1
    return copies


def _point_keys(block: Any, signs: np.ndarray, constant: float) -> list[bytes]:
    """y (x, constant) of each row as bytes that are equal where the numbers are."""
    last = [b"" if not constant else b"+" if sign > 0 else b"-" for sign in signs.tolist()]
    if not sp.issparse(block):
        points = block * signs[:, None] + 0.0  # -0.0 becomes 0.0
        return [point.tobytes() + end for point, end in zip(points, last, strict=True)]
    points = sp.csr_array(sp.diags_array(signs.astype(float)) @ block)
    points.sum_duplicates()
    points.eliminate_zeros()
    starts = points.indptr.tolist()
    columns, values = points.indices.astype(np.int64), points.data
    return [
        columns[start:stop].tobytes() + values[start:stop].tobytes() + end
        for start, stop, end in zip(starts, starts[1:], last, strict=False)
    ]
