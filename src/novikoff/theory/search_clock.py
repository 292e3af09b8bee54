"""SearchClock: when a search has to end, and who is told of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from novikoff._compiled import working_time
from novikoff.errors import TimeLimitError

__all__ = ["MarginListener", "OutOfTimeError", "SearchClock"]

MarginListener = Callable[[float, float], None]  # called with the lower and the upper bound on the margin

_LONGEST = 1e9  # seconds: no limit in practice


class OutOfTimeError(Exception):
    """Raised inside a search when its time limit is reached."""


class SearchClock:
    """The time limit of a search, in which compiling does not count, and the best bounds on the margin so far.

    Attributes
    ----------
    lower, upper : float
        What doubles say of the largest margin; lower is above 0 where a separator was found.
    listeners : list of functions of (lower, upper)
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self.began, self.limit = working_time(), _LONGEST if time_limit is None else min(time_limit, _LONGEST)
        self.listeners: list[MarginListener] = []
        self.lower, self.upper = float("-inf"), float("inf")

    @property
    def seconds(self) -> float:
        """How long the search has been going on."""
        return working_time() - self.began

    def check(self) -> None:
        """Raise an OutOfTimeError if the time limit is reached."""
        if self.seconds > self.limit:
            raise OutOfTimeError

    @contextmanager
    def explain(self, question: object, n_rows: int) -> Iterator[None]:
        """Raise a TimeLimitError that names the question, instead of an OutOfTimeError."""
        try:
            yield
        except OutOfTimeError:
            raise TimeLimitError(
                f"Undecided after {self.limit:g} s: {question}, {n_rows:,} rows. Nothing is proved yet. Allow more "
                "time, or ask about fewer columns or rows."
            ) from None

    def report(self, lower: float, upper: float) -> None:
        """Tell the listeners, if one of the bounds has improved."""
        if lower > self.lower or upper < self.upper:
            self.lower, self.upper = max(lower, self.lower), min(upper, self.upper)
            for listener in self.listeners:
                listener(self.lower, self.upper)
