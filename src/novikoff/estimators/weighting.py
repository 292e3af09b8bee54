"""sample_weight and class_weight of estimators, made into one importance for each row.

An example has the importance sample_weight * class_weight[label]. A row of importance 0 is left out: it is neither
counted nor learned, as if it were not in X. See perceptron/importances.py for what the others do to a step, and
descent/objective.py for what they do to a loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_array

from novikoff.errors import DataError
from novikoff.inputs.labels import encode_labels
from novikoff.inputs.rows import Rows

__all__ = [
    "CONSTRAINTS",
    "ClassWeight",
    "WeightedRows",
    "weigh_all",
    "weigh_block",
    "weigh_example",
    "weigh_targets",
]

ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
CONSTRAINTS: list[Any] = [dict, StrOptions({"balanced"}), None]  # of the parameter class_weight


class WeightedRows(NamedTuple):
    """The rows of importance above 0, what belongs to each of them, and their importances; None if all are 1."""

    rows: Rows
    targets: np.ndarray
    importances: np.ndarray | None


def weigh_all(
    rows: Rows, classes: np.ndarray, codes: np.ndarray, class_weight: ClassWeight, sample_weight: Any
) -> WeightedRows:
    """Weigh all rows of a training set, which must leave two classes or more; `targets` of the result are codes."""
    if class_weight is None and sample_weight is None:
        return WeightedRows(rows, codes, None)
    found = weigh_targets(rows, codes, sample_weight)
    if class_weight is not None:
        if isinstance(class_weight, Mapping):
            _require_labels(class_weight, classes.tolist())
        factors = _class_factors(class_weight, classes, found.targets)
        found = _leave_out_zeros(found.rows, found.targets, _importances_of(found) * factors[found.targets])
    _require_rows(found)
    kept = np.unique(found.targets)
    if len(kept) < 2:
        raise DataError(
            "The number of classes has to be greater than one; all rows with a sample_weight and a class_weight above "
            f"0 have one class: {classes.tolist()[kept[0]]!r}."
        )
    return found


def weigh_block(rows: Rows, y: np.ndarray, class_weight: ClassWeight, sample_weight: Any) -> WeightedRows:
    """Weigh the rows of a block of a stream; `targets` of the result are labels. There may be no row left."""
    if class_weight is None and sample_weight is None:
        return WeightedRows(rows, y, None)
    found = _leave_out_zeros(rows, y, _validate_sample_weight(sample_weight, len(rows)))
    if class_weight is not None and len(found.rows):
        by_label = require_by_label(class_weight)
        classes, codes = encode_labels(found.targets)
        factors = _class_factors(by_label, classes, codes)
        found = _leave_out_zeros(found.rows, found.targets, _importances_of(found) * factors[codes])
    return found


def weigh_example(y: Any, class_weight: ClassWeight, sample_weight: Any) -> float:
    """Return the importance of one example, which may be 0."""
    importance = 1.0 if sample_weight is None else _as_weight("sample_weight", sample_weight)
    if class_weight is not None:
        try:
            factor = require_by_label(class_weight).get(y, 1.0)
        except TypeError:  # not hashable, so not a label: the model says so
            return importance
        importance *= _as_weight("class_weight", factor)
    return importance


def weigh_targets(rows: Rows, targets: np.ndarray, sample_weight: Any) -> WeightedRows:
    """Weigh rows by sample_weight alone; at least one must be above 0."""
    if sample_weight is None:
        return WeightedRows(rows, targets, None)
    found = _leave_out_zeros(rows, targets, _validate_sample_weight(sample_weight, len(rows)))
    _require_rows(found)
    return found


def require_by_label(class_weight: Mapping[Any, float] | str) -> Mapping[Any, float]:
    """Return class weights that do not depend on all rows; raise a DataError for "balanced"."""
    if isinstance(class_weight, str):
        raise DataError(
            f"class_weight={class_weight!r} needs the labels of all rows, which partial_fit and learn_one do not have: "
            "use fit, or pass the weights that sklearn.utils.class_weight.compute_class_weight finds, "
            "class_weight={label: weight}."
        )
    return class_weight


def _importances_of(found: WeightedRows) -> np.ndarray:
    return np.ones(len(found.rows)) if found.importances is None else found.importances


def _validate_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        return np.full(n_rows, _as_weight("sample_weight", sample_weight))
    weights = check_array(
        sample_weight, accept_sparse=False, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight must have one number for each of {n_rows} rows, found shape {weights.shape}.")
    if (weights < 0.0).any():
        row = int(np.argmax(weights < 0.0))
        raise DataError(f"sample_weight must not be negative; row {row} has {weights[row]:g}.")
    return weights


def _as_weight(name: str, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = np.nan
    if not 0.0 <= weight < np.inf:
        raise DataError(f"{name} must be a number >= 0, found {value!r}.")
    return weight


def _class_factors(class_weight: Mapping[Any, float] | str, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the factor of each class. Balanced ones give all classes that have rows the same total."""
    if isinstance(class_weight, Mapping):
        return np.array([_as_weight("class_weight", class_weight.get(label, 1.0)) for label in classes.tolist()])
    counts = np.bincount(codes, minlength=len(classes))
    return len(codes) / (max(1, np.count_nonzero(counts)) * np.maximum(counts, 1))


def _require_labels(class_weight: Mapping[Any, float], labels: list[Any]) -> None:
    """Raise a DataError if a weight is for no label while some label has none: one of the two was misspelled."""
    unknown = [label for label in class_weight if label not in labels]
    unweighted = [label for label in labels if label not in class_weight]
    if unknown and unweighted:
        raise DataError(
            f"class_weight has a weight for {unknown[0]!r}, which is no label in y, and none for {unweighted[0]!r}."
        )


def _leave_out_zeros(rows: Rows, targets: np.ndarray, importances: np.ndarray) -> WeightedRows:
    is_kept = importances > 0.0
    if is_kept.all():
        return WeightedRows(rows, targets, importances)
    rows.require_numbers()  # also in rows that are left out, and by the numbers that the rows have in X
    kept = np.flatnonzero(is_kept)
    return WeightedRows(Rows.of(rows.take(kept), rows.names), targets[kept], importances[kept])


def _require_rows(found: WeightedRows) -> None:
    if not len(found.rows):
        raise DataError("There is nothing to learn: sample_weight times class_weight is zero for every row.")
