"""DualState: what a kernel perceptron has learned, as its updates in order.

The weights are never formed. What is stored instead are the updates: which row was kept, which weight vector it was
added to, with which sign, and at which example. Everything follows from these:

    last       f = sum_e sign_e K(x_e, .)
    averaged   f = sum_e sign_e (1 - (example_e - 1) / n) K(x_e, .)          the mean of f after each of n examples
    voted      every f along the run votes, as often as it survived an example

so one run can be read through any of these hypotheses.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, SQUARED_NORM, SQUARED_RADIUS, STEP_SUM, UPDATES
from novikoff.kernel_methods.points import GrowingArray, Support
from novikoff.perceptron.ledger import LedgerTrace

__all__ = ["DualState", "RowScores"]

_GROWING = ("origins", "slots", "vectors", "signs", "examples")  # attributes that are growing arrays


def _empty(dtype: type) -> GrowingArray:
    return GrowingArray(np.empty(0, dtype))


@dataclass(eq=False)
class DualState:
    """The state of a dual learner. Made by `DualLearner.init`, changed by `DualLearner.update`.

    Attributes
    ----------
    support : Support
        The rows that were updated on, each once, in the order of their first update.
    origins : GrowingArray of int64
        For each of them, its index in the training set or in the stream.
    slots, vectors, signs, examples : GrowingArray
        For each update: the row of `support`, the weight vector, +1 or -1, and the example, counted from 1. A direct
        update of many classes is stored as two: +1 for the true class, then -1 for its rival.
    born : array of int64
        For each weight vector, the number of examples before its class was met.
    counts, measures, trace, passes
        What the ledger is computed from; |w|^2 is updated at each update, never computed anew.
    n_rows : int
        Number of different rows met so far.
    """

    born: np.ndarray
    support: Support = field(default_factory=Support)
    origins: GrowingArray = field(default_factory=lambda: _empty(np.int64))
    slots: GrowingArray = field(default_factory=lambda: _empty(np.int64))
    vectors: GrowingArray = field(default_factory=lambda: _empty(np.int64))
    signs: GrowingArray = field(default_factory=lambda: _empty(np.float64))
    examples: GrowingArray = field(default_factory=lambda: _empty(np.int64))
    counts: np.ndarray = field(default_factory=lambda: np.zeros(5, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.zeros(5))
    trace: LedgerTrace = field(default_factory=LedgerTrace)
    passes: int = 0
    n_rows: int = 0

    @property
    def n_vectors(self) -> int:
        return len(self.born)

    @property
    def n_updates(self) -> int:
        return self.slots.size

    def derive(self) -> DualState:
        """Return a state to learn with, which leaves this one unchanged; see `GrowingArray.derive`."""
        grown: dict[str, Any] = {name: getattr(self, name).derive() for name in _GROWING}
        return self._with(support=self.support.derive(), **grown)

    def copy(self) -> DualState:
        """Return a copy; neither changes when the other learns."""
        grown: dict[str, Any] = {name: GrowingArray(getattr(self, name).values) for name in _GROWING}
        return self._with(support=self.support.copy(), **grown)

    def _with(self, **changed: Any) -> DualState:
        return replace(
            self, **changed, counts=self.counts.copy(), measures=self.measures.copy(), trace=self.trace.copy()
        )

    def coefficients(self, hypothesis: str) -> np.ndarray:
        """Return the coefficient of each kept row in each weight vector, of shape (n_vectors, n_support)."""
        weights = self.signs.values
        if hypothesis == "averaged":
            weights = weights * (1.0 - (self.examples.values - 1) / max(1, int(self.counts[EXAMPLES])))
        cells = self.n_vectors * len(self.support)
        flat_indices = self.vectors.values * len(self.support) + self.slots.values
        return np.bincount(flat_indices, weights, minlength=cells).reshape(self.n_vectors, -1)

    def swap_classes(self) -> DualState:
        """Return a state with the two classes exchanged."""
        return replace(self, signs=GrowingArray(-self.signs.values))

    def insert_class(self, at: int, *, direct: bool) -> DualState:
        """Return a state with one more class, of code `at`.

        A third class makes of w two vectors, -w and w: the very state that two classes would have if both had had a
        vector from the start.
        """
        grown = self._split(direct) if self.n_vectors == 1 else self
        vectors = grown.vectors.values
        born = np.insert(grown.born, at, self.counts[EXAMPLES])
        return replace(grown, vectors=GrowingArray(vectors + (vectors >= at)), born=born)

    def _split(self, direct: bool) -> DualState:
        """Return a state with a vector for each of two classes: every update adds to one and subtracts from the other.

        With one classifier per class, that is an update, and a mistake, of each.
        """
        ups = (self.signs.values > 0.0).astype(np.int64)
        counts, measures, trace = self.counts.copy(), self.measures.copy(), self.trace.scale(np.sqrt(2.0))
        measures[SQUARED_NORM] *= 2.0
        if direct:
            measures[SQUARED_RADIUS] *= 2.0
        else:
            measures[STEP_SUM] *= 2.0
            counts[[MISTAKES, UPDATES]] *= 2
            trace.points = [(2 * k, t, 2 * m, *sizes) for k, t, m, *sizes in trace.points]
        return replace(
            self,
            born=np.zeros(2, np.int64),
            slots=GrowingArray(np.repeat(self.slots.values, 2)),
            vectors=GrowingArray(np.column_stack([ups, 1 - ups]).reshape(-1)),
            signs=GrowingArray(np.tile([1.0, -1.0], self.n_updates)),
            examples=GrowingArray(np.repeat(self.examples.values, 2)),
            counts=counts,
            measures=measures,
            trace=trace,
        )


class RowScores:
    """The scores of the rows of a training set, kept between passes.

    Attributes
    ----------
    scores : array of shape (n_vectors, n_rows)
    seen : array of int64
        For each row, how many updates are included in its scores.
    slots : array of int64
        For each row, its index in the support; -1 if it is not kept.
    """

    def __init__(self, n_vectors: int, n_rows: int) -> None:
        self.scores = np.zeros((n_vectors, n_rows))
        self.seen = np.zeros(n_rows, np.int64)
        self.slots = np.full(n_rows, -1)
