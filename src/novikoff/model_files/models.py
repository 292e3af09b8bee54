"""A model in a file: the learner, its state, and the user's labels and names around them."""

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
from novikoff.model_files.states import put_state, take_state
from novikoff.model_files.values import as_array, put_dtype, put_values, take_dtype, take_values
from novikoff.model_files.weights import put_weights, take_weights
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.model import Model

__all__ = ["put_labels", "put_model", "put_rule", "take_labels", "take_model", "take_rule"]

_RULES: dict[str, Any] = {kind.__name__: kind for kind in rules.VALUES}
_HYPOTHESES = {hypotheses.resolve(name): name for name in hypotheses.NAMES}


def put_model(section: Section, model: Model) -> None:
    """Keep a model, wherever it is in its stream."""
    model = model.snapshot()  # other threads may learn meanwhile
    _put_learner(section.open("learner"), model.learner)
    put_labels(section.open("labels"), model.labels)
    section.facts["has_names"] = model.vocabulary is not None
    if model.vocabulary is not None:
        put_values(section.open("names"), model.vocabulary)
    put_state(section.open("state"), model.state)


def take_model(section: Section, function: rules.Custom | None = None) -> Model:
    """The model that `put_model` kept; `function` is its rule if that is code."""
    labels = take_labels(section.part("labels"))
    n_vectors = len(labels) if len(labels) > 2 else 1
    hypothesis = _hypothesis(section.part("learner"))
    state = take_state(section.part("state"), hypothesis, n_vectors)
    learner = _take_learner(section.part("learner"), hypothesis, state.raw.coef.shape, function)
    names = take_values(section.part("names")) if section.fact("has_names", bool) else None
    if names is not None:
        section.require(len(set(names)) == len(names), "two features have the same name")
        section.require(len(names) == state.n_features, f"{len(names)} names for {state.n_features} features")
    return Model(learner, labels, state, names)


# -- the learner


def _put_learner(section: Section, learner: Learner) -> None:
    put_rule(section.open("rule"), learner.rule)
    name = _HYPOTHESES.get(learner.hypothesis)
    if name is None:
        section.fail(f"the hypothesis {learner.hypothesis!r} is code, which a file does not hold")
    section.facts |= {"hypothesis": name, "ties": learner.ties, "fit_intercept": bool(learner.fit_intercept)}
    section.facts["has_separator"] = learner.separator is not None
    if learner.separator is not None:
        put_weights(section.open("separator"), learner.separator)


def _hypothesis(section: Section) -> Hypothesis:
    name = section.fact("hypothesis", str)
    section.require(name in hypotheses.NAMES, f"its hypothesis is {name!r}")
    return hypotheses.resolve(name)


def _take_learner(
    section: Section, hypothesis: Hypothesis, shape: tuple[int, int], function: rules.Custom | None
) -> Learner:
    has_separator = section.fact("has_separator", bool)
    rule, ties = take_rule(section.part("rule"), function), section.fact("ties", str)
    try:
        return Learner(
            rule=rule,
            hypothesis=hypothesis,
            ties=ties,
            fit_intercept=section.fact("fit_intercept", bool),
            separator=take_weights(section.part("separator"), *shape) if has_separator else None,
        )
    except NovikoffError as error:
        section.fail(str(error), error)


def put_rule(section: Section, rule: rules.Rule) -> None:
    """Keep a rule: its type and its parameters. Of a function only the name is kept."""
    section.facts["type"] = type(rule).__name__
    if isinstance(rule, rules.Custom):
        section.facts["function"] = name_of(rule)
        return
    for each in dataclasses.fields(rule):
        value = getattr(rule, each.name)
        value = value.item() if isinstance(value, np.generic) else value
        section.facts[each.name] = "inf" if value == math.inf else value


def take_rule(section: Section, function: rules.Custom | None) -> rules.Rule:
    """The rule that `put_rule` kept, or the function given for it."""
    name = section.fact("type", str)
    section.require(name in _RULES, f"its rule is of type {name!r}")
    if _RULES[name] is rules.Custom:
        section.require(function is not None, "its rule is a function")
        assert function is not None
        return function
    given = {name: math.inf if value == "inf" else value for name, value in section.facts.items() if name != "type"}
    try:
        for value in given.values():
            float(0 if isinstance(value, str) else value)  # a whole number that no float holds is an error
        return _RULES[name](**given)
    except (NovikoffError, TypeError, OverflowError) as error:
        section.fail(f"its rule is {section.facts!r}", error)


def name_of(rule: rules.Custom) -> str:
    """What a function is called."""
    return str(getattr(rule.function, "__qualname__", type(rule.function).__name__))


# -- labels


def put_labels(section: Section, labels: Labels) -> None:
    """Keep the labels met so far, with their types."""
    put_values(section, labels.known)
    put_dtype(section, labels.as_array().dtype)


def take_labels(section: Section) -> Labels:
    """Labels in their order; which class each is in the state follows from it."""
    known = take_values(section)
    array = as_array(section, known, take_dtype(section))
    try:
        labels = Labels(known, array)
    except NovikoffError as error:
        section.fail(str(error), error)
    section.require(labels.known == known and len(labels.codes) == len(known), f"{section.path} are not sorted")
    return labels
