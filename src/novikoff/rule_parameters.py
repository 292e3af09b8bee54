"""Parameters of rules, as plain numbers."""

from __future__ import annotations

from numbers import Real

from novikoff.errors import RuleError

__all__ = ["convert_to_float"]


def convert_to_float(rule: object, name: str) -> None:
    """Make a parameter a Python float: a NumPy scalar would pass its type on to the weights, step by step."""
    value = getattr(rule, name)
    if not isinstance(value, Real):
        raise RuleError(f"{type(rule).__name__}: {name} must be a number, found {value!r}.")
    object.__setattr__(rule, name, float(value))
