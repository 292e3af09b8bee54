"""river: its linear classifiers, before which a StandardScaler may scale the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.mistakes.features import Examples

__all__ = ["SET_UPS", "dicts", "mistakes"]

_WIDE = 2_000  # features
_CONSTANT = -1  # the index of a feature that is always 1, for the learner without an intercept


def _logistic(optimizer: str, step: float) -> Callable[[int], Any]:
    def make(n_features: int) -> Any:
        from river import linear_model, optim

        chosen = getattr(optim, optimizer)(step)
        if optimizer == "Adam" and n_features > _WIDE:
            chosen = _adam_of_present_features(step)
        return linear_model.LogisticRegression(chosen)

    return make


def _adam_of_present_features(step: float) -> Any:
    """Adam as river has it for dicts, which changes what belongs to the features of a row only. As it has it for
    vectors, each row takes time for every feature so far: an hour on the n-grams of sms_spam."""
    from river import optim

    class PresentFeatures(optim.Adam):
        def _step_with_vector(self, w: Any, g: Any) -> Any:
            raise NotImplementedError  # then `step` calls _step_with_dict

    return PresentFeatures(step)


def _linear(name: str, **parameters: Any) -> Callable[[int], Any]:
    def make(n_features: int) -> Any:
        from river import linear_model

        return getattr(linear_model, name)(**parameters)

    return make


# Given the number of features, each makes a model.
SET_UPS: dict[str, Callable[[int], Any]] = {
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


def mistakes(rows: list[dict[int, float]], examples: Examples, make: Callable[[int], Any]) -> int:
    """Learn in one pass; return how many rows were predicted wrongly before they were learned."""
    model, wrong = make(examples.X.shape[1]), 0
    constant = {_CONSTANT: 1.0} if type(model).__name__ == "ALMAClassifier" else {}
    for row, is_positive in zip(rows, (examples.y == 1).tolist(), strict=True):
        x = row | constant if constant else row
        wrong += bool(model.predict_one(x)) != is_positive
        if x:
            model.learn_one(x, is_positive)
    return wrong
