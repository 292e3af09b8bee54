"""Merging the states of learners that ran apart on shards of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novikoff._compiled.loops.additive import (
    BEST_RUN,
    EXAMPLES,
    RUN,
    SEEN_MARGIN,
    SQUARED_NORM,
    SQUARED_RADIUS,
)
from novikoff.errors import MergeError
from novikoff.perceptron.history import History, UpdateSequence
from novikoff.perceptron.importances import join_ranges
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["merge_states"]


def merge_states(states: Sequence[State]) -> State:
    """Merge states into one, each weighted by the number of examples it has seen.

    The raw weights are the weighted mean (iterative parameter mixing: McDonald, Hall & Mann 2010), and the averaged
    weights become the weighted mean of the averages. All weight vectors of a voted learner keep their votes. A single
    state is copied as it is.
    """
    _require_compatible(states)
    if len(states) == 1:
        return states[0].copy()
    seen = np.array([state.counts[EXAMPLES] for state in states], float)
    shares = seen / seen.sum() if seen.sum() else np.full(len(states), 1.0 / len(states))
    raw = _sum_weights([state.raw for state in states], shares)
    counts = np.sum([state.counts for state in states], axis=0)
    counts[RUN] = 0
    longest = max(states, key=lambda state: max(state.counts[BEST_RUN], state.counts[RUN]))
    counts[BEST_RUN] = max(longest.counts[BEST_RUN], longest.counts[RUN])
    return State(
        raw=raw,
        sums=_sum_weights([state.sums for state in states], np.ones(len(states))),
        pocket=longest.longest_run_weights().copy() if longest.pocket else Weights.none(),
        history=_merge_histories(states, raw, int(counts[EXAMPLES])),
        counts=counts,
        measures=_merge_measures(states, shares, raw),
        trace=LedgerTrace(),
        passes=max(state.passes for state in states),
        is_bounded=False,
        importance_range=_merge_importance_ranges(states),
    )


def _merge_importance_ranges(states: Sequence[State]) -> tuple[float, float] | None:
    """Return the range that includes those of all states, of which some may have no importances."""
    if all(state.importance_range is None for state in states):
        return None
    merged = None
    for state in states:
        if state.counts[EXAMPLES]:
            merged = join_ranges(merged, state.importance_range or (1.0, 1.0))
    return merged


def _require_compatible(states: Sequence[State]) -> None:
    if not states:
        raise MergeError("There is nothing to merge: pass at least one state.")
    if len({(state.n_features, len(state.raw.bias)) for state in states}) > 1:
        raise MergeError(
            "States of different shapes cannot be merged: give all learners the same features "
            "and classes before they start."
        )
    if len({(bool(state.sums), bool(state.pocket), state.history is None) for state in states}) > 1:
        raise MergeError("States of learners with different hypotheses cannot be merged.")


def _sum_weights(all_weights: list[Weights], factors: np.ndarray) -> Weights:
    """Return the sum of weights, each times its factor."""
    if not all_weights[0]:
        return Weights.none()
    coef = sum(factor * weights.coef for factor, weights in zip(factors, all_weights, strict=True))
    bias = sum(factor * weights.bias for factor, weights in zip(factors, all_weights, strict=True))
    return Weights(np.asarray(coef), np.asarray(bias))


def _merge_measures(states: Sequence[State], shares: np.ndarray, raw: Weights) -> np.ndarray:
    """Take the largest radius, and the weighted mean of <w, u> and of the sum of steps, as of the weights: so
    |w| / sum of steps still bounds gamma."""
    measures = np.array([state.measures for state in states])
    merged = shares @ np.where(np.isfinite(measures), measures, 0.0)
    merged[SQUARED_RADIUS] = measures[:, SQUARED_RADIUS].max()
    merged[SQUARED_NORM] = raw.norm**2
    merged[SEEN_MARGIN] = measures[:, SEEN_MARGIN].min()
    return merged


def _merge_histories(states: Sequence[State], raw: Weights, examples: int) -> History | None:
    """End all sequences of updates where they are, and begin a new one at the merged weights."""
    sequences: list[UpdateSequence] = []
    for state in states:
        if state.history is None:
            return None
        for sequence in state.history.copy().sequences:
            end = sequence.end if sequence.end is not None else int(state.counts[EXAMPLES])
            sequences.append(replace(sequence, end=end))
    return History([*sequences, UpdateSequence(start=examples, base=raw.copy())])
