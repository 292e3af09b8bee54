"""The point of the hull nearest to 0, in doubles, by Wolfe's algorithm on a working set.

The points may be too many for a Gram matrix of all of them, so only the points of the working set have one. Each round
visits all points once: points with <x, z> < |x|^2 show that the current nearest point x is not the nearest of all, and
the worst of them join the working set. |x| decreases in every round, so the rounds end; there are seldom more than ten.

At each moment, with gamma the distance of the whole hull,

    min <x, z> / |x|  <=  gamma  <=  |x|

Points may differ in length by many powers of ten. So each is divided by a power of two near its length: z = u / b with
|u| within a factor of two of the shortest point, which rounds nothing, and x = sum alpha u with sum b alpha = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve

from novikoff._compiled.loops import hull
from novikoff.perceptron.learner import Learner
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.signed_points import SignedPoints

__all__ = ["Corral", "search"]

_FEW, _MANY = 64, 256  # points that may join the working set in a round: more where visiting all points takes longer
_WORKING = 4096  # points in the working set before those without weight leave
_ROUNDS = 1000
_WORK = 50_000_000  # products in the steps between two looks at the clock
_UNIT = 2.0**-52
# Below this fraction of the longest point, x is within the rounding of its own sum: it may be 0.
_MAYBE_ZERO = 1e-10


@dataclass(frozen=True, eq=False)
class Corral:
    """A point x = sum weights * z of the hull, and what it proves: lower <= gamma <= |x|.

    A corral is Wolfe's term for the affinely independent points of which x is a combination with positive weights; here
    `rows` are their indices. `lower` is the margin of the direction `best`, usually that of x.
    """

    rows: np.ndarray
    weights: np.ndarray
    x: np.ndarray
    best: np.ndarray
    lower: float

    @classmethod
    def empty(cls, points: SignedPoints) -> Corral:
        """Return the result of a search that found nothing."""
        zeros = np.zeros(points.rows.n_features + 1)
        return cls(np.empty(0, np.int64), np.empty(0), zeros, zeros, 0.0)

    @property
    def upper(self) -> float:
        return float(np.linalg.norm(self.x))


def search(points: SignedPoints, tol: float, clock: SearchClock | None = None, most_work: float = math.inf) -> Corral:
    """Search until the gap is tol * upper, the point is 0 up to rounding, or doubles allow no improvement; or until
    about `most_work` products were computed."""
    return _WorkingSetSearch(points, tol, SearchClock() if clock is None else clock, most_work).run()


class _WorkingSetSearch:
    """The search of one call: the working set, Wolfe's algorithm on it, and the best direction so far."""

    def __init__(self, points: SignedPoints, tol: float, clock: SearchClock, most_work: float) -> None:
        self.points, self.tol, self.clock, self.work_left = points, tol, clock, most_work
        self.working = np.empty(0, np.int64)
        self.b = points.length_ratios
        self.u: Any = None  # the points of the working set, and their Gram matrix, with capacity to grow
        self.G = np.empty((0, 0))
        self.shift = float((points.squared_lengths * self.b * self.b).mean())
        self.state = _WolfeState.empty()
        self.best, self.lower = _perceptron_direction(points), -math.inf

    def run(self) -> Corral:
        x, upper = self.best, math.inf
        for _ in range(_ROUNDS):
            margins = self.points.margins(x)
            self._keep_better_direction(x, float(margins.min()))
            self.clock.report(self.lower, upper)
            if self.lower >= (1.0 - self.tol) * upper or not self._extend_working_set(margins, upper):
                break
            self._find_nearest_point()
            x, upper = self.state.x, self.state.upper
            if self.work_left <= 0.0 or upper <= _MAYBE_ZERO * self.state.weights.sum() * math.sqrt(
                self._squares().max()
            ):
                break
        rows = self.working[self.state.corral]
        return Corral(rows, self.state.weights * self.b[rows], x, self.best, self.lower)

    def _keep_better_direction(self, x: np.ndarray, least: float) -> None:
        length = float(np.linalg.norm(x))
        if length > 0.0 and least / length > self.lower:
            self.best, self.lower = x, least / length

    def _extend_working_set(self, margins: np.ndarray, upper: float) -> bool:
        """Add the points of smallest margin to the working set; False if none of them is new."""
        n = len(margins)
        most = min(max(_FEW, n // 128), _MANY)
        violations = margins * self.b if math.isinf(upper) else (margins - upper * upper) * self.b
        worst = np.arange(n) if n <= _MANY else np.argpartition(violations, most)[:most]
        joining = np.setdiff1d(worst[margins[worst] < upper * upper], self.working)
        if not joining.size:
            return False
        if len(self.working) + len(joining) > max(_WORKING, 2 * len(self.state.corral)):
            self._drop_points_without_weight()
        u, known = _scale_rows(self.points.take(joining), self.b[joining]), len(self.working)
        self.u = u if self.u is None else _stack(self.u, u)
        self.working = np.concatenate([self.working, joining])
        m, columns = len(self.working), _to_dense(self.u @ u.T)
        if m > len(self.G):
            buffer = np.zeros((2 * m, 2 * m))
            buffer[:known, :known] = self.G[:known, :known]
            self.G = buffer
        self.G[:m, known:m] = columns
        self.G[known:m, :known] = columns[:known].T
        return True

    def _squares(self) -> np.ndarray:
        """|u|^2 of the working set."""
        return self.G.diagonal()[: len(self.working)]

    def _drop_points_without_weight(self) -> None:
        """Remove the points without weight from the working set."""
        kept = self.state.corral
        self.working, self.u, self.G = self.working[kept], self.u[kept], self.G[np.ix_(kept, kept)]
        self.state = replace(self.state, corral=np.arange(len(kept)))

    def _find_nearest_point(self) -> None:
        """Find the nearest point of the working set.

        By the Gram matrix <x, z> is known only to half of the digits. So its result is checked on the points
        themselves, and a point that turns out to be nearer enters the corral, as long as that improves the margin of x.
        """
        if not len(self.state.corral):
            b = self.b[self.working]
            first = int(np.argmin(self._squares() / (b * b)))
            self.state = _WolfeState.at_point(first, self.G, self.u, float(b[first]), self.shift)
        self.state = self._run_wolfe(-1)
        if not self.state.upper:  # 0, or so short that its square is
            return
        ratios = 1.0 / self.b[self.working]
        slopes = (self.u @ self.state.x) * ratios
        for _ in range(len(self.working)):
            entering = int(np.argmin(slopes))
            if (
                self.work_left <= 0.0
                or slopes[entering] >= self.state.upper**2 * (1.0 - 1e-15)
                or entering in self.state.corral
            ):
                return
            further = self._run_wolfe(entering)
            further_slopes = (self.u @ further.x) * ratios
            if not further.upper or further_slopes.min() / further.upper <= slopes[entering] / self.state.upper:
                return
            self.state, slopes = further, further_slopes

    def _run_wolfe(self, entering: int) -> _WolfeState:
        """Continue Wolfe's algorithm on the Gram matrix; `entering` is a point that must enter first, or -1."""
        now, m = self.state, len(self.working)
        size, capacity = len(now.corral), min(m, self.points.dimension + 1)
        corral, weights = np.zeros(capacity + 1, np.int64), np.zeros(capacity + 1)
        factor = np.zeros((capacity, capacity))
        corral[:size], weights[:size], factor[:size, :size] = now.corral, now.weights, now.factor
        b, rounding = self.b[self.working], 4.0 * _UNIT * float(self._squares().max())
        has_ended, steps_left = False, 100 * m
        while not has_ended and steps_left > 0 and self.work_left > 0.0:
            work, before = (m + 3 * size) * (size + 1), size  # work is that of a step
            steps = min(steps_left, max(1, _WORK // work))  # in parts: a time limit and Ctrl-C need not wait long
            size, has_ended = hull.find_nearest_point(
                self.G, b, m, self.shift, rounding, entering, corral, weights, factor, size, steps
            )
            entering, steps_left = -1, steps_left - steps
            self.work_left -= (abs(size - before) + 1.0) * work  # or more, if points left again
            self.clock.check()
        return _refine(corral[:size].copy(), weights[:size].copy(), factor[:size, :size].copy(), self.u, b)


@dataclass(frozen=True, eq=False)
class _WolfeState:
    """The state of Wolfe's algorithm: the corral as indices of the working set, their weights alpha, the Cholesky
    factor of their Gram matrix, and x."""

    corral: np.ndarray
    weights: np.ndarray
    factor: np.ndarray
    x: np.ndarray

    @classmethod
    def empty(cls) -> _WolfeState:
        return cls(np.empty(0, np.int64), np.empty(0), np.empty((0, 0)), np.empty(0))

    @classmethod
    def at_point(cls, first: int, G: np.ndarray, u: Any, b: float, shift: float) -> _WolfeState:
        factor = np.array([[math.sqrt(G[first, first] + shift * b * b)]])
        return cls(np.array([first]), np.array([1.0 / b]), factor, _to_dense(u[[first]])[0] / b)

    @property
    def upper(self) -> float:
        return float(np.linalg.norm(self.x))


def _refine(
    corral: np.ndarray, weights: np.ndarray, factor: np.ndarray, working: Any, ratios: np.ndarray
) -> _WolfeState:
    """x = sum alpha * u from the points themselves, corrected until all of the corral are equally far along it.

    Solving again for the residual with the factor of the Gram matrix makes up for the precision that was lost in
    forming it (the corrected semi-normal equations: Björck 1987). x is corrected separately: weights that are rounded
    to doubles give it only to the precision of the longest point.
    """
    u, b = working[corral], ratios[corral]
    x = u.T @ weights
    state, spread = _WolfeState(corral, weights, factor, x), math.inf
    for _ in range(8):
        slopes = u @ x
        residual = slopes - b * (weights @ slopes)
        if not np.abs(residual).max() < spread:
            break
        spread, state = np.abs(residual).max(), _WolfeState(corral, weights, factor, x)
        inward, even = cho_solve((factor, True), np.column_stack([residual, b])).T
        step = (b @ inward) / (b @ even) * even - inward
        weights, x = weights + step, x + u.T @ step
        if not (weights > 0.0).all():
            break
    return state


def _scale_rows(z: Any, factors: np.ndarray) -> Any:
    return sp.csr_array(sp.diags_array(factors) @ z) if sp.issparse(z) else z * factors[:, None]


def _to_dense(block: Any) -> np.ndarray:
    return np.asarray(block.toarray() if sp.issparse(block) else block)


def _stack(upper: Any, lower: Any) -> Any:
    return sp.vstack([upper, lower], format="csr") if sp.issparse(upper) else np.vstack([upper, lower])


def _perceptron_direction(points: SignedPoints) -> np.ndarray:
    """Return the weights of an averaged perceptron after one pass: on easy data already a separator."""
    learner = Learner(hypothesis="averaged", fit_intercept=bool(points.constant))  # type: ignore[arg-type]
    state = learner.update(learner.init(points.rows.n_features), points.rows, (points.signs > 0).astype(np.int64))
    weights = learner.hypothesis.weights(state)
    assert weights is not None
    return np.append(weights.coef[0], weights.bias[0] if points.constant else 0.0)
