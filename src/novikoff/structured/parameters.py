"""Checks of constructor parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.errors import DataError

__all__ = ["check_choice", "check_integer"]


def check_integer(name: str, value: Any, low: int, high: int) -> int:
    """Return a parameter that must be an integer from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise DataError(f"{name} must be an integer from {low:,} to {high:,}; found {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return a parameter that must be one of a few strings."""
    if value not in choices:
        raise DataError(f"{name} must be one of {', '.join(map(repr, choices))}; found {value!r}.")
    return str(value)
