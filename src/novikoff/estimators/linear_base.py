"""What LinearClassifier and LinearRegressor have in common: rows in, a descent, weights out."""

from __future__ import annotations

import os
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from novikoff import losses
from novikoff.descent.model import LinearModel, Problem
from novikoff.descent.saving import SavedLinear, save
from novikoff.descent.settings import LEARNING_RATES, SOLVERS, Settings
from novikoff.descent.trace import Trace
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import LearnsApart
from novikoff.estimators.inputs import validated_rows
from novikoff.inputs.rows import Rows

__all__ = ["Descending", "goes_on"]

_FITTED = ("classes_", "n_features_in_", "feature_names_in_")


def goes_on(estimator: Descending) -> bool:
    """Whether there is a next step to take; scikit-learn hides methods that make no sense for the parameters."""
    if estimator.solver != "sgd":
        raise AttributeError(
            f"partial_fit is for solver='sgd', which looks at one example at a time; "
            f"{estimator.solver!r} needs all rows: use fit."
        )
    return True


class Descending(LearnsApart, BaseEstimator):
    """An estimator whose weights are found by a descent; `loss`, `solver` and the rest are its parameters."""

    loss: Any
    solver: str
    fit_intercept: bool
    average: bool
    _model: LinearModel

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        "loss": [StrOptions(set(losses.NAMES)), *losses.VALUES],
        "solver": [StrOptions(set(SOLVERS))],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "learning_rate": [StrOptions(set(LEARNING_RATES))],
        "eta0": [Interval(Real, 0, None, closed="neither"), None],
        "average": ["boolean"],
        "shuffle": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # -- learning

    def _fit_targets(self, rows: Rows, targets: np.ndarray, **fitted: Any) -> None:
        """Solve the problem; `fitted` are attributes to be set with the solution."""
        model = LinearModel.fitted(self._problem(), self.solver, rows, targets, self._settings(), bool(self.verbose))
        self.__dict__.update(_model=model, _began=(self.fit_intercept, self.average), **fitted)
        if not model.converged:
            _warn(model, self)

    def _go_on(self, rows: Rows, targets: np.ndarray, **fitted: Any) -> None:
        """Learn from a block: whole, or not at all. `fitted` are attributes to be set with the first one."""
        now = self.fit_intercept, self.average
        if "_model" in self.__dict__ and self.__dict__.get("_began", now) != now:
            raise DataError("fit_intercept and average cannot change once learning has begun; fit starts anew.")
        model = self.__dict__.get("_model") or LinearModel.started(len(targets), rows.n_features, average=self.average)
        model.learn(self._problem(), rows, targets, self._settings())
        if "_model" not in self.__dict__:
            self.__dict__.update(_began=now, **fitted)
        found = self.__dict__.setdefault("_model", model)
        if found is not model:  # of another thread, which was the first
            found.learn(self._problem(), rows, targets, self._settings())

    def _problem(self) -> Problem:
        return Problem(losses.resolve(self.loss), float(self.alpha), self.fit_intercept)

    def _settings(self) -> Settings:
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        return Settings(self.learning_rate, self.eta0, self.average, self.shuffle, self.max_iter, self.tol, rng)

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        return validated_rows(self, X, reset=reset)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_model")
        rows = self._rows(X, reset=False)
        rows.require_numbers()
        return self._model.scores(rows)

    # -- what has been learned

    @property
    def coef_(self) -> np.ndarray:
        return self._fitted("coef_").vectors[:, :-1].copy()

    @property
    def intercept_(self) -> np.ndarray:
        return self._fitted("intercept_").vectors[:, -1].copy()

    @property
    def n_iter_(self) -> int:
        return self._fitted("n_iter_").passes

    @property
    def converged_(self) -> bool:
        return self._fitted("converged_").converged

    @property
    def trace_(self) -> Trace | list[Trace]:
        traces = self._fitted("trace_").traces
        if not traces:
            raise AttributeError("trace_ is of fit; partial_fit does not look at all rows, and cannot report.")
        return traces[0] if len(traces) == 1 else list(traces)

    def _fitted(self, name: str) -> LinearModel:
        try:
            return self.__dict__["_model"]
        except KeyError:
            raise AttributeError(f"This {type(self).__name__} has no {name} before it has learned.") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned so far to a file; `novikoff.load` gives back an equal estimator that goes on alike.

        The file is data only. It is replaced whole: killed at any instant, the old or the new model is there. A loss of
        one's own is code: `load` needs it again.

        Parameters
        ----------
        path : str or path
        """
        from novikoff.estimators.from_files import build_estimator

        check_is_fitted(self, "_model")
        self._validate_params()
        fitted = {name: vars(self)[name] for name in _FITTED if name in vars(self)}
        saved = SavedLinear(self._kind, self._model, self.get_params(deep=False), fitted)
        save(path, saved, lambda found: build_estimator(saved.kind, found, path))

    _kind: str

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _warn(model: LinearModel, estimator: Any) -> None:
    more = (
        "sgd comes near quickly and closer slowly; 'newton' is exact where the loss is smooth"
        if estimator.solver == "sgd"
        else "newton takes fewer steps where the loss is smooth"
    )
    warnings.warn(
        f"The descent did not converge: after {model.passes} passes, all that max_iter allows, tol={estimator.tol:g} "
        f"is not reached. Increase max_iter or tol, or scale the columns; {more}.",
        ConvergenceWarning,
        stacklevel=6,
    )
