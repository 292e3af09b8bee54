"""RegressionLedger: the errors along a run, beside those of the mean of the targets so far."""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.formatting.summary import SummaryMixin

__all__ = ["RegressionLedger"]


@dataclass(frozen=True, repr=False)
class RegressionLedger(SummaryMixin):
    """The squared errors of a run, each on a row that was then learned from (progressive validation).

    The errors are those from the second row on: the first has nothing to be predicted from.

    Theorem. Whatever the rows, squared_error <= squared_error_of_mean + (2 E + 4 / 3) L^2, where L is `unit` and E is
    `wealth`, 2 for a table of numbers: predictions are never much worse than the mean of the targets so far, and on
    average over n rows the difference vanishes like 1 / n. Proof: bets never lose more than the wealth E L^2 in the
    linear loss sum g (yhat - mean), which bounds the difference of the halved squared errors by convexity; cutting
    slopes off at L costs at most 2 / 3 L^2, because L doubles each time.

    Attributes
    ----------
    examples : int
    squared_error : float
        The sum of (prediction - target)^2.
    squared_error_of_mean : float
        The sum of (mean of the targets before - target)^2.
    mean, lowest, highest : float
        Of the targets; NaN before the first.
    unit : float
        L: at least the range of the targets, and at most twice that.
    wealth : float
        E, what all coordinates were given, in units of L^2.

    Examples
    --------
    >>> from novikoff.regression.ledger import RegressionLedger
    >>> ledger = RegressionLedger(5, squared_error=4.0, squared_error_of_mean=16.0, mean=3.0, lowest=1.0, highest=5.0)
    >>> ledger.rmse, ledger.rmse_of_mean, ledger.r2
    (1.0, 2.0, 0.75)
    """

    examples: int
    squared_error: float
    squared_error_of_mean: float
    mean: float
    lowest: float
    highest: float
    unit: float = 0.0
    wealth: float = 0.0

    @property
    def rmse(self) -> float:
        """The root of the mean squared error; NaN before the second example."""
        return _root_mean(self.squared_error, self.examples - 1)

    @property
    def rmse_of_mean(self) -> float:
        """The root of the mean squared error of predicting the mean of the targets so far."""
        return _root_mean(self.squared_error_of_mean, self.examples - 1)

    @property
    def r2(self) -> float:
        """1 - squared_error / squared_error_of_mean: 1 is perfect, 0 is no better than the mean; NaN if all targets
        were equal."""
        mean = self.squared_error_of_mean
        return 1.0 - self.squared_error / mean if mean > 0.0 else math.nan

    @property
    def squared_error_bound(self) -> float:
        """What the theorem says that `squared_error` cannot exceed."""
        return self.squared_error_of_mean + (2.0 * self.wealth + 4.0 / 3.0) * self.unit * self.unit

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("examples", f"{self.examples:,}")]
        if self.examples > 1:
            lines += [
                ("RMSE", f"{self.rmse:.6g}   (each row before it was learned from)"),
                ("RMSE of mean", f"{self.rmse_of_mean:.6g}   (predicting the mean of the targets so far)"),
                ("R^2", f"{self.r2:.4f}"),
            ]
        if self.examples:
            lines.append(("targets", f"{self.lowest:.6g} to {self.highest:.6g}, mean {self.mean:.6g}"))
        return lines


def _root_mean(total: float, count: int) -> float:
    return math.sqrt(total / count) if count > 0 else math.nan
