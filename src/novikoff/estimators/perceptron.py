"""nk.Perceptron: the online and the batch perceptron as a scikit-learn classifier."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from novikoff import hypotheses, model_files, rules
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import all_or_nothing
from novikoff.estimators.inputs import TakesRows
from novikoff.inputs.labels import Labels, as_given, encode
from novikoff.inputs.sparse import dense_example
from novikoff.perceptron.learner import TIES, Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model import Model
from novikoff.perceptron.passes import ORDERS, Run, cycle
from novikoff.perceptron.weights import Weights

__all__ = ["Perceptron"]

_FITTED = ("n_iter_", "converged_", "n_features_in_", "feature_names_in_")


class Perceptron(TakesRows, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Perceptron: online or batch, two classes or many, with an account of its mistakes.

    On a mistake w <- w + y*x, otherwise nothing; with many classes x is added to the weights of the true class and
    taken from those of the guessed one. On data that some half-space separates with margin gamma inside radius R it
    makes at most (R/gamma)^2 mistakes, in any order and however long it runs [1]_; `fit` therefore ends by itself.

    Parameters
    ----------
    rule : str, value of `novikoff.rules`, or callable, default="perceptron"
        How far to move: "perceptron"; "margin" (also when y*score <= beta); "passive-aggressive", or its variants
        "passive-aggressive-I" and "passive-aggressive-II" for noisy labels; a value such as
        ``rules.Margin(beta=10)``; or your own function of (margin, squared norm) returning the step, compiled into
        the same loop.
    hypothesis : {"last", "averaged", "voted", "pocket"}, default="last"
        Which weights answer. "averaged" is nearly always better than "last" on data that is not separable;
        "voted" [2]_ keeps the rows it erred on; "pocket" [3]_ keeps the weights that did best on a pass.
    fit_intercept : bool, default=True
        Give every row a constant coordinate 1. Without it the boundary goes through the origin.
    ties : {"mistake", "positive", "negative"}, default="mistake"
        What a score of exactly 0 means: always a mistake (and the label classes_[1] when predicting), the label
        classes_[1], or the label classes_[0].
    order : {"given", "shuffled", "random", "worst"}, default="given"
        The order of a pass of `fit`: as the rows stand; permuted anew each pass; drawn with replacement; most
        violated first. Shuffle if the rows are sorted by class.
    max_iter : int, default=1000
        The most passes that `fit` makes.
    random_state : int, RandomState instance or None, default=None
        For the orders "shuffled" and "random".
    classes : array-like, default=None
        Labels known before the first example; with two of them `predict_one` never answers None. `fit` refuses any
        others, a stream may still bring them.
    separator : array-like of shape (n_features,) or (n_features + 1,), default=None
        A known separator u, with its intercept first if there is one; for K classes one row for each. Learning
        does not use it: the ledger follows <w, u> and the margin of u, for pictures of the proof.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the hypothesis. A voted perceptron has no single weight vector, and no `coef_`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    raw_coef_, raw_intercept_ : ndarray
        The weights that learning goes on from, whatever the hypothesis.
    n_iter_ : int
        Passes made by the last `fit`.
    converged_ : bool
        Whether the last `fit` ended with a pass without mistakes, and the raw weights classify all its rows.
    ledger_ : Ledger
        Examples, mistakes, radius, norm, certified bound on the margin.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    References
    ----------
    .. [1] A. Novikoff, "On convergence proofs on perceptrons", 1962; H. D. Block, "The perceptron", 1962.
    .. [2] Y. Freund and R. Schapire, "Large margin classification using the perceptron algorithm", 1999.
    .. [3] S. Gallant, "Perceptron-based learning algorithms", 1990.

    Examples
    --------
    Batch:

    >>> from sklearn.datasets import load_iris
    >>> import novikoff as nk
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = nk.Perceptron().fit(X, y == 0)
    >>> clf.converged_, clf.ledger_.mistakes
    (True, 5)

    Online, one example at a time:

    >>> model = nk.Perceptron()
    >>> for x, label in zip(X, y == 0):
    ...     guess = model.predict_one(x)
    ...     model = model.learn_one(x, label)
    >>> model.ledger_.mistakes
    2
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        "rule": [StrOptions(set(rules.NAMES)), *rules.VALUES, callable],
        "hypothesis": [StrOptions(set(hypotheses.NAMES))],
        "fit_intercept": ["boolean"],
        "ties": [StrOptions(set(TIES))],
        "order": [StrOptions(set(ORDERS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "classes": ["array-like", None],
        "separator": ["array-like", None],
    }

    def __init__(
        self,
        rule: Any = "perceptron",
        hypothesis: str = "last",
        *,
        fit_intercept: bool = True,
        ties: str = "mistake",
        order: str = "given",
        max_iter: int = 1000,
        random_state: Any = None,
        classes: Any = None,
        separator: Any = None,
    ) -> None:
        self.rule = rule
        self.hypothesis = hypothesis
        self.fit_intercept = fit_intercept
        self.ties = ties
        self.order = order
        self.max_iter = max_iter
        self.random_state = random_state
        self.classes = classes
        self.separator = separator

    # -- batch

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Perceptron:
        """Cycle through the rows until a whole pass makes no mistake, or `max_iter` passes are over, or no update
        changes the weights any more: a row may be so small beside them that adding it is rounded away.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts
            float32 and float64 arrays in C order and CSR matrices are not copied.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.

        Returns
        -------
        self
        """
        rows, y, names = self._rows_and_labels(X, y, reset=True)
        classes, codes = encode(y, self._classes_in_advance())
        if len(classes) < 2:
            raise DataError(
                f"The number of classes has to be greater than one; the data contains only one class: {classes[0]!r}."
            )
        learner = self._make_learner(rows.n_features)
        model = Model(learner, Labels(classes.tolist(), classes), learner.init(rows.n_features, len(classes)), names)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        model.state, run = cycle(
            learner,
            model.state,
            rows,
            codes,
            order=self.order,
            max_iter=self.max_iter,
            rng=rng,
            after_pass=self._reporter(context, X, y, model),
        )
        self._model, self.n_iter_, self.converged_ = model, run.passes, run.converged
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={"_model": model})
        if run.stalled or (not run.converged and run.passes == self.max_iter):
            _warn(run, len(rows))
        return self

    def _reporter(self, context: Any, X: Any, y: Any, model: Model) -> Any:
        """Tell scikit-learn's callbacks of every pass; one that answers true ends the fit."""
        if not hasattr(self, "_skl_callbacks"):
            return None  # a context for every pass would be most of the time of a small fit

        def report(number: int, state: Any) -> bool:
            task = context.subcontext(task_name=f"pass {number}").call_on_fit_task_begin(estimator=self, X=X, y=y)
            so_far = {"_model": Model(model.learner, model.labels, state.copy(), model.vocabulary)}
            return task.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes=so_far)

        return report

    # -- online

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Perceptron:
        """Learn from a block of a stream, once, in the order given.

        A block is learned whole or not at all, if it is rejected or interrupted as well as if several threads share the
        estimator; see `learn_one`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts
            Dicts may bring names never seen before; they start with weight zero.
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
        rows, y, names = self._rows_and_labels(X, y, reset=first)
        model = self._started(rows.n_features, classes)
        model.learn_rows(rows, y, names, learner)
        if self.__dict__.setdefault("_model", model) is not model:
            return self.partial_fit(X, y)  # another thread was the first to have a model
        return self

    def _learner_to_follow(self) -> Learner | None:
        """What set_params asks for between blocks, as far as what has been learned allows; None for nothing new."""
        now, wanted = self._model.learner, self._make_learner(self._model.n_features)
        if (now.hypothesis, now.fit_intercept) != (wanted.hypothesis, wanted.fit_intercept):
            raise DataError("hypothesis and fit_intercept cannot change once learning has begun; fit starts anew.")
        return wanted if (now.rule, now.ties) != (wanted.rule, wanted.ties) else None

    def learn_one(self, x: Any, y: Any) -> Perceptron:
        """Learn from one example, by the parameters that learning began with.

        An example is learned whole or not at all: if it is rejected nothing has changed, and if a KeyboardInterrupt
        strikes, the estimator is as before or after it, and `ledger_.examples` tells which. Threads may share an
        estimator: no example is lost, and the result is that of one after the other, in some order. From within
        another call of the same thread on the same estimator, as from a signal handler or a rule, it raises a
        ReentryError, and nothing has changed.

        Parameters
        ----------
        x : dict of named features, or 1-D array-like
        y : label
            Any value that sorts with the other labels; it may be new.

        Returns
        -------
        self
        """
        try:
            model = self._model
        except AttributeError:
            self._learn_first(x, y)
        else:
            quick = model.quick  # asked here, for a call less: half of the time of a short example is calls
            if quick is None or quick.learn_usual(x, y) is not None:
                model.learn_one(x, y)
        return self

    def _learn_first(self, x: Any, y: Any) -> None:
        x = dense_example(x)
        model = self._started(None if isinstance(x, Mapping) else np.size(x))
        model.learn_one(x, y)
        if model.vocabulary is None:
            self.n_features_in_ = model.n_features
        found = self.__dict__.setdefault("_model", model)
        if found is not model:  # of another thread, which was the first
            found.learn_one(x, y)

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one example; None as long as the answer would be a label not met yet.

        It may be called while other threads learn: the answer is that of the weights between two examples.

        Parameters
        ----------
        x : dict of named features, or 1-D array-like
            Names never seen before count for nothing.

        Returns
        -------
        label
        """
        try:
            model = self._model
        except AttributeError:
            x = dense_example(x)
            model = self._started(None if isinstance(x, Mapping) else np.size(x))
        quick = model.quick
        if quick is None or (label := quick.decide_usual(x)) is NotImplemented:
            return model.predict_one(x)
        return label

    def _started(self, n_features: int | None, classes: Any = None) -> Model:
        """The model so far, or one that has learned nothing yet."""
        if hasattr(self, "_model"):
            return self._model
        self._validate_params()
        known = self._classes_in_advance(classes)
        return Model(self._make_learner(n_features), () if known is None else known.tolist())

    # -- reading

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each row under the hypothesis.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1]. A voted perceptron gives the share of votes, from -1 to 1.
        """
        rows = self._rows_to_read(X)
        return self._model.scores(rows)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        rows = self._rows_to_read(X)
        return self._model.predict(rows)

    @property
    def classes_(self) -> np.ndarray:
        return self._fitted("classes_").labels.as_array()

    @property
    def ledger_(self) -> Ledger:
        return self._fitted("ledger_").ledger

    @property
    def coef_(self) -> np.ndarray:
        return self._weights("coef_").coef

    @property
    def intercept_(self) -> np.ndarray:
        return self._weights("intercept_").bias

    @property
    def raw_coef_(self) -> np.ndarray:
        return self._fitted("raw_coef_").state.raw.coef.copy()

    @property
    def raw_intercept_(self) -> np.ndarray:
        return self._fitted("raw_intercept_").state.raw.bias.copy()

    def _weights(self, name: str) -> Weights:
        model = self._fitted(name)
        weights = model.learner.hypothesis.weights(model.state)
        if weights is None:
            raise AttributeError(
                f"A voted perceptron has no single weight vector, and no {name}; "
                f"raw_{name} are the weights it goes on from."
            )
        return weights.copy()

    def _fitted(self, name: str) -> Model:
        try:
            return self.__dict__["_model"]
        except KeyError:
            raise AttributeError(f"This {type(self).__name__} has no {name} before it has learned.") from None

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned so far to a file; `novikoff.load` gives back an equal estimator that goes on alike.

        The file is data only (safetensors; see `novikoff.model_files`). It is replaced whole: killed at any instant,
        the old or the new model is there. A random_state that is a generator is kept as it stands now. A rule that is a
        function is code: the file has its name, and `load` needs the function. Callbacks are not kept.

        Parameters
        ----------
        path : str or path
        """
        from novikoff.estimators.from_files import build_estimator

        check_is_fitted(self, "_model")
        self._validate_params()
        fitted = {name: vars(self)[name] for name in _FITTED if name in vars(self)}
        saved = model_files.Saved("perceptron", self._model, self.get_params(deep=False), fitted)
        model_files.save(path, saved, lambda found: build_estimator(saved.kind, found, path))

    # -- parameters

    def _classes_in_advance(self, classes: Any = None) -> np.ndarray | None:
        classes = self.classes if classes is None else classes
        return None if classes is None else np.unique(np.asarray(as_given(classes)))

    def _make_learner(self, n_features: int | None) -> Learner:
        return Learner(
            rule=rules.resolve(self.rule),
            hypothesis=hypotheses.resolve(self.hypothesis),
            ties=self.ties,
            fit_intercept=self.fit_intercept,
            separator=None if self.separator is None else _unit(self.separator, n_features, self.fit_intercept),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _unit(separator: Any, n_features: int | None, fit_intercept: bool) -> Weights:
    """A separator as a user writes it, [b, w1, ...] or [w1, ...], as weights of length 1."""
    u = np.atleast_2d(np.asarray(separator, float))
    if n_features is None:
        raise DataError("A separator needs columns to stand for: pass arrays, not dicts.")
    if u.shape[1] != n_features + fit_intercept:
        raise DataError(
            f"separator must have {n_features} weights{' after its intercept' if fit_intercept else ''}, "
            f"one for each column of an array; found shape {np.shape(separator)}."
        )
    length = np.linalg.norm(u)
    if not 0.0 < length < np.inf:
        raise DataError("separator must not be zero, NaN or infinite.")
    u = u / length
    bias = u[:, 0] if fit_intercept else np.zeros(len(u))
    return Weights(np.ascontiguousarray(u[:, int(fit_intercept) :]), bias.copy())


def _warn(run: Run, n_rows: int) -> None:
    found = f"{run.mistakes_left} mistakes" if run.mistakes_left else f"{run.updates_left} updates"
    if run.stalled:
        warnings.warn(
            f"The perceptron did not converge, and no further pass would change it: pass {run.passes} still made "
            f"{found} on {n_rows} rows, but no update changes the weights any more. Rows that it errs on are 0, or so "
            "small beside the weights that w + x is rounded to w in double precision. Leave out rows of zeros, and "
            "scale the others (sklearn.preprocessing.StandardScaler, or Normalizer).",
            ConvergenceWarning,
            stacklevel=4,
        )
        return
    warnings.warn(
        f"The perceptron did not converge: pass {run.passes}, the last that max_iter allows, still made {found} on "
        f"{n_rows} rows. If no half-space separates the classes no number of passes will do: use "
        "hypothesis='averaged', 'voted' or 'pocket' with a small max_iter. Otherwise increase max_iter.",
        ConvergenceWarning,
        stacklevel=5,
    )
