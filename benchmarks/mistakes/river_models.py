"""river: its linear classifiers, before which a StandardScaler may scale the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mistakes.features import Examples

__all__ = ["SET_UPS", "mistakes"]

_CONSTANT = -1  # the index of a feature that is always 1, for the learner without an intercept


def _logistic(optimizer: str, step: float) -> Callable[[], Any]:
    def make() -> Any:
        from river import linear_model, optim

        return linear_model.LogisticRegression(getattr(optim, optimizer)(step))

    return make


def _linear(name: str, **parameters: Any) -> Callable[[], Any]:
    def make() -> Any:
        from river import linear_model

        return getattr(linear_model, name)(**parameters)

    return make


SET_UPS: dict[str, Callable[[], Any]] = {
    "Perceptron": _linear("Perceptron"),
    "ALMA": _linear("ALMAClassifier"),
    "PA-I": _linear("PAClassifier", C=1.0, mode=1),
    "PA-I, C=0.01": _linear("PAClassifier", C=0.01, mode=1),
    "PA-II, C=0.1": _linear("PAClassifier", C=0.1, mode=2),
    "logistic, SGD 0.01": _logistic("SGD", 0.01),
    "logistic, SGD 0.1": _logistic("SGD", 0.1),
    "logistic, AdaGrad 0.1": _logistic("AdaGrad", 0.1),
    "logistic, AdaGrad 0.3": _logistic("AdaGrad", 0.3),
    "logistic, Adam 0.01": _logistic("Adam", 0.01),
    "logistic, Adam 0.1": _logistic("Adam", 0.1),
}


def mistakes(examples: Examples, make: Callable[[], Any], *, scaled: bool) -> int:
    """Learn in one pass; return how many rows were predicted wrongly before they were learned.

    With `scaled`, a StandardScaler sees the numbers of each row, and not its categories and words, which it would make
    0 where they are always 1.
    """
    from river import preprocessing

    model, scaler, wrong = make(), preprocessing.StandardScaler(), 0
    numbers = frozenset(examples.numbers.tolist())
    constant = {_CONSTANT: 1.0} if type(model).__name__ == "ALMAClassifier" else {}
    X = examples.X
    for i, is_positive in enumerate((examples.y == 1).tolist()):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        x = dict(zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)) | constant
        if scaled:
            own = {j: value for j, value in x.items() if j in numbers}
            scaler.learn_one(own)
            x |= scaler.transform_one(own)
        wrong += bool(model.predict_one(x)) != is_positive
        if x:
            model.learn_one(x, is_positive)
    return wrong
