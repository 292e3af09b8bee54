"""Merging pools of learners that ran apart on shards of the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, SQUARED_NORM, STEP_SUM
from novikoff._compiled.loops.pool import COIN_COUNT, COIN_SUM, LENGTH, LOG_COST, STRIDE, WEIGHT, WRONG
from novikoff._compiled.loops.pool_experts import (
    AROW,
    COIN,
    LARGEST,
    PA_SUMS,
    PLAIN_SUMS,
    POTENTIAL,
    SLOPES,
    VARIANCE,
    WEALTH,
)
from novikoff.perceptron.merging import merge_states
from novikoff.perceptron.pool_slots import PoolSlots
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["merge_pools"]


def merge_pools(states: Sequence[State]) -> State:
    """Merge states of the rule "auto" into one. A single state is copied as it is.

    theta, the mistakes and all other counts are added up, so |theta| / mistakes certifies the margin of all examples.
    With shares proportional to the numbers of examples:

    AdaGrad       the weights are the weighted mean; the sums of squared slopes are added up.
    PA-II         the weights are the weighted mean, and so are the averages.
    AROW          independent evidence about one normal distribution that was N(0, 1) at first: the precision 1 / S is
                  1 + the sum of all 1 / S - 1, and the weight is S times the sum of all w / S.
    coin betting  the wealth is the weighted mean over the learners that have met the feature, theta and A are added
                  up, M is the largest; the weight is what the wealth then buys.
    mixers, vote  weights and matrices are the weighted mean; mistakes and squares of scores are added up.

    With n pools the vote's bound has n ln 8 + ln n in place of ln 8: each pool's weight of a candidate is at least what
    the theorem says, and the merged weight at least 1/n of that in the pool with the most examples. The trace begins
    again.
    """
    if len(states) == 1:
        return merge_states(states)
    merged = merge_states([replace(state, memory=None) for state in states])
    seen = np.array([state.counts[EXAMPLES] for state in states], float)
    shares = seen / seen.sum() if seen.sum() else np.full(len(states), 1.0 / len(states))
    theta = Weights(
        np.sum([state.raw.coef for state in states], axis=0), np.sum([state.raw.bias for state in states], axis=0)
    )
    merged.measures[STEP_SUM] = sum(state.measures[STEP_SUM] for state in states)
    merged.measures[SQUARED_NORM] = theta.norm**2
    return replace(merged, raw=theta, memory=_merge_slots(states, shares))


def _merge_slots(states: Sequence[State], shares: np.ndarray) -> PoolSlots:
    pools = [state.memory.copy() for state in states if isinstance(state.memory, PoolSlots)]
    for pool in pools:  # all of them get the same hats
        for other in pools:
            if other.is_hat.size:
                pool.mark_hats(other.is_hat)
    merged = pools[0]
    scored, kept = (np.array([getattr(pool, name).values for pool in pools]) for name in ("scored", "kept"))
    _merge_features(scored, kept, shares, merged.scored.values, merged.kept.values)
    shared = {name: np.array([pool.shared[name] for pool in pools]) for name in merged.shared}
    for name in ("mixers", "votes"):
        merged.shared[name][:] = np.tensordot(shares, shared[name], 1)
    merged.shared["votes"][WRONG] = shared["votes"][:, WRONG].sum(axis=0)
    merged.shared["votes"][WEIGHT] /= merged.shared["votes"][WEIGHT].sum()
    merged.shared["squares"][:] = shared["squares"].sum(axis=0)
    numbers, all_numbers = merged.shared["numbers"], shared["numbers"]
    for index in (COIN_SUM, COIN_COUNT, LOG_COST):
        numbers[index] = all_numbers[:, index].sum()
    numbers[LOG_COST] += math.log(len(pools))
    numbers[STRIDE], numbers[LENGTH] = 1.0, 0.0
    merged.shared["trace"][:] = 0.0
    return merged


def _merge_features(
    scored: np.ndarray, kept: np.ndarray, shares: np.ndarray, to_scored: np.ndarray, to_kept: np.ndarray
) -> None:
    """Merge the numbers of the features, (pools, n_features + 1, n_vectors, columns), into two arrays."""
    to_scored[:], to_kept[:] = np.tensordot(shares, scored, 1), kept.sum(axis=0)
    for column in (PA_SUMS, PLAIN_SUMS):  # raw - sums / n is the mean of the averages, with the sum of all n
        to_scored[..., column] = scored[..., column].sum(axis=0)
    precisions = 1.0 / np.maximum(kept[..., VARIANCE], np.finfo(float).tiny)
    to_kept[..., VARIANCE] = 1.0 / (precisions.sum(axis=0) - (len(shares) - 1))
    to_scored[..., AROW] = to_kept[..., VARIANCE] * (scored[..., AROW] * precisions).sum(axis=0)
    largest = scored[..., LARGEST]
    of_wealth = shares[:, None, None] * (largest > 0.0)
    wealth = _divide((of_wealth * kept[..., WEALTH]).sum(axis=0), of_wealth.sum(axis=0))
    to_kept[..., WEALTH], to_scored[..., LARGEST] = wealth, largest.max(axis=0)
    size = to_scored[..., LARGEST] * (to_scored[..., LARGEST] + to_kept[..., SLOPES])
    to_scored[..., COIN] = _divide(wealth * to_kept[..., POTENTIAL], size)


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
