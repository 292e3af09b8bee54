"""Descents on a loss of two weights: its values on a grid, and the paths of four solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from novikoff import losses
from novikoff.descent.batch import gradient_descent, newton
from novikoff.descent.objective import Objective
from novikoff.descent.options import DescentOptions
from novikoff.descent.stochastic import SgdState, stochastic_newton
from novikoff.descent.trace import DescentTrace
from novikoff.inputs.rows import Rows

__all__ = ["descend"]

_GRID = 41
_STEPS = 24  # iterations of gd and newton
_PASSES = 6  # of sgd and stochastic newton

_Solver = Callable[[Objective, DescentOptions, DescentTrace], Any]


def descend(points: list[list[float]], loss: str) -> dict[str, Any]:
    """Return the mean loss on a grid of weights, its minimum, and the path of each solver from w = 0.

    The path of sgd has a point for each example, that of stochastic Newton one for each pass, and the others one for
    each iteration. All are made by the solvers of the package.
    """
    table = np.array(points, float)
    objective = _objective(table, loss)
    minimum = newton(objective, DescentOptions(tol=1e-10, max_iter=100), DescentTrace()).point.v[:2]
    paths = {
        "gd": _restarts(gradient_descent, objective, DescentOptions(learning_rate="constant", tol=None), _STEPS),
        "newton": _restarts(newton, objective, DescentOptions(tol=None), 3),
        "sgd": _sgd_path(table, loss),
        "stochastic-newton": _restarts(stochastic_newton, objective, DescentOptions(tol=None), _PASSES),
    }
    return {"loss": loss, "minimum": minimum.tolist(), "paths": paths, **_grid(objective, minimum, paths)}


def _restarts(solver: _Solver, objective: Objective, options: DescentOptions, most: int) -> list[list[float]]:
    """Return the weights after 0, 1, 2, ... iterations, each from a start anew: solvers keep no path."""
    path = [[0.0, 0.0]]
    for number in range(1, most + 1):
        fresh = DescentOptions(
            options.learning_rate, options.eta0, options.average, options.shuffle, number, options.tol
        )
        path.append(solver(objective, fresh, DescentTrace()).point.v[:2].tolist())
        if np.allclose(path[-1], path[-2], rtol=0.0, atol=1e-9):
            break
    return path


def _objective(table: np.ndarray, loss: str) -> Objective:
    """Return the mean loss over rows (x1, x2, label), without a bias."""
    rows = Rows.of(np.ascontiguousarray(table[:, :2]))
    return Objective(rows, table[:, 2].copy(), losses.resolve(loss), 0.0, fit_intercept=False)


def _sgd_path(table: np.ndarray, loss: str) -> list[list[float]]:
    """Return the weights after each example of some passes, in a new random order each."""
    single = [_objective(table[[row]], loss) for row in range(len(table))]
    options = DescentOptions(average=False, tol=None)
    state, path = SgdState.start(2, average=False), [[0.0, 0.0]]
    for _ in range(_PASSES):
        for row in options.rng.permutation(len(single)).tolist():
            state.learn(single[row], options)
            path.append(state.last()[:2].tolist())
    return path


def _grid(objective: Objective, minimum: np.ndarray, paths: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Return values of the loss on a square that has the origin, the minimum and all paths in it."""
    seen = np.array([[0.0, 0.0], minimum.tolist(), *(point for path in paths.values() for point in path)])
    center = (seen.min(axis=0) + seen.max(axis=0)) / 2.0
    half = 0.6 * float((seen.max(axis=0) - seen.min(axis=0)).max())
    from_, to = center - half, center + half
    axes = [np.linspace(from_[axis], to[axis], _GRID) for axis in (0, 1)]
    values = [
        float(f"{objective.at(np.array([w1, w2, 0.0])).value:.5g}")
        for w2 in axes[1].tolist()
        for w1 in axes[0].tolist()
    ]
    return {"n": _GRID, "from": from_.tolist(), "to": to.tolist(), "values": values}
