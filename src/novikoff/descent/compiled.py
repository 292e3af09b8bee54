"""Losses as the kernels take them: a code, and the loops; those of a user's own loss are compiled for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from novikoff import losses
from novikoff._jit import compile_here, rebuild
from novikoff.errors import LossError
from novikoff.kernels import descent

__all__ = ["Loops", "compiled"]

_CODES: dict[type, int] = {
    losses.HingeAtZero: descent.HINGE_AT_ZERO,
    losses.Hinge: descent.HINGE,
    losses.SquaredHinge: descent.SQUARED_HINGE,
    losses.Logistic: descent.LOGISTIC,
    losses.Squared: descent.SQUARED,
}


@dataclass(frozen=True)
class Loops:
    """The kernels of novikoff.kernels.descent that look at a loss, and the code to call them with."""

    code: int = -1
    sgd_pass: Callable[..., Any] = descent.sgd_pass
    stochastic_newton_pass: Callable[..., Any] = descent.stochastic_newton_pass
    gradient: Callable[..., Any] = descent.gradient
    along: Callable[..., Any] = descent.along
    curvatures: Callable[..., Any] = descent.curvatures


@lru_cache(maxsize=64)
def compiled(loss: losses.Loss) -> Loops:
    """The loops for a loss."""
    if not isinstance(loss, losses.Custom):
        return Loops(_CODES[type(loss)])
    value, slope = _of_users(loss.function), _of_users(loss.derivative)
    curvature = _of_users(loss.second) if loss.second is not None else slope  # which is never asked for

    def loss_value(code, s, y):  # type: ignore[no-untyped-def]
        return value(s, y)

    def loss_slope(code, s, y):  # type: ignore[no-untyped-def]
        return slope(s, y)

    def loss_curvature(code, s, y):  # type: ignore[no-untyped-def]
        return curvature(s, y)

    return Loops(
        sgd_pass=rebuild(descent.sgd_pass, loss_slope=loss_slope),
        stochastic_newton_pass=rebuild(descent.stochastic_newton_pass, loss_slope=loss_slope),
        gradient=rebuild(descent.gradient, loss_value=loss_value, loss_slope=loss_slope),
        along=rebuild(descent.along, loss_value=loss_value, loss_slope=loss_slope),
        curvatures=rebuild(descent.curvatures, loss_curvature=loss_curvature),
    )


def _of_users(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """A user's function, compiled and tried; numba's pages of trouble become one sentence."""
    try:
        own = compile_here(function)
        found = own(0.5, 1.0)
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise LossError(
            f"The function {function!r} of a loss cannot be compiled ({reason}). It must be a plain function of "
            "(score, target) that keeps to arithmetic and math."
        ) from error
    if not isinstance(found, (int, float)):
        raise LossError(f"The function {function!r} of a loss must return a number, found {found!r}.")
    return own
