"""Weights of any form: named, dense, or places in a long array; each with its mean, kept in one extra sum.

With delta_t what example t adds, the mean of the weights after N examples is w - u / N, where u is the sum of
(t - 1) delta_t. Both change only on a mistake.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from novikoff.errors import DataError

__all__ = ["Named", "Vector", "vector_for"]


class Named(dict[Any, float]):
    """Weights by name; a name never met has weight 0, and asking for it does not make an entry."""

    def __missing__(self, name: Any) -> float:
        return 0.0

    def copy(self) -> Named:
        return Named(self)


class Vector(ABC):
    """Weights as they are now, and as they were on average."""

    now: Any

    _moments: Any

    def copy(self) -> Self:
        """The same weights, in memory of their own."""
        found = copy.copy(self)
        found.now, found._moments = self.now.copy(), self._moments.copy()
        return found

    @abstractmethod
    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        """w <- w + right - wrong, `before` examples having gone before; return |right - wrong|^2."""

    @abstractmethod
    def mean(self, examples: int) -> Any:
        """The mean of the weights after each of so many examples."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """|w|."""

    @abstractmethod
    def __len__(self) -> int: ...


def vector_for(problem: Any, x: Any, y: Any) -> Vector:
    """Weights of the form that the features of a problem have."""
    found = problem.features(x, y)
    if isinstance(found, Mapping):
        return _ByName()
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iuf":
        raise DataError(f"features(x, y) must be a dict of numbers or an array of them; found {type(found).__name__}.")
    size = getattr(problem, "size", None)
    if size is None:
        return _Dense(found.shape)
    if found.dtype.kind == "f":
        raise DataError("The problem has a size, so features(x, y) must be an array of whole numbers: places.")
    return _Places(int(size))


class _ByName(Vector):
    def __init__(self) -> None:
        self.now, self._moments = Named(), Named()

    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        delta = Named(right)
        for name, value in wrong.items():
            delta[name] -= value
        squared = math.fsum(value * value for value in delta.values())
        if not math.isfinite(squared):
            raise DataError("features(x, y) holds NaN or infinity.")
        for name, value in delta.items():
            if value:
                self.now[name] += value
                self._moments[name] += before * value
        return squared

    def mean(self, examples: int) -> Named:
        return Named({name: value - self._moments[name] / examples for name, value in self.now.items()})

    @property
    def norm(self) -> float:
        return math.sqrt(math.fsum(value * value for value in self.now.values()))

    def __len__(self) -> int:
        return len(self.now)


class _Dense(Vector):
    def __init__(self, shape: tuple[int, ...]) -> None:
        self.now, self._moments = np.zeros(shape), np.zeros(shape)

    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        delta = np.asarray(right, float) - np.asarray(wrong, float)
        if delta.shape != self.now.shape:
            raise DataError(f"features(x, y) has shape {delta.shape}; before it was {self.now.shape}.")
        squared = float(np.vdot(delta, delta))
        if not math.isfinite(squared):
            raise DataError("features(x, y) holds NaN or infinity.")
        self.now += delta
        self._moments += before * delta
        return squared

    def mean(self, examples: int) -> np.ndarray:
        return self.now - self._moments / examples

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.now))

    def __len__(self) -> int:
        return int(self.now.size)


class _Places(Vector):
    def __init__(self, size: int) -> None:
        self.now, self._moments = np.zeros(size), np.zeros(size)
        self._squared_norm = 0.0

    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        both = np.concatenate([np.ravel(right), np.ravel(wrong)])
        if both.size and not (both.min() >= 0 and both.max() < len(self.now)):
            raise DataError(
                f"features(x, y) has places from {both.min()} to {both.max()}; the problem's size is {len(self.now)}."
            )
        places, index = np.unique(both, return_inverse=True)
        signs = np.repeat([1.0, -1.0], [np.size(right), np.size(wrong)])
        delta = np.bincount(index, signs, len(places))
        squared = float(delta @ delta)
        # kept, for a sum over all weights after each mistake would take longer than the mistake
        self._squared_norm += 2.0 * float(self.now[places] @ delta) + squared
        self.now[places] += delta
        self._moments[places] += before * delta
        return squared

    def mean(self, examples: int) -> np.ndarray:
        return self.now - self._moments / examples

    @property
    def norm(self) -> float:
        return math.sqrt(max(0.0, self._squared_norm))

    def __len__(self) -> int:
        return len(self.now)
