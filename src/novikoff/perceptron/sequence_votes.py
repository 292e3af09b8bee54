"""The votes of all weight vectors in a sequence of updates.

The scores of the first vector come from its weights. The products of all stored rows with the queries are one matrix
product; from them _compiled/loops/voting.py gets the scores of all later vectors as a running sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import additive, voting
from novikoff.inputs.arrays import bound_row_norms, integer_rows
from novikoff.inputs.rows import Rows
from novikoff.perceptron.weights import Weights, linear_scores

if TYPE_CHECKING:
    from novikoff.perceptron.history import UpdateSequence

__all__ = ["add_votes"]

_UNIT_ROUNDOFF = 2.0**-53
_LARGEST_INTEGER = 2.0**53  # doubles hold every integer up to this
_MAX_PRODUCTS = 1 << 23  # (stored row, query) pairs whose products are formed at a time: 64 MB


def add_votes(sequence: UpdateSequence, rows: Rows, now: int, constant: float, tie: int, votes: np.ndarray) -> None:
    """Add the votes of one compact sequence to votes (vectors, queries), after `now` examples."""
    size = max(1, _MAX_PRODUCTS // max(1, sequence.n_rows))
    for start in range(0, len(rows), size):
        _add_votes_on(sequence, rows[start : start + size], now, constant, tie, votes[:, start : start + size])


def _add_votes_on(sequence: UpdateSequence, rows: Rows, now: int, constant: float, tie: int, votes: np.ndarray) -> None:
    """Add the votes on a few queries."""
    row_indices = np.concatenate([np.empty(0, np.int64), *sequence.row_indices])
    steps = np.concatenate([np.empty(0), *sequence.steps])
    winners, rivals = np.ascontiguousarray(np.concatenate([np.empty((0, 2), np.int64), *sequence.classes]).T)
    lengths = np.abs(steps) * np.hypot(sequence.row_norm_bounds, constant)[row_indices]
    base = sequence.base or Weights.zeros(len(votes), rows.n_features)
    rounding = _bound_rounding(sequence, rows, constant, base.norm + lengths.sum(), len(row_indices))
    queries = rows.matrix.astype(np.float64, copy=False)
    scores, sizes = _score_base(sequence, rows, constant, len(votes)), np.full(len(rows), base.norm)
    w, bias, stored = np.array(base.widen(rows.n_features).coef, order="C"), base.bias.copy(), sequence.stored
    products, both_rows = _multiply(stored, queries) + constant, (_csr_arrays(stored), _csr_arrays(queries), constant)
    overlaps = _find_overlaps(stored, queries) if integer_rows(steps[None]).all() else None
    survival_counts, is_last = sequence.survival_counts(now), tie != additive.TIE_NEGATIVE
    if len(votes) > 1:
        updates = voting.MulticlassUpdates(row_indices, steps, lengths, winners, rivals)
        near_ties = voting.NearTies(*both_rows, w, bias)
        voting.count_multiclass_votes(
            products, overlaps, updates, survival_counts, is_last, rounding, sizes, scores, votes, near_ties
        )
    else:
        signed_updates = voting.BinaryUpdates(row_indices, steps * (2 * winners - 1), lengths)
        tie_sign, near_ties = 1.0 if is_last else -1.0, voting.NearTies(*both_rows, w[0], bias)
        voting.count_binary_votes(
            products,
            overlaps,
            signed_updates,
            survival_counts,
            tie_sign,
            rounding,
            sizes,
            scores[0],
            votes[0],
            near_ties,
        )


def _score_base(sequence: UpdateSequence, rows: Rows, constant: float, n_vectors: int) -> np.ndarray:
    """Return the scores of the first vector, (vectors, queries)."""
    scores = np.zeros((n_vectors, len(rows)))
    if sequence.base is not None:
        base = sequence.base.widen(rows.n_features).to_layout(sparse=rows.is_sparse)
        scores += linear_scores(rows, base, constant).reshape(len(rows), -1).T
    return scores


def _multiply(stored: Any, queries: Any) -> np.ndarray:
    """Return <x_s, x_q> for every stored row s and query q; stored rows may have fewer columns."""
    products = stored @ queries[:, : stored.shape[1]].T
    return np.ascontiguousarray(products.toarray() if sp.issparse(products) else products)


def _find_overlaps(stored: Any, queries: Any) -> np.ndarray | None:
    """Return which stored rows have a column in common with which queries; None if they are not sparse.

    The product of rows without a common column is the constant, which integer steps add up without rounding.
    """
    if not sp.issparse(stored) or not sp.issparse(queries):
        return None
    stored, queries = (
        sp.csr_array((np.ones(len(m.data)), m.indices, m.indptr), shape=m.shape) for m in (stored, queries)
    )
    return _multiply(stored, queries) != 0.0


def _csr_arrays(rows: Any) -> tuple[Any, Any, Any]:
    """Return rows as loops take them: (data, indices, indptr), the latter None for dense rows."""
    return (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows, None, None)


def _bound_rounding(sequence: UpdateSequence, rows: Rows, constant: float, size: float, n_updates: int) -> np.ndarray:
    """Return for each query a factor that, times the size of a weight vector, exceeds the rounding error of its score.

    It counts the terms of the products and of the sum (Higham, "Accuracy and Stability of Numerical Algorithms",
    section 4.2), twice to be safe. It is 0 where all numbers are integers that doubles hold.
    """
    norms, counts = bound_row_norms(rows.matrix)
    norms = np.hypot(norms, constant)
    factors = 4.0 * _UNIT_ROUNDOFF * (counts + n_updates + 8.0) * norms
    if sequence.is_integer:
        factors[integer_rows(rows.matrix) & (size * norms < _LARGEST_INTEGER)] = 0.0
    return factors
