"""How to go down: what all solvers are told, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from novikoff.descent.objective import Objective, Place
from novikoff.descent.trace import Trace
from novikoff.errors import DivergenceError, LossError
from novikoff.losses import Custom, Loss

__all__ = ["LEARNING_RATES", "SOLVERS", "End", "Settings", "no_curvature", "remedy", "require_descent", "require_rate"]

SOLVERS = ("gd", "newton", "sgd", "stochastic-newton")
LEARNING_RATES = ("auto", "constant", "invscaling", "optimal", "line-search")

_RATES = {
    "gd": ("auto", "constant", "invscaling", "line-search"),
    "newton": ("auto", "constant", "invscaling", "line-search"),
    "sgd": ("auto", "constant", "invscaling", "optimal"),
    "stochastic-newton": ("auto",),
}
_WORSE = 10.0  # times what weights of zero cost: no descent ends there, whatever its noise


@dataclass(frozen=True, eq=False)
class Settings:
    """What the user asked for; see LinearClassifier."""

    learning_rate: str = "auto"
    eta0: float | None = None
    average: bool = True
    shuffle: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))


@dataclass(frozen=True, eq=False)
class End:
    """Where a descent has ended, and whether its own measure of convergence was met."""

    place: Place
    passes: int
    converged: bool


def require_descent(objective: Objective, place: Place, trace: Trace, settings: Settings, *, ended: bool) -> None:
    """A DivergenceError if the numbers have run away; or, at the end, if weights of zero are ten times as good. (Where
    they cost nothing, as with hinge-at-zero, that says nothing.)
    """
    first = trace.points[0][1]
    is_worse = ended and place.value > _WORSE * first > 0.0
    if not (objective.is_gone(place) or is_worse):
        return
    raise DivergenceError(
        f"The descent went up: the objective was {first:.4g} at the start and is {place.value:.4g} after "
        f"{trace.points[-1][0]:g} passes. {remedy(objective.loss, settings)}"
    )


def remedy(loss: Loss, settings: Settings) -> str:
    """What to do where steps are too long."""
    if settings.eta0 is not None:
        return (
            f"eta0={settings.eta0:g} is too long a step: leave it out with learning_rate='auto', which fits the "
            "steps to the rows, or make it smaller."
        )
    if isinstance(loss, Custom):
        return (
            "Steps go by the steepness of the loss: is its second derivative nowhere above "
            f"losses.Custom(steepness={loss.steepness:g}), and its derivative that of its function?"
        )
    return (
        "Use learning_rate='auto', which fits the steps to the rows, or scale the columns "
        "(sklearn.preprocessing.StandardScaler)."
    )


def no_curvature(method: str, loss: Loss) -> LossError:
    """What to say of a loss that a method of Newton's can do nothing with."""
    what = (
        "pass its second derivative, losses.Custom(..., second=...)"
        if isinstance(loss, Custom)
        else "use a loss that is smooth: 'squared', or for labels 'squared-hinge' or 'logistic'"
    )
    return LossError(
        f"{method} needs a loss with a curvature, and {type(loss).__name__} has none: {what}; or solver='sgd'."
    )


def require_rate(solver: str, rate: str) -> None:
    """A LossError if a solver has no use for a learning rate."""
    if rate not in _RATES[solver]:
        names = " or ".join(map(repr, _RATES[solver]))
        raise LossError(f"learning_rate={rate!r} is not for solver={solver!r}, which takes {names}.")
