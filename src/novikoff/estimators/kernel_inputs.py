"""What users pass to estimators with a kernel -> Points: rows of numbers, kernel matrices, or any objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted

from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.estimators.inputs import TakesRows
from novikoff.inputs.labels import as_given
from novikoff.inputs.rows import Rows, names_of, rows_of_dicts
from novikoff.inputs.sparse import dense_example
from novikoff.kernel_methods.matrices import are_objects, is_row, kernel_rows
from novikoff.kernel_methods.saving import SavedKernel
from novikoff.kernel_methods.saving import save as save_model

__all__ = ["TakesPoints", "takes_new_rows"]

_FITTED = ("n_iter_", "converged_", "n_features_in_", "feature_names_in_")


def takes_new_rows(estimator: TakesPoints) -> bool:
    """Whether there can be any: scikit-learn hides methods that make no sense for the parameters."""
    if estimator.kernel == "precomputed":
        raise AttributeError("A precomputed kernel has no new rows: use fit, or a function as the kernel.")
    return True


class TakesPoints(TakesRows):
    """For estimators with a kernel: rows of numbers, rows of a kernel matrix, or objects for a user's function."""

    _model: kernel_methods.KernelModel  # type: ignore[assignment]
    kernel: Any
    degree: float
    gamma: float | None
    coef0: float
    fit_intercept: bool
    get_params: Any  # of scikit-learn's BaseEstimator

    @property
    def support_(self) -> np.ndarray:
        return self._fitted("support_").state.origins.values.copy()

    @property
    def support_vectors_(self) -> Any:
        support = self._fitted("support_vectors_").state.support
        if support.kind == "kernel rows":
            raise AttributeError("A precomputed kernel has no support_vectors_; support_ tells which rows they are.")
        if not len(support):
            return np.empty((0, self._model.n_features or 0))
        points = support.points.doubled()
        return points.data.tolist() if points.kind == "objects" else points.data.copy()

    @property
    def raw_dual_coef_(self) -> np.ndarray:
        return self._fitted("raw_dual_coef_").state.coefficients("last")

    def _fitted(self, name: str) -> kernel_methods.KernelModel:
        try:
            return self.__dict__["_model"]
        except KeyError:
            raise AttributeError(f"This {type(self).__name__} has no {name} before it has learned.") from None

    def _points_to_read(self, X: Any) -> kernel_methods.Points:
        check_is_fitted(self, "_model")
        if self._are_objects(X):
            return kernel_methods.Points.of_objects(X)
        rows = self._rows_to_read(X)
        return kernel_rows(rows, square=False) if self.kernel == "precomputed" else kernel_methods.Points.of(rows)

    def _points_and_labels(
        self, X: Any, y: Any, *, reset: bool
    ) -> tuple[kernel_methods.Points, np.ndarray, list[str] | None]:
        if self._are_objects(X):
            if y is None:
                raise DataError("requires y to be passed, but the target y is None")
            y = _check_y(as_given(y), multi_output=False, y_numeric=False)
            check_consistent_length(X, y)
            return kernel_methods.Points.of_objects(X), y, None
        rows, y, names = self._rows_and_labels(X, y, reset=reset)
        rows.require_numbers()
        if self.kernel == "precomputed":
            return kernel_rows(rows, square=True), y, names
        return kernel_methods.Points.of(rows), y, names

    def _point(self, x: Any, *, learning: bool) -> tuple[kernel_methods.Points, list[str] | None]:
        """One example as one row, and all names of features, those that it brings included."""
        takes_new_rows(self)
        x = dense_example(x)
        if callable(self.kernel) and (isinstance(x, Mapping) or not is_row(x)):
            return kernel_methods.Points.of_objects([x]), None
        if isinstance(x, Mapping):
            known = self._vocabulary() if hasattr(self, "_model") else {}
            names = names_of([x], known) if learning else known
            rows = rows_of_dicts([x], names)
            rows.require_numbers()
            return kernel_methods.Points.of(rows), list(names)
        row = np.asarray(x.toarray() if hasattr(x, "toarray") else x)
        if row.ndim != 1 and row.shape[:-1] != (1,):
            raise DataError(f"One example is a dict or a 1-D array, found an array of shape {row.shape}.")
        rows = Rows.of(row.reshape(1, -1))
        rows.require_numbers()
        self._require_width(rows.n_features)
        return kernel_methods.Points.of(rows), None

    def _require_width(self, columns: int) -> None:
        if not hasattr(self, "_model"):
            return
        if self._model.vocabulary is not None and not hasattr(self, "feature_names_in_"):
            raise DataError("This model knows its features by name; pass a dict.")
        if columns != self._model.n_features:
            raise DataError(
                f"X has {columns} features, but this model is expecting {self._model.n_features} features as input."
            )

    def _are_objects(self, X: Any) -> bool:
        """Whether X is for a kernel of the user's own to understand: no table of numbers."""
        return callable(self.kernel) and are_objects(X)

    def _potential(self, n_features: int | None) -> kernel_methods.Potential | kernel_methods.UsersPotential:
        return kernel_methods.resolve(
            self.kernel,
            degree=self.degree,
            gamma=self.gamma,
            coef0=self.coef0,
            fit_intercept=self.fit_intercept,
            n_features=n_features,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned so far to a file; `novikoff.load` gives back an equal estimator that goes on alike.

        The file is data only (safetensors; see `novikoff.model_files`), and replaced whole. A kernel that is a function
        is code: the file has its name, and `load` needs the function. Objects must be strings or numbers to be kept.

        Parameters
        ----------
        path : str or path
        """
        from novikoff.estimators.from_files import build_estimator

        check_is_fitted(self, "_model")
        self._validate_params()
        fitted = {name: vars(self)[name] for name in _FITTED if name in vars(self)}
        saved = SavedKernel(self._model, self.get_params(deep=False), fitted)
        save_model(path, saved, lambda found, kind: build_estimator(kind, found, path))

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
