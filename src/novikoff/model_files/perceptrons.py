"""Saved: what a file holds of a learner that a constructor made and data taught."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.errors import ModelFileError
from novikoff.model_files import container
from novikoff.model_files.models import name_of, put_model, take_model
from novikoff.model_files.parameters import put_named, take_named
from novikoff.model_files.section import Section
from novikoff.perceptron.model import Model

__all__ = ["Saved", "load", "save", "taken"]

_FITTED = {"n_iter_": int, "converged_": bool, "n_features_in_": int, "feature_names_in_": np.ndarray}


@dataclass(eq=False)
class Saved:
    """A learner as data.

    Attributes
    ----------
    kind : str
        Which learner: "perceptron".
    model : Model
        What it has learned, and how it goes on.
    parameters : dict
        What its constructor was given.
    fitted : dict
        What `fit` said of itself: passes, convergence, columns.

    Examples
    --------
    >>> from novikoff import Learner, model_files
    >>> from novikoff.perceptron.model import Model
    >>> model = Model(Learner())
    >>> model.learn_one({"free": 1, "money": 2}, "spam")
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "m.nk")
    ...     model_files.save(path, model_files.Saved("perceptron", model))
    ...     found = model_files.load(path)
    >>> found.model.predict_one({"money": 1}), found.model.ledger.mistakes
    ('spam', 1)
    """

    kind: str
    model: Model
    parameters: dict[str, Any] = field(default_factory=dict)
    fitted: dict[str, Any] = field(default_factory=dict)


def save(path: str | os.PathLike[str], saved: Saved, build: Callable[[Saved], object] | None = None) -> None:
    """Write a learner to a file. One that cannot be loaded again is refused, and the old file stays.

    Parameters
    ----------
    path : str or path
    saved : Saved
    build : function of a Saved, optional
        What makes an estimator of it, where the file is to be loaded as one; it raises an error if it cannot.
    """
    root = Section("The model cannot be saved")
    function = _function_of(root, saved)
    root.facts["function"] = None if function is None else name_of(function)
    put_model(root, saved.model)
    put_named(root.open("parameters"), saved.parameters)
    put_named(root.open("fitted"), saved.fitted)

    def load(found: Section) -> None:
        learner = _taken(saved.kind, found, function)
        if build is not None:
            build(learner)

    container.write(path, saved.kind, root, load)


def load(path: str | os.PathLike[str], rule: Callable[[float, float], float] | rules.Custom | None = None) -> Saved:
    """Read a learner from a file.

    Parameters
    ----------
    path : str or path
    rule : callable, optional
        The rule it was trained by, if that was a function: files hold no code.
    """
    return taken(path, *container.read(path), rule)


def taken(
    path: str | os.PathLike[str],
    kind: str,
    root: Section,
    rule: Callable[[float, float], float] | rules.Custom | None = None,
) -> Saved:
    """The same from the content of the file."""
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
    return _taken(kind, root, function)


def _taken(kind: str, root: Section, function: rules.Custom | None) -> Saved:
    model = take_model(root, function)
    parameters = take_named(root.part("parameters"), function)
    fitted = take_named(root.part("fitted"))
    root.require(_fits(fitted, model), f"{', '.join(fitted)} do not go with the weights")
    return Saved(kind, model, parameters, fitted)


def _fits(fitted: dict[str, Any], model: Model) -> bool:
    """Whether what `fit` said of itself can be true of this model."""
    if not all(type(value) is _FITTED.get(name) for name, value in fitted.items()):
        return False
    known = list(model.vocabulary) if model.vocabulary is not None else None
    columns = fitted.get("n_features_in_", model.n_features)
    if "feature_names_in_" in fitted:  # dicts may have brought more names since
        return known is not None and fitted["feature_names_in_"].tolist() == known[:columns]
    return columns == model.n_features and fitted.get("n_iter_", 0) >= 0


def _function_of(root: Section, saved: Saved) -> rules.Custom | None:
    """The one function that a model needs to be loaded again."""
    found = [saved.model.learner.rule]
    if "rule" in saved.parameters:
        found.append(rules.resolve(saved.parameters["rule"]))
    functions = [rule for rule in found if isinstance(rule, rules.Custom)]
    if any(rule != functions[0] for rule in functions):
        root.fail("its rule was changed from one function to another and not used since; change it back")
    return functions[0] if functions else None
