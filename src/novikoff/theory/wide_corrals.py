"""The nearest point where there are at least as many columns as rows: nearly every row is in the corral.

    problem   minimise |w|^2 subject to <w, u_i> >= b_i for every point z_i = u_i / b_i; then w / |w|^2 is the nearest
              point, and w = sum alpha_i u_i with alpha >= 0
    method    guess which alpha are positive, solve <w, u_i> = b_i for these by conjugate gradients, and exchange all
              that contradict the guess at once; one at a time where that does not reduce their number
    source    Portúgal, Júdice & Vicente, "A comparison of block pivoting and interior-point algorithms for linear least
              squares problems with nonnegative variables", Math. Comp. 63 (1994)

Wolfe's algorithm would add thousands of points one by one. A step of conjugate gradients reads all entries twice, and a
few dozen steps are enough if the rows are far from dependent; if they are not, there is no result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.theory.hull import Corral
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.signed_points import SignedPoints

__all__ = ["find_wide_corral"]

_MOST_EXCHANGES, _PATIENCE = 60, 3
_MOST_STEPS = 400  # of conjugate gradients
_RESIDUAL = 1e-14  # as a fraction of |b|
_CLOSE = 1e-11  # what is left of a constraint, as a fraction of b, that counts as met


@np.errstate(all="ignore")  # what overflows does not converge
def find_wide_corral(points: SignedPoints, clock: SearchClock) -> Corral | None:
    """Return the corral of the nearest point of all points, in doubles; None if this method does not find it."""
    z: Any = points.take(np.arange(len(points)))
    b = points.length_ratios
    u = sp.csr_array(sp.diags_array(b) @ z) if sp.issparse(z) else z * b[:, None]
    chosen, alpha = np.ones(len(b), bool), np.zeros(len(b))
    fewest, patience = len(b) + 1, _PATIENCE
    for _ in range(_MOST_EXCHANGES):
        solved = _solve(u if chosen.all() else u[chosen], b[chosen], alpha[chosen], clock)
        if solved is None:
            return None
        alpha[:] = 0.0
        alpha[chosen], w = solved
        margins = u @ w
        wrong = np.flatnonzero(np.where(chosen, alpha < 0.0, margins < b * (1.0 - _CLOSE)))
        if not wrong.size:
            rows = np.flatnonzero(alpha)
            shares, length = alpha[rows] * b[rows], float(np.linalg.norm(w))
            lower = float((margins / b).min()) / length
            return Corral(rows, shares / shares.sum(), w / length / length, w, lower)
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _PATIENCE
        else:
            patience -= 1
        exchanged = wrong if patience > 0 else wrong[-1:]
        chosen[exchanged] = ~chosen[exchanged]
        if not chosen.any():
            return None
    return None


def _solve(u: Any, b: np.ndarray, alpha: np.ndarray, clock: SearchClock) -> tuple[np.ndarray, np.ndarray] | None:
    """Solve <w, u> = b with w = u' alpha by conjugate gradients, from a guess of alpha; None if they fail."""
    w = u.T @ alpha
    residual = b - u @ w
    enough = _RESIDUAL * float(np.linalg.norm(b))
    direction, squared = residual.copy(), float(residual @ residual)
    for _ in range(_MOST_STEPS):
        if squared <= enough * enough:
            return alpha, w
        clock.check()
        along = u.T @ direction
        steepness = float(along @ along)
        if not steepness > 0.0:
            return None
        step = squared / steepness
        alpha, w = alpha + step * direction, w + step * along
        residual = residual - step * (u @ along)
        squared, before = float(residual @ residual), squared
        direction = residual + squared / before * direction
    return None
