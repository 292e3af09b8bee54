"""Update rules: how far the weights move on an example.

A rule is a step size. For an example (x, y) with margin m = y <w, x> and squared norm q = |x|^2,

    w  <-  w + tau(m, q) * y * x            tau >= 0; where tau = 0 the weights stay as they are

The perceptron is the simplest rule: tau = 1 on a mistake, else 0. The constant coordinate of the intercept is part of
x. With more than two classes y * x is phi(x, y) - phi(x, z), the true class against its strongest rival z.

Because w = sum tau * y * x, every unit vector u that separates the examples with margin gamma has
<w, u> >= gamma * sum tau. So every rule certifies gamma <= |w| / sum tau (see perceptron/ledger.py). The mistake bound
differs from rule to rule, and each rule has its own.

The rules of stateful_rules.py, AROW, AdaGrad and coin betting, move every weight by a step of its own.

The formula of a built-in rule is written once, as a static function of numbers: `step` calls it in Python, and
_compiled/loops/step_size.py compiles it into the loops. This module does not import numba.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from novikoff.auto_rule import Auto
from novikoff.errors import NovikoffError, RuleError
from novikoff.rule_parameters import convert_to_float
from novikoff.stateful_rules import AdaGrad, Arow, CoinBetting, StatefulRule

__all__ = [
    "AdaGrad",
    "Arow",
    "Auto",
    "CoinBetting",
    "Custom",
    "Margin",
    "PassiveAggressive",
    "Perceptron",
    "Rule",
    "RuleName",
    "StatefulRule",
    "StepRule",
    "resolve",
]

LARGEST_SQUARED_UPDATE = 1e291  # |tau * x|^2: 1e17 updates of this length cannot overflow a score
SMALLEST_SQUARED_NORM = 1e-290  # a row below this counts as zeros: no finite step reaches a margin of 1 on it

Formula: TypeAlias = Callable[[float, float, bool, float], float]  # (margin, squared norm, mistake, parameter) -> tau


class _BuiltInRule(ABC):
    """A rule whose formula is compiled into the loops.

    Attributes
    ----------
    depends_only_on_mistakes : bool
        Whether tau depends on whether the example is a mistake, and neither on the margin nor on the norm.
    required_margin : float or None
        Passes over a data set go on until every row has a margin above this; None: until none is a mistake.
    """

    depends_only_on_mistakes: ClassVar[bool] = False

    @property
    def required_margin(self) -> float | None:
        return None

    @property
    @abstractmethod
    def formula(self) -> tuple[Formula, float]:
        """One of `FORMULAS`, and the parameter to call it with."""

    def step(self, margin: float, squared_norm: float, mistake: bool) -> float:
        """Return tau >= 0, the multiple of y * x to add to the weights."""
        tau, parameter = self.formula
        return tau(margin, squared_norm, mistake, parameter)

    @abstractmethod
    def mistake_bound(self, radius: float, margin: float) -> float | None:
        """Return the largest number of mistakes on separable examples of this radius and margin."""


@dataclass(frozen=True)
class Perceptron(_BuiltInRule):
    """The perceptron: on a mistake, w <- w + eta * y * x; otherwise nothing.

    Theorem (Block 1962, Novikoff 1962). On any sequence of examples with |x| <= R that some unit vector separates
    with margin gamma, in any order and over any number of passes, it makes at most (R / gamma)^2 mistakes.

    Parameters
    ----------
    learning_rate : float, default=1.0
        eta. From zero weights it only scales them: no prediction and no mistake changes.

    Examples
    --------
    >>> from novikoff import rules
    >>> rules.Perceptron().mistake_bound(radius=5.0, margin=0.5)
    100.0
    """

    learning_rate: float = 1.0

    depends_only_on_mistakes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        convert_to_float(self, "learning_rate")
        if not 0.0 < self.learning_rate <= 1e100:
            raise RuleError(f"Perceptron: learning_rate must be > 0 and at most 1e100, found {self.learning_rate!r}.")

    @staticmethod
    def tau(margin: float, squared_norm: float, mistake: bool, learning_rate: float) -> float:
        return learning_rate if mistake else 0.0

    @property
    def formula(self) -> tuple[Formula, float]:
        return Perceptron.tau, self.learning_rate

    def mistake_bound(self, radius: float, margin: float) -> float | None:
        return (radius / margin) * (radius / margin)  # a product overflows to inf, a power would raise


@dataclass(frozen=True)
class Margin(_BuiltInRule):
    """The perceptron with a margin: w <- w + y * x whenever m <= beta, not only on mistakes.

    Theorem. On separable streams it makes at most (R^2 + 2 beta) / gamma^2 updates (Novikoff's proof with
    m <= beta in place of m <= 0), and the weights it stops at separate with margin at least
    gamma * beta / (2 beta + R^2): a large beta guarantees half of the best margin.

    Parameters
    ----------
    beta : float, default=1.0
        The margin below which an example leads to an update. 0 is the perceptron itself (with ties="mistake").

    References
    ----------
    Krauth & Mezard 1987; Li, Zaragoza, Herbrich, Shawe-Taylor & Kandola 2002.

    Examples
    --------
    >>> from novikoff import rules
    >>> rules.Margin(beta=10.0).mistake_bound(radius=5.0, margin=0.5)
    180.0
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        convert_to_float(self, "beta")
        if not 0.0 <= self.beta < math.inf:
            raise RuleError(f"Margin: beta must be a number >= 0, found {self.beta!r}.")

    @property
    def required_margin(self) -> float | None:
        return self.beta

    @staticmethod
    def tau(margin: float, squared_norm: float, mistake: bool, beta: float) -> float:
        return 1.0 if margin <= beta else 0.0

    @property
    def formula(self) -> tuple[Formula, float]:
        return Margin.tau, self.beta

    def mistake_bound(self, radius: float, margin: float) -> float | None:
        return (radius * radius + 2.0 * self.beta) / margin / margin


@dataclass(frozen=True)
class PassiveAggressive(_BuiltInRule):
    """Passive-aggressive: the smallest step that makes the margin 1, or as near to 1 as C allows.

    With loss l = max(0, 1 - m),

        variant I    tau = min(C, l / q)              no example moves w by more than C * |x|
        variant II   tau = l / (q + 1 / (2 C))        limits the step as well, smoothly

    and with C infinite both are the plain rule tau = l / q, which always reaches margin 1 in exact arithmetic.

    Theorem (Crammer et al. 2006, theorems 2, 4 and 5). On a stream separable with margin gamma inside radius R the
    mistakes are at most max(R^2, 1/C) / gamma^2 for I and (R^2 + 1/(2C)) / gamma^2 for II.

    Parameters
    ----------
    C : float, default=inf
        Aggressiveness. Set it (1.0 is usual, smaller when labels are noisy) unless the data are separable.
    variant : {"I", "II"}, default="I"
        How C limits the step.

    Examples
    --------
    >>> from novikoff import rules
    >>> rules.PassiveAggressive(C=1.0).step(margin=0.5, squared_norm=2.0, mistake=False)
    0.25
    """

    C: float = math.inf
    variant: Literal["I", "II"] = "I"

    def __post_init__(self) -> None:
        convert_to_float(self, "C")
        if not self.C > 0.0:
            raise RuleError(f"PassiveAggressive: C must be a number > 0, found {self.C!r}.")
        if self.variant not in ("I", "II"):
            raise RuleError(f"PassiveAggressive: variant must be 'I' or 'II', found {self.variant!r}.")

    @staticmethod
    def tau_of_variant_1(margin: float, squared_norm: float, mistake: bool, C: float) -> float:
        loss = 1.0 - margin
        if loss <= 0.0 or squared_norm <= SMALLEST_SQUARED_NORM:
            return 0.0
        return min(C, loss / squared_norm)

    @staticmethod
    def tau_of_variant_2(margin: float, squared_norm: float, mistake: bool, C: float) -> float:
        loss = 1.0 - margin
        if loss <= 0.0 or squared_norm <= SMALLEST_SQUARED_NORM:
            return 0.0
        return loss / (squared_norm + 0.5 / C)

    @property
    def formula(self) -> tuple[Formula, float]:
        is_first = self.variant == "I"
        return PassiveAggressive.tau_of_variant_1 if is_first else PassiveAggressive.tau_of_variant_2, self.C

    def mistake_bound(self, radius: float, margin: float) -> float | None:
        if self.variant == "I":
            return max(radius * radius, 1.0 / self.C) / margin / margin
        return (radius * radius + 0.5 / self.C) / margin / margin


# A compiled loop knows a formula by its index here: numba keeps no loop on disk that is passed a function.
FORMULAS: tuple[Formula, ...] = (
    Perceptron.tau,
    Margin.tau,
    PassiveAggressive.tau_of_variant_1,
    PassiveAggressive.tau_of_variant_2,
)


@dataclass(frozen=True)
class Custom:
    """A rule of your own: a Python function of (margin, squared norm) that returns the step.

    It is compiled into the same loop as the built-in rules and runs at their speed. Use only arithmetic and `math`,
    which numba can compile; globals keep the values that they have when learning begins. A step that is negative, NaN,
    infinite, or so long that weights could overflow stops the run with a `RuleError`. Learning starts from zero
    weights, where every margin is 0: a rule that returns 0 for margin 0 never starts.

    Functions with equal code and values are compiled once. After 16 different ones in a process, which take 75 MB that
    cannot be freed, further ones are called in Python, at half a microsecond per call.

    Parameters
    ----------
    function : callable
        ``function(margin, squared_norm) -> step``.

    Examples
    --------
    >>> from novikoff import rules
    >>> half = rules.Custom(lambda margin, squared_norm: 0.5 if margin <= 0 else 0.0)
    >>> half.step(margin=-1.0, squared_norm=4.0, mistake=True)
    0.5
    """

    function: Callable[[float, float], float]

    depends_only_on_mistakes: ClassVar[bool] = False
    required_margin: ClassVar[float | None] = None

    @property
    def formula(self) -> tuple[Formula, float]:
        """`step` in the form of the built-in rules, for Python code that calls any rule; the parameter is not used."""
        return lambda margin, squared_norm, mistake, parameter: self.step(margin, squared_norm, mistake), math.nan

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__qualname__", None) or repr(self.function))

    def step(self, margin: float, squared_norm: float, mistake: bool) -> float:
        """Return the function's step; raise a RuleError if it is not a finite number >= 0 of sensible size."""
        try:
            tau = self.function(margin, squared_norm)
            is_step = 0.0 <= tau < math.inf
            step = float(tau)
        except NovikoffError:
            raise
        except TypeError as error:
            raise RuleError(
                f"The rule {self.function!r} must take (margin, squared_norm) and return a number: {error}."
            ) from error
        except Exception as error:  # OverflowError, ZeroDivisionError, ValueError of math, or the user's own
            found = f"raised {type(error).__name__}: {error}"
            raise RuleError(_explain_bad_step(self.name, found, margin, squared_norm)) from error
        if not is_step or not step * step * squared_norm <= LARGEST_SQUARED_UPDATE:
            raise RuleError(_explain_bad_step(self.name, f"returned a step of {tau!r}", margin, squared_norm))
        return step

    def mistake_bound(self, radius: float, margin: float) -> float | None:
        """Return None: no theorem covers every function."""
        return None


StepRule: TypeAlias = Perceptron | Margin | PassiveAggressive | Custom
Rule: TypeAlias = StepRule | AdaGrad | Arow | CoinBetting | Auto
RuleName: TypeAlias = Literal[
    "perceptron",
    "margin",
    "passive-aggressive",
    "passive-aggressive-I",
    "passive-aggressive-II",
    "adagrad",
    "arow",
    "coin",
    "auto",
]
VALUES: tuple[type, ...] = get_args(Rule)

_BY_NAME: dict[str, Rule] = {
    "perceptron": Perceptron(),
    "margin": Margin(),
    "passive-aggressive": PassiveAggressive(),
    "passive-aggressive-I": PassiveAggressive(C=1.0, variant="I"),
    "passive-aggressive-II": PassiveAggressive(C=1.0, variant="II"),
    "adagrad": AdaGrad(),
    "arow": Arow(),
    "coin": CoinBetting(),
    "auto": Auto(),
}

NAMES = tuple(_BY_NAME)


def resolve(rule: str | Rule | Callable[[float, float], float]) -> Rule:
    """Return the rule that a name, a value of this module, or a user's own function stands for."""
    if isinstance(rule, str):
        if rule not in _BY_NAME:
            raise RuleError(
                f"Unknown rule {rule!r}. The names are {', '.join(map(repr, NAMES))}; "
                "or pass a value of novikoff.rules, or a function of (margin, squared_norm)."
            )
        return _BY_NAME[rule]
    if isinstance(rule, Rule):
        return rule
    if callable(rule) and not isinstance(rule, type):
        return Custom(rule)
    raise RuleError(f"A rule is a name, a value of novikoff.rules or a function, found {rule!r}.")


def _explain_bad_step(name: str, found: str, margin: float, squared_norm: float) -> str:
    return (
        f"The rule {name} {found} for margin {margin!r} and squared norm {squared_norm!r}; a step must be a finite "
        f"number >= 0, and step^2 * squared norm at most {LARGEST_SQUARED_UPDATE:g}. If margins grow from mistake to "
        "mistake the rule diverges: let its step grow no faster than -margin / squared_norm, or limit it, min(step, C)."
    )
