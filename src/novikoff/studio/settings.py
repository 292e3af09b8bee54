"""Settings of a run in the plane, and points with labels, read from JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.errors import DataError, RuleError
from novikoff.hypotheses import NAMES as HYPOTHESES
from novikoff.kernel_methods import Kernel
from novikoff.perceptron.learner import TIES
from novikoff.perceptron.orders import ORDERS

__all__ = ["KERNELS", "MOST_PASSES", "MOST_POINTS", "RULES", "PlanePoints", "Settings"]

RULES = ("perceptron", "margin", "passive-aggressive", "passive-aggressive-I", "passive-aggressive-II")
KERNELS = ("linear", "poly", "rbf", "laplacian")
MOST_POINTS = 500
MOST_PASSES = 20_000
_LARGEST = 1e9  # coordinates: their squares and sums are far from overflow
_SMALLEST_RANGE = {"passes": 1, "degree": 1, "seed": 0}


@dataclass(frozen=True)
class Settings:
    """How to learn from points of the plane.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    beta : float
        Of the rule "margin".
    hypothesis : str
        Which weights predict: "last", "averaged", "voted", "pocket".
    fit_intercept : bool
        Whether every point has a constant coordinate 1 besides its two. With a kernel other than "linear" the feature
        space of the kernel is used as it is.
    ties : {"mistake", "positive", "negative"}
    order : {"given", "shuffled", "random", "worst"}
    seed : int
        Of the orders "shuffled" and "random".
    passes : int
        The largest number of passes.
    kernel : str
        One of `KERNELS`; with one other than "linear" the rule is that of the perceptron.
    degree, gamma, coef0
        Of the kernel.

    Examples
    --------
    >>> from novikoff.studio import Settings
    >>> Settings.from_json({"fit_intercept": False}).fit_intercept
    False
    """

    rule: str = "perceptron"
    beta: float = 1.0
    hypothesis: str = "last"
    fit_intercept: bool = True
    ties: str = "mistake"
    order: str = "given"
    seed: int = 0
    passes: int = 100
    kernel: str = "linear"
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    @classmethod
    def from_json(cls, given: Any) -> Settings:
        """Return settings from a JSON object, or raise a DataError or a RuleError that says what is wrong with it."""
        if not isinstance(given, Mapping):
            raise DataError(f"Settings are a JSON object; found {type(given).__name__}.")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise DataError(f"There is no setting {unknown[0]!r}. The settings are {', '.join(sorted(known))}.")
        return cls(**given)

    def __post_init__(self) -> None:
        _require_one_of("rule", self.rule, RULES)
        _require_one_of("hypothesis", self.hypothesis, HYPOTHESES)
        _require_one_of("ties", self.ties, TIES)
        _require_one_of("order", self.order, ORDERS)
        _require_one_of("kernel", self.kernel, KERNELS)
        if not isinstance(self.fit_intercept, bool):
            raise DataError(f"fit_intercept must be true or false, found {self.fit_intercept!r}.")
        for name, most in (("seed", 2**31), ("passes", MOST_PASSES), ("degree", 10)):
            _require_integer(name, getattr(self, name), _SMALLEST_RANGE[name], most)
        for name in ("beta", "gamma", "coef0"):
            _require_number(name, getattr(self, name), 0.0, 1e6)
        if self.is_curved and self.rule != "perceptron":
            raise RuleError(f"With the kernel {self.kernel!r} the rule is 'perceptron', found {self.rule!r}.")
        if self.is_curved and self.hypothesis == "pocket":
            raise RuleError(f"The hypothesis 'pocket' is not for the kernel {self.kernel!r}; use 'averaged'.")

    @property
    def is_curved(self) -> bool:
        """Whether the boundary is that of a kernel, which may bend."""
        return self.kernel != "linear"

    @property
    def rule_value(self) -> rules.Rule:
        """The rule with its parameters."""
        return rules.Margin(self.beta) if self.rule == "margin" else rules.resolve(self.rule)

    @property
    def kernel_value(self) -> Kernel:
        """The kernel with its parameters."""
        return Kernel(self.kernel, self.degree, self.gamma, self.coef0)

    def to_json(self) -> dict[str, Any]:
        """Return all settings as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class PlanePoints:
    """Points of the plane with labels -1 and +1.

    Attributes
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of int64
    """

    X: np.ndarray
    y: np.ndarray

    @classmethod
    def from_json(cls, given: Any) -> PlanePoints:
        """Return points from a list of [x1, x2, label], or raise a DataError that says which of them is wrong."""
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise DataError(f"Points are a list of [x1, x2, label]; found {type(given).__name__}.")
        if len(given) > MOST_POINTS:
            raise DataError(f"There are {len(given):,} points; the plane takes {MOST_POINTS}. Open a file for more.")
        for number, point in enumerate(given, start=1):
            _require_point(number, point)
        X = np.array([point[:2] for point in given], np.float64).reshape(-1, 2)
        return cls(X + 0.0, np.array([int(point[2]) for point in given], np.int64))

    @cached_property
    def codes(self) -> np.ndarray:
        """The class code of each point: 0 for -1, 1 for +1."""
        return (self.y + 1) // 2

    @property
    def has_both_labels(self) -> bool:
        return len(np.unique(self.y)) == 2

    def to_json(self) -> list[list[float]]:
        """Return the points as a list of [x1, x2, label]."""
        pairs = zip(self.X.tolist(), self.y.tolist(), strict=True)
        return [[_shorten(x1), _shorten(x2), label] for (x1, x2), label in pairs]


def _shorten(value: float) -> float:
    """Return an integer where a number is one, which JSON then writes without a fraction."""
    return int(value) if value.is_integer() else value


def _require_point(number: int, point: Any) -> None:
    if not isinstance(point, Sequence) or isinstance(point, str) or len(point) != 3:
        raise DataError(f"Point {number} should be [x1, x2, label], found {point!r}.")
    for name, value in zip(("x1", "x2"), point[:2], strict=True):
        _require_number(f"{name} of point {number}", value, -_LARGEST, _LARGEST)
    if isinstance(point[2], bool) or point[2] not in (-1, 1):
        raise DataError(f"The label of point {number} should be -1 or 1, found {point[2]!r}.")


def _require_one_of(name: str, value: Any, allowed: Any) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise RuleError(f"{name} must be one of {', '.join(map(repr, allowed))}, found {value!r}.")


def _require_integer(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise DataError(f"{name} must be an integer from {least} to {most:,}, found {value!r}.")


def _require_number(name: str, value: Any, least: float, most: float) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise DataError(f"{name} must be a number from {least:g} to {most:g}, found {value!r}.")
