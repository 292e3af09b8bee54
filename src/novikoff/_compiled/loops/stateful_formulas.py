"""The updates of stateful rules: what each keeps for a feature, and how an example changes it.

    problem   move each weight by a step that depends on what its feature has done so far
    given     slots[j, k]: the numbers of coordinate j of vector k (j = 0: the constant, 1 + i: feature i);
              x: y * x_j in this vector, not 0; w: the weight; c: the importance of the example; a parameter
    result    the new weight, returned; slots changed in place
    source    the docstrings of `novikoff.stateful_rules`

A row is learned in up to four rounds over its coordinates, in the vectors that it changes:

    measure   returns a coordinate's part of the size of the row, the sum of which `step` is given
    refresh   returns the weight by which the margin is taken
    step      of the row, from its margin and its size: three numbers
    settle    returns the new weight, given these numbers

The rules are told apart by their index in `KINDS`, as those of step_size.py are: a loop that is passed a function
misses numba's disk cache. All is rounded after each operation, as Python does, and so dense and sparse rows, and runs
without the JIT, agree to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from novikoff._compiled import inlined_exactly
from novikoff.stateful_rules import THETA, AdaGrad, Arow, CoinBetting

__all__ = [
    "NEEDS_REFRESH",
    "NEEDS_SIZE",
    "ROUNDS_OF_KINDS",
    "SATISFIED",
    "THETA",
    "measure",
    "refresh",
    "settle",
    "step",
]

SQUARES = 1  # of AdaGrad
VARIANCE = 1  # of AROW
WEALTH, SLOPES, SIZES, LARGEST = 1, 2, 3, 4  # of coin betting


class Rounds(NamedTuple):
    """The formulas of a rule; None for a round that it does not need.

    Attributes
    ----------
    satisfied : float
        A margin from which on an example changes nothing.
    """

    satisfied: float
    measure: Callable[..., Any] | None
    refresh: Callable[..., Any] | None
    step: Callable[..., Any]
    settle: Callable[..., Any]


def no_size(slots, j, k, x, c):
    return 0.0


def same_weight(slots, j, k, w, mean_size):
    return w


# -- AdaGrad on the smoothed hinge


def step_adagrad(margin, size, c, learning_rate):
    return c * min(1.0, 1.0 - margin), learning_rate, 0.0


def settle_adagrad(slots, j, k, x, c, w, slope, learning_rate, unused):
    change = slope * x  # -g x_j
    slots[j, k, SQUARES] += change * change
    squares = slots[j, k, SQUARES]
    return w + learning_rate * change / math.sqrt(squares) if squares > 0.0 else w


# -- AROW


def measure_arow(slots, j, k, x, c):
    return slots[j, k, VARIANCE] * x * x


def step_arow(margin, size, c, r):
    beta = 1.0 / (r / c + size)
    return (1.0 - margin) * beta, beta, r / c * beta


def settle_arow(slots, j, k, x, c, w, slope, beta, least):
    variance = slots[j, k, VARIANCE]
    spread = variance * x
    slots[j, k, VARIANCE] = max(variance - beta * (spread * spread), least * variance)
    return w + slope * spread


# -- coin betting on the logistic loss


def measure_coin(slots, j, k, x, c):
    largest = max(slots[j, k, LARGEST], abs(c * x))
    slots[j, k, LARGEST] = largest
    share = c * x / largest
    return share * share


def bet(slots, j, k):
    """Return the weight that the wealth buys."""
    largest = slots[j, k, LARGEST]
    return slots[j, k, WEALTH] * slots[j, k, SLOPES] / (largest * (largest + slots[j, k, SIZES]))


bet = inlined_exactly(bet)


def refresh_coin(slots, j, k, w, mean_size):
    if slots[j, k, WEALTH] == 0.0:
        slots[j, k, WEALTH] = 4.0 / math.sqrt(mean_size)
    return bet(slots, j, k)


def step_coin(margin, size, c, unused):
    if margin > 0.0:
        fade = math.exp(-margin)
        return c * (fade / (1.0 + fade)), 0.0, 0.0
    return c * (1.0 / (1.0 + math.exp(margin))), 0.0, 0.0


def settle_coin(slots, j, k, x, c, w, slope, unused, also_unused):
    change = slope * x  # -g x_j
    slots[j, k, WEALTH] += change * w
    slots[j, k, SLOPES] += change
    slots[j, k, SIZES] += abs(change)
    return bet(slots, j, k)


# -- one function for all rules

# In the order of `stateful_rules.KINDS`, written out: loops are compiled anew when this file changes, not that one.
ROUNDS_OF_KINDS: dict[type, Rounds] = {
    AdaGrad: Rounds(1.0, None, None, step_adagrad, settle_adagrad),
    Arow: Rounds(1.0, measure_arow, None, step_arow, settle_arow),
    CoinBetting: Rounds(math.inf, measure_coin, refresh_coin, step_coin, settle_coin),
}
ROUNDS: tuple[Rounds, ...] = tuple(ROUNDS_OF_KINDS.values())

# By the index of a rule: the margin that satisfies it, and which rounds it needs.
SATISFIED: tuple[float, ...] = tuple(rounds.satisfied for rounds in ROUNDS)
NEEDS_SIZE: tuple[bool, ...] = tuple(rounds.measure is not None for rounds in ROUNDS)
NEEDS_REFRESH: tuple[bool, ...] = tuple(rounds.refresh is not None for rounds in ROUNDS)


def choose(formulas, code=0):
    """Return f(rule, *args), which calls the formula with the index `rule`, for the rules from `code` on."""
    formula = inlined_exactly(formulas[code])

    def last(rule, *args):
        return formula(*args)

    if code == len(formulas) - 1:
        return inlined_exactly(last)
    others = choose(formulas, code + 1)

    def chosen(rule, *args):
        if rule == code:
            return formula(*args)
        return others(rule, *args)

    return inlined_exactly(chosen)


measure = choose([rounds.measure or no_size for rounds in ROUNDS])
refresh = choose([rounds.refresh or same_weight for rounds in ROUNDS])
step = choose([rounds.step for rounds in ROUNDS])
settle = choose([rounds.settle for rounds in ROUNDS])
