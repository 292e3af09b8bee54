"""LinearModel: weight vectors found by a descent, and the state that sgd continues from."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from novikoff.descent.batch import gradient_descent, newton
from novikoff.descent.dual_ascent import ascend
from novikoff.descent.objective import Objective, normalize_importances
from novikoff.descent.options import DescentOptions, DescentResult, require_rate
from novikoff.descent.stochastic import SgdState, sgd, stochastic_newton
from novikoff.descent.trace import DescentTrace
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.losses import Loss
from novikoff.perceptron.weights import Weights, linear_scores
from novikoff.system.copying import deep_copy
from novikoff.system.exclusive import ExclusiveAccess, exclusive_write, make_lock

__all__ = ["LinearModel", "RegularizedLoss"]

_NARROW = 256  # columns up to which a product of a block of rows is too little work for several threads


@dataclass(frozen=True)
class RegularizedLoss:
    """A loss with its penalty and intercept, for any rows."""

    loss: Loss
    alpha: float
    fit_intercept: bool

    def for_rows(self, rows: Rows, targets: np.ndarray, importances: np.ndarray | None = None) -> Objective:
        """Return the objective for these rows and targets."""
        return Objective(rows, targets, self.loss, self.alpha, self.fit_intercept, importances)


class LinearModel(ExclusiveAccess):
    """One weight vector for each target, the bias last.

    Threads may share it: one learns at a time, and readers do not wait for it.

    Attributes
    ----------
    vectors : ndarray of shape (n_targets, n_features + 1)
    runs : list of SgdState
        The state of sgd for each target; empty after the other solvers.
    traces : list of DescentTrace
        The trace of the last fit, for each target.
    passes : int
        The largest number that any target took in the last fit.
    converged : bool
        Whether all of them converged.
    lacks_minimum : bool
        Whether it is proved that the objective of some target has no minimum; set by whoever has proved it.
    is_stuck : bool
        Whether some could take no further step in double precision before they converged; not in files.
    """

    __copy__ = deep_copy

    def __init__(
        self,
        vectors: np.ndarray,
        runs: Iterable[SgdState] = (),
        traces: Iterable[DescentTrace] = (),
        passes: int = 0,
        converged: bool = False,
    ) -> None:
        self._lock = make_lock(self)
        self._now = vectors, list(runs)  # replaced by `learn`, never changed in place
        self.traces, self.passes, self.converged = list(traces), passes, converged
        self.lacks_minimum = self.is_stuck = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=make_lock(self))

    @property
    def vectors(self) -> np.ndarray:
        return self._now[0]

    @property
    def runs(self) -> list[SgdState]:
        return self._now[1]

    @classmethod
    def fit(
        cls,
        loss: RegularizedLoss,
        solver: str,
        rows: Rows,
        targets: np.ndarray,
        options: DescentOptions,
        *,
        importances: np.ndarray | None = None,
        verbose: bool = False,
    ) -> LinearModel:
        """Minimize for each row of `targets`, from zero weights; only the ratios of the importances of rows matter."""
        results, traces = [], []
        importances = None if importances is None else normalize_importances(importances)
        runs = [SgdState.start(rows.n_features, average=options.average) for _ in targets] if solver == "sgd" else []
        with _limit_blas_threads(rows, solver):
            for k, target in enumerate(targets):
                trace = DescentTrace(print if verbose else None)
                objective = loss.for_rows(rows, target, importances)
                results.append(_solve(objective, solver, options, trace, runs[k] if runs else None))
                traces.append(trace.close())
        vectors = np.array([result.point.v for result in results])
        passes, converged = max(each.passes for each in results), all(each.converged for each in results)
        model = cls(vectors, runs, traces, passes, converged)
        model.is_stuck = any(each.is_stuck for each in results)
        return model

    @classmethod
    def start(cls, n_targets: int, n_features: int, *, average: bool) -> LinearModel:
        """Return a model with zero weights, for sgd to continue from."""
        runs = [SgdState.start(n_features, average=average) for _ in range(n_targets)]
        return cls(np.zeros((n_targets, n_features + 1)), runs)

    @exclusive_write
    def learn(
        self,
        loss: RegularizedLoss,
        rows: Rows,
        targets: np.ndarray,
        options: DescentOptions,
        importances: np.ndarray | None = None,
    ) -> None:
        """Take one step of sgd for each row and target, in order; change nothing if it fails or is interrupted.

        The loss of a row is multiplied by its importance, if it has one.
        """
        self._require_width(rows)
        if not self.runs:
            raise DataError("partial_fit goes on with solver='sgd'; this model was fitted by another. Fit it anew.")
        require_rate("sgd", options.learning_rate)
        runs = [run.copy() for run in self.runs]
        for run, target in zip(runs, targets, strict=True):
            run.learn(loss.for_rows(rows, target, importances), options)
        self._now = np.array([run.result() for run in runs]), runs

    @property
    def n_features(self) -> int:
        return self.vectors.shape[1] - 1

    def scores(self, rows: Rows) -> np.ndarray:
        """Return scores of shape (rows,) for one target, (rows, targets) for several."""
        vectors = self.vectors
        self._require_width(rows)
        weights = Weights(vectors[:, :-1], vectors[:, -1].copy()).to_layout(sparse=rows.is_sparse)
        return linear_scores(rows, weights, 1.0)

    def _require_width(self, rows: Rows) -> None:
        """Raise a DataError for rows of another width: compiled loops would read past the end of the weights."""
        if rows.n_features != self.n_features:
            raise DataError(
                f"X has {rows.n_features} features, but this model is expecting {self.n_features} features as input."
            )


def _solve(
    objective: Objective, solver: str, options: DescentOptions, trace: DescentTrace, run: SgdState | None
) -> DescentResult:
    """Minimize for one target; sgd changes `run` in place."""
    require_rate(solver, options.learning_rate)
    if run is not None:
        return sgd(objective, run, options, trace)
    objective.rows.require_numbers()  # sgd checks each row as it comes
    solve = {"gd": gradient_descent, "newton": newton, "dual": ascend, "stochastic-newton": stochastic_newton}[solver]
    return solve(objective, options, trace)


def _limit_blas_threads(rows: Rows, solver: str) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread where its products are small.

    On a machine with other work to do, its threads would wait for each other thirty times as long as they compute.
    """
    if solver in ("newton", "stochastic-newton") and (rows.is_sparse or rows.n_features <= _NARROW):
        return _thread_pools().limit(limits=1, user_api="blas")
    return nullcontext()


@lru_cache(maxsize=1)
def _thread_pools() -> ThreadpoolController:
    """Return the libraries with thread pools; to find them takes as long as a pass over ten thousand rows."""
    return ThreadpoolController()
