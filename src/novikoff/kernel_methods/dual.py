"""DualLearner: the perceptron in dual form, block by block.

Learning goes through blocks of rows without changing the algorithm. One matrix product gives the kernel values of some
thousand rows with those kept so far, and with them their scores. Then, for one smaller block after the other, the
updates that were made meanwhile are added; a compiled loop goes through the block in order and, wherever it updates,
adds the update to the scores of the rows that follow, from the kernel matrix of the block.

Between passes each row keeps its scores and the number of updates in them, and only later updates are added. That takes
(vectors + 1) * 8 bytes for a row, where storing kernel columns would take 8 bytes for each pair of a row and a kept
row; and as later passes make few mistakes, they cost a fraction of the first two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from novikoff._compiled.loops import dual
from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, SQUARED_NORM, SQUARED_RADIUS, STEP_SUM, UPDATES
from novikoff.kernel_methods.dual_state import DualState, RowScores
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.kernel_methods.matrices import require_numbers
from novikoff.kernel_methods.points import Points
from novikoff.kernel_methods.voting import VoteCounter
from novikoff.perceptron.labelling import decide
from novikoff.perceptron.learner import TIES
from novikoff.perceptron.ledger import Ledger
from novikoff.system.threads import run_in_threads

__all__ = ["HYPOTHESES", "MULTI_CLASS", "DualHypothesis", "DualLearner", "MultiClass"]

DualHypothesis: TypeAlias = Literal["last", "averaged", "voted"]
MultiClass: TypeAlias = Literal["ovr", "direct"]
HYPOTHESES: tuple[DualHypothesis, ...] = get_args(DualHypothesis)
MULTI_CLASS: tuple[MultiClass, ...] = get_args(MultiClass)

_AHEAD = 2048  # rows whose scores are updated at a time: enough for matrix products to run at full speed
_BLOCK = 256  # rows that are learned at a time: their own kernel matrix is small beside those products
_UPDATES = 1024  # kept rows in a product: 16 MB of kernel values, which stay in the cache for what follows
_COLUMNS = 128  # rows for a thread to update scores of: fewer would save less than starting the thread takes


@dataclass(frozen=True)
class DualLearner:
    """How to learn with a kernel.

    Parameters
    ----------
    kernel : Kernel or CustomKernel
    multi_class : {"ovr", "direct"}
        With three classes or more: one perceptron for each class against the rest, or the highest score wins.
    ties : {"mistake", "positive", "negative"}
    block : int
        Rows to a block; results do not depend on it, but for the rounding of products that are not integers.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Rows
    >>> from novikoff.kernel_methods import DualLearner, Kernel, Points
    >>> xor = Points.of(Rows.of([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> learner = DualLearner(Kernel("poly", degree=2, coef0=1.0))
    >>> state = learner.init()
    >>> for _ in range(9):
    ...     state = learner.update(state, xor, np.array([0, 1, 1, 0]))
    >>> np.sign(learner.score(state, xor, "last"))
    array([-1.,  1.,  1., -1.])
    """

    kernel: Kernel | CustomKernel
    multi_class: str = "ovr"
    ties: str = "mistake"
    block: int = _BLOCK

    @property
    def tie(self) -> int:
        return TIES[self.ties]

    def init(self, n_classes: int = 2) -> DualState:
        """Return a state that has seen nothing. Two classes share one weight vector; more have one each."""
        return DualState(born=np.zeros(1 if n_classes == 2 else n_classes, np.int64))

    # -- learning

    def update(
        self,
        state: DualState,
        points: Points,
        codes: np.ndarray,
        order: np.ndarray | None = None,
        row_scores: RowScores | None = None,
    ) -> DualState:
        """Learn from rows one by one, in the order given; `row_scores` are those of earlier passes over them.

        The arrays of `state` are reused. At a kernel value that is NaN or infinite a DataError is raised, and some of
        the rows before it have been learned.
        """
        row_scores = row_scores or self.start_scores(state, len(points))
        order = np.arange(len(points)) if order is None else order
        for begin, end in _ranges(len(order), max(_AHEAD, self.block)):
            self._update_scores(state, points, order[begin:end], row_scores)
            for first, last in _ranges(end - begin, self.block):
                at = order[begin + first : begin + last]
                self._learn_block(state, points, codes[at], at, row_scores)
        return state

    def start_scores(self, state: DualState, n_rows: int) -> RowScores:
        """Return zero scores for rows that have not been met before."""
        state.n_rows += n_rows
        return RowScores(state.n_vectors, n_rows)

    def _update_scores(self, state: DualState, points: Points, at: np.ndarray, row_scores: RowScores) -> None:
        """Add recent updates to the scores of many rows, so that the kept rows are read once for all of them."""
        row_scores.scores[:, at] = self._scores_now(state, points.take(at), at, row_scores)
        row_scores.seen[at] = state.n_updates

    def _learn_block(
        self, state: DualState, points: Points, codes: np.ndarray, at: np.ndarray, row_scores: RowScores
    ) -> None:
        rows = points.take(at)
        scores = self._scores_now(state, rows, at, row_scores)
        gram = self.kernel.gram(rows, at)
        require_numbers(gram, at)
        direct = self._is_direct(state)
        most = len(at) * (2 if direct else state.n_vectors)
        log, values = np.empty((most, 3), np.int64), np.empty((most, 2))
        before = state.n_updates, int(state.counts[EXAMPLES]), int(state.counts[UPDATES])
        logged = self._run_block(direct, gram, codes, scores, state.counts, state.measures, log, values)
        self._append_updates(state, points, at, row_scores, before, log[:logged], values[:logged], 1 + direct)
        row_scores.scores[:, at] = scores  # for a row drawn twice numpy assigns the last
        row_scores.seen[at] = before[0] + np.searchsorted(log[:logged, dual.ROW], np.arange(len(at)), side="right")

    def _is_direct(self, state: DualState) -> bool:
        return state.n_vectors > 1 and self.multi_class == "direct"

    def _run_block(self, direct: bool, gram: np.ndarray, codes: np.ndarray, *others: np.ndarray) -> int:
        """Learn from a block in order; return the number of entries in the log."""
        return (dual.learn_direct if direct else dual.learn_one_vs_rest)(gram, codes, self.tie, *others)

    def _scores_now(self, state: DualState, rows: Points, at: np.ndarray, row_scores: RowScores) -> np.ndarray:
        """Return the scores of a block under the present weights."""
        scores, seen = np.ascontiguousarray(row_scores.scores[:, at]), row_scores.seen[at]
        for first in range(int(seen.min(initial=state.n_updates)), state.n_updates, _UPDATES):
            part = slice(first, first + _UPDATES)
            support, slots = _rows_of_updates(state.support.points, state.slots.values[part])
            products = self.kernel.block(support, rows)
            vectors, signs = state.vectors.values[part], state.signs.values[part]
            run_in_threads(
                partial(dual.catch_up, products, slots, vectors, signs, first, seen, scores), len(at), _COLUMNS
            )
        require_numbers(scores.T, at)
        return scores

    def _append_updates(
        self,
        state: DualState,
        points: Points,
        at: np.ndarray,
        row_scores: RowScores,
        before: tuple[int, int, int],
        log: np.ndarray,
        values: np.ndarray,
        entries: int,
    ) -> None:
        """Append logged updates to the state; an update is one entry of the log, or two."""
        if not len(log):
            return
        _, examples, updates = before
        rows = at[log[:, dual.ROW]]
        new = rows[row_scores.slots[rows] < 0]
        new = new[np.sort(np.unique(new, return_index=True)[1])]  # each once, in the order of their first update
        if new.size:
            row_scores.slots[new] = len(state.support) + np.arange(new.size)
            state.support.extend(points.copy_rows(new))
            state.origins.extend(new + (state.n_rows - len(points)))
        at_example = log[:, dual.ROW] + (examples + 1)
        state.slots.extend(row_scores.slots[rows])
        state.vectors.extend(log[:, dual.VECTOR])
        state.signs.extend(values[:, dual.SIGN])
        state.examples.extend(at_example)
        done = slice(entries - 1, None, entries)
        state.trace.extend(
            updates + 1, at_example[done], log[done, dual.MISTAKES_SO_FAR], values[done, dual.SQUARED_NORM_AFTER], None
        )

    def current_scores(self, state: DualState, points: Points, row_scores: RowScores) -> np.ndarray:
        """Return the scores of all rows of a training set under the last weights, of shape (n_vectors, n_rows)."""
        for begin, end in _ranges(len(points), _AHEAD):
            self._update_scores(state, points, np.arange(begin, end), row_scores)
        return row_scores.scores

    def margins(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the margin of each row, from scores of shape (n_vectors, n_rows); with "ovr" its least margin."""
        each = np.arange(len(codes))
        if len(scores) == 1:
            return scores[0] * (2 * codes - 1)
        if self.multi_class == "ovr":
            signs = np.full(scores.shape, -1.0)
            signs[codes, each] = 1.0
            return (signs * scores).min(axis=0)
        others = scores.copy()
        others[codes, each] = -np.inf
        return scores[codes, each] - others.max(axis=0)

    def errors(self, scores: np.ndarray, codes: np.ndarray) -> int:
        """Count the mistakes that scores of shape (n_vectors, n_rows) would be."""
        counts, measures = np.zeros(5, np.int64), np.zeros(5)
        direct = len(scores) > 1 and self.multi_class == "direct"
        log, values = np.empty((2 * len(scores), 3), np.int64), np.empty((2 * len(scores), 2))
        for row in range(len(codes)):  # one row by itself changes no scores but its own
            one = scores[:, row : row + 1].copy()
            self._run_block(direct, np.zeros((1, 1)), codes[row : row + 1], one, counts, measures, log, values)
        return int(counts[MISTAKES])

    # -- reading

    def score(self, state: DualState, points: Points, hypothesis: str) -> np.ndarray:
        """Return scores under the hypothesis, (rows,) for two classes, positive for class 1, or (rows, classes)."""
        if hypothesis != "voted":
            scores = self._sum(state, points, state.coefficients(hypothesis))
        else:
            scores = VoteCounter(self.kernel, state, direct=self._is_direct(state), tie=self.tie).count(points)
            scores /= max(1, int(state.counts[EXAMPLES]))
        return scores[0] if state.n_vectors == 1 else scores.T

    def _sum(self, state: Any, points: Points, coefficients: np.ndarray) -> np.ndarray:
        """Return the sums of coefficients times kernel values, of shape (n_vectors, n_points)."""
        scores = np.zeros((state.n_vectors, len(points)))
        for begin, end in _ranges(len(points), _AHEAD):
            rows = points.take(np.arange(begin, end))
            for first, last in _ranges(len(state.support), _UPDATES):
                support = state.support.points.take(np.arange(first, last))
                scores[:, begin:end] += coefficients[:, first:last] @ self.kernel.block(support, rows)
        return scores

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return the class codes for scores. Equal scores go to the last class, or the first if ties are negative."""
        return decide(scores, self.tie)

    def ledger(self, state: DualState) -> Ledger:
        """Return the ledger of a state; if K is no inner product, no bound follows from it."""
        counts, measures, proved = state.counts.tolist(), state.measures, self.kernel.is_positive
        return Ledger(
            examples=counts[EXAMPLES],
            mistakes=counts[MISTAKES],
            updates=counts[UPDATES],
            passes=state.passes,
            radius=float(np.sqrt(max(0.0, measures[SQUARED_RADIUS]))),
            norm=float(np.sqrt(max(0.0, measures[SQUARED_NORM]))),
            step_sum=float(measures[STEP_SUM]) if proved else 0.0,
            trace=state.trace.copy(),
            n_weights=_rounding_units(counts[UPDATES], measures),
            is_bounded=proved,
        )


def _rows_of_updates(points: Points, slots: np.ndarray) -> tuple[Points, np.ndarray]:
    """Return the kept rows of some updates, and the index of each update's row among them; a slice is not copied."""
    low, high = int(slots.min()), int(slots.max())
    if high - low < 2 * len(slots):
        return points.take(np.arange(low, high + 1)), slots - low
    distinct, indices = np.unique(slots, return_inverse=True)
    return points.take(distinct), indices


def _ranges(n: int, size: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def _rounding_units(updates: int, measures: np.ndarray) -> int:
    """Return how many units of rounding |w| may be off by; the ledger rounds outwards by as many.

    A score after k updates may be off by k R^2 units, |w|^2 by k such scores, and a kernel value by a hundred units.
    """
    if measures[SQUARED_NORM] <= 0.0:
        return 1
    return int(min(2.0**52, 100.0 * (updates + 1.0) ** 2 * measures[SQUARED_RADIUS] / measures[SQUARED_NORM]))
