"""State: the arrays and counters of a learner.

raw        the weights after the last update; learning goes on from these
sums       for the averaged hypothesis: the sum over updates of (example number - 1) * update, so that the mean of the
           weight vectors after each of n examples is raw - sums / n
pocket     for the pocket hypothesis: the weights with the longest run of correct answers so far
history    for the voted hypothesis: the updates themselves
memory     for stateful rules: the numbers that they keep for each feature, and others; see slots.py
counts, measures, trace    what the ledger is made from
past, fork_of    which states cannot be merged, since they would count twice what both have learned; see merging.py
latest     for callers that ask which examples of a block moved the weights: the numbers of those of the last compiled
           call, counted from 1 over the run; it is not saved
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import BEST_RUN, EXAMPLES, RUN, SQUARED_NORM, SQUARED_RADIUS, STEP_SUM
from novikoff.inputs.rows import Rows
from novikoff.perceptron.history import History
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.weights import Weights

__all__ = ["State"]

_MOST_HASHED = 1 << 16  # weights that a digest reads, about


@dataclass(eq=False)
class State:
    """What a learner has learned. Made by `Learner.init`, changed by `Learner.update`."""

    raw: Weights
    sums: Weights
    pocket: Weights
    history: History | None
    counts: np.ndarray = field(default_factory=lambda: np.zeros(5, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 0.0, np.inf]))
    trace: LedgerTrace = field(default_factory=LedgerTrace)
    passes: int = 0
    is_bounded: bool = True  # whether it is one learner's run from zero weights, as the mistake bounds assume
    importance_range: tuple[float, float] | None = None  # smallest and largest so far; None: all examples had 1
    memory: Slots | None = None
    past: frozenset[str] = frozenset()  # digests of states from which others may have gone on too
    fork_of: str | None = None  # the digest of the state that this is a fork of
    latest: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        return self.raw.coef.shape[1]

    @property
    def n_classes(self) -> int:
        return max(2, len(self.raw.bias))

    @property
    def slots(self) -> np.ndarray:
        """The numbers that a stateful rule keeps for each feature, (n_features + 1, n_vectors, n_slots); index 0 is the
        constant coordinate, 1 + j is feature j."""
        return self.memory.values if self.memory is not None else np.zeros((self.n_features + 1, len(self.raw.bias), 0))

    def mean_weights(self) -> Weights:
        """Return the mean of the weight vectors after each example, raw - sums / n."""
        n = max(1, int(self.counts[EXAMPLES]))
        return Weights(self.raw.coef - self.sums.coef / n, self.raw.bias - self.sums.bias / n)

    def mean_scores(self, rows: Rows, constant: float) -> np.ndarray:
        """Return the scores of rows by the mean weights, without computing these: cheaper if rows are few and sparse.

        They differ from the scores by `mean_weights` in rounding.
        """
        n = max(1, int(self.counts[EXAMPLES]))
        return self.raw.scores(rows, constant) - self.sums.scores(rows, constant) / n

    def longest_run_weights(self) -> Weights:
        """Return the weights with the longest run of correct answers: the pocket's, or the present ones."""
        return self.raw if self.counts[RUN] > self.counts[BEST_RUN] else self.pocket

    def votes(self, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        """Return for every row the mean vote of the weight vectors after each example."""
        assert self.history is not None
        n = int(self.counts[EXAMPLES])
        return self.history.votes(rows, n, constant=constant, tie=tie, n_classes=self.n_classes) / max(1, n)

    def digest(self) -> str:
        """Return what tells this state from all others that learners come to: counts, measures, and weights, of many
        features a part of them.

        >>> import numpy as np
        >>> from novikoff import Learner, Rows
        >>> state = Learner().init(1)
        >>> before = state.digest()
        >>> Learner().update(state, Rows.of([[1.0]]), np.array([1])).digest() == before
        False
        """
        coef = self.raw.coef[:, :: 1 + self.raw.coef.size // _MOST_HASHED]
        arrays = self.counts, self.measures, self.raw.bias, coef, np.array([self.raw.coef.shape])
        whole = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
        return hashlib.blake2b(whole, digest_size=16).hexdigest()

    def remember_past(self) -> frozenset[str]:
        """Note that another state may go on from here, unless that is noted or nothing has been learned yet; return the
        past that both have in common."""
        if not self.past and self.counts[EXAMPLES]:
            self.past = frozenset([self.digest()])
        return self.past

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields, for pickle and deepcopy."""
        self.remember_past()
        return self.__dict__.copy()

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update({"past": frozenset(), "fork_of": None} | fields)  # older pickles lack these

    def copy(self) -> State:
        self.remember_past()
        return self._map_weights(
            Weights.copy,
            history=self.history.copy() if self.history is not None else None,
            counts=self.counts.copy(),
            measures=self.measures.copy(),
            trace=self.trace.copy(),
            memory=self.memory.copy() if self.memory is not None else None,
        )

    __copy__ = copy

    def to_layout(self, *, sparse: bool) -> State:
        """Return a state in the memory order that is fastest with rows of a kind; this one if it is in it already."""
        if len(self.raw.bias) == 1 or self.raw.to_layout(sparse=sparse) is self.raw:
            return self
        return self._map_weights(lambda weights: weights.to_layout(sparse=sparse))

    def widen(self, n_features: int) -> State:
        """Return a state for rows with more features; the weights of the new ones are 0."""
        if n_features == self.n_features:
            return self
        memory = self.memory.widen(n_features) if self.memory is not None else None
        return self._map_weights(lambda weights: weights.widen(n_features), memory=memory)

    def swap_classes(self) -> State:
        """Return a state with its two classes exchanged."""
        history = self.history.recode_classes(np.array([1, 0])) if self.history is not None else None
        memory = self.memory.swap_classes() if self.memory is not None else None
        return self._map_weights(lambda weights: weights.scale(-1.0), history=history, memory=memory)

    def insert_class(self, code: int, *, scale: float) -> State:
        """Return a state with one more class, which has this code; the codes from there on rise by 1.

        With the third class, the one vector w of two classes becomes two, -scale * w and scale * w. For the perceptron
        and scale 1 this is exactly the state it would have if both classes had had a vector from the start.
        """
        state = self._split_vectors(scale) if len(self.raw.bias) == 1 else self
        old_codes = np.arange(state.n_classes)
        new_codes = old_codes + (old_codes >= code)
        history = state.history.recode_classes(new_codes) if state.history is not None else None
        memory = state.memory.insert_class(code) if state.memory is not None else None
        return state._map_weights(lambda weights: weights.insert_class(code), history=history, memory=memory)

    def _split_vectors(self, scale: float) -> State:
        """Return a state with a vector for each of two classes, which have shared one."""
        # The measures of a stateful rule are those of theta, which becomes -theta and theta.
        of_measures = scale if self.memory is None else 1.0
        measures = self.measures.copy()
        measures[SQUARED_RADIUS] *= 2.0
        measures[SQUARED_NORM] *= 2.0 * of_measures**2
        measures[STEP_SUM] *= of_measures
        return self._map_weights(
            lambda weights: weights.split(scale),
            history=self.history.split_vectors(scale) if self.history is not None else None,
            measures=measures,
            trace=self.trace.scale(np.sqrt(2.0) * of_measures),
            is_bounded=self.is_bounded and scale == 1.0 and self.memory is None,
            memory=self.memory.split_vectors() if self.memory is not None else None,
        )

    def _map_weights(self, change: Callable[[Weights], Weights], **others: object) -> State:
        """Return a state with a change applied to all weights that are in use, and other fields replaced."""
        changed = {
            name: change(getattr(self, name)) if getattr(self, name) else getattr(self, name)
            for name in ("raw", "sums", "pocket")
        }
        return replace(self, **changed, **others)  # type: ignore[arg-type]
