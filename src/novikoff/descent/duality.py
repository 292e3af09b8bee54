"""Lower bounds of the minimum of F, and what they prove: the duality gap.

For any numbers a_i that the dual problem allows,

    D(a) = 1/n sum_i c_i psi(a_i) - alpha/2 |w(a)|^2  <=  min F,    w(a) = 1/(alpha n) sum_i c_i a_i x_i

where psi(a) = -max_s(-a s - loss(s, y)) and, with an intercept, sum_i c_i a_i = 0. So F(v) - D(a), the duality gap, is
at least the distance of F(v) from its minimum, whatever found v and a. With m = y a:

    hinge            psi = m                                    0 <= m <= 1
    squared hinge    psi = m - m^2 / 4                          0 <= m
    logistic         psi = -m log m - (1 - m) log(1 - m)        0 <= m <= 1
    squared          psi = y a - a^2 / 4

D(a) is computed from a alone, with its own pass over the rows; only rounding can make it too large.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import entr, expit

from novikoff._compiled.loops import hinge
from novikoff.descent.objective import DescentPoint, Objective
from novikoff.losses import Custom, Hinge, HingeAtZero, Logistic, Loss, Squared, SquaredHinge

__all__ = ["DualBound", "has_dual", "slopes_at"]


def has_dual(loss: Loss, alpha: float) -> bool:
    """Return whether the minimum of F has lower bounds that get as near to it as one likes: where its gap shrinks."""
    return alpha > 0.0 and isinstance(loss, Hinge | SquaredHinge | Logistic | Squared)


class DualBound:
    """The largest lower bound of the minimum that has been found.

    Without a penalty there is no dual problem with easy constraints, and it is 0, since no loss is negative; for a loss
    of a user's own it is -inf.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.is_tight = has_dual(objective.loss, objective.alpha)
        self.value = -math.inf if isinstance(objective.loss, Custom) else 0.0

    def include(self, duals: np.ndarray) -> float:
        """Improve the bound by D of some dual variables that keep within their own bounds; return that D.

        Where there is an intercept they are changed such that their sum is 0. One pass over the rows.
        """
        value = _dual_value(self.objective, duals)
        self.value = max(self.value, value)
        return value

    def include_slopes(self, point: DescentPoint) -> None:
        """Improve the bound by D of minus the slopes of the losses at a point, which are best at the minimum."""
        if self.is_tight:
            self.include(-slopes_at(self.objective, point.scores))

    def gap(self, value: float) -> float:
        """Return how far F can be above its minimum where it has this value; NaN if nothing is known."""
        return max(0.0, value - self.value) if self.value > -math.inf else math.nan


def slopes_at(objective: Objective, scores: np.ndarray) -> np.ndarray:
    """Return the slope of each row's loss, for a loss with a dual or hinge-at-zero."""
    y = objective.targets
    match objective.loss:
        case HingeAtZero():
            return np.where(y * scores <= 0.0, -y, 0.0)
        case Hinge():
            return np.where(y * scores < 1.0, -y, 0.0)
        case SquaredHinge():
            return -2.0 * y * np.maximum(0.0, 1.0 - y * scores)
        case Logistic():
            return -y * expit(-y * scores)
        case Squared():
            return 2.0 * (scores - y)
    raise TypeError(f"{objective.loss!r} has no dual")


def _dual_value(objective: Objective, duals: np.ndarray) -> float:
    """Return D."""
    importances = np.ones(len(duals)) if objective.importances is None else objective.importances
    if objective.constant:
        duals = _balance(objective, duals, importances)
    n, alpha, rows = len(duals), objective.alpha, objective.rows
    summed = np.empty(objective.size)
    hinge.combine_rows(rows.data, rows.indices, rows.indptr, 0.0, importances * duals, summed)
    with np.errstate(over="ignore"):  # then D is -inf, which is a bound as well
        w = summed[:-1] / n
        # Sums and not products of vectors, which BLAS would give to several threads: they would wait for each other.
        return float((importances * _psi(objective, duals)).sum()) / n - 0.5 * float((w * w).sum()) / alpha


def _balance(objective: Objective, duals: np.ndarray, importances: np.ndarray) -> np.ndarray:
    """Return dual variables near these whose sum with importances is 0, within their bounds."""
    if isinstance(objective.loss, Squared):  # it has no bounds
        return duals - (importances * duals).sum() / importances.sum()
    is_positive = objective.targets > 0.0
    above = float((importances * np.where(is_positive, duals, 0.0)).sum())
    below = -float((importances * np.where(is_positive, 0.0, duals)).sum())
    least = min(above, below)
    factors = np.where(is_positive, least / above if above else 0.0, least / below if below else 0.0)
    return duals * factors


def _psi(objective: Objective, duals: np.ndarray) -> np.ndarray:
    margins = objective.targets * duals
    match objective.loss:
        case Hinge():
            return margins
        case Logistic():
            inside = np.clip(margins, 0.0, 1.0)  # rounding may lead out of the bounds
            return entr(inside) + entr(1.0 - inside)
        case _:
            return margins - 0.25 * duals * duals
