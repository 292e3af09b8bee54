"""OnlineModel: a StreamModel that learns the labels of a log in order.

The result depends on the rows, their order and the kinds of their features alone, never on how they were put together
in batches: that is a property of the library, and what a replay relies on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.errors import DataError, ServiceError
from novikoff.perceptron.learner import CHUNK
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model import Model
from novikoff.selection.evaluation import plain_labels
from novikoff.service.features import SOURCE, Row, make_block, split_rows
from novikoff.streaming.model import StreamModel

__all__ = ["REFUSED", "UPDATED", "OnlineModel"]

UPDATED, REFUSED = 1, 2  # what became of a label


class OnlineModel:
    """A model behind the service. One thread uses it.

    Parameters
    ----------
    model : StreamModel
        A model of tables or dicts, or one that has learned nothing yet.

    Examples
    --------
    >>> import novikoff as nk
    >>> from novikoff.service.online_model import OnlineModel
    >>> model = OnlineModel.untrained(nk.Learner(), ["ham", "spam"])
    >>> kinds = {"links": "number"}
    >>> model.learn([{"links": 3}, {"links": 0}, {"links": 4}], ["spam", "ham", "spam"], kinds)
    b'\\x01\\x01\\x00'
    >>> model.predict([{"links": 5}], kinds)[0][0], model.seq
    ('spam', 3)
    """

    def __init__(self, model: StreamModel) -> None:
        if model.predicts_numbers:
            raise ServiceError("The model predicts numbers, and only labels can be served.")
        if model.encoding is not None and not model.takes_tables:
            raise ServiceError(
                "The model has learned from svmlight files or Vowpal Wabbit's text. What can be served are models of "
                "tables, whose features are values by name."
            )
        self.model = model

    @classmethod
    def untrained(cls, learner: Any, labels: Sequence[Any] = ()) -> OnlineModel:
        """Return a model that has learned nothing, and knows some labels."""
        model = StreamModel(learner)
        model.model = Model(learner, labels)
        return cls(model)

    @property
    def seq(self) -> int:
        """The number of labels learned from the log, which is the seq of the last one."""
        return self.model.rows_read.get(SOURCE, 0)

    @property
    def kinds(self) -> dict[str, str]:
        return self.model.kinds

    @property
    def labels(self) -> list[Any]:
        return self.model.labels

    @property
    def ledger(self) -> Ledger:
        return self.model.ledger

    def forget_log(self) -> None:
        """Count the labels of a log from 1 again: for a model that begins a log of its own."""
        self.model.rows_read.pop(SOURCE, None)
        self.model.rows_of_run.pop(SOURCE, None)

    # -- predictions

    def predict(self, rows: Sequence[Row], kinds: Mapping[str, str]) -> list[tuple[Any, dict[str, float]]]:
        """Return for each row its label, and the score of each label. The label is None if none is known."""
        labels = self.labels
        if not labels:
            return [(None, {})] * len(rows)
        names = [str(label) for label in plain_labels(labels)]
        if len(labels) == 1:
            return [(plain_labels(labels)[0], {})] * len(rows)
        answers: list[tuple[Any, dict[str, float]]] = []
        for start, stop in split_rows(rows):
            scores = self._scores(rows[start:stop], kinds)
            codes = self.model.model.learner.decide(scores).tolist()
            if scores.ndim == 1:
                scores = np.column_stack([0.0 - scores, scores])  # without -0.0
            plain = plain_labels(labels)
            answers += [
                (plain[code], dict(zip(names, own, strict=True)))
                for code, own in zip(codes, scores.tolist(), strict=True)
            ]
        return answers

    def _scores(self, rows: Sequence[Row], kinds: Mapping[str, str]) -> np.ndarray:
        n_labels = len(self.labels)
        if self.model.encoding is None:
            return np.zeros(len(rows) if n_labels == 2 else (len(rows), n_labels))
        return self.model.model.scores(self.model.rows_of(make_block(rows, kinds, None)))

    # -- learning

    def learn(self, rows: Sequence[Row], labels: Sequence[Any], kinds: Mapping[str, str]) -> bytes:
        """Learn from rows in order; return a byte for each: UPDATED if it changed the weights, REFUSED, or 0."""
        flags = bytearray()
        for start, stop in self._parts(rows, labels):
            flags += self._learn_part(rows[start:stop], labels[start:stop], kinds)
        return bytes(flags)

    def _parts(self, rows: Sequence[Row], labels: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Yield parts that are learned in one compiled call each: a new label begins a new one."""
        known = set(self.labels)
        starts = {0, *range(0, len(rows), CHUNK), *(start for start, _ in split_rows(rows))}
        for at, label in enumerate(labels):
            if label not in known:
                known.add(label)
                starts.add(at)
        return pairwise([*sorted(starts), len(rows)])

    def _learn_part(self, rows: Sequence[Row], labels: Sequence[Any], kinds: Mapping[str, str]) -> bytes:
        if not rows:
            return b""
        seq, examples = self.seq, self.model.model.n_examples
        flags = bytearray(len(rows))
        try:
            for _ in self.model.learn_until(make_block(rows, kinds, labels), ()):
                latest = self.model.model.state.latest
                for example in () if latest is None else latest.tolist():
                    flags[example - examples - 1] = UPDATED
        except DataError:
            if len(rows) == 1:
                self.model.rows_read = self.model.rows_read | {SOURCE: seq + 1}
                return bytes([REFUSED])
            done = self.seq - seq  # pieces with texts that were learned before the one that was refused
            rest = zip(rows[done:], labels[done:], strict=True)
            return bytes(flags[:done]) + b"".join(self._learn_part([row], [label], kinds) for row, label in rest)
        return bytes(flags)

    # -- files

    @property
    def can_be_saved(self) -> bool:
        return self.model.encoding is not None

    def save(self, path: Path) -> None:
        """Write a model file, which has the seq of the last label in it."""
        self.model.save(path)

    @classmethod
    def load(cls, path: Path) -> OnlineModel:
        """Read a model file."""
        return cls(StreamModel.load(path))
