"""Losses: what a score s costs where the target is y, and which way is down.

A loss is three functions of (score, target): its value, its slope d/ds, and its curvature d2/ds2 where it has one.
With y = -1 or +1 and the margin m = y * s,

    hinge-at-zero    max(0, -m)          the perceptron's: SGD with step 1 on it *is* the perceptron
    hinge            max(0, 1 - m)       the support vector machine's
    squared-hinge    max(0, 1 - m)^2     the same, smooth
    logistic         log(1 + e^-m)       logistic regression's
    squared          (s - y)^2           least squares; y may be any number

and what one would like to make small, the zero-one loss 1{m < 0}, is NP-hard to. The others are convex and lie above
it, up to a factor; hinge-at-zero does not, and has its minimum where all weights are 0: it is for following along a
stream, not for solving.

A kink has many slopes. Each loss takes the one that moves: at m = 0 hinge-at-zero has slope -y, so that a tie is a
mistake; at m = 1 hinge has slope 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from novikoff.errors import LossError

__all__ = ["Custom", "Hinge", "HingeAtZero", "Logistic", "Loss", "Squared", "SquaredHinge", "resolve"]


@dataclass(frozen=True)
class HingeAtZero:
    """max(0, -y s): how far a score is on the wrong side of 0. Its slope is -y where y s <= 0.

    >>> from novikoff import losses
    >>> losses.HingeAtZero().value(score=-2.0, target=1.0), losses.HingeAtZero().slope(score=0.0, target=1.0)
    (2.0, -1.0)
    """

    zero_one_factor: ClassVar[float | None] = None  # no multiple of it is above the zero-one loss near m = 0
    steepness: ClassVar[float] = 1.0

    def value(self, score: float, target: float) -> float:
        return max(0.0, -target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score <= 0.0 else 0.0

    def curvature(self, score: float, target: float) -> float | None:
        return None


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y s): how much is missing to a margin of 1.

    >>> from novikoff import losses
    >>> losses.Hinge().value(score=0.25, target=1.0)
    0.75
    """

    zero_one_factor: ClassVar[float | None] = 1.0
    steepness: ClassVar[float] = 1.0

    def value(self, score: float, target: float) -> float:
        return max(0.0, 1.0 - target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score < 1.0 else 0.0

    def curvature(self, score: float, target: float) -> float | None:
        return None


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y s)^2, whose slope has no jump.

    >>> from novikoff import losses
    >>> losses.SquaredHinge().value(score=-1.0, target=1.0)
    4.0
    """

    zero_one_factor: ClassVar[float | None] = 1.0
    steepness: ClassVar[float] = 2.0

    def value(self, score: float, target: float) -> float:
        missing = max(0.0, 1.0 - target * score)
        return missing * missing

    def slope(self, score: float, target: float) -> float:
        return -2.0 * target * max(0.0, 1.0 - target * score)

    def curvature(self, score: float, target: float) -> float | None:
        return 2.0 * target * target if target * score < 1.0 else 0.0


@dataclass(frozen=True)
class Logistic:
    """log(1 + e^(-y s)): minus the logarithm of the probability 1 / (1 + e^(-y s)) that a score gives to y.

    >>> from novikoff import losses
    >>> round(losses.Logistic().value(score=0.0, target=1.0), 4)
    0.6931
    """

    zero_one_factor: ClassVar[float | None] = 1.0 / math.log(2.0)
    steepness: ClassVar[float] = 0.25

    def value(self, score: float, target: float) -> float:
        m = target * score
        return max(0.0, -m) + math.log1p(math.exp(-abs(m)))  # exp of a large number would overflow

    def slope(self, score: float, target: float) -> float:
        return -target * _sigmoid(-target * score)

    def curvature(self, score: float, target: float) -> float | None:
        return target * target * _sigmoid(score * target) * _sigmoid(-score * target)


@dataclass(frozen=True)
class Squared:
    """(s - y)^2, without the half that some put before it.

    >>> from novikoff import losses
    >>> losses.Squared().value(score=3.0, target=1.0), losses.Squared().slope(score=3.0, target=1.0)
    (4.0, 4.0)
    """

    zero_one_factor: ClassVar[float | None] = 1.0
    steepness: ClassVar[float] = 2.0

    def value(self, score: float, target: float) -> float:
        return (score - target) * (score - target)

    def slope(self, score: float, target: float) -> float:
        return 2.0 * (score - target)

    def curvature(self, score: float, target: float) -> float | None:
        return 2.0


@dataclass(frozen=True)
class Custom:
    """A loss of your own, compiled into the same loops as the others.

    Keep to arithmetic and `math`: what numba can compile. It should be convex in the score, or the solvers find some
    low place and not the lowest.

    Functions that do the same are compiled once. After 16 different losses in a process, which take 200 MB that cannot
    be freed, others are called in Python, at half a microsecond each.

    Parameters
    ----------
    function : callable
        ``function(score, target) -> value``.
    derivative : callable
        ``derivative(score, target)``, by the score.
    second : callable, optional
        The second derivative; Newton's methods need it.
    steepness : float, default=1.0
        A bound on the second derivative, or on the slope where there is none: what the default steps go by.

    Examples
    --------
    >>> import math
    >>> from novikoff import losses
    >>> cosh = losses.Custom(lambda s, y: math.log(math.cosh(s - y)), lambda s, y: math.tanh(s - y))
    >>> round(cosh.value(2.0, 1.0), 4), round(cosh.slope(2.0, 1.0), 4)
    (0.4338, 0.7616)
    """

    function: Callable[[float, float], float]
    derivative: Callable[[float, float], float]
    second: Callable[[float, float], float] | None = None
    steepness: float = 1.0

    zero_one_factor: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        for each in (self.function, self.derivative, self.second):
            if each is not None and not callable(each):
                raise LossError(f"A loss is made of functions of (score, target), found {each!r}.")
        if not 0.0 < self.steepness < math.inf:
            raise LossError(f"Custom: steepness must be a number > 0, found {self.steepness!r}.")

    def value(self, score: float, target: float) -> float:
        return self.function(score, target)

    def slope(self, score: float, target: float) -> float:
        return self.derivative(score, target)

    def curvature(self, score: float, target: float) -> float | None:
        return None if self.second is None else self.second(score, target)


Loss = HingeAtZero | Hinge | SquaredHinge | Logistic | Squared | Custom
VALUES = (HingeAtZero, Hinge, SquaredHinge, Logistic, Squared, Custom)

_BY_NAME: dict[str, Loss] = {
    "hinge-at-zero": HingeAtZero(),
    "hinge": Hinge(),
    "squared-hinge": SquaredHinge(),
    "logistic": Logistic(),
    "squared": Squared(),
}

NAMES = tuple(_BY_NAME)


def resolve(loss: str | Loss) -> Loss:
    """The loss that a user means by a name or a value of this module."""
    if isinstance(loss, str) and loss in _BY_NAME:
        return _BY_NAME[loss]
    if isinstance(loss, Loss):
        return loss
    raise LossError(
        f"Unknown loss {loss!r}. The names are {', '.join(map(repr, NAMES))}; or pass a value of "
        "novikoff.losses, such as losses.Custom(function, derivative)."
    )


def is_smooth(loss: Loss) -> bool:
    """Whether it has a curvature, which Newton's methods need."""
    return loss.curvature(0.0, 1.0) is not None


def _sigmoid(z: float) -> float:
    """1 / (1 + e^-z), without overflow."""
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))
