"""What constructors are given, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.errors import DataError

__all__ = ["one_of", "whole"]


def whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise DataError(f"{name} must be a whole number from {low:,} to {high:,}; found {value!r}.")
    return int(value)


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        raise DataError(f"{name} must be one of {', '.join(map(repr, choices))}; found {value!r}.")
    return str(value)
