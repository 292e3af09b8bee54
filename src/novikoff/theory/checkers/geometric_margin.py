"""Checks both bounds on the geometric margin: how far a hyperplane with a free bias can stay from two classes.

Checked: y (<w, x> + b) >= lower |w| for every row, where |w| does not include b; and that half the distance of two
points, one in the hull of each class, is no more than `upper`, so that no hyperplane is farther from both classes. Both
are squared, so that they are rational. Uses no code of the search.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_fractions
from novikoff.theory.checkers.rows import combine_rows
from novikoff.theory.checkers.separator import find_violation, integer_weights
from novikoff.theory.checkers.support import require_support

__all__ = ["check_geometric_separator", "check_geometric_support"]


def check_geometric_separator(X: Any, signs: np.ndarray, w: np.ndarray, bias: float, margin: float | Fraction) -> None:
    """y (<w, x> + b) >= margin |w| for every row with a sign, and margin > 0."""
    weights = integer_weights(X, w, bias, 1.0)
    (claimed,) = to_fractions([margin])
    if not claimed > 0:
        raise CertificateError(f"A separator needs a margin > 0, not {margin!r}.")
    squared = claimed**2 * sum(v * v for v in weights[:-1].tolist())
    row = find_violation(X, signs, weights, squared, 1.0)
    if row is not None:
        raise CertificateError(f"Row {row} is not on its side of the hyperplane at the distance {margin!r}.")


def check_geometric_support(
    X: Any, signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray, margin: float
) -> None:
    """|p - q| <= 2 margin for p and q, the means of the rows of each class, weighted by their multipliers."""
    integers = require_support(signs, rows, multipliers)
    (most,) = to_fractions([margin])
    totals = {
        sign: sum(m for m, s in zip(integers, signs[rows].tolist(), strict=True) if s == sign) for sign in (1, -1)
    }
    if not all(totals.values()):
        raise CertificateError("The support of a geometric margin needs rows of both classes.")
    factors = [m * totals[-s] for m, s in zip(integers, signs[rows].tolist(), strict=True)]
    sums, scale = combine_rows(X, signs, rows, factors, 0.0)
    squared = sum(value * value for value in sums) * Fraction(4) ** scale
    if most < 0 or squared > (2 * most * totals[1] * totals[-1]) ** 2:
        raise CertificateError(f"The support rows do not prove that the geometric margin is at most {margin!r}.")
