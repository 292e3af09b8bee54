"""Packing: states as they travel between this process and workers, without what both sides have.

An array is sent as the entries in which it differs from one that the other side has, if these are few, as they are
where a round meets few of many features; else as a whole. Entries are compared bit by bit: what arrives is what was
sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["PackedArray", "PackedState", "pack_array", "pack_state", "unpack_state"]

_WEIGHTS = ("raw", "sums", "pocket")


@dataclass(frozen=True, eq=False)
class PackedArray:
    """Doubles of a shape: all of them in `values`, or those at `indices` of the flat array; the others are as in the
    array that both sides have."""

    shape: tuple[int, ...]
    values: np.ndarray
    indices: np.ndarray | None = None

    def unpack(self, base: np.ndarray) -> np.ndarray:
        """Return the array, given the one that both sides have; it is not changed."""
        if self.indices is None:
            return self.values.reshape(self.shape).copy()
        whole = np.array(base, np.float64, order="C")
        whole.ravel()[self.indices] = self.values  # a view, since the order is C
        return whole

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + (0 if self.indices is None else self.indices.nbytes)


def pack_array(array: np.ndarray, base: np.ndarray) -> PackedArray:
    """Pack an array of doubles, given one of its shape that the other side has.

    >>> import numpy as np
    >>> from novikoff.distributed.packing import pack_array
    >>> base = np.zeros((2, 3))
    >>> array = base.copy()
    >>> array[1, 2] = 5.0
    >>> packed = pack_array(array, base)
    >>> packed.values.tolist(), packed.indices.tolist(), packed.unpack(base)[1].tolist()
    ([5.0], [5], [0.0, 0.0, 5.0])
    """
    flat, known = (np.ascontiguousarray(each, np.float64).ravel() for each in (array, base))
    changed = np.flatnonzero(flat.view(np.int64) != known.view(np.int64))
    indices = changed.astype(np.int32) if len(flat) < 1 << 31 else changed
    if len(changed) * (indices.itemsize + 8) < flat.nbytes:
        return PackedArray(array.shape, flat[changed], indices)
    return PackedArray(array.shape, flat.copy())


@dataclass(frozen=True, eq=False)
class PackedState:
    """A state without its trace: its arrays, packed, and its counts."""

    arrays: dict[str, PackedArray]
    fields: dict[str, Any]

    @property
    def nbytes(self) -> int:
        """The bytes that its arrays take on the way."""
        return sum(array.nbytes for array in self.arrays.values())


def pack_state(state: State, base: State) -> PackedState:
    """Pack a state, given one of its learner that the other side has."""
    known = _arrays_of(base)
    arrays = {name: pack_array(array, known[name]) for name, array in _arrays_of(state).items()}
    names = ("counts", "measures", "passes", "is_bounded", "importance_range", "past", "fork_of")
    return PackedState(arrays, {name: getattr(state, name) for name in names})


def unpack_state(learner: Learner, packed: PackedState, base: State) -> State:
    """Return the state that was packed, with an empty trace; it shares nothing with the base."""
    known = _arrays_of(base)
    arrays = {name: array.unpack(known[name]) for name, array in packed.arrays.items()}
    weights: dict[str, Any] = {
        name: Weights(arrays[f"{name}.coef"], arrays[f"{name}.bias"]) if f"{name}.coef" in arrays else Weights.none()
        for name in _WEIGHTS
    }
    slots = {name.removeprefix("slots."): array for name, array in arrays.items() if name.startswith("slots.")}
    memory = None if learner.engine is None else learner.engine.slots_of_arrays(slots)
    fields: dict[str, Any] = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in packed.fields.items()
    }
    return replace(base, **weights, **fields, memory=memory, history=None, trace=LedgerTrace())


def _arrays_of(state: State) -> dict[str, np.ndarray]:
    """Return the arrays of a state that depend on the number of features, by name."""
    found: dict[str, np.ndarray] = {}
    for name in _WEIGHTS:
        weights = getattr(state, name)
        if weights:
            found |= {f"{name}.coef": weights.coef, f"{name}.bias": weights.bias}
    if state.memory is not None:
        found |= {f"slots.{name}": array for name, array in state.memory.arrays().items()}
    return found
