"""ModelState: everything that a model has learned, in one object that is replaced as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.inputs.labels import Labels
from novikoff.inputs.rows import Rows, merge_names
from novikoff.inputs.sparse import dense_example
from novikoff.perceptron.dict_fast_path import DictFastPath
from novikoff.perceptron.labelling import add_label, split_at
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.one_at_a_time import ExampleLearner
from novikoff.perceptron.state import State
from novikoff.perceptron.stateful_examples import StatefulExampleLearner

__all__ = ["ModelState"]


@dataclass(frozen=True, eq=False)
class ModelState:
    """The parts of a model that change together.

    While examples are learned one at a time, the example learner is more recent than `state`, and the fast path may be
    more recent than both.

    Attributes
    ----------
    learner : Learner
    labels : Labels
    vocabulary : dict or None
        The index of each feature name, if features have names.
    state : State or None
        None before the first example.
    example_learner, fast_path : optional
        Used to learn from one example at a time.
    """

    learner: Learner
    labels: Labels
    vocabulary: dict[str, int] | None
    state: State | None
    example_learner: ExampleLearner | StatefulExampleLearner | None = None
    fast_path: DictFastPath | None = None

    @property
    def n_features(self) -> int | None:
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return self.state.n_features if self.state is not None else None

    def with_state(self, n_features: int | None = None) -> ModelState:
        """Return a copy whose `state` includes everything learned so far and whose example learner is None.

        If nothing has been learned yet, `state` is a new one with `n_features` features.
        """
        state = self.example_learner.state() if self.example_learner is not None else self.state
        if state is None:
            state = self.learner.init(n_features or self.n_features or 0, max(2, len(self.labels)))
        if self.vocabulary is not None:
            state = state.widen(len(self.vocabulary))
        return replace(self, state=state, example_learner=None, fast_path=None)

    def with_example_learner(self) -> ModelState:
        """Return a copy with an example learner, which adds new names to this vocabulary in place."""
        settled = self.with_state()
        assert settled.state is not None
        if self.learner.engine is not None:
            one_by_one = StatefulExampleLearner(self.learner, settled.state, self.vocabulary)
            return replace(settled, example_learner=one_by_one)
        example_learner = ExampleLearner(self.learner, settled.state, self.vocabulary)
        fast_path = DictFastPath.create_if_supported(example_learner, self.labels)
        return replace(settled, example_learner=example_learner, fast_path=fast_path)

    # -- examples

    def prepare_for(self, x: Any) -> tuple[ModelState, Any]:
        """Return a model state that can learn from an example, and the example as a dict or a float64 array.

        The first example determines whether features have names.
        """
        x = dense_example(x)
        if isinstance(x, Mapping):
            if self.vocabulary is None and self.n_features:
                raise DataError("This model has learned from rows without names; pass arrays, not dicts.")
            return replace(self, vocabulary={}) if self.vocabulary is None else self, dict(x)
        array = self._as_array(x)
        return self if self.state is not None else self.with_state(len(array)), array

    def _as_array(self, x: Any) -> np.ndarray:
        if self.vocabulary is not None:
            raise DataError("This model was trained with named features; pass a dict.")
        x = np.asarray(x)
        if x.ndim != 1 and x.shape[:-1] != (1,):
            raise DataError(f"One example is a dict or a 1-D array, found an array of shape {x.shape}.")
        array = Rows.of(x.reshape(1, -1)).data.astype(np.float64)[0]
        if self.state is not None and len(array) != self.state.n_features:
            raise DataError(
                f"X has {len(array)} features, but this model is expecting {self.state.n_features} features as input."
            )
        return array

    def require_width(self, rows: Rows) -> None:
        """Raise a DataError if the rows do not have as many columns as the weights."""
        if self.state is not None and rows.n_features != self.state.n_features:
            raise DataError(
                f"X has {rows.n_features} features, but this model is expecting {self.state.n_features} features as "
                "input."
            )

    # -- labels

    def with_label(self, y: Any) -> ModelState:
        """Return a copy with one more label."""
        assert self.state is not None
        scale = self.learner.split_scale
        labels, state = add_label(self.labels, self.state, y, lambda state, at: state.insert_class(at, scale=scale))
        return replace(self, labels=labels, state=state)

    def require_labels_fit(self, new: list[Any], first: Any, n_features: int) -> None:
        """Raise a DataError if new labels cannot be sorted together with the known ones, or do not fit the separator.

        `first` is the label of the first row; it is used if no label is known yet.
        """
        trial = self.labels.copy()
        trial.add(*new)
        self.learner.require_separator_fits(len(trial) if len(trial) > 2 else 1, n_features)
        if self.learner.separator is not None and len(self.labels) < 2 <= len(trial):
            single = self.labels if self.labels else Labels([first])
            if single.codes[single.known[0]] != trial.codes[single.known[0]]:
                raise DataError(
                    f"With a separator, the order of the labels must be known in advance: pass classes={trial.known!r}."
                )

    # -- blocks

    def with_names(self, rows: Rows, names: list[str]) -> tuple[ModelState, Rows]:
        """Return a model state whose vocabulary includes the names of the rows' columns, and the rows.

        Known names keep their indices. If names have been added since the rows were made, the columns of the rows are
        reordered.
        """
        vocabulary, reordered = merge_names(names, self.vocabulary or {}, rows.matrix)
        rows = rows if reordered is None else Rows.of(reordered, vocabulary)
        return replace(self, vocabulary=vocabulary), rows

    def codes_of(self, classes: list[Any], class_indices: np.ndarray) -> np.ndarray:
        """Return the class code of each label classes[class_indices[i]]; 0 for an unknown label."""
        return np.array([self.labels.codes.get(label, 0) for label in classes], np.int64)[class_indices]

    def learn_pieces(
        self,
        rows: Rows,
        classes: list[Any],
        class_indices: np.ndarray,
        new_labels: dict[int, Any],
        importances: np.ndarray | None = None,
    ) -> ModelState:
        """Return a copy that has learned from a block.

        The block is split where a new label first occurs. `new_labels` maps the index of the first row with a new label
        to that label.
        """
        assert self.state is not None
        result = replace(self, state=self.state.copy())
        codes = np.zeros(len(class_indices), np.int64)
        for start, stop in split_at(new_labels, len(class_indices)):
            result = result.with_label(new_labels[start]) if start in new_labels else result
            assert result.state is not None
            codes[start:stop] = result.codes_of(classes, class_indices[start:stop])
            state = result.state.widen(rows.n_features)
            result = replace(result, state=self.learner.update(state, rows, codes, None, start, stop, importances))
        if result.state is not None and result.state.history is not None:
            result.state.history.release()
        return result

    def scores(self, rows: Rows) -> np.ndarray:
        """Return the scores of rows by the hypothesis."""
        assert self.state is not None
        if self.vocabulary is not None and rows.is_sparse and rows.n_features < self.state.n_features:
            rows = replace(rows, n_features=self.state.n_features)  # names have been added since the rows were made
        return self.learner.score(self.state, rows)
