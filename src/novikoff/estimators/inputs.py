"""What users pass to estimators -> Rows, in scikit-learn's way and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted, validate_data

from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import LearnsApart
from novikoff.inputs.labels import as_given
from novikoff.inputs.rows import Rows, names_of, rows_of_dicts
from novikoff.perceptron.model import Model

__all__ = ["TakesRows", "validated_rows"]

_AS_DICTS = {"pandas": "to_dict", "polars": "to_dicts"}  # how tables with names give them back, row by row


def is_dicts(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)


@cache
def _defaults(estimator: Any) -> dict[str, Any]:
    """The parameters of one of our classes."""
    parameters = list(signature(estimator.__init__).parameters.values())[1:]
    return {each.name: each.default for each in parameters}


def validated_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Rows of a table of numbers, with scikit-learn's checks of its shape and the names of its columns.

    NaN and infinity are found by our own kernels while they read the rows, instead of in a pass of their own.
    """
    rows = Rows.of(X) if sp.issparse(X) else None
    # scikit-learn would convert a sparse matrix before anybody has looked at its indices: it is shown only the shape.
    shown = X if rows is None else sp.csr_array((len(rows), rows.n_features))
    shown = validate_data(
        estimator,
        shown,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
        reset=reset,
    )
    names = estimator.feature_names_in_.tolist() if hasattr(estimator, "feature_names_in_") else None
    return Rows.of(shown, names) if rows is None else replace(rows, names=names)


class TakesRows(LearnsApart):
    """For estimators with a `_model`: dense, sparse, DataFrames, or lists of dicts of named features."""

    _model: Model
    _parameter_constraints: dict[str, list[Any]]

    def _validate_params(self) -> None:
        """scikit-learn's own check, of the parameters that are not our defaults: to ask for the signature and for all
        of them takes as long as to learn from two hundred examples. Subclasses may have other defaults."""
        kind: Any = type(self)
        if not kind.__module__.startswith("novikoff."):
            super()._validate_params()  # type: ignore[misc]
            return
        now = ((name, getattr(self, name), default) for name, default in _defaults(kind).items())
        given = {name: value for name, value, default in now if value is not default}
        validate_parameter_constraints(self._parameter_constraints, given, caller_name=kind.__name__)

    def _rows_and_labels(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, np.ndarray, list[str] | None]:
        """Rows, labels and feature names of what the user passed, in scikit-learn's way and words."""
        if y is None:
            raise DataError("requires y to be passed, but the target y is None")
        y = _check_y(as_given(y), multi_output=False, y_numeric=False)
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise DataError(
                "Unknown label type: continuous. A classifier expects discrete classes; for numbers to be "
                "classes, make them strings."
            )
        X = X if reset else self._as_dicts_if_named(X)
        if is_dicts(X):
            check_consistent_length(X, y)
            if reset:
                self.__dict__.pop("n_features_in_", None)  # columns of an earlier fit
                self.__dict__.pop("feature_names_in_", None)
            vocabulary = names_of(X, {} if reset else self._vocabulary())
            return rows_of_dicts(X, vocabulary), y, list(vocabulary)
        rows = self._validated(X, reset=reset)
        check_consistent_length(rows, y)
        return rows, y, None if rows.names is None else list(rows.names)

    def _rows_to_read(self, X: Any) -> Rows:
        check_is_fitted(self, "_model")
        X = self._as_dicts_if_named(X)
        rows = rows_of_dicts(X, self._vocabulary()) if is_dicts(X) else self._validated(X, reset=False)
        rows.require_numbers()
        return rows

    def _validated(self, X: Any, *, reset: bool) -> Rows:
        return validated_rows(self, X, reset=reset)

    def _as_dicts_if_named(self, X: Any) -> Any:
        """Columns of a model that has learned from dicts are found by name, never by position."""
        vocabulary = self._model.vocabulary
        if is_dicts(X) or vocabulary is None or len(vocabulary) == len(getattr(self, "feature_names_in_", ())):
            return X
        for library, method in _AS_DICTS.items():
            if type(X).__module__.partition(".")[0] == library:
                if len(set(X.columns)) < X.shape[1]:
                    raise DataError("Two columns of X have the same name; rename one of them.")
                return getattr(X, method)(**({"orient": "records"} if library == "pandas" else {}))
        raise DataError("This model knows its features by name; pass a list of dicts or a DataFrame.")

    def _vocabulary(self) -> dict[str, int]:
        vocabulary = self._model.vocabulary
        if vocabulary is None:
            raise DataError("This model has learned from rows without names; pass arrays, not dicts.")
        return vocabulary
