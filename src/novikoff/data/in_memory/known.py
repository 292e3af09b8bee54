"""KnownColumns: what a model knows of its columns, for reading more rows as it knows them; and missing values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.data.formats.columns import UnnamedColumns
from novikoff.data.formats.notations import Notation

__all__ = ["KnownColumns", "is_missing", "list_of"]

_BOOLEANS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))  # the first as Arrow and JSON write them


def is_missing(value: Any) -> bool:
    """Return whether a Python object stands for a missing value: None, NaN, and those of pandas, which is not imported.

    >>> from novikoff.data.in_memory.known import is_missing
    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def list_of(values: Any) -> list[Any] | None:
    """Return the values of an array, or of a Series of pandas, polars or Arrow; None if there is no such method."""
    method = next((name for name in ("tolist", "to_list", "to_pylist") if hasattr(values, name)), None)
    return None if method is None else getattr(values, method)()


def _has_none(column: str, value: str) -> bool:
    return False


@dataclass(frozen=True)
class KnownColumns:
    """The columns that a model has learned from.

    Attributes
    ----------
    kinds : dict of str to str
        What each holds: "number", "word" or "text".
    has_value : callable
        Whether the model has met a value in a categorical column.
    notations : dict of str to Notation
        How numbers in strings are written, where not plainly.
    unnamed : UnnamedColumns, optional
        The columns of tables without names, if it has learned from such.

    Examples
    --------
    >>> from novikoff.data.in_memory import KnownColumns
    >>> known = KnownColumns({"new": "word"}, lambda column, value: value == "False")
    >>> known.spell_booleans("new")
    ('True', 'False')
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    has_value: Callable[[str, str], bool] = _has_none
    notations: Mapping[str, Notation] = field(default_factory=dict)
    unnamed: UnnamedColumns | None = None

    def notation_of(self, column: str) -> Notation:
        """Return how numbers in strings are written."""
        return self.notations.get(column, Notation.PLAIN)

    def spell_booleans(self, column: str) -> tuple[str, str]:
        """Return the words for True and False in a categorical column, spelled as the model has met them."""
        for spelling in _BOOLEANS:
            if any(self.has_value(column, value) for value in spelling):
                return spelling
        return _BOOLEANS[0]
