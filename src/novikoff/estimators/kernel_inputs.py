"""Validation of what users pass to kernel estimators, into Points."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted

from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.estimators.inputs import RowInputMixin
from novikoff.inputs.labels import protect_null_bytes
from novikoff.inputs.rows import Rows, extend_vocabulary, rows_from_dicts
from novikoff.inputs.sparse import dense_example
from novikoff.kernel_methods.matrices import are_objects, is_row, kernel_rows
from novikoff.kernel_methods.saving import SavedKernel
from novikoff.kernel_methods.saving import save as save_model

__all__ = ["KernelInputMixin", "TrainingPoints", "accepts_new_rows"]


class TrainingPoints(NamedTuple):
    """Points and targets to learn from.

    Attributes
    ----------
    points : Points
    y : ndarray
        Labels, or the numbers of a regression.
    names : list of str or None
        The names of all features, those that the model knows first; None if features have no names.
    attributes : dict
        n_features_in_ and feature_names_in_, if these points are the first and have columns.
    """

    points: kernel_methods.Points
    y: np.ndarray
    names: list[str] | None
    attributes: dict[str, Any]


def accepts_new_rows(estimator: KernelInputMixin) -> bool:
    """Return True if rows can follow those of `fit`; scikit-learn hides methods for which this raises an error."""
    if estimator.kernel == "precomputed":
        raise AttributeError("A precomputed kernel has no new rows: use fit, or a function as the kernel.")
    return True


class KernelInputMixin(RowInputMixin):
    """For estimators with a kernel: rows of numbers, rows of a kernel matrix, or objects for a user's function.

    Methods that begin with an underscore read several attributes: call them on a `_snapshot`.
    """

    kernel: Any
    degree: float
    gamma: float | None
    coef0: float
    fit_intercept: bool
    get_params: Any  # of scikit-learn's BaseEstimator

    @property
    def support_(self) -> np.ndarray:
        return self._require_model("support_").state.origins.values.copy()

    @property
    def support_vectors_(self) -> Any:
        model = self._require_model("support_vectors_")
        support = model.state.support
        if support.kind == "kernel rows":
            raise AttributeError("A precomputed kernel has no support_vectors_; support_ tells which rows they are.")
        if not len(support):
            return np.empty((0, model.n_features or 0))
        points = support.points.as_float64()
        return points.data.tolist() if points.kind == "objects" else points.data.copy()

    @property
    def raw_dual_coef_(self) -> np.ndarray:
        return self._require_model("raw_dual_coef_").state.coefficients("last")

    @property
    def n_iter_(self) -> int:
        return self._fitted_attribute("n_iter_")

    def _points_to_score(self, X: Any) -> kernel_methods.Points:
        check_is_fitted(self, "_fitted")
        return kernel_methods.Points.of_objects(X) if self._are_objects(X) else self._points(self._rows_to_score(X))

    def _training_points(self, X: Any, y: Any, *, first: bool) -> TrainingPoints:
        """Return points and labels to learn from; `first` if they start a new model, whose columns they define."""
        if self._are_objects(X):
            if y is None:
                raise DataError("requires y to be passed, but the target y is None")
            y = _check_y(protect_null_bytes(y), multi_output=False, y_numeric=False)
            check_consistent_length(X, y)
            return TrainingPoints(kernel_methods.Points.of_objects(X), y, None, {})
        rows, y, names, attributes = self._training_rows(X, y, first=first)
        rows.require_numbers()
        return TrainingPoints(self._points(rows, square=True), y, names, attributes)

    def _points(self, rows: Rows, *, square: bool = False) -> kernel_methods.Points:
        """Return rows as points; of a precomputed kernel, `square` if they are the matrix of the training set."""
        if self.kernel == "precomputed":
            return kernel_rows(rows, square=square)
        return kernel_methods.Points.of(rows)

    def _one_point(self, x: Any, *, learning: bool) -> tuple[kernel_methods.Points, list[str] | None]:
        """Return one example as one row, and the names of all features, those that it brings included."""
        accepts_new_rows(self)
        x = dense_example(x)
        if callable(self.kernel) and (isinstance(x, Mapping) or not is_row(x)):
            return kernel_methods.Points.of_objects([x]), None
        if isinstance(x, Mapping):
            known = self._vocabulary() if self.__sklearn_is_fitted__() else {}
            names = extend_vocabulary([x], known) if learning else known
            rows = rows_from_dicts([x], names)
            rows.require_numbers()
            return kernel_methods.Points.of(rows), list(names)
        row = np.asarray(x.toarray() if hasattr(x, "toarray") else x)
        if row.ndim != 1 and row.shape[:-1] != (1,):
            raise DataError(f"One example is a dict or a 1-D array, found an array of shape {row.shape}.")
        rows = Rows.of(row.reshape(1, -1))
        rows.require_numbers()
        if self.__sklearn_is_fitted__():
            if self._model.vocabulary is not None and not hasattr(self, "feature_names_in_"):
                raise DataError("This model was trained with named features; pass a dict.")
            kernel_methods.require_width(rows.n_features, self._model.n_features)
        return kernel_methods.Points.of(rows), None

    def _are_objects(self, X: Any) -> bool:
        """Return whether X is for a kernel of the user's own to understand: no table of numbers."""
        return callable(self.kernel) and are_objects(X)

    def _resolve_kernel(self, n_features: int | None) -> kernel_methods.Kernel | kernel_methods.CustomKernel:
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

        The file is data only (safetensors; see `novikoff.model_files`), and replaced atomically. A kernel that is a
        function is code: the file has its name, and `load` needs the function. Objects must be strings or numbers to
        be kept.

        Parameters
        ----------
        path : str or path
        """
        from novikoff.estimators.from_files import build_estimator

        now = self._snapshot()
        check_is_fitted(now, "_fitted")
        now._validate_params()
        saved = SavedKernel(now._model, now.get_params(deep=False), dict(now._fitted.attributes))
        save_model(path, saved, lambda found, kind: build_estimator(kind, found, path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
