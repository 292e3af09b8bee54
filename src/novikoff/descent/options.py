"""Options and results of all solvers, and the errors that they raise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np

from novikoff.descent.objective import DescentPoint, Objective
from novikoff.descent.trace import DescentTrace
from novikoff.errors import DivergenceError, LossError
from novikoff.losses import Custom, Loss

__all__ = [
    "LEARNING_RATES",
    "SOLVERS",
    "DescentOptions",
    "DescentResult",
    "LearningRate",
    "Solver",
    "no_curvature_error",
    "require_descent",
    "require_rate",
    "suggest_remedy",
]

Solver: TypeAlias = Literal["gd", "newton", "sgd", "dual", "stochastic-newton"]
LearningRate: TypeAlias = Literal["auto", "constant", "invscaling", "optimal", "line-search"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)
LEARNING_RATES: tuple[LearningRate, ...] = get_args(LearningRate)

_RATES = {
    "gd": ("auto", "constant", "invscaling", "line-search"),
    "newton": ("auto", "constant", "invscaling", "line-search"),
    "sgd": ("auto", "constant", "invscaling", "optimal"),
    "dual": ("auto",),
    "stochastic-newton": ("auto",),
}
_DIVERGENCE_FACTOR = 10.0  # times the objective at zero weights; even a noisy descent ends below this


@dataclass(frozen=True, eq=False)
class DescentOptions:
    """How to minimize; `LinearClassifier` describes these parameters."""

    learning_rate: str = "auto"
    eta0: float | None = None
    average: bool = True
    shuffle: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))


@dataclass(frozen=True, eq=False)
class DescentResult:
    """The point at which a descent ended, and whether it met its criterion of convergence.

    It is stuck if it did not, and no step leads further down in double precision.
    """

    point: DescentPoint
    passes: int
    converged: bool
    is_stuck: bool = False


def require_descent(
    objective: Objective, point: DescentPoint, trace: DescentTrace, options: DescentOptions, *, ended: bool
) -> None:
    """Raise a DivergenceError if the objective or its gradient is not finite or if, at the end, the objective exceeds
    ten times its value at zero weights.

    If its value at zero weights is 0, as for the loss hinge-at-zero, the second condition is not checked.
    """
    first = trace.points[0][1]
    is_worse = ended and point.value > _DIVERGENCE_FACTOR * first > 0.0
    if not (objective.has_diverged(point) or is_worse):
        return
    raise DivergenceError(
        f"The solver diverged: the objective was {first:.4g} at the start and is {point.value:.4g} after "
        f"{trace.points[-1][0]:g} passes. {suggest_remedy(objective.loss, options)}"
    )


def suggest_remedy(loss: Loss, options: DescentOptions) -> str:
    """Return a sentence that tells how to avoid divergence, for an error message."""
    is_auto = options.learning_rate == "auto"
    if options.eta0 is not None:
        remedy = "leave it out" if is_auto else "leave it out with learning_rate='auto'"
        return (
            f"eta0={options.eta0:g} is too long a step: {remedy}, which fits the steps to the rows, or make it smaller."
        )
    if isinstance(loss, Custom):
        return (
            f"Step sizes are derived from losses.Custom(steepness={loss.steepness:g}). Check that the second "
            "derivative never exceeds it and that `derivative` is the derivative of the loss function."
        )
    if is_auto:
        return "Scale the columns (sklearn.preprocessing.StandardScaler)."
    return (
        "Use learning_rate='auto', which fits the steps to the rows, or scale the columns "
        "(sklearn.preprocessing.StandardScaler)."
    )


def no_curvature_error(method: str, loss: Loss) -> LossError:
    """Return the error for a loss without a second derivative, which Newton's method and stochastic Newton need."""
    remedy = (
        "pass its second derivative, losses.Custom(..., second=...)"
        if isinstance(loss, Custom)
        else "use a smooth loss: 'squared', or for labels 'squared-hinge' or 'logistic'"
    )
    return LossError(
        f"{method} needs a loss with a curvature, and {type(loss).__name__} has none: {remedy}; or solver='sgd'."
    )


def require_rate(solver: str, rate: str) -> None:
    """Raise a LossError if the solver does not support this learning rate."""
    if rate not in _RATES[solver]:
        names = " or ".join(map(repr, _RATES[solver]))
        raise LossError(f"learning_rate={rate!r} is not supported by solver={solver!r}; use {names}.")
