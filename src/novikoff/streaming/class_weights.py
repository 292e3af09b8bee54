"""ClassWeights: the weights of labels in a stream, given or balanced as the stream goes.

A row whose label has the weight c is learned with the step c * tau (perceptron/importances.py). `balanced` weights are
those of scikit-learn, n / (K * count of the label), with the numbers that are known when a row is learned: n rows so
far, K labels among them, and the rows with its label, each including this row. So they depend on the order of rows, as
all online learning does, and not on the blocks in which rows come. The first row with a rare label weighs 1/K of all
rows before it; over a stream in random order the weights approach those of the whole stream.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from novikoff.errors import DataError
from novikoff.model_files import Section, read_values, write_values
from novikoff.selection.evaluation import plain_labels

__all__ = ["BALANCED", "ClassWeight", "ClassWeights"]

BALANCED: Literal["balanced"] = "balanced"
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"]


class ClassWeights:
    """Weights of labels, as they are after some rows of a stream. It is not changed; `weigh` returns another.

    Parameters
    ----------
    class_weight : dict {label: weight} or "balanced"
        Weights are > 0; a label that is not in the dict weighs 1. A label may also be given as the text that it is
        printed as.
    counts : mapping, optional
        For "balanced": the number of rows with each label so far.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.streaming.class_weights import ClassWeights
    >>> classes = np.array(["ham", "spam"])
    >>> ClassWeights({"spam": 5.0}).weigh(classes, np.array([0, 1, 0]))[0]
    array([1., 5., 1.])
    >>> ClassWeights("balanced").weigh(classes, np.array([0, 0, 0, 1, 1]))[0]
    array([1.  , 1.  , 1.  , 2.  , 1.25])
    """

    def __init__(self, class_weight: ClassWeight, counts: Mapping[Any, int] | None = None) -> None:
        if isinstance(class_weight, str) and class_weight != BALANCED:
            raise DataError(f"class_weight must be a dict {{label: weight}} or 'balanced', found {class_weight!r}.")
        if not isinstance(class_weight, str):
            class_weight = {label: _as_weight(label, weight) for label, weight in class_weight.items()}
        self.class_weight: ClassWeight = class_weight
        self.counts = dict(counts or {})

    def weigh(self, classes: np.ndarray, class_indices: np.ndarray) -> tuple[np.ndarray, ClassWeights]:
        """Return the weight of each row, and the class weights after these rows.

        Row i has the label classes[class_indices[i]]; a class may have no row.
        """
        labels = classes.tolist()
        if not isinstance(self.class_weight, str):
            return np.array([self._given(label) for label in labels])[class_indices], self
        n_rows, before = len(class_indices), np.array([self.counts.get(label, 0) for label in labels], np.int64)
        order = np.argsort(class_indices, kind="stable")  # the rows of each class together, as they come
        counts = np.bincount(class_indices, minlength=len(labels))
        earlier = np.empty(n_rows, np.int64)  # rows of the same class before each row, in this block
        earlier[order] = np.arange(n_rows) - np.repeat(np.cumsum(counts) - counts, counts)
        is_first = (earlier == 0) & (before[class_indices] == 0)
        n_labels = len(self.counts) + np.cumsum(is_first)
        n_so_far = sum(self.counts.values()) + np.arange(1, n_rows + 1)
        weights = n_so_far / (n_labels * (before[class_indices] + earlier + 1))
        added = {label: int(n) for label, n in zip(labels, before + counts, strict=True) if n}
        return weights, ClassWeights(BALANCED, self.counts | added)

    def _given(self, label: Any) -> float:
        assert not isinstance(self.class_weight, str)
        if label in self.class_weight:
            return self.class_weight[label]
        return self.class_weight.get(str(plain_labels([label])[0]), 1.0)

    def unused(self, labels: Sequence[Any]) -> list[Any]:
        """Return the labels that have a weight but are not among these."""
        if isinstance(self.class_weight, str):
            return []
        known = {*labels, *map(str, plain_labels(labels))}
        return [label for label in self.class_weight if label not in known]

    # -- model files

    def write_to(self, section: Section) -> None:
        """Write the weights, or the counts behind them."""
        is_balanced = isinstance(self.class_weight, str)
        kept: Mapping[Any, float] = self.counts if isinstance(self.class_weight, str) else self.class_weight
        section.facts["is_balanced"] = is_balanced
        write_values(section.add_part("labels"), list(kept))
        section.add_tensor("numbers", np.array(list(kept.values()), np.int64 if is_balanced else np.float64))

    @classmethod
    def read_from(cls, section: Section) -> ClassWeights:
        """Read what `write_to` has written."""
        labels, is_balanced = read_values(section.part("labels")), section.fact("is_balanced", bool)
        section.require(len(set(labels)) == len(labels), f"{section.path} has a label twice")
        numbers = section.finite("numbers", np.int64 if is_balanced else np.float64, (len(labels),))
        section.require((numbers > 0).all() and (numbers < 2**62).all(), f"{section.path} has numbers that are not > 0")
        kept = dict(zip(labels, numbers.tolist(), strict=True))
        return cls(BALANCED, kept) if is_balanced else cls(kept)


def _as_weight(label: Any, weight: Any) -> float:
    try:
        number = float(weight)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 < number < math.inf:
        raise DataError(f"The weight of the label {label!r} must be a number > 0, found {weight!r}.")
    return number
