"""nk.KernelPerceptron: the perceptron with potential functions as a scikit-learn classifier."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import all_or_nothing
from novikoff.estimators.inputs import is_dicts
from novikoff.estimators.kernel_inputs import TakesPoints, takes_new_rows
from novikoff.inputs.labels import Labels, as_given, encode
from novikoff.kernel_methods.budget import BudgetLearner, require_last
from novikoff.kernel_methods.caching import cached
from novikoff.kernel_methods.dual import HYPOTHESES, MULTI_CLASS
from novikoff.kernel_methods.model import Passes, cycle
from novikoff.perceptron.learner import TIES
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.passes import ORDERS

__all__ = ["KernelPerceptron"]


class KernelPerceptron(CallbackSupportMixin, TakesPoints, ClassifierMixin, BaseEstimator):
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
    budget : int, default=None
        Keep no more than so many rows, for streams without end: memory and time for an example stay what they are.
        Beyond it the oldest is forgotten, after all have shrunk a little, by the rule of the Forgetron [3]_, on rows
        scaled to length 1 in feature space. Needs hypothesis="last", since the rows of all functions along the run
        would be more than that, and with three classes or more multi_class="direct", which keeps one row for a
        mistake. See Notes for what is proved.
    cache_size : float, default=200
        Megabytes that the kernel matrix of a training set may take: if it fits, `fit` computes it once for all passes.
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
    time. Between passes every row keeps its score, so that later passes cost what their few mistakes cost even where
    no matrix fits. Rows of whole numbers, such as raw pixels, are multiplied in single precision where that
    is exact, all others in double.

    On a budget, for every function g of feature space, its hinge losses l on the rows of length 1 that were erred on,
    and B >= 84, |g| <= sqrt((B + 1) / log(B + 1)) / 4, there are at most 2 |g|^2 + 4 sum l mistakes, on any sequence
    [3]_. `ledger_.mistakes_against` gives a bound for every B and g from what the run has really cost.

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

    @all_or_nothing
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
            raise DataError(
                f"The number of classes has to be greater than one; the data contains only one class: {classes[0]!r}."
            )
        columns = None if points.kind == "objects" else int(points.data.shape[1])
        learner = self._make_learner(None if is_dicts(X) else columns)
        model = kernel_methods.KernelModel(learner, Labels(classes.tolist(), classes), None, columns, names)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        context = self._init_callback_context(max_subtasks=math.ceil(self.max_iter))
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        report = self._reporter(context, X, y, model)
        megabytes = self.cache_size if report is None else 0.0
        with cached(learner, model.state, points, self.max_iter, megabytes) as (quick, rows):
            run = cycle(
                quick, model.state, rows, codes, order=self.order, max_iter=self.max_iter, rng=rng, after_pass=report
            )
        self._model, self.n_iter_, self.converged_ = model, run.passes, run.converged
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={"_model": model})
        if not run.converged and run.passes == math.ceil(self.max_iter) and self.max_iter >= 1:
            _warn(run, len(points))
        return self

    def _reporter(
        self, context: Any, X: Any, y: Any, model: kernel_methods.KernelModel
    ) -> Callable[[int], bool] | None:
        """Tell scikit-learn's callbacks of every pass; one that answers true ends the fit. They may read the model, so
        it must keep rows, and not places in a matrix."""
        if not hasattr(self, "_skl_callbacks"):
            return None

        def report(number: int) -> bool:
            task = context.subcontext(task_name=f"pass {number}").call_on_fit_task_begin(estimator=self, X=X, y=y)
            return task.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={"_model": model})

        return report

    # -- online

    @available_if(takes_new_rows)
    @all_or_nothing
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
        first = not hasattr(self, "_model")
        learner = None if first else self._learner_to_follow()
        points, y, names = self._points_and_labels(X, y, reset=first)
        model = self._started(points, names, classes)
        model.learn(points, y, names, learner)
        if self.__dict__.setdefault("_model", model) is not model:
            return self.partial_fit(X, y)  # another thread was the first to have a model
        return self

    def _learner_to_follow(self) -> kernel_methods.DualLearner | None:
        """What set_params asks for between blocks, as far as what has been learned allows; None for nothing new."""
        model = self._model
        now, wanted = model.learner, self._make_learner(model.n_features)
        if replace(now, ties=wanted.ties) != wanted:
            raise DataError(
                "kernel, its parameters, fit_intercept, multi_class and budget cannot change once learning "
                "has begun; fit starts anew."
            )
        return wanted if now.ties != wanted.ties else None

    @all_or_nothing
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
        point, names = self._point(x, learning=True)
        first = not hasattr(self, "_model")
        model = self._started(point, names)
        label = np.empty(1, object)
        label[0] = y
        model.learn(point, np.array([y]) if np.array([y]).dtype.kind in "biufUS" else label, names)
        if first and names is None and point.kind != "objects":
            self.n_features_in_ = int(point.data.shape[1])
        if self.__dict__.setdefault("_model", model) is not model:
            return self.learn_one(x, y)  # another thread was the first to have a model
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
        self, points: kernel_methods.Points, names: list[str] | None = None, classes: Any = None
    ) -> kernel_methods.KernelModel:
        """The model so far, or one that has learned nothing yet."""
        if hasattr(self, "_model"):
            return self._model
        self._validate_params()
        known = self._classes_in_advance(classes)
        columns = None if points.kind == "objects" else int(points.data.shape[1])
        learner = self._make_learner(columns if names is None or hasattr(self, "feature_names_in_") else None)
        return kernel_methods.KernelModel(learner, () if known is None else known.tolist(), None, columns, names)

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
            raise AttributeError(
                "A voted perceptron has no single weight for each row, and no dual_coef_; "
                "raw_dual_coef_ are the weights it goes on from."
            )
        return model.state.coefficients(self.hypothesis)

    # -- parameters

    def _classes_in_advance(self, classes: Any = None) -> np.ndarray | None:
        classes = self.classes if classes is None else classes
        return None if classes is None else np.unique(np.asarray(as_given(classes)))

    def _make_learner(self, n_features: int | None) -> kernel_methods.DualLearner:
        function = self._potential(n_features)
        if self.budget is None:
            return kernel_methods.DualLearner(function, self.multi_class, self.ties)
        require_last(self.hypothesis, self.budget)
        return BudgetLearner(function, self.multi_class, self.ties, budget=int(self.budget))


def _warn(run: Passes, n_rows: int) -> None:
    warnings.warn(
        f"The kernel perceptron did not converge: pass {run.passes}, the last that max_iter allows, still made "
        f"{run.mistakes_left} mistakes on {n_rows} rows. With hypothesis='voted' or 'averaged' that need not matter; "
        "otherwise increase max_iter, or choose a kernel that separates the classes (a larger gamma or degree).",
        ConvergenceWarning,
        stacklevel=5,
    )
