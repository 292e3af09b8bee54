"""Estimators from what a model file holds; see novikoff.load."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from novikoff import store
from novikoff.descent.files import KINDS, SavedLinear
from novikoff.errors import ModelFileError
from novikoff.estimators.kernel import KernelPerceptron
from novikoff.estimators.kernel_regressor import KernelRegressor
from novikoff.estimators.linear import LinearClassifier
from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.regressor import LinearRegressor
from novikoff.potential.files import REGRESSION, SavedKernel

__all__ = ["estimator_of", "kernel_estimator_of", "linear_estimator_of"]


def estimator_of(saved: store.Saved, path: str | os.PathLike[str]) -> Perceptron:
    """The estimator that was saved at this path; a ModelFileError if its parts do not make one."""
    if saved.kind != "perceptron":
        raise ModelFileError(f"{os.fspath(path)} holds a learner of kind {saved.kind!r}, which this version of "
                             "novikoff cannot make.")  # fmt: skip
    return _made(Perceptron, saved, path)


def kernel_estimator_of(
    saved: SavedKernel, kind: str, path: str | os.PathLike[str]
) -> KernelPerceptron | KernelRegressor:
    """The same for kernel perceptrons and regressions."""
    return _made(KernelRegressor if kind == REGRESSION else KernelPerceptron, saved, path)


def linear_estimator_of(saved: SavedLinear, path: str | os.PathLike[str]) -> LinearClassifier | LinearRegressor:
    """The same for a linear model found by a descent."""
    return _made(LinearClassifier if saved.kind == KINDS[0] else LinearRegressor, saved, path)


def _made(
    make: Callable[..., Any], saved: store.Saved | SavedKernel | SavedLinear, path: str | os.PathLike[str]
) -> Any:
    """An estimator with these parameters, and what it has learned."""
    try:
        found = make(**saved.parameters)
        found._validate_params()
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} holds no sound model: {error}") from error
    found._model = saved.model
    found.__dict__.update(saved.fitted)
    return found
