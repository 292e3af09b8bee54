"""nk.KernelPerceptron and nk.KernelRegressor: potential functions as a scikit-learn classifier and regressor."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted

from novikoff import potential
from novikoff.batch import ORDERS
from novikoff.errors import DataError
from novikoff.estimators.inputs import TakesRows, is_dicts
from novikoff.labels import Labels, encode
from novikoff.learner import TIES
from novikoff.ledger import Ledger
from novikoff.potential.dual import HYPOTHESES, MULTI_CLASS
from novikoff.potential.files import save as save_model
from novikoff.potential.model import Passes, cycle
from novikoff.potential.regression import LossLedger, ResidualLearner, regress
from novikoff.rows import Rows, names_of, rows_of_dicts

__all__ = ["KernelPerceptron", "KernelRegressor"]

_FITTED = ("n_iter_", "converged_", "n_features_in_", "feature_names_in_")


def _takes_new_rows(estimator: _TakesPoints) -> bool:
    """Whether there can be any: scikit-learn hides methods that make no sense for the parameters."""
    if estimator.kernel == "precomputed":
        raise AttributeError("A precomputed kernel has no new rows: use fit, or a function as the kernel.")
    return True


class _TakesPoints(TakesRows):
    """For estimators with a kernel: rows of numbers, rows of a kernel matrix, or objects for a user's function."""

    _model: potential.KernelModel  # type: ignore[assignment]
    kernel: Any
    degree: float
    gamma: float | None
    coef0: float
    fit_intercept: bool

    @property
    def support_(self) -> np.ndarray:
        return self._fitted("support_").state.origins.values.copy()

    @property
    def support_vectors_(self) -> Any:
        support = self._fitted("support_vectors_").state.support
        if support.kind == "kernel rows":
            raise AttributeError("A precomputed kernel has no support_vectors_; support_ tells which rows they are.")
        if not len(support):
            return np.empty((0, self._model.n_features or 0))
        points = support.points.doubled()
        return points.data.tolist() if points.kind == "objects" else points.data.copy()

    def _fitted(self, name: str) -> potential.KernelModel:
        try:
            return self.__dict__["_model"]
        except KeyError:
            raise AttributeError(f"This {type(self).__name__} has no {name} before it has learned.") from None

    def _points_to_read(self, X: Any) -> potential.Points:
        check_is_fitted(self, "_model")
        if self._are_objects(X):
            return potential.Points.of_objects(X)
        rows = self._rows_to_read(X)
        return _kernel_rows(rows, square=False) if self.kernel == "precomputed" else potential.Points.of(rows)

    def _point(self, x: Any, *, learning: bool) -> tuple[potential.Points, list[str] | None]:
        """One example as one row, and all names of features, those that it brings included."""
        _takes_new_rows(self)
        if callable(self.kernel) and (isinstance(x, Mapping) or not _is_row(x)):
            return potential.Points.of_objects([x]), None
        if isinstance(x, Mapping):
            known = self._vocabulary() if hasattr(self, "_model") else {}
            names = names_of([x], known) if learning else known
            rows = rows_of_dicts([x], names)
            rows.require_numbers()
            return potential.Points.of(rows), list(names)
        row = np.asarray(x.toarray() if hasattr(x, "toarray") else x)
        if row.ndim != 1 and row.shape[:-1] != (1,):
            raise DataError(f"One example is a dict or a 1-D array, found an array of shape {row.shape}.")
        rows = Rows.of(row.reshape(1, -1))
        rows.require_numbers()
        self._require_width(rows.n_features)
        return potential.Points.of(rows), None

    def _require_width(self, columns: int) -> None:
        if not hasattr(self, "_model"):
            return
        if self._model.vocabulary is not None and not hasattr(self, "feature_names_in_"):
            raise DataError("This model knows its features by name; pass a dict.")
        if columns != self._model.n_features:
            raise DataError(f"X has {columns} features, but this model is expecting {self._model.n_features} features "
                            "as input.")  # fmt: skip

    def _are_objects(self, X: Any) -> bool:
        """Whether X is for a kernel of the user's own to understand: no table of numbers."""
        if not callable(self.kernel):
            return False
        if isinstance(X, np.ndarray):
            return X.ndim == 1 and X.dtype.kind in "OUS" and len(X) > 0
        return isinstance(X, (list, tuple)) and len(X) > 0 and not _is_row(X[0])

    def _potential(self, n_features: int | None) -> potential.Potential | potential.UsersPotential:
        return potential.resolve(
            self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0, fit_intercept=self.fit_intercept,
            n_features=n_features,
        )  # fmt: skip

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class KernelPerceptron(_TakesPoints, ClassifierMixin, BaseEstimator):
    """Perceptron in the feature space of a kernel: it bends its boundary, and keeps its account.

    The weights of a perceptron are a sum of the examples it erred on, so it needs no more of them than inner products;
    put K(x, z) in their place and it learns in another space. On a mistake f <- f + y K(x, .). If some function of that
    space separates the classes with margin gamma, and R^2 = max K(x, x), it makes at most (R/gamma)^2 mistakes [1]_.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "hamming" (for categories written as numbers), "precomputed"
        (X is the kernel matrix itself, and to predict, its rows for new examples against all training rows); or a
        function of your own: of two blocks of rows that returns their kernel matrix, or of two rows (compiled, if it
        keeps to what numba knows), or of two objects of any kind, such as strings or sets. It must be symmetric and
        positive definite for the theorems to hold.
    degree : float, default=3
        Of "poly", (gamma <x, z> + coef0)^degree. With coef0 > 0 a whole degree uses all products of up to so many
        features.
    gamma : float, default=None
        Scale of "poly", "rbf", "laplacian", "sigmoid" and "hamming". None: 1 / number of columns.
    coef0 : float, default=1.0
        Of "poly" and "sigmoid".
    hypothesis : {"voted", "averaged", "last"}, default="voted"
        Which of the functions along the run answer: all of them, each as often as it survived an example [2]_; their
        mean; or the last. It may be changed after learning: any of them can be read off the same run.
    multi_class : {"ovr", "direct"}, default="ovr"
        With three classes or more: one perceptron for each class against the rest, all from one kernel matrix, as in
        [2]_; or one for all, where the highest score wins and a mistake adds the row to its class and takes it from
        the rival. "direct" is what `Perceptron` does, and makes fewer updates; "ovr" is often more accurate.
    fit_intercept : bool, default=False
        Add 1 to every kernel: a constant coordinate in feature space. "poly" with coef0 > 0 has one already, and "rbf"
        can do without; "linear" may need it.
    ties : {"mistake", "positive", "negative"}, default="mistake"
        What a score of exactly 0 means: always a mistake (and the label classes_[1] when predicting), the label
        classes_[1], or the label classes_[0].
    order : {"given", "shuffled", "random", "worst"}, default="given"
        The order of a pass of `fit`: as the rows stand; permuted anew each pass; drawn with replacement; most
        violated first.
    max_iter : float, default=10
        The most passes `fit` makes; the last may be a part of one: 0.1 learns from the first tenth of the rows.
    random_state : int, RandomState instance or None, default=None
        For the orders "shuffled" and "random".
    classes : array-like, default=None
        Labels known before the first example. `fit` refuses any others, a stream may still bring them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_support,)
        The rows it erred on: places in X of `fit`, going on with the rows of later `partial_fit` and `learn_one`.
    support_vectors_ : ndarray, sparse array or list
        These rows.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their weights under the hypothesis. A voted perceptron has none.
    raw_dual_coef_ : ndarray
        The weights that learning goes on from, whatever the hypothesis.
    ledger_ : Ledger
        Examples, mistakes, R, |w|, certified bound on the margin, all in feature space. With "ovr" each of its
        perceptrons may err on a row, and every error counts.
    n_iter_ : int
        Passes begun by the last `fit`.
    converged_ : bool
        Whether the last `fit` ended with a pass without mistakes.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    Notes
    -----
    Learning goes through blocks of rows at the speed of matrix products, with exactly the mistakes of one example at a
    time. Between passes every row keeps its score, so later passes cost what their few mistakes cost, and there is no
    cache to choose a size for. Rows of whole numbers, such as raw pixels, are multiplied in single precision where that
    is exact, all others in double.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman and L. Rozonoer, "Theoretical foundations of the potential function method in
       pattern recognition learning", 1964.
    .. [2] Y. Freund and R. Schapire, "Large margin classification using the perceptron algorithm", 1999.

    Examples
    --------
    >>> import novikoff as nk
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = nk.KernelPerceptron("poly", degree=2, gamma=1, hypothesis="last").fit(X, y)
    >>> clf.predict(X).tolist(), clf.converged_, clf.ledger_.mistakes
    ([0, 1, 1, 0], True, 21)

    Strings, by the letters they share:

    >>> def shared(x, z):
    ...     return len(set(x) & set(z))
    >>> words = nk.KernelPerceptron(shared).fit(["aab", "xyz", "abc", "zyy"], ["low", "high", "low", "high"])
    >>> words.predict(["cba", "yx"]).tolist()
    ['low', 'high']
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        "kernel": [StrOptions(set(potential.NAMES)), callable],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "hypothesis": [StrOptions(set(HYPOTHESES))],
        "multi_class": [StrOptions(set(MULTI_CLASS))],
        "fit_intercept": ["boolean"],
        "ties": [StrOptions(set(TIES))],
        "order": [StrOptions(set(ORDERS))],
        "max_iter": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "classes": ["array-like", None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        hypothesis: str = "voted",
        multi_class: str = "ovr",
        fit_intercept: bool = False,
        ties: str = "mistake",
        order: str = "given",
        max_iter: float = 10,
        random_state: Any = None,
        classes: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.hypothesis = hypothesis
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.ties = ties
        self.order = order
        self.max_iter = max_iter
        self.random_state = random_state
        self.classes = classes

    # -- batch

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KernelPerceptron:
        """Cycle through the rows until a whole pass makes no mistake, or `max_iter` passes are over.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), list of dicts, or list of objects
            A square matrix if the kernel is precomputed.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.

        Returns
        -------
        self
        """
        points, y, names = self._points_and_labels(X, y, reset=True)
        classes, codes = encode(y, self._classes_in_advance())
        if len(classes) < 2:
            raise DataError("The number of classes has to be greater than one; the data contains only one class: "
                            f"{classes[0]!r}.")  # fmt: skip
        columns = None if points.kind == "objects" else int(points.data.shape[1])
        learner = self._make_learner(None if is_dicts(X) else columns)
        model = potential.KernelModel(learner, Labels(classes.tolist(), classes), None, columns, names)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        run = cycle(learner, model.state, points, codes, order=self.order, max_iter=self.max_iter, rng=rng)
        self._model, self.n_iter_, self.converged_ = model, run.passes, run.converged
        if not run.converged and run.passes == math.ceil(self.max_iter) and self.max_iter >= 1:
            _warn(run, len(points))
        return self

    # -- online

    @available_if(_takes_new_rows)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> KernelPerceptron:
        """Learn from a block of a stream, once, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), list of dicts, or list of objects
        y : array-like of shape (n_samples,)
            May bring labels never seen before.
        classes : array-like, default=None
            Labels known before the first example. Only read at the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_model")
        if not first:
            self._follow_parameters()
        points, y, names = self._points_and_labels(X, y, reset=first)
        model = self._started(points, names, classes)
        model.learn(points, y, names)
        self._model = model
        return self

    def _follow_parameters(self) -> None:
        """Obey set_params between blocks, as far as what has been learned allows."""
        model = self._model
        now, wanted = model.learner, self._make_learner(model.n_features)
        if (now.potential, now.multi_class) != (wanted.potential, wanted.multi_class):
            raise DataError("kernel, its parameters, fit_intercept and multi_class cannot change once learning has "
                            "begun; fit starts anew.")  # fmt: skip
        if now.ties != wanted.ties:
            model.follow(wanted)

    def learn_one(self, x: Any, y: Any) -> KernelPerceptron:
        """Learn from one example, by the parameters that learning began with.

        Parameters
        ----------
        x : 1-D array-like, dict of named features, or object
        y : label
            Any value that sorts with the other labels; it may be new.

        Returns
        -------
        self
        """
        point, names = self._point(x, learning=True)
        first = not hasattr(self, "_model")
        model = self._started(point, names)
        label = np.empty(1, object)
        label[0] = y
        model.learn(point, np.array([y]) if np.array([y]).dtype.kind in "biufUS" else label, names)
        self._model = model
        if first and names is None and point.kind != "objects":
            self.n_features_in_ = int(point.data.shape[1])
        return self

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one example; None as long as the answer would be a label not met yet.

        Parameters
        ----------
        x : 1-D array-like, dict of named features, or object

        Returns
        -------
        label
        """
        point, names = self._point(x, learning=False)
        return self._started(point, names).predict_one(point, self.hypothesis)

    def _started(
        self, points: potential.Points, names: list[str] | None = None, classes: Any = None
    ) -> potential.KernelModel:
        """The model so far, or one that has learned nothing yet."""
        if hasattr(self, "_model"):
            return self._model
        self._validate_params()
        known = self._classes_in_advance(classes)
        columns = None if points.kind == "objects" else int(points.data.shape[1])
        learner = self._make_learner(columns if names is None or hasattr(self, "feature_names_in_") else None)
        return potential.KernelModel(learner, () if known is None else known.tolist(), None, columns, names)

    # -- reading

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each row under the hypothesis.

        Parameters
        ----------
        X : as in `fit`
            With a precomputed kernel: the kernels of each row with all rows of the training set.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1]. A voted perceptron gives the share of votes, from -1 to 1.
        """
        points = self._points_to_read(X)
        return self._model.scores(points, self.hypothesis)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : as in `fit`
            With a precomputed kernel: the kernels of each row with all rows of the training set.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        points = self._points_to_read(X)
        return self._model.predict(points, self.hypothesis)

    @property
    def classes_(self) -> np.ndarray:
        return self._fitted("classes_").labels.as_array()

    @property
    def ledger_(self) -> Ledger:
        return self._fitted("ledger_").ledger

    @property
    def dual_coef_(self) -> np.ndarray:
        model = self._fitted("dual_coef_")
        if self.hypothesis == "voted":
            raise AttributeError("A voted perceptron has no single weight for each row, and no dual_coef_; "
                                 "raw_dual_coef_ are the weights it goes on from.")  # fmt: skip
        return model.state.coefficients(self.hypothesis)

    @property
    def raw_dual_coef_(self) -> np.ndarray:
        return self._fitted("raw_dual_coef_").state.coefficients("last")

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned so far to a file; `novikoff.load` gives back an equal estimator that goes on alike.

        The file is data only (safetensors; see `novikoff.store`), and replaced whole. A kernel that is a function is
        code: the file has its name, and `load` needs the function. Objects must be strings or numbers to be kept.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self, "_model")
        self._validate_params()
        fitted = {name: vars(self)[name] for name in _FITTED if name in vars(self)}
        save_model(path, self._model, self.get_params(deep=False), fitted)

    # -- what users pass

    def _points_and_labels(
        self, X: Any, y: Any, *, reset: bool
    ) -> tuple[potential.Points, np.ndarray, list[str] | None]:
        if self._are_objects(X):
            if y is None:
                raise DataError("requires y to be passed, but the target y is None")
            y = _check_y(y, multi_output=False, y_numeric=False)
            check_consistent_length(X, y)
            return potential.Points.of_objects(X), y, None
        rows, y, names = self._rows_and_labels(X, y, reset=reset)
        rows.require_numbers()
        if self.kernel == "precomputed":
            return _kernel_rows(rows, square=True), y, names
        return potential.Points.of(rows), y, names

    # -- parameters

    def _classes_in_advance(self, classes: Any = None) -> np.ndarray | None:
        classes = self.classes if classes is None else classes
        return None if classes is None else np.unique(np.asarray(classes))

    def _make_learner(self, n_features: int | None) -> potential.DualLearner:
        return potential.DualLearner(self._potential(n_features), self.multi_class, self.ties)


class KernelRegressor(_TakesPoints, RegressorMixin, BaseEstimator):
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
            for name in ("kernel", "degree", "gamma", "coef0", "fit_intercept", "max_iter", "random_state")
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
        points, y = self._points_and_numbers(X, y, reset=True)
        model = self._new_model(points)
        learner: Any = model.learner
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        self.n_iter_ = regress(learner, model.state, points, y, order=self.order, max_iter=self.max_iter, tol=self.tol,
                               rng=rng)  # fmt: skip
        self._model = model
        return self

    @available_if(_takes_new_rows)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any) -> KernelRegressor:
        """Learn from a block of a stream, once, in the order given.

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
            raise DataError("kernel, its parameters, fit_intercept and step cannot change once learning has begun; fit "
                            "starts anew.")  # fmt: skip
        model.learn_numbers(points, y)
        self._model = model
        return self

    def learn_one(self, x: Any, y: float) -> KernelRegressor:
        """Learn from one example.

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
        if not hasattr(self, "_model"):
            self._validate_params()
            self._model = self._new_model(point)
            if point.kind != "objects":
                self.n_features_in_ = int(point.data.shape[1])
        self._model.learn_numbers(point, np.array([float(y)]))
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
    def raw_dual_coef_(self) -> np.ndarray:
        return self._fitted("raw_dual_coef_").state.coefficients("last")

    @property
    def ledger_(self) -> LossLedger:
        model = self._fitted("ledger_")
        learner: Any = model.learner
        return learner.account(model.state)

    def _one(self, x: Any) -> tuple[potential.Points, list[str] | None]:
        if isinstance(x, Mapping) and not callable(self.kernel):
            raise DataError(
                "A regression takes no dicts of named features: pass arrays, or a kernel that is a function."
            )
        return self._point(x, learning=True)

    def _points_and_numbers(self, X: Any, y: Any, *, reset: bool) -> tuple[potential.Points, np.ndarray]:
        if y is None:
            raise DataError("requires y to be passed, but the target y is None")
        y = _check_y(y, multi_output=False, y_numeric=True).astype(np.float64)
        if self._are_objects(X):
            check_consistent_length(X, y)
            return potential.Points.of_objects(X), y
        X = self._validated(X, reset=reset)
        check_consistent_length(X, y)
        rows = Rows.of(X)
        rows.require_numbers()
        return (_kernel_rows(rows, square=True) if self.kernel == "precomputed" else potential.Points.of(rows)), y

    def _new_model(self, points: potential.Points) -> potential.KernelModel:
        columns = None if points.kind == "objects" else int(points.data.shape[1])
        learner = ResidualLearner(self._potential(columns), step=float(self.step))
        return potential.KernelModel(learner, (), None, columns)


def _is_row(x: Any) -> bool:
    """Numbers one after another, or a single one (which scikit-learn knows what to say about)."""
    if isinstance(x, (list, tuple)):
        return all(isinstance(value, (Real, np.generic)) for value in x)
    return isinstance(x, (Real, Integral, np.ndarray)) or hasattr(x, "toarray")


def _kernel_rows(rows: Rows, *, square: bool) -> potential.Points:
    """Rows of a kernel matrix; that of the training set must be one."""
    if rows.is_sparse:
        raise DataError("Sparse input is not supported for a precomputed kernel: pass a dense array, X.toarray().")
    K = rows.data.astype(np.float64, copy=False)
    if square:
        if K.shape[0] != K.shape[1]:
            raise DataError(f"Precomputed kernel matrix must be a square matrix: one row and one column for each "
                            f"row of the training set, found shape {K.shape}.")  # fmt: skip
        apart = np.abs(K - K.T)
        if apart.max() > 1e-8 * max(1.0, np.abs(K).max()):
            i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
            raise DataError(f"The precomputed kernel is not symmetric: {K[i, j]} in row {i}, column {j}, but "
                            f"{K[j, i]} in row {j}, column {i}. K(x, z) must be K(z, x).")  # fmt: skip
    return potential.Points(K, 0, True)


def _warn(run: Passes, n_rows: int) -> None:
    warnings.warn(
        f"The kernel perceptron did not converge: pass {run.passes}, the last that max_iter allows, still made "
        f"{run.mistakes_left} mistakes on {n_rows} rows. With hypothesis='voted' or 'averaged' that need not matter; "
        "otherwise increase max_iter, or choose a kernel that separates the classes (a larger gamma or degree).",
        ConvergenceWarning,
        stacklevel=4,
    )
