"""Slots: the numbers that a stateful rule keeps for each feature of each weight vector, and those of no feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from novikoff.stateful_rules import Slot

__all__ = ["Slots"]


class Slots:
    """What a stateful rule keeps besides the weights.

    Loops change `values` and `totals` in place. All other operations return new slots, which may share memory with
    these: use only the new ones from then on. An engine whose rule keeps more, such as arrays that belong to no
    feature, has a subclass that does the same to those (`copy`, `widen`, `swap_classes`, `split_vectors`,
    `insert_class`, `arrays`); the state, model files and merging call nothing else.

    Parameters
    ----------
    kinds : sequence of Slot
    values : ndarray of shape (n_features + 1, n_vectors, n_slots)
        Row 0 is the constant coordinate, row 1 + j is feature j.
    totals : ndarray of shape (n_totals,)

    Examples
    --------
    >>> from novikoff.perceptron.slots import Slots
    >>> from novikoff.stateful_rules import Arow
    >>> slots = Slots.initial(Arow.slots, n_totals=0, n_vectors=1, n_features=1)
    >>> slots.widen(2).values[:, 0].tolist()
    [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """

    def __init__(self, kinds: Sequence[Slot], values: np.ndarray, totals: np.ndarray) -> None:
        self.kinds, self.values, self.totals = tuple(kinds), values, totals
        # Rows for later features follow those of `values` in this array; `_used[0]` of them are in use by some slots.
        self._buffer: np.ndarray | None = None
        self._used = [0]

    @classmethod
    def initial(cls, kinds: Sequence[Slot], n_totals: int, n_vectors: int, n_features: int) -> Self:
        """Return slots that have seen nothing."""
        values = np.zeros((n_features + 1, n_vectors, len(kinds)))
        values += [slot.initial for slot in kinds]
        return cls(kinds, values, np.zeros(n_totals))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the buffer out of pickles and deep copies, as `Weights` does."""
        return {**self.__dict__, "_buffer": None, "_used": [0]}

    def _replace(self, values: np.ndarray, totals: np.ndarray | None = None) -> Self:
        return type(self)(self.kinds, values, self.totals if totals is None else totals)

    def copy(self) -> Self:
        return self._replace(self.values.copy(), self.totals.copy())

    def widen(self, n_features: int) -> Self:
        """Return slots for more features, of which the new ones have seen nothing."""
        n_old, n_new = len(self.values), n_features + 1
        buffer, used = self._buffer, self._used
        if buffer is None or used[0] != n_old or n_new > len(buffer):
            buffer, used = np.empty((n_new + n_new // 2, *self.values.shape[1:])), [0]
            buffer[:n_old] = self.values
        buffer[n_old:n_new] = [slot.initial for slot in self.kinds]
        used[0] = n_new
        wider = self._replace(buffer[:n_new])
        wider._buffer, wider._used = buffer, used
        return wider

    def swap_classes(self) -> Self:
        """Return slots with the two classes exchanged."""
        signs = np.array([-1.0 if slot.is_signed else 1.0 for slot in self.kinds])
        return self._replace(self.values * signs + 0.0)  # + 0.0: no -0.0, whose bytes differ

    def split_vectors(self) -> Self:
        """Return slots of a vector for each of two classes, which have shared one."""
        shares = np.array([slot.share for slot in self.kinds])
        first = shares * [-1.0 if slot.is_signed else 1.0 for slot in self.kinds]
        both = np.concatenate([self.values * first + 0.0, self.values * shares], axis=1)
        return self._replace(both, self.totals * 2.0)  # sums over x are over phi(x, y) - phi(x, z) from now on

    def insert_class(self, code: int) -> Self:
        """Return slots with those of a new class inserted, which has seen nothing."""
        new = np.broadcast_to([slot.initial for slot in self.kinds], (len(self.values), 1, len(self.kinds)))
        return self._replace(np.concatenate([self.values[:, :code], new, self.values[:, code:]], axis=1))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name, as model files hold them."""
        return {"values": self.values, "totals": self.totals}
