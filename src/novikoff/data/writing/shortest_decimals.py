"""Numbers as text, with the fewest digits that are read back as the same double."""

from __future__ import annotations

import numpy as np

__all__ = ["format_number", "format_numbers"]


def format_number(value: float) -> str:
    """Format a number, without ".0" if it is an integer; but -0.0 keeps it, because JSON would read -0 as 0.

    >>> from novikoff.data.writing.shortest_decimals import format_number
    >>> format_number(0.1), format_number(3.0), format_number(-0.0), format_number(1e300)
    ('0.1', '3', '-0.0', '1e+300')
    """
    return _without_point_zero(repr(float(value)))


def format_numbers(values: np.ndarray, missing: str = "") -> list[str]:
    """Format numbers, with `missing` for NaN."""
    texts = [_without_point_zero(text) for text in map(repr, values.tolist())]
    for row in np.flatnonzero(np.isnan(values)).tolist():
        texts[row] = missing
    return texts


def _without_point_zero(text: str) -> str:
    return text[:-2] if text[-2:] == ".0" and text != "-0.0" else text
