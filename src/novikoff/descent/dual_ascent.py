"""Dual coordinate ascent, as in LIBLINEAR: a pass maximises the dual value over one dual variable after the other.

    dual    a_i <- argmax D(a);  w = 1/(alpha n) sum_i c_i a_i y_i x_i

It needs no step size. Rows whose variable is at a bound and will likely stay there are left out of most passes
(shrinking). LIBLINEAR penalises the intercept like a weight; here it has no penalty, and the constraint that this puts
on the dual variables is met by the method of multipliers: after each pass the multiplier is the intercept itself.

The minimum is proved by the duality gap (descent/duality.py), which takes two passes. When to compute it is decided by
an estimate from the margins that a pass meets, which is free but of margins before the weights of that pass.
"""

from __future__ import annotations

import math

import numpy as np

from novikoff._compiled.loops import additive, dual_ascent, hinge
from novikoff._compiled.loops.rows import RowArrays
from novikoff.descent.duality import DualBound, slopes_at
from novikoff.descent.objective import DescentPoint, Objective
from novikoff.descent.options import DescentOptions, DescentResult
from novikoff.descent.trace import DescentTrace
from novikoff.errors import LossError
from novikoff.losses import Hinge, Logistic, SquaredHinge

__all__ = ["DualAscent", "ascend", "is_ascendable"]

_FAR = 40.0  # t = log((1 - a) / a) of an a that is 0 beside 1 in double precision
_NEAR = 0.8  # the gap is computed when its estimate is below this part of the goal
_SELDOM = 16  # passes before the first report that is not needed
_MUCH_LESS = 0.1  # once the estimate on the active rows has fallen by this factor, all rows are visited again


def is_ascendable(objective: Objective) -> bool:
    """Return whether dual coordinate ascent can minimize F."""
    return objective.alpha > 0.0 and isinstance(objective.loss, Hinge | SquaredHinge | Logistic)


class DualAscent:
    """Dual variables, and the weights that follow from them.

    Parameters
    ----------
    objective : Objective
    rng : Generator
        For the order of the rows.
    start : DescentPoint, optional
        The ascent starts from the slopes of the losses there; by default from dual variables of 0.
    """

    def __init__(self, objective: Objective, rng: np.random.Generator, start: DescentPoint | None = None) -> None:
        n, rows = len(objective.rows), objective.rows
        self.objective = objective
        self.is_logistic = isinstance(objective.loss, Logistic)
        scale = 1.0 / (objective.alpha * n)
        caps = np.full(n, scale) if objective.importances is None else scale * objective.importances
        t = np.full(n, _FAR) if start is None else objective.targets * start.scores
        a = np.zeros(n) if start is None else -objective.targets * slopes_at(objective, start.scores)
        if self.is_logistic and start is None:
            a += math.exp(-_FAR)
        self._dual = dual_ascent.DualArrays(caps, a, t, np.zeros(rows.n_features), np.zeros(2))
        if start is not None:
            self._start_weights(start)
        # As long as a typical row, so that neither the bias nor the weights wait for the other.
        self._kappa = objective.constant * (float(rows.squared_norms.mean()) or 1.0)
        self._order, self._n_active = np.arange(n), n
        self._random = rng.integers(1, 1 << 63, 1, dtype=np.uint64)
        self._limits = -np.inf, np.inf
        self._gap_of_all = np.inf  # as the last pass over all rows has estimated it
        self._arrays = RowArrays.of(rows)

    @property
    def duals(self) -> np.ndarray:
        """The dual variables with the sign of their targets."""
        return self.objective.targets * self._dual.a

    def run_pass(self) -> tuple[float, bool]:
        """Visit the active rows once, in a new order; return the estimate of the gap of F on them, and whether they
        were all rows."""
        is_whole = self._n_active == len(self._order)
        dual_ascent.shuffle_rows(self._order, self._n_active, self._random)
        targets, alpha = self.objective.targets, self.objective.alpha
        if self.is_logistic:
            gap = dual_ascent.run_logistic_pass(self._arrays, targets, self._order, self._dual, self._kappa)
            return alpha * float(gap), True
        is_squared = isinstance(self.objective.loss, SquaredHinge)
        self._n_active, gap, least, most = dual_ascent.run_hinge_pass(
            self._arrays, targets, self._order, self._n_active, self._dual, self._kappa, is_squared, self._limits
        )
        # As Hsieh et al.: if no gradient has the sign that a limit is about, the limit is dropped.
        self._limits = least if least < 0.0 else -np.inf, most if most > 0.0 else np.inf
        if is_whole:
            self._gap_of_all = gap
        elif gap <= _MUCH_LESS * self._gap_of_all:
            self.include_all_rows()
        return alpha * float(gap), is_whole

    def include_all_rows(self) -> None:
        """Let the next pass visit all rows."""
        self._n_active, self._limits = len(self._order), (-np.inf, np.inf)

    def point(self) -> DescentPoint:
        """Return the weights, with the best bias for the hinge loss, and F there; the gradient is left NaN."""
        objective, rows = self.objective, self.objective.rows
        scores = np.empty(len(rows))
        w, bias = self._dual.w, self._dual.bias[:1]
        if objective.constant and isinstance(objective.loss, Hinge):
            additive.score_binary(rows.data, rows.indices, rows.indptr, 0.0, w, bias, scores)
            bias = np.array([_best_hinge_bias(scores, objective.targets, objective.importances)])
            scores += bias
        else:
            additive.score_binary(rows.data, rows.indices, rows.indptr, objective.constant, w, bias, scores)
        v = np.append(w, bias)
        value, _ = objective.value_and_slope(
            DescentPoint(v, scores, math.nan, v), np.zeros(objective.size), scores, 0.0
        )
        return DescentPoint(v, scores, value, np.full(objective.size, np.nan))

    def _start_weights(self, start: DescentPoint) -> None:
        """Compute the weights that follow from the dual variables; the bias is that of the point."""
        rows, multiples = self.objective.rows, self._dual.caps * self.duals
        summed = np.empty(self.objective.size)
        hinge.combine_rows(rows.data, rows.indices, rows.indptr, 0.0, multiples, summed)
        self._dual.w[:] = summed[:-1]
        self._dual.bias[:] = start.v[-1], multiples.sum()


def _best_hinge_bias(scores: np.ndarray, targets: np.ndarray, importances: np.ndarray | None) -> float:
    """Return the b that minimizes sum_i c_i max(0, 1 - y_i (s_i + b)).

    The slope by b rises by c_i where y_i (s_i + b) = 1, from minus the importance of all positive rows to that of all
    negative ones. So the positive rows say which of these b is the minimum, counted from below.
    """
    kinks = targets - scores  # y = 1 / y
    is_positive = targets > 0.0
    if importances is None:
        count = int(np.count_nonzero(is_positive))
        return float(np.partition(kinks, count - 1)[count - 1]) if count else float(kinks.min())
    order = np.argsort(kinks)
    reached = np.cumsum(importances[order])
    return float(kinks[order[min(np.searchsorted(reached, importances[is_positive].sum()), len(kinks) - 1)]])


def ascend(objective: Objective, options: DescentOptions, trace: DescentTrace) -> DescentResult:
    """Minimize by dual coordinate ascent until the duality gap is at most `tol` times F at zero weights."""
    _require_dual(objective)
    best = objective.start()
    goal = (options.tol or 0.0) * best.value
    bound, ascent = DualBound(objective), DualAscent(objective, options.rng)
    gap, near = bound.gap(best.value), _NEAR * goal
    trace.report(0, best, gap)
    for number in range(1, options.max_iter + 1):
        estimate, is_whole = ascent.run_pass()
        is_last = number == options.max_iter
        if options.tol is not None and estimate <= near and not is_whole:
            ascent.include_all_rows()
        elif is_last or (options.tol is not None and (estimate <= near or _is_reported(number, trace))):
            point = ascent.point()
            bound.include(ascent.duals)
            best = point if point.value <= best.value else best
            gap = bound.gap(best.value)
            trace.report(number, best, gap)
            if options.tol is not None and gap <= goal:
                return DescentResult(best, number, True)
            near = min(near, _NEAR * estimate * goal / gap) if gap > 0.0 else near
    return DescentResult(best, options.max_iter, options.tol is None)


def _is_reported(number: int, trace: DescentTrace) -> bool:
    """Return whether a report, which takes two passes, is due although the estimate is too large."""
    return (trace.has_listener or number >= _SELDOM) and number & (number - 1) == 0


def _require_dual(objective: Objective) -> None:
    """Raise a LossError for a problem that dual coordinate ascent cannot solve."""
    if not isinstance(objective.loss, Hinge | SquaredHinge | Logistic):
        raise LossError(
            "solver='dual' is for the losses 'hinge', 'squared-hinge' and 'logistic'; "
            f"{type(objective.loss).__name__} has no dual problem here: use solver='newton', 'gd' or 'sgd'."
        )
    if not objective.alpha:
        raise LossError(
            "solver='dual' needs a penalty, since weights are 1 / (alpha n) times a sum of rows, and alpha is 0: "
            "use a small alpha, such as 1e-6, or solver='newton' or 'sgd'."
        )
