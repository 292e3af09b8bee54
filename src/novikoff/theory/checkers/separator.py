"""Checks that a separator has every row on its side, by at least the margin that is claimed.

Checked: y <w, x> >= margin |w| for every row, squared so that both sides are rational, and the length of w. All rows
are compared in doubles first: a score computed by n products in any order is off by at most

    n u / (1 - n u) * sum |w_j x_j| + n * 2^-1074,      u = 2^-53

(Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1), and only rows nearer to the claimed margin than
that are computed again in integers. Here n is the number of products that are really added, and the sum that of their
absolute values: `rows.canonicalize_rows` has replaced sparse rows that store a column twice. Uses no code of the
search.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import (
    double_above_root,
    relative_rounding,
    to_fractions,
    to_integers,
    to_proportional_integers,
)
from novikoff.theory.checkers.rows import (
    drop_zero_columns,
    exact_squared_lengths,
    iterate_blocks,
    squared_lengths,
)

__all__ = ["check_length", "check_separator", "find_violation", "integer_weights"]

_UNIT = 2.0**-53
_FEW = 256  # rows converted to Python integers at a time


def check_separator(
    X: Any, signs: np.ndarray, w: np.ndarray, bias: float, margin: float | Fraction, constant: float
) -> None:
    """y <w, x> >= margin * |w| for every row with a sign, and margin > 0."""
    weights = integer_weights(X, w, bias, constant)
    (claimed,) = to_fractions([margin])
    if not claimed > 0:
        raise CertificateError(f"A separator needs a margin > 0, not {margin!r}.")
    # y <w, x> >= margin |w|, squared to stay rational
    squared = claimed**2 * sum(v * v for v in weights.tolist())
    row = find_violation(X, signs, weights, squared, constant)
    if row is not None:
        raise CertificateError(f"Row {row} is not on its side of the separator by the margin {margin!r}.")


def check_length(w: Any, bias: Any, lower: float | Fraction, upper: float) -> None:
    """|w| = 1 up to rounding, the bias included; or, if w is made of exact Fractions, lower <= |w| <= upper."""
    weights = np.append(w, bias)
    if weights.dtype.kind == "f":
        rounding = relative_rounding(len(weights))
        least, most = 1 - rounding, 1 + rounding
        (squared,) = exact_squared_lengths(weights[None].astype(np.float64))
    else:
        least, most = (margin**2 for margin in to_fractions([lower, upper]))
        squared = sum((value * value for value in to_fractions(weights)), Fraction(0))
    if not least <= squared <= most:
        expected = "1" if weights.dtype.kind == "f" else f"from {lower!r} to {upper!r}"
        raise CertificateError(f"The separator has the length {float(squared) ** 0.5!r}, not {expected}.")


def integer_weights(X: Any, w: Any, bias: Any, constant: float) -> np.ndarray:
    """Return weights, the bias last, as Python integers in the same proportions."""
    numbers = to_proportional_integers(np.append(w, bias))
    if len(numbers) != X.shape[1] + 1:
        raise CertificateError(f"A separator of {X.shape[1]} features needs as many weights, not {len(numbers) - 1}.")
    if not any(numbers) or (not constant and numbers[-1]):
        raise CertificateError("A separator needs weights that are not all zero, and no intercept without a constant.")
    return np.array(numbers, object)


def find_violation(X: Any, signs: np.ndarray, weights: np.ndarray, squared: Fraction, constant: float) -> int | None:
    """Return the first row with y <w, x> <= 0, or below the square root of `squared`, exactly; None if there is
    none."""
    for rows, coordinates, columns in _iterate_doubtful_rows(X, signs, weights, squared, constant):
        numbers, scale = to_integers(coordinates)
        scores = (numbers @ weights[columns]) * signs[rows].astype(int).astype(object)
        for row, score in zip(rows.tolist(), scores, strict=True):
            if score <= 0 or (int(score) * Fraction(2) ** scale) ** 2 < squared:
                return row
    return None


def _iterate_doubtful_rows(
    X: Any, signs: np.ndarray, exact_weights: np.ndarray, squared: Fraction, constant: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the rows that doubles cannot prove to be beyond the square root of `squared`, a few at a time: row indices,
    coordinates, and the columns of these."""
    # The largest weight becomes a double below 1, the others lose what is below 2^-1074.
    top = max(abs(v) for v in exact_weights.tolist()).bit_length()
    weights = np.array([v / (1 << top) for v in exact_weights.tolist()])
    needed = double_above_root(squared / 4**top)
    unit, tiny = 2.0 * _UNIT * (len(weights) + 3), len(weights) * 2.0**-1000
    for rows, block in iterate_blocks(X, signs):
        with np.errstate(over="ignore", invalid="ignore"):
            scores = signs[rows] * (block @ weights[:-1] + weights[-1]) - needed
            # The Cauchy-Schwarz inequality bounds the rounding cheaply; the few rows for which that is not enough are
            # bounded term by term. Squares below 2^-900 may have lost all their digits.
            length = np.sqrt(np.maximum(squared_lengths(block) + constant, 2.0**-900))
            underflow = tiny + len(weights) * 2.0**-1074 * length
            near = np.flatnonzero(~(scores - unit * np.linalg.norm(weights) * length > underflow))
            terms = abs(block[near]) @ np.abs(weights[:-1]) + abs(weights[-1])
            near = near[~(scores[near] - unit * terms > underflow[near] + unit * needed)]
        for start in range(0, near.size, _FEW):
            chosen = near[start : start + _FEW]
            coordinates, columns = drop_zero_columns(block[chosen])
            yield (
                rows[chosen],
                np.hstack([coordinates, np.full((chosen.size, 1), constant)]),
                np.append(columns, len(weights) - 1),
            )
