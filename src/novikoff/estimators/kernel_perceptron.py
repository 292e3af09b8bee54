"""nk.KernelPerceptron: the perceptron with a kernel as a scikit-learn classifier."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import Fitted
from novikoff.estimators.callbacks import FitCallbacks
from novikoff.estimators.convergence_warnings import warn_of_kernel_perceptron
from novikoff.estimators.inputs import is_dicts
from novikoff.estimators.kernel_inputs import KernelInputMixin, TrainingPoints, accepts_new_rows
from novikoff.estimators.online_classifier import OnlineClassifierMixin, make_generator
from novikoff.inputs.labels import Labels
from novikoff.kernel_methods.budget import BudgetLearner, require_last
from novikoff.kernel_methods.caching import precomputed_kernel
from novikoff.kernel_methods.dual import HYPOTHESES, MULTI_CLASS, DualHypothesis, MultiClass
from novikoff.kernel_methods.kernels import KernelName
from novikoff.kernel_methods.model import cycle
from novikoff.perceptron.learner import TIES, Ties
from novikoff.perceptron.orders import ORDERS, Order

__all__ = ["KernelPerceptron"]


class KernelPerceptron(OnlineClassifierMixin, KernelInputMixin, ClassifierMixin, BaseEstimator):
    """Perceptron in the feature space of a kernel, with a ledger of its mistakes.

    The weights of a perceptron are a sum of the examples it misclassified, so it needs only inner products of examples;
    replaced by K(x, z), it learns in the feature space of the kernel. On a mistake f <- f + y K(x, .). If some function
    of that space separates the classes with margin gamma, and R^2 = max K(x, x), it makes at most (R/gamma)^2 mistakes
    [1]_.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "hamming" (for categories encoded as numbers), "precomputed"
        (X is the kernel matrix itself, and to predict, its rows for new examples against all training rows); or a
        function of two blocks of rows that returns their kernel matrix, of two rows (compiled, if numba can compile
        it), or of two objects of any kind, such as strings or sets. It must be symmetric, and positive definite for the
        theorems to hold.
    degree : float, default=3
        Degree of "poly", (gamma <x, z> + coef0)^degree. With coef0 > 0 and an integer degree, features are all products
        of up to `degree` columns.
    gamma : float, default=None
        Scale of "poly", "rbf", "laplacian", "sigmoid" and "hamming". None: 1 / number of columns.
    coef0 : float, default=1.0
        Constant term of "poly" and "sigmoid".
    hypothesis : {"voted", "averaged", "last"}, default="voted"
        Which of the functions along the run predict: all of them by vote, each as often as it survived an example
        [2]_; their mean; or the last. It may be changed after learning: one run can be read through any of them.
    multi_class : {"ovr", "direct"}, default="ovr"
        With three classes or more: one perceptron for each class against the rest, all from one kernel matrix, as in
        [2]_; or one for all, where the highest score wins and a mistake adds the row to its class and subtracts it
        from the rival. "direct" is what `Perceptron` does, and makes fewer updates; "ovr" is often more accurate.
    fit_intercept : bool, default=False
        Add 1 to every kernel value: a constant coordinate in feature space. "poly" with coef0 > 0 has one already, and
        "rbf" does not need it; "linear" may.
    ties : {"mistake", "positive", "negative"}, default="mistake"
        What a score of exactly 0 means: always a mistake (and the label classes_[1] when predicting), the label
        classes_[1], or the label classes_[0].
    order : {"given", "shuffled", "random", "worst"}, default="given"
        The order of a pass of `fit`: that of the rows; a new permutation for each pass; drawn with replacement; most
        violated first.
    max_iter : float, default=10
        The largest number of passes of `fit`; the last may be a part of a pass: 0.1 learns from a tenth of the rows.
    budget : int, default=None
        The largest number of rows to keep, for endless streams: memory and time per example stay constant. Beyond it
        the oldest row is forgotten, after all coefficients have shrunk a little, by the rule of the Forgetron [3]_, on
        rows scaled to norm 1 in feature space. It needs hypothesis="last", since the other functions along the run
        would need more rows, and with three classes or more multi_class="direct", which keeps one row for a mistake.
        See Notes for the mistake bound.
    cache_size : float, default=200
        Megabytes for the kernel matrix of a training set: if it fits, `fit` computes it once for all passes.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders "shuffled" and "random".
    classes : array-like, default=None
        Labels known before the first example. `fit` rejects any others; a stream may still bring new ones.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_support,)
        The rows with mistakes: indices into X of `fit`, continued by the rows of later `partial_fit` and `learn_one`.
    support_vectors_ : ndarray, sparse array or list
        These rows.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients under the hypothesis. A voted perceptron has none.
    raw_dual_coef_ : ndarray
        The coefficients that learning continues from, whatever the hypothesis.
    ledger_ : Ledger
        Examples, mistakes, R, |w|, certified bound on the margin, all in feature space. With "ovr" each perceptron may
        misclassify a row, and every mistake counts.
    n_iter_ : int
        KernelCycleResult begun by the last `fit`.
    converged_ : bool
        Whether the last `fit` ended with a pass without mistakes.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    Notes
    -----
    Learning goes through blocks of rows at the speed of matrix products, with exactly the mistakes of one example at a
    time. Between passes every row keeps its score, so that later passes cost only what their few mistakes cost, even if
    the kernel matrix does not fit into memory. Rows of integers, such as raw pixels, are multiplied in single precision
    where that is exact, all others in double precision.

    On a budget, for every function g of feature space, its hinge losses l on the rows of norm 1 with mistakes,
    and B >= 84, |g| <= sqrt((B + 1) / log(B + 1)) / 4, there are at most 2 |g|^2 + 4 sum l mistakes, on any sequence
    [3]_. `ledger_.mistakes_against` gives a bound for every B and g from the cost of this run.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman and L. Rozonoer, "Theoretical foundations of the potential function method in
       pattern recognition learning", 1964.
    .. [2] Y. Freund and R. Schapire, "Large margin classification using the perceptron algorithm", 1999.
    .. [3] O. Dekel, S. Shalev-Shwartz and Y. Singer, "The Forgetron: a kernel-based perceptron on a budget", 2008.

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
        "kernel": [StrOptions(set(kernel_methods.NAMES)), callable],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "hypothesis": [StrOptions(set(HYPOTHESES))],
        "multi_class": [StrOptions(set(MULTI_CLASS))],
        "fit_intercept": ["boolean"],
        "ties": [StrOptions(set(TIES))],
        "order": [StrOptions(set(ORDERS))],
        "max_iter": [Interval(Real, 0, None, closed="neither")],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "cache_size": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "classes": ["array-like", None],
    }

    def __init__(
        self,
        kernel: KernelName | Callable[[Any, Any], float] = "rbf",
        *,
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        hypothesis: DualHypothesis = "voted",
        multi_class: MultiClass = "ovr",
        fit_intercept: bool = False,
        ties: Ties = "mistake",
        order: Order = "given",
        max_iter: float = 10,
        budget: int | None = None,
        cache_size: float = 200,
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
        self.budget = budget
        self.cache_size = cache_size
        self.random_state = random_state
        self.classes = classes

    # -- batch

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KernelPerceptron:
        """Cycle through the rows until a pass makes no mistake, or `max_iter` passes are over.

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
        points, labels, names, attributes = self._training_points(X, y, first=True)
        classes, codes = self._encode_all(labels)
        learner = self._make_learner(None if is_dicts(X) else points.n_columns)
        model = kernel_methods.KernelModel(learner, Labels(classes.tolist(), classes), None, points.n_columns, names)
        callbacks = FitCallbacks(self, X, labels, math.ceil(self.max_iter))
        fitted = Fitted(model, attributes)
        after_pass = callbacks.after_pass(lambda: fitted)
        # Callbacks may read the model after a pass: its support must be rows then, and not indices of a kernel matrix.
        megabytes = self.cache_size if after_pass is None else 0.0
        with precomputed_kernel(learner, model.state, points, self.max_iter, megabytes) as (fast_learner, rows):
            run = cycle(
                fast_learner,
                model.state,
                rows,
                codes,
                order=self.order,
                max_iter=self.max_iter,
                rng=make_generator(self.random_state),
                after_pass=after_pass,
            )
        fitted = replace(fitted, attributes={**attributes, "n_iter_": run.passes, "converged_": run.converged})
        callbacks.end(fitted)
        if not run.converged and run.passes == math.ceil(self.max_iter) and self.max_iter >= 1:
            warn_of_kernel_perceptron(run, len(points), self.hypothesis, self.kernel)
        self._fitted = fitted
        return self

    # -- online

    @available_if(accepts_new_rows)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> KernelPerceptron:
        """Learn from a block of a stream, once, in the order given: whole or not at all, as by `learn_one`.

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
        now = self._snapshot()
        if now.__sklearn_is_fitted__():
            learner = now._learner_to_follow()
            points, y, names, _ = now._training_points(X, y, first=False)
            now._model.learn(points, y, names, learner)
            return self
        found = now._training_points(X, y, first=True)
        model = now._new_model(found, classes)
        model.learn(found.points, found.y, found.names)
        if self._publish_first(Fitted(model, found.attributes)):
            return self
        return self.partial_fit(X, y)  # the block belongs into the model of another thread, which was the first

    def _learner_to_follow(self) -> kernel_methods.DualLearner | None:
        """Return the learner that the parameters now describe; None if it is the one that the model has.

        Raise a DataError if set_params has changed what must stay while learning goes on.
        """
        model = self._model
        now, wanted = model.learner, self._make_learner(model.n_features)
        if replace(now, ties=wanted.ties) != wanted:
            raise DataError(
                "kernel, its parameters, fit_intercept, multi_class and budget cannot change once learning "
                "has begun; fit starts anew."
            )
        return wanted if now.ties != wanted.ties else None

    def learn_one(self, x: Any, y: Any) -> KernelPerceptron:
        """Learn from one example, by the parameters that learning began with.

        It is learned whole or not at all, if it is rejected or interrupted as well as if several threads share the
        estimator. A kernel of the user's that calls the same estimator raises a ReentryError.

        Parameters
        ----------
        x : 1-D array-like, dict of named features, or object
        y : label
            Any value that sorts with the other labels; it may be new.

        Returns
        -------
        self
        """
        now = self._snapshot()
        point, names = now._one_point(x, learning=True)
        label = np.empty(1, object)
        label[0] = y
        label = np.array([y]) if np.array([y]).dtype.kind in "biufUS" else label
        if now.__sklearn_is_fitted__():
            now._model.learn(point, label, names)
            return self
        has_columns = names is None and point.n_columns is not None
        found = TrainingPoints(point, label, names, {"n_features_in_": point.n_columns} if has_columns else {})
        model = now._new_model(found)
        model.learn(point, label, names)
        if self._publish_first(Fitted(model, found.attributes)):
            return self
        return self.learn_one(x, y)  # the example belongs into the model of another thread, which was the first

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one example; None as long as the answer would be a label not met yet.

        Parameters
        ----------
        x : 1-D array-like, dict of named features, or object

        Returns
        -------
        label
        """
        now = self._snapshot()
        point, names = now._one_point(x, learning=False)
        is_fitted = now.__sklearn_is_fitted__()
        model = now._model if is_fitted else now._new_model(TrainingPoints(point, np.empty(0), names, {}))
        return model.predict_one(point, now.hypothesis)

    def _new_model(self, first: TrainingPoints, classes: Any = None) -> kernel_methods.KernelModel:
        """Return a model for points like these, which has learned nothing."""
        self._validate_params()
        known = self._known_classes(classes)
        n_columns = first.points.n_columns
        may_widen = first.names is not None and "feature_names_in_" not in first.attributes  # with the next dict
        learner = self._make_learner(None if may_widen else n_columns)
        labels = () if known is None else known.tolist()
        return kernel_methods.KernelModel(learner, labels, None, n_columns, first.names)

    # -- reading

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row under the hypothesis.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), list of dicts, or list of objects
            With a precomputed kernel: the kernel values of each row with all rows of the training set.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1]. A voted perceptron gives the share of votes, from -1 to 1.
        """
        now = self._snapshot()
        points = now._points_to_score(X)
        return now._model.scores(points, now.hypothesis)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), list of dicts, or list of objects
            With a precomputed kernel: the kernel values of each row with all rows of the training set.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        now = self._snapshot()
        points = now._points_to_score(X)
        return now._model.predict(points, now.hypothesis)

    @property
    def dual_coef_(self) -> np.ndarray:
        model = self._require_model("dual_coef_")
        if self.hypothesis == "voted":
            raise AttributeError(
                "A voted perceptron has no single weight for each row, and no dual_coef_; "
                "raw_dual_coef_ are the weights it goes on from."
            )
        return model.state.coefficients(self.hypothesis)

    # -- parameters

    def _make_learner(self, n_features: int | None) -> kernel_methods.DualLearner:
        kernel = self._resolve_kernel(n_features)
        if self.budget is None:
            return kernel_methods.DualLearner(kernel, self.multi_class, self.ties)
        require_last(self.hypothesis, self.budget)
        return BudgetLearner(kernel, self.multi_class, self.ties, budget=int(self.budget))
