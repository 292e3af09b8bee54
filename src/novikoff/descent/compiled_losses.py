"""Losses for compiled loops: by a code, or in loops compiled for a user's functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from novikoff import losses
from novikoff._compiled import compile_here, rebuild
from novikoff._compiled.llvm import call_at
from novikoff._compiled.loops import descent
from novikoff._compiled.user_functions import Compilations, Pointers
from novikoff.errors import LossError

__all__ = ["LossLoops", "compile_loss"]

_CODES: dict[type, int] = {
    losses.HingeAtZero: descent.HINGE_AT_ZERO,
    losses.Hinge: descent.HINGE,
    losses.SquaredHinge: descent.SQUARED_HINGE,
    losses.Logistic: descent.LOGISTIC,
    losses.Squared: descent.SQUARED,
}


@dataclass(frozen=True)
class LossLoops:
    """The loops of novikoff._compiled.loops.descent that evaluate a loss, and the code of the loss for them."""

    code: int = -1
    run_sgd_pass: Callable[..., Any] = descent.run_sgd_pass
    run_stochastic_newton_pass: Callable[..., Any] = descent.run_stochastic_newton_pass
    fill_gradient: Callable[..., Any] = descent.fill_gradient
    along: Callable[..., Any] = descent.sum_losses_along
    fill_curvatures: Callable[..., Any] = descent.fill_curvatures


_compilations: Compilations[LossLoops] = Compilations()


def compile_loss(loss: losses.Loss) -> LossLoops:
    """Return the loops for a loss."""
    if not isinstance(loss, losses.Custom):
        return LossLoops(_CODES[type(loss)])
    functions = [each for each in (loss.function, loss.derivative, loss.second) if each is not None]
    compiled = _compilations.find(functions, lambda: _loops_for([_compile_function(each) for each in functions]))
    if compiled is not None:
        return compiled
    pointers = Pointers(functions)
    loops = {name: pointers.within(loop) for name, loop in vars(_loops_for_pointers()).items() if name != "code"}
    return LossLoops(pointers.address, **loops)


def _loops_for(functions: list[Callable[[float, float], float]]) -> LossLoops:
    """Return loops compiled with a user's functions: value, slope and, if there is one, curvature."""
    value, slope, curvature = functions if len(functions) == 3 else (*functions, functions[1])  # never called

    def loss_value(code, s, y):  # type: ignore[no-untyped-def]
        return value(s, y)

    def loss_slope(code, s, y):  # type: ignore[no-untyped-def]
        return slope(s, y)

    def loss_curvature(code, s, y):  # type: ignore[no-untyped-def]
        return curvature(s, y)

    return _rebuild_loops(loss_value, loss_slope, loss_curvature)


@cache
def _loops_for_pointers() -> LossLoops:
    """Return loops that call functions by address; the address of their table is passed as the code."""

    def loss_value(code, s, y):  # type: ignore[no-untyped-def]
        return call_at(code, 0, s, y)

    def loss_slope(code, s, y):  # type: ignore[no-untyped-def]
        return call_at(code, 1, s, y)

    def loss_curvature(code, s, y):  # type: ignore[no-untyped-def]
        return call_at(code, 2, s, y)

    return _rebuild_loops(loss_value, loss_slope, loss_curvature)


def _rebuild_loops(
    value: Callable[..., float], slope: Callable[..., float], curvature: Callable[..., float]
) -> LossLoops:
    return LossLoops(
        run_sgd_pass=rebuild(descent.run_sgd_pass, loss_slope=slope),
        run_stochastic_newton_pass=rebuild(descent.run_stochastic_newton_pass, loss_slope=slope),
        fill_gradient=rebuild(descent.fill_gradient, loss_value=value, loss_slope=slope),
        along=rebuild(descent.sum_losses_along, loss_value=value, loss_slope=slope),
        fill_curvatures=rebuild(descent.fill_curvatures, loss_curvature=curvature),
    )


def _compile_function(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Return a user's function, compiled and called once; numba's long messages become one sentence."""
    try:
        compiled = compile_here(function)
        value = compiled(0.5, 1.0)
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise LossError(
            f"The function {function!r} of a loss cannot be compiled ({reason}). It must be a plain function of "
            "(score, target) that keeps to arithmetic and math."
        ) from error
    if not isinstance(value, (int, float)):
        raise LossError(f"The function {function!r} of a loss must return a number, found {value!r}.")
    return compiled
