"""Merging the states of stateful rules that ran apart on shards of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, SQUARED_NORM, STEP_SUM
from novikoff.perceptron.merging import merge_states
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights
from novikoff.stateful_rules import THETA, Arow, CoinBetting, StatefulRule

__all__ = ["merge_stateful"]

Merged = tuple[np.ndarray, np.ndarray]  # weights and slots, (n_features + 1, n_vectors) and one axis more


def merge_stateful(rule: StatefulRule, states: Sequence[State], theta: Callable[[State], Weights]) -> State:
    """Merge states into one. A single state is copied as it is.

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
    merged = merge_states([replace(state, memory=None) for state in states])
    if len(states) == 1:
        return states[0].copy()
    seen = np.array([state.counts[EXAMPLES] for state in states], float)
    shares = seen / seen.sum() if seen.sum() else np.full(len(states), 1.0 / len(states))
    weights = np.array([_by_coordinate(state.raw) for state in states])
    slots = np.array([state.slots for state in states])
    merge = {Arow: _merge_arow, CoinBetting: _merge_coin}.get(type(rule), _merge_sums)
    w, values = merge(weights, slots, shares)
    values[..., THETA] = slots[..., THETA].sum(axis=0)
    totals = np.sum([state.memory.totals for state in states if state.memory is not None], axis=0)
    raw = Weights(np.ascontiguousarray(w[1:].T), np.ascontiguousarray(w[0]))
    measures = merged.measures
    measures[STEP_SUM] = sum(state.measures[STEP_SUM] for state in states)
    merged = replace(
        merged,
        raw=raw,
        sums=_sums_for(raw, merged, seen.sum()),
        memory=Slots(rule.slots, np.ascontiguousarray(values), totals),
    )
    measures[SQUARED_NORM] = theta(merged).norm ** 2
    return merged


def _by_coordinate(weights: Weights) -> np.ndarray:
    """Return weights as the slots have them, (n_features + 1, n_vectors), the constant coordinate first."""
    return np.vstack([weights.bias[None], weights.coef.T])


def _sums_for(raw: Weights, merged: State, n: float) -> Weights:
    """Return sums such that the mean raw - sums / n stays what it is with the merged state's own weights."""
    if not merged.sums:
        return merged.sums
    coef = merged.sums.coef + n * (raw.coef - merged.raw.coef)
    return Weights(coef, merged.sums.bias + n * (raw.bias - merged.raw.bias))


def _merge_sums(weights: np.ndarray, slots: np.ndarray, shares: np.ndarray) -> Merged:
    """Return the weighted mean of the weights, and the sums of all slots."""
    return np.tensordot(shares, weights, 1), slots.sum(axis=0)


def _merge_arow(weights: np.ndarray, slots: np.ndarray, shares: np.ndarray) -> Merged:
    """Return the mean and the variance of the product of the normal distributions, with the prior counted once."""
    precisions = 1.0 / slots[..., 1]
    variance = 1.0 / (precisions.sum(axis=0) - (len(shares) - 1))
    merged = slots[0].copy()
    merged[..., 1] = variance
    return variance * (weights * precisions).sum(axis=0), merged


def _merge_coin(weights: np.ndarray, slots: np.ndarray, shares: np.ndarray) -> Merged:
    wealth, slopes, sizes, largest = np.moveaxis(slots[..., 1:], -1, 0)
    of_wealth = shares[:, None, None] * (largest > 0.0)
    total = of_wealth.sum(axis=0)
    merged = slots[0].copy()
    merged[..., 1] = np.divide((of_wealth * wealth).sum(axis=0), total, out=np.zeros_like(total), where=total > 0.0)
    merged[..., 2], merged[..., 3], merged[..., 4] = slopes.sum(axis=0), sizes.sum(axis=0), largest.max(axis=0)
    size = merged[..., 4] * (merged[..., 4] + merged[..., 3])
    bought = merged[..., 1] * merged[..., 2]
    return np.divide(bought, size, out=np.zeros_like(bought), where=size > 0.0), merged
