"""How far each expert of the rule "auto" moves on a row: steps from the margins, for two classes and for many.

problem   turn the scores of a row into the steps that `pool_experts.update_vector` takes
given     s, the products of the row with all columns of `scored`; its class, squared norm q and importance
result    the experts' numbers after the row, changed in place
source    see pool_experts.py, whose docstring has the formulas
"""

from __future__ import annotations

import math

from novikoff._compiled import inlined_exactly
from novikoff._compiled.loops.additive import judge
from novikoff._compiled.loops.pool_experts import (
    ADAGRAD,
    AROW,
    AROW_R,
    COIN,
    PA,
    PA_SOFTNESS,
    PLAIN,
    coin_score,
    plain_squared_norm,
    raise_largest,
    update_vector,
    variance_of_margin,
)
from novikoff._compiled.loops.pool_mixers import logistic_slope

__all__ = ["learn_many_classes", "learn_two_classes"]

OF_ADAGRAD, OF_COIN, OWN = range(3)  # rows of `slopes`; the last is for scores of one expert


@inlined_exactly
def learn_two_classes(row, example, s, scored, kept, numbers):
    """Update the vector that both classes share."""
    constant, is_hat, code, n, q, importance = example
    y = 2.0 * code - 1.0
    if raise_largest(row, constant, importance, scored, kept, numbers):
        s[0, COIN] = coin_score(row, constant, scored, 0)
    g = -importance * max(0.0, min(1.0, 1.0 - y * s[0, ADAGRAD]))
    tau = importance * (max(0.0, 1.0 - y * s[0, PA]) / (q + PA_SOFTNESS))
    plain_tau = 0.0
    if is_hat.shape[0]:
        plain_q = plain_squared_norm(row, constant, is_hat)
        plain_tau = importance * (max(0.0, 1.0 - y * s[0, PLAIN]) / (plain_q + PA_SOFTNESS))
    arow_step, beta = arow_steps(row, constant, 0, y * s[0, AROW], importance, kept)
    coin_g = -importance * logistic_slope(y * s[0, COIN])
    update_vector(row, constant, is_hat, 0, y, (g, tau, plain_tau, arow_step, beta, coin_g, n), scored, kept)


@inlined_exactly
def learn_many_classes(row, example, tie, s, slopes, scored, kept, numbers):
    """Update the vectors of all classes."""
    constant, is_hat, code, n, q, importance = example
    if raise_largest(row, constant, importance, scored, kept, numbers):
        for k in range(s.shape[0]):
            s[k, COIN] = coin_score(row, constant, scored, k)
    tau, rival = step_to_rival(s, PA, code, tie, q, slopes)
    plain_tau, plain_rival = 0.0, 0
    if is_hat.shape[0]:
        plain_tau, plain_rival = step_to_rival(s, PLAIN, code, tie, plain_squared_norm(row, constant, is_hat), slopes)
    softmax_slopes(s, ADAGRAD, code, slopes, OF_ADAGRAD)
    softmax_slopes(s, COIN, code, slopes, OF_COIN)
    for k in range(s.shape[0]):
        is_true = k == code
        y = 1.0 if is_true else -1.0
        arow_step, beta = arow_steps(row, constant, k, y * s[k, AROW], importance, kept)
        steps = (
            -importance * slopes[OF_ADAGRAD, k],
            importance * tau if is_true or k == rival else 0.0,
            importance * plain_tau if is_true or k == plain_rival else 0.0,
            arow_step,
            beta,
            -importance * slopes[OF_COIN, k],
            n,
        )
        update_vector(row, constant, is_hat, k, y, steps, scored, kept)


@inlined_exactly
def arow_steps(row, constant, k, margin, importance, kept):
    """Return AROW's (1 - m) beta and beta for vector k; 0 and 0 if the margin is large enough."""
    if margin >= 1.0:
        return 0.0, 0.0
    beta = 1.0 / (variance_of_margin(row, constant, kept, k) + AROW_R / importance)
    return (1.0 - margin) * beta, beta


@inlined_exactly
def step_to_rival(s, column, code, tie, q, slopes):
    """Return PA-II's step for the true class and its strongest rival by the scores in a column, and that rival."""
    for k in range(s.shape[0]):
        slopes[OWN, k] = s[k, column]
    margin, _, rival = judge(slopes[OWN], code, tie)
    return max(0.0, 1.0 - margin) / (2.0 * q + PA_SOFTNESS), rival


@inlined_exactly
def softmax_slopes(s, column, code, slopes, to):
    """slopes[to] = 1 - p_k for the true class and p_k for the others, where p is the softmax of a column of s."""
    largest = s[0, column]
    for k in range(s.shape[0]):
        largest = max(largest, s[k, column])
    total = 0.0
    for k in range(s.shape[0]):
        slopes[to, k] = math.exp(s[k, column] - largest)
        total += slopes[to, k]
    for k in range(s.shape[0]):
        p = slopes[to, k] / total
        slopes[to, k] = 1.0 - p if k == code else p
