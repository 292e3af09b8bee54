"""river: its linear classifiers, before which a StandardScaler may scale the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mistakes.features import Examples

__all__ = ["SET_UPS", "dicts", "mistakes"]

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


def dicts(examples: Examples, *, scaled: bool) -> list[dict[int, float]]:
    """Every row as a dict, as river takes it.

    With `scaled`, a StandardScaler sees the numbers of each row before they are learned from. It does not see
    categories and words, which it would make 0 where they are always 1.
    """
    from river import preprocessing

    scaler, numbers = preprocessing.StandardScaler(), frozenset(examples.numbers.tolist())
    X, rows = examples.X, []
    for i in range(X.shape[0]):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        x = dict(zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True))
        if scaled:
            own = {j: value for j, value in x.items() if j in numbers}
            scaler.learn_one(own)
            x |= scaler.transform_one(own)
        rows.append(x)
    return rows


def mistakes(rows: list[dict[int, float]], y: np.ndarray, make: Callable[[], Any]) -> int:
    """Learn in one pass; return how many rows were predicted wrongly before they were learned."""
    model, wrong = make(), 0
    constant = {_CONSTANT: 1.0} if type(model).__name__ == "ALMAClassifier" else {}
    for row, is_positive in zip(rows, (y == 1).tolist(), strict=True):
        x = row | constant if constant else row
        wrong += bool(model.predict_one(x)) != is_positive
        if x:
            model.learn_one(x, is_positive)
    return wrong
