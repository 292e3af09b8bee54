"""Evaluation on labelled rows: confusion counts, scores, and the errors of every hypothesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import hypotheses
from novikoff._compiled.loops.additive import EXAMPLES
from novikoff.data.formats.sniffing import is_number
from novikoff.perceptron.model import Model
from novikoff.perceptron.weights import Weights

if TYPE_CHECKING:
    from novikoff.inputs.rows import Rows
    from novikoff.perceptron.history import UpdateSequence
    from novikoff.perceptron.state import State

__all__ = ["Evaluation", "Evaluator", "average_of_history", "models_by_hypothesis", "plain_labels"]


@dataclass
class Evaluation:
    """Counts of (label, prediction) pairs, and the number of errors of each hypothesis.

    Attributes
    ----------
    hypothesis : str
        The name of the hypothesis that the model predicts with.
    known : list
        The labels that the model has learned.
    counts : Counter
        The number of rows for each pair (label, prediction), as predicted by that hypothesis.
    errors : dict
        The number of errors for each hypothesis that can be computed from the model's state.
    """

    hypothesis: str
    known: list[Any]
    counts: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    errors: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    @property
    def labels(self) -> list[Any]:
        """All labels of the rows and of the predictions, sorted, numbers before strings."""
        labels = {label for pair in self.counts for label in pair}
        return sorted(labels, key=lambda label: (isinstance(label, str), label))

    @property
    def unknown(self) -> list[Any]:
        """Labels of the rows that the model has not learned and therefore cannot predict."""
        return [label for label in self.labels if label not in self.known]

    def confusions(self) -> list[tuple[Any, Any, int]]:
        """Return (label, wrong prediction, number of rows) for each kind of error, the most frequent first."""
        wrong = [(label, prediction, n) for (label, prediction), n in self.counts.items() if label != prediction]
        return sorted(wrong, key=lambda confusion: (-confusion[2], str(confusion[:2])))

    def per_label(self) -> list[dict[str, Any]]:
        """Return support, precision, recall and F1 of each label; a score is None if its denominator is 0."""
        support, n_predicted = Counter[Any](), Counter[Any]()
        for (label, prediction), n in self.counts.items():
            support[label] += n
            n_predicted[prediction] += n
        return [self._scores(label, support[label], n_predicted[label]) for label in self.labels]

    def _scores(self, label: Any, support: int, n_predicted: int) -> dict[str, Any]:
        right = self.counts[label, label]
        return {
            "label": label,
            "support": support,
            "precision": _ratio(right, n_predicted),
            "recall": _ratio(right, support),
            "f1": _ratio(2 * right, support + n_predicted),
        }

    def facts(self) -> dict[str, Any]:
        """Return all figures as a dict for JSON."""
        wrong = self.errors[self.hypothesis]
        return {
            "rows": self.rows,
            "errors": wrong,
            "error_rate": wrong / self.rows,
            "hypothesis": self.hypothesis,
            "errors_by_hypothesis": self.errors,
            "unknown_labels": self.unknown,
            "labels": self.per_label(),
            "confusion": [
                {"label": label, "prediction": prediction, "rows": n} for (label, prediction), n in self.counts.items()
            ],
        }


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class Evaluator:
    """Predicts rows by every hypothesis of a model and counts errors; `evaluation` contains the counts so far."""

    def __init__(self, model: Model) -> None:
        self._models = models_by_hypothesis(model)
        own = type(model.learner.hypothesis).__name__.lower()
        self.evaluation = Evaluation(own, plain_labels(model.labels.known), errors=dict.fromkeys(self._models, 0))

    def add(self, rows: Rows, labels: Sequence[Any]) -> None:
        """Predict rows and compare the predictions with their labels."""
        true = self._comparable(plain_labels(labels))
        for name, model in self._models.items():
            pairs = Counter(zip(true, plain_labels(model.predict(rows).tolist()), strict=True))
            self.evaluation.errors[name] += sum(n for (label, prediction), n in pairs.items() if label != prediction)
            if name == self.evaluation.hypothesis:
                self.evaluation.counts += pairs

    def _comparable(self, labels: list[Any]) -> list[Any]:
        """Convert strings back to numbers for a model whose labels are numbers.

        If a file contains one non-numeric label, all its labels are read as strings.
        """
        if any(isinstance(label, str) for label in self.evaluation.known):
            return labels
        return plain_labels(
            [float(label) if isinstance(label, str) and is_number(label) else label for label in labels]
        )


def plain_labels(labels: Sequence[Any]) -> list[Any]:
    """Return the labels with integral floats converted to integers, as people write them.

    >>> from novikoff.selection.evaluation import plain_labels
    >>> plain_labels([1.0, 2.5, "ham"])
    [1, 2.5, 'ham']
    """
    return [int(label) if isinstance(label, float) and label.is_integer() else label for label in labels]


def models_by_hypothesis(model: Model) -> dict[str, Model]:
    """Return a model for each hypothesis that can be computed from this model's state, keyed by hypothesis name."""
    state, labels = model.state, model.labels

    def with_hypothesis(hypothesis: str, state: State = state) -> Model:
        return Model(replace(model.learner, hypothesis=hypotheses.resolve(hypothesis)), labels, state)

    models = {"last": with_hypothesis("last")}
    if state.sums:
        models["averaged"] = with_hypothesis("averaged")
    if state.pocket:
        models["pocket"] = with_hypothesis("pocket")
    if state.history is not None:
        averaged = replace(state, raw=average_of_history(state, model.learner.constant))
        models["averaged"] = with_hypothesis("last", averaged)
        models["voted"] = with_hypothesis("voted")
    return models


def average_of_history(state: State, constant: float) -> Weights:
    """Return the weights of the averaged hypothesis, computed from the history of a voted one.

    The weight of each vector w_k in the average is its survival count. So an update made at example t of a sequence
    that ends at example n is part of n - t + 1 terms.
    """
    assert state.history is not None
    now, total = int(state.counts[EXAMPLES]), Weights.zeros(*state.raw.coef.shape)
    for sequence in state.history.sequences:
        sequence.compact()
        _add_weighted_sum(total, sequence, now if sequence.end is None else sequence.end, constant)
    return total.scale(1.0 / max(1, now))


def _add_weighted_sum(total: Weights, sequence: UpdateSequence, end: int, constant: float) -> None:
    """Add the sum of all weight vectors of a sequence, one for each example up to `end`."""
    if sequence.base is not None:
        total.coef[:, : sequence.base.coef.shape[1]] += (end - sequence.start) * sequence.base.coef
        total.bias += (end - sequence.start) * sequence.base.bias
    factors = np.zeros((len(total.bias), sequence.n_rows))  # the factor of each stored row in each weight vector
    updates = zip(sequence.row_indices, sequence.steps, sequence.classes, sequence.examples, strict=True)
    for row_indices, steps, classes, examples in updates:
        weights = steps * (end + 1 - examples)
        if len(factors) == 1:
            np.add.at(factors[0], row_indices, weights * (2 * classes[:, 0] - 1))
        else:
            np.add.at(factors, (classes[:, 0], row_indices), weights)
            np.add.at(factors, (classes[:, 1], row_indices), -weights)
    for block in sequence.blocks:
        total.coef[:, : block.shape[1]] += (block.T @ factors.T).T
    total.bias += constant * factors.sum(axis=1)
