"""Doubles and Fractions as exact integers: the arithmetic of all checkers.

Doubles are rationals: a row of doubles is a row of integers times a power of two, so sums of integers decide every
claim without rounding. Where a square root is needed, it is rounded to the safe side. Uses no code of the search.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError

__all__ = [
    "double_above_root",
    "fraction_above_root",
    "relative_rounding",
    "to_fractions",
    "to_integers",
    "to_proportional_integers",
]


def to_fractions(values: Any) -> list[Fraction]:
    """Convert finite numbers to Fractions; not strings, although Fraction would read them."""
    numbers = np.asarray(values).tolist()
    if any(isinstance(value, (str, bytes)) for value in numbers):
        raise CertificateError(f"A certificate is made of numbers, not of strings: {numbers!r}.")
    try:
        return [Fraction(value) for value in numbers]
    except (TypeError, ValueError, OverflowError) as error:
        raise CertificateError(f"A certificate is made of finite numbers: {error}.") from error


def to_integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Convert doubles to Python integers and a scale, so that each value is its integer times 2**scale."""
    if not np.isfinite(values).all():
        raise CertificateError("Found NaN or infinity: a certificate is about finite numbers.")
    mantissas, exponents = np.frexp(values)
    integers = (mantissas * 2.0**53).astype(np.int64)
    exponents = np.where(integers == 0, 0, exponents.astype(np.int64) - 53)
    scale = int(exponents[integers != 0].min()) if integers.any() else 0
    shifts = np.where(integers == 0, 0, exponents - scale)
    return integers.astype(object) * (np.array(2, object) ** shifts.astype(object)), scale


def to_proportional_integers(values: Any) -> list[int]:
    """Convert doubles or Fractions to integers in the same proportions."""
    values = np.asarray(values)
    if values.dtype.kind == "f":
        return to_integers(values.astype(np.float64))[0].tolist()
    exact = to_fractions(values)
    common = math.lcm(*(value.denominator for value in exact))
    return [value.numerator * (common // value.denominator) for value in exact]


def relative_rounding(n_terms: int) -> Fraction:
    """Return how far rounding may move a sum of so many squares, as a fraction of it, in whatever order it was
    formed."""
    return Fraction(8 * (n_terms + 8), 2**52)


def double_above_root(squared: Fraction) -> float:
    """Return a double that is not below the square root."""
    bits = max(0, 64 + (squared.denominator.bit_length() - squared.numerator.bit_length()) // 2)
    root = Fraction(math.isqrt((squared.numerator << 2 * bits) // squared.denominator) + 1, 1 << bits)
    try:
        return float(np.nextafter(float(root), np.inf))
    except OverflowError:
        return math.inf


def fraction_above_root(squared: Fraction) -> Fraction:
    """Return a Fraction that is not below the square root, and above it by 2^-60 of it at most."""
    bits = max(0, 64 + (squared.denominator.bit_length() - squared.numerator.bit_length()) // 2)
    scaled = squared.numerator << 2 * bits
    root = math.isqrt(scaled // squared.denominator)
    return Fraction(root if root * root * squared.denominator == scaled else root + 1, 1 << bits)
