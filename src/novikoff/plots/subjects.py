"""What a picture is told, in its own terms: half-spaces, signs, and the names of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.plots.style import label_of
from novikoff.theory.certificates import Question

__all__ = ["asked", "half_space", "mean_of", "named", "note_on", "signs_of"]


def half_space(w: Any, intercept: Any, n_features: int) -> tuple[np.ndarray, float]:
    """Weights and intercept of one half-space that has a boundary."""
    w, b = np.ravel(np.asarray(w, float)), float(np.ravel(intercept)[0])
    if len(w) != n_features:
        raise DataError(f"w has {len(w)} weights, X has {n_features} features.")
    if not w.any() or not np.isfinite([*w, b]).all():
        raise DataError("There is no boundary to draw: the weights must be finite and not all zero.")
    return w, b


def signs_of(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """+1 for the second class, -1 for the first."""
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise DataError(f"X has {n_rows} rows, y has shape {y.shape}.")
    if len(classes) != 2 or not np.isin(y, classes).all():
        raise DataError(
            f"Every label must be one of two; found {np.unique(y).tolist()!r}, classes {classes.tolist()!r}."
        )
    return np.where(y == classes[1], 1, -1)


def named(negative: Any, positive: Any) -> tuple[tuple[int, str], ...]:
    """The signs of two classes, and what the legend calls them."""
    return (1, f"$y$ = {label_of(positive)}"), (-1, f"$y$ = {label_of(negative)}")


def asked(question: Question) -> tuple[str, tuple[tuple[int, str], ...]]:
    """The question in words, and the names of its sides."""
    negative = "the rest" if question.one_against_rest else question.negative
    return f"{label_of(question.positive)} against {label_of(negative)}", named(negative, question.positive)


def note_on(drawn: int, rows: int) -> str | None:
    """What to say where not every row is drawn."""
    return None if drawn == rows else f"{drawn:,} of {rows:,} rows drawn"


def mean_of(X: Any) -> np.ndarray:
    """The mean row."""
    return np.asarray(X.mean(axis=0), float).ravel()
