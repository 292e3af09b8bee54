"""Objective: a mean loss with a penalty, its gradient and its Hessian.

    F(w, b) = 1/n sum_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2

With importances c_i the mean loss is sum_i c_i loss_i / sum_i c_i. An integer c_i is then the same as c_i copies of a
row, and only the ratios of importances matter. They are kept divided by their mean, so that the factor stays 1/n.

Weights and bias are one vector v, the bias last; it stays 0 where there is no intercept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from novikoff._compiled.loops import descent
from novikoff.descent.compiled_losses import compile_loss
from novikoff.inputs.rows import Rows
from novikoff.losses import Custom, Loss, Squared

__all__ = ["DENSE_LIMIT", "DescentPoint", "Objective", "is_sum_of_examples", "normalize_importances"]

DENSE_LIMIT = 2000  # columns up to which a Hessian is formed and factored, which takes 32 megabytes and a second

_BLOCK = 1 << 18  # numbers in a block of rows, which stays in the cache while it is scaled and multiplied


@dataclass(frozen=True, eq=False)
class DescentPoint:
    """A point of a descent: the vector v, the scores of all rows there, F and its gradient."""

    v: np.ndarray
    scores: np.ndarray
    value: float
    gradient: np.ndarray

    @property
    def gradient_norm(self) -> float:
        return float(scipy.linalg.norm(self.gradient, check_finite=False))  # scales first, so that no square overflows


def is_sum_of_examples(loss: Loss, alpha: float) -> bool:
    """Return whether w is a sum of examples with weights above 0, as the perceptron's is.

    Then no step leads away from its example and no penalty shrinks w, and |w| over the sum of steps bounds the margin.
    """
    return not alpha and not isinstance(loss, Squared | Custom)


def normalize_importances(importances: np.ndarray) -> np.ndarray:
    """Return importances divided by their mean.

    >>> import numpy as np
    >>> from novikoff.descent.objective import normalize_importances
    >>> normalize_importances(np.array([1.0, 3.0]))
    array([0.5, 1.5])
    """
    largest = importances.max()
    scaled = importances / largest  # a mean of huge ones would overflow
    return scaled / scaled.mean()


class Objective:
    """The objective F for given rows and targets.

    Parameters
    ----------
    rows : Rows
        Rows that have been found to be numbers.
    targets : array of float64
    loss : Loss
    alpha : float
        Strength of the penalty, which does not apply to the bias.
    fit_intercept : bool
    importances : array of float64, optional
        The factor of each row's loss, > 0 and on average 1 (see `normalize_importances`); a block of a stream has them
        as they are.
    """

    def __init__(
        self,
        rows: Rows,
        targets: np.ndarray,
        loss: Loss,
        alpha: float,
        fit_intercept: bool,
        importances: np.ndarray | None = None,
    ) -> None:
        self.rows, self.targets, self.loss, self.alpha = rows, targets, loss, alpha
        self.importances = importances
        self.constant = 1.0 if fit_intercept else 0.0
        self.loops = compile_loss(loss)
        self.size = rows.n_features + 1
        self._arrays = rows.data, rows.indices, rows.indptr
        # Without a penalty and without an intercept F does not depend on the bias, which stays 0.
        self.penalties = np.full(self.size, alpha)
        self.penalties[-1] = 0.0

    def subsample(self, step: int) -> Objective:
        """Return the objective for every `step`-th row."""
        chosen = slice(None, None, step)
        rows = Rows.of(self.rows.take(np.arange(len(self.rows))[chosen]))
        importances = None if self.importances is None else normalize_importances(self.importances[chosen])
        return Objective(rows, self.targets[chosen].copy(), self.loss, self.alpha, bool(self.constant), importances)

    def at(self, v: np.ndarray) -> DescentPoint:
        """Return F and its gradient at v; one pass over the rows."""
        n = len(self.rows)
        scores, gradient = np.empty(n), np.empty(self.size)
        total = self.loops.fill_gradient(
            *self._arrays, self.targets, self.constant, self.loops.code, v, scores, gradient, self.importances
        )
        with np.errstate(over="ignore", invalid="ignore"):  # of a solver that diverged: `has_diverged` says so
            return DescentPoint(v, scores, total / n + self._penalty(v), gradient / n + self.penalties * v)

    def start(self) -> DescentPoint:
        """Return F at zero weights, which needs no row; the gradient there is left NaN."""
        nothing = np.zeros(len(self.rows))
        total, _ = self.loops.along(nothing, nothing, 0.0, self.targets, self.loops.code, self.importances)
        return DescentPoint(np.zeros(self.size), nothing, total / len(self.rows), np.full(self.size, np.nan))

    def value_and_slope(
        self, point: DescentPoint, direction: np.ndarray, direction_scores: np.ndarray, t: float
    ) -> tuple[float, float]:
        """Return F at v + t * direction and its derivative by t; given the scores of the direction, no row is read."""
        total, slope = self.loops.along(
            point.scores, direction_scores, t, self.targets, self.loops.code, self.importances
        )
        n, moved = len(self.rows), point.v + t * direction
        return total / n + self._penalty(moved), slope / n + float((self.penalties * moved) @ direction)

    def curvatures(self, point: DescentPoint) -> np.ndarray:
        """Return the second derivative of each row's loss, times its importance, divided by n."""
        out = np.empty(len(self.rows))
        self.loops.fill_curvatures(point.scores, self.targets, self.loops.code, out, self.importances)
        out /= len(self.rows)
        return out

    def hessian_product(self, curvatures: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the Hessian times a direction; one pass over the rows."""
        out = np.empty(self.size)
        descent.fill_hessian_product(*self._arrays, self.constant, curvatures, direction, out)
        return out + self.penalties * direction

    def hessian(self, curvatures: np.ndarray) -> np.ndarray:
        """Return the Hessian as a matrix; without an intercept its last row and column are those of the identity."""
        out = np.zeros((self.size, self.size))
        if self.rows.is_sparse:
            descent.add_sparse_hessian(*self._arrays, self.constant, curvatures, out)
            out += np.tril(out, -1).T
        else:
            self._add_dense_hessian(curvatures, out)
        out[np.diag_indices(self.size)] += self.penalties
        if not self.constant:
            out[-1, -1] = 1.0
        return out

    def _add_dense_hessian(self, curvatures: np.ndarray, out: np.ndarray) -> None:
        """Add X^T diag(c) X in blocks, as (sqrt(c) X)^T (sqrt(c) X), which BLAS computes as a symmetric product."""
        roots = np.sqrt(curvatures)
        block = max(1, _BLOCK // self.size)
        scaled = np.empty((block, self.size))
        for start in range(0, len(curvatures), block):
            part = roots[start : start + block, None]
            weighted = scaled[: len(part)]
            np.multiply(self.rows.data[start : start + block], part, out=weighted[:, :-1])
            weighted[:, -1:] = part * self.constant
            out += weighted.T @ weighted

    def steepest_curvature(self, steps: int = 30) -> float:
        """Return a bound on the largest eigenvalue of the Hessian, by the power method and with a tenth to spare."""
        rng = np.random.default_rng(0)
        curvatures = np.full(len(self.rows), self.loss.steepness / len(self.rows))
        if self.importances is not None:
            curvatures *= self.importances
        v, length = rng.normal(size=self.size), 1.0
        for _ in range(steps):
            v = self.hessian_product(curvatures, v / np.linalg.norm(v))
            length = float(np.linalg.norm(v))
        return 1.1 * length

    def _penalty(self, v: np.ndarray) -> float:
        w = v[:-1]
        return 0.5 * self.alpha * float(w @ w) if self.alpha else 0.0

    def has_diverged(self, point: DescentPoint) -> bool:
        """Return whether F or its gradient is no longer finite."""
        return not (math.isfinite(point.value) and np.isfinite(point.gradient).all())
