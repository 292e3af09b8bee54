"""nk.KernelRegressor: online kernel regression as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length

from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import Fitted
from novikoff.estimators.inputs import validate_first_rows, validate_rows
from novikoff.estimators.kernel_inputs import KernelInputMixin, TrainingPoints, accepts_new_rows
from novikoff.estimators.kernel_perceptron import KernelPerceptron
from novikoff.estimators.online_classifier import make_generator
from novikoff.inputs.sparse import dense_example
from novikoff.kernel_methods.caching import precomputed_kernel
from novikoff.kernel_methods.kernels import KernelName
from novikoff.kernel_methods.regression import LossLedger, ResidualLearner, regress

__all__ = ["KernelRegressor"]


class KernelRegressor(KernelInputMixin, RegressorMixin, BaseEstimator):
    """Kernel regression, online or in passes, with a ledger of its losses.

    After every example f <- f + step * (y - f(x)) K(x, .) [1]_. The squared loss along the way is at most
    L(u) / c^2 + |u|^2 / (step * c) for every function u of the kernel's space, where L(u) is its own loss on the same
    sequence and c = 1 - step * max K(x, x) / 2 [2]_.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "hamming" (for categories encoded as numbers), "precomputed"
        (X is the kernel matrix itself, and to predict, its rows for new examples against all training rows); or a
        function of two blocks of rows that returns their kernel matrix, of two rows, or of two objects of any kind.
    degree : float, default=3
        Degree of "poly", (gamma <x, z> + coef0)^degree.
    gamma : float, default=None
        Scale of "poly", "rbf", "laplacian", "sigmoid" and "hamming". None: 1 / number of columns.
    coef0 : float, default=1.0
        Constant term of "poly" and "sigmoid".
    step : float, default=0.5
        The share of an error that one update removes, for K(x, x) = 1; it must be below 2 / max K(x, x). With shorter
        steps noise has less influence, and old examples are forgotten more slowly.
    hypothesis : {"last", "averaged"}, default="last"
        The function after the last update, or the mean of all functions along the run, which is less noisy.
    fit_intercept : bool, default=False
        Add 1 to every kernel value: a constant coordinate in feature space.
    order : {"given", "shuffled", "random"}, default="given"
        The order of a pass of `fit`: that of the rows; a new permutation for each pass; drawn with replacement.
    max_iter : float, default=10
        The largest number of passes of `fit`; the last may be a part of a pass.
    tol : float, default=1e-6
        `fit` ends after a pass whose mean squared loss is at most this.
    cache_size : float, default=200
        Megabytes for the kernel matrix of a training set: if it fits, `fit` computes it once for all passes.
    random_state : int, RandomState instance or None, default=None
        For the orders "shuffled" and "random".

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The rows with updates, which are all that were not predicted exactly: indices into X of `fit`, continued by the
        rows of later `partial_fit` and `learn_one`.
    support_vectors_ : ndarray, sparse array or list
        These rows.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients under the hypothesis.
    raw_dual_coef_ : ndarray of shape (1, n_support)
        The coefficients that learning continues from, whatever the hypothesis.
    ledger_ : LossLedger
        Examples, squared loss, R, |f|.
    n_iter_ : int
        Number of passes of the last `fit`.
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
        kernel: KernelName | Callable[[Any, Any], float] = "rbf",
        *,
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        step: float = 0.5,
        hypothesis: Literal["last", "averaged"] = "last",
        fit_intercept: bool = False,
        order: Literal["given", "shuffled", "random"] = "given",
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
        points, y, _, attributes = self._training_points(X, y, first=True)
        model = self._new_model(points)
        learner: Any = model.learner
        with precomputed_kernel(learner, model.state, points, self.max_iter, self.cache_size) as (fast_learner, rows):
            n_iter = regress(
                fast_learner,
                model.state,
                rows,
                y,
                order=self.order,
                max_iter=self.max_iter,
                tol=self.tol,
                rng=make_generator(self.random_state),
            )
        self._fitted = Fitted(model, {**attributes, "n_iter_": n_iter})
        return self

    @available_if(accepts_new_rows)
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
        now = self._snapshot()
        first = not now.__sklearn_is_fitted__()
        points, numbers, _, attributes = now._training_points(X, y, first=first)
        model = now._new_model(points) if first else now._model
        if now._new_model(points).learner != model.learner:
            raise DataError(
                "kernel, its parameters, fit_intercept and step cannot change once learning has begun; fit starts anew."
            )
        model.learn_numbers(points, numbers)
        if not first or self._publish_first(Fitted(model, attributes)):
            return self
        return self.partial_fit(X, y)  # the block belongs into the model of another thread, which was the first

    def learn_one(self, x: Any, y: float) -> KernelRegressor:
        """Learn from one example, by the parameters that learning began with.

        It is learned whole or not at all, if it is rejected or interrupted as well as if several threads share the
        estimator.

        Parameters
        ----------
        x : 1-D array-like or object
        y : float

        Returns
        -------
        self
        """
        now = self._snapshot()
        point = now._one_row(x)
        if not np.isfinite(float(y)):
            raise DataError(f"Input y must be a finite number, found {y!r}.")
        first = not now.__sklearn_is_fitted__()
        if first:
            now._validate_params()
        model = now._new_model(point) if first else now._model
        model.learn_numbers(point, np.array([float(y)]))
        attributes = {} if point.n_columns is None else {"n_features_in_": point.n_columns}
        if not first or self._publish_first(Fitted(model, attributes)):
            return self
        return self.learn_one(x, y)  # the example belongs into the model of another thread, which was the first

    def predict_one(self, x: Any) -> float:
        """Predict the number that belongs to one example; 0 before the first.

        Parameters
        ----------
        x : 1-D array-like or object

        Returns
        -------
        float
        """
        now = self._snapshot()
        point = now._one_row(x)
        return float(now._model.scores(point, now.hypothesis)[0]) if now.__sklearn_is_fitted__() else 0.0

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of objects
            With a precomputed kernel: the kernel values of each row with all rows of the training set.

        Returns
        -------
        numbers : ndarray of shape (n_samples,)
        """
        now = self._snapshot()
        points = now._points_to_score(X)
        return now._model.scores(points, now.hypothesis)

    @property
    def dual_coef_(self) -> np.ndarray:
        return self._require_model("dual_coef_").state.coefficients(self.hypothesis)

    @property
    def ledger_(self) -> LossLedger:
        model = self._require_model("ledger_")
        return model.learner.loss_ledger(model.state)

    def _one_row(self, x: Any) -> kernel_methods.Points:
        x = dense_example(x)
        if isinstance(x, Mapping) and not callable(self.kernel):
            raise DataError(
                "A regression takes no dicts of named features: pass arrays, or a kernel that is a function."
            )
        return self._one_point(x, learning=True)[0]

    def _training_points(self, X: Any, y: Any, *, first: bool) -> TrainingPoints:
        """Return points and numbers to learn from; `first` if they start a new model, whose columns they define."""
        if y is None:
            raise DataError("requires y to be passed, but the target y is None")
        y = _check_y(y, multi_output=False, y_numeric=True).astype(np.float64)
        if self._are_objects(X):
            check_consistent_length(X, y)
            return TrainingPoints(kernel_methods.Points.of_objects(X), y, None, {})
        rows, attributes = validate_first_rows(self, X) if first else (validate_rows(self, X), {})
        check_consistent_length(rows, y)
        rows.require_numbers()
        return TrainingPoints(self._points(rows, square=True), y, None, attributes)

    def _new_model(self, points: kernel_methods.Points) -> kernel_methods.KernelModel:
        """Return a model for points like these, which has learned nothing."""
        learner = ResidualLearner(self._resolve_kernel(points.n_columns), step=float(self.step))
        return kernel_methods.KernelModel(learner, (), None, points.n_columns)
