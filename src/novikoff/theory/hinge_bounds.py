"""The search for the best v of the Freund-Schapire, the hinge and the row-length mistake bounds.

bounds.py states the theorems.

problem   minimise  R |v| + |h|_2,  or the root s of  s^2 = s R |v| + |h|_1,   h_i = max(0, 1 - <v, z_i>),
          or the root M of  M = |v| sqrt(S(M)) + |h|_1,  S(M) the sum of the M largest |z|^2
given     points z
result    v, and dual weights alpha that prove how near to the best it is
source    Freund & Schapire 1999, theorem 2; Gentile 2003; Mohri & Rostamizadeh 2013
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from novikoff._compiled.loops import descent, hinge
from novikoff.theory import exact
from novikoff.theory.signed_points import SignedPoints

__all__ = [
    "UNIT",
    "UP",
    "BestBound",
    "FreundSchapireBound",
    "HingeBound",
    "NewtonDescent",
    "RowLengthBound",
    "ScaledPoints",
]

UNIT = 2.0**-52
UP = 1.0 + 16.0 * UNIT  # times this, a result of a few operations is rounded up
_NEWTON_STEPS = 300
_CONJUGATE_STEPS = 250
_SMALLEST_WIDTH = 1e-11  # a corner smoothed over less than this cannot be told from the corner itself
_LONGEST_STEP = 1e12


class ScaledPoints:
    """The points divided by R, so that none is longer than 1 and the unit of the data does not matter. Here w = R v."""

    def __init__(self, points: SignedPoints) -> None:
        self.points = points
        self.size = points.rows.n_features + 1  # as in SignedPoints: the bias last, 0 if there is none
        self.radius = exact.radius_upper_bound(points)
        self.scale = self.radius or 1.0
        # A sum of this many terms, in any order, is off by at most this fraction of the sum of their sizes
        # (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).
        self.rounding = (len(points) + self.size + 16) * UNIT

    def margins(self, w: np.ndarray) -> np.ndarray:
        return self.points.margins(w / self.scale)

    def combine(self, alpha: np.ndarray) -> np.ndarray:
        """sum alpha_i z_i / R."""
        rows, out = self.points.rows, np.empty(self.size)
        hinge.combine_rows(rows.data, rows.indices, rows.indptr, self.points.constant, alpha * self.points.signs, out)
        return out / self.scale

    def hessian_product(self, chosen: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """sum over chosen rows z <z, direction> / R^2."""
        rows, out, indicator = self.points.rows, np.empty(self.size), np.zeros(len(self.points))
        indicator[chosen] = 1.0
        arrays, constant = (rows.data, rows.indices, rows.indptr), self.points.constant
        descent.fill_hessian_product(*arrays, constant, indicator, direction / self.scale, out)
        return out / self.scale


class FreundSchapireBound:
    """The bound (|w| + |h|_2)^2. It is convex, but has corners where h = 0, as every hinge loss does.

    The function that is minimised is smoothed over a width mu, which is reduced during the search: sqrt(|h|_2^2 +
    mu^2). Its slopes alpha are feasible for the dual of the function without smoothing.
    """

    name = "freund-schapire"
    tolerance = 1e-9
    squared = True
    most = math.inf  # no value is larger

    def __init__(self) -> None:
        self.mu = 1.0

    def loss(self, h: np.ndarray) -> float:
        return _length(h)

    def value(self, p: float, loss: float) -> float:
        return (p + loss) ** 2

    def lower(self, alpha: np.ndarray, total: float, length: float) -> float:
        """Return the lower bound that dual weights prove, given their sum and |sum alpha z / R|."""
        return (total / (max(length, _length(alpha)) or 1.0)) ** 2

    def norm_factor(self, p: float, h: np.ndarray) -> float:
        """Return the factor of |w| in the function that is minimised, norm_factor * |w| + loss."""
        return 1.0

    def weights(self, h: np.ndarray) -> np.ndarray:
        """alpha, so that the gradient of the loss is -sum alpha z."""
        return h / math.hypot(_length(h), self.mu)

    def curvature(self, h: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return rows whose loss has curvature, that curvature, and by how much it is less along sum alpha z."""
        curvature = 1.0 / math.hypot(_length(h), self.mu)
        return np.flatnonzero(h), curvature, curvature

    def smoothing_error(self, h: np.ndarray) -> float:
        """By how much the dual of the smoothed function falls short of the loss."""
        return self.loss(h) - _dot(h, self.weights(h))

    def reduce_smoothing(self) -> bool:
        """Reduce mu; False if the smoothed function can no longer be told from the original one."""
        self.mu /= 4.0
        return self.mu > _SMALLEST_WIDTH


class HingeBound(FreundSchapireBound):
    """The bound s^2 with s^2 = s |w| + |h|_1. For fixed s the right side is convex in w, and reducing it reduces s.

    A smoothed hinge is h^2 / (2 mu) up to mu, h - mu / 2 beyond.
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

    def norm_factor(self, p: float, h: np.ndarray) -> float:
        return math.sqrt(self.value(p, self.loss(h)))

    def weights(self, h: np.ndarray) -> np.ndarray:
        return np.minimum(h / self.mu, 1.0)

    def curvature(self, h: np.ndarray) -> tuple[np.ndarray, float, float]:
        return np.flatnonzero((h > 0.0) & (h < self.mu)), 1.0 / self.mu, 0.0


class RowLengthBound(HingeBound):
    """The bound M with M = |w| sqrt(T(M)) + |h|_1, where T(M) is the sum of the M largest |z / R|^2.

    T is concave, T(0) = 0 and T(M) <= M, so this is HingeBound with a smaller factor of |w|. Between integers T is
    linear.
    """

    name = "row-lengths"

    def __init__(self, scaled: ScaledPoints) -> None:
        super().__init__()
        lengths = np.sqrt(scaled.points.rows.squared_norms + scaled.points.constant) / scaled.scale
        squared = np.sort(lengths * lengths)[::-1]
        self._sums = np.append(0.0, np.cumsum(squared))
        self.most = float(len(squared))
        self._up, self._down = 1.0 + 2.0 * scaled.rounding, 1.0 - 2.0 * scaled.rounding

    def value(self, p: float, loss: float) -> float:
        """Return the largest M <= n with M - loss <= p sqrt(T(M)); what that is of is convex, so M is the only root."""
        sums, n = self._up * self._sums, len(self._sums) - 1
        k = bisect_left(range(n + 1), True, lo=1, key=lambda m: m - loss > p * math.sqrt(sums[m])) - 1
        if k == n:
            return float(n)
        slope = float(sums[k + 1] - sums[k])
        # x = M - loss solves x^2 = p^2 (T(k) + slope (x + loss - k))
        constant = max(0.0, float(sums[k]) + slope * (loss - k))
        x = 0.5 * p * (p * slope + math.sqrt(p * p * slope * slope + 4.0 * constant))
        return min(max(loss + x, float(k)), k + 1.0)

    def lower(self, alpha: np.ndarray, total: float, length: float) -> float:
        """Return the largest M <= A with (M B / A)^2 <= T(M), for weights scaled such that none is above 1."""
        largest = float(alpha.max()) or 1.0
        total, length = total / largest, length / largest
        sums, n = self._down * self._sums, len(self._sums) - 1
        if not sums[-1]:  # all rows are 0, and so is their sum, whatever its rounding may be
            return total
        share = (length / total) ** 2 if total else math.inf
        k = bisect_left(range(n + 1), True, lo=1, key=lambda m: share * m * m > sums[m]) - 1
        if k >= total or k == n:
            return min(total, float(n))
        slope = float(sums[k + 1] - sums[k])
        constant = max(0.0, float(sums[k]) - slope * k)
        return min(total, max(float(k), (slope + math.sqrt(slope * slope + 4.0 * share * constant)) / (2.0 * share)))

    def norm_factor(self, p: float, h: np.ndarray) -> float:
        at = self.value(p, self.loss(h))
        return math.sqrt(float(np.interp(at, np.arange(len(self._sums)), self._sums))) or 1.0


class BestBound:
    """The best v so far and the bound it proves, the best dual weights so far and what they prove.

    Both are computed in doubles and rounded to the safe side. It starts with v = 0, which proves that there are no more
    mistakes than rows, and alpha = 1.
    """

    def __init__(self, theorem: FreundSchapireBound, scaled: ScaledPoints, v: np.ndarray) -> None:
        self.theorem, self.scaled = theorem, scaled
        n = len(scaled.points)
        self.v, self.value, self.lower, self.weights = np.zeros(scaled.size), float(n), 0.0, np.ones(n)
        self.loss = theorem.loss(np.ones(n)) * (1.0 + scaled.rounding)
        self.keep_better_vector(v)
        self.keep_better_weights(np.ones(n))

    @property
    def is_tight(self) -> bool:
        """Whether no v can improve the bound by more than the tolerance."""
        return self.value - self.lower <= self.theorem.tolerance * self.value

    def keep_better_vector(self, v: np.ndarray) -> None:
        """Keep v if its bound, rounded up, is less than what is known."""
        if not (np.isfinite(v).all() and v.any()):
            return
        value, loss = self._evaluate(v)
        if value < self.value:
            self.v, self.value, self.loss = v, value, loss

    def use_vector(self, v: np.ndarray) -> None:
        """Take v, whatever its bound is."""
        self.v, (self.value, self.loss) = v, self._evaluate(v)

    def _evaluate(self, v: np.ndarray) -> tuple[float, float]:
        """Return the bound of v and its loss, both rounded up."""
        scaled = self.scaled
        p = scaled.radius * math.hypot(*v) * UP
        # The products of a score and their sum are off by (size + 1) u sum |v_j z_j| at most, which is at most
        # (size + 1) u p (Cauchy-Schwarz). Underflow is far below this where h is small, for then p >= 1 / 2, and
        # far below the rounding of h where h is not.
        slack = (scaled.size + 4) * UNIT * p
        h = np.maximum(0.0, 1.0 + slack - scaled.points.margins(v))
        loss = self.theorem.loss(h) * (1.0 + scaled.rounding)
        return min(self.theorem.value(p, loss) * UP, self.theorem.most), loss

    def keep_better_weights(self, alpha: np.ndarray) -> None:
        """Keep what dual weights prove, rounded down, if it is more than what is known."""
        rounding = self.scaled.rounding
        total = float(alpha.sum())
        # Each coordinate of sum alpha z is off by n u sum alpha_i |z_ij| at most, together n u R sum alpha.
        length = _length(self.scaled.combine(alpha)) * (1.0 + rounding) + rounding * total
        lower = float(self.theorem.lower(alpha, total, length)) * (1.0 - 4.0 * rounding)
        if lower > self.lower:
            self.lower, self.weights = lower, alpha


class NewtonDescent:
    """Newton's method on norm_factor * |w| + loss, started at v, or along the sum of all points if v is 0.

    The Hessian is never formed: conjugate gradients need only products with it, each one pass over the rows whose loss
    has curvature.
    """

    def __init__(self, theorem: FreundSchapireBound, scaled: ScaledPoints, v: np.ndarray) -> None:
        self.theorem, self.scaled = theorem, scaled
        if v.any():
            self.w, self.margins = v * scaled.scale, scaled.points.margins(v)
        else:
            self.w, self.margins = np.zeros(scaled.size), np.zeros(len(scaled.points))
            self._search_along(scaled.combine(np.ones(len(scaled.points))))

    def improve(self, best: BestBound) -> None:
        """Search, and pass the best v and alpha that were found to `best`."""
        theorem, best_lower, weights = self.theorem, 0.0, np.zeros(len(self.margins))
        for _ in range(_NEWTON_STEPS):
            h, p = self._hinges(self.margins), _length(self.w)
            if not p:
                break
            alpha = theorem.weights(h)
            combination = self.scaled.combine(alpha)
            lower = theorem.lower(alpha, float(alpha.sum()), _length(combination))
            if lower > best_lower:
                best_lower, weights = lower, alpha
            value = theorem.value(p, theorem.loss(h))
            if value - best_lower <= 0.5 * theorem.tolerance * value:
                break
            gradient = theorem.norm_factor(p, h) * self.w / p - combination
            if _length(gradient) * p <= 0.3 * theorem.smoothing_error(h) and theorem.reduce_smoothing():
                continue
            if not (self._step(h, p, combination, gradient) or theorem.reduce_smoothing()):
                break
        best.keep_better_vector(self.w / self.scaled.scale)
        best.keep_better_weights(weights)

    def _hinges(self, margins: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - margins)

    def _step(self, h: np.ndarray, p: float, combination: np.ndarray, gradient: np.ndarray) -> bool:
        """Take a Newton step; False if it does not reduce the function."""
        norm_factor, axis = self.theorem.norm_factor(p, h), self.w / p
        chosen, curvature, reduction = self.theorem.curvature(h)

        def product(d: np.ndarray) -> np.ndarray:
            """Return the Hessian of norm_factor * |w| + loss, times d; along w it may be 0, so a little is added."""
            along = (
                norm_factor / p * (d * (1.0 + 1e-9) - axis * _dot(axis, d))
                - reduction * _dot(combination, d) * combination
            )
            return along + curvature * self.scaled.hessian_product(chosen, d)

        accuracy = min(0.1, _length(gradient) / norm_factor)
        direction = _conjugate_gradients(product, -gradient, accuracy)
        return self._search_along(direction * min(1.0, p / _length(direction)))

    def _search_along(self, direction: np.ndarray) -> bool:
        """Go to the minimum along a direction; False if the function does not decrease along it."""
        margin_slopes = self.scaled.margins(direction)
        norm_factor = self.theorem.norm_factor(_length(self.w), self._hinges(self.margins))
        squared, along, direction_squared = _dot(self.w, self.w), _dot(self.w, direction), _dot(direction, direction)

        def slope(t: float) -> float:
            length = math.sqrt(max(0.0, squared + t * (2.0 * along + t * direction_squared))) or 1.0
            slope_of_norm = norm_factor * (along + t * direction_squared) / length
            return slope_of_norm - hinge.rate_of_decrease(
                self.margins, margin_slopes, t, self.theorem.mu, self.theorem.squared
            )

        if slope(0.0) >= 0.0:
            return False
        far = 1.0
        while slope(far) < 0.0 and far < _LONGEST_STEP:
            far *= 2.0
        step = brentq(slope, 0.0, far, rtol=1e-6) if far < _LONGEST_STEP else far
        self.w, self.margins = self.w + step * direction, self.margins + step * margin_slopes
        return True


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """<a, b>. BLAS would start threads for long vectors, and on a busy machine wait longer than it computes."""
    return float(np.einsum("i,i->", a, b))


def _length(a: np.ndarray) -> float:
    return math.sqrt(_dot(a, a))


def _conjugate_gradients(product: Callable[[np.ndarray], np.ndarray], right: np.ndarray, accuracy: float) -> np.ndarray:
    """x with product(x) = right, up to accuracy * |right| (Hestenes & Stiefel 1952); right if there is no curvature."""
    x, residual, squared = np.zeros_like(right), right, _dot(right, right)
    direction, goal = residual, accuracy * accuracy * squared
    for _ in range(_CONJUGATE_STEPS):
        product_with_direction = product(direction)
        curvature = _dot(direction, product_with_direction)
        if not curvature > 0.0:
            break
        x, residual = x + squared / curvature * direction, residual - squared / curvature * product_with_direction
        before, squared = squared, _dot(residual, residual)
        if squared <= goal:
            break
        direction = residual + squared / before * direction
    return x if x.any() else right
