"""Checks of one example, a dict or a 1-D array: are all values finite numbers?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows, is_number, not_a_number

__all__ = ["CONVERSION_ERRORS", "check_example", "explain_bad_example"]

CONVERSION_ERRORS = (TypeError, ValueError, OverflowError)  # what arithmetic raises with values that are not numbers


def check_example(x: Any) -> float:
    """Return |x|^2 of a dict or an array; raise a DataError if a value is not a finite number or too large."""
    try:
        values = list(x.values()) if isinstance(x, dict) else x.tolist()
        squared_norm = sum(value * value for value in map(float, values))
        if squared_norm <= LARGEST_SQUARED_NORM and all(map(is_number, values)):
            return float(squared_norm)
    except CONVERSION_ERRORS:
        pass
    raise explain_bad_example(x)


def explain_bad_example(x: Any) -> DataError:
    """Return the error for an example with a value that is not a finite number, or too large."""
    if not isinstance(x, Mapping):
        return Rows.of(x.reshape(1, -1)).explain_bad_row(0)
    for name, value in x.items():
        if not is_number(value) or not value * value <= LARGEST_SQUARED_NORM:
            return not_a_number(name, value)
    return DataError("Input X contains values too large for dtype('float64') once squared and added up.")
