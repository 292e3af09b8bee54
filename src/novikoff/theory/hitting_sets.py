"""WitnessPool: the witnesses found so far, and sets of points that hit all of them.

Every half-space errs on a point of each witness. The fewest errors are the cheapest set of points that hits every
witness there is ("implicit hitting set": Chandrasekaran, Karp, Moreno-Centeno & Vempala 2011). Over the witnesses of a
pool,

    packing shares  <=  cheapest hitting set of the pool  <=  fewest errors        (linear programming duality)
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

__all__ = ["WitnessPool"]


class WitnessPool:
    """Witnesses as sets of points, each point with its cost: the number of rows that are wrong with it."""

    def __init__(self, costs: np.ndarray) -> None:
        self.costs = costs
        self.sets: list[np.ndarray] = []
        self.multipliers: list[tuple[Fraction, ...]] = []
        self._indices: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.sets)

    def add(self, points: np.ndarray, multipliers: tuple[Fraction, ...]) -> int:
        """Add a witness if it is new, and return its index."""
        index = self._indices.setdefault(points.tobytes(), len(self.sets))
        if index == len(self.sets):
            self.sets.append(points)
            self.multipliers.append(multipliers)
        return index

    def incidence(self, chosen: np.ndarray | None = None) -> tuple[sp.csr_array, np.ndarray]:
        """Return a matrix of 0 and 1, sets by points, for the points that are in any set; and which points these
        are."""
        sets = self.sets if chosen is None else [self.sets[a] for a in chosen]
        points, columns = np.unique(np.concatenate(sets), return_inverse=True)
        starts = np.cumsum([0, *map(len, sets)])
        return sp.csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), len(points))), points

    def find_greedily(self, rng: np.random.Generator) -> np.ndarray:
        """Find a cheap hitting set quickly: add the point that hits most sets for its cost, ties at random, until all
        are hit."""
        A, points = self.incidence()
        by_point, open_sets = sp.csr_array(A.T), np.ones(len(self), bool)
        worth = 1.0 / self.costs[points] * (1.0 + 1e-6 * rng.random(len(points)))
        counts, chosen = np.asarray(A.sum(axis=0)), []
        while open_sets.any():
            best = int(np.argmax(counts * worth))
            chosen.append(best)
            hit = by_point.indices[by_point.indptr[best] : by_point.indptr[best + 1]]
            hit = hit[open_sets[hit]]
            open_sets[hit] = False
            columns = np.concatenate([A.indices[A.indptr[a] : A.indptr[a + 1]] for a in hit])
            np.subtract.at(counts, columns, 1.0)
        hits = np.asarray(A[:, chosen].sum(axis=1))
        for a in range(len(chosen) - 1, -1, -1):  # drop points that turned out not to be needed
            hit = by_point.indices[by_point.indptr[chosen[a]] : by_point.indptr[chosen[a] + 1]]
            if (hits[hit] > 1).all():
                hits[hit] -= 1
                del chosen[a]
        return points[chosen]

    def find_cheapest(self, seconds: float, chosen: np.ndarray | None = None) -> tuple[np.ndarray, bool]:
        """Find a hitting set by integer programming, and tell whether HiGHS considers it the cheapest."""
        A, points = self.incidence(chosen)
        result = milp(
            self.costs[points],
            integrality=np.ones(len(points)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(A, 1, np.inf),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
        )
        if result.x is None:
            return points[:0], False
        return points[result.x > 0.5], result.status == 0

    def find_shares(self, seconds: float) -> list[Fraction]:
        """Find shares with the largest sum, such that the shares of a point's sets sum to its cost at most."""
        A, points = self.incidence()
        costs = self.costs[points]
        result = linprog(
            -np.ones(A.shape[0]),
            A_ub=sp.csr_array(A.T),
            b_ub=costs,
            bounds=(0, None),
            method="highs",
            options={"time_limit": max(seconds, 0.01)},
        )
        if result.x is None or result.status != 0:
            return [Fraction(0)] * A.shape[0]
        return _round_to_fractions(result.x, A, costs)


def _round_to_fractions(shares: np.ndarray, A: sp.csr_array, costs: np.ndarray) -> list[Fraction]:
    """Convert shares to Fractions that stay within the costs: with small denominators if those prove as much."""
    simple = [Fraction(share).limit_denominator(64) for share in shares.tolist()]
    if math.ceil(sum(simple)) >= math.ceil(shares.sum() - 1e-6) and _fit_costs(simple, A, costs):
        return simple
    for slack in (1e-9, 1e-7, 1e-5, 1e-3):
        parts = np.floor(np.maximum(shares, 0.0) * (1.0 - slack) * 2.0**40)
        exact = [Fraction(int(part), 1 << 40) for part in parts]
        if _fit_costs(exact, A, costs):
            return exact
    return [Fraction(0)] * len(shares)


def _fit_costs(shares: list[Fraction], A: sp.csr_array, costs: np.ndarray) -> bool:
    """Return whether shares are not negative, and those of each point's sets sum to its cost at most."""
    loads = [Fraction(0)] * A.shape[1]
    for share, start, stop in zip(shares, A.indptr[:-1].tolist(), A.indptr[1:].tolist(), strict=True):
        if share:
            for point in A.indices[start:stop].tolist():
                loads[point] += share
    return all(share >= 0 for share in shares) and all(
        load <= cost for load, cost in zip(loads, costs.tolist(), strict=True)
    )
