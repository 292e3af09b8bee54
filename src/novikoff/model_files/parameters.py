"""Named values in model files: arguments of constructors, and attributes that `fit` sets.

A value is None, a bool, a number, a string, a list or tuple of those, an array, a rule, a RandomState, or a dict from
labels to numbers. NumPy scalars are read back as Python numbers, other containers of labels (a pandas Series) as
arrays: equal, and used alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.model_files.models import read_rule, write_rule
from novikoff.model_files.section import Section
from novikoff.model_files.values import read_dtype, read_values, to_array, write_dtype, write_values

__all__ = ["read_named", "write_named"]

_KEYS = 624  # 32-bit integers in the state of the Mersenne twister


def write_named(section: Section, values: Mapping[str, Any]) -> None:
    """Write values by name.

    >>> from novikoff.model_files import Section, write_named, read_named
    >>> section = Section("")
    >>> write_named(section, {"max_iter": 7, "classes": ("ham", "spam"), "random_state": np.random.RandomState(0)})
    >>> found = read_named(section)
    >>> found["max_iter"], found["classes"], found["random_state"].randint(100)
    (7, ('ham', 'spam'), 44)
    """
    for name, value in values.items():
        _write_value(section.add_part(name), value)


def read_named(section: Section, function: rules.Custom | None = None) -> dict[str, Any]:
    """Read values by name; `function` replaces a rule that is a user's function."""
    return {name: _read_value(section.part(name), function) for name in section.facts}


def _write_value(section: Section, value: Any) -> None:
    if isinstance(value, np.random.RandomState):
        _write_random_state(section, value)
    elif isinstance(value, rules.Rule):
        section.facts["is"] = "rule"
        write_rule(section, value)
    elif _is_plain(value):
        section.facts |= {"is": "plain", "value": _to_plain(value)}
    elif isinstance(value, (list, tuple)) and all(map(_is_nested, value)):
        section.facts |= {"is": type(value).__name__, "value": _to_plain(value)}
    elif isinstance(value, dict) and all(map(_is_number, value.values())):
        section.facts["is"] = "dict"
        write_values(section.add_part("keys"), list(value))
        section.add_tensor("numbers", np.array(list(value.values()), np.float64))
    elif callable(value):
        section.facts["is"] = "function"
    elif hasattr(value, "__array__") or isinstance(value, (list, tuple, range)):
        _write_array(section, np.asarray(value))
    else:
        section.fail(f"{section.path} is {value!r}, which a file cannot keep; use numbers, strings or arrays")


def _read_value(section: Section, function: rules.Custom | None) -> Any:
    kind = section.fact("is", str)
    if kind == "plain":
        section.require(_is_plain(section.facts.get("value")), f"{section.path} is not a plain value")
        return section.facts.get("value")
    if kind in ("list", "tuple"):
        values = section.fact("value", list)
        section.require(all(map(_is_nested, values)), f"{section.path} is not a list of plain values")
        return values if kind == "list" else tuple(values)
    if kind == "array":
        return _read_array(section)
    if kind == "dict":
        return _read_dict(section)
    if kind == "random_state":
        return _read_random_state(section)
    section.require(kind in ("rule", "function"), f"{section.path} is {kind!r}")
    if kind == "rule":
        rule = Section(section.complaint, {k: v for k, v in section.facts.items() if k != "is"}, {}, section.path)
        return read_rule(rule, function)
    section.require(function is not None, f"{section.path} is a function")
    assert function is not None
    return function.function


# -- plain values


def _is_plain(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return math.isfinite(value)
    return value is None or isinstance(value, (bool, int, str, np.bool_, np.integer))


def _is_number(value: Any) -> bool:
    return _is_plain(value) and value is not None and not isinstance(value, str)


def _read_dict(section: Section) -> dict[Any, float]:
    keys = read_values(section.part("keys"))
    numbers = section.finite("numbers", np.float64, (len(keys),)).tolist()
    section.require(len(set(keys)) == len(keys), f"{section.path} has a key twice")
    return dict(zip(keys, numbers, strict=True))


def _is_nested(value: Any) -> bool:
    """Return whether a value is plain, or a list of plain values, as the rows of a separator are."""
    return _is_plain(value) or (isinstance(value, (list, tuple)) and all(map(_is_plain, value)))


def _to_plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_to_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


# -- arrays


def _write_array(section: Section, array: np.ndarray) -> None:
    section.facts["is"] = "array"
    section.facts["is_numbers"] = array.dtype.kind in "iuf" and array.dtype.itemsize <= 8
    if section.facts["is_numbers"]:
        section.add_tensor("array", array.astype(array.dtype.newbyteorder("="), copy=False))
        return
    if array.ndim != 1:
        section.fail(
            f"{section.path} is an array of shape {array.shape} and dtype {array.dtype}, which a file cannot "
            "keep; use one axis, or numbers"
        )
    write_values(section, array.tolist())
    write_dtype(section, array.dtype)


def _read_array(section: Section) -> np.ndarray:
    if not section.fact("is_numbers", bool):
        return to_array(section, read_values(section), read_dtype(section))
    array = section.tensors.get(section.full_name("array"))
    if array is None:
        section.fail(f"{section.full_name('array')} is missing")
    return array


# -- generators


def _write_random_state(section: Section, generator: np.random.RandomState) -> None:
    """Write the state of a generator."""
    state: Any = generator.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        section.fail(
            f"{section.path} is a RandomState over {state['bit_generator']}, which a file cannot keep; use an integer"
        )
    section.facts |= {"is": "random_state", "position": int(state["state"]["pos"])}
    section.add_tensor("keys", state["state"]["key"])
    section.add_tensor("gauss", np.array([state["has_gauss"], state["gauss"]], np.float64))


def _read_random_state(section: Section) -> np.random.RandomState:
    keys, position = section.tensor("keys", np.uint32, (_KEYS,)), section.fact("position", int)
    has_gauss, gauss = section.finite("gauss", np.float64, (2,)).tolist()
    section.require(position <= _KEYS and has_gauss in (0.0, 1.0), f"{section.path} is no state of a RandomState")
    generator = np.random.RandomState(0)
    generator.set_state(("MT19937", keys, position, int(has_gauss), gauss))
    return generator
