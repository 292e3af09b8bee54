"""Merging the states of learners that ran apart on shards of the data, and joining those that went on from one state.

    problem   several learners, one model: iterative parameter mixing
    given     a state with weights w after n examples; forks of it, each with weights w_i after m_i examples of its own;
              shares mu_i >= 0 that sum to 1
    result    weights w' = sum mu_i w_i; all counts added up; for averages the mean of the vectors after each example of
              all learners: sums' = sums + n (w' - w) + sum sums_i + sum m_i (w' - w_i), where the last sum is 0 if the
              shares are proportional to m_i
    source    McDonald, Hall and Mann 2010, "Distributed training strategies for the structured perceptron"

For the perceptron, sum over rounds and learners of mu_i k_i <= (R / gamma)^2, k_i the mistakes of a learner in a round:
<w, u> grows by at least mu_i k_i gamma, and |w'|^2 <= sum mu_i |w_i|^2 <= |w|^2 + sum mu_i k_i R^2. `STEP_SUM` is that
sum, and |w| / STEP_SUM bounds gamma. A merge is a join of runs that began with weights 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novikoff._compiled.loops.additive import (
    BEST_RUN,
    EXAMPLES,
    PROGRESS,
    RUN,
    SEEN_MARGIN,
    SQUARED_NORM,
    SQUARED_RADIUS,
    STEP_SUM,
)
from novikoff.errors import MergeError
from novikoff.perceptron.history import History, UpdateSequence
from novikoff.perceptron.importances import join_ranges
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["fork_state", "join_states", "merge_states", "read_shares", "require_forks", "require_own_pasts"]

_SLACK = 1e-9  # by which shares may miss the sum 1: they are divided by it


def merge_states(states: Sequence[State]) -> State:
    """Merge states into one, each weighted by the number of examples it has seen.

    The raw weights are the weighted mean, and the averaged weights become the weighted mean of the averages. All weight
    vectors of a voted learner keep their votes. A single state is copied as it is. The states must have no common past,
    which would count twice.
    """
    require_own_pasts(states)
    _require_compatible(states)
    if len(states) == 1:
        return states[0].copy()
    shares = read_shares(states, None)
    raw = _sum_weights([state.raw for state in states], shares)
    counts, longest = _add_counts(states)
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
        past=frozenset().union(*(state.past for state in states)),
    )


def fork_state(state: State) -> State:
    """Return a state that goes on from the weights of this one and counts only what it learns itself."""
    if state.fork_of is not None:
        raise MergeError("A fork cannot be forked: join the forks of a round first.")
    if state.history is not None:
        raise MergeError(
            "A state of the hypothesis 'voted' cannot be forked: it keeps the rows of all its mistakes, which would "
            "have to travel with it. Choose the hypothesis 'averaged'."
        )
    measures = state.measures.copy()
    measures[[SQUARED_RADIUS, STEP_SUM]], measures[SEEN_MARGIN] = 0.0, np.inf
    empty = Weights.none()
    return State(
        raw=state.raw.copy(),
        sums=Weights.zeros(*state.sums.coef.shape) if state.sums else empty,
        pocket=state.pocket.copy() if state.pocket else empty,
        history=None,
        measures=measures,
        is_bounded=False,
        memory=None if state.memory is None else state.memory.copy(),
        past=state.past,
        fork_of=state.digest(),
    )


def join_states(before: State, states: Sequence[State], shares: Sequence[float] | None = None) -> State:
    """Return the state after a round, given the state before it and the forks of that, which have learned since.

    The raw weights are the mean of those of the forks, weighted by the shares; proportional to their numbers of
    examples by default. The averaged weights are the mean over all examples so far, those before the round included.
    """
    require_forks(before, states)
    _require_compatible([before, *states])
    mixing = read_shares(states, shares)
    raw = _sum_weights([state.raw for state in states], mixing)
    everything = [before, *states]
    counts, longest = _add_counts(everything)
    return State(
        raw=raw,
        sums=_join_sums(before, states, raw, is_proportional=shares is None),
        pocket=longest.longest_run_weights().copy() if longest.pocket else Weights.none(),
        history=None,
        counts=counts,
        measures=_join_measures(before, states, mixing, raw),
        trace=LedgerTrace(),
        passes=before.passes,
        is_bounded=False,
        importance_range=_merge_importance_ranges(everything),
        past=before.past,
    )


def require_own_pasts(states: Sequence[State]) -> None:
    """Raise a MergeError if some of several states are forks, or go on from one state."""
    if any(state.fork_of is not None for state in states):
        raise MergeError(
            "A fork counts only what it has learned itself: join(before, forks) puts the forks of one state together."
        )
    pasts = [name for state in states for name in state.past]
    if len(pasts) > len(set(pasts)):
        raise MergeError(
            "Two of these states go on from one and the same state, and what that had learned would count twice. Make "
            "a fork of it for each shard, learner.fork(state), and join(state, forks)."
        )


def require_forks(before: State, states: Sequence[State]) -> None:
    """Raise a MergeError unless all states are forks of the one before."""
    if not states:
        raise MergeError("There is nothing to join: pass at least one fork.")
    own = before.digest()
    if any(state.fork_of != own for state in states):
        raise MergeError(
            "join puts together the forks of one state: make each of them by learner.fork(before), learn, and do not "
            "learn from anything with `before` until they are joined."
        )


def read_shares(states: Sequence[State], shares: Sequence[float] | None) -> np.ndarray:
    """Return the share of each state, by default proportional to its number of examples; a MergeError if those given
    are not convex weights."""
    if shares is None:
        seen = np.array([state.counts[EXAMPLES] for state in states], float)
        return seen / seen.sum() if seen.sum() else np.full(len(states), 1.0 / len(states))
    given = np.asarray(shares, float)
    total = math.fsum(given.ravel().tolist())
    if given.shape != (len(states),) or not (given >= 0.0).all() or not abs(total - 1.0) <= _SLACK:
        raise MergeError(
            f"shares must be numbers >= 0 that sum to 1, one for each of {len(states)} states; found {given.tolist()}."
        )
    return given / total


def _add_counts(states: Sequence[State]) -> tuple[np.ndarray, State]:
    """Return the sum of all counts, with the longest run of correct answers, and the state that has it."""
    counts = np.sum([state.counts for state in states], axis=0)
    longest = max(states, key=lambda state: max(state.counts[BEST_RUN], state.counts[RUN]))
    counts[RUN], counts[BEST_RUN] = 0, max(longest.counts[BEST_RUN], longest.counts[RUN])
    return counts, longest


def _join_sums(before: State, states: Sequence[State], raw: Weights, *, is_proportional: bool) -> Weights:
    """Return sums such that raw - sums / n is the mean of the weight vectors after each of all n examples."""
    if not before.sums:
        return Weights.none()
    n = float(before.counts[EXAMPLES])
    weights = [before.sums, raw, before.raw, *(state.sums for state in states)]
    factors = [1.0, n, -n, *(1.0 for _ in states)]
    if not is_proportional:
        own = [float(state.counts[EXAMPLES]) for state in states]
        weights += [raw, *(state.raw for state in states)]
        factors += [sum(own), *(-m for m in own)]
    return _sum_weights(weights, np.array(factors))


def _join_measures(before: State, states: Sequence[State], shares: np.ndarray, raw: Weights) -> np.ndarray:
    """Take the largest radius; the sum of steps before and the weighted mean of those since; and, as of the weights,
    the weighted mean of <w, u>."""
    measures = np.array([state.measures for state in states])
    joined = before.measures.copy()
    joined[SQUARED_RADIUS] = max(before.measures[SQUARED_RADIUS], measures[:, SQUARED_RADIUS].max())
    joined[SQUARED_NORM] = raw.norm**2
    joined[STEP_SUM] += shares @ measures[:, STEP_SUM]
    joined[PROGRESS] = shares @ measures[:, PROGRESS]
    joined[SEEN_MARGIN] = min(before.measures[SEEN_MARGIN], measures[:, SEEN_MARGIN].min())
    return joined


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
