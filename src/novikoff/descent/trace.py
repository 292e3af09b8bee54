"""What happened on the way down, report by report."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from novikoff.descent.objective import Place
from novikoff.formatting.summary import Readable

__all__ = ["Trace"]

_COLUMNS = ("passes", "objective", "gradient_norm", "seconds")


class Trace(Readable):
    """The record of a descent.

    Attributes
    ----------
    passes : ndarray
        Over the rows so far; those of gd and newton are their iterations.
    objective, gradient_norm : ndarray
        F and the length of its gradient.
    seconds : ndarray
        Since the beginning.
    """

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self.points: list[tuple[float, float, float, float]] = []
        self.began = time.perf_counter()
        self._listener = listener

    def report(self, passes: float, place: Place) -> None:
        """Add a line."""
        seconds = time.perf_counter() - self.began
        self.points.append((passes, place.value, place.gradient_norm, seconds))
        if self._listener is not None:
            self._listener(
                f"pass {passes:>5g}   objective {place.value:.8g}   |gradient| {place.gradient_norm:.3e}   "
                f"{seconds:.2f} s"
            )

    @property
    def is_heard(self) -> bool:
        """Whether somebody is listening."""
        return self._listener is not None

    def closed(self) -> Trace:
        """Itself, with nobody listening any more."""
        self._listener = None
        return self

    def __len__(self) -> int:
        return len(self.points)

    def __getattr__(self, name: str) -> np.ndarray:
        if name in _COLUMNS:
            return np.array(self.points).reshape(-1, len(_COLUMNS))[:, _COLUMNS.index(name)]
        raise AttributeError(name)

    def _lines(self) -> list[tuple[str, str]]:
        if not self.points:
            return [("reports", "0")]
        passes, value, gradient, seconds = self.points[-1]
        return [
            ("reports", f"{len(self)}"),
            ("passes", f"{passes:g}"),
            ("objective", f"{value:.8g}"),
            ("|gradient|", f"{gradient:.3e}"),
            ("seconds", f"{seconds:.3f}"),
        ]
