"""Timing in turns, targets, and the lines of the table.

Peer and novikoff take turns on the same data. The best of several turns counts, because other processes on the machine
can only make a turn longer. The first turn of each is not counted: it compiles.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Benchmark",
    "Line",
    "Options",
    "Target",
    "Times",
    "alternate",
    "at_least",
    "at_most",
    "best_of",
    "no_target",
    "seconds",
]

_ENOUGH = 2.5  # seconds of measuring, after which short work has met an idle moment of the machine
_MOST = 50  # turns


@dataclass(frozen=True)
class Options:
    """The options of a run: small data or full size, and the number of turns."""

    quick: bool = False
    repeats: int = 5

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Times:
    """The best time of each side in seconds, and the additional time of our first call, which compiles."""

    theirs: float
    ours: float
    first_call: float | None = None

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def alternate(theirs: Callable[[], Any], ours: Callable[[], Any], repeats: int) -> Times:
    """Let both take turns, at least `repeats` each; work that takes milliseconds gets more of them."""
    theirs()
    first_call = seconds(ours)
    best_theirs, best_ours = _best([theirs, ours], repeats)
    return Times(best_theirs, best_ours, max(0.0, first_call - best_ours))


def best_of(work: Callable[[], Any], repeats: int) -> float:
    """The best time of several, the first not counted."""
    work()
    return _best([work], repeats)[0]


def _best(works: list[Callable[[], Any]], repeats: int) -> list[float]:
    best = [math.inf] * len(works)
    started = time.perf_counter()
    for turn in range(1, _MOST + 1):
        best = [min(so_far, seconds(work)) for so_far, work in zip(best, works, strict=True)]
        if turn >= repeats and time.perf_counter() - started > _ENOUGH:
            break
    return best


def seconds(work: Callable[[], Any]) -> float:
    """The time of one call in seconds. Garbage is collected before, not during the call."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        gc.enable()


@dataclass(frozen=True)
class Target:
    """The range in which a figure should lie, ends included."""

    low: float
    high: float
    unit: str

    def is_met_by(self, figure: float) -> bool:
        return self.low <= figure <= self.high

    def show(self, figure: float) -> str:
        return f"{figure:.0%}" if self.unit == "%" else f"{figure:.3g}{self.unit}"

    def __str__(self) -> str:
        if math.isinf(self.low) and math.isinf(self.high):
            return "none"
        return f"≥ {self.show(self.low)}" if math.isinf(self.high) else f"≤ {self.show(self.high)}"


def at_least(value: float, unit: str = "×") -> Target:
    return Target(value, math.inf, unit)


def no_target(unit: str = "×") -> Target:
    """A target that every figure meets, for lines that are for information only."""
    return Target(-math.inf, math.inf, unit)


def at_most(value: float, unit: str = "×") -> Target:
    return Target(-math.inf, value, unit)


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes
    ----------
    figure : float or None
        Compared with the target; most often a ratio. None if it was not measured, and `note` says why.
    scores : (theirs, ours), optional
        Accuracy on test rows, or while learning, as `work` says.
    agreement : str
        How far the results of both sides agree.
    is_sound : bool
        False if results differ that must be equal, or the score is lower than it may be.
    """

    work: str
    peer: str
    target: Target
    figure: float | None = None
    times: Times | None = None
    scores: tuple[float, float] | None = None
    agreement: str = ""
    is_sound: bool = True
    note: str = ""
    name: str = field(default="", kw_only=True)

    @property
    def verdict(self) -> str:
        if self.figure is None:
            return "skipped"
        if not self.is_sound:
            return "differs"
        return "ok" if self.target.is_met_by(self.figure) else "missed"


Benchmark = Callable[[Options], list[Line]]
