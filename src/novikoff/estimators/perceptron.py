"""nk.Perceptron: the online and the batch perceptron as a scikit-learn classifier."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from novikoff import hypotheses, model_files, rules
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import Fitted
from novikoff.estimators.callbacks import FitCallbacks
from novikoff.estimators.convergence_warnings import warn_of_perceptron
from novikoff.estimators.foreign_parameters import OF_PERCEPTRON, explain_foreign
from novikoff.estimators.online_classifier import OnlineClassifierMixin, make_generator
from novikoff.estimators.weighting import CONSTRAINTS, ClassWeight, weigh_all, weigh_block, weigh_example
from novikoff.inputs.labels import Labels
from novikoff.inputs.sparse import dense_example
from novikoff.perceptron.learner import TIES, Learner, Ties
from novikoff.perceptron.model import Model
from novikoff.perceptron.orders import ORDERS, Order
from novikoff.perceptron.passes import cycle
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["Perceptron"]


class Perceptron(OnlineClassifierMixin, ClassifierMixin, BaseEstimator):
    """Perceptron: online or batch, two classes or many, with a ledger of its mistakes.

    On a mistake w <- w + y*x, otherwise nothing; with many classes x is added to the weights of the true class and
    subtracted from those of the predicted one. An example of weight c moves them by c times as much. On data that some
    half-space separates with margin gamma inside radius R, it makes at most (R/gamma)^2 mistakes, in any order and
    however long it runs [1]_; `fit` therefore terminates.

    Parameters
    ----------
    rule : str, value of `novikoff.rules`, or callable, default="perceptron"
        The step of an update: "perceptron"; "margin" (which also updates if y*score <= beta); "passive-aggressive", or
        its variants "passive-aggressive-I" and "passive-aggressive-II" for noisy labels; "arow", "adagrad" or "coin",
        which keep numbers for each feature and move every weight by a step of its own; a value such as
        ``rules.Margin(beta=10)``; or a function of (margin, squared norm) that returns the step, which is compiled into
        the same loop.
    hypothesis : {"last", "averaged", "voted", "pocket"}, default="last"
        Which weights predict. "averaged" is nearly always better than "last" on data that is not separable; "voted"
        [2]_ keeps the rows with mistakes, and is not for "arow", "adagrad" and "coin"; "pocket" [3]_ keeps the weights
        with the fewest errors on a pass.
    fit_intercept : bool, default=True
        Give every row a constant coordinate 1. Without it the boundary goes through the origin.
    ties : {"mistake", "positive", "negative"}, default="mistake"
        What a score of exactly 0 means: always a mistake (and the label classes_[1] when predicting), the label
        classes_[1], or the label classes_[0].
    order : {"given", "shuffled", "random", "worst"}, default="given"
        The order of a pass of `fit`: that of the rows; a new permutation for each pass; drawn with replacement; most
        violated first. Shuffle if the rows are sorted by class.
    max_iter : int, default=1000
        The largest number of passes of `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders "shuffled" and "random".
    classes : array-like, default=None
        Labels known before the first example; with two of them `predict_one` never returns None. `fit` rejects any
        others; a stream may still bring new ones.
    separator : array-like of shape (n_features,) or (n_features + 1,), default=None
        A known separator u, with its intercept first if there is one; for K classes one row for each. Learning
        does not use it: the ledger records <w, u> and the margin of u, for plots of the proof.
    class_weight : dict {label: weight} or "balanced", default=None
        The weight of an example is sample_weight * class_weight[label], where a label that is not in the dict has 1.
        "balanced" is n_samples / (n_classes * count of the label); only for `fit`, since a stream does not tell how
        many are to come.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the hypothesis. A voted perceptron has no single weight vector, and no `coef_`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    raw_coef_, raw_intercept_ : ndarray
        The weights that learning continues from, whatever the hypothesis.
    n_iter_ : int
        Passes made by the last `fit`.
    converged_ : bool
        Whether the last `fit` ended with a pass without mistakes, and the raw weights classify all its rows.
    ledger_ : Ledger
        Examples, mistakes, radius, norm, certified bound on the margin.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    Notes
    -----
    An example of weight c > 0 is predicted as any other, and learned with the step c * tau instead of tau:
    w <- w + c * tau * y * x. Everything else counts it once: mistakes, averages, votes, and runs of correct answers.
    Only the pocket of `fit` compares the sum of the weights of errors. An example of weight 0 is left out: neither
    counted nor learned. A weight of 2 is therefore not the same as two copies of a row, the second of which may be no
    mistake any more. The certified margin |w| / sum of c * tau holds for all weights. If they are from c_min to c_max,
    the perceptron makes at most (c_max / c_min) (R/gamma)^2 mistakes on separable data, and `fit` terminates. For
    "adagrad" and "coin" the loss of an example is multiplied by c, for "arow" the variance of its label's noise is
    divided by c.

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
        "class_weight": CONSTRAINTS,
    }

    @explain_foreign(OF_PERCEPTRON)
    def __init__(
        self,
        rule: rules.RuleName | rules.Rule | Callable[[float, float], float] = "perceptron",
        hypothesis: hypotheses.HypothesisName = "last",
        *,
        fit_intercept: bool = True,
        ties: Ties = "mistake",
        order: Order = "given",
        max_iter: int = 1000,
        random_state: Any = None,
        classes: Any = None,
        separator: Any = None,
        class_weight: ClassWeight = None,
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
        self.class_weight = class_weight

    # -- batch

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Perceptron:
        """Cycle through the rows until a pass makes no mistake.

        It also ends after `max_iter` passes, or when no update changes the weights any more: a row may be so small
        beside them that adding it is rounded away.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts
            float32 and float64 arrays in C order and CSR matrices are not copied.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight c >= 0 of each row, by which its step is multiplied. A row of weight 0 is left out; its label is
            still one of `classes_`.

        Returns
        -------
        self
        """
        rows, y, names, attributes = self._training_rows(X, y, first=True)
        classes, codes = self._encode_all(y)
        rows, codes, importances = weigh_all(rows, classes, codes, self.class_weight, sample_weight)
        learner = self._make_learner(rows.n_features)
        model = Model(learner, Labels(classes.tolist(), classes), learner.init(rows.n_features, len(classes)), names)
        callbacks = FitCallbacks(self, X, y, self.max_iter)
        fitted = Fitted(model, attributes)
        model.state, run = cycle(
            learner,
            model.state,
            rows,
            codes,
            order=self.order,
            max_iter=self.max_iter,
            rng=make_generator(self.random_state),
            importances=importances,
            after_pass=callbacks.after_pass(lambda state: replace(fitted, model=_with_state(model, state))),
        )
        fitted = replace(fitted, attributes={**attributes, "n_iter_": run.passes, "converged_": run.converged})
        callbacks.end(fitted)
        if run.stalled or (not run.converged and run.passes == self.max_iter):
            warn_of_perceptron(run, rows, learner)
        self._fitted = fitted
        return self

    # -- online

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Perceptron:
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
        sample_weight : array-like of shape (n_samples,), default=None
            The weight c >= 0 of each row, by which its step is multiplied. A row of weight 0 is left out, with its
            label; if all are, nothing changes.

        Returns
        -------
        self
        """
        now = self._snapshot()
        if now.__sklearn_is_fitted__():
            learner = now._learner_to_follow()
            rows, y, names, _ = now._training_rows(X, y, first=False)
            rows, y, importances = weigh_block(rows, y, now.class_weight, sample_weight)
            if len(rows):
                now._model.learn_rows(rows, y, names, learner, importances)
            return self
        rows, labels, names, attributes = now._training_rows(X, y, first=True)
        rows, labels, importances = weigh_block(rows, labels, now.class_weight, sample_weight)
        if not len(rows):
            raise DataError("All rows of the first block have a weight of zero; begin with one that has others.")
        model = now._new_model(rows.n_features, classes)
        model.learn_rows(rows, labels, names, None, importances)
        if self._publish_first(Fitted(model, attributes)):
            return self
        # The block belongs into the model of another thread, which was the first.
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def _learner_to_follow(self) -> Learner | None:
        """Return the learner that the parameters now describe; None if it is the one that the model has.

        Raise a DataError if set_params has changed what must stay while learning goes on.
        """
        now, wanted = self._model.learner, self._make_learner(self._model.n_features)
        if (now.hypothesis, now.fit_intercept) != (wanted.hypothesis, wanted.fit_intercept):
            raise DataError("hypothesis and fit_intercept cannot change once learning has begun; fit starts anew.")
        if type(now.rule) is not type(wanted.rule) and (now.engine or wanted.engine) is not None:
            raise DataError(
                f"rule cannot change from {type(now.rule).__name__} to {type(wanted.rule).__name__} once learning has "
                "begun: what a rule keeps for each feature means nothing to another. fit starts anew."
            )
        return wanted if (now.rule, now.ties) != (wanted.rule, wanted.ties) else None

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Perceptron:
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
        sample_weight : float, default=None
            The weight c >= 0 of the example, by which its step is multiplied. One of weight 0 is not learned.

        Returns
        -------
        self
        """
        if sample_weight is not None or self.class_weight is not None:
            self._learn_weighted(x, y, sample_weight)
            return self
        try:
            model = self._fitted.model
        except AttributeError:
            self._learn_first(x, y)
        else:
            fast_path = model.fast_path  # looked up here to save a call: calls take half the time of a short example
            if fast_path is None or fast_path.try_learn(x, y) is not None:
                model.learn_one(x, y)
        return self

    def _learn_weighted(self, x: Any, y: Any, sample_weight: float | None) -> None:
        importance = weigh_example(y, self.class_weight, sample_weight)
        if not importance:
            return
        fitted = self.__dict__.get("_fitted")
        if fitted is None:
            self._learn_first(x, y, importance)
        else:
            fitted.model.learn_one(x, y, importance)

    def _learn_first(self, x: Any, y: Any, importance: float | None = None) -> None:
        x = dense_example(x)
        model = self._new_model(None if isinstance(x, Mapping) else np.size(x))
        model.learn_one(x, y, importance)
        attributes = {"n_features_in_": model.n_features} if model.vocabulary is None else {}
        if not self._publish_first(Fitted(model, attributes)):
            self._model.learn_one(x, y, importance)  # of another thread, which was the first

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
            model = self._fitted.model
        except AttributeError:
            x = dense_example(x)
            model = self._new_model(None if isinstance(x, Mapping) else np.size(x))
        fast_path = model.fast_path
        if fast_path is None or (label := fast_path.try_predict(x)) is NotImplemented:
            return model.predict_one(x)
        return label

    # -- reading

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row under the hypothesis.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1]. A voted perceptron gives the share of votes, from -1 to 1.
        """
        now = self._snapshot()
        rows = now._rows_to_score(X)
        return now._model.scores(rows)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        now = self._snapshot()
        rows = now._rows_to_score(X)
        return now._model.predict(rows)

    @property
    def coef_(self) -> np.ndarray:
        return self._weights("coef_").coef

    @property
    def intercept_(self) -> np.ndarray:
        return self._weights("intercept_").bias

    @property
    def raw_coef_(self) -> np.ndarray:
        return self._require_model("raw_coef_").state.raw.coef.copy()

    @property
    def raw_intercept_(self) -> np.ndarray:
        return self._require_model("raw_intercept_").state.raw.bias.copy()

    def _weights(self, name: str) -> Weights:
        model = self._require_model(name)
        weights = model.learner.linear_weights(model.state)
        if weights is None:
            raise AttributeError(
                f"A voted perceptron has no single weight vector, and no {name}; "
                f"raw_{name} are the weights it goes on from."
            )
        return weights.copy()

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned so far to a file; `novikoff.load` gives back an equal estimator that goes on alike.

        The file is data only (safetensors; see `novikoff.model_files`). It is replaced atomically: killed at any
        instant, the old or the new model is there. A random_state that is a generator is kept in its present state. A
        rule that is a function is code: the file has its name, and `load` needs the function. Callbacks are not kept.

        Parameters
        ----------
        path : str or path
        """
        from novikoff.estimators.from_files import build_estimator

        now = self._snapshot()
        check_is_fitted(now, "_fitted")
        now._validate_params()
        saved = model_files.SavedPerceptron(
            "perceptron", now._model, now.get_params(deep=False), dict(now._fitted.attributes)
        )
        model_files.save(path, saved, lambda found: build_estimator(saved.kind, found, path))

    # -- parameters

    def _new_model(self, n_features: int | None, classes: Any = None) -> Model:
        """Return a model that has learned nothing."""
        self._validate_params()
        known = self._known_classes(classes)
        return Model(self._make_learner(n_features), () if known is None else known.tolist())

    def _make_learner(self, n_features: int | None) -> Learner:
        return Learner(
            rule=rules.resolve(self.rule),
            hypothesis=hypotheses.resolve(self.hypothesis),
            ties=self.ties,
            fit_intercept=self.fit_intercept,
            separator=None
            if self.separator is None
            else _unit_separator(self.separator, n_features, self.fit_intercept),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_state(model: Model, state: State) -> Model:
    """Return a model with a copy of a state that learning goes on from."""
    return Model(model.learner, model.labels, state.copy(), model.vocabulary)


def _unit_separator(separator: Any, n_features: int | None, fit_intercept: bool) -> Weights:
    """Return a separator that a user wrote as [b, w1, ...] or [w1, ...] as weights of length 1."""
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
