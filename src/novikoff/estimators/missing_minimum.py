"""Whether the logistic loss without a penalty has a minimum: it has none where the classes can be separated.

Let y_i <v, x_i> >= 0 for all rows, and > 0 for some of them. Then the loss falls along v for ever, and F has no minimum
(Albert & Anderson 1984). Such a v is a proof, checked in exact arithmetic. It is looked for where it is likely: the
fitted weights themselves, the weights after some passes of dual ascent, and the axes, which are such directions where a
column is never negative in one class and never positive in the other, as that of a category that only one class has.
"""

from __future__ import annotations

import numpy as np

from novikoff import losses
from novikoff.descent.dual_ascent import DualAscent
from novikoff.descent.objective import Objective
from novikoff.errors import CertificateError
from novikoff.inputs.rows import Rows

__all__ = ["find_endless_direction"]

_PASSES = 50
_PENALTY = 1e-6  # times the mean squared length of the rows: as good as none, but the dual ascent needs one
_SHARE = 1.0 - 1e-9  # of the smallest margin as computed, which is left after any rounding that matters


def find_endless_direction(rows: Rows, signs: np.ndarray, v: np.ndarray, constant: float) -> str | None:
    """Return what separates the classes, in words, if the logistic loss is proved to fall for ever; None if not.

    v are the fitted weights, the bias last.
    """
    if _separates(rows, signs, v, constant):
        return "the fitted weights separate the classes"
    column = _find_one_sided_column(rows, signs)
    if column is not None:
        return (
            f"column {column}{_name_of(rows, column)} is never negative in one class, and never positive in the other"
        )
    penalty = _PENALTY * (float(rows.squared_norms.mean()) or 1.0)
    ascent = DualAscent(Objective(rows, signs, losses.Hinge(), penalty, bool(constant)), np.random.default_rng(0))
    for _ in range(_PASSES):
        estimate, is_whole = ascent.run_pass()
        if not is_whole and estimate <= 0.0:
            ascent.include_all_rows()
    if _separates(rows, signs, ascent.point().v, constant):
        return "a half-space separates the classes"
    return None


def _separates(rows: Rows, signs: np.ndarray, v: np.ndarray, constant: float) -> bool:
    """Return whether all rows are on their own side, decided exactly."""
    from novikoff.theory.checkers.separator import check_separator

    length = float(np.sqrt((v * v).sum()))
    if not 0.0 < length < np.inf:
        return False
    w, bias = v[:-1] / length, float(v[-1]) / length
    margin = _SHARE * float((signs * (rows.matrix @ w + constant * bias)).min())
    if margin <= 0.0:
        return False
    try:
        check_separator(rows.matrix, signs, w, bias, margin, constant)
    except CertificateError:
        return False
    return True


def _find_one_sided_column(rows: Rows, signs: np.ndarray) -> int | None:
    """Return the first column j such that y_i x_ij >= 0 for all rows or <= 0 for all rows, and not always 0."""
    if rows.indices is not None and rows.indptr is not None:
        of_entry = np.repeat(signs, np.diff(rows.indptr))
        most, least = np.zeros(rows.n_features), np.zeros(rows.n_features)
        np.maximum.at(most, rows.indices, of_entry * rows.data)
        np.minimum.at(least, rows.indices, of_entry * rows.data)
    else:
        signed = signs[:, None] * rows.data
        most, least = signed.max(axis=0), signed.min(axis=0)
    is_one_sided = ((most > 0.0) & (least >= 0.0)) | ((least < 0.0) & (most <= 0.0))
    return int(np.argmax(is_one_sided)) if is_one_sided.any() else None


def _name_of(rows: Rows, column: int) -> str:
    return "" if rows.names is None else f" ({list(rows.names)[column]!r})"
