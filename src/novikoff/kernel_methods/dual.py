"""The perceptron in dual form, block by block: DualState and DualLearner.

The weights are never formed. What there is of them are the updates in order: which row was kept, which weight vector it
was added to, with which sign, and at which example. Everything follows from these:

    last       f = sum_e sign_e K(x_e, .)
    averaged   f = sum_e sign_e (1 - (example_e - 1) / n) K(x_e, .)          the mean of f after each of n examples
    voted      every f along the way votes, as often as it survived an example

so one run can be read through any of them.

Learning goes through blocks of rows without changing the algorithm. One matrix product gives the kernels of some
thousand rows with those kept so far; their scores follow. Then, a smaller block at a time, what was kept meanwhile is
added, and a compiled loop walks through the block in order, and wherever it updates, adds the update to the scores of
the rows that come after, from the block's own kernel matrix.

Between passes each row keeps its scores and the number of updates in them, and only what came since is added. That is
(vectors + 1) * 8 bytes for a row, where keeping kernel columns would be 8 bytes for a row *and* a kept row; and as
later passes make few mistakes, they cost a fraction of the first two.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from novikoff._compiled.loops import additive, dual, dual_voting
from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, SQUARED_NORM, SQUARED_RADIUS, STEP_SUM, UPDATES
from novikoff.kernel_methods import vote_rounding
from novikoff.kernel_methods.kernels import Potential, UsersPotential
from novikoff.kernel_methods.matrices import require_numbers
from novikoff.kernel_methods.points import Growing, Points, Support
from novikoff.perceptron.learner import TIES
from novikoff.perceptron.ledger import Ledger, Trace
from novikoff.system.threads import share

__all__ = ["HYPOTHESES", "MULTI_CLASS", "DualLearner", "DualState", "Standing"]

HYPOTHESES = ("last", "averaged", "voted")
MULTI_CLASS = ("ovr", "direct")

_AHEAD = 2048  # rows to be brought up to date at a time: the products with them are at full speed
_BLOCK = 256  # rows to be walked through at a time: their own kernel matrix is small beside those products
_UPDATES = 1024  # kept rows to a product: 16 MB of kernels at a time, which stay in the cache for what follows
_COLUMNS = 128  # of it for a thread to bring up to date: what fewer save, starting the thread takes
_PRODUCT_CELLS = 1 << 23  # and 64 MB when all of them vote


_GROWING = ("origins", "slots", "vectors", "signs", "examples")  # arrays of a state that only ever grow


def _grown(dtype: type) -> Growing:
    return Growing(np.empty(0, dtype))


@dataclass(eq=False)
class DualState:
    """What a learner has learned. Made by `DualLearner.init`, changed by `DualLearner.update`.

    Attributes
    ----------
    support : Support
        The rows that were updated on, each once, in the order of their first update.
    origins : Growing of int64
        For each the place of the row in the training set, or in the stream.
    slots, vectors, signs, examples : Growing
        For each update: which row of `support`, which weight vector, +1 or -1, at which example (counted from 1). The
        direct update of many classes is two of these: +1 for the true class, then -1 for its rival.
    born : array of int64
        For each weight vector the examples that there had been before it.
    counts, measures, trace, passes
        What the ledger is made of; |w|^2 is kept up to date at each update, never computed anew.
    n_rows : int
        Different rows met so far.
    """

    born: np.ndarray
    support: Support = field(default_factory=Support)
    origins: Growing = field(default_factory=lambda: _grown(np.int64))
    slots: Growing = field(default_factory=lambda: _grown(np.int64))
    vectors: Growing = field(default_factory=lambda: _grown(np.int64))
    signs: Growing = field(default_factory=lambda: _grown(np.float64))
    examples: Growing = field(default_factory=lambda: _grown(np.int64))
    counts: np.ndarray = field(default_factory=lambda: np.zeros(5, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.zeros(5))
    trace: Trace = field(default_factory=Trace)
    passes: int = 0
    n_rows: int = 0

    @property
    def n_vectors(self) -> int:
        return len(self.born)

    @property
    def n_updates(self) -> int:
        return self.slots.size

    def branch(self) -> DualState:
        """A state to go on from: to learn changes nothing here. Of several branches only one may be used."""
        grown: dict[str, Any] = {name: getattr(self, name).branch() for name in _GROWING}
        return self._with(support=self.support.branch(), **grown)

    def copy(self) -> DualState:
        """The same state; neither changes when the other learns."""
        grown: dict[str, Any] = {name: Growing(getattr(self, name).values) for name in _GROWING}
        return self._with(support=self.support.copy(), **grown)

    def _with(self, **changed: Any) -> DualState:
        return replace(
            self, **changed, counts=self.counts.copy(), measures=self.measures.copy(), trace=self.trace.copy()
        )

    def coefficients(self, hypothesis: str) -> np.ndarray:
        """The weight of each kept row in each weight vector, (vectors, kept rows)."""
        weights = self.signs.values
        if hypothesis == "averaged":
            weights = weights * (1.0 - (self.examples.values - 1) / max(1, int(self.counts[EXAMPLES])))
        cells = self.n_vectors * len(self.support)
        places = self.vectors.values * len(self.support) + self.slots.values
        return np.bincount(places, weights, minlength=cells).reshape(self.n_vectors, -1)

    def flipped(self) -> DualState:
        """The same state with the two classes exchanged."""
        return replace(self, signs=Growing(-self.signs.values))

    def with_class(self, at: int, *, direct: bool) -> DualState:
        """Make room for one more class at place `at`; the first time, w becomes -w and w, one for each of two classes,
        which is the very state they would have if both had had a vector from the start."""
        grown = self._split(direct) if self.n_vectors == 1 else self
        vectors = grown.vectors.values
        born = np.insert(grown.born, at, self.counts[EXAMPLES])
        return replace(grown, vectors=Growing(vectors + (vectors >= at)), born=born)

    def _split(self, direct: bool) -> DualState:
        """Two vectors for two classes: every update adds to one and takes from the other. One against the rest, that
        is an update, and a mistake, of each."""
        ups = (self.signs.values > 0.0).astype(np.int64)
        counts, measures, trace = self.counts.copy(), self.measures.copy(), self.trace.scaled(np.sqrt(2.0))
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
            slots=Growing(np.repeat(self.slots.values, 2)),
            vectors=Growing(np.column_stack([ups, 1 - ups]).reshape(-1)),
            signs=Growing(np.tile([1.0, -1.0], self.n_updates)),
            examples=Growing(np.repeat(self.examples.values, 2)),
            counts=counts,
            measures=measures,
            trace=trace,
        )


class Standing:
    """Where each row of a training set stands: its scores, how many updates are in them, its place among the kept."""

    def __init__(self, n_vectors: int, n_rows: int) -> None:
        self.scores = np.zeros((n_vectors, n_rows))
        self.seen = np.zeros(n_rows, np.int64)
        self.slots = np.full(n_rows, -1)


@dataclass(frozen=True)
class DualLearner:
    """How to learn with a potential function.

    Parameters
    ----------
    potential : Potential or UsersPotential
    multi_class : {"ovr", "direct"}
        One perceptron for each class against the rest, or one whose highest score wins.
    ties : {"mistake", "positive", "negative"}
    block : int
        Rows to a block; no result depends on it, but for the rounding of products that are not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Rows
    >>> from novikoff.kernel_methods import DualLearner, Points, Potential
    >>> xor = Points.of(Rows.of([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> learner = DualLearner(Potential("poly", degree=2, coef0=1.0))
    >>> state = learner.init()
    >>> for _ in range(9):
    ...     state = learner.update(state, xor, np.array([0, 1, 1, 0]))
    >>> np.sign(learner.score(state, xor, "last"))
    array([-1.,  1.,  1., -1.])
    """

    potential: Potential | UsersPotential
    multi_class: str = "ovr"
    ties: str = "mistake"
    block: int = _BLOCK

    @property
    def tie(self) -> int:
        return TIES[self.ties]

    def init(self, n_classes: int = 2) -> DualState:
        """A state that has seen nothing. Two classes share one weight vector; more have one each."""
        return DualState(born=np.zeros(1 if n_classes == 2 else n_classes, np.int64))

    # -- learning

    def update(
        self,
        state: DualState,
        points: Points,
        codes: np.ndarray,
        order: np.ndarray | None = None,
        standing: Standing | None = None,
    ) -> DualState:
        """Learn from rows one by one, in the order given; `standing` is what earlier passes over them found out.

        The arrays of `state` are reused. If a kernel turns out not to be a number, a DataError is raised, and some of
        the rows before it have been learned.
        """
        standing = standing or self.stand(state, len(points))
        order = np.arange(len(points)) if order is None else order
        for begin, end in _pieces(len(order), max(_AHEAD, self.block)):
            self._catch_up(state, points, order[begin:end], standing)
            for first, last in _pieces(end - begin, self.block):
                at = order[begin + first : begin + last]
                self._learn_block(state, points, codes[at], at, standing)
        return state

    def stand(self, state: DualState, n_rows: int) -> Standing:
        """For rows that have not been met before."""
        state.n_rows += n_rows
        return Standing(state.n_vectors, n_rows)

    def _catch_up(self, state: DualState, points: Points, at: np.ndarray, standing: Standing) -> None:
        """Bring rows up to date, many at a time: the kept rows are gone through once for all of them."""
        standing.scores[:, at] = self._caught_up(state, points.take(at), at, standing)
        standing.seen[at] = state.n_updates

    def _learn_block(
        self, state: DualState, points: Points, codes: np.ndarray, at: np.ndarray, standing: Standing
    ) -> None:
        rows = points.take(at)
        scores = self._caught_up(state, rows, at, standing)
        gram = self.potential.gram(rows, at)
        require_numbers(gram, at)
        direct = state.n_vectors > 1 and self.multi_class == "direct"
        most = len(at) * (2 if direct else state.n_vectors)
        log, values = np.empty((most, 3), np.int64), np.empty((most, 2))
        before = state.n_updates, int(state.counts[EXAMPLES]), int(state.counts[UPDATES])
        logged = self._walk(direct, gram, codes, scores, state.counts, state.measures, log, values)
        self._remember(state, points, at, standing, before, log[:logged], values[:logged], 1 + direct)
        standing.scores[:, at] = scores  # of a row drawn twice the last, which numpy promises
        standing.seen[at] = before[0] + np.searchsorted(log[:logged, dual.ROW], np.arange(len(at)), side="right")

    def _walk(self, direct: bool, gram: np.ndarray, codes: np.ndarray, *others: np.ndarray) -> int:
        """Walk through a block; return how many entries of the log there are."""
        return (dual.direct_walk if direct else dual.rest_walk)(gram, codes, self.tie, *others)

    def _caught_up(self, state: DualState, rows: Points, at: np.ndarray, standing: Standing) -> np.ndarray:
        """The scores of a block under the weights as they are now."""
        scores, seen = np.ascontiguousarray(standing.scores[:, at]), standing.seen[at]
        for first in range(int(seen.min(initial=state.n_updates)), state.n_updates, _UPDATES):
            part = slice(first, first + _UPDATES)
            kept, slots = _needed(state.support.points, state.slots.values[part])
            products = self.potential.block(kept, rows)
            vectors, signs = state.vectors.values[part], state.signs.values[part]
            share(partial(dual.catch_up, products, slots, vectors, signs, first, seen, scores), len(at), _COLUMNS)
        require_numbers(scores.T, at)
        return scores

    def _remember(
        self,
        state: DualState,
        points: Points,
        at: np.ndarray,
        standing: Standing,
        before: tuple[int, int, int],
        log: np.ndarray,
        values: np.ndarray,
        entries: int,
    ) -> None:
        """Pass the logged updates on to the state; an update is one entry of the log, or two."""
        if not len(log):
            return
        _, examples, updates = before
        rows = at[log[:, dual.ROW]]
        new = rows[standing.slots[rows] < 0]
        new = new[np.sort(np.unique(new, return_index=True)[1])]  # each once, as they came
        if new.size:
            standing.slots[new] = len(state.support) + np.arange(new.size)
            state.support.extend(points.kept(new))
            state.origins.extend(new + (state.n_rows - len(points)))
        born = log[:, dual.ROW] + (examples + 1)
        state.slots.extend(standing.slots[rows])
        state.vectors.extend(log[:, dual.VECTOR])
        state.signs.extend(values[:, dual.SIGN])
        state.examples.extend(born)
        done = slice(entries - 1, None, entries)
        state.trace.add(
            updates + 1, born[done], log[done, dual.MISTAKES_SO_FAR], values[done, dual.SQUARED_NORM_AFTER], None
        )

    def standing_scores(self, state: DualState, points: Points, standing: Standing) -> np.ndarray:
        """The scores of all rows of a training set under the last weights, (vectors, rows)."""
        for begin, end in _pieces(len(points), _AHEAD):
            self._catch_up(state, points, np.arange(begin, end), standing)
        return standing.scores

    def margins(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """By how much each row is on the right side, from scores (vectors, rows); of many questions the worst."""
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
        """How many mistakes scores (vectors, rows) would be."""
        counts, measures = np.zeros(5, np.int64), np.zeros(5)
        direct = len(scores) > 1 and self.multi_class == "direct"
        log, values = np.empty((2 * len(scores), 3), np.int64), np.empty((2 * len(scores), 2))
        for row in range(len(codes)):  # a walk through one row changes nothing but its own scores
            one = scores[:, row : row + 1].copy()
            self._walk(direct, np.zeros((1, 1)), codes[row : row + 1], one, counts, measures, log, values)
        return int(counts[MISTAKES])

    # -- reading

    def score(self, state: DualState, points: Points, hypothesis: str) -> np.ndarray:
        """What the hypothesis says: (rows,) for two classes, positive for class 1; (rows, classes) for many."""
        scores = np.zeros((state.n_vectors, len(points)))
        if hypothesis != "voted":
            self._sum(state, points, state.coefficients(hypothesis), scores)
        else:
            self._vote(state, points, scores)
            scores /= max(1, int(state.counts[EXAMPLES]))
        return scores[0] if state.n_vectors == 1 else scores.T

    def _sum(self, state: DualState, points: Points, coefficients: np.ndarray, scores: np.ndarray) -> None:
        for begin, end in _pieces(len(points), _AHEAD):
            rows = points.take(np.arange(begin, end))
            for first, last in _pieces(len(state.support), _UPDATES):
                kept = state.support.points.take(np.arange(first, last))
                scores[:, begin:end] += coefficients[:, first:last] @ self.potential.block(kept, rows)

    def _vote(self, state: DualState, points: Points, votes: np.ndarray) -> None:
        """Running sums over the updates, for all weight vectors there ever were, a block of queries at a time."""
        if not len(state.support):
            nothing = np.empty((0, len(points))), None, np.empty(0, np.int64), np.empty(0), np.zeros(len(points))
            self._cast(state, *nothing, votes)
            return
        kept, polynomial, n_updates = state.support.points, self.potential.polynomial, state.n_updates
        twins = vote_rounding.twins(kept)
        for begin, end in _pieces(len(points), max(1, _PRODUCT_CELLS // len(kept))):
            rows = points.take(np.arange(begin, end))
            lengths, reach = np.zeros(len(kept)), np.zeros(len(rows))
            if polynomial is not None:
                lengths, reach = vote_rounding.reach(polynomial, kept, rows, n_updates)
            products = self.potential.block(kept, rows)
            near = self._cast(state, products, None, twins, lengths, reach, votes[:, begin:end])
            if polynomial is not None and near.size:
                found, reach = np.empty((len(votes), len(near))), vote_rounding.reach_in_twice(reach[near], n_updates)
                kernels = vote_rounding.kernels_in_twice(polynomial, kept, rows.take(near))
                self._cast(state, *kernels, twins, lengths, reach, found)
                votes[:, begin + near] = found

    def _cast(
        self,
        state: DualState,
        high: np.ndarray,
        low: np.ndarray | None,
        twins: np.ndarray,
        lengths: np.ndarray,
        reach: np.ndarray,
        votes: np.ndarray,
    ) -> np.ndarray:
        """Fill in the votes on queries with these kernels; return the queries where a score was within reach of a tie,
        but for those that are exact."""
        votes[:] = 0.0
        near, now, last = np.zeros(votes.shape[1], bool), int(state.counts[EXAMPLES]), self.tie != additive.TIE_NEGATIVE
        slots, vectors, examples = state.slots.values, state.vectors.values, state.examples.values
        sums = np.zeros(votes.shape), np.zeros(votes.shape), np.zeros((len(votes), len(twins) + 1))
        given = lengths, reach, sums, np.zeros(votes.shape), votes, near
        if len(votes) > 1 and self.multi_class == "direct":
            survived = np.diff(np.concatenate([[1], examples[::2], [now + 1]])).astype(np.float64)
            updates = slots[::2].copy(), vectors[::2].copy(), vectors[1::2].copy(), twins
            dual_voting.direct_votes(high, low, *updates, survived, last, *given)
        else:
            signed = slots, vectors, state.signs.values, twins, examples, state.born.copy()
            dual_voting.rest_votes(high, low, *signed, now, 1.0 if last else -1.0, *given)
        return np.flatnonzero(near)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The classes that scores stand for. Equal scores go to the last class, or the first if ties are negative."""
        first = self.tie == additive.TIE_NEGATIVE
        if scores.ndim == 1:
            return (scores > 0.0 if first else scores >= 0.0).astype(np.int64)
        if first:
            return scores.argmax(axis=1)
        return scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)

    def ledger(self, state: DualState) -> Ledger:
        """The account of how this state came to be; where K is no inner product nothing follows from it."""
        counts, measures, proved = state.counts.tolist(), state.measures, self.potential.is_positive
        return Ledger(
            examples=counts[EXAMPLES],
            mistakes=counts[MISTAKES],
            updates=counts[UPDATES],
            passes=state.passes,
            radius=float(np.sqrt(max(0.0, measures[SQUARED_RADIUS]))),
            norm=float(np.sqrt(max(0.0, measures[SQUARED_NORM]))),
            step_sum=float(measures[STEP_SUM]) if proved else 0.0,
            trace=state.trace.copy(),
            n_weights=_looseness(counts[UPDATES], measures),
            is_bounded=proved,
        )


def _needed(points: Points, slots: np.ndarray) -> tuple[Points, np.ndarray]:
    """The kept rows that some updates are about, and where among them each is; neighbours are not copied."""
    low, high = int(slots.min()), int(slots.max())
    if high - low < 2 * len(slots):
        return points.take(np.arange(low, high + 1)), slots - low
    needed, places = np.unique(slots, return_inverse=True)
    return points.take(needed), places


def _pieces(n: int, size: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def _looseness(updates: int, measures: np.ndarray) -> int:
    """How many units of rounding |w| may be off by: a score after k updates by k R^2 of them, |w|^2 by k such scores
    (and a kernel itself by a hundred). The ledger rounds outwards by so much."""
    if measures[SQUARED_NORM] <= 0.0:
        return 1
    return int(min(2.0**52, 100.0 * (updates + 1.0) ** 2 * measures[SQUARED_RADIUS] / measures[SQUARED_NORM]))
