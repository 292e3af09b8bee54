"""Certificates in feature space checked in exact arithmetic, by code that shares nothing with the search.

Rows are known by their inner products K(x, z); checked_kernel_values.py says where these come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checked_kernel_values import Distances, Products
from novikoff.theory.checker import as_exact, proportional, require_rows

__all__ = ["check_length", "check_radius", "check_separator", "check_support", "check_witness"]

_UNIT = 2.0**-52


def check_witness(products: Products, signs: np.ndarray, rows: np.ndarray, multipliers: Sequence[Fraction]) -> None:
    """sum_j multipliers_j y_j K(x_j, x_i) = 0 for each of the rows, so that sum multipliers * y * x has length 0: no
    function of the space has all these rows strictly on their side."""
    require_rows(rows, signs)
    whole = proportional(multipliers)
    if len(rows) != len(whole) or not all(multiplier > 0 for multiplier in whole):
        raise CertificateError("A witness needs one multiplier > 0 for each of its rows.")
    weights = _signed(whole, signs[rows])
    points = products.points(rows)
    totals = dict.fromkeys(points, 0)
    for point, weight in zip(points, weights.tolist(), strict=True):
        totals[point] += weight
    if not any(totals.values()):
        return  # equal rows cancel, whatever the kernel
    K, _, off = products(rows, rows)
    if off or any((K @ weights).tolist()):
        raise CertificateError("The rows do not cancel: some K(x, .) of theirs does not add up to 0.")


def check_separator(products: Products, signs: np.ndarray, alpha: np.ndarray, margin: float | Fraction) -> None:
    """y f(x) >= margin |f| for every row with a sign, and margin > 0, where f = sum alpha K(x, .)."""
    used = _used(alpha, signs)
    (least,) = as_exact([margin])
    if not least > 0:
        raise CertificateError(f"A separator needs a margin > 0, not {margin!r}.")
    asked = _near(products, signs, alpha, used, margin)
    if not asked.size:
        return
    weights = np.array(proportional(alpha[used]), object)
    needed = least**2 * _squared_norm(products, used, weights)
    K, scale, off = products(asked, used)
    lost = off * sum(abs(weight) for weight in weights.tolist())
    for row, score in zip(asked.tolist(), (K @ weights).tolist(), strict=True):
        score = score * int(signs[row]) - lost
        if score <= 0 or (score * Fraction(2) ** scale) ** 2 < needed:
            raise CertificateError(f"Row {row} is not on its side of the separator by the margin {margin!r}.")


def check_length(
    products: Products, signs: np.ndarray, alpha: np.ndarray, lower: float | Fraction, upper: float
) -> None:
    """|f| = 1 but for rounding, where f = sum alpha K(x, .); or, if alpha is made of Fractions, lower <= |f| <= upper.

    Rounding each K and each of their sums moves |f|^2 by units of (sum |alpha| |x|)^2 <= k sum alpha^2 K(x, x), k rows.
    """
    used = _used(alpha, signs)
    exact = as_exact(alpha[used])
    if np.asarray(alpha).dtype.kind == "f":
        moved = len(used) * sum(a * a * square for a, square in zip(exact, products.squares(used), strict=True))
        slack = Fraction(16 * (len(used) + 16 + products.units(used)), 2**52) * moved
        if _is_unit_in_doubles(products, used, alpha, float(slack)):
            return
        least, most = 1 - slack, 1 + slack
    else:
        least, most = (margin**2 for margin in as_exact([lower, upper]))
    common = math.lcm(*(value.denominator for value in exact))
    weights = np.array([int(value * common) for value in exact], object)
    squared = _squared_norm(products, used, weights) / common**2
    if not least <= squared <= most:
        expected = "1" if np.asarray(alpha).dtype.kind == "f" else f"from {lower!r} to {upper!r}"
        raise CertificateError(f"The separator has the length {math.sqrt(squared)!r}, not {expected}.")


def check_support(
    products: Products, signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray, margin: float
) -> None:
    """|sum multipliers * y * x| <= margin for weights that sum to 1: no separator has a larger margin."""
    require_rows(rows, signs)
    whole = proportional(multipliers)
    (most,) = as_exact([margin])
    if len(rows) != len(whole) or not all(m >= 0 for m in whole) or not sum(whole):
        raise CertificateError("Support rows need one multiplier >= 0 each, not all of them 0.")
    weights = _signed(whole, signs[rows])
    if most < 0 or (
        not _is_shorter_in_doubles(products, rows, multipliers, signs, margin)
        and _squared_norm(products, rows, weights) > (most * sum(whole)) ** 2
    ):
        raise CertificateError(f"The support rows do not prove that the margin is at most {margin!r}.")


def check_radius(products: Products, signs: np.ndarray, radius: float) -> None:
    """K(x, x) <= radius^2 for every row with a sign; and for one row it is no less, but for rounding."""
    (most,) = as_exact([radius])
    asked = np.flatnonzero(signs)
    longest = Fraction(0)
    for row, squared in zip(asked.tolist(), products.squares(asked), strict=True):
        if most < 0 or squared > most**2:
            raise CertificateError(f"Row {row} is longer than the radius {radius!r}.")
        longest = max(longest, squared)
    if longest < min(most**2 * (1 - Fraction(1, 2**48)), Fraction(math.nextafter(most, 0.0)) ** 2):
        raise CertificateError(f"No row is as long as the radius {radius!r}.")


def _used(alpha: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The rows that a separator has weights for."""
    used = np.flatnonzero(alpha)
    if len(alpha) != len(signs) or not len(used) or (signs[used] == 0).any():
        raise CertificateError("A separator needs one weight for each row, not all 0, and none for others.")
    return used


def _signed(whole: list[int], signs: np.ndarray) -> np.ndarray:
    return np.array([factor * int(sign) for factor, sign in zip(whole, signs, strict=True)], object)


def _squared_norm(products: Products, rows: np.ndarray, weights: np.ndarray) -> Fraction:
    """What |sum weights * x|^2 does not exceed; it is no less where the products are exact."""
    K, scale, off = products(rows, rows)
    lost = off * sum(abs(weight) for weight in weights.tolist()) ** 2
    return (int(weights @ K @ weights) + lost) * Fraction(2) ** scale


# -- doubles first, where exact values take long


def _near(
    products: Products, signs: np.ndarray, alpha: np.ndarray, used: np.ndarray, margin: float | Fraction
) -> np.ndarray:
    """Rows with a sign that doubles cannot put beyond the margin."""
    asked = np.flatnonzero(signs)
    if not isinstance(products, Distances) or alpha.dtype.kind != "f" or not isinstance(margin, float):
        return asked
    w = alpha[used].astype(np.float64)
    K, off = products.in_doubles(asked, used)
    slopes = K @ w
    total = float(np.abs(w).sum())
    lost = _lost(off, len(used)) * total
    squared = float(w @ slopes[np.searchsorted(asked, used)]) + lost * total
    if not 1e-280 < squared < 1e280:
        return asked
    needed = margin * math.sqrt(squared) * (1.0 + 8.0 * _UNIT)
    return asked[~(slopes * signs[asked] - lost > needed)]


def _is_shorter_in_doubles(
    products: Products, rows: np.ndarray, multipliers: np.ndarray, signs: np.ndarray, margin: float
) -> bool:
    """Whether doubles suffice to see that |sum multipliers * y * x| <= margin * sum multipliers."""
    if not isinstance(products, Distances) or np.asarray(multipliers).dtype.kind != "f" or not 1e-140 < margin < 1e140:
        return False
    w = multipliers * signs[rows]
    K, off = products.in_doubles(rows, rows)
    total = float(multipliers.sum()) * (1.0 - (len(rows) + 4) * _UNIT)
    largest = float(multipliers.sum()) * (1.0 + (len(rows) + 4) * _UNIT)
    squared = float(w @ (K @ w)) + 2.0 * _lost(off, len(rows)) * largest * largest
    return squared < (margin * total) ** 2 * (1.0 - 8.0 * _UNIT)


def _is_unit_in_doubles(products: Products, used: np.ndarray, alpha: np.ndarray, slack: float) -> bool:
    """Whether doubles suffice to see that |sum alpha * x|^2 is 1, give or take the slack."""
    if not isinstance(products, Distances):
        return False
    w = alpha[used].astype(np.float64)
    K, off = products.in_doubles(used, used)
    return abs(float(w @ (K @ w)) - 1.0) + 2.0 * _lost(off, len(used)) * float(np.abs(w).sum()) ** 2 < slack


def _lost(off: float, count: int) -> float:
    """By how much a sum of so many kernels, at most 2 each, with weights that sum to 1, may be off."""
    return off + 4.0 * (count + 4) * _UNIT
