"""Joining the packed ends of chains, in time proportional to the features that a round has met.

Where no chain has changed a feature, its weight is what it was: the mean of equal weights. So only the others are
joined, as the states of a learner that has no other features, and then put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novikoff._compiled.loops.additive import SQUARED_NORM
from novikoff.distributed.packing import PackedState, unpack_state
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["join_packed"]

_COEFS = ("raw.coef", "sums.coef")


def join_packed(learner: Learner, before: State, fork: State, ends: Sequence[PackedState]) -> State:
    """Return the state after a round: that before it, joined with what became of its forks; see `Learner.join`."""
    arrays = [array for end in ends for name, array in end.arrays.items() if name in _COEFS]
    if learner.engine is not None or before.pocket or any(array.indices is None for array in arrays):
        return learner.join(before, [unpack_state(learner, end, fork) for end in ends])
    n = before.n_features
    met = np.unique(np.concatenate([array.indices % n for array in arrays if array.indices is not None]))
    small_before, small_fork = _narrow(before, met), _narrow(fork, met)
    own = small_before.digest()
    forks = [replace(unpack_state(learner, _narrow_packed(end, met, n), small_fork), fork_of=own) for end in ends]
    joined = learner.join(small_before, forks)
    raw, sums = _put_back(before.raw, joined.raw, met), _put_back(before.sums, joined.sums, met)
    joined.measures[SQUARED_NORM] = raw.norm**2
    return replace(joined, raw=raw, sums=sums)


def _narrow(state: State, features: np.ndarray) -> State:
    """Return a state of these features alone."""
    return replace(state, raw=_columns(state.raw, features), sums=_columns(state.sums, features))


def _columns(weights: Weights, features: np.ndarray) -> Weights:
    return Weights(weights.coef[:, features], weights.bias) if weights else weights


def _narrow_packed(end: PackedState, features: np.ndarray, n_features: int) -> PackedState:
    """Return a packed state of these features alone, which include all that differ."""
    arrays = dict(end.arrays)
    for name in _COEFS:
        array = arrays.get(name)
        if array is not None and array.indices is not None:
            vectors, columns = np.divmod(array.indices.astype(np.int64), n_features)
            indices = vectors * len(features) + np.searchsorted(features, columns)
            arrays[name] = replace(array, shape=(array.shape[0], len(features)), indices=indices)
    return replace(end, arrays=arrays)


def _put_back(weights: Weights, narrow: Weights, features: np.ndarray) -> Weights:
    """Return weights whose columns of these features are those of others."""
    if not weights:
        return weights
    coef = np.array(weights.coef, order="C")
    coef[:, features] = narrow.coef
    return Weights(coef, narrow.bias)
