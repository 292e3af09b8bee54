"""Certificates in feature space checked in exact arithmetic, by code that shares nothing with the search.

Rows are known by their inner products K(x, z). For polynomials of <x, z> these are computed here, as integers times a
power of two; for other kernels they are the doubles that the kernel gives, and what is checked is true of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checker import as_exact, as_integers, plain, proportional, require_rows

__all__ = ["Matrix", "Polynomial", "Products", "check_radius", "check_separator", "check_support", "check_witness"]


class Matrix:
    """A kernel matrix as it is."""

    def __init__(self, K: np.ndarray) -> None:
        self.K = K

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int]:
        """K of rows with columns as Python integers times 2**scale."""
        return as_integers(self.K[np.ix_(rows, columns)])

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        return as_exact(self.K[rows, rows])


class Polynomial:
    """K(x, z) = (gamma <x, z> + coef0)^degree + constant, exactly."""

    def __init__(self, X: Any, degree: int, gamma: float, coef0: float, constant: float) -> None:
        self.X, self.degree, self.constant = plain(X), degree, constant
        self.factors = as_exact([gamma, coef0])

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int]:
        """K of rows with columns as Python integers times 2**scale."""
        (left, one), (right, two) = self._integers(rows), self._integers(columns)
        gamma, coef0 = self.factors[0] * Fraction(2) ** (one + two), self.factors[1]
        unit = max(gamma.denominator, coef0.denominator)  # both are powers of two
        powers = (left @ right.T * int(gamma * unit) + int(coef0 * unit)) ** self.degree
        return powers + int(self.constant) * unit**self.degree, -(unit.bit_length() - 1) * self.degree

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        found = []
        for row in rows.tolist():
            value, scale = self(np.array([row]), np.array([row]))
            found.append(int(value[0, 0]) * Fraction(2) ** scale)
        return found

    def _integers(self, rows: np.ndarray) -> tuple[np.ndarray, int]:
        block = self.X[rows]
        return as_integers(np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64))


Products = Matrix | Polynomial


def check_witness(products: Products, signs: np.ndarray, rows: np.ndarray, multipliers: Sequence[Fraction]) -> None:
    """sum_j multipliers_j y_j K(x_j, x_i) = 0 for each of the rows, so that sum multipliers * y * x has length 0: no
    function of the space has all these rows strictly on their side."""
    require_rows(rows, signs)
    whole = proportional(multipliers)
    if len(rows) != len(whole) or not all(multiplier > 0 for multiplier in whole):
        raise CertificateError("A witness needs one multiplier > 0 for each of its rows.")
    K, _ = products(rows, rows)
    if any((K @ _signed(whole, signs[rows])).tolist()):
        raise CertificateError("The rows do not cancel: some K(x, .) of theirs does not add up to 0.")


def check_separator(products: Products, signs: np.ndarray, alpha: np.ndarray, margin: float | Fraction) -> None:
    """y f(x) >= margin |f| for every row with a sign, and margin > 0, where f = sum alpha K(x, .)."""
    used = np.flatnonzero(alpha)
    if len(alpha) != len(signs) or not len(used) or (signs[used] == 0).any():
        raise CertificateError("A separator needs one weight for each row, not all 0, and none for others.")
    (least,) = as_exact([margin])
    if not least > 0:
        raise CertificateError(f"A separator needs a margin > 0, not {margin!r}.")
    weights = np.array(proportional(alpha[used]), object)
    squared_norm = _squared_norm(products, used, weights)
    asked = np.flatnonzero(signs)
    K, scale = products(asked, used)
    for row, score in zip(asked.tolist(), (K @ weights).tolist(), strict=True):
        score *= int(signs[row])
        if score <= 0 or (score * Fraction(2) ** scale) ** 2 < least**2 * squared_norm:
            raise CertificateError(f"Row {row} is not on its side of the separator by the margin {margin!r}.")


def check_support(
    products: Products, signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray, margin: float
) -> None:
    """|sum multipliers * y * x| <= margin for weights that sum to 1: no separator has a larger margin."""
    require_rows(rows, signs)
    whole = proportional(multipliers)
    (most,) = as_exact([margin])
    if len(rows) != len(whole) or not all(m >= 0 for m in whole) or not sum(whole):
        raise CertificateError("Support rows need one multiplier >= 0 each, not all of them 0.")
    if most < 0 or _squared_norm(products, rows, _signed(whole, signs[rows])) > (most * sum(whole)) ** 2:
        raise CertificateError(f"The support rows do not prove that the margin is at most {margin!r}.")


def check_radius(products: Products, signs: np.ndarray, radius: float) -> None:
    """K(x, x) <= radius^2 for every row with a sign."""
    (most,) = as_exact([radius])
    asked = np.flatnonzero(signs)
    for row, squared in zip(asked.tolist(), products.squares(asked), strict=True):
        if most < 0 or squared > most**2:
            raise CertificateError(f"Row {row} is longer than the radius {radius!r}.")


def _signed(whole: list[int], signs: np.ndarray) -> np.ndarray:
    return np.array([factor * int(sign) for factor, sign in zip(whole, signs, strict=True)], object)


def _squared_norm(products: Products, rows: np.ndarray, weights: np.ndarray) -> Fraction:
    """|sum weights * x|^2."""
    K, scale = products(rows, rows)
    return int(weights @ K @ weights) * Fraction(2) ** scale
