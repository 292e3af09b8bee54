"""Guesses of half-spaces that err on few points, for the search of the fewest errors.

The pocket algorithm, the squared hinge loss, and a sigmoid loss that becomes ever steeper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from novikoff.hypotheses import Pocket
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.passes import cycle
from novikoff.theory.signed_points import SignedPoints

__all__ = ["descend_in_stages", "guess_half_spaces"]


def guess_half_spaces(points: SignedPoints, costs: np.ndarray, expired: Callable[[], bool]) -> Iterator[np.ndarray]:
    """Yield half-spaces that may err on few points, better ones later: that of the pocket, that of the squared hinge,
    and what descent on a sigmoid makes of the latter (see `descend_in_stages`)."""
    yield _run_pocket(points, expired)
    start = np.zeros(points.rows.n_features + 1)
    w = _descend(points, costs, _squared_hinge, start, expired)
    yield w
    yield from descend_in_stages(points, costs, w, expired)


def descend_in_stages(
    points: SignedPoints, costs: np.ndarray, w: np.ndarray, expired: Callable[[], bool]
) -> Iterator[np.ndarray]:
    """Descend on sum costs * sigmoid(-<w, z>), from w scaled up in stages, and yield w after each.

    Stage by stage the smooth loss comes closer to the number of errors, in which far points count no more than near
    ones.
    """
    for steepness in (1.0, 4.0, 16.0, 64.0):
        typical = float(np.median(np.abs(points.margins(w))))
        if not typical > 0.0:
            return
        w = _descend(points, costs, _sigmoid, w * (steepness / typical), expired)
        yield w


def _run_pocket(points: SignedPoints, expired: Callable[[], bool]) -> np.ndarray:
    """Return the weights of the pocket algorithm after some passes."""
    learner = Learner(hypothesis=Pocket(), fit_intercept=bool(points.constant))
    state = learner.init(points.rows.n_features)
    codes, passes = (points.signs > 0).astype(np.int64), min(50, 10 + 100_000 // len(points))
    state, _ = cycle(
        learner,
        state,
        points.rows,
        codes,
        order="shuffled",
        max_iter=passes,
        rng=np.random.default_rng(0),
        after_pass=lambda number, state: expired(),
    )
    weights = Pocket().weights(state)
    return np.append(weights.coef[0], weights.bias[0] if points.constant else 0.0)


_LossAndSlope = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _squared_hinge(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    short = np.maximum(0.0, 1.0 - margins)
    return short * short, -2.0 * short


def _sigmoid(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    loss = expit(-margins)
    return loss, -loss * (1.0 - loss)


def _descend(
    points: SignedPoints, costs: np.ndarray, loss: _LossAndSlope, start: np.ndarray, expired: Callable[[], bool]
) -> np.ndarray:
    """Minimise sum costs * loss(<w, z>), and a little |w|^2, by L-BFGS.

    Where squares of very long points overflow, the descent ends early with a poor guess, which does no harm.
    """
    X: Any = points.rows.take(np.arange(len(points)))
    # Shares instead of costs, so that steps do not depend on the number of points.
    shares, signs = costs / costs.sum(), points.signs.astype(float)

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        losses, slopes = loss(signs * (X @ w[:-1] + points.constant * w[-1]))
        pull = shares * slopes * signs
        gradient = np.append(X.T @ pull, points.constant * pull.sum())
        return float(shares @ losses + 1e-9 * (w @ w)), gradient + 2e-9 * w

    def stop(_: np.ndarray) -> None:
        if expired():
            raise StopIteration

    given: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "callback": stop, "options": {"maxiter": 200}}
    with np.errstate(over="ignore", invalid="ignore"):
        result = minimize(value_and_gradient, start, **given)
    return np.asarray(result.x)
