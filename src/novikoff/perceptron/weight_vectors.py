"""Weight vectors for one example at a time: in a dict by feature name, or in an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import ddot

__all__ = ["ArrayWeightVector", "DictWeightVector", "WeightVector"]


class WeightVector(Protocol):
    """A weight vector w and, apart from it, its bias."""

    w: Any
    bias: float

    def score_and_squared_norm(self, x: Any) -> tuple[float, float]:
        """Return (<w, x>, |x|^2); raise a KeyError if x has a name without a weight."""
        ...

    def score(self, x: Any) -> float:
        """Return <w, x>; names without a weight are ignored."""
        ...

    def compute_update(self, x: Any, tau: float) -> Any:
        """Return w + tau * x, or the part of it that differs from w, and leave w as it is."""
        ...

    def apply_update(self, weights: Any) -> None:
        """Set w to what `compute_update` returned; a second call changes nothing more."""
        ...

    def copy_weights(self) -> Any:
        """Return weights equal to w that later updates do not change."""
        ...


class DictWeightVector:
    """Weights by feature name."""

    def __init__(self, weights: dict[str, float], bias: float) -> None:
        self.w, self.bias = weights, bias

    def score_and_squared_norm(self, x: Mapping[str, float]) -> tuple[float, float]:
        w = self.w
        s = q = 0.0
        for name, value in x.items():
            s += w[name] * value
            if type(s) is not float:
                return self.score_and_squared_norm(_as_python_floats(x))
            q += value * value
        return s, q

    def score(self, x: Mapping[str, float]) -> float:
        w = self.w
        s = 0.0
        try:
            for name, value in x.items():
                s += w[name] * value
        except KeyError:
            s = 0.0
            for name, value in x.items():
                s += w.get(name, 0.0) * float(value * 1.0)
        return s if type(s) is float else self.score(_as_python_floats(x))

    def compute_update(self, x: Mapping[str, float], tau: float) -> dict[str, float]:
        w = self.w
        try:
            return {name: w[name] + tau * float(value) for name, value in x.items()}
        except KeyError:
            return {name: w.get(name, 0.0) + tau * float(value) for name, value in x.items()}

    def apply_update(self, weights: dict[str, float]) -> None:
        self.w.update(weights)

    def copy_weights(self) -> dict[str, float]:
        return self.w.copy()


class ArrayWeightVector:
    """Weights in an array that an update replaces by another.

    BLAS is called directly: it is three times as fast as numpy's dot, and does not warn of an overflow, for which the
    learner checks.
    """

    def __init__(self, w: np.ndarray, bias: float) -> None:
        self.w, self.bias = w, bias

    def score_and_squared_norm(self, x: np.ndarray) -> tuple[float, float]:
        return ddot(x, self.w), ddot(x, x)

    def score(self, x: np.ndarray) -> float:
        return ddot(x, self.w)

    def compute_update(self, x: np.ndarray, tau: float) -> np.ndarray:
        weights: np.ndarray = tau * x
        weights += self.w
        return weights

    def apply_update(self, weights: np.ndarray) -> None:
        self.w = weights

    def copy_weights(self) -> np.ndarray:
        return self.w  # never changed in place


def _as_python_floats(x: Mapping[str, float]) -> dict[str, float]:
    """Convert values to Python's floats: NumPy's small integers overflow, so that 200 * 200 may be 64."""
    return {name: float(value) for name, value in x.items()}
