"""Descent on all rows at once: gradient descent and Newton's method.

    gd        v <- v - t grad F
    newton    v <- v - t H^-1 grad F            ("2 GD" in the notes)

with t = 1 or a constant where one is asked for, otherwise found by a line search that meets Wolfe's conditions. Beyond
its first trial a search reads no row: scores move along a line as the point does.

Newton's matrix is formed and factored up to DENSE_LIMIT columns. Beyond, its system is solved by conjugate gradients
up to an accuracy that grows as the gradient falls (Nash 1985; Dembo, Eisenstat & Steihaug 1982), and d x d numbers are
never needed. Where rows are many, the first steps are made on a tenth of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as spla

from novikoff.descent.objective import DENSE_LIMIT, Objective, Place
from novikoff.descent.settings import End, Settings, no_curvature, remedy, require_descent
from novikoff.descent.trace import Trace
from novikoff.errors import DivergenceError, LossError
from novikoff.losses import Custom, HingeAtZero, Squared, is_smooth

__all__ = ["gradient_descent", "newton"]

_CONJUGATE_STEPS = 200
_TRIALS = 40
_SAMPLE, _ENOUGH = 10, 200  # one row in ten, if they are 200 for each weight: F there is half a percent off
_ROUGHLY = 1e-3  # as far as it is worth going on them
_DECREASE, _FLATTENED = 1e-4, 0.9  # of Wolfe's conditions, as Nocedal & Wright give them for Newton's method
_ROUNDED = 1e-14  # of a sum of many losses
_SHOWN = 1e-8  # of it, where F is far from a parabola

Direction = Callable[[Place], np.ndarray]


def gradient_descent(objective: Objective, settings: Settings, trace: Trace) -> End:
    """Go down the gradient. Where the loss has kinks, steps fall like 1 / sqrt(t) unless they are asked not to."""
    if isinstance(objective.loss, HingeAtZero):
        raise LossError(
            "hinge-at-zero is smallest where all weights are 0, and gradient descent would find just that. "
            "solver='sgd' follows it along a stream, as the perceptron does; or use 'hinge'."
        )
    steps = _Steps(objective, settings, 1.0 / (objective.steepest_curvature() or 1.0))
    return _descend(objective, settings, trace, lambda place: -place.gradient, steps)


def newton(objective: Objective, settings: Settings, trace: Trace) -> End:
    """Go to the minimum of the parabola that touches F here, or as far towards it as F falls."""
    if not is_smooth(objective.loss):
        raise no_curvature("Newton's method", objective.loss)
    direction = _by_factoring if objective.size <= DENSE_LIMIT else _by_conjugate_gradients
    steps = _Steps(objective, settings, 1.0)
    start = _of_a_sample(objective, settings) if settings.learning_rate == "auto" else None
    return _descend(objective, settings, trace, lambda place: direction(objective, place), steps, start)


def _of_a_sample(objective: Objective, settings: Settings) -> np.ndarray | None:
    """Where one row in _SAMPLE has its minimum, if they are many: near that of all, for a fraction of the price."""
    n = len(objective.rows) // _SAMPLE
    if n < _ENOUGH * objective.size or isinstance(objective.loss, Squared):  # which takes one step from anywhere
        return None
    return newton(objective.of_every(_SAMPLE), replace(settings, tol=_ROUGHLY), Trace()).place.v


class _Steps:
    """How far to go along a direction: `first`, times what a search finds or a schedule gives."""

    def __init__(self, objective: Objective, settings: Settings, natural: float) -> None:
        self.objective, rate = objective, settings.learning_rate
        if rate == "auto":
            rate = "line-search" if is_smooth(objective.loss) else "invscaling"
        self.searches, self.falls = rate == "line-search", rate == "invscaling"
        self.first = natural if settings.eta0 is None else settings.eta0

    def next(self, place: Place, onward: np.ndarray, number: int) -> Place | None:
        """The place that step `number` leads to; None if no step leads down."""
        if not self.searches:
            return self.objective.at(place.v + (onward / np.sqrt(number) if self.falls else onward))
        whole = self.objective.at(place.v + onward)  # where most steps end: to look at it in full spares a search
        with np.errstate(over="ignore", invalid="ignore"):  # of a place too far away, which the search refuses
            slope, whole_slope = float(place.gradient @ onward), float(whole.gradient @ onward)
            ahead = whole.scores - place.scores

        def along(t: float) -> tuple[float, float]:
            return (whole.value, whole_slope) if t == 1.0 else self.objective.along(place, onward, ahead, t)

        t = _searched(along, place.value, slope)
        if t is None:  # F can fall no more in doubles, but its gradient may
            return whole if whole.gradient_norm < place.gradient_norm else None
        return whole if t == 1.0 else self.objective.at(place.v + t * onward)


def _searched(along: Callable[[float], tuple[float, float]], value: float, slope: float) -> float | None:
    """A step that meets Wolfe's conditions, by doubling and halving (Lewis & Overton 2013, algorithm 2.6), or None;
    `along` gives F and its slope after a step, `value` and `slope` are those before.

    Where F falls by less than doubles can show, its slope has to (Hager & Zhang 2005). scipy's search gives up there,
    with a warning, and to silence a warning is to change the filters of all threads.
    """
    lower, upper, t = 0.0, np.inf, 1.0
    for _ in range(_TRIALS):
        found, found_slope = along(t)
        is_lower = found <= value + _DECREASE * t * slope
        is_as_low = found <= value + _ROUNDED * abs(value) and found_slope <= (2.0 * _DECREASE - 1.0) * slope
        if not (is_lower or is_as_low):  # or it is no number
            upper = t
        elif found_slope < _FLATTENED * slope:
            lower = t
        else:
            return t
        t = 2.0 * lower if upper == np.inf else 0.5 * (lower + upper)
    return None


def _descend(
    objective: Objective,
    settings: Settings,
    trace: Trace,
    direction: Direction,
    steps: _Steps,
    start: np.ndarray | None = None,
) -> End:
    """Step after step from zero weights, the first of them to `start`, until the gradient is `tol` times as long as at
    zero."""
    place = objective.at(np.zeros(objective.size))
    goal = (settings.tol or 0.0) * place.gradient_norm
    trace.report(0, place)
    number, best, is_stuck = 0, place, False
    if start is not None:
        begun = objective.at(start)
        if begun.value < place.value:
            number, place = 1, begun
            trace.report(number, place)
    while place.gradient_norm > goal and number < settings.max_iter:
        number += 1
        nearer = steps.next(place, steps.first * direction(place), number)
        if nearer is None:
            is_stuck = True
            break
        place = nearer
        trace.report(number, place)
        require_descent(objective, place, trace, settings, ended=False)
        best = place if place.value <= best.value else best
    if not is_smooth(objective.loss) and best.value < trace.points[0][1]:
        place = best  # a subgradient may lead up as well as down
    require_descent(objective, place, trace, settings, ended=True)
    if is_stuck and number == 1 and isinstance(objective.loss, Custom) and not _is_level(place, steps, direction):
        raise DivergenceError(
            f"No step down the gradient lowers the objective, which is {place.value:.4g} at the "
            f"start. {remedy(objective.loss, settings)}"
        )
    return End(place, number, is_stuck or place.gradient_norm <= goal or settings.tol is None)


def _is_level(place: Place, steps: _Steps, direction: Direction) -> bool:
    """Whether F falls from here by less than a sum of many losses can show."""
    return abs(float(place.gradient @ (steps.first * direction(place)))) <= _SHOWN * abs(place.value)


def _by_factoring(objective: Objective, place: Place) -> np.ndarray:
    """-H^-1 gradient; the shortest such vector where H has no inverse."""
    hessian = objective.hessian(objective.bends(place))
    try:
        return -scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), place.gradient)
    except scipy.linalg.LinAlgError:
        return -scipy.linalg.pinvh(hessian) @ place.gradient


def _by_conjugate_gradients(objective: Objective, place: Place) -> np.ndarray:
    """The same, as nearly as is worth it so far from the minimum."""
    bends = objective.bends(place)
    matrix = spla.LinearOperator((objective.size,) * 2, matvec=lambda d: objective.curve(bends, d.ravel()))
    accuracy = min(0.1, np.sqrt(place.gradient_norm))
    found, _ = spla.cg(matrix, -place.gradient, rtol=accuracy, maxiter=_CONJUGATE_STEPS)
    return found if found @ place.gradient < 0.0 else -place.gradient
