"""What `novikoff inspect` shows of a model, as values that JSON can hold: rule, counts, intercepts, largest weights."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff._compiled.loops.hats import KNOTS
from novikoff.rules import Custom
from novikoff.selection.evaluation import plain_labels

if TYPE_CHECKING:
    from novikoff.data.encoding.curves import Curves
    from novikoff.perceptron.model import Model
    from novikoff.streaming.model import StreamModel

__all__ = ["estimator_facts", "stream_facts"]

_COUNTED = ("examples", "mistakes", "radius", "norm", "margin_at_most")


def stream_facts(model: StreamModel, top: int) -> dict[str, Any]:
    """Return the facts of a model that has learned from files."""
    if model.predicts_numbers:
        return _regression_facts(model, top)
    scales = _find_scales(model)
    return {
        **_perceptron_facts(model.model),
        "labels": _json_labels(model.labels),
        "features": model.n_features,
        "rows_read": model.rows_read,
        **{name: getattr(model.ledger, name) for name in _COUNTED},
        "standardised": scales is not None or _is_sparse_scaled(model),
        "calibration": None if model.calibration is None else asdict(model.calibration),
        "text_length": model.features.text_length if "text" in model.kinds.values() else None,
        "heaviest": _perceptron_weights(model.model, model.names, top, scales, model.curves()),
    }


def _regression_facts(model: StreamModel, top: int) -> dict[str, Any]:
    ledger: Any = model.ledger
    figures = {name: getattr(ledger, name) for name in ("rmse", "rmse_of_mean", "r2", "mean", "lowest", "highest")}
    weights: Any = model.model.weights()  # type: ignore[attr-defined]  # of a RegressionModel
    # The weights are those of the distance from the mean of the targets.
    intercept, curves = float(weights[0]) + (ledger.mean if ledger.examples else 0.0), model.curves()
    heaviest = _vector_facts(model.target or "the target", intercept, weights[1:], model.names, top, curves)
    scales = _find_scales(model)
    if scales is not None and curves is None:
        heaviest |= _per_unit(intercept, weights[1:], model.names, list(heaviest["weights"]), *scales)
    return {
        "loss": "squared",
        "labels": [],
        "features": model.n_features,
        "rows_read": model.rows_read,
        "examples": ledger.examples,
        **{name: None if value != value else value for name, value in figures.items()},
        "standardised": scales is not None or _is_sparse_scaled(model),
        "heaviest": [heaviest],
    }


def _is_sparse_scaled(model: StreamModel) -> bool:
    """Whether the model standardises features that are not columns of a table."""
    return not model.takes_tables and model.encoding is not None and model.encoding.scales


def _perceptron_facts(model: Model) -> dict[str, Any]:
    learner, rule = model.learner, model.learner.rule
    answers = type(learner.hypothesis).__name__.lower()
    return {
        "rule": type(rule).__name__,
        **({"function": rule.name} if isinstance(rule, Custom) else {}),
        "hypothesis": answers,
        "fit_intercept": learner.fit_intercept,
        "weights_of": "last" if learner.linear_weights(model.state) is None else learner.weights_of,
    }


def _find_scales(model: StreamModel) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the mean and the standard deviation of each feature, 0 and 1 of those that are not standardised; None if
    there are no numbers, or they are learned from as they are."""
    from novikoff.data.encoding import TableEncoding

    encoding = model.encoding
    if not (isinstance(encoding, TableEncoding) and encoding.features.scale and encoding.columns("number")):
        return None
    means, deviations = np.zeros(encoding.n_features), np.ones(encoding.n_features)
    counts, own_means, squares = encoding.moments
    means[encoding.number_indices] = own_means
    deviations[encoding.number_indices] = np.sqrt(squares / np.maximum(counts, 1.0))
    return means, deviations


def _perceptron_weights(
    model: Model,
    names: list[str],
    top: int,
    scales: tuple[np.ndarray, np.ndarray] | None = None,
    curves: Curves | None = None,
) -> list[dict[str, Any]]:
    """Return the intercept and the largest weights of each label that has a score."""
    state = model.state
    weights = model.learner.linear_weights(state) or state.raw
    rows = []
    for label, bias, w in zip(_labels_with_scores(model), weights.bias, weights.coef, strict=False):
        rows.append(_vector_facts(label, float(model.learner.constant * bias), w, names, top, curves))
        if scales is not None and curves is None:
            rows[-1] |= _per_unit(rows[-1]["intercept"], w, names, list(rows[-1]["weights"]), *scales)
    return rows


def _labels_with_scores(model: Model) -> list[Any]:
    """Return the labels that have a score: of two the second, which may not have been learned yet."""
    if len(model.labels) > 2:
        return plain_labels(model.labels.known)
    first, second = plain_labels(model.labels.of_code)
    return [f"not {first}" if second is None else second]


def _vector_facts(
    label: Any, intercept: float, w: np.ndarray, names: list[str], top: int, curves: Curves | None = None
) -> dict[str, Any]:
    """Return the intercept and the largest weights; of numbers with hats also their curves."""
    joined = w if curves is None else curves.join(w)
    order = [j for j in np.argsort(-np.abs(joined), kind="stable")[:top].tolist() if joined[j] != 0.0]
    facts = {"label": str(label), "weights": {names[j]: float(joined[j]) for j in order}, "intercept": intercept}
    if curves is None:
        return facts
    number_of = {j: number for number, j in enumerate(curves.indices.tolist())}
    heights, knots = curves.heights(w), [f"{knot:g}" for knot in KNOTS]
    shown = {names[j]: heights[number_of[j]].tolist() for j in order if j in number_of}
    return facts | {"curves": {name: dict(zip(knots, each, strict=True)) for name, each in shown.items()}}


def _per_unit(
    intercept: float, w: np.ndarray, names: list[str], shown: list[str], means: np.ndarray, deviations: np.ndarray
) -> dict[str, Any]:
    """Return intercept and weights for numbers as they are in the file: w (x - mean) / deviation = v x - v mean.

    A column whose numbers are all alike is 0 for the model, whatever its weight.
    """
    v = np.where(deviations > 0.0, w / np.where(deviations > 0.0, deviations, 1.0), 0.0)
    index = {name: j for j, name in enumerate(names)}
    return {
        "weights_per_unit": {name: float(v[index[name]]) for name in shown},
        "intercept_per_unit": float(intercept - v @ means),
    }


def estimator_facts(found: Any, top: int) -> dict[str, Any]:
    """Return the facts of an estimator that was saved in Python, as far as it has them."""
    from novikoff.perceptron.model import Model

    facts: dict[str, Any] = {
        "type": type(found).__name__,
        "parameters": {name: str(value) for name, value in found.get_params(deep=False).items()},
        "labels": _json_labels(found.classes_.tolist()) if hasattr(found, "classes_") else [],
        "passes": getattr(found, "n_iter_", None),
        "converged": getattr(found, "converged_", None),
    }
    ledger = getattr(found, "ledger_", None)
    facts |= {name: getattr(ledger, name) for name in _COUNTED if hasattr(ledger, name)}
    model = found._model
    if isinstance(model, Model):
        names = _column_names(found, model.state.n_features)
        heaviest = _perceptron_weights(model, names, top)
        return facts | _perceptron_facts(model) | {"features": len(names), "standardised": False, "heaviest": heaviest}
    if hasattr(found, "support_"):
        return facts | _kernel_facts(found)
    coef, intercepts = np.atleast_2d(found.coef_), np.atleast_1d(found.intercept_)
    names = _column_names(found, coef.shape[1])
    labels = facts["labels"] if len(coef) > 1 else facts["labels"][-1:] or ["the prediction"]
    heaviest = [
        _vector_facts(label, float(b), w, names, top) for label, b, w in zip(labels, intercepts, coef, strict=True)
    ]
    return facts | {"features": len(names), "standardised": False, "heaviest": heaviest}


def _kernel_facts(found: Any) -> dict[str, Any]:
    """Return the facts of a kernel model: its kernel, and the constant part of its scores.

    With an intercept, 1 is added to the kernel, so the constant is the sum of the weights of all support vectors.
    """
    kernel, labels = found._model.learner.kernel, _json_labels(getattr(found, "classes_", np.zeros(0)).tolist())
    own = found.dual_coef_ if hasattr(found, "dual_coef_") else found.raw_dual_coef_
    constants = (np.atleast_2d(own).sum(axis=1) * kernel.constant).tolist() if kernel.constant else []
    names = labels if len(constants) > 1 else labels[-1:] or ["the prediction"]
    facts = {
        "support_vectors": len(found.support_),
        "kernel": str(kernel),
        "fit_intercept": bool(kernel.constant),
        "intercepts": {str(label): constant for label, constant in zip(names, constants, strict=False)},
    }
    return facts | ({} if found._model.n_features is None else {"features": found._model.n_features})


def _column_names(found: Any, n: int) -> list[str]:
    known = getattr(found._model, "vocabulary", None)
    names = list(getattr(found, "feature_names_in_", ()) if known is None else known)
    return names or [f"column {j}" for j in range(n)]


def _json_labels(labels: list[Any]) -> list[Any]:
    return [label if isinstance(label, (str, int, float, bool)) else str(label) for label in plain_labels(labels)]
