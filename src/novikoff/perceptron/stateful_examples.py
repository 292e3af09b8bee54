"""StatefulExampleLearner: learn_one for stateful rules, as a row of one compiled call.

A stateful rule does too much per feature for plain Python, so a dict or an array becomes a row, and the loop that learns
blocks learns it, in place. An example is learned whole or not at all, as in one_at_a_time.py: everything is checked and
prepared first; then it is assigned to `pending`, and from then on counts as learned. `apply_pending` may be repeated
without harm, since the count of examples tells whether the loop has run. Arrays for new names grow in leaps
(`Weights.widen`, `Slots.widen`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

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
_CODES = [np.full(1, code, np.int64) for code in range(64)]  # never written to


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
        return Rows(*self[:5])


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
        state, new_names = self._state, {}
        if self.vocabulary is not None:
            known = self.vocabulary
            if not all(map(known.__contains__, x)):
                new = [name for name in x if name not in known]
                new_names = {name: index for index, name in enumerate(new, len(known))}
            row = _row_of_dict(x, known | new_names if new_names else known, len(known) + len(new_names))
        else:
            row = _row_of_array(x)
        codes = _CODES[code] if code < len(_CODES) else np.array([code])
        visits = Visits(row, codes, None, 0, 1)  # type: ignore[arg-type]  # a row instead of rows
        if importance is not None:
            visits = visits._replace(rows=row.as_rows(), importances=np.array([importance]))
            visits.rows.require_numbers()
            if not are_steps_short(self.learner, visits.rows, visits.importances):
                raise explain_stop(state, visits, 0, self.learner.rule, self.learner.constant)
        counts, trace = state.counts, state.trace
        self.pending = _Pending(
            state.widen(row.n_features),
            visits,
            new_names,
            int(counts[EXAMPLES]),
            int(counts[UPDATES]),
            trace,
            len(trace.points),
        )
        self.apply_pending()

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
        state = self._state  # read before the vocabulary, which may grow meanwhile
        if self.vocabulary is not None:
            row = _row_of_dict(x, self.vocabulary, state.n_features)
        else:
            row = _row_of_array(x)
        scores = self._scores(state, row)
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
        norm = float(np.sqrt(max(state.measures[SQUARED_NORM], 0.0)))
        point = (updates, pending.examples + 1, int(state.counts[MISTAKES]), norm, float("nan"))
        trace.points[n_points:] = [point]
    return trace


def _row_of_dict(x: dict[str, float], vocabulary: dict[str, int], n_features: int) -> _Row:
    """Return a dict as a row with its columns in order; names without a column below n_features are left out."""
    try:
        values = list(x.values())
        if not _PLAIN.issuperset(map(type, values)):
            check_example(x)
        try:
            columns = [vocabulary[name] for name in x]
            is_known = not columns or max(columns) < n_features
        except KeyError:
            is_known = False
        if not is_known:
            check_example(x)
            known = [(vocabulary[name], v) for name, v in x.items() if vocabulary.get(name, n_features) < n_features]
            columns, values = [j for j, _ in known], [v for _, v in known]
        if any(map(int.__gt__, columns, columns[1:])):
            pairs = sorted(zip(columns, values, strict=True))
            columns, values = [j for j, _ in pairs], [v for _, v in pairs]
        data = np.array(values, np.float64)
    except CONVERSION_ERRORS:
        raise explain_bad_example(x) from None
    if not data.dot(data) <= 0.5 * LARGEST_SQUARED_NORM:
        check_example(x)
    indptr = np.array([0, len(values)], np.int32)
    return _Row(data, np.array(columns, np.int32), indptr, n_features, np.full(1, UNMEASURED), True)


def _row_of_array(x: np.ndarray) -> _Row:
    """Return a float64 array as a row."""
    x = np.ascontiguousarray(x)
    if not x.dot(x) <= 0.5 * LARGEST_SQUARED_NORM:
        check_example(x)
    return _Row(x.reshape(1, -1), None, None, len(x), np.full(1, UNMEASURED), False)
