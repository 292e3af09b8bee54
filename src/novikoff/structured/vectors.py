"""Averaged weight vectors: by name, dense, or indexed; each with one extra sum for its mean.

With delta_t the change that example t makes, the mean of the weights after N examples is w - u / N, where u is the sum
of (t - 1) delta_t. Both change only on a mistake.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from novikoff.errors import DataError

__all__ = ["AveragedVector", "NamedWeights", "make_vector"]


class NamedWeights(dict[Any, float]):
    """Weights by name; a name never seen has weight 0, and looking it up does not add it."""

    def __missing__(self, name: Any) -> float:
        return 0.0

    def copy(self) -> NamedWeights:
        return NamedWeights(self)


class AveragedVector(ABC):
    """The current weights, and the sum that their mean is computed from."""

    current: Any

    _moments: Any

    def copy(self) -> Self:
        """Return a copy that shares no memory with this one."""
        other = copy.copy(self)
        other.current, other._moments = self.current.copy(), self._moments.copy()
        return other

    @abstractmethod
    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        """w <- w + right - wrong, after `before` examples. Return |right - wrong|^2."""

    @abstractmethod
    def mean(self, examples: int) -> Any:
        """Return the mean of the weights after each of this many examples."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """|w|."""

    @abstractmethod
    def __len__(self) -> int: ...


def make_vector(problem: Any, x: Any, y: Any) -> AveragedVector:
    """Return zero weights of the form that the features of a problem have."""
    features = problem.features(x, y)
    if isinstance(features, Mapping):
        return _NamedVector()
    if not isinstance(features, np.ndarray) or features.dtype.kind not in "iuf":
        raise DataError(
            f"features(x, y) must be a dict of numbers or an array of them; found {type(features).__name__}."
        )
    size = getattr(problem, "size", None)
    if size is None:
        return _DenseVector(features.shape)
    if features.dtype.kind == "f":
        raise DataError("The problem has a size, so features(x, y) must be an array of integers: indices.")
    return _IndexedVector(int(size))


class _NamedVector(AveragedVector):
    def __init__(self) -> None:
        self.current, self._moments = NamedWeights(), NamedWeights()

    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        delta = NamedWeights(right)
        for name, value in wrong.items():
            delta[name] -= value
        squared = math.fsum(value * value for value in delta.values())
        if not math.isfinite(squared):
            raise DataError("features(x, y) holds NaN or infinity.")
        for name, value in delta.items():
            if value:
                self.current[name] += value
                self._moments[name] += before * value
        return squared

    def mean(self, examples: int) -> NamedWeights:
        return NamedWeights({name: value - self._moments[name] / examples for name, value in self.current.items()})

    @property
    def norm(self) -> float:
        return math.sqrt(math.fsum(value * value for value in self.current.values()))

    def __len__(self) -> int:
        return len(self.current)


class _DenseVector(AveragedVector):
    def __init__(self, shape: tuple[int, ...]) -> None:
        self.current, self._moments = np.zeros(shape), np.zeros(shape)

    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        delta = np.asarray(right, float) - np.asarray(wrong, float)
        if delta.shape != self.current.shape:
            raise DataError(f"features(x, y) has shape {delta.shape}; before it was {self.current.shape}.")
        squared = float(np.vdot(delta, delta))
        if not math.isfinite(squared):
            raise DataError("features(x, y) holds NaN or infinity.")
        self.current += delta
        self._moments += before * delta
        return squared

    def mean(self, examples: int) -> np.ndarray:
        return self.current - self._moments / examples

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.current))

    def __len__(self) -> int:
        return int(self.current.size)


class _IndexedVector(AveragedVector):
    """A long array; features are the indices that count one each."""

    def __init__(self, size: int) -> None:
        self.current, self._moments = np.zeros(size), np.zeros(size)
        self._squared_norm = 0.0

    def add_difference(self, right: Any, wrong: Any, before: int) -> float:
        both = np.concatenate([np.ravel(right), np.ravel(wrong)])
        if both.size and not (both.min() >= 0 and both.max() < len(self.current)):
            raise DataError(
                f"features(x, y) has indices from {both.min()} to {both.max()}; the problem's size is "
                f"{len(self.current)}."
            )
        indices, inverse = np.unique(both, return_inverse=True)
        signs = np.repeat([1.0, -1.0], [np.size(right), np.size(wrong)])
        delta = np.bincount(inverse, signs, len(indices))
        squared = float(delta @ delta)
        # updated along the way: a sum over all weights after each mistake would take longer than the update
        self._squared_norm += 2.0 * float(self.current[indices] @ delta) + squared
        self.current[indices] += delta
        self._moments[indices] += before * delta
        return squared

    def mean(self, examples: int) -> np.ndarray:
        return self.current - self._moments / examples

    @property
    def norm(self) -> float:
        return math.sqrt(max(0.0, self._squared_norm))

    def __len__(self) -> int:
        return len(self.current)
