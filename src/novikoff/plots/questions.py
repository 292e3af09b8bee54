"""Half-spaces, signs and the names of classes, as pictures need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.plots.style import format_label
from novikoff.theory.questions import Question

__all__ = ["describe_question", "mean_row", "name_sides", "note_sample", "read_half_space", "signs_of"]


def read_half_space(w: Any, intercept: Any, n_features: int) -> tuple[np.ndarray, float]:
    """Validate the weights and intercept of a half-space that has a boundary."""
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


def name_sides(negative: Any, positive: Any) -> tuple[tuple[int, str], ...]:
    """Return the signs of two classes, and what the legend calls them."""
    return (1, f"$y$ = {format_label(positive)}"), (-1, f"$y$ = {format_label(negative)}")


def describe_question(question: Question) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return the question as text, and the names of its sides."""
    negative = "the rest" if question.one_against_rest else question.negative
    return f"{format_label(question.positive)} against {format_label(negative)}", name_sides(
        negative, question.positive
    )


def note_sample(drawn: int, rows: int) -> str | None:
    """Return a note for the legend if not all rows are drawn."""
    return None if drawn == rows else f"{drawn:,} of {rows:,} rows drawn"


def mean_row(X: Any) -> np.ndarray:
    """Return the mean row."""
    return np.asarray(X.mean(axis=0), float).ravel()
