"""Rows that some column alone can put on their side: a question of separability without them has the same answer.

If all entries of z in a column have the same sign, a large enough weight on it has every row with an entry there on its
side, whatever the other weights. Those rows leave, and other columns may become as simple; what stays is the core.
Multipliers of a witness are 0 on the rows that leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.theory.signed_points import SignedPoints

__all__ = ["Peeling"]

_MOST_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class _Layer:
    """Rows that left in one round, and for each of them the column that puts it on its side, with its entry there."""

    rows: np.ndarray
    columns: np.ndarray
    entries: np.ndarray


@dataclass(frozen=True, eq=False)
class Peeling:
    """The layers of rows that left, and the rows of the core.

    Attributes
    ----------
    z : array or sparse matrix
        All points, the columns of `points.rows`.
    layers : list of _Layer
    core : ndarray
        The indices of the other rows.
    """

    z: Any
    layers: list[_Layer]
    core: np.ndarray

    @classmethod
    def of(cls, points: SignedPoints) -> Peeling:
        """Remove rows until no column has entries of one sign only; the constant coordinate must be a column."""
        x: Any = points.rows.take(np.arange(len(points)))
        y = points.signs.astype(float)
        z = sp.csr_array(sp.diags_array(y) @ x) if sp.issparse(x) else x * y[:, None]
        if sp.issparse(z):
            z.eliminate_zeros()
        core, layers = np.arange(len(points)), list[_Layer]()
        for _ in range(_MOST_ROUNDS):
            layer = _peel(z[core], core) if len(core) else None
            if layer is None:
                break
            layers.append(layer)
            core = np.setdiff1d(core, layer.rows, assume_unique=True)
        return cls(z, layers, core)

    def extend(self, w: np.ndarray) -> np.ndarray:
        """Return weights that have all rows on their side, of weights of the columns that have those of the core."""
        w = w.copy()
        with np.errstate(all="ignore"):  # what overflows is not confirmed
            if len(self.core):
                w /= np.abs(self.z[self.core] @ w).min()
            for layer in reversed(self.layers):
                short = np.maximum(1.0 - self.z[layer.rows] @ w, 0.0) / np.abs(layer.entries)
                needed = np.zeros(len(w))
                np.maximum.at(needed, layer.columns, short)
                w[layer.columns] = (needed * np.sign(_by_column(layer, len(w))))[layer.columns]
        return w


def _by_column(layer: _Layer, size: int) -> np.ndarray:
    """Return an entry of each column of a layer, 0 of others: all entries of a column have the same sign."""
    entries = np.zeros(size)
    entries[layer.columns] = layer.entries
    return entries


def _peel(z: Any, indices: np.ndarray) -> _Layer | None:
    """Return the rows of z that have an entry in a column of one sign, by their `indices`; None if there are none."""
    has_positive = np.asarray((z > 0.0).sum(axis=0)).ravel() > 0
    has_negative = np.asarray((z < 0.0).sum(axis=0)).ravel() > 0
    columns = np.flatnonzero(has_positive != has_negative)
    if not columns.size:
        return None
    sizes = abs(z[:, columns])
    largest = np.asarray(sizes.argmax(axis=1)).ravel()
    rows = np.arange(len(indices))
    entries = np.asarray(z[rows, columns[largest]]).ravel()
    chosen = np.flatnonzero(entries)
    return _Layer(indices[chosen], columns[largest[chosen]], entries[chosen])
