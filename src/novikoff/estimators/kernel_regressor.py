"""nk.KernelRegressor: regression by potential functions as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length

from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import all_or_nothing
from novikoff.estimators.kernel_inputs import TakesPoints, takes_new_rows
from novikoff.estimators.kernel_perceptron import KernelPerceptron
from novikoff.inputs.sparse import dense_example
from novikoff.kernel_methods.caching import cached
from novikoff.kernel_methods.matrices import kernel_rows
from novikoff.kernel_methods.regression import LossLedger, ResidualLearner, regress

__all__ = ["KernelRegressor"]


class KernelRegressor(TakesPoints, RegressorMixin, BaseEstimator):
    """Regression by potential functions, online or in passes, with an account of its losses.

    After every example f <- f + step * (y - f(x)) K(x, .) [1]_. The squared loss along the way is at most
    L(u) / c^2 + |u|^2 / (step * c) for every function u of the kernel's space, where L(u) is its own loss on the same
    sequence and c = 1 - step * max K(x, x) / 2 [2]_.

    Parameters
    ----------
    kernel, degree, gamma, coef0, fit_intercept
        As in `KernelPerceptron`.
    step : float, default=0.5
        How much of an error one update takes away, for K(x, x) = 1; it must be below 2 / max K(x, x). Shorter steps
        forget more slowly and heed noise less.
    hypothesis : {"last", "averaged"}, default="last"
        The function that is left, or the mean of all along the way, which heeds noise less.
    order : {"given", "shuffled", "random"}, default="given"
        The order of a pass of `fit`.
    max_iter : float, default=10
        The most passes `fit` makes; the last may be a part of one.
    tol : float, default=1e-6
        `fit` ends after a pass with a mean squared loss of no more than this.
    cache_size : float, default=200
        Megabytes that the kernel matrix of a training set may take: if it fits, `fit` computes it once for all passes.
    random_state : int, RandomState instance or None, default=None
        For the orders "shuffled" and "random".

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, raw_dual_coef_
        As in `KernelPerceptron`; every row that was not met exactly is one.
    ledger_ : LossLedger
        Examples, squared loss, R, |f|.
    n_iter_ : int
        Passes begun by the last `fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman and L. Rozonoer, "The method of potential functions for the problem of restoring
       the characteristic of a function converter from randomly observed points", 1964.
    .. [2] N. Cesa-Bianchi, P. Long and M. Warmuth, "Worst-case quadratic loss bounds for prediction using linear
       functions and gradient descent", 1996.

    Examples
    --------
    >>> import numpy as np
    >>> import novikoff as nk
    >>> x = np.linspace(0, 6, 50)[:, None]
    >>> reg = nk.KernelRegressor("rbf", gamma=1.0, max_iter=200).fit(x, np.sin(x[:, 0]))
    >>> float(reg.predict([[np.pi / 2]])[0].round(2))
    1.0
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        **{
            name: KernelPerceptron._parameter_constraints[name]
            for name in (
                "kernel",
                "degree",
                "gamma",
                "coef0",
                "fit_intercept",
                "max_iter",
                "cache_size",
                "random_state",
            )
        },
        "step": [Interval(Real, 0, None, closed="neither")],
        "hypothesis": [StrOptions({"last", "averaged"})],
        "order": [StrOptions({"given", "shuffled", "random"})],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        step: float = 0.5,
        hypothesis: str = "last",
        fit_intercept: bool = False,
        order: str = "given",
        max_iter: float = 10,
        tol: float = 1e-6,
        cache_size: float = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.step = step
        self.hypothesis = hypothesis
        self.fit_intercept = fit_intercept
        self.order = order
        self.max_iter = max_iter
        self.tol = tol
        self.cache_size = cache_size
        self.random_state = random_state

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KernelRegressor:
        """Cycle through the rows until a pass loses no more than `tol`, or `max_iter` passes are over.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of objects
            A square matrix if the kernel is precomputed.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        points, y = self._points_and_numbers(X, y, reset=True)
        model = self._new_model(points)
        learner: Any = model.learner
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        with cached(learner, model.state, points, self.max_iter, self.cache_size) as (quick, rows):
            self.n_iter_ = regress(
                quick, model.state, rows, y, order=self.order, max_iter=self.max_iter, tol=self.tol, rng=rng
            )
        self._model = model
        return self

    @available_if(takes_new_rows)
    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any) -> KernelRegressor:
        """Learn from a block of a stream, once, in the order given: whole or not at all, as by `learn_one`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of objects
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        first = not hasattr(self, "_model")
        points, y = self._points_and_numbers(X, y, reset=first)
        model = self._new_model(points) if first else self._model
        if self._new_model(points).learner != model.learner:
            raise DataError(
                "kernel, its parameters, fit_intercept and step cannot change once learning has begun; fit starts anew."
            )
        model.learn_numbers(points, y)
        if self.__dict__.setdefault("_model", model) is not model:
            return self.partial_fit(X, y)  # another thread was the first to have a model
        return self

    @all_or_nothing
    def learn_one(self, x: Any, y: float) -> KernelRegressor:
        """Learn from one example: whole or not at all, if it is rejected or interrupted as well as if several threads
        share the estimator.

        Parameters
        ----------
        x : 1-D array-like or object
        y : float

        Returns
        -------
        self
        """
        point, _ = self._one(x)
        if not np.isfinite(float(y)):
            raise DataError(f"Input y must be a finite number, found {y!r}.")
        first = not hasattr(self, "_model")
        if first:
            self._validate_params()
        model = self._new_model(point) if first else self._model
        model.learn_numbers(point, np.array([float(y)]))
        if first and point.kind != "objects":
            self.n_features_in_ = int(point.data.shape[1])
        if self.__dict__.setdefault("_model", model) is not model:
            return self.learn_one(x, y)  # another thread was the first to have a model
        return self

    def predict_one(self, x: Any) -> float:
        """Predict the number that belongs to one example; 0 before the first.

        Parameters
        ----------
        x : 1-D array-like or object

        Returns
        -------
        float
        """
        point, _ = self._one(x)
        return float(self._model.scores(point, self.hypothesis)[0]) if hasattr(self, "_model") else 0.0

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number for each row.

        Parameters
        ----------
        X : as in `fit`
            With a precomputed kernel: the kernels of each row with all rows of the training set.

        Returns
        -------
        numbers : ndarray of shape (n_samples,)
        """
        points = self._points_to_read(X)
        return self._model.scores(points, self.hypothesis)

    @property
    def dual_coef_(self) -> np.ndarray:
        return self._fitted("dual_coef_").state.coefficients(self.hypothesis)

    @property
    def ledger_(self) -> LossLedger:
        model = self._fitted("ledger_")
        learner: Any = model.learner
        return learner.account(model.state)

    def _one(self, x: Any) -> tuple[kernel_methods.Points, list[str] | None]:
        x = dense_example(x)
        if isinstance(x, Mapping) and not callable(self.kernel):
            raise DataError(
                "A regression takes no dicts of named features: pass arrays, or a kernel that is a function."
            )
        return self._point(x, learning=True)

    def _points_and_numbers(self, X: Any, y: Any, *, reset: bool) -> tuple[kernel_methods.Points, np.ndarray]:
        if y is None:
            raise DataError("requires y to be passed, but the target y is None")
        y = _check_y(y, multi_output=False, y_numeric=True).astype(np.float64)
        if self._are_objects(X):
            check_consistent_length(X, y)
            return kernel_methods.Points.of_objects(X), y
        rows = self._validated(X, reset=reset)
        check_consistent_length(rows, y)
        rows.require_numbers()
        return (kernel_rows(rows, square=True) if self.kernel == "precomputed" else kernel_methods.Points.of(rows)), y

    def _new_model(self, points: kernel_methods.Points) -> kernel_methods.KernelModel:
        columns = None if points.kind == "objects" else int(points.data.shape[1])
        learner = ResidualLearner(self._potential(columns), step=float(self.step))
        return kernel_methods.KernelModel(learner, (), None, columns)
