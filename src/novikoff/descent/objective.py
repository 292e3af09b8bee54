"""The objective: F(w, b) = 1/n sum_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2, and how it bends.

A point is one vector v with the bias as its last entry, 0 where there is no intercept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from novikoff._compiled.loops import descent
from novikoff.descent.compiled_losses import compiled
from novikoff.inputs.rows import Rows
from novikoff.losses import Custom, Loss, Squared

__all__ = ["DENSE_LIMIT", "Objective", "Place", "adds_up"]

DENSE_LIMIT = 2000  # columns up to which a Hessian is formed and factored: 32 megabytes, and a second

_BLOCK = 1 << 18  # numbers of a block of rows that is scaled and multiplied while it is in the cache


@dataclass(frozen=True, eq=False)
class Place:
    """Where a descent is: the point, the scores of all rows there, F and its gradient."""

    v: np.ndarray
    scores: np.ndarray
    value: float
    gradient: np.ndarray

    @property
    def gradient_norm(self) -> float:
        return float(scipy.linalg.norm(self.gradient, check_finite=False))  # which squares nothing that would overflow


def adds_up(loss: Loss, alpha: float) -> bool:
    """Whether steps lead towards their examples and nothing shrinks, so that w is a sum of examples as the perceptron's
    is, and its length over the sum of steps bounds the margin."""
    return not alpha and not isinstance(loss, Squared | Custom)


class Objective:
    """F for given rows and targets.

    Parameters
    ----------
    rows : Rows
        Which have been found to be numbers.
    targets : array of float64
    loss : Loss
    alpha : float
        Of the penalty, which the bias does not pay.
    fit_intercept : bool
    """

    def __init__(self, rows: Rows, targets: np.ndarray, loss: Loss, alpha: float, fit_intercept: bool) -> None:
        self.rows, self.targets, self.loss, self.alpha = rows, targets, loss, alpha
        self.constant = 1.0 if fit_intercept else 0.0
        self.loops = compiled(loss)
        self.size = rows.n_features + 1
        self._arrays = rows.data, rows.indices, rows.indptr
        # Along the penalty of the bias F is flat, and it stays where it is if there is none.
        self.penalties = np.full(self.size, alpha)
        self.penalties[-1] = 0.0

    def of_every(self, step: int) -> Objective:
        """The same for one row in `step`."""
        some = slice(None, None, step)
        rows = Rows.of(self.rows.take(np.arange(len(self.rows))[some]))
        return Objective(rows, self.targets[some].copy(), self.loss, self.alpha, bool(self.constant))

    def at(self, v: np.ndarray) -> Place:
        """F and its gradient at v, in one pass over the rows."""
        n = len(self.rows)
        scores, gradient = np.empty(n), np.empty(self.size)
        total = self.loops.gradient(*self._arrays, self.targets, self.constant, self.loops.code, v, scores, gradient)
        with np.errstate(over="ignore", invalid="ignore"):  # of a descent that went up: `is_gone` says so
            return Place(v, scores, total / n + self._penalty(v), gradient / n + self.penalties * v)

    def start(self) -> Place:
        """F at zero weights, where no row has to be read for it; its gradient is not known."""
        nothing = np.zeros(len(self.rows))
        total, _ = self.loops.along(nothing, nothing, 0.0, self.targets, self.loops.code)
        return Place(np.zeros(self.size), nothing, total / len(self.rows), np.full(self.size, np.nan))

    def along(self, place: Place, direction: np.ndarray, ahead: np.ndarray, t: float) -> tuple[float, float]:
        """F at v + t * direction and its derivative by t; `ahead` are the scores of the direction: no row is read."""
        total, slope = self.loops.along(place.scores, ahead, t, self.targets, self.loops.code)
        n, moved = len(self.rows), place.v + t * direction
        return total / n + self._penalty(moved), slope / n + float((self.penalties * moved) @ direction)

    def bends(self, place: Place) -> np.ndarray:
        """The curvature of each row's loss, over n."""
        out = np.empty(len(self.rows))
        self.loops.curvatures(place.scores, self.targets, self.loops.code, out)
        out /= len(self.rows)
        return out

    def curve(self, bends: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """The Hessian times a direction: one pass over the rows."""
        out = np.empty(self.size)
        descent.curve(*self._arrays, self.constant, bends, direction, out)
        return out + self.penalties * direction

    def hessian(self, bends: np.ndarray) -> np.ndarray:
        """The Hessian as a matrix; without an intercept its last row and column are those of the unit matrix."""
        out = np.zeros((self.size, self.size))
        if self.rows.is_sparse:
            descent.sparse_hessian(*self._arrays, self.constant, bends, out)
            out += np.tril(out, -1).T
        else:
            self._add_dense_hessian(bends, out)
        out[np.diag_indices(self.size)] += self.penalties
        if not self.constant:
            out[-1, -1] = 1.0
        return out

    def _add_dense_hessian(self, bends: np.ndarray, out: np.ndarray) -> None:
        """X^T diag(bends) X in blocks: (sqrt(bends) X)^T (sqrt(bends) X) is a product that BLAS knows is symmetric."""
        roots = np.sqrt(bends)
        block = max(1, _BLOCK // self.size)
        scaled = np.empty((block, self.size))
        for start in range(0, len(bends), block):
            part = roots[start : start + block, None]
            found = scaled[: len(part)]
            np.multiply(self.rows.data[start : start + block], part, out=found[:, :-1])
            found[:, -1:] = part * self.constant
            out += found.T @ found

    def steepest_curvature(self, steps: int = 30) -> float:
        """A number that the curvature of F nowhere exceeds by more than a tenth: by the power method."""
        rng = np.random.default_rng(0)
        bends = np.full(len(self.rows), self.loss.steepness / len(self.rows))
        v, length = rng.normal(size=self.size), 1.0
        for _ in range(steps):
            v = self.curve(bends, v / np.linalg.norm(v))
            length = float(np.linalg.norm(v))
        return 1.1 * length

    def _penalty(self, v: np.ndarray) -> float:
        w = v[:-1]
        return 0.5 * self.alpha * float(w @ w) if self.alpha else 0.0

    def is_gone(self, place: Place) -> bool:
        """Whether a descent has left the numbers."""
        return not (math.isfinite(place.value) and np.isfinite(place.gradient).all())
