"""Rules for compiled loops: a code and a parameter, or loops compiled for a user's function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from novikoff import rules
from novikoff._compiled import compile_here, rebuild
from novikoff._compiled.llvm import call_at
from novikoff._compiled.loops import additive
from novikoff._compiled.user_functions import Compilations, Pointers
from novikoff.errors import RuleError

__all__ = ["BUILT_IN_LOOPS", "CompiledRule", "PassLoops", "compile_rule", "encode_rule"]


class PassLoops(NamedTuple):
    """The compiled passes over rows: for two classes, and for more."""

    binary: Callable[..., Any]
    multiclass: Callable[..., Any]


class CompiledRule(NamedTuple):
    """The code and the parameter of a rule, and the loops that understand them."""

    code: int
    parameter: float
    loops: PassLoops


BUILT_IN_LOOPS = PassLoops(additive.learn_binary, additive.learn_multiclass)
_user_loops: Compilations[PassLoops] = Compilations()


def compile_rule(rule: rules.StepRule) -> CompiledRule:
    """Find or compile the loops for a rule."""
    if not isinstance(rule, rules.Custom):
        return CompiledRule(*encode_rule(rule), BUILT_IN_LOOPS)
    loops = _user_loops.find([rule.function], lambda: _compile_loops(rule.function))
    if loops is not None:
        return CompiledRule(-1, 0.0, loops)
    pointers = Pointers([rule.function])  # as many functions are compiled as may be: call this one in Python
    within = PassLoops(*(pointers.within(loop, but=Exception) for loop in _loops_for_pointers()))
    return CompiledRule(pointers.address, 0.0, within)


def encode_rule(rule: rules.Perceptron | rules.Margin | rules.PassiveAggressive) -> tuple[int, float]:
    """Return the code of a built-in rule, which is the index of its formula, and its parameter."""
    formula, parameter = rule.formula
    return rules.FORMULAS.index(formula), parameter


def _compile_loops(function: Callable[[float, float], float]) -> PassLoops:
    """Compile the loops with a user's function as the step size.

    An exception in it, and a step that is too long, become NaN: the loop stops there, and accounting.py finds out why.
    """
    user_function = _compile_function(function)

    def step_size(rule, parameter, margin, squared_norm, mistake):  # type: ignore[no-untyped-def]
        try:
            tau = float(user_function(margin, squared_norm))
        except Exception:
            return math.nan
        return tau if tau == 0.0 or tau * tau * squared_norm <= rules.LARGEST_SQUARED_UPDATE else math.nan

    return PassLoops(*(rebuild(loop, step_size=step_size) for loop in BUILT_IN_LOOPS))


@cache
def _loops_for_pointers() -> PassLoops:
    """Compile the loops that call a function by its address, which they are given as the code of the rule."""

    def step_size(rule, parameter, margin, squared_norm, mistake):  # type: ignore[no-untyped-def]
        tau = call_at(rule, 0, margin, squared_norm)
        return tau if tau == 0.0 or tau * tau * squared_norm <= rules.LARGEST_SQUARED_UPDATE else math.nan

    return PassLoops(*(rebuild(loop, step_size=step_size) for loop in BUILT_IN_LOOPS))


def _compile_function(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Compile a user's function and call it once; report numba's long messages in one sentence."""
    try:
        compiled = compile_here(function)
        is_number = isinstance(compiled(0.0, 1.0), (int, float))
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise RuleError(
            f"The rule {function!r} cannot be compiled ({reason}). It must be a plain function of "
            "(margin, squared_norm) that keeps to arithmetic and math."
        ) from error
    if not is_number:
        raise RuleError(f"The rule {function!r} must return a number for every margin and squared norm.")
    return compiled
