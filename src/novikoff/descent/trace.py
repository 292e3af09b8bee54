"""DescentTrace: the objective and its gradient along a descent."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from novikoff._compiled import working_time
from novikoff.descent.objective import DescentPoint
from novikoff.formatting.summary import SummaryMixin

__all__ = ["DescentTrace"]

_COLUMNS = ("passes", "objective", "gradient_norm", "seconds", "gap")


class DescentTrace(SummaryMixin):
    """The record of a descent: one entry per report.

    Attributes
    ----------
    passes : ndarray
        Passes over the rows so far; for gd and newton, iterations.
    objective, gradient_norm : ndarray
        F and the norm of its gradient; NaN where the solver has not computed it.
    seconds : ndarray
        Time since the start, without that of compiling.
    gap : ndarray
        The duality gap: F is proved to be at most this much above its minimum. Without a penalty it is F itself, since
        no loss is negative; NaN where it has not been computed, and for a loss of one's own.
    """

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self.points: list[tuple[float, float, float, float, float]] = []
        self.began = working_time()
        self._listener = listener

    def report(self, passes: float, point: DescentPoint, gap: float = math.nan) -> None:
        """Add an entry, and pass it to the listener as a line of text."""
        seconds = working_time() - self.began
        self.points.append((passes, point.value, point.gradient_norm, seconds, gap))
        if self._listener is not None:
            measures = [("|gradient|", point.gradient_norm), ("gap", gap)]
            known = "".join(f"{name} {value:.3e}   " for name, value in measures if not math.isnan(value))
            self._listener(f"pass {passes:>5g}   objective {point.value:.8g}   {known}{seconds:.2f} s")

    @property
    def has_listener(self) -> bool:
        return self._listener is not None

    def close(self) -> DescentTrace:
        """Drop the listener, and return the trace."""
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
        passes, value, gradient, seconds, gap = self.points[-1]
        measures = [("|gradient|", gradient), ("duality gap", gap)]
        return [
            ("reports", f"{len(self)}"),
            ("passes", f"{passes:g}"),
            ("objective", f"{value:.8g}"),
            *((name, f"{measure:.3e}") for name, measure in measures if not math.isnan(measure)),
            ("seconds", f"{seconds:.3f}"),
        ]
