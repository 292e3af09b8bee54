"""Kernels K(x, z), evaluated for blocks of rows.

    linear      <x, z>
    poly        (gamma <x, z> + coef0)^degree
    rbf         exp(-gamma |x - z|^2)
    laplacian   exp(-gamma sum |x_j - z_j|)
    sigmoid     tanh(gamma <x, z> + coef0)         not positive definite: no theorem applies to it
    hamming     exp(-gamma * number of columns in which x and z differ), for categories encoded as numbers

A custom kernel is a function of two blocks of rows that returns their kernel matrix, of two rows, or of two objects of
any kind. `fit_intercept` adds 1 to any kernel: a constant coordinate in feature space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from novikoff._compiled import rebuild
from novikoff._compiled.loops import kernel_matrix
from novikoff._compiled.user_functions import Compilations
from novikoff.errors import DataError, RuleError
from novikoff.kernel_methods.points import Points
from novikoff.kernel_methods.products import powers_of_dots

__all__ = ["NAMES", "CustomKernel", "Kernel", "KernelName", "resolve"]

KernelName: TypeAlias = Literal["linear", "poly", "rbf", "laplacian", "sigmoid", "hamming", "precomputed"]
NAMES: tuple[KernelName, ...] = get_args(KernelName)

_NO_GAMMA = ("linear", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel by name.

    Parameters
    ----------
    name : str
    degree : float
        Of "poly"; an integer, unless gamma <x, z> + coef0 is never negative.
    gamma, coef0 : float
    constant : float
        Added to every value: 1 gives feature space a constant coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Rows
    >>> from novikoff.kernel_methods import Kernel, Points
    >>> x, z = Points.of(Rows.of([[3.0, 4.0]])), Points.of(Rows.of([[1.0, 0.0], [0.0, 2.0]]))
    >>> Kernel("poly", degree=2, coef0=1.0).block(x, z)
    array([[16., 81.]])
    """

    name: str
    degree: float = 3
    gamma: float = 1.0
    coef0: float = 0.0
    constant: float = 0.0

    def __str__(self) -> str:
        scale = "" if self.gamma == 1.0 else f"{self.gamma:g} "
        affine = f"{scale}<x, z> + {self.coef0:g}" if self.coef0 else f"{scale}<x, z>"
        formula = {
            "linear": "<x, z>",
            "poly": f"({affine})^{self.degree:g}",
            "rbf": f"exp(-{scale}|x - z|^2)",
            "laplacian": f"exp(-{scale}sum |x - z|)",
            "sigmoid": f"tanh({affine})",
            "hamming": f"exp(-{scale}columns that differ)",
            "precomputed": "the matrix given",
        }
        return formula[self.name] + (f" + {self.constant:g}" if self.constant else "")

    @property
    def polynomial(self) -> tuple[int, float, float, float] | None:
        """degree, gamma, coef0 and constant, if K is a polynomial of <x, z>, whose values are rational numbers."""
        if self.name == "linear":
            return 1, 1.0, 0.0, self.constant
        if self.name == "poly" and float(self.degree).is_integer():
            return int(self.degree), self.gamma, self.coef0, self.constant
        return None

    @property
    def is_positive(self) -> bool:
        """Whether K is an inner product of some feature space, so that the theorems apply."""
        if self.name == "poly":
            return min(self.gamma, self.coef0, self.degree) >= 0.0 and float(self.degree).is_integer()
        return self.name != "sigmoid"

    def block(self, A: Points, B: Points) -> np.ndarray:
        """Return K(x, z) for every row x of A and z of B, as a matrix of shape (len(A), len(B))."""
        with np.errstate(over="ignore", invalid="ignore"):  # the learner reports the row
            K = self._block(A, B)
        if self.constant:
            K += self.constant
        return K

    def gram(self, points: Points, at: np.ndarray) -> np.ndarray:
        """Return K of rows with one another; `at` are their indices in the training set."""
        if points.is_kernel:
            return points.data[:, at] + self.constant
        K = self.block(points, points)
        if self.name in ("rbf", "laplacian", "hamming"):
            np.fill_diagonal(K, 1.0 + self.constant)  # exactly: rounding must not separate a row from itself
        return K

    def _block(self, A: Points, B: Points) -> np.ndarray:
        if self.name == "precomputed":
            return np.array(B.data[:, A.data[:, 0]].T, np.float64, order="C")
        if self.name in ("laplacian", "hamming"):
            is_manhattan = self.name == "laplacian"
            fill = kernel_matrix.fill_manhattan_distances if is_manhattan else kernel_matrix.fill_hamming_distances
            return self._of_distance(_distances(fill, A, B))
        if self.name == "poly" and float(self.degree).is_integer() and self.degree >= 1:
            return powers_of_dots(A, B, self.gamma, self.coef0, int(self.degree))
        if self.name == "linear":
            return powers_of_dots(A, B)
        K = powers_of_dots(A, B)
        if self.name == "rbf":
            return self._of_distance(_squared_distances(K, A, B))
        K *= self.gamma
        K += self.coef0
        return np.tanh(K, out=K) if self.name == "sigmoid" else np.power(K, self.degree, out=K)

    def _of_distance(self, distances: np.ndarray) -> np.ndarray:
        distances *= -self.gamma
        return np.exp(distances, out=distances)


@dataclass(frozen=True)
class CustomKernel:
    """A kernel that is a user's function: of two blocks of rows, of two rows, or of two objects.

    Which of them is found out by calling it with two rows and three: a function of blocks returns an array of shape
    (2, 3). A function of two rows is compiled if numba can compile it.
    """

    function: Callable[[Any, Any], Any]
    constant: float = 0.0
    is_positive: bool = True  # cannot be checked: an assumption about the user's function
    polynomial: None = None
    _compiled: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def block(self, A: Points, B: Points) -> np.ndarray:
        """Return K(x, z) for every row x of A and z of B, as a matrix of shape (len(A), len(B))."""
        A, B = A.as_float64(), B.as_float64()
        if "takes_blocks" not in self._compiled:
            self._compiled["takes_blocks"] = self._takes_blocks(A, B)
        if self._compiled["takes_blocks"]:
            return self._call_with_blocks(A, B) + self.constant
        if A.kind == "objects":
            return self._loop_over_pairs(A.data, B.data) + self.constant
        return self._call_with_pairs(A.as_kind("dense").data, B.as_kind("dense").data) + self.constant

    def __reduce__(self) -> tuple[Any, ...]:
        return CustomKernel, (self.function, self.constant)  # compiled code stays in this process

    def gram(self, points: Points, at: np.ndarray) -> np.ndarray:
        """Return K of rows with one another; raise a DataError if it is not symmetric."""
        K = self.block(points, points)
        asymmetry = np.abs(K - K.T)
        if asymmetry.max(initial=0.0) > 1e-8 * max(1.0, np.abs(K).max(initial=0.0)):
            i, j = np.unravel_index(int(np.argmax(asymmetry)), asymmetry.shape)
            raise DataError(
                f"The kernel {self.function!r} is not symmetric: K(x, z) = {K[i, j]} and K(z, x) = "
                f"{K[j, i]} for rows {at[i]} and {at[j]}."
            )
        return K

    def _takes_blocks(self, A: Points, B: Points) -> bool:
        two, three = np.zeros(2, np.int64), np.zeros(3, np.int64)
        try:
            return np.shape(self.function(A.data[two], B.data[three])) == (2, 3)
        except Exception:  # any error that a function of two rows raises for two blocks
            return False

    def _call_with_blocks(self, A: Points, B: Points) -> np.ndarray:
        K = np.array(self.function(A.data, B.data), np.float64)
        if K.shape != (len(A), len(B)):
            raise RuleError(
                f"The kernel {self.function!r} returned shape {K.shape} for blocks of {len(A)} and "
                f"{len(B)} rows, expected ({len(A)}, {len(B)})."
            )
        return K

    def _call_with_pairs(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        if "pairs" not in self._compiled:
            self._compiled["pairs"] = self._try_to_compile(A)
        if self._compiled["pairs"] is None:
            return self._loop_over_pairs(A, B)
        K = np.empty((len(A), len(B)))
        self._compiled["pairs"](A, B, K)
        return K

    def _try_to_compile(self, A: np.ndarray) -> Callable[..., None] | None:
        try:
            return _compiled_pairs.find([self.function], lambda: _pairs_for(self.function, A))
        except Exception:  # numba raises many types of errors for what it cannot compile; then Python runs it
            return None

    def _loop_over_pairs(self, A: Any, B: Any) -> np.ndarray:
        K = np.empty((len(A), len(B)))
        for i, x in enumerate(A):
            for j, z in enumerate(B):
                K[i, j] = _number(self.function(x, z), self.function)
        return K


_compiled_pairs: Compilations[Callable[..., None]] = Compilations()


def _pairs_for(function: Callable[[Any, Any], Any], A: np.ndarray) -> Callable[..., None]:
    """Return the loop over pairs of rows compiled with a user's function, after a call with one row."""
    fill_kernel_values = rebuild(kernel_matrix.fill_kernel_values, kernel_value=function)
    fill_kernel_values(A[:1], A[:1], np.empty((1, 1)))
    return fill_kernel_values


def resolve(
    kernel: Any, *, degree: float, gamma: float | None, coef0: float, fit_intercept: bool, n_features: int | None
) -> Kernel | CustomKernel:
    """Return the kernel of this name and these parameters, for rows of n_features columns; or a custom kernel."""
    constant = 1.0 if fit_intercept else 0.0
    if callable(kernel):
        return CustomKernel(kernel, constant)
    if kernel not in NAMES:
        raise RuleError(f"Unknown kernel {kernel!r}. The names are {', '.join(map(repr, NAMES))}.")
    if gamma is None and kernel not in _NO_GAMMA and n_features is None:
        raise DataError(
            f"With dicts of named features the kernel {kernel!r} needs gamma=: its default, 1 / columns, "
            "would change with every new name."
        )
    scale = 1.0 / max(1, n_features or 1) if gamma is None else float(gamma)
    return Kernel(kernel, degree, 1.0 if kernel in _NO_GAMMA else scale, float(coef0), constant)


def _squared_norms(points: Points) -> np.ndarray:
    if points.kind == "sparse":
        return np.asarray(points.data.multiply(points.data).sum(axis=1)).reshape(-1)
    data = points.data.astype(np.float64, copy=False)
    return np.einsum("ij,ij->i", data, data)


def _squared_distances(dots: np.ndarray, A: Points, B: Points) -> np.ndarray:
    """Return |x - z|^2 = |x|^2 - 2<x, z> + |z|^2, in the array of the products."""
    dots *= -2.0
    dots += _squared_norms(A)[:, None]
    dots += _squared_norms(B)
    return np.maximum(dots, 0.0, out=dots)


def _distances(fill: Callable[..., None], A: Points, B: Points) -> np.ndarray:
    """Return the distance of every row of A to every row of B, by a compiled loop."""
    a, b = _as_dense(A, B), _as_dense(B, A)
    distances = np.empty((len(a), len(b)))
    fill(a, b, distances)
    return distances


def _as_dense(points: Points, other: Points) -> np.ndarray:
    """Return points as a dense array of doubles, as wide as the other."""
    if not sp.issparse(points.data):
        return np.ascontiguousarray(points.data, np.float64)
    wide = max(points.data.shape[1], other.data.shape[1])
    full = np.zeros((len(points), wide))
    full[:, : points.data.shape[1]] = points.data.toarray()
    return full


def _number(value: Any, function: Callable[[Any, Any], Any]) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise RuleError(
            f"The kernel {function!r} must return a number for two rows, or the whole matrix for two "
            f"blocks of rows; found {value!r}."
        ) from error
