"""The limits that learning is compared with: loops over the same rows that do only what every learner must do.

A perceptron computes the score of every row in every pass, and sgd also writes the weight of nearly every non-zero.
However good a learner's loop is, it cannot be faster than one that does only this, so the share of this limit that is
reached does not depend on the machine as a ratio to a peer does. In sparse rows, weights are read all over a vector
larger than the first cache; in dense float32 rows, the processor takes longer to convert numbers to doubles than memory
takes to deliver them.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

import novikoff as nk
from benchmarks.measure import Line, Options, Times, at_least, best_of
from novikoff._compiled.loops.additive import score_binary
from novikoff._compiled.loops.rows import (
    RowArrays,
    prefetch_upcoming,
    row_add,
    row_add_with_sums,
    row_at,
    row_dot_prefetching,
)

__all__ = ["SHARE", "share_of_adding", "share_of_scoring"]

SHARE = 0.75  # of the speed of the limit that learning should reach
_STEP = 1e-9  # so small that weights stay finite in any number of passes


def share_of_scoring(work: str, X: Any, seconds: float, passes: int, options: Options, note: str = "") -> Line:
    """A line that compares `seconds` of learning with scoring the rows in as many passes."""
    limit = passes * _scoring_time(X, options.repeats)
    return _share(
        f"{work}: share of the speed of scoring", f"scoring X {passes} times, without learning", limit, seconds, note
    )


def share_of_adding(
    work: str, X: Any, seconds: float, passes: int, options: Options, *, is_shuffled: bool, is_averaged: bool
) -> Line:
    """A line that compares `seconds` of sgd with scoring each row and adding it to w in as many passes.

    The rows are visited in the order of memory, or in a random one if those of sgd are shuffled. An average of the
    weights needs a second vector, to which each row is added as well. One more pass in the order of memory stands for
    the evaluation of F and its gradient at the end, which also scores each row and adds it to a vector.
    """
    repeats = options.repeats
    limit = passes * _adding_time(X, is_shuffled, is_averaged, repeats) + _adding_time(X, False, False, repeats)
    peer = f"scoring and adding each row, {passes} + 1 times"
    return _share(f"{work}: share of the speed of adding", peer, limit, seconds)


def _share(work: str, peer: str, limit: float, seconds: float, note: str = "") -> Line:
    return Line(work, peer, at_least(SHARE, "%"), limit / seconds, Times(limit, seconds), note=note)


def _scoring_time(X: Any, repeats: int) -> float:
    """Seconds to compute <w, x> for all rows once."""
    rows = nk.Rows.of(X)
    w, scores = np.zeros((1, X.shape[1])), np.empty(X.shape[0])
    arrays = rows.data, rows.indices, rows.indptr
    return best_of(lambda: score_binary(*arrays, 0.0, w[0], np.zeros(1), scores), repeats)


def _adding_time(X: Any, is_shuffled: bool, is_averaged: bool, repeats: int) -> float:
    """Seconds to compute <w, x> and add a small multiple of x to w, for all rows once."""
    rows = RowArrays.of(nk.Rows.of(X))
    order = np.random.default_rng(0).permutation(X.shape[0]) if is_shuffled else None
    w, sums = np.zeros(X.shape[1]), np.zeros(X.shape[1] if is_averaged else 0)
    return best_of(lambda: _score_and_add(rows, order, _STEP, w, sums), repeats)


@numba.njit(fastmath={"reassoc", "contract"})  # as the loops of novikoff
def _score_and_add(rows: RowArrays, order: np.ndarray | None, step: float, w: np.ndarray, sums: np.ndarray) -> float:
    """w += step * x for each row x, and sums likewise unless they are empty, with the operations on rows that sgd uses.

    The score of each row is computed before. Return the sum of scores, so that no compiler leaves them out.
    """
    data, indices, indptr, n_features, squared_norms = rows
    n, total = squared_norms.size, 0.0
    for position in range(n):
        i = row_at(order, position)
        prefetch_upcoming(data, indices, indptr, n_features, squared_norms, squared_norms, order, position, n, 0)
        total += row_dot_prefetching(data, indices, indptr, i, w, order is None)
        if sums.size:
            row_add_with_sums(data, indices, indptr, i, step, w, 1.0, sums)
        else:
            row_add(data, indices, indptr, i, step, w)
    return total
