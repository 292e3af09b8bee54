"""nk.LinearRegressor: the same for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length

from novikoff import losses
from novikoff.descent.saving import KINDS
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import all_or_nothing
from novikoff.estimators.linear_base import Descending, goes_on

__all__ = ["LinearRegressor"]


class LinearRegressor(RegressorMixin, Descending):
    """A linear function that makes the mean of a loss small, plus a penalty on long weights.

    F(w, b) = 1/n sum_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2, by default least squares by Newton's method, which
    takes one step.

    Parameters
    ----------
    loss : {"squared"} or `novikoff.losses.Custom`, default="squared"
        ``losses.Custom(function, derivative, second)`` for one's own, such as Huber's.
    solver : {"newton", "sgd", "gd", "stochastic-newton"}, default="newton"
    alpha : float, default=0.0
    fit_intercept : bool, default=True
    learning_rate, eta0, average, shuffle, max_iter, tol, random_state, verbose
        As in `LinearClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    trace_ : Trace
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> import numpy as np
    >>> import novikoff as nk
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = nk.LinearRegressor().fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_.round(6), model.intercept_.round(6), model.n_iter_
    (array([2.]), array([1.]), 1)
    """

    _kind = KINDS[1]
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        **Descending._parameter_constraints,
        "loss": [StrOptions({"squared"}), losses.Squared, losses.Custom],
    }

    def __init__(
        self,
        loss: Any = "squared",
        solver: str = "newton",
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        learning_rate: str = "auto",
        eta0: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.average = average
        self.shuffle = shuffle
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> LinearRegressor:
        """Solve the problem, from zero weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        y = _numbers(y)
        rows = self._rows(X, reset=True)
        check_consistent_length(rows, y)
        self._fit_targets(rows, y[None])
        return self

    @available_if(goes_on)
    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any) -> LinearRegressor:
        """Take one step of sgd for each row of a block, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        y = _numbers(y)
        rows = self._rows(X, reset=not self.__sklearn_is_fitted__())
        check_consistent_length(rows, y)
        self._go_on(rows, y[None])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        numbers : ndarray of shape (n_samples,)
        """
        return self._scores(X)

    @property
    def coef_(self) -> np.ndarray:
        return self._fitted("coef_").vectors[0, :-1].copy()


def _numbers(y: Any) -> np.ndarray:
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    return np.ascontiguousarray(_check_y(y, multi_output=False, y_numeric=True), np.float64)
