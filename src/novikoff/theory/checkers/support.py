"""Checks that no margin is larger, and no row longer, than a `Separable` says.

Checked: the point sum multipliers * y * x of the support rows is no farther from 0 than margin_upper, its multipliers
sum to 1, and the radius is the length of the longest row, rounded up. The first two are sums of integers. For the
radius, squared lengths are formed in doubles first, off by at most 2 (d + 4) u of each for d columns and u = 2^-53, and
rows that may be longer than the radius are computed again in integers. Uses no code of the search.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import relative_rounding, to_fractions, to_proportional_integers
from novikoff.theory.checkers.rows import (
    combine_rows,
    exact_squared_lengths,
    iterate_blocks,
    require_rows,
    squared_lengths,
)

__all__ = ["check_radius", "check_shares", "check_support", "require_support"]

_UNIT = 2.0**-53


def check_support(
    X: Any, signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray, margin: float, constant: float
) -> None:
    """|sum multipliers * y * x| <= margin for weights that sum to 1: no separator has a larger margin."""
    integers = require_support(signs, rows, multipliers)
    (most,) = to_fractions([margin])
    sums, scale = combine_rows(X, signs, rows, integers, constant)
    if most < 0 or sum(total * total for total in sums) * Fraction(4) ** scale > (most * sum(integers)) ** 2:
        raise CertificateError(f"The support rows do not prove that the margin is at most {margin!r}.")


def require_support(signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray) -> list[int]:
    """Require one multiplier >= 0 for each row, not all of them 0; return them as integers in the same proportions."""
    require_rows(rows, signs)
    integers = to_proportional_integers(multipliers)
    if len(rows) != len(integers) or not all(m >= 0 for m in integers) or not sum(integers):
        raise CertificateError("Support rows need one multiplier >= 0 each, not all of them 0.")
    return integers


def check_shares(multipliers: Any) -> None:
    """Multipliers sum to 1: exactly if they are Fractions, up to rounding if they are doubles."""
    total = sum(to_fractions(multipliers), Fraction(0))
    slack = relative_rounding(len(multipliers)) if np.asarray(multipliers).dtype.kind == "f" else Fraction(0)
    if abs(total - 1) > slack:
        raise CertificateError(f"The multipliers of the support sum to {float(total)!r}, not to 1.")


def check_radius(X: Any, signs: np.ndarray, radius: float, constant: float) -> None:
    """|x| <= radius for every row with a sign, the constant coordinate included; and one row is as long.

    As long means |x|^2 >= (1 - 8 (d + 8) 2^-52) radius^2, or |x| no less than the next double below the radius.
    """
    (most,) = to_fractions([radius])
    if most < 0:
        raise CertificateError(f"A radius is not negative, as {radius!r} is.")
    next_below = Fraction(math.nextafter(most, 0.0)) ** 2
    limit = most**2 - Fraction(constant)
    least = min(most**2 * (1 - relative_rounding(X.shape[1])), next_below) - Fraction(constant)
    # Squares below 2^-900 may have lost all their digits, and all rows are computed exactly.
    near = float(radius) * float(radius) * (1.0 - 4.0 * _UNIT) if most**2 > Fraction(1, 2**900) else 0.0
    is_reached, largest, longest_row = False, -1.0, None
    for rows, block in iterate_blocks(X, signs):
        rounding = 1.0 + 2.0 * _UNIT * (block.shape[1] + 4)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = squared_lengths(block)
            squares_above = (squares + constant) * rounding + block.shape[1] * 2.0**-1074
        doubtful = np.flatnonzero(~(squares_above < near))
        for row, exact in zip(rows[doubtful], exact_squared_lengths(block[doubtful]), strict=True):
            if exact > limit:
                raise CertificateError(f"Row {row} is longer than the radius {radius!r}.")
            is_reached = is_reached or exact >= least
        if squares.max() > largest:
            largest, longest_row = squares.max(), block[[int(squares.argmax())]]
    if not is_reached and (longest_row is None or exact_squared_lengths(longest_row)[0] < least):
        raise CertificateError(f"No row is as long as the radius {radius!r}.")
