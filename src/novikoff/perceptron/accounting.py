"""Recording of a compiled pass: trace, history, and progress along a known separator.

The loop itself counts examples, mistakes and updates, and logs each update. This module derives the rest from the log.
"""

from __future__ import annotations

import numpy as np

from novikoff import rules
from novikoff._compiled.loops.additive import (
    EXAMPLES,
    MISTAKES_SO_FAR,
    POSITION,
    PROGRESS,
    RIVAL,
    SEEN_MARGIN,
    SQUARED_NORM_AFTER,
    STEP,
    UPDATES,
    UpdateLog,
)
from novikoff.errors import RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.importances import join_ranges, weigh_step
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits
from novikoff.perceptron.weights import Weights, margins

__all__ = ["allocate_log", "explain_stop", "record_pass"]


def allocate_log(capacity: int) -> UpdateLog:
    """Return an empty log with capacity for this many updates."""
    return UpdateLog(np.empty((capacity, 3), np.int64), np.empty((capacity, 2)))


def record_pass(
    state: State, visits: Visits, examples_before: int, log: UpdateLog, separator: Weights | None, constant: float
) -> None:
    """Record visits after they have been learned from, given the number of examples before them."""
    _record_importances(state, visits, examples_before)
    state.latest = log.integers[:, POSITION] + (examples_before + 1 - visits.start)
    if len(log.integers):
        _record_updates(state, visits, examples_before, log, separator, constant)
    if separator is not None and visits.stop > visits.start:
        seen = visits.all_row_indices
        seen_margins = margins(separator, Rows.of(visits.rows.take(seen)), visits.codes[seen], constant)
        state.measures[SEEN_MARGIN] = min(state.measures[SEEN_MARGIN], seen_margins.min())


def _record_importances(state: State, visits: Visits, examples_before: int) -> None:
    """Widen the range of importances; examples without one have the importance 1."""
    if visits.stop > visits.start and (visits.importances is not None or state.importance_range is not None):
        before = state.importance_range or ((1.0, 1.0) if examples_before else None)
        state.importance_range = join_ranges(before, visits.importance_range or (1.0, 1.0))


def _record_updates(
    state: State, visits: Visits, examples_before: int, log: UpdateLog, separator: Weights | None, constant: float
) -> None:
    """Add the logged updates to the trace and the history."""
    positions = log.integers[:, POSITION]
    updated = visits.row_indices(positions)
    assert state.latest is not None
    examples = state.latest
    progress = None
    if separator is not None or state.history is not None:
        steps = log.floats[:, STEP].copy()
        classes = np.column_stack([visits.codes[updated], log.integers[:, RIVAL]])
    if separator is not None:
        gains = steps * margins(separator, Rows.of(visits.rows.take(updated)), classes, constant)
        progress = state.measures[PROGRESS] + np.cumsum(gains)
        state.measures[PROGRESS] = progress[-1]
    if state.history is not None:
        state.history.add(visits.rows, updated.copy(), steps, classes, examples)
    first = int(state.counts[UPDATES]) - len(positions) + 1
    state.trace.extend(first, examples, log.integers[:, MISTAKES_SO_FAR], log.floats[:, SQUARED_NORM_AFTER], progress)


def explain_stop(state: State, visits: Visits, position: int, rule: rules.Rule, constant: float) -> Exception:
    """Return the error that explains why a pass stopped at a position: a bad row, a bad step of a custom rule, or a
    step that its importance makes too long."""
    rows, row = visits.rows, int(visits.row_indices(np.array([position]))[0])
    if rows.squared_norms[row] < 0.0:
        return rows.explain_bad_row(row)
    one = Rows.of(rows.take(np.array([row])))
    margin = float(margins(state.raw.to_layout(sparse=one.is_sparse), one, visits.codes[[row]], constant)[0])
    squared_norm = float((rows.squared_norms[row] + constant) * (2.0 if len(state.raw.bias) > 1 else 1.0))
    where = f"At row {row}, example {int(state.counts[EXAMPLES]) + 1:,} of the run: "
    try:
        # Stateful rules limit the importance itself: their steps are at most that of a passive-aggressive rule.
        step = 1.0 if isinstance(rule, rules.StatefulRule) else rule.step(margin, squared_norm, margin <= 0.0)
        if visits.importances is not None:
            weigh_step(step, float(visits.importances[row]), squared_norm)
    except RuleError as error:
        located = RuleError(where + str(error))
        located.__cause__ = error.__cause__
        return located
    assert isinstance(rule, rules.Custom)
    return RuleError(
        f"{where}the rule {rule.name} returns a valid step for margin {margin!r} and squared norm {squared_norm!r} in "
        "Python, but not when compiled. Write it so that rounding cannot change which branch it takes."
    )
