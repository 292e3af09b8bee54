"""The point of conv{z} nearest to 0, in doubles, on more points than a Gram matrix could hold.

Wolfe's algorithm runs on a working set. Each round looks at all points once: those that the current nearest point x
does not clear (<x, z> < |x|^2) show that it is not the nearest of all, and the worst of them join the working set.
|x| falls in every round, so the rounds end; there are seldom more than ten.

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
from novikoff.theory.signed_points import Points

__all__ = ["Corral", "search"]

_FEW, _MANY = 64, 256  # points that may join the working set in a round: more where looking at all takes longer
_WORKING = 4096  # points in the working set before those without weight leave
_ROUNDS = 1000
_UNIT = 2.0**-52
# Below this fraction of the longest point, x is within the rounding of its own sum: it may be 0.
_MAYBE_ZERO = 1e-10


@dataclass(frozen=True, eq=False)
class Corral:
    """A point x = sum weights * z of the hull, and what it proves: lower <= gamma <= |x|.

    `lower` is the margin of the direction `best`, usually that of x.
    """

    rows: np.ndarray
    weights: np.ndarray
    x: np.ndarray
    best: np.ndarray
    lower: float

    @classmethod
    def nowhere(cls, points: Points) -> Corral:
        """For a search that found nothing."""
        zeros = np.zeros(points.rows.n_features + 1)
        return cls(np.empty(0, np.int64), np.empty(0), zeros, zeros, 0.0)

    @property
    def upper(self) -> float:
        return float(np.linalg.norm(self.x))


def search(points: Points, tol: float) -> Corral:
    """Search until the gap is tol * upper, the point is 0 as far as doubles tell, or they can do no better."""
    return _Search(points, tol).run()


class _Search:
    def __init__(self, points: Points, tol: float) -> None:
        self.points, self.tol = points, tol
        self.working = np.empty(0, np.int64)
        self.z: Any = None  # the points of the working set, and their Gram matrix, with room to grow
        self.G = np.empty((0, 0))
        self.shift = float(points.squared_lengths.mean())
        self.standing = _Standing.nowhere()
        self.best, self.lower = _first_direction(points), -math.inf

    def run(self) -> Corral:
        x, upper = self.best, math.inf
        for _ in range(_ROUNDS):
            margins = self.points.margins(x)
            self._keep_better(x, float(margins.min()))
            if self.lower >= (1.0 - self.tol) * upper or not self._widen(margins, upper):
                break
            self._settle()
            x, upper = self.standing.x, self.standing.upper
            if upper <= _MAYBE_ZERO * math.sqrt(self._squares().max()):
                break
        return Corral(self.working[self.standing.corral], self.standing.weights, x, self.best, self.lower)

    def _keep_better(self, x: np.ndarray, least: float) -> None:
        length = float(np.linalg.norm(x))
        if length > 0.0 and least / length > self.lower:
            self.best, self.lower = x, least / length

    def _widen(self, margins: np.ndarray, upper: float) -> bool:
        """Let the worst points join the working set; False if none of them is new."""
        n = len(margins)
        most = min(max(_FEW, n // 128), _MANY)
        worst = np.arange(n) if n <= _MANY else np.argpartition(margins, most)[:most]
        joining = np.setdiff1d(worst[margins[worst] < upper * upper], self.working)
        if not joining.size:
            return False
        if len(self.working) + len(joining) > max(_WORKING, 2 * len(self.standing.corral)):
            self._forget()
        z, known = self.points.take(joining), len(self.working)
        self.z = z if self.z is None else _stacked(self.z, z)
        self.working = np.concatenate([self.working, joining])
        m, columns = len(self.working), _dense(self.z @ z.T)
        if m > len(self.G):
            room = np.zeros((2 * m, 2 * m))
            room[:known, :known] = self.G[:known, :known]
            self.G = room
        self.G[:m, known:m] = columns
        self.G[known:m, :known] = columns[:known].T
        return True

    def _squares(self) -> np.ndarray:
        """|z|^2 of the working set."""
        return self.G.diagonal()[: len(self.working)]

    def _forget(self) -> None:
        """Let the points without weight leave the working set."""
        kept = self.standing.corral
        self.working, self.z, self.G = self.working[kept], self.z[kept], self.G[np.ix_(kept, kept)]
        self.standing = replace(self.standing, corral=np.arange(len(kept)))

    def _settle(self) -> None:
        """Find the nearest point of the working set.

        The Gram matrix knows <x, z> to the root of the precision only. So its verdict is put to the points
        themselves, and one that they say is nearer is made to enter, as long as that improves the margin of x.
        """
        if not len(self.standing.corral):
            self.standing = _Standing.at(int(np.argmin(self._squares())), self.G, self.z, self.shift)
        self.standing = self._stepped(-1)
        if not self.standing.upper:  # 0, or so short that its square is
            return
        slopes = self.z @ self.standing.x
        for _ in range(len(self.working)):
            entering = int(np.argmin(slopes))
            if slopes[entering] >= self.standing.upper**2 * (1.0 - 1e-15) or entering in self.standing.corral:
                return
            further = self._stepped(entering)
            further_slopes = self.z @ further.x
            if not further.upper or further_slopes.min() / further.upper <= slopes[entering] / self.standing.upper:
                return
            self.standing, slopes = further, further_slopes

    def _stepped(self, entering: int) -> _Standing:
        now, m = self.standing, len(self.working)
        size, room = len(now.corral), min(m, self.points.dimension + 1)
        corral, weights, factor = np.zeros(room + 1, np.int64), np.zeros(room + 1), np.zeros((room, room))
        corral[:size], weights[:size], factor[:size, :size] = now.corral, now.weights, now.factor
        rounding = 4.0 * _UNIT * float(self._squares().max())
        size = hull.nearest_point(self.G, m, self.shift, rounding, entering, corral, weights, factor, size, 100 * m)
        return _refined(corral[:size].copy(), weights[:size].copy(), factor[:size, :size].copy(), self.z)


@dataclass(frozen=True, eq=False)
class _Standing:
    """Where Wolfe's algorithm stands: places in the working set, their weights, the factor over them, and x."""

    corral: np.ndarray
    weights: np.ndarray
    factor: np.ndarray
    x: np.ndarray

    @classmethod
    def nowhere(cls) -> _Standing:
        return cls(np.empty(0, np.int64), np.empty(0), np.empty((0, 0)), np.empty(0))

    @classmethod
    def at(cls, first: int, G: np.ndarray, z: Any, shift: float) -> _Standing:
        factor = np.array([[math.sqrt(G[first, first] + shift)]])
        return cls(np.array([first]), np.ones(1), factor, _dense(z[[first]])[0])

    @property
    def upper(self) -> float:
        return float(np.linalg.norm(self.x))


def _refined(corral: np.ndarray, weights: np.ndarray, factor: np.ndarray, working: Any) -> _Standing:
    """x = sum weights * z from the points themselves, corrected until all of the corral are equally far along it.

    Solving again for the residual with the factor of the Gram matrix makes up for the precision that was lost in
    forming it (the corrected semi-normal equations: Björck 1987). x is corrected by itself: rounded to doubles, the
    weights can only say it to the precision of the longest point.
    """
    z = working[corral]
    x = z.T @ weights
    standing, spread = _Standing(corral, weights, factor, x), math.inf
    for _ in range(8):
        slopes = z @ x
        residual = slopes - weights @ slopes
        if not np.abs(residual).max() < spread:
            break
        spread, standing = np.abs(residual).max(), _Standing(corral, weights, factor, x)
        inward, even = cho_solve((factor, True), np.column_stack([residual, np.ones(len(corral))])).T
        step = inward.sum() / even.sum() * even - inward
        weights, x = weights + step, x + z.T @ step
        if not (weights > 0.0).all():
            break
    return standing


def _dense(block: Any) -> np.ndarray:
    return np.asarray(block.toarray() if sp.issparse(block) else block)


def _stacked(upper: Any, lower: Any) -> Any:
    return sp.vstack([upper, lower], format="csr") if sp.issparse(upper) else np.vstack([upper, lower])


def _first_direction(points: Points) -> np.ndarray:
    """Where a perceptron is after one pass: on easy data already a separator."""
    learner = Learner(hypothesis="averaged", fit_intercept=bool(points.constant))  # type: ignore[arg-type]
    state = learner.update(learner.init(points.rows.n_features), points.rows, (points.signs > 0).astype(np.int64))
    weights = learner.hypothesis.weights(state)
    assert weights is not None
    return np.append(weights.coef[0], weights.bias[0] if points.constant else 0.0)
