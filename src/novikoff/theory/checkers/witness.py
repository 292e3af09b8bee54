"""Checks that the rows of a witness cancel, so that no half-space gets all of them right.

Checked: sum multipliers * y * x = 0, exactly, with multipliers > 0 that are integers without a common factor, for no
more rows than Carathéodory's theorem needs. All sums are sums of integers: nothing is rounded. Uses no code of the
search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_fractions, to_proportional_integers
from novikoff.theory.checkers.rows import combine_rows, require_rows

__all__ = ["check_multipliers", "check_witness"]


def check_witness(
    X: Any, signs: np.ndarray, rows: np.ndarray, multipliers: Sequence[Fraction], constant: float
) -> None:
    """sum multipliers * y * x = 0 with positive multipliers: no half-space has all these rows strictly inside."""
    require_rows(rows, signs)
    integers = to_proportional_integers(multipliers)
    if len(rows) != len(integers) or not all(multiplier > 0 for multiplier in integers):
        raise CertificateError("A witness needs one multiplier > 0 for each of its rows.")
    sums, _ = combine_rows(X, signs, rows, integers, constant)
    if any(sums):
        raise CertificateError(f"The rows do not cancel: {sum(map(bool, sums))} coordinates do not add up to 0.")
    dimension = X.shape[1] + bool(constant)
    if len(rows) > dimension + 1:
        raise CertificateError(f"A witness in {dimension} dimensions needs no more than {dimension + 1} rows.")


def check_multipliers(multipliers: Sequence[Fraction]) -> None:
    """The multipliers of a witness are integers without a common factor."""
    exact = to_fractions(multipliers)
    if any(value.denominator != 1 for value in exact) or math.gcd(*(value.numerator for value in exact)) != 1:
        raise CertificateError("The multipliers of a witness should be integers without a common factor.")
