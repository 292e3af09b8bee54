"""Wolfe's algorithm on a QR factorisation, for points that a Gram matrix of doubles cannot tell apart.

A Gram matrix squares the condition of the points. Here each step factorises the points of the corral themselves, their
columns sorted by size, which keeps the digits of small columns beside large ones (Cox & Higham, "Stability of
Householder QR factorization for weighted least squares problems", 1998). A step takes k^2 d operations for k points, so
this is for the last steps only, from a corral that hull.py found.

The nearest point of k independent points z = u / b is along w, the shortest vector with <w, u> = b for all of them:
w = U' alpha, and alpha are the weights up to their sum. Of dependent points the affine hull contains 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, qr, solve_triangular

from novikoff.theory.hull import Corral
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.signed_points import SignedPoints

__all__ = ["MOST_PRECISE_ROWS", "improve_corral"]

_MOST_WORK = 300_000_000  # the sum of k^2 d over all factorisations
_USUAL_TOL = 1e-9  # a user who asks for a smaller gap than that gets it whatever it takes
MOST_PRECISE_ROWS = 400


@np.errstate(all="ignore")  # what overflows is no improvement
def improve_corral(points: SignedPoints, start: Corral, tol: float, clock: SearchClock) -> Corral:
    """Continue from a corral until its gap is tol * upper, or doubles allow no improvement."""
    return _PreciseSearch(points, start, tol, clock).run()


class _PreciseSearch:
    """The corral as rows and weights alpha, and the best corral and direction so far."""

    def __init__(self, points: SignedPoints, start: Corral, tol: float, clock: SearchClock) -> None:
        self.points, self.start, self.tol, self.clock = points, start, tol, clock
        self.b = points.length_ratios
        self.rows, self.alpha = start.rows.copy(), start.weights / self.b[start.rows]
        self.best, self.lower = start.best, start.lower
        self.work = 0
        self.order = np.argsort(-_column_sizes(points), kind="stable")

    def run(self) -> Corral:
        """Take steps until the gap is closed, 0 is in the hull, or a step brings nothing."""
        shortest, found = math.inf, self.start
        while self.work < _MOST_WORK or self.tol < _USUAL_TOL:
            self.clock.check()
            w = self._move_to_nearest() if 0 < len(self.rows) <= MOST_PRECISE_ROWS else None
            if w is None:
                break
            length = float(np.linalg.norm(w))
            if not 1.0 / length < shortest * (1.0 - 1e-15):
                break
            shortest, margins = 1.0 / length, self.points.margins(w)
            least = float(margins.min())
            if least / length > self.lower:
                self.best, self.lower = w, least / length
            self.clock.report(self.lower, shortest)
            shares = self.alpha * self.b[self.rows]
            found = Corral(self.rows.copy(), shares / shares.sum(), w / length / length, self.best, self.lower)
            violations = (margins - 1.0) * self.b
            violations[self.rows] = 0.0
            if least >= 1.0 - self.tol or not violations.min() < 0.0:
                break
            self.rows, self.alpha = np.append(self.rows, np.argmin(violations)), np.append(self.alpha, 0.0)
        return Corral(found.rows, found.weights, found.x, self.best, self.lower)

    def _move_to_nearest(self) -> np.ndarray | None:
        """Move to the nearest point of the affine hull, dropping rows whose weight reaches 0 on the way; return w."""
        for _ in range(len(self.rows)):
            goal, w = self._solve()
            if goal is None:
                return None
            if (goal > 0.0).all():
                self.alpha = goal
                return w  # None if 0 is in the hull, as far as doubles can tell
            leaving = goal <= 0.0
            ratios = np.full(len(goal), math.inf)
            ratios[leaving] = self.alpha[leaving] / np.maximum(self.alpha[leaving] - goal[leaving], 1e-300)
            reach = min(1.0, ratios.min())
            kept = ratios > reach
            self.rows, self.alpha = self.rows[kept], (self.alpha + reach * (goal - self.alpha))[kept]
            if not len(self.rows):
                return None
        return None

    def _solve(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the weights of the nearest point of the affine hull, whose sum of b alpha is 1, and w; None for w if
        that point is 0, and None for both if doubles cannot tell."""
        z: Any = self.points.take(self.rows)
        U = (z.toarray() if sp.issparse(z) else z)[:, self.order] * self.b[self.rows][:, None]
        b, k = self.b[self.rows], len(self.rows)
        self.work += k * k * U.shape[1]
        try:
            Q, R, pivots = qr(U.T, mode="economic", pivoting=True, check_finite=False)
            if k > len(R) or not abs(R[-1, -1]) > 1e-300:
                return self._solve_dependent(U, b)
            y = solve_triangular(R, b[pivots], trans="T", check_finite=False)
            goal = np.empty(k)
            goal[pivots] = solve_triangular(R, y, check_finite=False)
        except (LinAlgError, ValueError):
            return None, None
        w = np.zeros(len(self.order))
        w[self.order] = Q @ y
        total = b @ goal
        return (goal / total, w) if total > 0.0 and np.isfinite(w).all() and w.any() else (None, None)

    @staticmethod
    def _solve_dependent(U: np.ndarray, b: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the weights with which the rows cancel, if the last is a combination of the others."""
        if len(U) < 2:
            return None, None
        Q, R, pivots = qr(U[:-1].T, mode="economic", pivoting=True, check_finite=False)
        if len(U) - 1 > len(R) or not abs(R[-1, -1]) > 1e-300:
            return None, None
        goal = np.ones(len(U))
        goal[pivots] = -solve_triangular(R, Q.T @ U[-1], check_finite=False)
        total = b @ goal
        return (goal / total, None) if total and np.isfinite(goal).all() else (None, None)


def _column_sizes(points: SignedPoints) -> np.ndarray:
    """Return the largest absolute value of each column, the constant coordinate last."""
    x: Any = points.rows.take(np.arange(len(points)))
    sizes = abs(x).max(axis=0)
    return np.append(sizes.toarray().ravel() if sp.issparse(sizes) else sizes, points.constant)
