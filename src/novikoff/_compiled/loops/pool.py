"""Passes of the rule "auto": six experts, two mixers, and the vote of these eight, over dense and sparse rows.

    problem   along a stream, err hardly more often than the best of eight learners on that stream
    given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); classes y_t;
              importances c_t > 0, or None: all are 1
    result    the numbers of experts (pool_experts.py), mixers (pool_mixers.py) and the vote (pool_vote.py), changed in
              place; theta = sum of y x over the vote's own mistakes; counters, a log of these mistakes
    source    the modules named above

A row is scored by all experts in one pass over its entries, and learned in two: one finds the largest values, one
updates the vector that two classes share, or each that more classes have.

Every row counts once for the mixers and the vote. Importances multiply only the steps of the experts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined_exactly, loop
from novikoff._compiled.loops.additive import (
    EXAMPLES,
    MISTAKES,
    RUN,
    SQUARED_RADIUS,
    judge,
    log_update,
)
from novikoff._compiled.loops.entries import end_entry, entry_coordinate, entry_value, first_entry
from novikoff._compiled.loops.pool_experts import (
    ADAGRAD,
    AROW,
    COIN,
    N_SCORED,
    PA,
    PA_SUMS,
    PLAIN,
    PLAIN_SUMS,
    score_entries,
)
from novikoff._compiled.loops.pool_mixers import (
    N_EXPERTS,
    N_MIXERS,
    mean_squared_difference,
    normalise_scores,
    score_by_mixers,
    update_mixer,
)
from novikoff._compiled.loops.pool_steps import learn_many_classes, learn_two_classes
from novikoff._compiled.loops.pool_vote import N_CANDIDATES, cast_votes, update_vote
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM, row_at, row_squared_norm

__all__ = ["PoolArrays", "learn_pool", "score_pool"]

# The candidates, in the order of their weights: the experts, then the mixers.
ADAGRAD_EXPERT, PA_EXPERT, AVERAGE_EXPERT, PLAIN_EXPERT, AROW_EXPERT, COIN_EXPERT = range(6)

# Indices of `PoolArrays.numbers`: the sum over examples of sum_j (x_j / M_j)^2 and their number, for coin betting; how
# many examples lie between two points of the trace, and how many points it has; what the theorem has for ln K, which
# grows when pools are merged.
COIN_SUM, COIN_COUNT, STRIDE, LENGTH, LOG_COST = range(5)

# Rows of `PoolArrays.votes`.
WEIGHT, WRONG = range(2)

# Columns of a point of the trace, after the weights and the mistakes of the candidates.
MISTAKES_OF_VOTE, EXAMPLES_SO_FAR = 2 * N_CANDIDATES, 2 * N_CANDIDATES + 1
N_TRACED = 2 * N_CANDIDATES + 2


class PoolArrays(NamedTuple):
    """Everything that the pool has learned, besides theta.

    With d features and v weight vectors, coordinate 0 being the constant 1 and coordinate 1 + j feature j:
    """

    scored: np.ndarray  # (d + 1, v, 8), see pool_experts
    kept: np.ndarray  # (d + 1, v, 5), see pool_experts
    mixers: np.ndarray  # (2, 7, 6): a and the rows of P, for each mixer
    squares: np.ndarray  # of the scores of the experts, summed over the rows
    votes: np.ndarray  # (2, 8): the weights h of the candidates, and their mistakes
    trace: np.ndarray  # (points, 18): numbers of a point after every STRIDE examples
    numbers: np.ndarray  # see above


@loop
def learn_pool(rows, codes, order, start, stop, settings, pool, theta, counters, log, importances, slopes):
    """Learn from rows order[start:stop], or start..stop-1 if order is None.

    `settings` are the constant coordinate, the meaning of a score of 0, and for each feature whether it is a hat; an
    empty array if none is: then the plain expert is the average of PA-II. `theta` is its vectors, rows of an array for
    dense rows and columns for sparse ones, and its constants. `slopes` is a buffer of three numbers for each vector;
    None for two classes, for which numba then leaves out what many classes need. Return (mistakes of the vote logged,
    position reached). A position below `stop` is that of a row that is not all finite numbers.
    """
    data, indices, indptr, n_features, squared_norms = rows
    constant, tie, is_hat = settings
    scored, kept, mixers, squares, votes_so_far, trace, numbers = pool
    w, bias = theta
    integers, floats = log
    counts, measures = counters
    n_vectors = scored.shape[1]
    s, scores, u = (
        np.empty((n_vectors, N_SCORED)),
        np.empty((N_CANDIDATES, n_vectors)),
        np.empty((N_EXPERTS, n_vectors)),
    )
    votes, d, moved = np.empty(n_vectors), np.empty(N_EXPERTS), np.empty(N_EXPERTS)
    logged = 0
    position = start
    while position < stop:
        i = row_at(order, position)
        row, code, n = (data, indices, indptr, i), codes[i], np.float64(counts[EXAMPLES])
        if squared_norms[i] < 0.0:
            squared_norm = row_squared_norm(data, indices, indptr, i, n_features)
            if not squared_norm <= LARGEST_SQUARED_NORM:
                break
            squared_norms[i] = squared_norm
        q = score_entries(row, constant, scored, kept, s)
        answer(s, n, is_hat, squares, mixers, votes_so_far, tie, u, scores, votes)
        importance = 1.0 if importances is None else importances[i]
        example = (constant, is_hat, code, n, q, importance)
        if slopes is None:
            learn_two_classes(row, example, s, scored, kept, numbers)
        else:
            learn_many_classes(row, example, tie, s, slopes, scored, kept, numbers)
        learn_mixers(mixers, u, scores, squares, code, tie, d, moved)
        _, is_mistake, rival = judge(votes, code, tie)
        update_vote(scores, code, tie, is_mistake, votes_so_far)
        counts[EXAMPLES] += 1
        counts[RUN] += 1
        squared_size = q if n_vectors == 1 else 2.0 * q
        measures[SQUARED_RADIUS] = max(measures[SQUARED_RADIUS], squared_size)
        if is_mistake:
            counts[MISTAKES] += 1
            counts[RUN] = 0
            margin = add_to_theta(data, indices, indptr, i, constant, w, bias, code, rival)
            logged = log_update(position, rival, 1.0, margin, squared_size, counts, measures, integers, floats, logged)
        add_to_trace(counts, votes_so_far, trace, numbers)
        position += 1
    return logged, position


@loop
def score_pool(data, indices, indptr, settings, n_examples, pool, out):
    """out[i] = the vote on row i, as if it came next: rounded as in learn_pool, so that both agree on every row.

    Of two classes it is the difference of their shares of the weight, between -1 and 1; of more, the share of each.
    """
    constant, tie, is_hat = settings
    scored, kept, mixers, squares, votes_so_far, _, _ = pool
    n_vectors = scored.shape[1]
    s, scores, u = (
        np.empty((n_vectors, N_SCORED)),
        np.empty((N_CANDIDATES, n_vectors)),
        np.empty((N_EXPERTS, n_vectors)),
    )
    n = np.float64(n_examples)
    for i in range(out.shape[0]):
        score_entries((data, indices, indptr, i), constant, scored, kept, s)
        answer(s, n, is_hat, squares, mixers, votes_so_far, tie, u, scores, out[i])


@inlined_exactly
def answer(s, n, is_hat, squares, mixers, votes_so_far, tie, u, scores, votes):
    """Fill in the scores of all candidates and the votes, given the products `s` and the number of examples before."""
    has_hats = is_hat.shape[0] > 0
    for k in range(s.shape[0]):
        scores[ADAGRAD_EXPERT, k] = s[k, ADAGRAD]
        scores[PA_EXPERT, k] = s[k, PA]
        scores[AVERAGE_EXPERT, k] = s[k, PA] - s[k, PA_SUMS] / max(1.0, n)
        scores[PLAIN_EXPERT, k] = scores[AVERAGE_EXPERT, k]
        if has_hats:
            scores[PLAIN_EXPERT, k] = s[k, PLAIN] - s[k, PLAIN_SUMS] / max(1.0, n)
        scores[AROW_EXPERT, k] = s[k, AROW]
        scores[COIN_EXPERT, k] = s[k, COIN]
    normalise_scores(scores, squares, n, u)
    score_by_mixers(mixers, u, scores)
    cast_votes(scores, votes_so_far, tie, votes)


@inlined_exactly
def learn_mixers(mixers, u, scores, squares, code, tie, d, moved):
    """Update both mixers, each by the differences to its own strongest rival, and the squares of scores."""
    for mixer in range(N_MIXERS):
        rival = judge(scores[N_EXPERTS + mixer], code, tie)[2]
        for e in range(N_EXPERTS):
            d[e] = (2.0 * code - 1.0) * u[e, 0] if u.shape[1] == 1 else u[e, code] - u[e, rival]
        update_mixer(mixers, mixer, d, moved)
    for e in range(N_EXPERTS):
        squares[e] += mean_squared_difference(scores, e)


@inlined_exactly
def add_to_theta(data, indices, indptr, i, constant, w, bias, code, rival):
    """theta += y x_i, or phi(x_i, y) - phi(x_i, z) of many classes; return the inner product of both before.

    The vectors of theta are rows of `w` for dense rows, columns for sparse ones.
    """
    is_binary = bias.shape[0] == 1
    up, down = (0, 0) if is_binary else (code, rival)
    sign = 2.0 * code - 1.0 if is_binary else 1.0
    total = constant * (bias[up] if is_binary else bias[up] - bias[down])
    bias[up] += sign * constant
    if not is_binary:
        bias[down] -= constant
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            j = entry_coordinate(data, indices, p) - 1
            if data.ndim == 2:
                total += x * (w[up, j] if is_binary else w[up, j] - w[down, j])
                w[up, j] += sign * x
                if not is_binary:
                    w[down, j] -= x
            else:
                total += x * (w[j, up] if is_binary else w[j, up] - w[j, down])
                w[j, up] += sign * x
                if not is_binary:
                    w[j, down] -= x
    return sign * total


# -- the trace


@inlined_exactly
def add_to_trace(counts, votes, trace, numbers):
    """Add a point after every STRIDE examples. Whenever the trace is full, every second point goes, and STRIDE doubles:
    so it depends only on the examples, not on how they were divided among calls."""
    stride, length = np.int64(numbers[STRIDE]), np.int64(numbers[LENGTH])
    if counts[EXAMPLES] % stride != 0:
        return
    if length == trace.shape[0]:
        length //= 2
        stride *= 2
        for point in range(length):
            for column in range(trace.shape[1]):
                trace[point, column] = trace[2 * point + 1, column]
    if counts[EXAMPLES] % stride == 0:
        for c in range(N_CANDIDATES):
            trace[length, c] = votes[WEIGHT, c]
            trace[length, N_CANDIDATES + c] = votes[WRONG, c]
        trace[length, MISTAKES_OF_VOTE] = counts[MISTAKES]
        trace[length, EXAMPLES_SO_FAR] = counts[EXAMPLES]
        length += 1
    numbers[STRIDE], numbers[LENGTH] = stride, length
