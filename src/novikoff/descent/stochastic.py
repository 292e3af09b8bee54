"""Descent one example at a time: stochastic gradients, plain and with the inverse of the Hessian before them.

    sgd                  w <- w - eta_t (loss'(s_i) x_i + alpha w)
    stochastic-newton    w <- w - 1/(lag + t) H^-1 (loss'(s_i) x_i + alpha w)      ("2 SGD" in the notes)

The first takes its step from a schedule, and answers with the average of its weights, the later ones weighing more;
the second is its own schedule, since H^-1 is what 1/alpha only bounds.

Reports come after 1, 2, 4, 8, ... passes and the last: each reads all rows, as a pass does. Where nobody waits for
them, neither a listener nor tol, only the first and the last are made. The descent has converged when the passes since
the last report, as many as all before, have lowered the objective by less than tol of what it was at the start (after
one pass, if it was 0 at the start).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import scipy.linalg

from novikoff._compiled.loops import descent
from novikoff.descent.objective import DENSE_LIMIT, Objective, adds_up
from novikoff.descent.settings import End, Settings, no_curvature, remedy, require_descent
from novikoff.descent.trace import Trace
from novikoff.errors import DataError, DivergenceError, LossError
from novikoff.losses import is_smooth

__all__ = ["LOST", "Run", "sgd", "stochastic_newton"]

LOST = 1e300  # in place of the sum of steps, from the first on that did not lead towards its example alone


@dataclass(eq=False)
class Run:
    """Stochastic gradient descent, wherever it is in its stream; see novikoff._compiled.loops.descent."""

    w: np.ndarray
    bias: np.ndarray
    sums: np.ndarray
    sums_bias: np.ndarray
    counts: np.ndarray = field(default_factory=lambda: np.zeros(3, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0, 0.0]))

    @classmethod
    def start(cls, n_features: int, *, average: bool) -> Run:
        """Zero weights."""
        kept = (n_features, 1) if average else (0, 0)
        return cls(np.zeros(n_features), np.zeros(1), np.zeros(kept[0]), np.zeros(kept[1]))

    def copy(self) -> Run:
        """Apart from this one."""
        return Run(*(getattr(self, each.name).copy() for each in fields(self)))

    def learn(self, objective: Objective, settings: Settings, order: np.ndarray | None = None) -> None:
        """One step for each row, in this order; an error at a row that is no number, or if the weights run away."""
        rows, loops = objective.rows, objective.loops
        schedule, eta = _schedule(objective, settings)
        n = loops.sgd_pass(
            rows.data,
            rows.indices,
            rows.indptr,
            rows.n_features,
            rows.squared_norms,
            objective.targets,
            order,
            objective.constant,
            loops.code,
            objective.loss.steepness,
            objective.alpha,
            schedule,
            eta,
            self.w,
            self.bias,
            self.sums,
            self.sums_bias,
            self.counts,
            self.measures,
        )
        if not adds_up(objective.loss, objective.alpha):
            self.measures[descent.STEP_SUM] = LOST
        if n < len(rows) and rows.squared_norms[(at := n if order is None else order[n])] < 0.0:
            raise rows.trouble_in(int(at))
        if n < len(rows) or not (np.isfinite(self.w).all() and np.isfinite(self.bias).all()):
            raise DivergenceError(
                f"The descent went up until the weights were no numbers any more, after "
                f"{int(self.counts[descent.EXAMPLES]):,} examples. {remedy(objective.loss, settings)}"
            )

    def last(self) -> np.ndarray:
        """The weights that learning goes on from, the bias last."""
        return np.append(self.measures[descent.SCALE] * self.w, self.bias)

    def answer(self) -> np.ndarray:
        """The average of the weights if it is kept, else the last ones."""
        total = self.measures[descent.AVERAGE_TOTAL]
        if not (self.sums_bias.size and total):
            return self.last()
        with np.errstate(over="ignore", invalid="ignore"):  # of a descent that went up: its end is looked at
            summed = self.measures[descent.AVERAGE_SCALE] * self.w - self.sums
        return np.append(summed, self.sums_bias) / total


def sgd(objective: Objective, run: Run, settings: Settings, trace: Trace) -> End:
    """Pass after pass, in a new order each, if rows are shuffled."""
    n = len(objective.rows)

    def one_pass() -> np.ndarray:
        run.learn(objective, settings, settings.rng.permutation(n) if settings.shuffle else None)
        return run.answer()

    return _pass_after_pass(objective, one_pass, settings, trace)


def stochastic_newton(objective: Objective, settings: Settings, trace: Trace) -> End:
    """The same with H^-1, taken at the weights that a pass begins with; at d x d numbers for each step."""
    if not is_smooth(objective.loss):
        raise no_curvature("Stochastic Newton", objective.loss)
    if objective.size > DENSE_LIMIT:
        raise DataError(
            f"Stochastic Newton needs the inverse of a matrix of {objective.size:,} x {objective.size:,} "
            f"numbers; for more than {DENSE_LIMIT - 1:,} columns use solver='newton', which then goes by "
            "conjugate gradients, or 'sgd'."
        )
    rows, loops, counts = objective.rows, objective.loops, np.zeros(3, np.int64)
    v, room = np.zeros(objective.size), np.empty((2, objective.size))

    def one_pass() -> np.ndarray:
        inverse = _inverse(objective.hessian(objective.bends(objective.at(v))))
        order = settings.rng.permutation(len(rows)) if settings.shuffle else np.arange(len(rows))
        loops.stochastic_newton_pass(
            rows.data,
            rows.indices,
            rows.indptr,
            objective.targets,
            order,
            objective.constant,
            loops.code,
            objective.alpha,
            inverse,
            _lag(objective, inverse),
            v,
            *room,
            counts,
        )
        return v

    return _pass_after_pass(objective, one_pass, settings, trace)


def _inverse(hessian: np.ndarray) -> np.ndarray:
    """H^-1, with zeros along the directions in which nothing bends."""
    return scipy.linalg.pinvh(hessian)


def _lag(objective: Objective, inverse: np.ndarray) -> float:
    """The first steps are no longer than 1 / (steepness max x^T H^-1 x): the rule of sgd, in the metric of H."""
    rows, longest = objective.rows, 0.0
    for start in range(0, len(rows), 1 << 12):
        part: Any = rows.take(np.arange(start, min(start + (1 << 12), len(rows))))
        dense = np.asarray(part.toarray() if rows.is_sparse else part, np.float64)
        x = np.column_stack([dense, np.full(len(dense), objective.constant)])
        longest = max(longest, float(np.einsum("ij,ij->i", x @ inverse, x).max()))
    return objective.loss.steepness * longest


def _pass_after_pass(objective: Objective, one_pass: Callable[[], np.ndarray], settings: Settings, trace: Trace) -> End:
    """Passes from zero weights, and reports after some of them, until one has seen enough."""
    place = objective.start()
    trace.report(0, place)
    is_awaited = settings.tol is not None or trace.is_heard
    for number in range(1, settings.max_iter + 1):
        v = one_pass()
        if number < settings.max_iter and not (is_awaited and _is_power_of_two(number)):
            continue
        before, place = place.value, objective.at(v)
        trace.report(number, place)
        require_descent(objective, place, trace, settings, ended=False)
        if settings.tol is not None and number > 2 and abs(before - place.value) <= settings.tol * _scale(trace):
            require_descent(objective, place, trace, settings, ended=True)
            return End(place, number, True)
    require_descent(objective, place, trace, settings, ended=True)
    return End(place, settings.max_iter, settings.tol is None)


def _scale(trace: Trace) -> float:
    """What tol is a share of: F at the start, or after one pass if it was 0, as that of hinge-at-zero is."""
    return trace.points[0][1] or trace.points[1][1]


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _schedule(objective: Objective, settings: Settings) -> tuple[int, float]:
    """The learning rate as the kernel takes it: a code, and the first step; 0 lets the kernel find one."""
    rate, eta0 = settings.learning_rate, settings.eta0
    if rate == "auto" and eta0 is None:
        return descent.FITTED, 0.0
    if rate == "optimal":
        return descent.INVERSE, _bottous_lag(objective)
    return (descent.CONSTANT if rate == "constant" else descent.INVERSE_ROOT), eta0 or 0.0


def _bottous_lag(objective: Objective) -> float:
    """Where 1 / (alpha t) begins, so that the first step is of the order of the weights one expects (Bottou 2012)."""
    if not objective.alpha:
        raise LossError("learning_rate='optimal' is 1 / (alpha t), and alpha is 0; use 'auto' or 'invscaling'.")
    weight = math.sqrt(1.0 / math.sqrt(objective.alpha))
    return 1.0 / (weight / max(1.0, abs(objective.loss.slope(-weight, 1.0))) * objective.alpha) - 1.0
