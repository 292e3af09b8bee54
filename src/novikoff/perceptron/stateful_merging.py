"""Merging and joining the states of stateful rules that ran apart on shards of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, SQUARED_NORM, STEP_SUM
from novikoff.perceptron.merging import join_states, merge_states, read_shares
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights
from novikoff.stateful_rules import THETA, Arow, CoinBetting, StatefulRule

__all__ = ["join_stateful", "merge_stateful"]

Values = tuple[np.ndarray, np.ndarray]  # weights and slots, (n_features + 1, n_vectors) and one axis more


def merge_stateful(
    rule: StatefulRule, untrained: Slots, states: Sequence[State], theta: Callable[[State], Weights]
) -> State:
    """Merge states into one, given the slots before the first example. A single state is copied as it is.

    theta, the mistakes and all other counts are added up, so |theta| / mistakes certifies the margin of all examples.
    Per feature and vector, with shares proportional to the numbers of examples:

    AdaGrad       the weights are the weighted mean; the sums of squared slopes are added up, as if one learner had
                  taken all those steps.
    AROW          independent evidence about one normal distribution that was N(0, 1) at first. The precision 1 / S is
                  1 + the sum of all 1 / S - 1, and the weight is S times the sum of all w / S. A feature that only one
                  of the learners has met keeps its weight and its variance.
    coin betting  the wealth is the weighted mean over the learners that have met the feature, theta and A are added
                  up, M is the largest; the weight is what the wealth then buys.

    The averaged weights are the weighted mean of the averages.
    """
    if len(states) == 1:
        return merge_states(states)
    merged = merge_states([replace(state, memory=None) for state in states])
    merged.measures[STEP_SUM] = sum(state.measures[STEP_SUM] for state in states)
    start = Weights.zeros(*states[0].raw.coef.shape)
    before = start, untrained.values, untrained.totals
    return _with_slots(rule, merged, before, states, read_shares(states, None), theta)


def join_stateful(
    rule: StatefulRule,
    before: State,
    states: Sequence[State],
    shares: Sequence[float] | None,
    theta: Callable[[State], Weights],
) -> State:
    """Join forks of a state, whose slots began as those of the state before; see `merging.join_states`.

    What a merge adds up is what each fork has added since: AdaGrad's squared slopes, coin betting's theta and A, and
    for AROW the evidence: 1 / S is 1 / S before plus the sum of what each fork has added to it, and w / S likewise. No
    bound on the mistakes of these rules is known to survive; |theta| / mistakes goes on certifying the margin.
    """
    joined = join_states(replace(before, memory=None), [replace(state, memory=None) for state in states], shares)
    assert before.memory is not None
    start = before.raw, before.memory.values, before.memory.totals
    joined.measures[STEP_SUM] = before.measures[STEP_SUM] + sum(state.measures[STEP_SUM] for state in states)
    return _with_slots(rule, joined, start, states, read_shares(states, shares), theta)


def _with_slots(
    rule: StatefulRule,
    mixed: State,
    before: tuple[Weights, np.ndarray, np.ndarray],
    states: Sequence[State],
    shares: np.ndarray,
    theta: Callable[[State], Weights],
) -> State:
    """Return a state that was mixed without slots, with those, and with the weights that the rule mixes by them; before
    are the weights, slots and totals that all states began with."""
    w_before, slots_before = _by_coordinate(before[0]), before[1]
    weights = np.array([_by_coordinate(state.raw) for state in states])
    slots = np.array([state.slots for state in states])
    join = {Arow: _join_arow, CoinBetting: _join_coin}.get(type(rule), _join_sums)
    w, values = join((w_before, slots_before), weights, slots, shares)
    values[..., THETA] = _add_changes(slots_before, slots)[..., THETA]
    totals = _add_changes(before[2], np.array([state.memory.totals for state in states if state.memory is not None]))
    raw = Weights(np.ascontiguousarray(w[1:].T), np.ascontiguousarray(w[0]))
    mixed = replace(
        mixed,
        raw=raw,
        sums=_sums_for(raw, mixed, float(mixed.counts[EXAMPLES])),
        memory=Slots(rule.slots, np.ascontiguousarray(values), totals),
    )
    mixed.measures[SQUARED_NORM] = theta(mixed).norm ** 2
    return mixed


def _add_changes(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return what was there before, plus what each of several has added to it since."""
    added: np.ndarray = before + (after - before).sum(axis=0)
    return added


def _by_coordinate(weights: Weights) -> np.ndarray:
    """Return weights as the slots have them, (n_features + 1, n_vectors), the constant coordinate first."""
    return np.vstack([weights.bias[None], weights.coef.T])


def _sums_for(raw: Weights, merged: State, n: float) -> Weights:
    """Return sums such that the mean raw - sums / n stays what it is with the merged state's own weights."""
    if not merged.sums:
        return merged.sums
    coef = merged.sums.coef + n * (raw.coef - merged.raw.coef)
    return Weights(coef, merged.sums.bias + n * (raw.bias - merged.raw.bias))


def _join_sums(before: Values, weights: np.ndarray, slots: np.ndarray, shares: np.ndarray) -> Values:
    """Return the weighted mean of the weights, and the sums of what has been added to all slots."""
    return np.tensordot(shares, weights, 1), _add_changes(before[1], slots)


def _join_arow(before: Values, weights: np.ndarray, slots: np.ndarray, shares: np.ndarray) -> Values:
    """Return the mean and the variance of the product of the normal distributions, with the common one counted once."""
    n_extra, w, precision = len(shares) - 1, before[0], 1.0 / before[1][..., 1]
    precisions = 1.0 / slots[..., 1]
    variance = 1.0 / (precisions.sum(axis=0) - n_extra * precision)
    joined = slots[0].copy()
    joined[..., 1] = variance
    return variance * ((weights * precisions).sum(axis=0) - n_extra * precision * w), joined


def _join_coin(before: Values, weights: np.ndarray, slots: np.ndarray, shares: np.ndarray) -> Values:
    wealth, _, _, largest = np.moveaxis(slots[..., 1:], -1, 0)
    of_wealth = shares[:, None, None] * (largest > 0.0)
    total = of_wealth.sum(axis=0)
    joined = _add_changes(before[1], slots)
    joined[..., 1] = np.divide((of_wealth * wealth).sum(axis=0), total, out=np.zeros_like(total), where=total > 0.0)
    joined[..., 4] = largest.max(axis=0)
    size = joined[..., 4] * (joined[..., 4] + joined[..., 3])
    bought = joined[..., 1] * joined[..., 2]
    return np.divide(bought, size, out=np.zeros_like(bought), where=size > 0.0), joined
