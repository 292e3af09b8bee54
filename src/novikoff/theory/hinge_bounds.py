"""The best v for the two bounds that hold for any data, Freund and Schapire's and the hinge; see bounds.py.

problem   minimise  R |v| + |h|_2,  or the root s of  s^2 = s R |v| + |h|_1,   h_i = max(0, 1 - <v, z_i>)
given     points z
result    v, and dual weights alpha that prove how near to the best it is
source    Freund & Schapire 1999, theorem 2; Gentile 2003; Mohri & Rostamizadeh 2013
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from novikoff._compiled.loops import descent, hinge
from novikoff.theory import exact
from novikoff.theory.signed_points import Points

__all__ = ["UNIT", "UP", "Account", "Descent", "FreundSchapire", "Hinge", "Problem"]

UNIT = 2.0**-52
UP = 1.0 + 16.0 * UNIT  # beyond the rounding of a few operations
_NEWTON_STEPS = 300
_CONJUGATE_STEPS = 250
_SHARPEST = 1e-11  # what is rounded off over less than this cannot be told from sharp
_FURTHEST = 1e12


class Problem:
    """The points over R: none is longer than 1, so that the scale of the data is gone. In these units w = R v."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.size = points.rows.n_features + 1  # as Points has it: the bias last, 0 if there is none
        self.radius = exact.radius_above(points)
        self.scale = self.radius or 1.0
        # A sum of this many terms, in any order, is off by at most this fraction of the sum of their sizes
        # (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
        self.rounding = (len(points) + self.size + 16) * UNIT

    def margins(self, w: np.ndarray) -> np.ndarray:
        return self.points.margins(w / self.scale)

    def sum(self, alpha: np.ndarray) -> np.ndarray:
        """sum alpha_i z_i / R."""
        rows, out = self.points.rows, np.empty(self.size)
        hinge.combine(rows.data, rows.indices, rows.indptr, self.points.constant, alpha * self.points.signs, out)
        return out / self.scale

    def curve(self, chosen: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """sum over chosen rows z <z, direction> / R^2."""
        rows, out, bends = self.points.rows, np.empty(self.size), np.zeros(len(self.points))
        bends[chosen] = 1.0
        descent.curve(rows.data, rows.indices, rows.indptr, self.points.constant, bends, direction / self.scale, out)
        return out / self.scale


class FreundSchapire:
    """(|w| + |h|_2)^2, which is convex but has edges where h = 0; and so has every hinge.

    What is minimised is rounded off over a width mu, which shrinks as the search goes on: here sqrt(|h|_2^2 + mu^2).
    Its slopes alpha are feasible for the dual of the sharp function.
    """

    name = "freund-schapire"
    tolerance = 1e-9
    squared = True

    def __init__(self) -> None:
        self.mu = 1.0

    def loss(self, h: np.ndarray) -> float:
        return _length(h)

    def value(self, p: float, loss: float) -> float:
        return (p + loss) ** 2

    def lower(self, alpha: np.ndarray, total: float, length: float) -> float:
        """What dual weights prove: their sum and |sum alpha z / R| are known."""
        return (total / (max(length, _length(alpha)) or 1.0)) ** 2

    def force(self, p: float, h: np.ndarray) -> float:
        """What |w| weighs against the loss."""
        return 1.0

    def weights(self, h: np.ndarray) -> np.ndarray:
        """alpha, so that the gradient of the loss is -sum alpha z."""
        return h / math.hypot(_length(h), self.mu)

    def curvature(self, h: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Rows whose loss bends, by how much, and by how much less along sum alpha z."""
        bend = 1.0 / math.hypot(_length(h), self.mu)
        return np.flatnonzero(h), bend, bend

    def blur(self, h: np.ndarray) -> float:
        """By how much the dual of what is minimised falls short of the loss."""
        return self.loss(h) - _dot(h, self.weights(h))

    def sharpen(self) -> bool:
        """False if it cannot be told from sharp."""
        self.mu /= 4.0
        return self.mu > _SHARPEST


class Hinge(FreundSchapire):
    """The bound s^2 with s^2 = s |w| + |h|_1. For fixed s this is convex in w, and less of it is a smaller s.

    A hinge rounded off is h^2 / (2 mu) up to mu, h - mu / 2 beyond.
    """

    name = "hinge"
    tolerance = 1e-6
    squared = False

    def loss(self, h: np.ndarray) -> float:
        return float(h.sum())

    def value(self, p: float, loss: float) -> float:
        return ((p + math.sqrt(p * p + 4.0 * loss)) / 2.0) ** 2

    def lower(self, alpha: np.ndarray, total: float, length: float) -> float:
        largest = float(alpha.max()) or 1.0
        total, length = total / largest, length / largest
        return total if length * length <= total else (total / length) ** 2

    def force(self, p: float, h: np.ndarray) -> float:
        return math.sqrt(self.value(p, self.loss(h)))

    def weights(self, h: np.ndarray) -> np.ndarray:
        return np.minimum(h / self.mu, 1.0)

    def curvature(self, h: np.ndarray) -> tuple[np.ndarray, float, float]:
        return np.flatnonzero((h > 0.0) & (h < self.mu)), 1.0 / self.mu, 0.0


class Account:
    """The best v so far and what it proves, the best dual weights so far and what they prove; in doubles, but true.

    It starts with v = 0, which proves that there are no more mistakes than rows, and alpha = 1.
    """

    def __init__(self, theorem: FreundSchapire, problem: Problem, v: np.ndarray) -> None:
        self.theorem, self.problem = theorem, problem
        n = len(problem.points)
        self.v, self.value, self.lower, self.weights = np.zeros(problem.size), float(n), 0.0, np.ones(n)
        self.loss = theorem.loss(np.ones(n)) * (1.0 + problem.rounding)
        self.offer(v)
        self.offer_weights(np.ones(n))

    @property
    def is_settled(self) -> bool:
        return self.value - self.lower <= self.theorem.tolerance * self.value

    def offer(self, v: np.ndarray) -> None:
        """Keep v if its bound, rounded up, is less than what is known."""
        if not (np.isfinite(v).all() and v.any()):
            return
        problem = self.problem
        p = problem.radius * math.hypot(*v) * UP
        # The products of a score and their sum are off by (size + 1) u sum |v_j z_j| at most, which is at most
        # (size + 1) u p (Cauchy and Schwarz). Underflow is far below this where h is small, for then p >= 1 / 2, and
        # far below the rounding of h where h is not.
        slack = (problem.size + 4) * UNIT * p
        h = np.maximum(0.0, 1.0 + slack - problem.points.margins(v))
        loss = self.theorem.loss(h) * (1.0 + problem.rounding)
        value = self.theorem.value(p, loss) * UP
        if value < self.value:
            self.v, self.value, self.loss = v, value, loss

    def offer_weights(self, alpha: np.ndarray) -> None:
        """Keep what dual weights prove, rounded down, if it is more than what is known."""
        rounding = self.problem.rounding
        total = float(alpha.sum())
        # Each coordinate of sum alpha z is off by n u sum alpha_i |z_ij| at most, together n u R sum alpha.
        length = _length(self.problem.sum(alpha)) * (1.0 + rounding) + rounding * total
        lower = float(self.theorem.lower(alpha, total, length)) * (1.0 - 4.0 * rounding)
        if lower > self.lower:
            self.lower, self.weights = lower, alpha


class Descent:
    """Newton's method on force * |w| + loss, from v or along the sum of all points.

    Its matrix is never formed: conjugate gradients ask for products with it, each a pass over the rows that bend.
    """

    def __init__(self, theorem: FreundSchapire, problem: Problem, v: np.ndarray) -> None:
        self.theorem, self.problem = theorem, problem
        if v.any():
            self.w, self.margins = v * problem.scale, problem.points.margins(v)
        else:
            self.w, self.margins = np.zeros(problem.size), np.zeros(len(problem.points))
            self._search_along(problem.sum(np.ones(len(problem.points))))

    def improve(self, account: Account) -> None:
        """Offer the account the best v and alpha that can be found."""
        theorem, best, weights = self.theorem, 0.0, np.zeros(len(self.margins))
        for _ in range(_NEWTON_STEPS):
            h, p = self._hinges(self.margins), _length(self.w)
            if not p:
                break
            alpha = theorem.weights(h)
            pull = self.problem.sum(alpha)
            lower = theorem.lower(alpha, float(alpha.sum()), _length(pull))
            if lower > best:
                best, weights = lower, alpha
            value = theorem.value(p, theorem.loss(h))
            if value - best <= 0.5 * theorem.tolerance * value:
                break
            gradient = theorem.force(p, h) * self.w / p - pull
            if _length(gradient) * p <= 0.3 * theorem.blur(h) and theorem.sharpen():
                continue
            if not (self._step(h, p, pull, gradient) or theorem.sharpen()):
                break
        account.offer(self.w / self.problem.scale)
        account.offer_weights(weights)

    def _hinges(self, margins: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - margins)

    def _step(self, h: np.ndarray, p: float, pull: np.ndarray, gradient: np.ndarray) -> bool:
        """Take a Newton step; False if it leads nowhere."""
        force, axis = self.theorem.force(p, h), self.w / p
        chosen, bend, dent = self.theorem.curvature(h)

        def product(d: np.ndarray) -> np.ndarray:
            """The Hessian of force * |w| + loss, times d; along w it may be flat, so a little is added."""
            along = force / p * (d * (1.0 + 1e-9) - axis * _dot(axis, d)) - dent * _dot(pull, d) * pull
            return along + bend * self.problem.curve(chosen, d)

        accuracy = min(0.1, _length(gradient) / force)
        direction = _conjugate_gradients(product, -gradient, accuracy)
        return self._search_along(direction * min(1.0, p / _length(direction)))

    def _search_along(self, direction: np.ndarray) -> bool:
        """Go to the lowest point along a direction; False if it does not lead down."""
        ahead = self.problem.margins(direction)
        force = self.theorem.force(_length(self.w), self._hinges(self.margins))
        squared, along, ahead_squared = _dot(self.w, self.w), _dot(self.w, direction), _dot(direction, direction)

        def slope(t: float) -> float:
            length = math.sqrt(max(0.0, squared + t * (2.0 * along + t * ahead_squared))) or 1.0
            climb = force * (along + t * ahead_squared) / length
            return climb - hinge.fall(self.margins, ahead, t, self.theorem.mu, self.theorem.squared)

        if slope(0.0) >= 0.0:
            return False
        far = 1.0
        while slope(far) < 0.0 and far < _FURTHEST:
            far *= 2.0
        step = brentq(slope, 0.0, far, rtol=1e-6) if far < _FURTHEST else far
        self.w, self.margins = self.w + step * direction, self.margins + step * ahead
        return True


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """<a, b>. BLAS would start threads for long vectors, and wait for them far longer than it works if others do."""
    return float(np.einsum("i,i->", a, b))


def _length(a: np.ndarray) -> float:
    return math.sqrt(_dot(a, a))


def _conjugate_gradients(product: Callable[[np.ndarray], np.ndarray], right: np.ndarray, accuracy: float) -> np.ndarray:
    """x with product(x) = right, up to accuracy * |right| (Hestenes & Stiefel 1952); right itself if all is flat."""
    x, residual, squared = np.zeros_like(right), right, _dot(right, right)
    direction, goal = residual, accuracy * accuracy * squared
    for _ in range(_CONJUGATE_STEPS):
        bent = product(direction)
        curvature = _dot(direction, bent)
        if not curvature > 0.0:
            break
        x, residual = x + squared / curvature * direction, residual - squared / curvature * bent
        before, squared = squared, _dot(residual, residual)
        if squared <= goal:
            break
        direction = residual + squared / before * direction
    return x if x.any() else right
