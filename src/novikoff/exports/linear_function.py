"""LinearFunction: the weights, labels and feature names that every export starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.encoding import Encoding, IndexEncoding, NameEncoding
from novikoff.data.encoding.curves import Curves
from novikoff.errors import ModelFileError
from novikoff.perceptron.model import Model
from novikoff.streaming.model import StreamModel

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron

__all__ = ["LinearFunction", "extract_linear_function"]


@dataclass(frozen=True, eq=False)
class LinearFunction:
    """A function with scores coef @ x + bias: one score for two classes, above 0 for the second; else one per class.
    If there are hats, the scores are these and the curves over numbers.

    Features of svmlight files and of Vowpal Wabbit's text have the values that are in the file, or, of counts, their
    logarithms; other scaling of the model is part of the weights. Numbers of tables are standardised.

    Attributes
    ----------
    hypothesis : str
        Which weights of the model these are; "blended" for the rule "auto", whose own answers are a vote.
    classes : list
        The labels, as Python values.
    prefers_last : bool
        Whether equal scores (with two classes, a score of 0) mean the last class, and not the first.
    is_linear : ndarray of bool
        For each feature whether its value enters as it is. A value above 1 of others, which are counts, becomes 1 + ln
        value, and one below -1 becomes -1 - ln -value.
    names : list of str or None
        Names of the features; None if they have only indices.
    is_positional : bool
        Whether a row is a vector of all features, in order; otherwise it has some of them, by name.
    encoding : Encoding or None
        How rows of a stream become features; None for arrays and dicts.
    curves : Curves or None
        The numbers that are also interpolated between knots. `coef` and `names` leave out their hats, but for tables.
    curve_weights : ndarray
        For each vector and each of these numbers the weights of its hats, by knot.
    """

    rule: str
    hypothesis: str
    coef: np.ndarray
    bias: np.ndarray
    classes: list[Any]
    prefers_last: bool
    fit_intercept: bool
    is_linear: np.ndarray
    names: list[str] | None
    is_positional: bool
    encoding: Encoding[Any] | None
    curves: Curves | None
    curve_weights: np.ndarray


def extract_linear_function(model: Perceptron | StreamModel) -> LinearFunction:
    """Return the linear function of a model; raise a ModelFileError for a voted one, which has none."""
    inner, encoding = _parts(model)
    learner = inner.learner
    weights = learner.linear_weights(inner.state)
    if weights is None:
        raise ModelFileError(
            "A voted perceptron cannot be exported: its answer is the vote of many weight vectors, "
            "not one. Learn with the hypothesis averaged, which is nearly as good."
        )
    coef, bias = np.ascontiguousarray(weights.coef), learner.constant * weights.bias
    curves = None if encoding is None else encoding.curves()
    curve_weights = np.zeros((len(coef), 0, 0)) if curves is None else coef[:, curves.hats]
    names = _names(model, inner)
    if isinstance(encoding, (IndexEncoding, NameEncoding)) and encoding.hats is not None:
        coef = coef[:, encoding.hats.indices]
        names = names and [names[index] for index in encoding.hats.indices.tolist()]
    is_linear = np.ones(coef.shape[1], bool)
    if isinstance(encoding, (IndexEncoding, NameEncoding)) and encoding.scaler is not None:
        is_linear = encoding.scaler.is_linear(coef.shape[1])
        shifts, divisors = encoding.scaler.linear_map(coef.shape[1])
        coef = coef / divisors
        bias = bias - coef @ shifts
    return LinearFunction(
        rule=type(learner.rule).__name__,
        hypothesis=learner.weights_of,
        coef=coef,
        bias=bias,
        classes=inner.labels.as_array().tolist(),
        prefers_last=learner.ties != "negative",
        fit_intercept=learner.fit_intercept,
        is_linear=is_linear,
        names=names,
        is_positional=names is None or names == list(getattr(model, "feature_names_in_", ())),
        encoding=encoding,
        curves=curves,
        curve_weights=curve_weights,
    )


def _parts(model: Perceptron | StreamModel) -> tuple[Model, Encoding[Any] | None]:
    if isinstance(model, StreamModel):
        inner, encoding = model.model, model.encoding
    else:
        perceptron = getattr(model, "_model", None)
        if not isinstance(perceptron, Model):
            raise ModelFileError(
                f"Only a perceptron or a stream model that has learned can be exported, not this "
                f"{type(model).__name__}."
            )
        inner, encoding = perceptron, None
    if not len(inner.labels):
        raise ModelFileError("The model has learned nothing yet: there is nothing to export.")
    return inner, encoding


def _names(model: Any, inner: Model) -> list[str] | None:
    if isinstance(model, StreamModel):
        return None if model.encoding is None or model.encoding.kind == "index" else model.names
    return list(inner.vocabulary) if inner.vocabulary is not None else None
