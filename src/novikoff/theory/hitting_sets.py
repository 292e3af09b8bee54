"""What the search for the fewest errors works on: different points, and sets of them that must all be hit.

Distinct   rows that are the same point z = y * (x, constant) are wrong together, and one of z and -z always is
Pool       witnesses found so far; every half-space errs on a point of each
guesses    half-spaces that may err on few

The fewest errors are the cheapest set of points that hits every witness there is ("implicit hitting set":
Chandrasekaran, Karp, Moreno-Centeno & Vempala 2011). Over the witnesses of a pool,

    packing shares  <=  cheapest hitting set of the pool  <=  fewest errors        (linear programming duality)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp, minimize
from scipy.special import expit

from novikoff._compiled.loops.rows import SMALLEST
from novikoff.hypotheses import Pocket
from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.passes import cycle
from novikoff.theory.signed_points import Points, as_doubles

__all__ = ["Distinct", "Pool", "exact_sides", "guesses", "sharpened"]


@dataclass(frozen=True, eq=False)
class Distinct:
    """The different points other than 0, each of them and its negative once: z where more rows are z, else -z.

    Attributes
    ----------
    points : Points
        One row for each, its columns scaled by powers of two, and without a constant the rows too. That loses nothing,
        half-spaces are found sooner, and nothing depends on the units of the data.
    exponents, row_exponents : ndarray
        Column j was multiplied by 2 ** -exponents[j], the row of point i by 2 ** -row_exponents[i].
    costs : ndarray
        How many more rows are z than -z.
    first, opposite : ndarray
        A row that is z, and one that is -z, or -1.
    pairs : ndarray
        How many rows are -z: so many are wrong whatever the half-space.
    place, agrees : ndarray
        For each row its place among the points, -1 if it is 0; and whether it is z rather than -z.
    """

    points: Points
    exponents: np.ndarray
    row_exponents: np.ndarray
    costs: np.ndarray
    first: np.ndarray
    opposite: np.ndarray
    pairs: np.ndarray
    place: np.ndarray
    agrees: np.ndarray

    @classmethod
    def of(cls, points: Points) -> Distinct:
        group, side = _groups(points)
        zero = _zeros(points)
        n_groups = int(group.max()) + 1
        n_plus = np.bincount(group[side], minlength=n_groups)
        n_minus = np.bincount(group[~side], minlength=n_groups)
        mostly = n_plus >= n_minus
        agrees = side == mostly[group]
        first, opposite = np.full(n_groups, -1), np.full(n_groups, -1)
        first[group[agrees]] = np.flatnonzero(agrees)
        opposite[group[~agrees]] = np.flatnonzero(~agrees)
        kept = np.ones(n_groups, bool)
        kept[group[zero]] = False
        place = np.where(kept, np.cumsum(kept) - 1, -1)[group]
        first, opposite = first[kept], opposite[kept]
        rows, exponents, row_exponents = _scaled(points.rows, first, of_rows=not points.constant)
        return cls(
            Points(rows, points.signs[first], points.constant),
            exponents,
            row_exponents,
            np.abs(n_plus - n_minus)[kept],
            first,
            opposite,
            np.minimum(n_plus, n_minus)[kept],
            place,
            agrees,
        )

    @property
    def zeros(self) -> np.ndarray:
        """Rows that are 0, which no half-space gets right."""
        return np.flatnonzero(self.place < 0)

    @property
    def unavoidable(self) -> int:
        """Rows that are wrong whatever the half-space: those that are 0, and one of each z and -z."""
        return len(self.zeros) + int(self.pairs.sum())

    def rows_wrong(self, sides: np.ndarray) -> np.ndarray:
        """The rows that are not right where the points lie at these sides, -1, 0 or +1."""
        of_row = np.append(sides, 0)[self.place]
        return np.flatnonzero(np.where(self.agrees, of_row, -of_row) <= 0)

    def unscaled(self, w: np.ndarray) -> np.ndarray:
        """The same half-space for the rows as they were given: in doubles, or Fractions where those cannot say it."""
        if w.dtype != object:
            given = np.append(np.ldexp(w[:-1], -self.exponents), w[-1])
            if np.array_equal(np.ldexp(given[:-1], self.exponents), w[:-1]):
                return given
        given = np.empty(len(w), object)
        exact = [Fraction(v) for v in w.tolist()]
        given[:] = [v / Fraction(2) ** e for v, e in zip(exact, [*self.exponents.tolist(), 0], strict=True)]
        return given

    def unscaled_multipliers(self, at: np.ndarray, multipliers: Sequence[Fraction]) -> list[Fraction]:
        """The multipliers of a witness among these points for the rows as they were given: whole numbers without a
        common factor."""
        exponents = self.row_exponents[at].tolist()
        given = [factor / Fraction(2) ** e for factor, e in zip(multipliers, exponents, strict=True)]
        common = math.lcm(*(factor.denominator for factor in given))
        whole = [int(factor * common) for factor in given]
        return [Fraction(value // math.gcd(*whole)) for value in whole]


def _groups(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """For each row a number, the same for rows that are z or -z, and which of the two it is."""
    # With a constant, the last coordinate of z is y: z and -z are the same x with opposite labels.
    hashes, leads = points.hashes(up_to_sign=not points.constant)
    side = points.signs > 0 if points.constant else points.signs * leads > 0.0
    order = np.argsort(hashes, kind="stable")
    near = np.flatnonzero(hashes[order][:-1] == hashes[order][1:])
    one, other = order[near], order[near + 1]
    flip = np.ones(len(near)) if points.constant else leads[one] * leads[other]
    starts = np.ones(len(order), bool)
    starts[near + 1] = _different(points.rows, one, other, flip)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(starts) - 1
    # Numbered as they come: hashes are in another order in another unit.
    came = np.unique(group, return_index=True)[1]
    number = np.empty(len(came), np.int64)
    number[np.argsort(came)] = np.arange(len(came))
    return number[group], side


def _different(rows: Rows, one: np.ndarray, other: np.ndarray, flip: np.ndarray) -> np.ndarray:
    """Whether x of one row is not flip * x of the other, for many pairs."""
    if not rows.is_sparse:
        return (rows.data[one] != flip[:, None] * rows.data[other]).any(axis=1)
    gap = sp.csr_array(rows.take(one) - sp.diags_array(flip) @ rows.take(other))
    gap.eliminate_zeros()
    return np.diff(gap.indptr) > 0


def _zeros(points: Points) -> np.ndarray:
    """The rows that are exactly 0; squares of very small numbers are 0 too."""
    short = np.flatnonzero(points.squared_lengths < SMALLEST)
    x: Any = points.rows.take(short)
    return short[np.asarray(abs(x).sum(axis=1)) == 0.0]


def _scaled(rows: Rows, chosen: np.ndarray, *, of_rows: bool) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Some of the rows with each column, and before that each row if asked for, times the power of two that brings its
    largest value near 1, where that rounds nothing; and the exponents of columns and rows."""
    x: Any = rows.take(chosen)
    row_exponents = np.zeros(len(chosen), np.int64)
    if of_rows:
        row_exponents = _exponents(x, axis=1)
        x = _times_powers(x, row_exponents, axis=1)
    exponents = _exponents(x, axis=0)
    found = Rows.of(_times_powers(x, exponents, axis=0))
    found.require_numbers()
    return found, exponents, row_exponents


def _exponents(x: Any, axis: int) -> np.ndarray:
    """For each column (axis 0) or row (axis 1) the exponent of its largest value; 0 if it would round others off."""
    size = x.shape[1 - axis]
    values, places = _entries(x, axis)
    largest = np.zeros(size)
    np.maximum.at(largest, places, np.abs(values))
    exponents = np.frexp(largest)[1].astype(np.int64)
    scaled = np.ldexp(values, -exponents[places])
    exponents[places[np.ldexp(scaled, exponents[places]) != values]] = 0
    return exponents


def _times_powers(x: Any, exponents: np.ndarray, axis: int) -> Any:
    """x with each column, or row, times 2 ** -exponent."""
    if not sp.issparse(x):
        return np.ldexp(x, -(exponents if axis == 0 else exponents[:, None]))
    values, places = _entries(x, axis)
    return sp.csr_array((np.ldexp(values, -exponents[places]), x.indices, x.indptr), shape=x.shape)


def _entries(x: Any, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The values of x, and for each the column (axis 0) or row (axis 1) it is in."""
    if sp.issparse(x):
        return x.data, x.indices if axis == 0 else np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    return x.ravel(), np.broadcast_to(
        np.arange(x.shape[1]) if axis == 0 else np.arange(len(x))[:, None], x.shape
    ).ravel()


class Pool:
    """Witnesses as sets of points, each point at its cost."""

    def __init__(self, costs: np.ndarray) -> None:
        self.costs = costs
        self.sets: list[np.ndarray] = []
        self.multipliers: list[tuple[Fraction, ...]] = []
        self._places: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.sets)

    def add(self, points: np.ndarray, multipliers: tuple[Fraction, ...]) -> int:
        """Take a witness in, if it is new; its place."""
        place = self._places.setdefault(points.tobytes(), len(self.sets))
        if place == len(self.sets):
            self.sets.append(points)
            self.multipliers.append(multipliers)
        return place

    def incidence(self, chosen: np.ndarray | None = None) -> tuple[sp.csr_array, np.ndarray]:
        """Sets by points as a matrix of 0 and 1, of the points that are in any; and which points these are."""
        sets = self.sets if chosen is None else [self.sets[a] for a in chosen]
        points, columns = np.unique(np.concatenate(sets), return_inverse=True)
        starts = np.cumsum([0, *map(len, sets)])
        return sp.csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), len(points))), points

    def greedy(self, rng: np.random.Generator) -> np.ndarray:
        """A cheap hitting set, quickly: again and again the point that hits most for its cost, ties at random."""
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
            gone = np.concatenate([A.indices[A.indptr[a] : A.indptr[a + 1]] for a in hit])
            np.subtract.at(counts, gone, 1.0)
        times = np.asarray(A[:, chosen].sum(axis=1))
        for a in range(len(chosen) - 1, -1, -1):  # points that turned out to be needless
            hit = by_point.indices[by_point.indptr[chosen[a]] : by_point.indptr[chosen[a] + 1]]
            if (times[hit] > 1).all():
                times[hit] -= 1
                del chosen[a]
        return points[chosen]

    def cheapest(self, seconds: float, chosen: np.ndarray | None = None) -> tuple[np.ndarray, bool]:
        """A hitting set by integer programming, and whether HiGHS takes it for the cheapest."""
        A, points = self.incidence(chosen)
        answer = milp(
            self.costs[points],
            integrality=np.ones(len(points)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(A, 1, np.inf),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
        )
        if answer.x is None:
            return points[:0], False
        return points[answer.x > 0.5], answer.status == 0

    def packing(self, seconds: float) -> list[Fraction]:
        """Shares for the sets, as large in sum as can be, those of a point's sets no larger in sum than its cost."""
        A, points = self.incidence()
        costs = self.costs[points]
        answer = linprog(
            -np.ones(A.shape[0]),
            A_ub=sp.csr_array(A.T),
            b_ub=costs,
            bounds=(0, None),
            method="highs",
            options={"time_limit": max(seconds, 0.01)},
        )
        if answer.x is None or answer.status != 0:
            return [Fraction(0)] * A.shape[0]
        return _rounded(answer.x, A, costs)


def _rounded(shares: np.ndarray, A: sp.csr_array, costs: np.ndarray) -> list[Fraction]:
    """Doubles as Fractions that keep within the costs: simple ones if those are as good."""
    simple = [Fraction(share).limit_denominator(64) for share in shares.tolist()]
    if math.ceil(sum(simple)) >= math.ceil(shares.sum() - 1e-6) and _fits(simple, A, costs):
        return simple
    for slack in (1e-9, 1e-7, 1e-5, 1e-3):
        parts = np.floor(np.maximum(shares, 0.0) * (1.0 - slack) * 2.0**40)
        exact = [Fraction(int(part), 1 << 40) for part in parts]
        if _fits(exact, A, costs):
            return exact
    return [Fraction(0)] * len(shares)


def _fits(shares: list[Fraction], A: sp.csr_array, costs: np.ndarray) -> bool:
    loads = [Fraction(0)] * A.shape[1]
    for share, start, stop in zip(shares, A.indptr[:-1].tolist(), A.indptr[1:].tolist(), strict=True):
        if share:
            for point in A.indices[start:stop].tolist():
                loads[point] += share
    return all(share >= 0 for share in shares) and all(
        load <= cost for load, cost in zip(loads, costs.tolist(), strict=True)
    )


def guesses(points: Points, costs: np.ndarray, expired: Callable[[], bool]) -> Iterator[np.ndarray]:
    """Half-spaces that may err little, better ones later: the pocket's, the squared hinge's, and what a sigmoid makes
    of the latter (see `sharpened`)."""
    yield _pocket(points, expired)
    start = np.zeros(points.rows.n_features + 1)
    w = _descended(points, costs, _squared_hinge, start, expired)
    yield w
    yield from sharpened(points, costs, w, expired)


def sharpened(points: Points, costs: np.ndarray, w: np.ndarray, expired: Callable[[], bool]) -> Iterator[np.ndarray]:
    """Descend on sum costs * sigmoid(-<w, z>), from w scaled up in stages: a smooth loss becomes the number of errors,
    to which far points matter no more than near ones."""
    for steepness in (1.0, 4.0, 16.0, 64.0):
        typical = float(np.median(np.abs(points.margins(w))))
        if not typical > 0.0:
            return
        w = _descended(points, costs, _sigmoid, w * (steepness / typical), expired)
        yield w


def _pocket(points: Points, expired: Callable[[], bool]) -> np.ndarray:
    learner = Learner(hypothesis=Pocket(), fit_intercept=bool(points.constant))
    state = learner.init(points.rows.n_features)
    codes, passes = (points.signs > 0).astype(np.int64), min(50, 10 + 100_000 // len(points))
    state, _ = cycle(
        learner,
        state,
        points.rows,
        codes,
        order="shuffled",
        max_iter=passes,
        rng=np.random.default_rng(0),
        after_pass=lambda number, state: expired(),
    )
    weights = Pocket().weights(state)
    return np.append(weights.coef[0], weights.bias[0] if points.constant else 0.0)


Loss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _squared_hinge(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    short = np.maximum(0.0, 1.0 - margins)
    return short * short, -2.0 * short


def _sigmoid(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    loss = expit(-margins)
    return loss, -loss * (1.0 - loss)


def _descended(
    points: Points, costs: np.ndarray, loss: Loss, start: np.ndarray, expired: Callable[[], bool]
) -> np.ndarray:
    """Minimise sum costs * loss(<w, z>), and a little |w|^2, by L-BFGS."""
    X: Any = points.rows.take(np.arange(len(points)))
    # per point, so that steps do not depend on how many there are
    shares, signs = costs / costs.sum(), points.signs.astype(float)

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        losses, slopes = loss(signs * (X @ w[:-1] + points.constant * w[-1]))
        pull = shares * slopes * signs
        gradient = np.append(X.T @ pull, points.constant * pull.sum())
        return float(shares @ losses + 1e-9 * (w @ w)), gradient + 2e-9 * w

    def stop(_: np.ndarray) -> None:
        if expired():
            raise StopIteration

    answer = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", callback=stop, options={"maxiter": 200})
    return np.asarray(answer.x)


def exact_sides(points: Points, w: np.ndarray) -> np.ndarray:
    """-1, 0 or +1 for each point: the sign of <w, z>, in whole numbers where doubles are not sure of it."""
    direction = as_doubles(w)
    margins = points.margins(direction)
    sides = np.sign(margins).astype(np.int64)
    unsure = np.flatnonzero(np.abs(margins) <= points.rounding(direction))
    if unsure.size:
        z, columns = points.take_used(unsure)
        exact = [Fraction(v) for v in w[columns].tolist()]
        common = math.lcm(*(v.denominator for v in exact))
        whole = [int(v * common) for v in exact]
        sides[unsure] = [_sign_of_product(row, whole) for row in z.tolist()]
    return sides


def _sign_of_product(row: list[float], weights: list[int]) -> int:
    ratios = [value.as_integer_ratio() for value in row]
    common = max((q for _, q in ratios), default=1)  # powers of two
    total = sum(p * (common // q) * v for (p, q), v in zip(ratios, weights, strict=True))
    return (total > 0) - (total < 0)
