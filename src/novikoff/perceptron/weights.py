"""Weights, their scores and their margins: the linear part of every hypothesis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff._compiled.loops import additive
from novikoff.inputs.rows import Rows

__all__ = ["Weights", "linear_scores", "margins", "margins_of_scores"]

_SMALL_BUFFER = 1 << 20  # bytes
_LARGE_BUFFER = 1 << 26  # bytes; the system provides a page of it only when it is first written to


@dataclass(eq=False)
class _ColumnBuffer:
    """Weights followed by zero columns for later features.

    A stream that brings a few new features in every block would otherwise copy all weights each time. `n_used` is the
    number of columns that some `Weights` have.
    """

    coef: np.ndarray
    n_used: int

    @classmethod
    def allocate(cls, coef: np.ndarray, n_features: int) -> _ColumnBuffer:
        """Copy weights into a buffer of one and a half times the columns that are needed; a buffer beyond
        _SMALL_BUFFER has at least _LARGE_BUFFER bytes, of which unused pages cost nothing."""
        capacity = n_features + n_features // 2
        if capacity * len(coef) * coef.itemsize > _SMALL_BUFFER:
            capacity = max(capacity, _LARGE_BUFFER // (len(coef) * coef.itemsize))
        buffer = np.zeros((len(coef), capacity), order="F")
        buffer[:, : coef.shape[1]] = coef
        return cls(buffer, n_features)


@dataclass(eq=False)
class Weights:
    """One weight vector for two classes, or one per class for more; coef (vectors, features), bias (vectors,)."""

    coef: np.ndarray
    bias: np.ndarray
    _buffer: _ColumnBuffer | None = field(default=None, repr=False)

    @classmethod
    def zeros(cls, n_vectors: int, n_features: int) -> Weights:
        return cls(np.zeros((n_vectors, n_features)), np.zeros(n_vectors))

    @classmethod
    def none(cls) -> Weights:
        """Return empty weights, for a part of a state that the hypothesis does not need."""
        return cls.zeros(0, 0)

    def __bool__(self) -> bool:
        return len(self.bias) > 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave the buffer out of pickles and deep copies: they would make two arrays of the one it shares with
        coef."""
        return {**self.__dict__, "_buffer": None}

    def copy(self) -> Weights:
        return Weights(self.coef.copy(order="K"), self.bias.copy())

    def to_layout(self, *, sparse: bool) -> Weights:
        """Return weights in the memory order that is fastest with rows of a kind, or these if they are in it already:
        (class, feature) for dense rows, (feature, class) for sparse rows."""
        ordered = np.asfortranarray(self.coef) if sparse and len(self.bias) > 1 else np.ascontiguousarray(self.coef)
        return self if ordered is self.coef else Weights(ordered, self.bias)

    def scale(self, factor: float) -> Weights:
        """Return these weights times a factor."""
        return Weights(self.coef * factor + 0.0, self.bias * factor + 0.0)  # + 0.0: no -0.0, whose bytes differ

    def widen(self, n_features: int) -> Weights:
        """Return weights for more features, zero for the new ones; they may share memory with these."""
        if len(self.bias) > 1 and not self.coef.flags.fnc:  # laid out for dense rows, whose features do not grow
            wide = np.zeros((len(self.coef), n_features))
            wide[:, : self.coef.shape[1]] = self.coef
            return Weights(wide, self.bias)
        buffer = self._buffer
        is_last_user = (
            buffer is not None and self.coef.base is buffer.coef and buffer.n_used == self.coef.shape[1]
        )  # no other weights use the columns after ours
        if buffer is None or not is_last_user or n_features > buffer.coef.shape[1]:
            buffer = _ColumnBuffer.allocate(self.coef, n_features)
        buffer.n_used = n_features
        return Weights(buffer.coef[:, :n_features], self.bias, buffer)

    def split(self, factor: float) -> Weights:
        """Return two vectors for two classes, -factor * w and +factor * w, in place of the one that they shared."""
        sign = np.array([[-factor], [factor]])
        return Weights(sign * self.coef + 0.0, (sign * self.bias).sum(axis=1) + 0.0)

    def insert_class(self, code: int) -> Weights:
        """Return weights with a vector of zeros inserted for a new class with this code."""
        return Weights(np.insert(self.coef, code, 0.0, axis=0), np.insert(self.bias, code, 0.0))

    def scores(self, rows: Rows, constant: float) -> np.ndarray:
        """Return <w, x> + bias * constant for every row; see `linear_scores`."""
        return linear_scores(rows, self.to_layout(sparse=rows.is_sparse), constant)

    @property
    def norm(self) -> float:
        coef = np.ascontiguousarray(self.coef)  # in another memory order the sum would be rounded differently
        return float(np.hypot(np.linalg.norm(coef), np.linalg.norm(self.bias)))


def linear_scores(rows: Rows, weights: Weights, constant: float) -> np.ndarray:
    """Return <w, x> + constant * bias: (rows,) for one weight vector, (rows, vectors) for several."""
    n_vectors = len(weights.bias)
    if n_vectors == 1:
        out = np.empty(len(rows))
        additive.score_binary(rows.data, rows.indices, rows.indptr, constant, weights.coef[0], weights.bias, out)
        return out
    out = np.empty((len(rows), n_vectors))
    coef = np.ascontiguousarray(weights.coef.T) if rows.is_sparse else weights.coef  # no copy in the right layout
    additive.score_multiclass(rows.data, rows.indices, rows.indptr, constant, coef, weights.bias, out)
    return out


def margins(weights: Weights, rows: Rows, codes: np.ndarray, constant: float) -> np.ndarray:
    """Return the margin <w, v> of every row.

    v is y * x for two classes, and phi(x, y) - phi(x, z) for more, with z the strongest rival of the true class y.
    Where codes are pairs (y, z), z is the given one.
    """
    return margins_of_scores(weights.scores(rows, constant), codes)


def margins_of_scores(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the margins of rows with these scores; see `margins`."""
    true = codes if codes.ndim == 1 else codes[:, 0]
    if scores.ndim == 1:
        return scores * (2 * true - 1)
    each = np.arange(len(scores))
    if codes.ndim == 2:
        return scores[each, true] - scores[each, codes[:, 1]]
    others = scores.copy()
    others[each, true] = -np.inf
    return scores[each, true] - others.max(axis=1)
