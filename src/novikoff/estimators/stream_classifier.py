"""nk.StreamClassifier: what nk.learn does, as a scikit-learn classifier."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _get_feature_names,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from novikoff import hypotheses, rules
from novikoff.data.encoding import Features, NameEncoding
from novikoff.data.formats.block import Block
from novikoff.data.formats.columns import name_column
from novikoff.data.in_memory import attach_labels
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import AtomicFitMixin, Fitted
from novikoff.estimators.inputs import is_dicts, validate_labels
from novikoff.estimators.online_classifier import make_generator
from novikoff.inputs.labels import protect_null_bytes
from novikoff.inputs.sparse import to_checked_csr
from novikoff.perceptron.learner import TIES, Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model import Model
from novikoff.streaming.defaults import choose_rule_and_hypothesis
from novikoff.streaming.in_memory import open_data_for_model
from novikoff.streaming.model import StreamModel

__all__ = ["StreamClassifier"]

_LEARNER = ("rule", "hypothesis", "fit_intercept", "ties")
_FEATURES = ("scale", "hats", "hash_bits", "ngrams", "char_ngrams")


class StreamClassifier(AtomicFitMixin, ClassifierMixin, BaseEstimator):
    """Online learning for tables as they are: numbers, words and texts, with missing cells.

    It encodes columns as `nk.learn` does and needs no preprocessing. Numbers are standardised by the rows so far;
    a missing one has a feature of its own. Each value of a categorical column is a feature, and texts become n-grams
    of words and characters. Booleans are numbers, and times are seconds. New values, and with dicts new columns, may
    come at any time.
    `partial_fit` on all rows, or `fit` with ``order="given"``, leads to the model that `nk.learn` makes of a file with
    these rows and ``shuffle="never"``.

    Parameters
    ----------
    rule, hypothesis, fit_intercept, ties
        As those of `Perceptron`. By default the rule is "auto", which makes the fewest mistakes, or "perceptron" if a
        hypothesis is chosen; the hypothesis is "averaged", or "last" for rules whose steps grow shorter by themselves.
    passes : int, default=1
        How often `fit` goes through the rows.
    order : {"shuffled", "given"}, default="shuffled"
        The order of the rows in each pass of `fit`: a new permutation, or that of the rows. `partial_fit` never
        shuffles.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    scale : bool, default=True
        Standardise the numbers of a table, and in a sparse matrix those that are not 0 or 1.
    hats : bool, default=True
        Also interpolate standardised numbers between knots, by which the model has a curve over each, not only a line.
    hash_bits : int, default=20
        The first 2**hash_bits features have a weight each, which later ones share.
    ngrams, char_ngrams : (int, int), default=(1, 2) and (3, 4)
        The fewest and the most words, and characters, that make a feature of a text; (0, 0) for none.
    types : dict of str to {"number", "word", "text"}, default=None
        What columns hold, where their types mislead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : StreamModel
        What has been learned; `save` writes it, and its `heaviest` lists features with the largest weights.
    ledger_ : Ledger
        Examples, mistakes, radius, norm.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    Examples
    --------
    >>> import novikoff as nk
    >>> X = [["sun", 3.0], ["rain", 9.0], ["sun", None], ["rain", 2.0], ["sun", 8.0], ["rain", 7.0]]
    >>> y = ["go", "stay", "go", "stay", "go", "stay"]
    >>> clf = nk.StreamClassifier(passes=5).fit(X, y)
    >>> clf.predict([["rain", None], ["sun", 9.0]]).tolist(), clf.score(X, y)
    (['stay', 'go'], 1.0)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        "rule": [StrOptions(set(rules.NAMES)), *rules.VALUES, callable, None],
        "hypothesis": [StrOptions(set(hypotheses.NAMES)), None],
        "fit_intercept": ["boolean"],
        "ties": [StrOptions(set(TIES))],
        "passes": [Interval(Integral, 1, None, closed="left")],
        "order": [StrOptions({"shuffled", "given"})],
        "random_state": ["random_state"],
        "scale": ["boolean"],
        "hats": ["boolean"],
        "hash_bits": [Interval(Integral, 1, None, closed="left")],
        "ngrams": ["array-like"],
        "char_ngrams": ["array-like"],
        "types": [dict, None],
    }

    def __init__(
        self,
        rule: Any = None,
        hypothesis: str | None = None,
        *,
        fit_intercept: bool = True,
        ties: str = "mistake",
        passes: int = 1,
        order: str = "shuffled",
        random_state: Any = 0,
        scale: bool = True,
        hats: bool = Features.hats,
        hash_bits: int = Features.hash_bits,
        ngrams: tuple[int, int] = Features.ngrams,
        char_ngrams: tuple[int, int] = Features.char_ngrams,
        types: Mapping[str, str] | None = None,
    ) -> None:
        self.rule = rule
        self.hypothesis = hypothesis
        self.fit_intercept = fit_intercept
        self.ties = ties
        self.passes = passes
        self.order = order
        self.random_state = random_state
        self.scale = scale
        self.hats = hats
        self.hash_bits = hash_bits
        self.ngrams = ngrams
        self.char_ngrams = char_ngrams
        self.types = types

    @classmethod
    def from_model(cls, model: StreamModel) -> StreamClassifier:
        """Return an estimator that goes on from a model of `nk.learn`, `nk.load` or `novikoff learn`.

        Parameters
        ----------
        model : StreamModel
            Of tables, sparse matrices or svmlight files. It is not copied.

        Examples
        --------
        >>> import novikoff as nk
        >>> model = nk.learn([[0.0], [1.0], [0.2]], ["no", "yes", "no"])
        >>> nk.StreamClassifier.from_model(model).partial_fit([[0.9]], ["yes"]).ledger_.examples
        4
        """
        if model.predicts_numbers or isinstance(model.encoding, NameEncoding):
            what = "predicts numbers" if model.predicts_numbers else "has learned from Vowpal Wabbit's text"
            raise DataError(f"The model {what}: call its own methods instead.")
        learner, features = model.model.learner, model.features
        found = cls(
            **{name: getattr(learner, name) for name in _LEARNER if name != "hypothesis"},
            hypothesis=type(learner.hypothesis).__name__.lower(),
            **{name: getattr(features, name) for name in _FEATURES},
        )
        names = list(model.kinds)
        attributes: dict[str, Any] = {"n_features_in_": len(names) or model.n_features}
        if names and names != [name_column(k) for k in range(1, len(names) + 1)]:
            attributes["feature_names_in_"] = np.array(names, object)
        found._fitted = Fitted(model, attributes)
        return found

    # -- learning

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> StreamClassifier:
        """Learn from the rows in one pass or several, beginning anew.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features), or list of dicts
            NaN, None and missing keys are missing cells.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.

        Returns
        -------
        self
        """
        X, attributes = _validate_first(self, X)
        y = validate_labels(y, "for numbers to be classes, make them strings.")
        check_consistent_length(X, y)
        model, rng = self._new_model(), make_generator(self.random_state)
        for _ in range(self.passes):
            order = rng.permutation(len(y)) if self.order == "shuffled" else None
            rows, labels = (X, y) if order is None else (_safe_indexing(X, order), y[order])
            for block in self._blocks(model, rows, labels):
                model.learn(block)
        self._fitted = Fitted(model, attributes)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> StreamClassifier:
        """Learn from a block of a stream, once, in the order given.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features), or list of dicts
            May bring values never seen before; dicts may bring columns.
        y : array-like of shape (n_samples,)
            May bring labels never seen before.
        classes : array-like, default=None
            Labels known before the first example. Only read at the first call.

        Returns
        -------
        self
        """
        now = self._snapshot()
        is_first = not now.__sklearn_is_fitted__()
        rows, attributes = _validate_first(now, X) if is_first else (_validate_next(now, X), {})
        labels = validate_labels(y, "for numbers to be classes, make them strings.")
        check_consistent_length(rows, labels)
        model = now._new_model(classes) if is_first else now._model
        if not is_first:
            now._require_unchanged()
        for block in [*now._blocks(model, rows, labels)]:
            model.learn(block)
        if is_first and not self._publish_first(Fitted(model, attributes)):
            self.partial_fit(X, y)  # the block belongs into the model of another thread, which was the first
        return self

    def _new_model(self, classes: Any = None) -> StreamModel:
        learner = Learner(*choose_rule_and_hypothesis(self.rule, self.hypothesis), self.ties, self.fit_intercept)
        model = StreamModel(learner, self._make_features())
        if classes is not None:
            model.model = Model(learner, np.unique(np.asarray(protect_null_bytes(classes))).tolist())
        return model

    def _make_features(self) -> Features:
        ngrams = {name: tuple(int(n) for n in getattr(self, name)) for name in ("ngrams", "char_ngrams")}
        return Features(scale=self.scale, hats=self.hats, hash_bits=self.hash_bits, **ngrams)  # type: ignore[arg-type]

    def _require_unchanged(self) -> None:
        """Raise a DataError if set_params has changed what must stay while learning goes on."""
        wanted, model = self._new_model(), self._model
        pairs = [(model.model.learner, wanted.model.learner, _LEARNER), (model.features, wanted.features, _FEATURES)]
        for own, asked, names in pairs:
            for name in names:
                if getattr(own, name) != getattr(asked, name):
                    raise DataError(f"{name} cannot change once learning has begun; fit starts anew.")

    def _blocks(self, model: StreamModel, X: Any, y: np.ndarray) -> Iterator[Block]:
        opened = open_data_for_model(model, X, options={"types": self.types or {}}, labelled=False)
        if model.encoding is None:
            model.form = opened.form
        return attach_labels(opened.blocks, y, opened.n_rows, opened.name)

    # -- answering

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        now = self._snapshot()
        check_is_fitted(now, "_fitted")
        return now._model.predict(_validate_next(now, X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row under the hypothesis.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features), or list of dicts

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1].
        """
        now = self._snapshot()
        check_is_fitted(now, "_fitted")
        return now._model.decision_function(_validate_next(now, X))

    @property
    def model_(self) -> StreamModel:
        return self._require_model("model_")

    @property
    def classes_(self) -> np.ndarray:
        return self._require_model("classes_").model.labels.as_array()

    @property
    def ledger_(self) -> Ledger:
        return self._require_model("ledger_").ledger

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was learned to a model file, as `novikoff learn` does, for its other commands too.

        `nk.load` returns the `StreamModel` in it, and `from_model` makes that an estimator.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self, "_fitted")
        self.model_.save(path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.dict = True
        return tags


def _validate_first(estimator: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    """Return the first rows of a model, and the n_features_in_ and feature_names_in_ that they give the estimator."""
    X = _check_shape(estimator, X)
    if is_dicts(X):
        return X, {}
    names = _get_feature_names(X)
    attributes: dict[str, Any] = {"n_features_in_": X.shape[1]}
    return X, attributes if names is None else attributes | {"feature_names_in_": names}


def _validate_next(estimator: Any, X: Any) -> Any:
    """Return rows for a model, whose columns must be those that the estimator knows."""
    X = _check_shape(estimator, X)
    if not is_dicts(X) and hasattr(estimator, "n_features_in_"):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    return X


def _check_shape(estimator: Any, X: Any) -> Any:
    """Return data of two dimensions, with some rows and columns; a list of rows becomes an array."""
    if is_dicts(X) or hasattr(X, "columns"):
        return X
    if sp.issparse(X):
        rows = to_checked_csr(X).sum_duplicates().matrix
        check_array(sp.csr_array(rows.shape), accept_sparse=True, input_name="X", estimator=estimator)
        return rows
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.array(X, object)  # NumPy has made strings of the numbers among them
    return check_array(array, dtype=None, ensure_all_finite=False, input_name="X", estimator=estimator)
