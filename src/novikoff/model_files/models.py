"""Models of perceptrons in model files: learner, state, labels and feature names."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from novikoff import hypotheses, rules
from novikoff.errors import NovikoffError
from novikoff.hypotheses import Hypothesis
from novikoff.inputs.labels import Labels
from novikoff.model_files.section import Section
from novikoff.model_files.states import read_state, write_state
from novikoff.model_files.values import read_dtype, read_values, to_array, write_dtype, write_values
from novikoff.model_files.weights import read_weights, write_weights
from novikoff.perceptron.find_engine import find_engine
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.model import Model

__all__ = ["read_labels", "read_model", "read_rule", "write_labels", "write_model", "write_rule"]

_RULES: dict[str, Any] = {kind.__name__: kind for kind in rules.VALUES}
_HYPOTHESES = {hypotheses.resolve(name): name for name in hypotheses.NAMES}


def write_model(section: Section, model: Model) -> None:
    """Write a model."""
    model = model.snapshot()  # other threads may be learning
    _write_learner(section.add_part("learner"), model.learner)
    write_labels(section.add_part("labels"), model.labels)
    section.facts["has_names"] = model.vocabulary is not None
    if model.vocabulary is not None:
        write_values(section.add_part("names"), model.vocabulary)
    write_state(section.add_part("state"), model.state)


def read_model(section: Section, function: rules.Custom | None = None) -> Model:
    """Read a model; `function` is its rule if that is a user's function."""
    labels = read_labels(section.part("labels"))
    n_vectors = len(labels) if len(labels) > 2 else 1
    hypothesis = _read_hypothesis(section.part("learner"))
    engine = find_engine(read_rule(section.part("learner").part("rule"), function))
    state = read_state(section.part("state"), hypothesis, n_vectors, engine)
    learner = _read_learner(section.part("learner"), hypothesis, state.raw.coef.shape, function)
    names = read_values(section.part("names")) if section.fact("has_names", bool) else None
    if names is not None:
        section.require(len(set(names)) == len(names), "two features have the same name")
        section.require(len(names) == state.n_features, f"{len(names)} names for {state.n_features} features")
    return Model(learner, labels, state, names)


# -- the learner


def _write_learner(section: Section, learner: Learner) -> None:
    write_rule(section.add_part("rule"), learner.rule)
    name = _HYPOTHESES.get(learner.hypothesis)
    if name is None:
        section.fail(f"the hypothesis {learner.hypothesis!r} is code, which a file does not hold")
    section.facts |= {"hypothesis": name, "ties": learner.ties, "fit_intercept": bool(learner.fit_intercept)}
    section.facts["has_separator"] = learner.separator is not None
    if learner.separator is not None:
        write_weights(section.add_part("separator"), learner.separator)


def _read_hypothesis(section: Section) -> Hypothesis:
    name = section.fact("hypothesis", str)
    section.require(name in hypotheses.NAMES, f"its hypothesis is {name!r}")
    return hypotheses.resolve(name)


def _read_learner(
    section: Section, hypothesis: Hypothesis, shape: tuple[int, int], function: rules.Custom | None
) -> Learner:
    has_separator = section.fact("has_separator", bool)
    rule, ties = read_rule(section.part("rule"), function), section.fact("ties", str)
    try:
        return Learner(
            rule=rule,
            hypothesis=hypothesis,
            ties=ties,
            fit_intercept=section.fact("fit_intercept", bool),
            separator=read_weights(section.part("separator"), *shape) if has_separator else None,
        )
    except NovikoffError as error:
        section.fail(str(error), error)


def write_rule(section: Section, rule: rules.Rule) -> None:
    """Write the type and the parameters of a rule; of a user's function, only its name."""
    section.facts["type"] = type(rule).__name__
    if isinstance(rule, rules.Custom):
        section.facts["function"] = function_name(rule)
        return
    for each in dataclasses.fields(rule):
        value = getattr(rule, each.name)
        value = value.item() if isinstance(value, np.generic) else value
        section.facts[each.name] = "inf" if value == math.inf else value


def read_rule(section: Section, function: rules.Custom | None) -> rules.Rule:
    """Read a rule; return `function` if the rule is a user's function."""
    name = section.fact("type", str)
    section.require(name in _RULES, f"its rule is of type {name!r}")
    if _RULES[name] is rules.Custom:
        section.require(function is not None, "its rule is a function")
        assert function is not None
        return function
    given = {name: math.inf if value == "inf" else value for name, value in section.facts.items() if name != "type"}
    try:
        for value in given.values():
            float(0 if isinstance(value, str) else value)  # an integer that no float holds is an error
        return _RULES[name](**given)
    except (NovikoffError, TypeError, OverflowError) as error:
        section.fail(f"its rule is {section.facts!r}", error)


def function_name(rule: rules.Custom) -> str:
    """Return the name of the function of a rule."""
    return str(getattr(rule.function, "__qualname__", type(rule.function).__name__))


# -- labels


def write_labels(section: Section, labels: Labels) -> None:
    """Write the labels learned so far, with their types."""
    write_values(section, labels.known)
    write_dtype(section, labels.as_array().dtype)


def read_labels(section: Section) -> Labels:
    """Read labels. They must be sorted: the class code of a label is its index."""
    known = read_values(section)
    array = to_array(section, known, read_dtype(section))
    try:
        labels = Labels(known, array)
    except NovikoffError as error:
        section.fail(str(error), error)
    section.require(labels.known == known and len(labels.codes) == len(known), f"{section.path} are not sorted")
    return labels
