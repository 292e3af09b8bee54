"""The point of the hull nearest to 0, in doubles, by Wolfe's algorithm on a working set.

The points may be too many for a Gram matrix of all of them, so only the points of the working set have one. Each round
visits all points once: points with <x, z> < |x|^2 show that the current nearest point x is not the nearest of all, and
the worst of them join the working set. |x| decreases in every round, so the rounds end; there are seldom more than ten.

At each moment, with gamma the distance of the whole hull,

    min <x, z> / |x|  <=  gamma  <=  |x|
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
from novikoff.theory.signed_points import SignedPoints

__all__ = ["Corral", "search"]

_FEW, _MANY = 64, 256  # points that may join the working set in a round: more where visiting all points takes longer
_WORKING = 4096  # points in the working set before those without weight leave
_ROUNDS = 1000
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


def search(points: SignedPoints, tol: float) -> Corral:
    """Search until the gap is tol * upper, the point is 0 up to rounding, or doubles allow no improvement."""
    return _WorkingSetSearch(points, tol).run()


class _WorkingSetSearch:
    """The search of one call: the working set, Wolfe's algorithm on it, and the best direction so far."""

    def __init__(self, points: SignedPoints, tol: float) -> None:
        self.points, self.tol = points, tol
        self.working = np.empty(0, np.int64)
        self.z: Any = None  # the points of the working set, and their Gram matrix, with capacity to grow
        self.G = np.empty((0, 0))
        self.shift = float(points.squared_lengths.mean())
        self.state = _WolfeState.empty()
        self.best, self.lower = _perceptron_direction(points), -math.inf

    def run(self) -> Corral:
        x, upper = self.best, math.inf
        for _ in range(_ROUNDS):
            margins = self.points.margins(x)
            self._keep_better_direction(x, float(margins.min()))
            if self.lower >= (1.0 - self.tol) * upper or not self._extend_working_set(margins, upper):
                break
            self._find_nearest_point()
            x, upper = self.state.x, self.state.upper
            if upper <= _MAYBE_ZERO * math.sqrt(self._squares().max()):
                break
        return Corral(self.working[self.state.corral], self.state.weights, x, self.best, self.lower)

    def _keep_better_direction(self, x: np.ndarray, least: float) -> None:
        length = float(np.linalg.norm(x))
        if length > 0.0 and least / length > self.lower:
            self.best, self.lower = x, least / length

    def _extend_working_set(self, margins: np.ndarray, upper: float) -> bool:
        """Add the points of smallest margin to the working set; False if none of them is new."""
        n = len(margins)
        most = min(max(_FEW, n // 128), _MANY)
        worst = np.arange(n) if n <= _MANY else np.argpartition(margins, most)[:most]
        joining = np.setdiff1d(worst[margins[worst] < upper * upper], self.working)
        if not joining.size:
            return False
        if len(self.working) + len(joining) > max(_WORKING, 2 * len(self.state.corral)):
            self._drop_points_without_weight()
        z, known = self.points.take(joining), len(self.working)
        self.z = z if self.z is None else _stack(self.z, z)
        self.working = np.concatenate([self.working, joining])
        m, columns = len(self.working), _to_dense(self.z @ z.T)
        if m > len(self.G):
            buffer = np.zeros((2 * m, 2 * m))
            buffer[:known, :known] = self.G[:known, :known]
            self.G = buffer
        self.G[:m, known:m] = columns
        self.G[known:m, :known] = columns[:known].T
        return True

    def _squares(self) -> np.ndarray:
        """|z|^2 of the working set."""
        return self.G.diagonal()[: len(self.working)]

    def _drop_points_without_weight(self) -> None:
        """Remove the points without weight from the working set."""
        kept = self.state.corral
        self.working, self.z, self.G = self.working[kept], self.z[kept], self.G[np.ix_(kept, kept)]
        self.state = replace(self.state, corral=np.arange(len(kept)))

    def _find_nearest_point(self) -> None:
        """Find the nearest point of the working set.

        By the Gram matrix <x, z> is known only to half of the digits. So its result is checked on the points
        themselves, and a point that turns out to be nearer enters the corral, as long as that improves the margin of x.
        """
        if not len(self.state.corral):
            self.state = _WolfeState.at_point(int(np.argmin(self._squares())), self.G, self.z, self.shift)
        self.state = self._run_wolfe(-1)
        if not self.state.upper:  # 0, or so short that its square is
            return
        slopes = self.z @ self.state.x
        for _ in range(len(self.working)):
            entering = int(np.argmin(slopes))
            if slopes[entering] >= self.state.upper**2 * (1.0 - 1e-15) or entering in self.state.corral:
                return
            further = self._run_wolfe(entering)
            further_slopes = self.z @ further.x
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
        rounding = 4.0 * _UNIT * float(self._squares().max())
        size = hull.find_nearest_point(
            self.G, m, self.shift, rounding, entering, corral, weights, factor, size, 100 * m
        )
        return _refine(corral[:size].copy(), weights[:size].copy(), factor[:size, :size].copy(), self.z)


@dataclass(frozen=True, eq=False)
class _WolfeState:
    """The state of Wolfe's algorithm: the corral as indices of the working set, their weights, the Cholesky factor of
    their Gram matrix, and x."""

    corral: np.ndarray
    weights: np.ndarray
    factor: np.ndarray
    x: np.ndarray

    @classmethod
    def empty(cls) -> _WolfeState:
        return cls(np.empty(0, np.int64), np.empty(0), np.empty((0, 0)), np.empty(0))

    @classmethod
    def at_point(cls, first: int, G: np.ndarray, z: Any, shift: float) -> _WolfeState:
        factor = np.array([[math.sqrt(G[first, first] + shift)]])
        return cls(np.array([first]), np.ones(1), factor, _to_dense(z[[first]])[0])

    @property
    def upper(self) -> float:
        return float(np.linalg.norm(self.x))


def _refine(corral: np.ndarray, weights: np.ndarray, factor: np.ndarray, working: Any) -> _WolfeState:
    """x = sum weights * z from the points themselves, corrected until all of the corral are equally far along it.

    Solving again for the residual with the factor of the Gram matrix makes up for the precision that was lost in
    forming it (the corrected semi-normal equations: Björck 1987). x is corrected separately: weights that are rounded
    to doubles give it only to the precision of the longest point.
    """
    z = working[corral]
    x = z.T @ weights
    state, spread = _WolfeState(corral, weights, factor, x), math.inf
    for _ in range(8):
        slopes = z @ x
        residual = slopes - weights @ slopes
        if not np.abs(residual).max() < spread:
            break
        spread, state = np.abs(residual).max(), _WolfeState(corral, weights, factor, x)
        inward, even = cho_solve((factor, True), np.column_stack([residual, np.ones(len(corral))])).T
        step = inward.sum() / even.sum() * even - inward
        weights, x = weights + step, x + z.T @ step
        if not (weights > 0.0).all():
            break
    return state


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
