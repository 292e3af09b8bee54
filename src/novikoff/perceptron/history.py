"""History: the updates of a voted perceptron, from which its weight vectors can be rebuilt.

It stores the rows that were updated on, once each per block, instead of one weight vector per update; see
sequence_votes.py for how they vote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.inputs.arrays import bound_row_norms, integer_rows
from novikoff.inputs.rows import Rows
from novikoff.perceptron.sequence_votes import add_votes
from novikoff.perceptron.weights import Weights

__all__ = ["History", "UpdateSequence"]

_CACHED = ("row_norm_bounds", "is_integer")  # properties to compute again after an update has been added
_PER_UPDATE = ("row_indices", "steps", "classes", "examples")


@dataclass(eq=False)
class UpdateSequence:
    """Weight vectors that follow one another: a first one, and the updates in order.

    Each list holds arrays that came together; `compact` concatenates them.
    """

    start: int = 0  # examples seen before the first vector
    end: int | None = None  # examples seen when it ended; None while updates are added
    base: Weights | None = None  # the first vector; None is zero
    blocks: list[Any] = field(default_factory=list)  # stored rows as they came: 2-D arrays or CSR arrays
    n_rows: int = 0
    row_indices: list[np.ndarray] = field(default_factory=list)  # per update: the index of its stored row,
    steps: list[np.ndarray] = field(default_factory=list)  # the step,
    classes: list[np.ndarray] = field(default_factory=list)  # (true class, rival class),
    examples: list[np.ndarray] = field(default_factory=list)  # and the number of its example, from 1

    def add(
        self, rows: Any, row_indices: np.ndarray, steps: np.ndarray, classes: np.ndarray, examples: np.ndarray
    ) -> None:
        """Add updates, and those of their rows that are not stored yet, or None."""
        if rows is not None:
            self.blocks.append(rows)
            self.n_rows += rows.shape[0]
        self.row_indices.append(row_indices)
        self.steps.append(steps)
        self.classes.append(classes)
        self.examples.append(examples)
        for name in _CACHED:
            vars(self).pop(name, None)

    def compact(self) -> None:
        """Concatenate the arrays of each list."""
        for name in _PER_UPDATE:
            arrays = getattr(self, name)
            if len(arrays) > 1:
                setattr(self, name, [np.concatenate(arrays)])
        if len(self.blocks) > 1:
            self.blocks = [_stack_blocks(self.blocks)]

    def copy(self) -> UpdateSequence:
        """Return a copy that can grow on its own; it shares the arrays, which never change."""
        lists = {name: list(getattr(self, name)) for name in ("blocks", *_PER_UPDATE)}
        return replace(self, **lists)  # type: ignore[arg-type]

    def survival_counts(self, now: int) -> np.ndarray:
        """Return how many examples each vector was in force for, that of its update included, after `now` examples."""
        end = now if self.end is None else self.end
        first_examples = np.concatenate([[self.start + 1], *self.examples, [end + 1]])
        return np.diff(first_examples).astype(np.float64)

    @property
    def stored(self) -> Any:
        """All stored rows in double precision; only after `compact`."""
        return self.blocks[0].astype(np.float64, copy=False) if self.blocks else np.empty((0, 0))

    @cached_property
    def row_norm_bounds(self) -> np.ndarray:
        """An upper bound of the length of each stored row."""
        return bound_row_norms(self.stored)[0]

    @cached_property
    def is_integer(self) -> bool:
        """Whether stored rows, steps and first vector are integers, and so are all weight vectors."""
        base = [] if self.base is None else [self.base.coef, self.base.bias[None]]
        parts = [self.stored, *(steps[None] for steps in self.steps), *base]
        return all(bool(integer_rows(values).all()) for values in parts)

    def __getstate__(self) -> dict[str, Any]:
        """Leave cached properties out of pickles and deep copies."""
        return {name: value for name, value in vars(self).items() if name not in _CACHED}


@dataclass(eq=False)
class History:
    """One sequence of updates for a learner that ran by itself; a merge keeps all sequences and begins another."""

    sequences: list[UpdateSequence] = field(default_factory=lambda: [UpdateSequence()])
    _source: Rows | None = None  # the rows that are being learned from,
    _stored_at: np.ndarray | None = None  # and the index of each among the stored rows, or -1: passes share them

    def add(
        self, rows: Rows, updated: np.ndarray, steps: np.ndarray, classes: np.ndarray, examples: np.ndarray
    ) -> None:
        """Add updates on the rows with the indices `updated`."""
        sequence = self.sequences[-1]
        if self._source is not rows or self._stored_at is None:
            self._source, self._stored_at = rows, np.full(len(rows), -1)
        new = np.unique(updated[self._stored_at[updated] < 0])
        self._stored_at[new] = sequence.n_rows + np.arange(new.size)
        sequence.add(rows.take(new) if new.size else None, self._stored_at[updated], steps, classes, examples)

    def prepare_update(self, row: Rows, step: float, classes: tuple[int, int], example: int) -> Callable[[], None]:
        """Return a function that adds one update on one row; when it is called again, it changes nothing more."""
        sequence = self.sequences[-1]
        additions: dict[str, Any] = {
            "blocks": row.take(np.zeros(1, np.int64)),
            "row_indices": np.array([sequence.n_rows]),
            "steps": np.array([step]),
            "classes": np.array([classes]),
            "examples": np.array([example]),
        }
        lists = [(getattr(sequence, name), len(getattr(sequence, name)), [added]) for name, added in additions.items()]
        n_rows = sequence.n_rows + 1

        def add() -> None:
            for of_sequence, length, added in lists:
                of_sequence[length:] = added
            sequence.n_rows = n_rows

        return add

    def compact(self) -> None:
        """Concatenate the many small arrays that single updates leave."""
        for sequence in self.sequences:
            sequence.compact()

    def release(self) -> None:
        """Drop the reference to the caller's rows; the stored ones stay."""
        self._source = self._stored_at = None

    def votes(self, rows: Rows, now: int, *, constant: float, tie: int, n_classes: int) -> np.ndarray:
        """Return the sum of all votes after `now` examples: (queries,) signed for two classes, (queries, classes) for
        more."""
        n_vectors = 1 if n_classes == 2 else n_classes
        votes = np.zeros((n_vectors, len(rows)))
        for sequence in self.sequences:
            sequence.compact()
            add_votes(sequence, rows, now, constant, tie, votes)
        return votes[0] if n_classes == 2 else votes.T

    def copy(self) -> History:
        return History([sequence.copy() for sequence in self.sequences])

    def split_vectors(self, scale: float) -> History:
        """Return a history with two vectors for two classes, and every step times `scale`."""

        def change(sequence: UpdateSequence) -> dict[str, Any]:
            base = sequence.base.split(scale) if sequence.base is not None else None
            return {"steps": [steps * scale for steps in sequence.steps], "base": base}

        return self._map_sequences(change)

    def recode_classes(self, new_codes: np.ndarray) -> History:
        """Return a history in which class k has the code new_codes[k]; a code not in it is that of a new class."""

        def change(sequence: UpdateSequence) -> dict[str, Any]:
            base = sequence.base
            if base is not None and len(base.bias) == 1:
                base = base.scale(-1.0)
            elif base is not None:
                for code in sorted(set(range(len(new_codes) + 1)) - set(new_codes.tolist())):
                    base = base.insert_class(code)
            return {"classes": [new_codes[classes] for classes in sequence.classes], "base": base}

        return self._map_sequences(change)

    def _map_sequences(self, change: Callable[[UpdateSequence], dict[str, Any]]) -> History:
        """Return a history with some fields of each sequence replaced."""
        return History([replace(sequence.copy(), **change(sequence)) for sequence in self.sequences])


def _stack_blocks(blocks: list[Any]) -> Any:
    """Stack blocks of rows; those with fewer columns are filled up with zeros."""
    width = max(block.shape[1] for block in blocks)
    if any(sp.issparse(block) for block in blocks):
        wide = [sp.csr_array(block) for block in blocks]
        for block in wide:
            block.resize(block.shape[0], width)
        return sp.vstack(wide, format="csr")
    return np.concatenate([np.pad(block, ((0, 0), (0, width - block.shape[1]))) for block in blocks])
