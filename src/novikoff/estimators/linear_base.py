"""LinearEstimator: what LinearClassifier and LinearRegressor have in common."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from novikoff import losses
from novikoff.descent.model import LinearModel, RegularizedLoss
from novikoff.descent.options import LEARNING_RATES, SOLVERS, DescentOptions, LearningRate, Solver
from novikoff.descent.saving import SavedLinear, save
from novikoff.descent.trace import DescentTrace
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import AtomicFitMixin, Fitted
from novikoff.estimators.convergence_warnings import warn_of_descent, warn_of_missing_minimum
from novikoff.estimators.inputs import validate_rows
from novikoff.estimators.missing_minimum import find_endless_direction
from novikoff.estimators.online_classifier import make_generator
from novikoff.inputs.rows import Rows

__all__ = ["LinearEstimator", "supports_partial_fit"]


def supports_partial_fit(estimator: LinearEstimator) -> bool:
    """Return True if the solver learns from streams; scikit-learn hides methods for which this raises an error."""
    if estimator.solver != "sgd":
        raise AttributeError(
            f"partial_fit is for solver='sgd', which looks at one example at a time; "
            f"{estimator.solver!r} needs all rows: use fit."
        )
    return True


class LinearEstimator(AtomicFitMixin, BaseEstimator):
    """Base class of estimators whose weights minimize a regularized loss."""

    loss: losses.LossName | losses.Loss
    solver: Solver
    alpha: float
    fit_intercept: bool
    learning_rate: LearningRate
    eta0: float | None
    average: bool
    shuffle: bool
    max_iter: int
    tol: float | None
    random_state: Any
    verbose: int

    _kind: str  # of its model files

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

    def _fit_targets(
        self, rows: Rows, targets: np.ndarray, attributes: dict[str, Any], importances: np.ndarray | None
    ) -> None:
        """Minimize the loss for each row of `targets`, and publish the result with its attributes."""
        model = LinearModel.fit(
            self._regularized_loss(),
            self.solver,
            rows,
            targets,
            self._options(),
            importances=importances,
            verbose=bool(self.verbose),
        )
        reason = self._explain_missing_minimum(rows, targets, model)
        if reason is not None:
            model.converged, model.lacks_minimum = False, True
            if self.tol is not None:
                warn_of_missing_minimum(reason)
        elif not model.converged:
            assert self.tol is not None
            warn_of_descent(model, self.tol, self.solver, losses.resolve(self.loss), rows)
        self._fitted = Fitted(model, attributes, self._fixed_parameters())

    def _explain_missing_minimum(self, rows: Rows, targets: np.ndarray, model: LinearModel) -> str | None:
        """Return why F has no minimum if that is proved, for the first of the targets of which it is."""
        if self.alpha or not isinstance(losses.resolve(self.loss), losses.Logistic):
            return None
        found = (
            find_endless_direction(rows, signs, v, float(self.fit_intercept))
            for signs, v in zip(targets, model.vectors, strict=True)
        )
        return next((reason for reason in found if reason is not None), None)

    def _learn_first(
        self, rows: Rows, targets: np.ndarray, attributes: dict[str, Any], importances: np.ndarray | None
    ) -> Fitted:
        """Return what a first block teaches."""
        if not len(rows):
            raise DataError("All rows of the first block have a weight of zero; begin with one that has others.")
        model = LinearModel.start(len(targets), rows.n_features, average=self.average)
        model.learn(self._regularized_loss(), rows, targets, self._options(), importances)
        return Fitted(model, attributes, self._fixed_parameters())

    def _learn_next(self, rows: Rows, targets: np.ndarray, importances: np.ndarray | None) -> None:
        """Learn from a block after the first, in place: whole or not at all. All its rows may have been left out."""
        if self._fitted.fixed_parameters not in (None, self._fixed_parameters()):
            raise DataError("fit_intercept and average cannot change once learning has begun; fit starts anew.")
        if len(rows):
            self._model.learn(self._regularized_loss(), rows, targets, self._options(), importances)

    def _fixed_parameters(self) -> tuple[Any, ...]:
        return self.fit_intercept, self.average

    def _regularized_loss(self) -> RegularizedLoss:
        return RegularizedLoss(losses.resolve(self.loss), float(self.alpha), self.fit_intercept)

    def _options(self) -> DescentOptions:
        rng = make_generator(self.random_state)
        return DescentOptions(self.learning_rate, self.eta0, self.average, self.shuffle, self.max_iter, self.tol, rng)

    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of rows; call it on a `_snapshot`."""
        check_is_fitted(self, "_fitted")
        rows = validate_rows(self, X)
        rows.require_numbers()
        return self._model.scores(rows)

    # -- what has been learned

    @property
    def coef_(self) -> np.ndarray:
        return self._require_model("coef_").vectors[:, :-1].copy()

    @property
    def intercept_(self) -> np.ndarray:
        return self._require_model("intercept_").vectors[:, -1].copy()

    @property
    def n_iter_(self) -> int:
        return self._require_model("n_iter_").passes

    @property
    def converged_(self) -> bool:
        return self._require_model("converged_").converged

    @property
    def lacks_minimum_(self) -> bool:
        return self._require_model("lacks_minimum_").lacks_minimum

    @property
    def trace_(self) -> DescentTrace | list[DescentTrace]:
        traces = self._require_model("trace_").traces
        if not traces:
            raise AttributeError("trace_ is of fit; partial_fit does not look at all rows, and cannot report.")
        return traces[0] if len(traces) == 1 else list(traces)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned so far to a file; `novikoff.load` gives back an equal estimator that goes on alike.

        The file is data only, and replaced atomically: killed at any instant, the old or the new model is there. A loss
        of one's own is code: `load` needs it again.

        Parameters
        ----------
        path : str or path
        """
        from novikoff.estimators.from_files import build_estimator

        now = self._snapshot()
        check_is_fitted(now, "_fitted")
        now._validate_params()
        saved = SavedLinear(now._kind, now._model, now.get_params(deep=False), dict(now._fitted.attributes))
        save(path, saved, lambda found: build_estimator(saved.kind, found, path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
