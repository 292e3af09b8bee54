"""Estimators made from the content of model files; see `novikoff.model_files.loading`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from novikoff import model_files
from novikoff.descent import saving as linear_saving
from novikoff.descent.saving import SavedLinear
from novikoff.errors import ModelFileError
from novikoff.estimators.atomic_fit import Fitted
from novikoff.estimators.kernel_perceptron import KernelPerceptron
from novikoff.estimators.kernel_regressor import KernelRegressor
from novikoff.estimators.linear_classifier import LinearClassifier
from novikoff.estimators.linear_regressor import LinearRegressor
from novikoff.estimators.perceptron import Perceptron
from novikoff.kernel_methods import saving as kernel_saving
from novikoff.kernel_methods.saving import SavedKernel
from novikoff.model_files import Section

__all__ = ["build_estimator", "load_kernel", "load_linear", "load_perceptron"]

_ESTIMATORS: dict[str, Callable[..., Any]] = {
    "perceptron": Perceptron,
    "linear-classifier": LinearClassifier,
    "linear-regressor": LinearRegressor,
    "kernel-perceptron": KernelPerceptron,
    "kernel-regressor": KernelRegressor,
}


def load_perceptron(path: str | os.PathLike[str], kind: str, root: Section, rule: Any) -> Perceptron:
    """Return the Perceptron in a model file; `rule` is its rule if that is a function."""
    return build_estimator(kind, model_files.read_saved(path, kind, root, rule), path)


def load_linear(
    path: str | os.PathLike[str], kind: str, root: Section, loss: Any
) -> LinearClassifier | LinearRegressor:
    """Return the linear estimator in a model file; `loss` is its loss if that is a custom one."""
    return build_estimator(kind, linear_saving.read_saved(path, kind, root, loss), path)


def load_kernel(
    path: str | os.PathLike[str], kind: str, root: Section, kernel: Any
) -> KernelPerceptron | KernelRegressor:
    """Return the kernel estimator in a model file; `kernel` is its kernel if that is a function."""
    return build_estimator(kind, kernel_saving.read_saved(path, root, kernel), path)


def build_estimator(
    kind: str, saved: model_files.SavedPerceptron | SavedKernel | SavedLinear, path: str | os.PathLike[str]
) -> Any:
    """Return the estimator of a kind, with its parameters and what it has learned.

    Raise a ModelFileError if the constructor does not take the parameters.
    """
    try:
        found = _ESTIMATORS[kind](**saved.parameters)
        found._validate_params()
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} holds no valid model: {error}") from error
    found._fitted = Fitted(saved.model, saved.fitted)
    return found
