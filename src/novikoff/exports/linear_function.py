"""The linear function that a model is, whatever it has learned from: what every export begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.encoding import Encoding
from novikoff.errors import ModelFileError
from novikoff.perceptron.model import Model
from novikoff.streaming.model import StreamModel

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron

__all__ = ["Linear", "linear_of"]


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores coef @ x + bias: one for two classes, above 0 for the second; one per class for more.

    Attributes
    ----------
    classes : list
        The labels, as Python's own values.
    takes_last : bool
        Whether equal scores (with two classes, a score of 0) mean the last of the classes, not the first.
    names : list of str or None
        Of the features; None if they have only numbers.
    is_positional : bool
        Whether a row is a vector of all features, in order; otherwise it brings some of them, by name.
    encoding : Encoding or None
        How rows of a stream become features; None for arrays and dicts.
    """

    rule: str
    hypothesis: str
    coef: np.ndarray
    bias: np.ndarray
    classes: list[Any]
    takes_last: bool
    fit_intercept: bool
    names: list[str] | None
    is_positional: bool
    encoding: Encoding[Any] | None


def linear_of(model: Perceptron | StreamModel) -> Linear:
    """That of a model; a voted one has none."""
    inner, encoding = _parts(model)
    learner = inner.learner
    weights = learner.hypothesis.weights(inner.state)
    if weights is None:
        raise ModelFileError(
            "A voted perceptron cannot be exported: its answer is the vote of many weight vectors, "
            "not one. Learn with the hypothesis averaged, which is nearly as good."
        )
    names = _names(model, inner)
    return Linear(
        rule=type(learner.rule).__name__,
        hypothesis=type(learner.hypothesis).__name__.lower(),
        coef=np.ascontiguousarray(weights.coef),
        bias=learner.constant * weights.bias,
        classes=inner.labels.as_array().tolist(),
        takes_last=learner.ties != "negative",
        fit_intercept=learner.fit_intercept,
        names=names,
        is_positional=names is None or names == list(getattr(model, "feature_names_in_", ())),
        encoding=encoding,
    )


def _parts(model: Perceptron | StreamModel) -> tuple[Model, Encoding[Any] | None]:
    if isinstance(model, StreamModel):
        inner, encoding = model.model, model.encoding
    else:
        found = getattr(model, "_model", None)
        if not isinstance(found, Model):
            raise ModelFileError(
                f"Only a perceptron or a stream model that has learned can be exported, not this "
                f"{type(model).__name__}."
            )
        inner, encoding = found, None
    if not len(inner.labels):
        raise ModelFileError("The model has learned nothing yet: there is nothing to export.")
    return inner, encoding


def _names(model: Any, inner: Model) -> list[str] | None:
    if isinstance(model, StreamModel):
        return None if model.encoding is None or model.encoding.kind == "index" else model.names
    return list(inner.vocabulary) if inner.vocabulary is not None else None
