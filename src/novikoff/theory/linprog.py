"""A second opinion on separability: the linear program of textbooks, by SciPy's HiGHS.

    maximise t    subject to    <w, z> >= t for every point,  |w_j| <= 1

t > 0 iff separable. The dual variables are weights of a point of the hull.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from novikoff.theory.hull import Corral
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.signed_points import SignedPoints

__all__ = ["search"]


def search(points: SignedPoints, tol: float, clock: SearchClock | None = None) -> Corral:
    """Find a corral by linear programming; `tol` is ignored, the solver has its own tolerance."""
    z = points.take(np.arange(len(points)))
    stack = sp.hstack if sp.issparse(z) else np.hstack
    d = z.shape[1]
    solution = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=stack([-z, np.ones((len(points), 1))]),
        b_ub=np.zeros(len(points)),
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
        method="highs",
        options={} if clock is None else {"time_limit": max(0.01, clock.limit - clock.seconds)},
    )
    if solution.x is None:  # HiGHS failed: exact arithmetic starts without a corral
        return Corral.empty(points)
    weights = np.maximum(-solution.ineqlin.marginals, 0.0)
    rows = np.flatnonzero(weights)
    if not len(rows):
        return Corral.empty(points)
    best = solution.x[:-1]
    length = float(np.linalg.norm(best))
    lower = float(points.margins(best).min()) / length if length else 0.0
    shares = weights[rows] / weights.sum()
    return Corral(rows, shares, np.asarray(z[rows].T @ shares), best, lower)
