"""StatefulExampleLearner: learn_one for stateful rules, as a row of one compiled call.

A stateful rule does too much per feature for plain Python, so a dict or an array becomes a row, and the loop that
learns blocks learns it, in place. An example is learned whole or not at all, as in one_at_a_time.py: everything is
checked and prepared first; then it is assigned to `pending`, and from then on counts as learned. `apply_pending` may be
repeated without harm, since the count of examples tells whether the loop has run. Arrays for new names grow in leaps
(`Weights.widen`, `Slots.widen`).
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from math import hypot
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot

from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, SQUARED_NORM, UPDATES
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM, UNMEASURED
from novikoff.hypotheses import Averaged, Last
from novikoff.inputs.examples import CONVERSION_ERRORS, check_example, explain_bad_example
from novikoff.inputs.rows import Rows
from novikoff.perceptron.accounting import allocate_log, explain_stop
from novikoff.perceptron.block_update import are_steps_short
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits

__all__ = ["StatefulExampleLearner"]

_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)
_PLAIN = {float, int, bool}
_LARGEST_NORM = math.sqrt(0.5 * LARGEST_SQUARED_NORM)  # well below, since a norm may be rounded in several ways
_NO_NAMES: dict[str, int] = {}
_CODES = [np.full(1, code, np.int64) for code in range(64)]  # never written to
_MOST = 256  # names of a dict that is written into a buffer
_DOUBLES: list[Any] = [struct.Struct(f"{n}d").pack_into for n in range(_MOST + 1)]
_INTEGERS: list[Any] = [struct.Struct(f"{n}i").pack_into for n in range(_MOST + 1)]


class _Row(NamedTuple):
    """What engines read of `Rows`, for one row; making `Rows` takes a fifth of the time of an example."""

    data: np.ndarray
    indices: np.ndarray | None
    indptr: np.ndarray | None
    n_features: int
    squared_norms: np.ndarray
    is_sparse: bool

    def __len__(self) -> int:
        return 1

    def as_rows(self) -> Rows:
        data, indices, indptr, n_features, norm, _ = self
        if indices is None or indptr is None:
            return Rows(data, None, None, n_features, norm)
        n = int(indptr[1])
        return Rows(data[:n], indices[:n], indptr, n_features, norm)


class _Pending(NamedTuple):
    """An example that counts as learned."""

    state: State  # with room for its names
    visits: Visits
    new_names: dict[str, int]
    examples: int  # the counts before it
    updates: int
    trace: LedgerTrace
    n_points: int


class StatefulExampleLearner:
    """Learns from one example at a time by a stateful rule, starting from a state, which it copies.

    It has the methods of `ExampleLearner` that a model calls.

    Parameters
    ----------
    learner : Learner
    state : State
    vocabulary : dict, optional
        From the names of features to their indices. With it examples are dicts, and new names are added to it; without
        it they are 1-D float64 arrays.
    """

    def __init__(self, learner: Learner, state: State, vocabulary: dict[str, int] | None = None) -> None:
        assert learner.engine is not None
        self.learner, self.vocabulary = learner, vocabulary
        self.dicts = vocabulary is not None
        self._engine, self._answers_by_last = learner.engine, isinstance(learner.hypothesis, Last)
        self._state = state.copy().to_layout(sparse=self.dicts)
        self._shape = state.raw.coef.shape[1:]
        self._log = allocate_log(1)
        self._buffer = _Buffer()  # of the pending example
        self._free_buffers: list[_Buffer] = []  # for predictions, of which several threads may make some at a time
        self.pending: _Pending | None = None
        self.now: tuple[int] = (int(state.counts[EXAMPLES]),)  # another object after each example
        self._cached_state: tuple[tuple[int], State] | None = None
        learner.require_separator_fits(*state.raw.coef.shape)

    def accepts(self, x: Any) -> bool:
        """Return whether x is a float64 array with as many features as the state."""
        return type(x) is _ARRAY and (x.dtype is _DOUBLE or x.dtype.char == "d") and x.shape == self._shape

    # -- learning

    def learn(self, x: Any, code: int, importance: float | None = None) -> None:
        """Learn from one example of class `code`, of this importance if there is one."""
        state, vocabulary, new_names = self._state, self.vocabulary, _NO_NAMES
        if vocabulary is None:
            row = self._buffer.row_of_array(x)
        else:
            try:
                row = self._buffer.row_of_dict(x, [vocabulary[name] for name in x], len(vocabulary))
            except KeyError:
                new = [name for name in x if name not in vocabulary]
                new_names = {name: index for index, name in enumerate(new, len(vocabulary))}
                extended = vocabulary | new_names
                row = self._buffer.row_of_dict(x, [extended[name] for name in x], len(extended))
        codes = _CODES[code] if code < len(_CODES) else np.array([code])
        visits = Visits(row, codes, None, 0, 1)  # type: ignore[arg-type]  # a row instead of rows
        if importance is not None:
            visits = self._weigh(visits, row.as_rows(), np.array([importance]))
        counts, trace = state.counts, state.trace
        before = int(counts[EXAMPLES]), int(counts[UPDATES])
        wide = state.widen(row.n_features)
        self.pending = _Pending(wide, visits, new_names, *before, trace, len(trace.points))
        self.apply_pending()

    def _weigh(self, visits: Visits, rows: Rows, importances: np.ndarray) -> Visits:
        """Return visits of a row with its importance; raise a RuleError if that is too large."""
        rows.require_numbers()
        visits = visits._replace(rows=rows, importances=importances)
        if not are_steps_short(self.learner, rows, importances):
            raise explain_stop(self._state, visits, 0, self.learner.rule, self.learner.constant)
        return visits

    def apply_pending(self) -> None:
        """Learn the pending example, if there is one. No step has a further effect when it is repeated."""
        pending = self.pending
        if pending is None:
            return
        state, visits, new_names, examples, *_ = pending
        if new_names:
            assert self.vocabulary is not None
            self.vocabulary.update(new_names)
        learner = self.learner
        if state.counts[EXAMPLES] == examples:
            self._engine.learn_in_place(state, visits, self._log, constant=learner.constant, tie=learner.tie)
        if learner.separator is None and state.importance_range is None and visits.importances is None:
            state.trace = _extend_trace(pending)
            self._state = state
        else:
            self._state = self._record_in_full(pending)
        self.now = (examples + 1,)
        self.pending = None

    def _record_in_full(self, pending: _Pending) -> State:
        """Return the state with everything that is recorded of an example; the pending one is not changed."""
        state, visits, _, examples, updates, *_ = pending
        recorded = replace(state, measures=state.measures.copy(), trace=pending.trace.copy())
        rows = visits.rows.as_rows() if isinstance(visits.rows, _Row) else visits.rows
        n_logged = int(state.counts[UPDATES]) - updates
        self.learner.record(recorded, visits._replace(rows=rows), examples, self._log, n_logged)
        return recorded

    # -- predicting

    def decide(self, x: Any) -> int:
        """Return the class code of x under the hypothesis."""
        state, vocabulary = self._state, self.vocabulary  # the state first: names may be added meanwhile
        try:
            buffer = self._free_buffers.pop()
        except IndexError:
            buffer = _Buffer()
        if vocabulary is None:
            row = buffer.row_of_array(x)
        else:
            n_features = state.n_features
            row = buffer.row_of_dict(x, [vocabulary.get(name, n_features) for name in x], n_features)
        scores = self._scores(state, row)
        self._free_buffers.append(buffer)
        if scores.ndim == 1 and scores[0] != 0.0:
            return int(scores[0] > 0.0)
        return int(self.learner.decide(scores)[0])

    def _scores(self, state: State, row: _Row) -> np.ndarray:
        constant = self.learner.constant
        if self._answers_by_last:
            return self._engine.scores(state, row, constant=constant, tie=self.learner.tie)  # type: ignore[arg-type]  # a row instead of rows
        if isinstance(self.learner.hypothesis, Averaged):
            return state.mean_scores(row.as_rows(), constant)
        return self.learner.score(state, row.as_rows())

    # -- the state

    def state(self) -> State:
        """Return everything learned so far in arrays that will not change; features in the order of the vocabulary."""
        if self._cached_state is None or self._cached_state[0] is not self.now:
            self._cached_state = self.now, self._state.copy()
        return self._cached_state[1]

    def compact(self) -> None:
        """Nothing is kept in pieces."""


def _extend_trace(pending: _Pending) -> LedgerTrace:
    """Return the trace with a point for the update on an example, if there was one and its number is on the stride."""
    state, trace = pending.state, pending.trace
    updates = int(state.counts[UPDATES])
    if updates == pending.updates:
        return trace
    n_points = pending.n_points
    if updates > trace.capacity * trace.stride:
        trace = trace.thin(updates)
        n_points = len(trace.points)
    if updates % trace.stride == 0:
        norm = math.sqrt(max(float(state.measures[SQUARED_NORM]), 0.0))
        point = (updates, pending.examples + 1, int(state.counts[MISTAKES]), norm, math.nan)
        trace.points[n_points:] = [point]
    return trace


class _Buffer:
    """Arrays for one row, which are filled again and again: making new ones takes longer than to learn from them."""

    def __init__(self) -> None:
        self.norm, self.indptr = np.empty(1), np.zeros(2, np.int32)
        self.data, self.indices = np.empty(_MOST), np.empty(_MOST, np.int32)

    def row_of_dict(self, x: dict[str, float], columns: list[int], n_features: int) -> _Row:
        """Return a dict, of which these are the columns of its names, as a row with its columns in order.

        Names with a column from n_features on are left out.
        """
        values = list(x.values())
        if not _PLAIN.issuperset(map(type, values)):
            check_example(x)
        try:
            if not hypot(*values) <= _LARGEST_NORM:
                check_example(x)
            in_order = sorted(columns)
            if in_order != columns or (columns and columns[-1] >= n_features):
                pairs = sorted((j, value) for j, value in zip(columns, values, strict=True) if j < n_features)
                columns, values = [j for j, _ in pairs], [value for _, value in pairs]
            n = len(values)
            if n > _MOST:
                return self._row_of_many(values, columns, n_features)
            _DOUBLES[n](self.data, 0, *values)
            _INTEGERS[n](self.indices, 0, *columns)
        except (*CONVERSION_ERRORS, struct.error):
            raise explain_bad_example(x) from None
        self.norm[0], self.indptr[1] = UNMEASURED, n
        return _Row(self.data, self.indices, self.indptr, n_features, self.norm, True)

    def _row_of_many(self, values: list[float], columns: list[int], n_features: int) -> _Row:
        data, indices = np.array(values, np.float64), np.array(columns, np.int32)
        return _Row(data, indices, np.array([0, len(data)], np.int32), n_features, np.full(1, UNMEASURED), True)

    def row_of_array(self, x: np.ndarray) -> _Row:
        """Return a float64 array as a row."""
        x = np.ascontiguousarray(x)
        if not ddot(x, x) <= _LARGEST_NORM**2:
            check_example(x)
        self.norm[0] = UNMEASURED
        return _Row(x.reshape(1, -1), None, None, len(x), self.norm, False)
