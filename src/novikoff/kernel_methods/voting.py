"""Votes of all functions along a run of a kernel perceptron.

The compiled loops are in _compiled/loops/dual_voting.py.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops import dual_voting
from novikoff._compiled.loops.additive import EXAMPLES, TIE_NEGATIVE
from novikoff.kernel_methods import vote_rounding
from novikoff.kernel_methods.dual_state import DualState
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.kernel_methods.points import Points

__all__ = ["VoteCounter"]

_PRODUCT_CELLS = 1 << 23  # kernel values that are computed at a time: 64 MB


class VoteCounter:
    """Counts the votes of every function along a run.

    Parameters
    ----------
    kernel : Kernel or CustomKernel
    state : DualState
    direct : bool
        Whether one update is for two classes; otherwise there is one classifier per class.
    tie : int
        What a score of 0 votes for.
    """

    def __init__(self, kernel: Kernel | CustomKernel, state: DualState, *, direct: bool, tie: int) -> None:
        self.kernel, self.state = kernel, state
        self.direct, self.prefers_last = direct, tie != TIE_NEGATIVE

    def count(self, points: Points) -> np.ndarray:
        """Return the votes on each point, of shape (n_vectors, n_points), a block of points at a time.

        Where rounding could decide a vote of a polynomial kernel, its values are computed again in double-double
        precision.
        """
        state, votes = self.state, np.zeros((self.state.n_vectors, len(points)))
        if not len(state.support):
            nothing = np.empty((0, len(points))), None, np.empty(0, np.int64), np.empty(0), np.zeros(len(points))
            self._add_up(*nothing, votes)
            return votes
        support, polynomial, n_updates = state.support.points, self.kernel.polynomial, state.n_updates
        first_equal = vote_rounding.first_equal_rows(support)
        size = max(1, _PRODUCT_CELLS // len(support))
        for begin in range(0, len(points), size):
            end = min(begin + size, len(points))
            queries = points.take(np.arange(begin, end))
            norms, bounds = np.zeros(len(support)), np.zeros(len(queries))
            if polynomial is not None:
                norms, bounds = vote_rounding.rounding_bounds(polynomial, support, queries, n_updates)
            products = self.kernel.block(support, queries)
            uncertain = self._add_up(products, None, first_equal, norms, bounds, votes[:, begin:end])
            if polynomial is not None and uncertain.size:
                recounted = np.empty((len(votes), len(uncertain)))
                bounds = vote_rounding.double_double_bounds(bounds[uncertain], n_updates)
                high, low = vote_rounding.double_double_kernels(polynomial, support, queries.take(uncertain))
                self._add_up(high, low, first_equal, norms, bounds, recounted)
                votes[:, begin + uncertain] = recounted
        return votes

    def _add_up(
        self,
        high: np.ndarray,
        low: np.ndarray | None,
        first_equal: np.ndarray,
        norms: np.ndarray,
        bounds: np.ndarray,
        votes: np.ndarray,
    ) -> np.ndarray:
        """Fill in the votes on points with kernel values high + low.

        Return the points for which some score was so near 0 that rounding may have decided its sign.
        """
        state = self.state
        votes[:] = 0.0
        is_uncertain, n_examples = np.zeros(votes.shape[1], bool), int(state.counts[EXAMPLES])
        slots, vectors, examples = state.slots.values, state.vectors.values, state.examples.values
        scores, corrections, sizes = np.zeros((3, *votes.shape))
        sums = dual_voting.RunningSums(scores, corrections, np.zeros((len(votes), len(first_equal) + 1)), sizes)
        results = norms, bounds, sums, votes, is_uncertain
        if self.direct:
            survived = np.diff(np.concatenate([[1], examples[::2], [n_examples + 1]])).astype(np.float64)
            paired = dual_voting.PairedUpdates(
                slots[::2].copy(), vectors[::2].copy(), vectors[1::2].copy(), first_equal
            )
            dual_voting.count_direct_votes(high, low, paired, survived, self.prefers_last, *results)
        else:
            signed = dual_voting.SignedUpdates(slots, vectors, state.signs.values, examples, first_equal)
            tie_sign = 1.0 if self.prefers_last else -1.0
            dual_voting.count_one_vs_rest_votes(high, low, signed, state.born.copy(), n_examples, tie_sign, *results)
        return np.flatnonzero(is_uncertain)
