"""Weights and what they score: the linear part of every hypothesis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff._compiled.loops import additive
from novikoff.inputs.rows import Rows

__all__ = ["Weights", "linear_scores"]

_SMALL, _LENT = 1 << 20, 1 << 26  # bytes


@dataclass(eq=False)
class _Room:
    """Zeros beyond the features there are, so that a stream that brings a few new ones in every block does not copy all
    weights each time; `used` says how many columns some Weights have."""

    coef: np.ndarray
    used: int

    @classmethod
    def beside(cls, coef: np.ndarray, n_features: int) -> _Room:
        """A copy with as many columns as are needed, and half as many more; or, if they are many, as many as fit into
        memory that the system lends only where it is written to."""
        wanted = n_features + n_features // 2
        if wanted * len(coef) * coef.itemsize > _SMALL:
            wanted = max(wanted, _LENT // (len(coef) * coef.itemsize))
        room = np.zeros((len(coef), wanted), order="F")
        room[:, : coef.shape[1]] = coef
        return cls(room, n_features)


@dataclass(eq=False)
class Weights:
    """One weight vector for two classes, or one per class for many; coef (vectors, features), bias (vectors,)."""

    coef: np.ndarray
    bias: np.ndarray
    _room: _Room | None = field(default=None, repr=False)

    @classmethod
    def zeros(cls, n_vectors: int, n_features: int) -> Weights:
        return cls(np.zeros((n_vectors, n_features)), np.zeros(n_vectors))

    @classmethod
    def none(cls) -> Weights:
        """The memory that a hypothesis does not need."""
        return cls.zeros(0, 0)

    def __bool__(self) -> bool:
        return len(self.bias) > 0

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy, which would make two arrays of the one that coef shares with its room."""
        return {**self.__dict__, "_room": None}

    def copy(self) -> Weights:
        return Weights(self.coef.copy(order="K"), self.bias.copy())

    def laid_out(self, *, sparse: bool) -> Weights:
        """(class, feature) in memory for dense rows, (feature, class) for sparse ones; itself if it already is."""
        ordered = np.asfortranarray(self.coef) if sparse and len(self.bias) > 1 else np.ascontiguousarray(self.coef)
        return self if ordered is self.coef else Weights(ordered, self.bias)

    def scaled(self, by: float) -> Weights:
        return Weights(self.coef * by + 0.0, self.bias * by + 0.0)  # no -0.0, which is equal but other bytes

    def widened(self, n_features: int) -> Weights:
        """With zero weights for features that were not there before; the others may share memory with these."""
        if len(self.bias) > 1 and not self.coef.flags.fnc:  # for dense rows, which have come with all their features
            grown = np.zeros((len(self.coef), n_features))
            grown[:, : self.coef.shape[1]] = self.coef
            return Weights(grown, self.bias)
        room = self._room
        is_ours = room is not None and self.coef.base is room.coef and room.used == self.coef.shape[1]
        if room is None or not is_ours or n_features > room.coef.shape[1]:
            room = _Room.beside(self.coef, n_features)
        room.used = n_features
        return Weights(room.coef[:, :n_features], self.bias, room)

    def split(self, by: float) -> Weights:
        """One vector for two classes -> two vectors, -by * w and +by * w."""
        sign = np.array([[-by], [by]])
        return Weights(sign * self.coef + 0.0, (sign * self.bias).sum(axis=1) + 0.0)

    def with_class(self, at: int) -> Weights:
        return Weights(np.insert(self.coef, at, 0.0, axis=0), np.insert(self.bias, at, 0.0))

    def scores(self, rows: Rows, constant: float) -> np.ndarray:
        """<w, x> + bias * constant for every row; see `linear_scores`."""
        return linear_scores(rows, self.laid_out(sparse=rows.is_sparse), constant)

    @property
    def norm(self) -> float:
        coef = np.ascontiguousarray(self.coef)  # in another order of memory the sum would round in another way
        return float(np.hypot(np.linalg.norm(coef), np.linalg.norm(self.bias)))


def linear_scores(rows: Rows, weights: Weights, constant: float) -> np.ndarray:
    """<w, x> + bias: (rows,) for one weight vector, (rows, vectors) for several."""
    n_vectors = len(weights.bias)
    if n_vectors == 1:
        out = np.empty(len(rows))
        additive.binary_scores(rows.data, rows.indices, rows.indptr, constant, weights.coef[0], weights.bias, out)
        return out
    out = np.empty((len(rows), n_vectors))
    coef = np.ascontiguousarray(weights.coef.T) if rows.is_sparse else weights.coef  # as it is, if laid out for them
    additive.multiclass_scores(rows.data, rows.indices, rows.indptr, constant, coef, weights.bias, out)
    return out
