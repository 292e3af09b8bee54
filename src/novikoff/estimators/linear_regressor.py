"""nk.LinearRegressor: any loss, minimized by any solver, as a scikit-learn regressor."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length

from novikoff import losses
from novikoff.descent.options import LearningRate, Solver
from novikoff.descent.saving import KINDS
from novikoff.errors import DataError
from novikoff.estimators.foreign_parameters import OF_LINEAR, explain_foreign
from novikoff.estimators.inputs import validate_first_rows, validate_rows
from novikoff.estimators.linear_base import LinearEstimator, supports_partial_fit
from novikoff.estimators.weighting import weigh_block, weigh_targets

__all__ = ["LinearRegressor"]


class LinearRegressor(RegressorMixin, LinearEstimator):
    """Linear regression: minimizes a mean loss with a penalty on the norm of the weights.

    F(w, b) = 1/n sum_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2. The default is least squares by Newton's method, which
    takes one step. If rows have weights c_i, the mean loss is sum_i c_i loss_i / sum_i c_i.

    Parameters
    ----------
    loss : {"squared"} or `novikoff.losses.Custom`, default="squared"
        ``losses.Custom(function, derivative, second)`` is a loss of your own, such as Huber's.
    solver : {"newton", "sgd", "gd", "stochastic-newton"}, default="newton"
        "newton" needs a second derivative; from 2,000 columns on it uses conjugate gradients. "sgd" takes one example
        at a time, and is the only one for streams. "gd" follows the gradient over all rows. "stochastic-newton" is sgd
        with the inverse of the Hessian, for few columns.
    alpha : float, default=0.0
        Strength of the penalty, which does not apply to the intercept.
    fit_intercept : bool, default=True
    learning_rate : {"auto", "constant", "invscaling", "optimal", "line-search"}, default="auto"
        The length of steps; `LinearClassifier` describes each.
    eta0 : float, default=None
        The first step; None finds one that cannot overshoot.
    average : bool, default=True
        Let sgd return the average of its weights, where the t-th weigh t.
    shuffle : bool, default=True
        Permute the rows anew for every pass of sgd.
    max_iter : int, default=1000
        The largest number of passes.
    tol : float or None, default=1e-3
        Convergence criterion. "gd" and "newton": the norm of the gradient is tol times that at zero weights, and with
        alpha > 0 the duality gap tol times F there; "sgd": that gap, or without a penalty that as many passes again
        have lowered F by less than tol times its value at zero weights. None makes all passes.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling.
    verbose : int, default=0
        Print a line for each report.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    trace_ : DescentTrace
        passes, objective, gradient_norm, seconds and gap at each report. `DescentDisplay` draws it.
    n_iter_ : int
        Passes of the last `fit`.
    converged_ : bool
        Whether `tol` was reached; if it is None, whether all passes were made.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

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
        **LinearEstimator._parameter_constraints,
        "loss": [StrOptions({"squared"}), losses.Squared, losses.Custom],
    }

    @explain_foreign(OF_LINEAR)
    def __init__(
        self,
        loss: Literal["squared"] | losses.Squared | losses.Custom = "squared",
        solver: Solver = "newton",
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        learning_rate: LearningRate = "auto",
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegressor:
        """Minimize the loss, from zero weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            The weight >= 0 of each row; a row of weight 0 is left out. Only their ratios matter.

        Returns
        -------
        self
        """
        y = _validate_numbers(y)
        rows, attributes = validate_first_rows(self, X)
        check_consistent_length(rows, y)
        rows, y, importances = weigh_targets(rows, y, sample_weight)
        self._fit_targets(rows, y[None], attributes, importances)
        return self

    @available_if(supports_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegressor:
        """Take one step of sgd for each row of a block, in the order given.

        A block is learned whole or not at all, if it is rejected or interrupted as well as if several threads share the
        estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            The factor >= 0 of the loss of each row. A row of weight 0 is left out.

        Returns
        -------
        self
        """
        now, numbers = self._snapshot(), _validate_numbers(y)
        if now.__sklearn_is_fitted__():
            rows = validate_rows(now, X)
            check_consistent_length(rows, numbers)
            rows, numbers, importances = weigh_block(rows, numbers, None, sample_weight)
            now._learn_next(rows, numbers[None], importances)
            return self
        rows, attributes = validate_first_rows(now, X)
        check_consistent_length(rows, numbers)
        rows, numbers, importances = weigh_block(rows, numbers, None, sample_weight)
        if self._publish_first(now._learn_first(rows, numbers[None], attributes, importances)):
            return self
        # The block belongs into the model of another thread, which was the first.
        return self.partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        numbers : ndarray of shape (n_samples,)
        """
        return self._snapshot()._scores(X)

    @property
    def coef_(self) -> np.ndarray:
        return self._require_model("coef_").vectors[0, :-1].copy()


def _validate_numbers(y: Any) -> np.ndarray:
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    return np.ascontiguousarray(_check_y(y, multi_output=False, y_numeric=True), np.float64)
