"""Numbers as text: the fewest digits that are read back as the same double."""

from __future__ import annotations

import numpy as np

__all__ = ["number_text", "number_texts"]


def number_text(value: float) -> str:
    """One number, without ".0" if it is whole; but -0.0 keeps it, which JSON would take for 0.

    >>> from novikoff.data.writing.shortest_decimals import number_text
    >>> number_text(0.1), number_text(3.0), number_text(-0.0), number_text(1e300)
    ('0.1', '3', '-0.0', '1e+300')
    """
    return _short(repr(float(value)))


def number_texts(values: np.ndarray, missing: str = "") -> list[str]:
    """Many of them, and `missing` for NaN."""
    texts = [_short(text) for text in map(repr, values.tolist())]
    for row in np.flatnonzero(np.isnan(values)).tolist():
        texts[row] = missing
    return texts


def _short(text: str) -> str:
    return text[:-2] if text[-2:] == ".0" and text != "-0.0" else text
