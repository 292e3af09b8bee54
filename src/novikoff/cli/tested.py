"""The outcome of a test: which labels a model confuses, and how its hypotheses compare."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import hypotheses
from novikoff._compiled.loops.additive import EXAMPLES
from novikoff.data.formats.sniffing import is_number
from novikoff.perceptron.model import Model
from novikoff.perceptron.weights import Weights

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.perceptron.history import Chain
    from novikoff.perceptron.state import State
    from novikoff.streaming.model import StreamModel

__all__ = ["Outcome", "Tester", "mean_weights", "models_by_hypothesis", "shown"]


@dataclass
class Outcome:
    """Rows counted by label and prediction, and the errors of every hypothesis that the model holds.

    Attributes
    ----------
    hypothesis : str
        The one that answers.
    counts : Counter
        Of pairs, label and prediction.
    errors : dict
        Of each hypothesis.
    known : list
        The labels that the model has met.
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
        """All that were there or predicted, numbers before words."""
        found = {label for pair in self.counts for label in pair}
        return sorted(found, key=lambda label: (isinstance(label, str), label))

    @property
    def unknown(self) -> list[Any]:
        """Labels in the files that the model has never met, and cannot predict."""
        return [label for label in self.labels if label not in self.known]

    def confused(self) -> list[tuple[Any, Any, int]]:
        """Label, another one that was predicted, and how often; the most frequent first."""
        wrong = [(true, guess, count) for (true, guess), count in self.counts.items() if true != guess]
        return sorted(wrong, key=lambda found: (-found[2], str(found[:2])))

    def per_label(self) -> list[dict[str, Any]]:
        """Support, precision, recall and F1 of each label; None where there is nothing to divide by."""
        there, guessed = Counter[Any](), Counter[Any]()
        for (true, guess), count in self.counts.items():
            there[true] += count
            guessed[guess] += count
        return [self._scores(label, there[label], guessed[label]) for label in self.labels]

    def _scores(self, label: Any, there: int, guessed: int) -> dict[str, Any]:
        right = self.counts[label, label]
        return {
            "label": label,
            "support": there,
            "precision": _share(right, guessed),
            "recall": _share(right, there),
            "f1": _share(2 * right, there + guessed),
        }

    def facts(self) -> dict[str, Any]:
        """All of it, for JSON."""
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
                {"label": true, "prediction": guess, "rows": count} for (true, guess), count in self.counts.items()
            ],
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class Tester:
    """Runs every hypothesis that a model holds on blocks with labels."""

    def __init__(self, model: StreamModel) -> None:
        self._model, self._models = model, models_by_hypothesis(model.model)
        own = type(model.model.learner.hypothesis).__name__.lower()
        self.outcome = Outcome(own, shown(model.labels), errors=dict.fromkeys(self._models, 0))

    def count(self, block: Block) -> None:
        """Predict and compare."""
        assert block.labels is not None
        rows, true = self._model.rows_of(block), self._comparable(shown(block.labels.tolist()))
        for name, model in self._models.items():
            pairs = Counter(zip(true, shown(model.predict(rows).tolist()), strict=True))
            self.outcome.errors[name] += sum(count for (label, guess), count in pairs.items() if label != guess)
            if name == self.outcome.hypothesis:
                self.outcome.counts += pairs

    def _comparable(self, labels: list[Any]) -> list[Any]:
        """One word among the labels of a file makes words of them all: numbers again, for a model that knows those."""
        if any(isinstance(label, str) for label in self.outcome.known):
            return labels
        return shown([float(label) if isinstance(label, str) and is_number(label) else label for label in labels])


def shown(labels: list[Any]) -> list[Any]:
    """Labels as people write them: a number that is whole without its point.

    >>> from novikoff.cli.tested import shown
    >>> shown([1.0, 2.5, "ham"])
    [1, 2.5, 'ham']
    """
    return [int(label) if isinstance(label, float) and label.is_integer() else label for label in labels]


def models_by_hypothesis(model: Model) -> dict[str, Model]:
    """The same model read through each hypothesis that its state has the memory for."""
    state, labels = model.state, model.labels

    def read(hypothesis: str, state: State = state) -> Model:
        return Model(replace(model.learner, hypothesis=hypotheses.resolve(hypothesis)), labels, state)

    found = {"last": read("last")}
    if state.sums:
        found["averaged"] = read("averaged")
    if state.pocket:
        found["pocket"] = read("pocket")
    if state.history is not None:
        found["averaged"] = read("last", replace(state, raw=mean_weights(state, model.learner.constant)))
        found["voted"] = read("voted")
    return found


def mean_weights(state: State, constant: float) -> Weights:
    """What the averaged hypothesis would answer by, from the history of a voted one.

    Every vector w_k of a chain counts for the examples it survived, so an update made at example t of a chain that
    ends at n counts for n - t + 1 of them.
    """
    assert state.history is not None
    now, total = int(state.counts[EXAMPLES]), Weights.zeros(*state.raw.coef.shape)
    for chain in state.history.chains:
        chain.compact()
        _add_mean(total, chain, now if chain.ended is None else chain.ended, constant)
    return total.scaled(1.0 / max(1, now))


def _add_mean(total: Weights, chain: Chain, end: int, constant: float) -> None:
    if chain.base is not None:
        total.coef[:, : chain.base.coef.shape[1]] += (end - chain.born) * chain.base.coef
        total.bias += (end - chain.born) * chain.base.bias
    factors = np.zeros((len(total.bias), chain.n_rows))  # of each stored row in each vector
    for slots, steps, classes, examples in zip(chain.slots, chain.steps, chain.classes, chain.examples, strict=True):
        weights = steps * (end + 1 - examples)
        if len(factors) == 1:
            np.add.at(factors[0], slots, weights * (2 * classes[:, 0] - 1))
        else:
            np.add.at(factors, (classes[:, 0], slots), weights)
            np.add.at(factors, (classes[:, 1], slots), -weights)
    for block in chain.blocks:
        total.coef[:, : block.shape[1]] += (block.T @ factors.T).T
    total.bias += constant * factors.sum(axis=1)
