"""Descent one example at a time: sgd, and stochastic Newton with the inverse Hessian.

    sgd                  w <- w - eta_t (c_i loss'(s_i) x_i + alpha w)
    stochastic-newton    w <- w - 1/(t0 + t) H^-1 (c_i loss'(s_i) x_i + alpha w)

where c_i is the importance of a row, 1 unless rows have weights.

SGD takes its step from a schedule, and returns the average of its weights, in which later weights count more.
Stochastic Newton needs no schedule: H^-1 replaces the factor 1/alpha of the SGD step, which is only an upper bound on
H^-1.

The objective and its duality gap are evaluated after passes 1, 2, 4, 8, ... and after the last one; an evaluation costs
two passes. Without a listener or tol only the objective is evaluated, before the first and after the last pass.

A solver has converged when the gap is at most tol times the objective at zero weights. Once the objective has changed
by no more than that since the previous evaluation, passes of dual ascent look for a smaller gap, at most as many as
were made. Without a penalty, and for other losses, there is no such gap, and that change is the criterion (relative to
the value after one pass, if the initial value is 0); it is not tested before pass 3, and proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import scipy.linalg

from novikoff._compiled.loops import descent
from novikoff._compiled.loops.rows import RowArrays
from novikoff.descent.gap_proofs import GapProver
from novikoff.descent.objective import DENSE_LIMIT, DescentPoint, Objective, is_sum_of_examples
from novikoff.descent.options import DescentOptions, DescentResult, no_curvature_error, require_descent, suggest_remedy
from novikoff.descent.trace import DescentTrace
from novikoff.errors import DataError, DivergenceError, LossError
from novikoff.losses import is_smooth

__all__ = ["UNKNOWN_STEP_SUM", "SgdState", "sgd", "stochastic_newton"]

UNKNOWN_STEP_SUM = 1e300  # replaces the sum of steps once w is not a sum of examples; see is_sum_of_examples


@dataclass(eq=False)
class SgdState:
    """The state of stochastic gradient descent on one target; see novikoff._compiled.loops.descent."""

    w: np.ndarray
    bias: np.ndarray
    sums: np.ndarray
    sums_bias: np.ndarray
    counts: np.ndarray = field(default_factory=lambda: np.zeros(3, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))

    @classmethod
    def start(cls, n_features: int, *, average: bool) -> SgdState:
        """Return the state before the first example."""
        n_sums, n_bias_sums = (n_features, 1) if average else (0, 0)
        return cls(np.zeros(n_features), np.zeros(1), np.zeros(n_sums), np.zeros(n_bias_sums))

    def copy(self) -> SgdState:
        """Return a state that shares no array with this one."""
        return SgdState(*(getattr(self, each.name).copy() for each in fields(self)))

    def learn(self, objective: Objective, options: DescentOptions, order: np.ndarray | None = None) -> None:
        """Take one step for each row, in this order.

        Raise a DataError at a row with NaN or infinity or for an order that does not fit the rows, and a
        DivergenceError if the weights overflow.
        """
        rows, loops = objective.rows, objective.loops
        if order is not None and not _fits(order, len(rows)):
            raise DataError(f"order must hold {len(rows):,} indices of rows, from 0 to {len(rows) - 1:,}.")
        schedule, eta = _schedule(objective, options)
        settings = descent.DescentSettings(
            objective.constant, loops.code, objective.loss.steepness, objective.alpha, schedule, eta
        )
        weights = descent.AveragedWeights(self.w, self.bias, self.sums, self.sums_bias)
        arrays = RowArrays.of(rows)
        n = loops.run_sgd_pass(
            arrays, objective.targets, order, settings, weights, self.counts, self.measures, objective.importances
        )
        if not is_sum_of_examples(objective.loss, objective.alpha):
            self.measures[descent.STEP_SUM] = UNKNOWN_STEP_SUM
        if n < len(rows) and rows.squared_norms[(at := n if order is None else order[n])] < 0.0:
            raise rows.explain_bad_row(int(at))
        if n < len(rows) or not (np.isfinite(self.w).all() and np.isfinite(self.bias).all()):
            raise DivergenceError(
                f"The solver diverged: the weights are no longer finite after {int(self.counts[descent.EXAMPLES]):,} "
                f"examples. {suggest_remedy(objective.loss, options)}"
            )

    def last(self) -> np.ndarray:
        """Return the weights after the last step, followed by the bias."""
        return np.append(self.measures[descent.SCALE] * self.w, self.bias)

    def result(self) -> np.ndarray:
        """Return the average of the weights if it is computed, otherwise the last weights; the bias follows."""
        total = self.measures[descent.AVERAGE_TOTAL]
        if not (self.sums_bias.size and total):
            return self.last()
        with np.errstate(over="ignore", invalid="ignore"):  # if the solver diverges, which the caller detects
            summed = self.measures[descent.AVERAGE_SCALE] * self.w - self.sums
        return np.append(summed, self.sums_bias) / total


def _fits(order: np.ndarray, n: int) -> bool:
    """Return whether an order has n indices below n: compiled loops read as many, and rows where they point."""
    return order.shape == (n,) and order.dtype.kind == "i" and (not n or (order.min() >= 0 and order.max() < n))


def sgd(objective: Objective, state: SgdState, options: DescentOptions, trace: DescentTrace) -> DescentResult:
    """Minimize by stochastic gradient descent; with `shuffle`, each pass visits the rows in a new random order."""
    n = len(objective.rows)

    def one_pass() -> np.ndarray:
        state.learn(objective, options, options.rng.permutation(n) if options.shuffle else None)
        return state.result()

    return _run_passes(objective, one_pass, options, trace)


def stochastic_newton(objective: Objective, options: DescentOptions, trace: DescentTrace) -> DescentResult:
    """Minimize by stochastic Newton steps. The inverse Hessian is computed at the start of each pass.

    A step costs d x d multiplications, where d is the number of weights.
    """
    if not is_smooth(objective.loss):
        raise no_curvature_error("Stochastic Newton", objective.loss)
    if objective.size > DENSE_LIMIT:
        raise DataError(
            f"Stochastic Newton needs the inverse of a matrix of {objective.size:,} x {objective.size:,} "
            f"numbers; for more than {DENSE_LIMIT - 1:,} columns use solver='newton', which then uses "
            "conjugate gradients, or 'sgd'."
        )
    rows, loops, counts = objective.rows, objective.loops, np.zeros(3, np.int64)
    v = np.zeros(objective.size)

    def one_pass() -> np.ndarray:
        inverse = _inverse(objective.hessian(objective.curvatures(objective.at(v))))
        order = options.rng.permutation(len(rows)) if options.shuffle else np.arange(len(rows))
        loops.run_stochastic_newton_pass(
            RowArrays.of(rows),
            objective.targets,
            order,
            objective.constant,
            loops.code,
            objective.alpha,
            inverse,
            _newton_t0(objective, inverse),
            v,
            counts,
            objective.importances,
        )
        return v

    return _run_passes(objective, one_pass, options, trace)


def _inverse(hessian: np.ndarray) -> np.ndarray:
    """Return H^-1, with zeros along directions without curvature."""
    return scipy.linalg.pinvh(hessian)


def _newton_t0(objective: Objective, inverse: np.ndarray) -> float:
    """Return t0 such that steps are at most 1 / (steepness max c x^T H^-1 x): the rule of sgd, in the metric of H."""
    rows, longest = objective.rows, 0.0
    for start in range(0, len(rows), 1 << 12):
        part: Any = rows.take(np.arange(start, min(start + (1 << 12), len(rows))))
        dense = np.asarray(part.toarray() if rows.is_sparse else part, np.float64)
        x = np.column_stack([dense, np.full(len(dense), objective.constant)])
        lengths = np.einsum("ij,ij->i", x @ inverse, x)
        if objective.importances is not None:
            lengths *= objective.importances[start : start + len(lengths)]
        longest = max(longest, float(lengths.max()))
    return objective.loss.steepness * longest


def _run_passes(
    objective: Objective, one_pass: Callable[[], np.ndarray], options: DescentOptions, trace: DescentTrace
) -> DescentResult:
    """Make passes from zero weights, and evaluate the objective after some of them, until it has converged."""
    point, prover = objective.start(), GapProver(objective)
    trace.report(0, point, prover.gap(point.value))
    needs_reports = options.tol is not None or trace.has_listener
    for number in range(1, options.max_iter + 1):
        v, is_last = one_pass(), number == options.max_iter
        if not (is_last or (needs_reports and _is_power_of_two(number))):
            continue
        before, point = point.value, objective.at(v)
        if not needs_reports:
            trace.report(number, point)
            break
        require_descent(objective, point, trace, options, ended=False)
        tol, gap = options.tol or 0.0, prover.improve(point)
        is_level = number > 2 and abs(before - point.value) <= tol * _scale(trace, point)
        if is_level or is_last:
            gap = prover.prove(point, tol * trace.points[0][1], number)
        trace.report(number, point, gap)
        if options.tol is not None and (gap <= tol * trace.points[0][1] if prover.is_tight else is_level):
            require_descent(objective, point, trace, options, ended=True)
            return DescentResult(point, number, True)
    require_descent(objective, point, trace, options, ended=True)
    return DescentResult(point, options.max_iter, options.tol is None)


def _scale(trace: DescentTrace, point: DescentPoint) -> float:
    """Return the value that tol is relative to: the objective at zero weights, or after one pass if it is 0 there.

    It is 0 at zero weights for the loss hinge-at-zero.
    """
    return trace.points[0][1] or (trace.points[1][1] if len(trace) > 1 else point.value)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _schedule(objective: Objective, options: DescentOptions) -> tuple[int, float]:
    """Return (schedule code, eta).

    eta is t0 for "optimal", otherwise the first step; 0 means the loop computes it from the row norms.
    """
    rate, eta0 = options.learning_rate, options.eta0
    if rate == "auto" and eta0 is None:
        return descent.FITTED, 0.0
    if rate == "optimal":
        return descent.INVERSE, _bottou_t0(objective)
    return (descent.CONSTANT if rate == "constant" else descent.INVERSE_ROOT), eta0 or 0.0


def _bottou_t0(objective: Objective) -> float:
    """Return t0 of the steps 1 / (alpha (t0 + t)), such that the first update is about as large as the expected
    weights (Bottou 2012)."""
    if not objective.alpha:
        raise LossError("learning_rate='optimal' is 1 / (alpha t), and alpha is 0; use 'auto' or 'invscaling'.")
    weight = math.sqrt(1.0 / math.sqrt(objective.alpha))
    return 1.0 / (weight / max(1.0, abs(objective.loss.slope(-weight, 1.0))) * objective.alpha) - 1.0
