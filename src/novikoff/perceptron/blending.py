"""The blended score of the rule "auto": one weight vector, and a linear model of it."""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES
from novikoff._compiled.loops.pool import WRONG
from novikoff._compiled.loops.pool_experts import ADAGRAD, AROW, COIN, PA, PA_SUMS, PLAIN, PLAIN_SUMS
from novikoff._compiled.loops.pool_mixers import LOG_MIXER, N_EXPERTS
from novikoff.perceptron.pool_slots import pool_of
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["blend_weights", "linear_state"]


def blend_weights(state: State) -> Weights:
    """Return sum_i a_i w_i / rms_i, the weights by which the log mixer scores rows.

    a_i is the mixer's weight of expert i, w_i the expert's weight vector, and rms_i the root mean square of its scores
    so far. The mixer itself also cuts scores off at 10 rms_i.
    """
    pool, n = pool_of(state), max(1.0, float(state.counts[EXAMPLES]))
    columns = np.moveaxis(pool.scored.values, -1, 0)
    average = columns[PA] - columns[PA_SUMS] / n
    plain = columns[PLAIN] - columns[PLAIN_SUMS] / n if pool.is_hat.size else average
    experts = columns[ADAGRAD], columns[PA], average, plain, columns[AROW], columns[COIN]
    rms = np.sqrt(pool.shared["squares"] / n)
    a = np.divide(pool.shared["mixers"][LOG_MIXER, 0], rms, out=np.zeros(N_EXPERTS), where=rms > 0.0)
    total = sum(weight * expert for weight, expert in zip(a, experts, strict=True))
    blended = np.asarray(total)
    return Weights(np.ascontiguousarray(blended[1:].T), np.ascontiguousarray(blended[0]))


def linear_state(state: State) -> State:
    """Return the state of a linear model with the blended weights, whose mistakes are those of the log mixer."""
    weights = blend_weights(state)
    counts = np.zeros_like(state.counts)
    counts[EXAMPLES] = state.counts[EXAMPLES]
    counts[MISTAKES] = int(pool_of(state).shared["votes"][WRONG, N_EXPERTS + LOG_MIXER])
    return State(weights, Weights.none(), Weights.none(), None, counts=counts, passes=state.passes, is_bounded=False)
