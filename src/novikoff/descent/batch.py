"""Descent on all rows at once: gradient descent and Newton's method.

    gd        v <- v - t grad F
    newton    v <- v - t H^-1 grad F            ("2 GD" in the notes)

with t = 1 or a constant where one is asked for, otherwise found by a line search that meets Wolfe's conditions. A
search reads no row: scores move along a line as the point does.

Newton's matrix is formed and factored up to DENSE_LIMIT columns. Beyond, its system is solved by conjugate gradients
up to an accuracy that grows as the gradient falls (Nash 1985; Dembo, Eisenstat & Steihaug 1982), and d x d numbers are
never needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as spla

from novikoff.descent.objective import DENSE_LIMIT, Objective, Place
from novikoff.descent.settings import End, Settings, require_descent
from novikoff.descent.trace import Trace
from novikoff.errors import LossError
from novikoff.losses import HingeAtZero, is_smooth

__all__ = ["gradient_descent", "newton"]

_CONJUGATE_STEPS = 200
_TRIALS = 40
_DECREASE, _FLATTENED = 1e-4, 0.9  # of Wolfe's conditions, as Nocedal & Wright give them for Newton's method
_ROUNDED = 1e-14  # of a sum of many losses

Direction = Callable[[Place], np.ndarray]


def gradient_descent(objective: Objective, v: np.ndarray, settings: Settings, trace: Trace) -> End:
    """Go down the gradient. Where the loss has kinks, steps fall like 1 / sqrt(t) unless they are asked not to."""
    if isinstance(objective.loss, HingeAtZero):
        raise LossError("hinge-at-zero is smallest where all weights are 0, and gradient descent would find just that. "
                        "solver='sgd' follows it along a stream, as the perceptron does; or use 'hinge'.")  # fmt: skip
    steps = _Steps(objective, settings, 1.0 / (objective.steepest_curvature() or 1.0))
    return _descend(objective, v, settings, trace, lambda place: -place.gradient, steps)


def newton(objective: Objective, v: np.ndarray, settings: Settings, trace: Trace) -> End:
    """Go to the minimum of the parabola that touches F here, or as far towards it as F falls."""
    if not is_smooth(objective.loss):
        raise LossError(f"Newton's method needs a loss with a curvature, and {type(objective.loss).__name__} has none. "
                        "Use 'squared-hinge', 'logistic' or 'squared', or solver='sgd'.")  # fmt: skip
    direction = _by_factoring if objective.size <= DENSE_LIMIT else _by_conjugate_gradients
    steps = _Steps(objective, settings, 1.0)
    return _descend(objective, v, settings, trace, lambda place: direction(objective, place), steps)


class _Steps:
    """How far to go along a direction: `first`, times what a search finds or a schedule gives."""

    def __init__(self, objective: Objective, settings: Settings, natural: float) -> None:
        self.objective, rate = objective, settings.learning_rate
        if rate == "auto":
            rate = "line-search" if is_smooth(objective.loss) else "invscaling"
        self.searches, self.falls = rate == "line-search", rate == "invscaling"
        self.first = natural if settings.eta0 is None else settings.eta0

    def length(self, place: Place, direction: np.ndarray, number: int) -> float | None:
        """The step, by number; None if no step leads down."""
        if not self.searches:
            return 1.0 / np.sqrt(number) if self.falls else 1.0
        ahead = self.objective.scores(direction)
        return _searched(lambda t: self.objective.along(place, direction, ahead, t))


def _searched(along: Callable[[float], tuple[float, float]]) -> float | None:
    """A step that meets Wolfe's conditions, by doubling and halving (Lewis & Overton 2013, algorithm 2.6), or None.

    Where F falls by less than doubles can show, its slope has to (Hager & Zhang 2005). scipy's search gives up there,
    with a warning, and to silence a warning is to change the filters of all threads.
    """
    value, slope = along(0.0)
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
    objective: Objective, v: np.ndarray, settings: Settings, trace: Trace, direction: Direction, steps: _Steps
) -> End:
    """Step after step, until the gradient is `tol` times as long as at zero weights."""
    place = objective.at(v)
    goal = (settings.tol or 0.0) * objective.at(np.zeros_like(v)).gradient_norm
    trace.report(0, place)
    number, best = 0, place
    while place.gradient_norm > goal and number < settings.max_iter:
        number += 1
        onward = steps.first * direction(place)
        length = steps.length(place, onward, number)
        nearer = _full_step(objective, place, onward) if length is None else objective.at(place.v + length * onward)
        if nearer is None:
            break
        place = nearer
        trace.report(number, place)
        require_descent(objective, place, trace, settings, ended=False)
        best = place if place.value <= best.value else best
    place = place if is_smooth(objective.loss) else best  # a subgradient may lead up as well as down
    require_descent(objective, place, trace, settings, ended=True)
    return End(place, number, place.gradient_norm <= goal or number < settings.max_iter or settings.tol is None)


def _full_step(objective: Objective, place: Place, onward: np.ndarray) -> Place | None:
    """What remains where no search finds a lower place, because F would fall by less than doubles can show: the whole
    step, if it makes the gradient shorter."""
    nearer = objective.at(place.v + onward)
    return nearer if nearer.gradient_norm < place.gradient_norm else None


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
