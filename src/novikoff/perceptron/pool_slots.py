"""PoolSlots: everything that the rule "auto" keeps, besides theta."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from novikoff._compiled.loops.pool import COIN_COUNT, COIN_SUM, LENGTH, LOG_COST, N_TRACED, STRIDE, WEIGHT, PoolArrays
from novikoff._compiled.loops.pool_experts import COIN_WEALTH, LARGEST, PA, PA_SUMS, PLAIN, PLAIN_SUMS, WEALTH
from novikoff._compiled.loops.pool_mixers import AROW_MIXER, AROW_PRIOR, LOG_MIXER, LOG_PRIOR, N_EXPERTS, N_MIXERS
from novikoff._compiled.loops.pool_vote import N_CANDIDATES
from novikoff.errors import ModelFileError
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.state import State
from novikoff.stateful_rules import Slot

__all__ = ["PoolSlots", "pool_of"]

_CAPACITY = 256  # points of the trace

# In the order of the columns in _compiled/loops/pool_experts.py. With the third class all scores are halved.
_SCORED = (
    Slot("AdaGrad weight", is_signed=True, share=0.5),
    Slot("PA weight", is_signed=True, share=0.5),
    Slot("PA sum", is_signed=True, share=0.5),
    Slot("AROW weight", is_signed=True, share=0.5),
    Slot("coin weight", is_signed=True, share=0.5),
    Slot("plain PA weight", is_signed=True, share=0.5),
    Slot("plain PA sum", is_signed=True, share=0.5),
    Slot("largest"),
)
_KEPT = (
    Slot("squared slopes"),
    Slot("variance", initial=1.0),
    Slot("wealth", share=0.5),
    Slot("potential", is_signed=True),
    Slot("slopes"),
)
_SHARED = ("mixers", "squares", "votes", "trace", "numbers")  # what belongs to no feature


class PoolSlots(Slots):
    """The numbers of six experts, two mixers and their vote.

    Loops change all arrays in place. As with `Slots`, all other operations return new slots, which may share memory
    with these.

    Parameters
    ----------
    scored, kept : Slots
        For each feature of each vector; see _compiled/loops/pool_experts.py.
    shared : dict of ndarray
        The arrays of `PoolArrays` that belong to no feature.
    is_hat : ndarray of uint8
        1 for each feature that is an interpolation weight of a number; empty as long as there is none.
    """

    def __init__(self, scored: Slots, kept: Slots, shared: dict[str, np.ndarray], is_hat: np.ndarray) -> None:
        super().__init__(scored.kinds, scored.values, shared["numbers"])
        self.scored, self.kept, self.shared, self.is_hat = scored, kept, shared, is_hat

    @classmethod
    def untrained(cls, n_vectors: int, n_features: int) -> Self:
        """Return the slots before the first example."""
        mixers = np.zeros((N_MIXERS, N_EXPERTS + 1, N_EXPERTS))
        mixers[:, 0] = 1.0 / N_EXPERTS
        mixers[LOG_MIXER, 1:] = LOG_PRIOR * np.eye(N_EXPERTS)
        mixers[AROW_MIXER, 1:] = AROW_PRIOR * np.eye(N_EXPERTS)
        votes = np.zeros((2, N_CANDIDATES))
        votes[WEIGHT] = 1.0 / N_CANDIDATES
        numbers = np.zeros(5)
        numbers[STRIDE], numbers[LOG_COST] = 1.0, math.log(N_CANDIDATES)
        trace = np.zeros((_CAPACITY, N_TRACED))
        arrays = {"mixers": mixers, "squares": np.zeros(N_EXPERTS), "votes": votes, "trace": trace, "numbers": numbers}
        scored, kept = (Slots.initial(kinds, 0, n_vectors, n_features) for kinds in (_SCORED, _KEPT))
        return cls(scored, kept, arrays, np.zeros(0, np.uint8))

    @classmethod
    def shapes(cls, n_vectors: int, n_features: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each of `arrays`."""
        untrained = cls.untrained(1, 0).arrays()
        return {name: untrained[name].shape for name in _SHARED} | {
            "scored": (n_features + 1, n_vectors, len(_SCORED)),
            "kept": (n_features + 1, n_vectors, len(_KEPT)),
            "is_hat": (n_features,),
        }

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """Return slots of `arrays`. Raise a ModelFileError if they cannot be those of a pool: loops go by the length of
        the trace, and divide by its stride."""
        length, stride = arrays["numbers"][[LENGTH, STRIDE]]
        if not (length in range(_CAPACITY + 1) and 1.0 <= stride <= 2.0**53 and stride % 1.0 == 0.0):
            raise ModelFileError(f"The model file is damaged: its trace has {length:g} points, every {stride:g} rows.")
        none = np.zeros(0)
        is_hat = (arrays["is_hat"] != 0.0).astype(np.uint8)
        return cls(
            Slots(_SCORED, arrays["scored"], none),
            Slots(_KEPT, arrays["kept"], none),
            {name: arrays[name] for name in _SHARED},
            is_hat if is_hat.any() else np.zeros(0, np.uint8),
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name, as float64, as model files hold them."""
        is_hat = self.is_hat if self.is_hat.size else np.zeros(len(self.values) - 1)
        return self.shared | {
            "scored": self.scored.values,
            "kept": self.kept.values,
            "is_hat": is_hat.astype(np.float64),
        }

    @property
    def pool(self) -> PoolArrays:
        """The arrays as loops take them."""
        return PoolArrays(self.scored.values, self.kept.values, *map(self.shared.__getitem__, _SHARED))

    @property
    def trace(self) -> np.ndarray:
        """The points of the trace, see _compiled/loops/pool.py."""
        return self.shared["trace"][: int(self.shared["numbers"][LENGTH])]

    def _with(self, scored: Slots, kept: Slots, is_hat: np.ndarray | None = None) -> Self:
        return type(self)(scored, kept, self.shared, self.is_hat if is_hat is None else is_hat)

    def copy(self) -> Self:
        shared = {name: array.copy() for name, array in self.shared.items()}
        return type(self)(self.scored.copy(), self.kept.copy(), shared, self.is_hat.copy())

    def widen(self, n_features: int) -> Self:
        """Return slots for more features; those of the new ones are as before the first example."""
        is_hat = self.is_hat
        if is_hat.size:
            is_hat = np.concatenate([is_hat, np.zeros(n_features - len(is_hat), np.uint8)])
        return self._with(self.scored.widen(n_features), self.kept.widen(n_features), is_hat)

    def swap_classes(self) -> Self:
        """Return slots with the two classes exchanged."""
        return self._with(self.scored.swap_classes(), self.kept.swap_classes())

    def split_vectors(self) -> Self:
        """Return slots of a vector for each of two classes, which have shared one."""
        return self._with(self.scored.split_vectors(), self.kept.split_vectors())

    def insert_class(self, code: int) -> Self:
        """Return slots with those of a new class inserted, whose coin betting starts with the wealth of a feature that
        is new now."""
        wider = self._with(self.scored.insert_class(code), self.kept.insert_class(code))
        largest = self.scored.values[:, 0, LARGEST]
        numbers = self.shared["numbers"]
        if numbers[COIN_SUM] > 0.0:
            wealth = COIN_WEALTH / math.sqrt(numbers[COIN_SUM] / numbers[COIN_COUNT])
            wider.kept.values[:, code, WEALTH] = np.where(largest > 0.0, wealth, 0.0)
        wider.scored.values[:, code, LARGEST] = largest
        return wider

    def mark_hats(self, is_hat: np.ndarray) -> None:
        """Note in place which features are hats; those beyond the end of `is_hat` are none. The plain expert, which was
        the average of PA-II so far, goes on without them. Doing it twice has no further effect."""
        n_features = len(self.scored.values) - 1
        known = self.is_hat if self.is_hat.size else np.zeros(n_features, np.uint8)
        new = np.zeros(n_features, bool)
        n_marked = min(n_features, len(is_hat))
        new[:n_marked] = (is_hat[:n_marked] != 0) & (known[:n_marked] == 0)
        if new.any():
            values = self.scored.values
            if not self.is_hat.size:
                values[:, :, PLAIN], values[:, :, PLAIN_SUMS] = values[:, :, PA], values[:, :, PA_SUMS]
            values[1:][new, :, PLAIN] = values[1:][new, :, PLAIN_SUMS] = 0.0
            self.is_hat = known | new.astype(np.uint8)

    def __getstate__(self) -> dict[str, Any]:
        """Keep everything: `scored` and `kept` leave their own buffers out."""
        return self.__dict__


def pool_of(state: State) -> PoolSlots:
    """Return what the rule "auto" keeps in a state."""
    assert isinstance(state.memory, PoolSlots)
    return state.memory
