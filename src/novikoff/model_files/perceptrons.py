"""Perceptron estimators in model files: model, constructor parameters and fitted attributes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.errors import ModelFileError
from novikoff.model_files import container
from novikoff.model_files.models import function_name, read_model, write_model
from novikoff.model_files.parameters import read_named, write_named
from novikoff.model_files.section import Section
from novikoff.perceptron.model import Model

__all__ = ["SavedPerceptron", "load", "read_saved", "save"]

_FITTED = {"n_iter_": int, "converged_": bool, "n_features_in_": int, "feature_names_in_": np.ndarray}


@dataclass(eq=False)
class SavedPerceptron:
    """The content of the model file of a perceptron estimator.

    Attributes
    ----------
    kind : str
        The kind of the model file, "perceptron".
    model : Model
        The learner with its state, labels and feature names.
    parameters : dict
        The arguments of the constructor.
    fitted : dict
        Attributes that `fit` sets: passes, convergence, columns.

    Examples
    --------
    >>> from novikoff import Learner, model_files
    >>> from novikoff.perceptron.model import Model
    >>> model = Model(Learner())
    >>> model.learn_one({"free": 1, "money": 2}, "spam")
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "m.nk")
    ...     model_files.save(path, model_files.SavedPerceptron("perceptron", model))
    ...     found = model_files.load(path)
    >>> found.model.predict_one({"money": 1}), found.model.ledger.mistakes
    ('spam', 1)
    """

    kind: str
    model: Model
    parameters: dict[str, Any] = field(default_factory=dict)
    fitted: dict[str, Any] = field(default_factory=dict)


def save(
    path: str | os.PathLike[str], saved: SavedPerceptron, build: Callable[[SavedPerceptron], object] | None = None
) -> None:
    """Write a perceptron to a file. One that could not be loaded again is refused, and the old file stays.

    Parameters
    ----------
    path : str or path
    saved : SavedPerceptron
    build : function of a SavedPerceptron, optional
        Builds an estimator from it, or raises an error; called before the file is written.
    """
    root = Section("The model cannot be saved")
    function = _find_function(root, saved)
    root.facts["function"] = None if function is None else function_name(function)
    write_model(root, saved.model)
    write_named(root.add_part("parameters"), saved.parameters)
    write_named(root.add_part("fitted"), saved.fitted)

    def load(written: Section) -> None:
        read_back = _read_saved(saved.kind, written, function)
        if build is not None:
            build(read_back)

    container.write(path, saved.kind, root, load)


def load(
    path: str | os.PathLike[str], rule: Callable[[float, float], float] | rules.Custom | None = None
) -> SavedPerceptron:
    """Read a perceptron from a file.

    Parameters
    ----------
    path : str or path
    rule : callable, optional
        The rule it was trained with, if that was a function: files hold no code.
    """
    return read_saved(path, *container.read(path), rule)


def read_saved(
    path: str | os.PathLike[str],
    kind: str,
    root: Section,
    rule: Callable[[float, float], float] | rules.Custom | None = None,
) -> SavedPerceptron:
    """Read a perceptron from the root section of a file; `path` is for error messages."""
    name = root.facts.get("function")
    if name is None and rule is not None:
        raise ModelFileError(f"{os.fspath(path)} knows its rule; rule= is only for models trained by a function.")
    if name is not None and rule is None:
        raise ModelFileError(
            f"{os.fspath(path)} was trained by a function of its user, {name!r}, and a file holds no "
            f"code: pass that function, nk.load({os.fspath(path)!r}, rule={name})."
        )
    function = None if rule is None else rules.resolve(rule)
    if not isinstance(function, rules.Custom | None):
        raise ModelFileError(
            f"{os.fspath(path)} was trained by a function, {name!r}: rule must be that function, found {rule!r}."
        )
    return _read_saved(kind, root, function)


def _read_saved(kind: str, root: Section, function: rules.Custom | None) -> SavedPerceptron:
    model = read_model(root, function)
    parameters = read_named(root.part("parameters"), function)
    fitted = read_named(root.part("fitted"))
    root.require(_are_consistent(fitted, model), f"{', '.join(fitted)} do not go with the weights")
    return SavedPerceptron(kind, model, parameters, fitted)


def _are_consistent(fitted: dict[str, Any], model: Model) -> bool:
    """Return whether the fitted attributes agree with the model."""
    if not all(type(value) is _FITTED.get(name) for name, value in fitted.items()):
        return False
    known = list(model.vocabulary) if model.vocabulary is not None else None
    columns = fitted.get("n_features_in_", model.n_features)
    if "feature_names_in_" in fitted:  # dicts may have added names after `fit`
        return known is not None and fitted["feature_names_in_"].tolist() == known[:columns]
    return columns == model.n_features and fitted.get("n_iter_", 0) >= 0


def _find_function(root: Section, saved: SavedPerceptron) -> rules.Custom | None:
    """Return the user's function that is needed to load the model again, if there is one."""
    in_use = [saved.model.learner.rule]
    if "rule" in saved.parameters:
        in_use.append(rules.resolve(saved.parameters["rule"]))
    functions = [rule for rule in in_use if isinstance(rule, rules.Custom)]
    if any(rule != functions[0] for rule in functions):
        root.fail("its rule was changed from one function to another and not used since; change it back")
    return functions[0] if functions else None
