"""ProgressiveErrors: how often a model errs on rows that it predicts before it learns from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from novikoff import hypotheses

if TYPE_CHECKING:
    import numpy as np

    from novikoff.inputs.rows import Rows
    from novikoff.perceptron.model import Model

__all__ = ["ErrorCount", "ProgressiveErrors"]

_SHARE = 0.1  # of the rows: those at the end
_STEPS_PER_DOUBLING = 16
_FIRST_STOP = 64
_DOUBLINGS = 30  # beyond them, blocks are smaller than the steps


@dataclass(frozen=True)
class ErrorCount:
    """The number of wrong predictions among some rows."""

    errors: int
    rows: int

    @property
    def rate(self) -> float:
        return self.errors / self.rows if self.rows else float("nan")

    def __str__(self) -> str:
        return f"{self.errors:,} of {self.rows:,} rows, {self.rate:.2%}"


class ProgressiveErrors:
    """Counts the errors of the hypothesis that answers, on rows that have not been learned yet.

    A model predicts each piece of a stream before it learns from it. Pieces end where the number of rows has grown by
    the factor 2^(1/16), so that no prediction is by weights that are much older than the row.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._start = model.ledger.examples
        self._points = [(0, 0)]  # rows and errors so far, at the end of each piece
        # All weight vectors of a voted perceptron vote on every row: too slow to be done while it learns.
        self.is_counted = not isinstance(model.learner.hypothesis, hypotheses.Voted)
        self._is_counted_by_ledger = isinstance(model.learner.hypothesis, hypotheses.Last)
        self._mistakes = model.ledger.mistakes

    @cached_property
    def stops(self) -> frozenset[int]:
        """The numbers of examples at which pieces should end, counted from the start of the model."""
        steps = range(_DOUBLINGS * _STEPS_PER_DOUBLING)
        return frozenset(self._start + int(_FIRST_STOP * 2.0 ** (k / _STEPS_PER_DOUBLING)) for k in steps)

    def before_piece(self, rows: Rows, classes: np.ndarray, class_indices: np.ndarray) -> None:
        """Predict rows that will be learned next."""
        n, errors = self._points[-1]
        if self.is_counted and not self._is_counted_by_ledger:
            errors += self._model.count_errors(rows, classes, class_indices)
        self._points.append((n + len(rows), errors))

    def after_piece(self) -> None:
        """Count the mistakes of a piece that has been learned, if the weights that learn also answer."""
        ledger = self._model.ledger
        if self._is_counted_by_ledger:
            self._points[-1] = ledger.examples - self._start, ledger.mistakes - self._mistakes
        newest = self._points[-1][0]
        while len(self._points) > 2 and self._points[1][0] <= (1.0 - _SHARE) * newest:
            self._points.pop(0)

    @property
    def recent(self) -> ErrorCount | None:
        """The errors over about the last tenth of the rows; None if they are not counted or there are too few rows."""
        (first, errors_before), (last, errors) = self._points[0], self._points[-1]
        if not self.is_counted or last - first > 2 * _SHARE * last:
            return None
        return ErrorCount(errors - errors_before, last - first)
