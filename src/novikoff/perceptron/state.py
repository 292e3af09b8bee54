"""The state of a learner: arrays and counters, nothing that decides anything.

raw        the weights as the updates left them; what learning goes on from
sums       for the averaged hypothesis: the sum over updates of (example number - 1) * update, so that the mean
           of all weight vectors after n examples is raw - sums / n. Reading it touches neither.
pocket     for the pocket hypothesis: the weights with the longest run of right answers so far
history    for the voted hypothesis: the updates themselves
counts, measures, trace    what the ledger is made of
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from novikoff._compiled.loops.additive import BEST_RUN, EXAMPLES, RUN, SQUARED_NORM, SQUARED_RADIUS, STEP_SUM
from novikoff.inputs.rows import Rows
from novikoff.perceptron.history import History
from novikoff.perceptron.ledger import Trace
from novikoff.perceptron.weights import Weights

__all__ = ["State"]


@dataclass(eq=False)
class State:
    """What a learner has learned. Made by `Learner.init`, changed by `Learner.update`."""

    raw: Weights
    sums: Weights
    pocket: Weights
    history: History | None
    counts: np.ndarray = field(default_factory=lambda: np.zeros(5, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 0.0, np.inf]))
    trace: Trace = field(default_factory=Trace)
    passes: int = 0
    is_bounded: bool = True  # one learner's run from zero weights, as the mistake bounds suppose

    @property
    def n_features(self) -> int:
        return self.raw.coef.shape[1]

    @property
    def n_classes(self) -> int:
        return max(2, len(self.raw.bias))

    def mean_weights(self) -> Weights:
        """The mean of the weights after each example: w - sums / n, see above."""
        n = max(1, int(self.counts[EXAMPLES]))
        return Weights(self.raw.coef - self.sums.coef / n, self.raw.bias - self.sums.bias / n)

    def longest_runner(self) -> Weights:
        """The weights with the longest run of right answers: those in the pocket, or the present ones."""
        return self.raw if self.counts[RUN] > self.counts[BEST_RUN] else self.pocket

    def votes(self, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        """The mean vote of all weight vectors after each example, for every row."""
        assert self.history is not None
        n = int(self.counts[EXAMPLES])
        return self.history.votes(rows, n, constant=constant, tie=tie, n_classes=self.n_classes) / max(1, n)

    def copy(self) -> State:
        return self._each(
            Weights.copy,
            history=self.history.copy() if self.history is not None else None,
            counts=self.counts.copy(),
            measures=self.measures.copy(),
            trace=self.trace.copy(),
        )

    __copy__ = copy

    def laid_out(self, *, sparse: bool) -> State:
        """In the memory order that rows of this kind are fastest with; itself if it already is."""
        if len(self.raw.bias) == 1 or self.raw.laid_out(sparse=sparse) is self.raw:
            return self
        return self._each(lambda weights: weights.laid_out(sparse=sparse))

    def widened(self, n_features: int) -> State:
        """The same state for data with more features; the new ones weigh nothing."""
        return self if n_features == self.n_features else self._each(lambda weights: weights.widened(n_features))

    def flipped(self) -> State:
        """The same state with the two classes exchanged."""
        history = self.history.recoded(np.array([1, 0])) if self.history is not None else None
        return self._each(lambda weights: weights.scaled(-1.0), history=history)

    def with_class(self, at: int, *, scale: float) -> State:
        """Make room for one more class at place `at`.

        The first time, the one vector w of two classes becomes -scale * w and scale * w: for the perceptron and
        scale 1 that is the very state it would have if both had had a vector from the start.
        """
        grown = self
        if len(self.raw.bias) == 1:
            history = self.history.scaled(scale) if self.history is not None else None
            measures = self.measures.copy()
            measures[SQUARED_RADIUS] *= 2.0
            measures[SQUARED_NORM] *= 2.0 * scale**2
            measures[STEP_SUM] *= scale
            grown = self._each(
                lambda weights: weights.split(scale),
                history=history,
                measures=measures,
                trace=self.trace.scaled(np.sqrt(2.0) * scale),
                is_bounded=self.is_bounded and scale == 1.0,
            )
        places = np.arange(grown.n_classes)
        history = grown.history.recoded(places + (places >= at)) if grown.history is not None else None
        return grown._each(lambda weights: weights.with_class(at), history=history)

    def _each(self, change: Callable[[Weights], Weights], **others: object) -> State:
        """Apply a change to every set of weights that is in use."""
        changed = {
            name: change(getattr(self, name)) if getattr(self, name) else getattr(self, name)
            for name in ("raw", "sums", "pocket")
        }
        return replace(self, **changed, **others)  # type: ignore[arg-type]
