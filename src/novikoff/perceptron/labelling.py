"""Labels of models with weight vectors or in dual form: new ones are added, and scores decide on one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from novikoff._compiled.loops.additive import TIE_NEGATIVE
from novikoff.inputs.labels import Labels

__all__ = ["add_label", "decide", "find_new_labels", "split_at"]


class _TwoClassState(Protocol):
    def swap_classes(self) -> Self: ...


S = TypeVar("S", bound=_TwoClassState)


def decide(scores: np.ndarray, tie: int) -> np.ndarray:
    """Return the class codes for scores. Equal scores go to the last class, or the first if ties are negative."""
    prefers_first = tie == TIE_NEGATIVE
    if scores.ndim == 1:
        return (scores > 0.0 if prefers_first else scores >= 0.0).astype(np.int64)
    if prefers_first:
        return scores.argmax(axis=1)
    return scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)


def add_label(labels: Labels, state: S, label: Any, insert_class: Callable[[S, int], S]) -> tuple[Labels, S]:
    """Return labels with one more, and a state with a class for it; neither argument is changed.

    The state has two classes from the start. A second label may sort before the first, whose class then changes;
    `insert_class` makes room for a third label, and for every label after it, at its class code.
    """
    extended = labels.copy()
    extended.add(label)
    if len(extended) == 2:
        (other,) = labels.known
        if labels.codes[other] != extended.codes[other]:
            state = state.swap_classes()
    elif len(extended) > 2:
        state = insert_class(state, extended.codes[label])
    return extended, state


def find_new_labels(labels: Labels, classes: list[Any], class_indices: np.ndarray) -> dict[int, Any]:
    """Return the labels of a block that are not known yet, each by the first row that has it.

    Row i has the label classes[class_indices[i]]; a class may have no row.
    """
    unknown = [k for k, label in enumerate(classes) if label not in labels.codes]
    return {int(at[0]): classes[k] for k in unknown if (at := np.flatnonzero(class_indices == k)).size}


def split_at(rows: Iterable[int], n_rows: int) -> Iterable[tuple[int, int]]:
    """Return the ranges (start, stop) into which some rows split a block, each of them the first of a range."""
    return pairwise([*sorted({0, *rows}), n_rows])
