"""Checks that the fields of a certificate have the types that they should.

Checked first of all, so that a field of another type is refused like any other false claim, and does not fail somewhere
in the arithmetic. Numbers are integers, floats or Fractions: strings that look like numbers, and booleans, are not.
Uses no code of the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError

__all__ = [
    "require_array",
    "require_integers",
    "require_label",
    "require_numbers",
    "require_row_indices",
    "require_sequence",
    "require_type",
]


def require_type(name: str, value: Any, *types: type) -> None:
    """Raise a CertificateError unless a field is of one of these types."""
    if not isinstance(value, types):
        raise _wrong_type(name, " or ".join(kind.__name__ for kind in types), value)


def require_numbers(**fields: Any) -> None:
    """Raise a CertificateError unless these fields are real numbers."""
    for name, value in fields.items():
        if not _is_number(value):
            raise _wrong_type(name, "a real number", value)


def require_integers(**fields: Any) -> None:
    """Raise a CertificateError unless these fields are integers."""
    for name, value in fields.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
            raise _wrong_type(name, "an integer", value)


def require_array(**fields: Any) -> None:
    """Raise a CertificateError unless these fields are 1-D arrays of real numbers."""
    for name, value in fields.items():
        is_array = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiuO"
        if not is_array or (value.dtype.kind == "O" and not all(map(_is_number, value.tolist()))):
            raise _wrong_type(name, "a 1-D array of real numbers", value)


def require_row_indices(**fields: Any) -> None:
    """Raise a CertificateError unless these fields are 1-D arrays of integers."""
    for name, value in fields.items():
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "iu":
            raise _wrong_type(name, "a 1-D array of integers", value)


def require_sequence(**fields: Any) -> None:
    """Raise a CertificateError unless these fields are sequences of real numbers."""
    for name, value in fields.items():
        if not isinstance(value, (Sequence, np.ndarray)) or not all(map(_is_number, value)):
            raise _wrong_type(name, "a sequence of real numbers", value)


def require_label(**fields: Any) -> None:
    """Raise a CertificateError if these fields, labels or None, are arrays or other collections."""
    for name, value in fields.items():
        if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes)):
            raise _wrong_type(name, "a single label", value)


def _is_number(value: Any) -> bool:
    is_boolean = isinstance(value, (bool, np.bool_))
    return isinstance(value, (int, float, Fraction, np.integer, np.floating)) and not is_boolean


def _wrong_type(name: str, expected: str, value: Any) -> CertificateError:
    return CertificateError(f"The field {name} should be {expected}; found {value!r} ({type(value).__name__}).")
