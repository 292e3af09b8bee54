"""Kernel regression: f <- f + step * (y - f(x)) K(x, .) after every example.

This is the method of potential functions of Aizerman, Braverman & Rozonoer (1964); in feature space it is the rule of
Widrow and Hoff. Its ledger is of losses instead of mistakes. With residuals r_t = y_t - f_t(x_t), each computed before
its update, and those of any function u of that space, r_t(u) = y_t - u(x_t),

    |f - u|^2  changes by  step * (2 r r(u) - 2 r^2) + step^2 r^2 K(x, x)

and as 2 r r(u) <= c r^2 + r(u)^2 / c for c = 1 - step * R^2 / 2 > 0, summing up gives

    sum r_t^2  <=  sum r_t(u)^2 / c^2  +  |u|^2 / (step * c)

for every u at once, on any sequence in any order (after Cesa-Bianchi, Long & Warmuth 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from novikoff._compiled.loops import dual
from novikoff._compiled.loops.additive import EXAMPLES, SQUARED_NORM, SQUARED_RADIUS, UPDATES
from novikoff.errors import DataError
from novikoff.formatting.summary import SummaryMixin
from novikoff.kernel_methods.dual import DualLearner
from novikoff.kernel_methods.dual_state import DualState
from novikoff.kernel_methods.points import Points
from novikoff.perceptron.orders import draw_order

__all__ = ["LossLedger", "ResidualLearner", "regress"]


@dataclass(frozen=True, eq=False, repr=False)
class LossLedger(SummaryMixin):
    """The losses along a regression, and the bound that follows by theorem.

    Attributes
    ----------
    examples, updates, passes : int
    squared_loss : float
        The sum of (y - f(x))^2, each before its update (progressive validation).
    radius : float
        R, the square root of the largest K(x, x) so far.
    norm : float
        |f| in feature space, after the last update.
    step : float

    Examples
    --------
    >>> import novikoff as nk
    >>> reg = nk.KernelRegressor("linear", step=0.5, max_iter=1).fit([[1.0], [1.0]], [1.0, 1.0])
    >>> reg.ledger_.squared_loss
    1.25
    >>> reg.ledger_.loss_bound(norm=1.0, squared_loss=0.0)  # of u(x) = x, which makes no error
    2.6666666666666665
    """

    examples: int
    updates: int
    passes: int
    squared_loss: float
    radius: float
    norm: float
    step: float
    is_bounded: bool = True

    @property
    def mean_squared_loss(self) -> float:
        """Squared loss per example so far."""
        return self.squared_loss / self.examples if self.examples else float("nan")

    def loss_bound(self, norm: float, squared_loss: float) -> float | None:
        """Return a bound on the squared loss, given a function of this norm and its squared loss on the same sequence.

        None where nothing is proved, as for a kernel that is no inner product.
        """
        c = 1.0 - self.step * self.radius**2 / 2.0
        if not self.is_bounded or c <= 0.0:
            return None
        return squared_loss / c**2 + norm**2 / (self.step * c)

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("examples", f"{self.examples:,}" + (f" in {self.passes} passes" if self.passes > 1 else "")),
            ("squared loss", f"{self.squared_loss:.6g}   ({self.mean_squared_loss:.6g} per example)"),
            ("updates", f"{self.updates:,}"),
            ("radius R", f"{self.radius:.6g}"),
            ("norm |f|", f"{self.norm:.6g}"),
        ]


@dataclass(frozen=True)
class ResidualLearner(DualLearner):
    """A dual learner for regression: `update` takes target numbers instead of class codes."""

    step: float = 0.5

    def _run_block(self, direct: bool, gram: np.ndarray, codes: np.ndarray, *others: np.ndarray) -> int:
        largest = float(gram.diagonal().max())
        if self.step * largest >= 2.0:
            raise DataError(
                f"step={self.step} is too long for K(x, x) = {largest:.6g}: every update would move f "
                f"farther from its target. Choose a step below {2.0 / largest:.3g}, or scale the rows or "
                "gamma down."
            )
        return dual.learn_regression(gram, codes, self.step, *others)

    def loss_ledger(self, state: DualState) -> LossLedger:
        """Return the ledger of a state."""
        counts, measures = state.counts.tolist(), state.measures
        return LossLedger(
            examples=counts[EXAMPLES],
            updates=counts[UPDATES],
            passes=state.passes,
            squared_loss=float(measures[dual.LOSS]),
            radius=float(np.sqrt(max(0.0, measures[SQUARED_RADIUS]))),
            norm=float(np.sqrt(max(0.0, measures[SQUARED_NORM]))),
            step=self.step,
            is_bounded=self.kernel.is_positive,
        )


def regress(
    learner: ResidualLearner,
    state: DualState,
    points: Points,
    y: np.ndarray,
    *,
    order: str,
    max_iter: float,
    tol: float,
    rng: np.random.Generator,
) -> int:
    """Make passes until one loses no more than `tol` per row or `max_iter` are over; return how many there were."""
    row_scores = learner.start_scores(state, len(points))
    n = len(points)
    left = max(1, round(max_iter * n))
    for _ in range(math.ceil(max_iter)):
        visits = draw_order(order, n, rng)
        visits = np.arange(n)[:left] if visits is None else visits[:left]
        left -= len(visits)
        before = float(state.measures[dual.LOSS])
        learner.update(state, points, y, visits, row_scores)
        state.passes += 1
        if state.measures[dual.LOSS] - before <= tol * len(visits) or not left:
            break
    return state.passes
