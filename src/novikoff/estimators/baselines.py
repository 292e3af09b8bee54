"""Baselines to compare the perceptron with: hinge, logistic, naive Bayes, linear SVM."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.svm import LinearSVC

from novikoff.estimators.linear_classifier import LinearClassifier
from novikoff.estimators.perceptron import Perceptron
from novikoff.inputs.rows import Rows
from novikoff.selection.choosing import size_of

__all__ = ["BaselineResult", "compare", "make_baselines"]


@dataclass(frozen=True)
class BaselineResult:
    """The result of one method.

    Attributes
    ----------
    name : str
        The method.
    by : str
        The class that implements it.
    errors, rows : int
        Errors on rows that it has not learned from, and the number of these rows.
    seconds : float
        Time to learn.
    size : int
        Bytes of numbers in the model.
    is_done : bool
        False if it made all its passes without converging.
    """

    name: str
    by: str
    errors: int
    rows: int
    seconds: float
    size: int
    is_done: bool = True


def make_baselines(is_sparse: bool, passes: int, seed: int) -> dict[str, Any]:
    """Return the methods to compare, by name; scikit-learn's own, with default parameters, where it has them."""
    shuffled: dict[str, Any] = {"order": "shuffled", "max_iter": passes, "random_state": seed}
    return {
        "always the commonest label": DummyClassifier(),
        "perceptron": Perceptron(**shuffled),
        "averaged perceptron": Perceptron(hypothesis="averaged", **shuffled),
        "voted perceptron": Perceptron(hypothesis="voted", **shuffled),
        "passive-aggressive, averaged": Perceptron("passive-aggressive-I", "averaged", **shuffled),
        "AROW": Perceptron("arow", **shuffled),
        "AdaGrad": Perceptron("adagrad", **shuffled),
        "coin betting": Perceptron("coin", **shuffled),
        "auto, six learners that vote": Perceptron("auto", **shuffled),
        "hinge, by sgd": LinearClassifier("hinge", random_state=seed),
        "logistic, by sgd": LinearClassifier("logistic", random_state=seed),
        "logistic regression": LogisticRegression(),
        "naive Bayes": BernoulliNB() if is_sparse else GaussianNB(),
        "linear support vector machine": LinearSVC(random_state=seed),
    }


def compare(
    train: tuple[Rows, np.ndarray], test: tuple[Rows, np.ndarray], *, passes: int = 5, seed: int = 0
) -> Iterator[BaselineResult]:
    """Fit each method on the same rows, count its errors on the others, and yield the results one by one."""
    X, y = train[0].matrix, train[1]
    X_test, y_test = test[0].matrix, test[1]
    for name, model in make_baselines(train[0].is_sparse, passes, seed).items():
        _compile(model, X, len(np.unique(y)))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            began = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - began
        # The perceptron never converges on rows that no half-space separates; it has made its passes.
        is_done = isinstance(model, Perceptron) or not any(w.category is ConvergenceWarning for w in said)
        errors = int((model.predict(X_test) != y_test).sum())
        yield BaselineResult(name, type(model).__name__, errors, len(y_test), seconds, size_of(model), is_done)


def _compile(model: Any, X: Any, n_classes: int) -> None:
    """Compile loops before the time is measured, by fitting a clone to two or three rows."""
    if type(model).__module__.startswith("novikoff"):
        labels = np.arange(min(3, n_classes))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clone(model).set_params(max_iter=1).fit(X[: len(labels)], labels).predict(X[:1])
