"""Descent on all rows at once: gradient descent and Newton's method.

    gd        v <- v - t grad F
    newton    v <- v - t H^-1 grad F            ("2 GD" in the notes)

where t is constant if learning_rate is 'constant', and otherwise found by a line search that meets Wolfe's
conditions. After its first trial a search reads no row: scores are linear in t.

The Hessian is formed and factored up to DENSE_LIMIT columns. Beyond, the system is solved by conjugate gradients, up to
an accuracy that grows as the gradient falls (Nash 1985; Dembo, Eisenstat & Steihaug 1982), and no d x d matrix is
needed. Where rows are many, Newton's method first minimizes over a tenth of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as spla

from novikoff.descent.gap_proofs import GapProver
from novikoff.descent.objective import DENSE_LIMIT, DescentPoint, Objective
from novikoff.descent.options import DescentOptions, DescentResult, no_curvature_error, require_descent, suggest_remedy
from novikoff.descent.trace import DescentTrace
from novikoff.errors import DivergenceError, LossError
from novikoff.losses import Custom, HingeAtZero, Squared, is_smooth

__all__ = ["gradient_descent", "newton"]

_CONJUGATE_STEPS = 200
_TRIALS = 40  # of a line search
_SAMPLE, _ENOUGH = 10, 200  # one row in ten, if those are 200 for each weight: then F is half a percent off
_SAMPLE_TOL = 1e-3  # of the descent on the sample: more accuracy would be lost on all rows
_DECREASE, _FLATTENED = 1e-4, 0.9  # of Wolfe's conditions, as Nocedal & Wright give them for Newton's method
_ROUNDING = 1e-14  # relative error of a sum of many losses
_PROVED = 1e-12  # a gap of this part of F at zero weights is as small as the rounding of such sums can show
_VISIBLE = 1e-8  # smallest relative change of F that shows, where F is far from a parabola

Direction = Callable[[DescentPoint], np.ndarray]


def gradient_descent(objective: Objective, options: DescentOptions, trace: DescentTrace) -> DescentResult:
    """Minimize by gradient descent. If the loss has kinks, steps fall like 1 / sqrt(t) unless options say otherwise."""
    if isinstance(objective.loss, HingeAtZero):
        raise LossError(
            "hinge-at-zero is smallest where all weights are 0, and gradient descent would find just that. "
            "solver='sgd' follows it along a stream, as the perceptron does; or use 'hinge'."
        )
    steps = _Steps(objective, options, 1.0 / (objective.steepest_curvature() or 1.0))
    return _descend(objective, options, trace, lambda point: -point.gradient, steps)


def newton(objective: Objective, options: DescentOptions, trace: DescentTrace) -> DescentResult:
    """Minimize by Newton's method, with a line search between the point and the minimum of its quadratic model."""
    if not is_smooth(objective.loss):
        raise no_curvature_error("Newton's method", objective.loss)
    direction = _newton_direction if objective.size <= DENSE_LIMIT else _conjugate_gradient_direction
    steps = _Steps(objective, options, 1.0)
    start = _minimize_sample(objective, options) if options.learning_rate == "auto" else None
    return _descend(objective, options, trace, lambda point: direction(objective, point), steps, start)


def _minimize_sample(objective: Objective, options: DescentOptions) -> np.ndarray | None:
    """Return the minimum over one row in _SAMPLE, which is near that of all rows; None if rows are too few."""
    n = len(objective.rows) // _SAMPLE
    if n < _ENOUGH * objective.size or isinstance(objective.loss, Squared):  # one step from anywhere is exact
        return None
    return newton(objective.subsample(_SAMPLE), replace(options, tol=_SAMPLE_TOL), DescentTrace()).point.v


class _Steps:
    """Step lengths: `first`, times what a line search finds or a schedule gives."""

    def __init__(self, objective: Objective, options: DescentOptions, default_step: float) -> None:
        self.objective, rate = objective, options.learning_rate
        if rate == "auto":
            rate = "line-search" if is_smooth(objective.loss) else "invscaling"
        self.searches, self.falls = rate == "line-search", rate == "invscaling"
        self.may_rise = not is_smooth(objective.loss)  # a subgradient may lead up as well as down
        self.first = default_step if options.eta0 is None else options.eta0

    def next(self, point: DescentPoint, direction: np.ndarray, number: int) -> DescentPoint | None:
        """Return the point that step `number` leads to; None if no step leads down."""
        if not self.searches:
            return self.objective.at(point.v + (direction / np.sqrt(number) if self.falls else direction))
        full = self.objective.at(point.v + direction)  # where most steps end: with its gradient, no search is needed
        with np.errstate(over="ignore", invalid="ignore"):  # at a point too far away, which the search refuses
            slope, full_slope = float(point.gradient @ direction), float(full.gradient @ direction)
            direction_scores = full.scores - point.scores

        def value_and_slope(t: float) -> tuple[float, float]:
            if t == 1.0:
                return full.value, full_slope
            return self.objective.value_and_slope(point, direction, direction_scores, t)

        t = _line_search(value_and_slope, point.value, slope)
        if t is None:  # F can fall no further in double precision, but its gradient may
            return full if full.gradient_norm < point.gradient_norm else None
        return full if t == 1.0 else self.objective.at(point.v + t * direction)


def _line_search(value_and_slope: Callable[[float], tuple[float, float]], value: float, slope: float) -> float | None:
    """Return a step that meets Wolfe's conditions, by doubling and halving (Lewis & Overton 2013, algorithm 2.6).

    `value_and_slope` gives F and its slope after a step, `value` and `slope` are those before; the result is None if
    no step is found. Where F falls by less than double precision can show, its slope decides (Hager & Zhang 2005).
    scipy's search gives up there with a warning, and to silence a warning would change the filters of all threads.
    """
    lower, upper, t = 0.0, np.inf, 1.0
    for _ in range(_TRIALS):
        trial, found_slope = value_and_slope(t)
        is_lower = trial <= value + _DECREASE * t * slope
        is_as_low = trial <= value + _ROUNDING * abs(value) and found_slope <= (2.0 * _DECREASE - 1.0) * slope
        if not (is_lower or is_as_low):  # also if F is NaN
            upper = t
        elif found_slope < _FLATTENED * slope:
            lower = t
        else:
            return t
        t = 2.0 * lower if upper == np.inf else 0.5 * (lower + upper)
    return None


def _descend(
    objective: Objective,
    options: DescentOptions,
    trace: DescentTrace,
    direction: Direction,
    steps: _Steps,
    start: np.ndarray | None = None,
) -> DescentResult:
    """Take steps from zero weights until the norm of the gradient and the duality gap are small enough (`_Criterion`).

    If there is a `start` and F is lower there, the first step leads to it.
    """
    point = objective.at(np.zeros(objective.size))
    criterion = _Criterion(objective, options, point)
    is_met = criterion.report(trace, 0, point)
    number, best, is_stuck = 0, point, False
    if start is not None:
        candidate = objective.at(start)
        if candidate.value < point.value:
            number, point = 1, candidate
            is_met = criterion.report(trace, number, point)
    while not is_met and number < options.max_iter:
        number += 1
        following = steps.next(point, steps.first * direction(point), number)
        if following is None:
            is_stuck = True
            break
        point = following
        best = point if point.value <= best.value else best
        is_met = criterion.report(trace, number, point, best if steps.may_rise else point)
        require_descent(objective, point, trace, options, ended=False)
    if steps.may_rise and best.value < trace.points[0][1]:
        point = best
    require_descent(objective, point, trace, options, ended=True)
    if is_stuck and number == 1 and isinstance(objective.loss, Custom) and not _is_level(point, steps, direction):
        raise DivergenceError(
            f"No step down the gradient lowers the objective, which is {point.value:.4g} at the "
            f"start. {suggest_remedy(objective.loss, options)}"
        )
    is_met = is_met or (is_stuck and criterion.is_exact(point))
    return DescentResult(point, number, is_met or options.tol is None, is_stuck and not is_met)


class _Criterion:
    """When a descent has converged: the gradient is `tol` times as long as at zero weights, and the duality gap is at
    most `tol` times F there.

    Of a loss with kinks only the gap counts, since its gradient does not fall to 0; without a gap, only the gradient.
    """

    def __init__(self, objective: Objective, options: DescentOptions, start: DescentPoint) -> None:
        self.tol, self.first = options.tol, start
        self.prover, self.is_smooth = GapProver(objective), is_smooth(objective.loss)

    def report(self, trace: DescentTrace, number: int, point: DescentPoint, best: DescentPoint | None = None) -> bool:
        """Report a point, with the gap if it is due; return whether `best`, by default this point, meets the
        criterion."""
        best = best or point
        tol, gap = self.tol or 0.0, math.nan
        is_flat = point.gradient_norm <= tol * self.first.gradient_norm
        is_due = number & (number - 1) == 0
        if number == 0 or not self.prover.is_tight:
            gap = self.prover.gap(best.value)
        elif self.is_smooth and (is_flat or is_due):
            gap = self.prover.improve(best)
        elif is_due and self.tol is not None:
            gap = self.prover.prove(best, tol * self.first.value, number)
        trace.report(number, point, gap)
        if not self.prover.is_tight:
            return is_flat
        return (is_flat or not self.is_smooth) and gap <= tol * self.first.value

    def is_exact(self, point: DescentPoint) -> bool:
        """Return whether F can be no lower in double precision, although its gradient is longer than asked for."""
        gap = self.prover.improve(point) if self.prover.is_tight else math.inf
        gradient_error = _ROUNDING * self.first.gradient_norm
        return gap <= _PROVED * self.first.value or point.gradient_norm <= gradient_error


def _is_level(point: DescentPoint, steps: _Steps, direction: Direction) -> bool:
    """Return whether F falls from here by less than rounding of a sum of many losses can show."""
    return abs(float(point.gradient @ (steps.first * direction(point)))) <= _VISIBLE * abs(point.value)


def _newton_direction(objective: Objective, point: DescentPoint) -> np.ndarray:
    """Return -H^-1 gradient, by factoring H; the shortest such vector if H is singular."""
    hessian = objective.hessian(objective.curvatures(point))
    try:
        return -scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), point.gradient)
    except scipy.linalg.LinAlgError:
        return -scipy.linalg.pinvh(hessian) @ point.gradient


def _conjugate_gradient_direction(objective: Objective, point: DescentPoint) -> np.ndarray:
    """Return -H^-1 gradient by conjugate gradients, as accurately as the distance from the minimum deserves."""
    curvatures = objective.curvatures(point)
    matrix = spla.LinearOperator(
        (objective.size,) * 2, matvec=lambda d: objective.hessian_product(curvatures, d.ravel())
    )
    accuracy = min(0.1, np.sqrt(point.gradient_norm))
    direction, _ = spla.cg(matrix, -point.gradient, rtol=accuracy, maxiter=_CONJUGATE_STEPS)
    return direction if direction @ point.gradient < 0.0 else -point.gradient
