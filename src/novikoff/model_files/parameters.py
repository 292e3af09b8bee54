"""Named values in a model file: what a constructor was given, and what `fit` found.

A value is None, a bool, a number, a string, a list or tuple of those, an array, a rule or a RandomState. Numpy's
numbers come back as Python's, other containers of labels (a pandas Series) as arrays: equal, and used alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.model_files.models import put_rule, take_rule
from novikoff.model_files.section import Section
from novikoff.model_files.values import as_array, put_dtype, put_values, take_dtype, take_values

__all__ = ["put_named", "take_named"]

_KEYS = 624  # words in the state of the Mersenne twister


def put_named(section: Section, values: Mapping[str, Any]) -> None:
    """Keep values by name.

    >>> from novikoff.model_files import Section, put_named, take_named
    >>> section = Section("")
    >>> put_named(section, {"max_iter": 7, "classes": ("ham", "spam"), "random_state": np.random.RandomState(0)})
    >>> found = take_named(section)
    >>> found["max_iter"], found["classes"], found["random_state"].randint(100)
    (7, ('ham', 'spam'), 44)
    """
    for name, value in values.items():
        _put(section.open(name), value)


def take_named(section: Section, function: rules.Custom | None = None) -> dict[str, Any]:
    """The values that `put_named` kept; `function` stands for a rule that is code."""
    return {name: _take(section.part(name), function) for name in section.facts}


def _put(section: Section, value: Any) -> None:
    if isinstance(value, np.random.RandomState):
        _put_random_state(section, value)
    elif isinstance(value, rules.Rule):
        section.facts["is"] = "rule"
        put_rule(section, value)
    elif _is_plain(value):
        section.facts |= {"is": "plain", "value": _plain(value)}
    elif isinstance(value, (list, tuple)) and all(map(_is_nested, value)):
        section.facts |= {"is": type(value).__name__, "value": _plain(value)}
    elif callable(value):
        section.facts["is"] = "function"
    elif hasattr(value, "__array__") or isinstance(value, (list, tuple, range)):
        _put_array(section, np.asarray(value))
    else:
        section.fail(f"{section.path} is {value!r}, which a file cannot keep; use numbers, strings or arrays")


def _take(section: Section, function: rules.Custom | None) -> Any:
    kind = section.fact("is", str)
    if kind == "plain":
        section.require(_is_plain(section.facts.get("value")), f"{section.path} is not a plain value")
        return section.facts.get("value")
    if kind in ("list", "tuple"):
        found = section.fact("value", list)
        section.require(all(map(_is_nested, found)), f"{section.path} is not a list of plain values")
        return found if kind == "list" else tuple(found)
    if kind == "array":
        return _take_array(section)
    if kind == "random_state":
        return _take_random_state(section)
    section.require(kind in ("rule", "function"), f"{section.path} is {kind!r}")
    if kind == "rule":
        rule = Section(section.complaint, {k: v for k, v in section.facts.items() if k != "is"}, {}, section.path)
        return take_rule(rule, function)
    section.require(function is not None, f"{section.path} is a function")
    assert function is not None
    return function.function


# -- plain values


def _is_plain(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return math.isfinite(value)
    return value is None or isinstance(value, (bool, int, str, np.bool_, np.integer))


def _is_nested(value: Any) -> bool:
    """A plain value, or a list of them: the rows of a separator."""
    return _is_plain(value) or (isinstance(value, (list, tuple)) and all(map(_is_plain, value)))


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


# -- arrays


def _put_array(section: Section, array: np.ndarray) -> None:
    section.facts["is"] = "array"
    section.facts["is_numbers"] = array.dtype.kind in "iuf" and array.dtype.itemsize <= 8
    if section.facts["is_numbers"]:
        section.put("array", array.astype(array.dtype.newbyteorder("="), copy=False))
        return
    if array.ndim != 1:
        section.fail(
            f"{section.path} is an array of shape {array.shape} and dtype {array.dtype}, which a file cannot "
            "keep; use one axis, or numbers"
        )
    put_values(section, array.tolist())
    put_dtype(section, array.dtype)


def _take_array(section: Section) -> np.ndarray:
    if not section.fact("is_numbers", bool):
        return as_array(section, take_values(section), take_dtype(section))
    found = section.tensors.get(section.place("array"))
    if found is None:
        section.fail(f"{section.place('array')} is missing")
    return found


# -- generators


def _put_random_state(section: Section, generator: np.random.RandomState) -> None:
    """Where a generator stands. The copy in the file goes on from there by itself."""
    state: Any = generator.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        section.fail(
            f"{section.path} is a RandomState over {state['bit_generator']}, which a file cannot keep; use an integer"
        )
    section.facts |= {"is": "random_state", "position": int(state["state"]["pos"])}
    section.put("keys", state["state"]["key"])
    section.put("gauss", np.array([state["has_gauss"], state["gauss"]], np.float64))


def _take_random_state(section: Section) -> np.random.RandomState:
    keys, position = section.tensor("keys", np.uint32, (_KEYS,)), section.fact("position", int)
    has_gauss, gauss = section.finite("gauss", np.float64, (2,)).tolist()
    section.require(position <= _KEYS and has_gauss in (0.0, 1.0), f"{section.path} is no state of a RandomState")
    generator = np.random.RandomState(0)
    generator.set_state(("MT19937", keys, position, int(has_gauss), gauss))
    return generator
