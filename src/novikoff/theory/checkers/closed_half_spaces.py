"""Checks claims about closed half-spaces, where a score of 0 counts as positive.

Checked: <w, x> >= 0 for every positive row and <w, x> < 0 for every negative one, in integers; and that a witness has a
negative row, so that its rows, which cancel, cannot all be on their side. Uses no code of the search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_integers, to_proportional_integers
from novikoff.theory.checkers.rows import drop_zero_columns, iterate_blocks

__all__ = ["check_closed_separator", "check_negative_row"]


def check_closed_separator(X: Any, signs: np.ndarray, w: np.ndarray) -> None:
    """<w, x> >= 0 for every positive row, and < 0 for every negative one; w may be 0 if there is none."""
    weights = np.array(to_proportional_integers(w), object)
    if len(weights) != X.shape[1]:
        raise CertificateError(f"A separator of {X.shape[1]} features needs as many weights, not {len(weights)}.")
    for rows, block in iterate_blocks(X, signs):
        coordinates, columns = drop_zero_columns(block)
        scores = to_integers(coordinates)[0] @ weights[columns] if len(columns) else np.zeros(len(rows), object)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            if (score < 0) if signs[row] > 0 else (score >= 0):
                raise CertificateError(f"Row {row} is not on its side of the closed half-space.")


def check_negative_row(signs: np.ndarray, rows: np.ndarray) -> None:
    """One of the rows of a witness is negative: positive ones may all lie on the boundary."""
    if not (signs[rows] < 0).any():
        raise CertificateError("A witness against closed half-spaces needs a negative row.")
