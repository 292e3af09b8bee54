"""LinearModel: weight vectors found by a descent, and what a stochastic one needs to go on."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from novikoff.descent.batch import gradient_descent, newton
from novikoff.descent.objective import Objective
from novikoff.descent.settings import End, Settings, require_rate
from novikoff.descent.stochastic import Run, sgd, stochastic_newton
from novikoff.descent.trace import Trace
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.losses import Loss
from novikoff.perceptron.weights import Weights, linear_scores
from novikoff.system.copying import copied_deeply
from novikoff.system.exclusive import Exclusive, learning, lock_for

__all__ = ["LinearModel", "Problem"]

_NARROW = 256  # columns up to which a product of a block of rows is too little work to share


@dataclass(frozen=True)
class Problem:
    """What is to be made small, whatever the rows."""

    loss: Loss
    alpha: float
    fit_intercept: bool

    def on(self, rows: Rows, targets: np.ndarray) -> Objective:
        """The objective for these rows."""
        return Objective(rows, targets, self.loss, self.alpha, self.fit_intercept)


class LinearModel(Exclusive):
    """One weight vector for each target, the bias last.

    Threads may share it: one learns at a time, and what has been learned is read without waiting.

    Attributes
    ----------
    vectors : ndarray of shape (n_targets, n_features + 1)
    runs : list of Run
        Where sgd stands, for each target; empty after the other solvers.
    traces : list of Trace
        How the last fit went, for each target.
    passes : int
        The most that any target took in the last fit.
    converged : bool
        Whether all of them converged.
    """

    __copy__ = copied_deeply

    def __init__(
        self,
        vectors: np.ndarray,
        runs: Iterable[Run] = (),
        traces: Iterable[Trace] = (),
        passes: int = 0,
        converged: bool = False,
    ) -> None:
        self._lock = lock_for(self)
        self._now = vectors, list(runs)  # replaced by others when it learns, never changed
        self.traces, self.passes, self.converged = list(traces), passes, converged

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=lock_for(self))

    @property
    def vectors(self) -> np.ndarray:
        return self._now[0]

    @property
    def runs(self) -> list[Run]:
        return self._now[1]

    @classmethod
    def fitted(
        cls, problem: Problem, solver: str, rows: Rows, targets: np.ndarray, settings: Settings, verbose: bool = False
    ) -> LinearModel:
        """Solve the problem for each row of `targets`, from zero weights."""
        ends, traces = [], []
        runs = [Run.start(rows.n_features, average=settings.average) for _ in targets] if solver == "sgd" else []
        with _few_threads(rows, solver):
            for k, own in enumerate(targets):
                trace = Trace(print if verbose else None)
                ends.append(_solve(problem.on(rows, own), solver, settings, trace, runs[k] if runs else None))
                traces.append(trace.closed())
        vectors = np.array([end.place.v for end in ends])
        return cls(vectors, runs, traces, max(end.passes for end in ends), all(end.converged for end in ends))

    @classmethod
    def started(cls, n_targets: int, n_features: int, *, average: bool) -> LinearModel:
        """Zero weights, for sgd to go on from."""
        runs = [Run.start(n_features, average=average) for _ in range(n_targets)]
        return cls(np.zeros((n_targets, n_features + 1)), runs)

    @learning
    def learn(self, problem: Problem, rows: Rows, targets: np.ndarray, settings: Settings) -> None:
        """One step of sgd for each row, as they stand, for each target; nothing if it diverges or is interrupted."""
        if not self.runs:
            raise DataError("partial_fit goes on with solver='sgd'; this model was fitted by another. Fit it anew.")
        require_rate("sgd", settings.learning_rate)
        runs = [run.copy() for run in self.runs]
        for run, own in zip(runs, targets, strict=True):
            run.learn(problem.on(rows, own), settings)
        self._now = np.array([run.answer() for run in runs]), runs

    @property
    def n_features(self) -> int:
        return self.vectors.shape[1] - 1

    def scores(self, rows: Rows) -> np.ndarray:
        """(rows,) for one target, (rows, targets) for several."""
        vectors = self.vectors
        weights = Weights(vectors[:, :-1], vectors[:, -1].copy()).laid_out(sparse=rows.is_sparse)
        return linear_scores(rows, weights, 1.0)


def _solve(objective: Objective, solver: str, settings: Settings, trace: Trace, run: Run | None) -> End:
    """Solve the problem of one target; sgd leaves where it stands in `run`."""
    require_rate(solver, settings.learning_rate)
    if run is not None:
        return sgd(objective, run, settings, trace)
    objective.rows.require_numbers()  # which sgd finds out on the way
    solve = {"gd": gradient_descent, "newton": newton, "stochastic-newton": stochastic_newton}[solver]
    return solve(objective, settings, trace)


def _few_threads(rows: Rows, solver: str) -> AbstractContextManager[Any]:
    """Keep BLAS to one thread where its products are small: on a machine that has other work to do as well, its threads
    wait for each other thirty times as long as they work."""
    if solver in ("newton", "stochastic-newton") and (rows.is_sparse or rows.n_features <= _NARROW):
        return _pools().limit(limits=1, user_api="blas")
    return nullcontext()


@lru_cache(maxsize=1)
def _pools() -> ThreadpoolController:
    """The libraries that have threads: to find them takes as long as a pass over ten thousand rows."""
    return ThreadpoolController()
