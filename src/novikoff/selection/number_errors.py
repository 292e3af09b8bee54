"""NumberErrors: how far predicted numbers are from the true ones, on rows not learned from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["NumberErrors"]


class NumberErrors:
    """Sums of errors, added to block by block.

    Attributes
    ----------
    rows : int
    squared, absolute : float
        The sums of squared and of absolute errors.
    deviations : float
        The sum of the squared deviations of the true numbers from their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.selection.number_errors import NumberErrors
    >>> errors = NumberErrors()
    >>> errors.add(np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 5.0]))
    >>> round(errors.rmse, 4), round(errors.mae, 4), errors.r2
    (0.8165, 0.6667, 0.75)
    """

    def __init__(self) -> None:
        self.rows, self.squared, self.absolute = 0, 0.0, 0.0
        self.mean, self.deviations = 0.0, 0.0

    def add(self, predicted: np.ndarray, true: np.ndarray) -> None:
        """Count the errors of some predictions."""
        if not len(true):
            return
        errors, mean, total = predicted - true, float(true.mean()), self.rows + len(true)
        self.squared += float((errors**2).sum())
        self.absolute += float(np.abs(errors).sum())
        # Two sets of numbers as one: Chan, Golub & LeVeque 1979.
        apart = mean - self.mean
        self.deviations += float(((true - mean) ** 2).sum()) + apart * apart * self.rows * len(true) / total
        self.mean += apart * len(true) / total
        self.rows = total

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return math.sqrt(self.squared / self.rows) if self.rows else math.nan

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return self.absolute / self.rows if self.rows else math.nan

    @property
    def rmse_of_mean(self) -> float:
        """The RMSE of predicting, for each row, the mean of all true numbers: their standard deviation."""
        return math.sqrt(self.deviations / self.rows) if self.rows else math.nan

    @property
    def r2(self) -> float:
        """1 minus the ratio of squared errors to squared deviations; NaN if all true numbers are equal."""
        return 1.0 - self.squared / self.deviations if self.deviations > 0.0 else math.nan

    def facts(self) -> dict[str, Any]:
        """Return all figures as a dict for JSON, with None for what is not defined."""
        figures = {"rmse": self.rmse, "mae": self.mae, "r2": self.r2, "rmse_of_mean": self.rmse_of_mean}
        return {"rows": self.rows, **{name: None if math.isnan(value) else value for name, value in figures.items()}}
