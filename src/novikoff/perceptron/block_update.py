"""BlockUpdate: an update by one block of rows that can be completed after an interrupt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from novikoff import rules
from novikoff._compiled.loops.additive import EXAMPLES, UPDATES
from novikoff.inputs.rows import Rows
from novikoff.perceptron.accounting import allocate_log
from novikoff.perceptron.learner import CHUNK, Learner
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits

__all__ = ["BlockUpdate", "are_steps_short"]


class BlockUpdate:
    """An update of a state by one block of rows, which an interrupt at any moment leaves done or not begun.

    `learn` is one compiled call, which no interrupt stops; it changes weights, counts and measures in place.
    `complete_state` changes nothing, so it may be called again after an interrupt. Make one with `prepare`.
    """

    def __init__(
        self, learner: Learner, state: State, rows: Rows, codes: np.ndarray, importances: np.ndarray | None = None
    ) -> None:
        self._learner, self._state = learner, state
        self._visits = Visits(rows, codes, None, 0, len(rows), importances)
        self._examples, self._updates = int(state.counts[EXAMPLES]), int(state.counts[UPDATES])
        self._log = allocate_log(len(rows))

    @classmethod
    def prepare(
        cls, learner: Learner, state: State, rows: Rows, codes: np.ndarray, importances: np.ndarray | None = None
    ) -> BlockUpdate | None:
        """Return an update by rows that hold only finite numbers.

        None if it would take several compiled calls, or if it may fail on the way: if the rule is a function, or if
        importances may make a step too long.
        """
        if len(rows) > CHUNK or isinstance(learner.rule, rules.Custom):
            return None
        if importances is not None and not are_steps_short(learner, rows, importances):
            return None
        codes = learner.check_codes(state, rows, codes)
        return cls(learner, state.to_layout(sparse=rows.is_sparse), rows, codes, importances)

    def learn(self) -> None:
        """Learn from all rows."""
        self._learner.learn_in_place(self._state, self._visits, self._log)

    @property
    def is_learned(self) -> bool:
        return int(self._state.counts[EXAMPLES]) > self._examples

    def complete_state(self) -> State:
        """Return the state with trace and history up to date; it shares the weights that were learned in place."""
        history = self._state.history
        state = replace(
            self._state,
            measures=self._state.measures.copy(),
            trace=self._state.trace.copy(),
            history=history.copy() if history is not None else None,
        )
        n_logged = int(state.counts[UPDATES]) - self._updates
        self._learner.record(state, self._visits, self._examples, self._log, n_logged)
        if state.history is not None:
            state.history.release()
        return state


def are_steps_short(learner: Learner, rows: Rows, importances: np.ndarray) -> bool:
    """Return whether no step on these rows can be too long; False also if that depends on margins."""
    if isinstance(learner.rule, rules.StatefulRule):
        step = 1.0  # what the loop limits is c^2 * |x|^2
    elif learner.rule.depends_only_on_mistakes:
        step = learner.rule.step(0.0, 1.0, True)
    else:
        return False
    largest = step * float(importances.max(initial=0.0))
    squared_norm = 2.0 * (float(rows.squared_norms.max(initial=0.0)) + learner.constant)
    return largest * largest * squared_norm <= rules.LARGEST_SQUARED_UPDATE
