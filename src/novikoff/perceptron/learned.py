"""What a model has learned, in one object that is replaced by another whenever several parts of it change together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.errors import DataError
from novikoff.inputs.labels import Labels
from novikoff.inputs.rows import Rows, joined_names
from novikoff.inputs.sparse import dense_example
from novikoff.perceptron.dict_fast_path import Quick
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.one_at_a_time import PointLearner
from novikoff.perceptron.state import State

__all__ = ["Learned"]


@dataclass(frozen=True, eq=False)
class Learned:
    """What a model has learned: everything that changes together.

    While examples come one at a time, a point learner is ahead of the state, and compiled code may be ahead of that.
    """

    learner: Learner
    labels: Labels
    vocabulary: dict[str, int] | None
    state: State | None
    point: PointLearner | None = None
    quick: Quick | None = None

    @property
    def n_features(self) -> int | None:
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return self.state.n_features if self.state is not None else None

    def begun(self, n_features: int | None = None) -> Learned:
        """Without a point learner, and with a state, if need be one that has seen nothing."""
        state = self.point.state() if self.point is not None else self.state
        if state is None:
            state = self.learner.init(n_features or self.n_features or 0, max(2, len(self.labels)))
        if self.vocabulary is not None:
            state = state.widened(len(self.vocabulary))
        return replace(self, state=state, point=None, quick=None)

    def one_at_a_time(self) -> Learned:
        """With a point learner, which adds new names to this vocabulary."""
        begun = self.begun()
        assert begun.state is not None
        point = PointLearner(self.learner, begun.state, self.vocabulary)
        quick = Quick(point, self.labels) if Quick.suits(point, self.labels) else None
        return replace(begun, point=point, quick=quick)

    def taking(self, x: Any) -> tuple[Learned, Any]:
        """Ready for an example, and that as a dict or an array, whichever this learns from; the first one says."""
        x = dense_example(x)
        if isinstance(x, Mapping):
            if self.vocabulary is None and self.n_features:
                raise DataError("This model has learned from rows without names; pass arrays, not dicts.")
            return replace(self, vocabulary={}) if self.vocabulary is None else self, dict(x)
        array = self._one_array(x)
        return self if self.state is not None else self.begun(len(array)), array

    def _one_array(self, x: Any) -> np.ndarray:
        if self.vocabulary is not None:
            raise DataError("This model knows its features by name; pass a dict.")
        x = np.asarray(x)
        if x.ndim != 1 and x.shape[:-1] != (1,):
            raise DataError(f"One example is a dict or a 1-D array, found an array of shape {x.shape}.")
        array = Rows.of(x.reshape(1, -1)).data.astype(np.float64)[0]
        if self.state is not None and len(array) != self.state.n_features:
            raise DataError(
                f"X has {len(array)} features, but this model is expecting {self.state.n_features} features as input."
            )
        return array

    def scores(self, rows: Rows) -> np.ndarray:
        """What the hypothesis says of each row."""
        assert self.state is not None
        if self.vocabulary is not None and rows.is_sparse and rows.n_features < self.state.n_features:
            rows = replace(rows, n_features=self.state.n_features)  # names have been met since the rows were made
        return self.learner.score(self.state, rows)

    def with_label(self, y: Any) -> Learned:
        """With room for a label never seen before."""
        labels, state = self.labels.copy(), self.state
        assert state is not None
        labels.add(y)
        if len(labels) == 2:
            (other,) = self.labels.known
            if self.labels.codes[other] != labels.codes[other]:
                state = state.flipped()
        elif len(labels) > 2:
            # The perceptron's two classes become two vectors just as if they had always been; rules that know a
            # unit of margin keep every margin as it is.
            scale = 1.0 if isinstance(self.learner.rule, rules.Perceptron) else 0.5
            state = state.with_class(labels.codes[y], scale=scale)
        return replace(self, labels=labels, state=state)

    def require_room_for(self, new: list[Any], first: Any, n_features: int) -> None:
        """Raise if new labels do not sort with the others or a separator cannot follow."""
        trial = self.labels.copy()
        trial.add(*new)
        self.learner.require_separator_fits(len(trial) if len(trial) > 2 else 1, n_features)
        if self.learner.separator is not None and len(self.labels) < 2 <= len(trial):
            lone = self.labels if self.labels else Labels([first])
            if lone.codes[lone.known[0]] != trial.codes[lone.known[0]]:
                raise DataError(f"A separator must know which label is which: pass classes={trial.known!r} in advance.")

    def with_names(self, rows: Rows, names: list[str]) -> tuple[Learned, Rows]:
        """With these names of features, the known ones first; if others have been met since the rows were made, rows
        with their columns in other places."""
        vocabulary, moved = joined_names(names, self.vocabulary or {}, rows.matrix)
        rows = rows if moved is None else Rows.of(moved, vocabulary)
        return replace(self, vocabulary=vocabulary), rows

    def codes_of(self, found: list[Any], place: np.ndarray) -> np.ndarray:
        """The class of each row, whose label is found[place]; 0 for one that is not known yet."""
        return np.array([self.labels.codes.get(name, 0) for name in found], np.int64)[place]

    def after_pieces(self, rows: Rows, found: list[Any], place: np.ndarray, new: dict[int, Any]) -> Learned:
        """After learning from a block piece by piece, as it brings new labels, in a copy of the state."""
        assert self.state is not None
        learned = replace(self, state=self.state.copy())
        codes = np.zeros(len(place), np.int64)
        for start, stop in pairwise([*sorted({0, *new}), len(place)]):
            learned = learned.with_label(new[start]) if start in new else learned
            assert learned.state is not None
            codes[start:stop] = learned.codes_of(found, place[start:stop])
            state = learned.state.widened(rows.n_features)
            learned = replace(learned, state=self.learner.update(state, rows, codes, None, start, stop))
        if learned.state is not None and learned.state.history is not None:
            learned.state.history.release()
        return learned
