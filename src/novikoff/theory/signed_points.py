"""SignedPoints: the points z = y * (x, constant) behind all questions of separability.

A vector w separates the rows if and only if <w, z> > 0 for every point z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import row_hashing
from novikoff._compiled.loops.rows import SMALLEST_SQUARED_NORM
from novikoff.inputs.rows import Rows
from novikoff.perceptron.weights import Weights, linear_scores

__all__ = ["SignedPoints", "normalize", "scale_to_doubles"]

_SMALLEST_RATIO = -500  # as a power of two
_SHORT = 1024  # columns: up to here, a few sparse rows are handled faster as dense ones


@dataclass(frozen=True, eq=False)
class SignedPoints:
    """Rows whose norms are known, their signs -1 or +1, and the constant coordinate (1, or 0 for none).

    Vectors of weights carry the bias as their last entry, so that they have as many entries as z.
    """

    rows: Rows
    signs: np.ndarray
    constant: float

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dimension(self) -> int:
        return self.rows.n_features + bool(self.constant)

    @property
    def squared_lengths(self) -> np.ndarray:
        return self.rows.squared_norms + self.constant

    def margins(self, w: np.ndarray) -> np.ndarray:
        """<w, z> for every point."""
        scores = linear_scores(self.rows, Weights(w[None, :-1], w[-1:]), self.constant)
        scores *= self.signs
        return scores

    def rounding(self, w: np.ndarray) -> np.ndarray:
        """Return how far `margins` may be off: n u sum |w_j z_j| for n products; Cauchy-Schwarz bounds the sum.

        Squared lengths below SMALLEST_SQUARED_NORM may have lost all their digits.
        """
        lengths = np.sqrt(np.maximum(self.squared_lengths, SMALLEST_SQUARED_NORM))
        return (self.dimension + 4) * 2.0**-52 * np.linalg.norm(w) * lengths

    def rounding_by_entries(self, w: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return how far `margins` of some of the points may be off: n u sum |w_j z_j|, not bounded any further."""
        return (self.dimension + 4) * 2.0**-52 * (abs(self.take(at)) @ np.abs(w)) * (1.0 + self.dimension * 2.0**-50)

    @cached_property
    def length_ratios(self) -> np.ndarray:
        """The power of two near the shortest length, divided by that near the length of each point; at least 2^-500, so
        that its square is not 0."""
        lengths = np.sqrt(np.maximum(self.squared_lengths, SMALLEST_SQUARED_NORM))
        exponents = np.frexp(lengths)[1]
        return np.ldexp(1.0, np.maximum(exponents.min() - exponents, _SMALLEST_RATIO))

    def hashes(self, *, up_to_sign: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return a hash of each row of X, equal for identical rows (or also for x and -x); and the sign of its first
        entry."""
        hashes, leads = np.empty(len(self), np.uint64), np.empty(len(self))
        row_hashing.hash_rows(self.rows.data, self.rows.indices, self.rows.indptr, up_to_sign, hashes, leads)
        return hashes, leads

    def margin_lower_bound(self, w: np.ndarray) -> float:
        """Return a lower bound on all <w, z> / |w|, as far as doubles can tell.

        Rounding is counted four times, so that a checker that adds in another order arrives at the same verdict.
        """
        length = float(np.linalg.norm(w)) * (1.0 + (self.dimension + 4) * 2.0**-52)
        return float((self.margins(w) - 4.0 * self.rounding(w)).min()) / length * (1.0 - 2.0**-50)

    def length_upper_bound(self, at: np.ndarray, weights: np.ndarray) -> float:
        """Return an upper bound on |sum weights * z| / sum weights, weights > 0, as far as doubles can tell."""
        rounding = (len(at) + self.dimension + 8) * 2.0**-52
        longest = math.sqrt(float(self.squared_lengths[at].max()) + SMALLEST_SQUARED_NORM)
        length = float(np.linalg.norm(self.take(at).T @ weights)) / float(weights.sum())
        return (length + 2.0 * rounding * longest) * (1.0 + 4.0 * rounding)

    def take(self, at: np.ndarray) -> Any:
        """Return some of the points as doubles, the constant coordinate last; sparse only if they have many columns."""
        x: Any = self.rows.take(at)
        y = self.signs[at].astype(float)
        last = (y * self.constant)[:, None]
        if sp.issparse(x) and x.shape[1] > _SHORT:
            return sp.hstack([sp.diags_array(y) @ x, sp.csr_array(last)], format="csr")
        return np.hstack([y[:, None] * (x.toarray() if sp.issparse(x) else x), last])

    def take_used(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return some of the points as a dense array without columns of zeros, and the indices of its columns."""
        z = self.take(at)
        columns = np.unique(z.indices) if sp.issparse(z) else np.flatnonzero(z.any(axis=0))
        z = z[:, columns]
        return (z.toarray() if sp.issparse(z) else z), columns


def scale_to_doubles(w: np.ndarray) -> np.ndarray:
    """Scale weights, which may be Fractions, so that the largest is 1 or -1: unscaled they may not fit into doubles."""
    largest = np.abs(w).max(initial=0) if w.dtype != object else max(abs(v) for v in w)
    return np.array(w / largest, float) if largest else np.zeros(len(w))


def normalize(w: np.ndarray) -> np.ndarray:
    """Scale w to length 1, in two steps: the squares of very small or large entries would be 0 or inf."""
    w = w / np.abs(w).max()
    return w / np.linalg.norm(w)
