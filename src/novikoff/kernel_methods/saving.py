"""Kernel models in model files: the kernel, the learner, labels and names.

learner     kernel, its parameters, multi_class, ties; budget, or the step of a regression; of a function only the name
labels, names, parameters, fitted      as in every model file: see `novikoff.model_files`
state       see `novikoff.kernel_methods.saved_states`
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from novikoff import model_files
from novikoff.errors import ModelFileError
from novikoff.kernel_methods.budget import BudgetLearner
from novikoff.kernel_methods.dual import MULTI_CLASS, DualLearner
from novikoff.kernel_methods.kernels import NAMES, CustomKernel, Kernel
from novikoff.kernel_methods.model import KernelModel
from novikoff.kernel_methods.regression import ResidualLearner
from novikoff.kernel_methods.saved_states import read_state, write_state
from novikoff.model_files import Section
from novikoff.perceptron.learner import TIES

__all__ = ["KIND", "REGRESSION", "SavedKernel", "read_saved", "save"]

KIND, REGRESSION = "kernel-perceptron", "kernel-regressor"

_FITTED = {"n_iter_": int, "converged_": bool, "n_features_in_": int, "feature_names_in_": np.ndarray}


class SavedKernel(NamedTuple):
    """A kernel estimator as data.

    Attributes
    ----------
    model : KernelModel
    parameters : dict
        What the constructor was given.
    fitted : dict
        The attributes that learning has set: n_iter_, converged_, n_features_in_, feature_names_in_.
    """

    model: KernelModel
    parameters: dict[str, Any]
    fitted: dict[str, Any]


def save(path: str | os.PathLike[str], saved: SavedKernel, build: Callable[[SavedKernel, str], object]) -> None:
    """Write a model to a file.

    If the content cannot be read again and made an estimator by `build`, an error is raised and the old file stays.
    """
    model, parameters, fitted = saved
    root, model = Section("The model cannot be saved"), model.snapshot()  # other threads may learn meanwhile
    _write_learner(root.add_part("learner"), model.learner)
    model_files.write_labels(root.add_part("labels"), model.labels)
    root.facts |= {"n_features": model.n_features, "has_names": model.vocabulary is not None}
    if model.vocabulary is not None:
        model_files.write_values(root.add_part("names"), model.vocabulary)
    write_state(root.add_part("state"), model.state)
    model_files.write_named(
        root.add_part("parameters"), {name: value for name, value in parameters.items() if name != "kernel"}
    )
    model_files.write_named(root.add_part("fitted"), fitted)
    function = model.learner.kernel
    kernel = function.function if isinstance(function, CustomKernel) else None
    kind = REGRESSION if isinstance(model.learner, ResidualLearner) else KIND
    model_files.write(path, kind, root, lambda read_back: build(_read_saved(read_back, kernel), kind))


def read_saved(
    path: str | os.PathLike[str], root: Section, kernel: Callable[[Any, Any], Any] | None = None
) -> SavedKernel:
    """Return the model that a file contains; `kernel` is its kernel if that is a function."""
    name = root.part("learner").facts.get("function")
    if name is None and kernel is not None:
        raise ModelFileError(f"{os.fspath(path)} knows its kernel; kernel= is only for models trained with a function.")
    if name is not None and not callable(kernel):
        raise ModelFileError(
            f"{os.fspath(path)} was trained with a function of its user as kernel, {name!r}, and a "
            f"file holds no code: pass that function, nk.load({os.fspath(path)!r}, "
            f"kernel={name})."
        )
    return _read_saved(root, kernel)


def _read_saved(root: Section, kernel: Callable[[Any, Any], Any] | None) -> SavedKernel:
    learner = _read_learner(root.part("learner"), kernel)
    labels = model_files.read_labels(root.part("labels"))
    state = read_state(root.part("state"), max(2, len(labels)), learner)
    columns = None if root.facts.get("n_features") is None else root.fact("n_features", int)
    names = model_files.read_values(root.part("names")) if root.fact("has_names", bool) else None
    if names is not None:
        root.require(len(set(names)) == len(names) == columns, "its names are not one for each feature")
    if len(state.support) and state.support.kind in ("dense", "sparse"):
        width = state.support.points.data.shape[1]
        root.require(columns is not None and width <= columns, f"rows of {width} columns for {columns} features")
    parameters = model_files.read_named(root.part("parameters"))
    parameters["kernel"] = kernel if kernel is not None else root.part("learner").fact("kernel", str)
    fitted = model_files.read_named(root.part("fitted"))
    root.require(_fits(fitted, columns, names), f"{', '.join(fitted)} do not go with its columns")
    return SavedKernel(KernelModel(learner, labels, state, columns, names), parameters, fitted)


def _fits(fitted: dict[str, Any], columns: int | None, names: list[str] | None) -> bool:
    """Return whether the fitted attributes can be those of a model with these columns, and names of columns."""
    if not all(type(value) is _FITTED.get(name) for name, value in fitted.items()) or fitted.get("n_iter_", 0) < 0:
        return False
    if columns is None:  # objects; an earlier version kept n_features_in_ of a fit to rows before them
        return True
    n_features_in = fitted.get("n_features_in_", columns)
    if "feature_names_in_" not in fitted:
        return n_features_in == columns
    own = fitted["feature_names_in_"]
    if names is None:  # a regression has no vocabulary
        return own.shape == (n_features_in,) == (columns,)
    return own.shape == (n_features_in,) and own.tolist() == names[:n_features_in]  # dicts may have brought more names


# -- the learner


def _write_learner(section: Section, learner: DualLearner) -> None:
    function = learner.kernel
    section.facts |= {"multi_class": learner.multi_class, "ties": learner.ties, "constant": function.constant}
    if isinstance(learner, BudgetLearner):
        section.facts["budget"] = learner.budget
    if isinstance(learner, ResidualLearner):
        section.facts["step"] = learner.step
    if isinstance(function, CustomKernel):
        section.facts["function"] = getattr(function.function, "__qualname__", type(function.function).__name__)
        return
    section.facts |= {
        "kernel": function.name,
        "degree": float(function.degree),
        "gamma": function.gamma,
        "coef0": function.coef0,
    }


def _read_learner(section: Section, kernel: Callable[[Any, Any], Any] | None) -> DualLearner:
    multi_class, ties = section.fact("multi_class", str), section.fact("ties", str)
    constant = section.fact("constant", float)
    section.require(multi_class in MULTI_CLASS and ties in TIES and constant in (0.0, 1.0), "its learner is unknown")
    function = CustomKernel(kernel, constant) if kernel is not None else _read_function(section, constant)
    if "budget" in section.facts:
        budget = section.fact("budget", int)
        section.require(budget >= 1, f"its budget is {budget}")
        return BudgetLearner(function, multi_class, ties, budget=budget)
    if "step" in section.facts:
        step = section.fact("step", float)
        section.require(0.0 < step < float("inf"), f"its step is {step}")
        return ResidualLearner(function, multi_class, ties, step=step)
    return DualLearner(function, multi_class, ties)


def _read_function(section: Section, constant: float) -> Kernel:
    name = section.fact("kernel", str)
    section.require(name in NAMES, f"its kernel is {name!r}")
    degree, gamma, coef0 = (section.fact(each, float) for each in ("degree", "gamma", "coef0"))
    section.require(degree > 0.0 and gamma > 0.0, f"its kernel has degree {degree} and gamma {gamma}")
    return Kernel(name, degree, gamma, coef0, constant)
