"""Losses: what a score s costs where the target is y.

A loss is three functions of (score, target): its value, its slope d/ds, and its curvature d2/ds2 if it has one.
With y = -1 or +1 and the margin m = y * s,

    hinge-at-zero    max(0, -m)          the perceptron's: SGD with step 1 on it *is* the perceptron
    hinge            max(0, 1 - m)       the support vector machine's
    squared-hinge    max(0, 1 - m)^2     a smooth version of the hinge loss
    logistic         log(1 + e^-m)       logistic regression's
    squared          (s - y)^2           least squares; y may be any number

The loss one would like to minimise is the zero-one loss 1{m < 0}, and that is NP-hard. These losses are convex, and
except for hinge-at-zero they are upper bounds of it, up to a factor. Hinge-at-zero has its minimum at zero weights: it
is for learning along a stream, not for finding a minimum.

Where a loss has a kink, any slope between those on either side is a subgradient. At m = 0 hinge-at-zero has slope -y,
so that a tie is a mistake; at m = 1 hinge has slope 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from novikoff.errors import LossError

__all__ = ["Custom", "Hinge", "HingeAtZero", "Logistic", "Loss", "LossName", "Squared", "SquaredHinge", "resolve"]


@dataclass(frozen=True)
class HingeAtZero:
    """max(0, -y s): how far a score is on the wrong side of 0.

    >>> from novikoff import losses
    >>> losses.HingeAtZero().value(score=-2.0, target=1.0), losses.HingeAtZero().slope(score=0.0, target=1.0)
    (2.0, -1.0)
    """

    zero_one_factor: ClassVar[float | None] = None  # near m = 0 no multiple of it bounds the zero-one loss
    steepness: ClassVar[float] = 1.0

    def value(self, score: float, target: float) -> float:
        return max(0.0, -target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score <= 0.0 else 0.0

    def curvature(self, score: float, target: float) -> float | None:
        return None


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y s): how far the margin is below 1.

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
        shortfall = max(0.0, 1.0 - target * score)
        return shortfall * shortfall

    def slope(self, score: float, target: float) -> float:
        return -2.0 * target * max(0.0, 1.0 - target * score)

    def curvature(self, score: float, target: float) -> float | None:
        return 2.0 * target * target if target * score < 1.0 else 0.0


@dataclass(frozen=True)
class Logistic:
    """log(1 + e^(-y s)): minus the logarithm of 1 / (1 + e^(-y s)), the probability of y at this score.

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
    """(s - y)^2, without a factor 1/2.

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

    Use only arithmetic and `math`, which numba can compile. It should be convex in the score; otherwise the solvers may
    find a local minimum.

    Functions with equal code and values are compiled once. After 16 different losses in a process, which take 200 MB
    that cannot be freed, further ones are called in Python, at half a microsecond per call.

    Parameters
    ----------
    function : callable
        ``function(score, target) -> value``.
    derivative : callable
        ``derivative(score, target)``, with respect to the score.
    second : callable, optional
        The second derivative, which Newton's methods need.
    steepness : float, default=1.0
        An upper bound of the second derivative, or of the slope if there is none; default step sizes depend on it.

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
        for function in (self.function, self.derivative, self.second):
            if function is not None and not callable(function):
                raise LossError(f"A loss is made of functions of (score, target), found {function!r}.")
        if not 0.0 < self.steepness < math.inf:
            raise LossError(f"Custom: steepness must be a number > 0, found {self.steepness!r}.")

    def value(self, score: float, target: float) -> float:
        return self.function(score, target)

    def slope(self, score: float, target: float) -> float:
        return self.derivative(score, target)

    def curvature(self, score: float, target: float) -> float | None:
        return None if self.second is None else self.second(score, target)


Loss: TypeAlias = HingeAtZero | Hinge | SquaredHinge | Logistic | Squared | Custom
LossName: TypeAlias = Literal["hinge-at-zero", "hinge", "squared-hinge", "logistic", "squared"]
VALUES: tuple[type, ...] = get_args(Loss)

_BY_NAME: dict[str, Loss] = {
    "hinge-at-zero": HingeAtZero(),
    "hinge": Hinge(),
    "squared-hinge": SquaredHinge(),
    "logistic": Logistic(),
    "squared": Squared(),
}

NAMES = tuple(_BY_NAME)


def resolve(loss: str | Loss) -> Loss:
    """Return the loss that a name or a value of this module stands for."""
    if isinstance(loss, str) and loss in _BY_NAME:
        return _BY_NAME[loss]
    if isinstance(loss, Loss):
        return loss
    raise LossError(
        f"Unknown loss {loss!r}. The names are {', '.join(map(repr, NAMES))}; or pass a value of "
        "novikoff.losses, such as losses.Custom(function, derivative)."
    )


def is_smooth(loss: Loss) -> bool:
    """Return whether a loss has a curvature, which Newton's methods need."""
    return loss.curvature(0.0, 1.0) is not None


def _sigmoid(z: float) -> float:
    """Return 1 / (1 + e^-z), without overflow."""
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))
