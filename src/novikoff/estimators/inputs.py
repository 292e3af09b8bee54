"""Validation of what users pass to estimators, in scikit-learn's way, into Rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import (
    _check_y,
    _get_feature_names,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import AtomicFitMixin
from novikoff.inputs.labels import protect_null_bytes
from novikoff.inputs.rows import Rows, extend_vocabulary, rows_from_dicts

__all__ = ["RowInputMixin", "TrainingRows", "is_dicts", "validate_first_rows", "validate_labels", "validate_rows"]

_DICT_METHODS = {"pandas": "to_dict", "polars": "to_dicts"}  # by which a DataFrame gives its rows as dicts

# NaN and infinity are found by our own loops while they read the rows, instead of in a pass of their own.
_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


class TrainingRows(NamedTuple):
    """Rows and labels to learn from.

    Attributes
    ----------
    rows : Rows
    y : ndarray
    names : list of str or None
        The names of all features, those that the model knows first; None if features have no names.
    attributes : dict
        n_features_in_ and feature_names_in_, if these rows are the first.
    """

    rows: Rows
    y: np.ndarray
    names: list[str] | None
    attributes: dict[str, Any]


def is_dicts(X: Any) -> bool:
    """Return whether X is a list of dicts of named features."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)


def validate_first_rows(estimator: Any, X: Any) -> tuple[Rows, dict[str, Any]]:
    """Return the rows of a table of numbers, and the n_features_in_ and feature_names_in_ that it gives an estimator.

    scikit-learn's `validate_data` would set these attributes at once, before anything is learned.
    """
    names = _get_feature_names(X)
    if sp.issparse(X):
        # scikit-learn would convert a sparse matrix before its indices are checked: it gets only the shape.
        rows = Rows.of(X)
        check_array(_empty_like(rows), input_name="X", estimator=estimator, **_CHECKS)
    else:
        rows = Rows.of(check_array(X, input_name="X", estimator=estimator, **_CHECKS))
    attributes: dict[str, Any] = {"n_features_in_": rows.n_features}
    if names is None:
        return rows, attributes
    return replace(rows, names=names.tolist()), attributes | {"feature_names_in_": names}


def validate_rows(estimator: Any, X: Any) -> Rows:
    """Return the rows of a table of numbers that has the columns which the estimator knows."""
    if sp.issparse(X):
        rows = Rows.of(X)
        validate_data(estimator, _empty_like(rows), reset=False, **_CHECKS)
    else:
        rows = Rows.of(validate_data(estimator, X, reset=False, **_CHECKS))
    names = getattr(estimator, "feature_names_in_", None)
    return rows if names is None else replace(rows, names=names.tolist())


def _empty_like(rows: Rows) -> sp.csr_array:
    return sp.csr_array((len(rows), rows.n_features))


def validate_labels(y: Any, remedy: str) -> np.ndarray:
    """Return labels of discrete classes as an array; `remedy` says what to do with floats."""
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    y = _check_y(protect_null_bytes(y), multi_output=False, y_numeric=False)
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise DataError(f"Unknown label type: continuous. A classifier expects discrete classes; {remedy}")
    return y


@cache
def _defaults(estimator: Any) -> dict[str, Any]:
    """Return the constructor parameters of a class, with their default values."""
    parameters = list(signature(estimator.__init__).parameters.values())[1:]
    return {each.name: each.default for each in parameters}


class RowInputMixin(AtomicFitMixin):
    """For estimators that learn from dense or sparse rows, DataFrames, or lists of dicts of named features.

    All methods but `_validate_params` read several attributes: call them on a `_snapshot`.
    """

    _parameter_constraints: dict[str, list[Any]]

    def _validate_params(self) -> None:
        """Check the parameters that are not our defaults, by scikit-learn's own function.

        To inspect the signature and check all of them takes as long as to learn from two hundred examples. Subclasses
        of a user may have other defaults, and are checked in full.
        """
        kind: Any = type(self)
        if not kind.__module__.startswith("novikoff."):
            super()._validate_params()  # type: ignore[misc]
            return
        now = ((name, getattr(self, name), default) for name, default in _defaults(kind).items())
        given = {name: value for name, value, default in now if value is not default}
        validate_parameter_constraints(self._parameter_constraints, given, caller_name=kind.__name__)

    def _training_rows(self, X: Any, y: Any, *, first: bool) -> TrainingRows:
        """Return rows and labels to learn from; `first` if they start a new model, whose columns they define."""
        y = validate_labels(y, "for numbers to be classes, make them strings.")
        X = X if first else self._to_dicts_if_named(X)
        if is_dicts(X):
            check_consistent_length(X, y)
            vocabulary = extend_vocabulary(X, {} if first else self._vocabulary())
            return TrainingRows(rows_from_dicts(X, vocabulary), y, list(vocabulary), {})
        rows, attributes = validate_first_rows(self, X) if first else (validate_rows(self, X), {})
        check_consistent_length(rows, y)
        return TrainingRows(rows, y, None if rows.names is None else list(rows.names), attributes)

    def _rows_to_score(self, X: Any) -> Rows:
        check_is_fitted(self, "_fitted")
        X = self._to_dicts_if_named(X)
        rows = rows_from_dicts(X, self._vocabulary()) if is_dicts(X) else validate_rows(self, X)
        rows.require_numbers()
        return rows

    def _to_dicts_if_named(self, X: Any) -> Any:
        """Return a DataFrame as dicts if the model has learned from dicts: its columns are found by name, never by
        position."""
        vocabulary = self._model.vocabulary
        if is_dicts(X) or vocabulary is None or len(vocabulary) == len(getattr(self, "feature_names_in_", ())):
            return X
        for library, method in _DICT_METHODS.items():
            if type(X).__module__.partition(".")[0] == library:
                if len(set(X.columns)) < X.shape[1]:
                    raise DataError("Two columns of X have the same name; rename one of them.")
                return getattr(X, method)(**({"orient": "records"} if library == "pandas" else {}))
        raise DataError("This model was trained with named features; pass a list of dicts or a DataFrame.")

    def _vocabulary(self) -> dict[str, int]:
        vocabulary = self._model.vocabulary
        if vocabulary is None:
            raise DataError("This model has learned from rows without names; pass arrays, not dicts.")
        return vocabulary
