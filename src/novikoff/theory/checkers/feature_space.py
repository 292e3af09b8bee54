"""Checks certificates in the feature space of a kernel, by kernel values alone.

Checked: the claims of witness.py, separator.py and support.py, where <x, z> is K(x, z); kernel_values.py says where the
values come from. Values are integers times a power of two, known exactly or to a stated number of units, and a claim
passes only if it is true of every value in that range. Where exact values take long, doubles are tried first, and what
rounding does to them is bounded in `_rounding_of_sum`. Uses no code of the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_fractions, to_proportional_integers
from novikoff.theory.checkers.kernel_values import DistanceKernel, InnerProducts
from novikoff.theory.checkers.rows import require_rows
from novikoff.theory.checkers.support import require_support

__all__ = [
    "check_kernel_length",
    "check_kernel_radius",
    "check_kernel_separator",
    "check_kernel_support",
    "check_kernel_witness",
]

_UNIT = 2.0**-52
_MOST_SLACK = Fraction(1, 2**20)  # by which the squared length of a separator may differ from 1


def check_kernel_witness(
    products: InnerProducts, signs: np.ndarray, rows: np.ndarray, multipliers: Sequence[Fraction]
) -> None:
    """sum_j multipliers_j y_j K(x_j, x_i) = 0 for each of the rows, so that sum multipliers * y * x has length 0: no
    function of the space has all these rows strictly on their side."""
    require_rows(rows, signs)
    integers = to_proportional_integers(multipliers)
    if len(rows) != len(integers) or not all(multiplier > 0 for multiplier in integers):
        raise CertificateError("A witness needs one multiplier > 0 for each of its rows.")
    weights = _apply_signs(integers, signs[rows])
    keys = products.keys(rows)
    totals = dict.fromkeys(keys, 0)
    for key, weight in zip(keys, weights.tolist(), strict=True):
        totals[key] += weight
    if not any(totals.values()):
        return  # equal rows cancel, whatever the kernel
    K, _, error = products(rows, rows)
    if error or any((K @ weights).tolist()):
        raise CertificateError("The rows do not cancel: some K(x, .) of theirs does not add up to 0.")


def check_kernel_separator(
    products: InnerProducts, signs: np.ndarray, alpha: np.ndarray, margin: float | Fraction
) -> None:
    """y f(x) >= margin |f| for every row with a sign, and margin > 0, where f = sum alpha K(x, .)."""
    used = _used_rows(alpha, signs)
    (claimed,) = to_fractions([margin])
    if not claimed > 0:
        raise CertificateError(f"A separator needs a margin > 0, not {margin!r}.")
    doubtful = _doubtful_rows(products, signs, alpha, used, margin)
    if not doubtful.size:
        return
    weights = np.array(to_proportional_integers(alpha[used]), object)
    needed = claimed**2 * _squared_norm_above(products, used, weights)
    K, scale, error = products(doubtful, used)
    error_of_score = error * sum(abs(weight) for weight in weights.tolist())
    for row, score in zip(doubtful.tolist(), (K @ weights).tolist(), strict=True):
        score = score * int(signs[row]) - error_of_score
        if score <= 0 or (score * Fraction(2) ** scale) ** 2 < needed:
            raise CertificateError(f"Row {row} is not on its side of the separator by the margin {margin!r}.")


def check_kernel_length(
    products: InnerProducts, signs: np.ndarray, alpha: np.ndarray, lower: float | Fraction, upper: float
) -> None:
    """|f| = 1 up to rounding, where f = sum alpha K(x, .); or, if alpha is made of Fractions, lower <= |f| <= upper.

    Rounding each K and each of their sums moves |f|^2 by units of (sum |alpha| |x|)^2 <= k sum alpha^2 K(x, x), k rows.
    Where large alpha nearly cancel that could be anything; more than 2^-20 is not put down to rounding.
    """
    used = _used_rows(alpha, signs)
    exact = to_fractions(alpha[used])
    if np.asarray(alpha).dtype.kind == "f":
        moved = len(used) * sum(a * a * square for a, square in zip(exact, products.squares(used), strict=True))
        slack = min(_MOST_SLACK, Fraction(16 * (len(used) + 16 + products.rounding_units()), 2**52) * moved)
        if _is_unit_in_doubles(products, used, alpha, float(slack)):
            return
        least, most = 1 - slack, 1 + slack
    else:
        least, most = (margin**2 for margin in to_fractions([lower, upper]))
    common = math.lcm(*(value.denominator for value in exact))
    weights = np.array([int(value * common) for value in exact], object)
    squared = _squared_norm_above(products, used, weights) / common**2
    if not least <= squared <= most:
        expected = "1" if np.asarray(alpha).dtype.kind == "f" else f"from {lower!r} to {upper!r}"
        raise CertificateError(f"The separator has the length {math.sqrt(squared)!r}, not {expected}.")


def check_kernel_support(
    products: InnerProducts, signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray, margin: float
) -> None:
    """|sum multipliers * y * x| <= margin for weights that sum to 1: no separator has a larger margin."""
    integers = require_support(signs, rows, multipliers)
    (most,) = to_fractions([margin])
    weights = _apply_signs(integers, signs[rows])
    if most < 0 or (
        not _is_shorter_in_doubles(products, rows, multipliers, signs, margin)
        and _squared_norm_above(products, rows, weights) > (most * sum(integers)) ** 2
    ):
        raise CertificateError(f"The support rows do not prove that the margin is at most {margin!r}.")


def check_kernel_radius(products: InnerProducts, signs: np.ndarray, radius: float) -> None:
    """K(x, x) <= radius^2 for every row with a sign; and for one row it is no less, up to rounding."""
    (most,) = to_fractions([radius])
    rows = np.flatnonzero(signs)
    longest = Fraction(0)
    for row, squared in zip(rows.tolist(), products.squares(rows), strict=True):
        if most < 0 or squared > most**2:
            raise CertificateError(f"Row {row} is longer than the radius {radius!r}.")
        longest = max(longest, squared)
    if longest < min(most**2 * (1 - Fraction(1, 2**48)), Fraction(math.nextafter(most, 0.0)) ** 2):
        raise CertificateError(f"No row is as long as the radius {radius!r}.")


def _used_rows(alpha: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the rows for which a separator has weights."""
    used = np.flatnonzero(alpha)
    if len(alpha) != len(signs) or not len(used) or (signs[used] == 0).any():
        raise CertificateError("A separator needs one weight for each row, not all 0, and none for others.")
    return used


def _apply_signs(factors: list[int], signs: np.ndarray) -> np.ndarray:
    return np.array([factor * int(sign) for factor, sign in zip(factors, signs, strict=True)], object)


def _squared_norm_above(products: InnerProducts, rows: np.ndarray, weights: np.ndarray) -> Fraction:
    """Return an upper bound on |sum weights * x|^2; the value itself where the products are exact."""
    K, scale, error = products(rows, rows)
    error_of_sum = error * sum(abs(weight) for weight in weights.tolist()) ** 2
    return (int(weights @ K @ weights) + error_of_sum) * Fraction(2) ** scale


# -- doubles first, where exact values take long


def _doubtful_rows(
    products: InnerProducts, signs: np.ndarray, alpha: np.ndarray, used: np.ndarray, margin: float | Fraction
) -> np.ndarray:
    """Return the rows with a sign that doubles cannot prove to be beyond the margin."""
    rows = np.flatnonzero(signs)
    if not isinstance(products, DistanceKernel) or alpha.dtype.kind != "f" or not isinstance(margin, float):
        return rows
    w = alpha[used].astype(np.float64)
    K, error = products.in_doubles(rows, used)
    scores = K @ w
    total = float(np.abs(w).sum())
    rounding = _rounding_of_sum(error, len(used)) * total
    squared = float(w @ scores[np.searchsorted(rows, used)]) + rounding * total
    if not 1e-280 < squared < 1e280:
        return rows
    needed = margin * math.sqrt(squared) * (1.0 + 8.0 * _UNIT)
    return rows[~(scores * signs[rows] - rounding > needed)]


def _is_shorter_in_doubles(
    products: InnerProducts, rows: np.ndarray, multipliers: np.ndarray, signs: np.ndarray, margin: float
) -> bool:
    """Return whether doubles suffice to prove that |sum multipliers * y * x| <= margin * sum multipliers."""
    is_double = np.asarray(multipliers).dtype.kind == "f"
    if not isinstance(products, DistanceKernel) or not is_double or not 1e-140 < margin < 1e140:
        return False
    w = multipliers * signs[rows]
    K, error = products.in_doubles(rows, rows)
    total = float(multipliers.sum()) * (1.0 - (len(rows) + 4) * _UNIT)
    largest = float(multipliers.sum()) * (1.0 + (len(rows) + 4) * _UNIT)
    squared = float(w @ (K @ w)) + 2.0 * _rounding_of_sum(error, len(rows)) * largest * largest
    return squared < (margin * total) ** 2 * (1.0 - 8.0 * _UNIT)


def _is_unit_in_doubles(products: InnerProducts, used: np.ndarray, alpha: np.ndarray, slack: float) -> bool:
    """Return whether doubles suffice to prove that |sum alpha * x|^2 is 1, give or take the slack.

    Products alpha * K * alpha, with K at most 2, are off by three roundings each; `fsum` rounds each sum once.
    """
    if not isinstance(products, DistanceKernel):
        return False
    w = alpha[used].astype(np.float64)
    if not np.abs(w).max() < 1e100:  # so that nothing overflows
        return False
    K, error = products.in_doubles(used, used)
    scores = [math.fsum(row) for row in (K * w).tolist()]
    squared = math.fsum((w * scores).tolist())
    rounding = (error + 8.0 * _UNIT) * float(np.abs(w).sum()) ** 2 * (1.0 + (len(used) + 4) * _UNIT)
    return abs(squared - 1.0) + rounding < slack * (1.0 - 8.0 * _UNIT)


def _rounding_of_sum(error: float, count: int) -> float:
    """By how much a sum of so many kernel values, at most 2 each, with weights that sum to 1, may be off."""
    return error + 4.0 * (count + 4) * _UNIT
