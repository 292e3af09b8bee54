"""Potential functions: K(x, z) for whole blocks of rows.

    linear      <x, z>
    poly        (gamma <x, z> + coef0)^degree
    rbf         exp(-gamma |x - z|^2)
    laplacian   exp(-gamma sum |x_j - z_j|)
    sigmoid     tanh(gamma <x, z> + coef0)         not positive definite: nothing is proved for it
    hamming     exp(-gamma * columns in which x and z differ), for categories written as numbers

and one's own: a function of two blocks of rows that returns their kernel matrix, or of two rows, or of two objects of
any kind. `fit_intercept` adds 1 to any of them: a constant coordinate in feature space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled import rebuild
from novikoff._compiled.loops import kernel_matrix
from novikoff._compiled.user_functions import Compilations
from novikoff.errors import DataError, RuleError
from novikoff.kernel_methods.points import Points
from novikoff.kernel_methods.products import powers_of_dots

__all__ = ["NAMES", "Potential", "UsersPotential", "resolve"]

NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "hamming", "precomputed")

_NO_GAMMA = ("linear", "precomputed")


@dataclass(frozen=True)
class Potential:
    """A potential function by name.

    Parameters
    ----------
    name : str
    degree : float
        Of "poly"; a whole number, or no power of a negative number is defined.
    gamma, coef0 : float
    constant : float
        Added to every value: 1 gives feature space a constant coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Rows
    >>> from novikoff.kernel_methods import Points, Potential
    >>> x, z = Points.of(Rows.of([[3.0, 4.0]])), Points.of(Rows.of([[1.0, 0.0], [0.0, 2.0]]))
    >>> Potential("poly", degree=2, coef0=1.0).block(x, z)
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
        """degree, gamma, coef0 and constant, if K is a polynomial of <x, z>: then its values are rational numbers."""
        if self.name == "linear":
            return 1, 1.0, 0.0, self.constant
        if self.name == "poly" and float(self.degree).is_integer():
            return int(self.degree), self.gamma, self.coef0, self.constant
        return None

    @property
    def is_positive(self) -> bool:
        """Whether K is an inner product of some feature space, so that the theorems speak of it."""
        if self.name == "poly":
            return min(self.gamma, self.coef0, self.degree) >= 0.0 and float(self.degree).is_integer()
        return self.name != "sigmoid"

    def block(self, A: Points, B: Points) -> np.ndarray:
        """K of every row of A with every row of B, (rows of A, rows of B)."""
        with np.errstate(over="ignore", invalid="ignore"):  # the learner says which row it was
            found = self._block(A, B)
        if self.constant:
            found += self.constant
        return found

    def gram(self, points: Points, at: np.ndarray) -> np.ndarray:
        """K of rows with one another; `at` is where they are in the training set."""
        if points.is_kernel:
            return points.data[:, at] + self.constant
        found = self.block(points, points)
        if self.name in ("rbf", "laplacian", "hamming"):
            np.fill_diagonal(found, 1.0 + self.constant)  # rounding must not put a row apart from itself
        return found

    def _block(self, A: Points, B: Points) -> np.ndarray:
        if self.name == "precomputed":
            return np.array(B.data[:, A.data[:, 0]].T, np.float64, order="C")
        if self.name in ("laplacian", "hamming"):
            return self._of_distance(
                _compared(kernel_matrix.manhattan if self.name == "laplacian" else kernel_matrix.differing, A, B)
            )
        if self.name == "poly" and float(self.degree).is_integer() and self.degree >= 1:
            return powers_of_dots(A, B, self.gamma, self.coef0, int(self.degree))
        if self.name == "linear":
            return powers_of_dots(A, B)
        found = powers_of_dots(A, B)
        if self.name == "rbf":
            return self._of_distance(_squared_distances(found, A, B))
        found *= self.gamma
        found += self.coef0
        return np.tanh(found, out=found) if self.name == "sigmoid" else np.power(found, self.degree, out=found)

    def _of_distance(self, distances: np.ndarray) -> np.ndarray:
        distances *= -self.gamma
        return np.exp(distances, out=distances)


@dataclass(frozen=True)
class UsersPotential:
    """A potential function that is the user's: of two blocks of rows, of two rows, or of two objects.

    Which of them is found out by trying it on two rows and three: a function of blocks answers with an array of shape
    (2, 3). A function of two rows is compiled if it can be.
    """

    function: Callable[[Any, Any], Any]
    constant: float = 0.0
    is_positive: bool = True  # nobody can tell; its user answers for it
    polynomial: None = None
    _compiled: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def block(self, A: Points, B: Points) -> np.ndarray:
        """K of every row of A with every row of B, (rows of A, rows of B)."""
        A, B = A.doubled(), B.doubled()
        if "takes_blocks" not in self._compiled:
            self._compiled["takes_blocks"] = self._takes_blocks(A, B)
        if self._compiled["takes_blocks"]:
            return self._called(A, B) + self.constant
        if A.kind == "objects":
            return self._looped(A.data, B.data) + self.constant
        return self._paired(A.like("dense").data, B.like("dense").data) + self.constant

    def __reduce__(self) -> tuple[Any, ...]:
        return UsersPotential, (self.function, self.constant)  # what is compiled stays in this process

    def gram(self, points: Points, at: np.ndarray) -> np.ndarray:
        """K of rows with one another."""
        found = self.block(points, points)
        apart = np.abs(found - found.T)
        if apart.max(initial=0.0) > 1e-8 * max(1.0, np.abs(found).max(initial=0.0)):
            i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
            raise DataError(
                f"The kernel {self.function!r} is not symmetric: K(x, z) = {found[i, j]} and K(z, x) = "
                f"{found[j, i]} for rows {at[i]} and {at[j]}."
            )
        return found

    def _takes_blocks(self, A: Points, B: Points) -> bool:
        two, three = np.zeros(2, np.int64), np.zeros(3, np.int64)
        try:
            return np.shape(self.function(A.data[two], B.data[three])) == (2, 3)
        except Exception:  # whatever a function of two rows makes of two blocks
            return False

    def _called(self, A: Points, B: Points) -> np.ndarray:
        found = np.array(self.function(A.data, B.data), np.float64)
        if found.shape != (len(A), len(B)):
            raise RuleError(
                f"The kernel {self.function!r} returned shape {found.shape} for blocks of {len(A)} and "
                f"{len(B)} rows, expected ({len(A)}, {len(B)})."
            )
        return found

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        if "pairs" not in self._compiled:
            self._compiled["pairs"] = self._try_to_compile(A)
        if self._compiled["pairs"] is None:
            return self._looped(A, B)
        found = np.empty((len(A), len(B)))
        self._compiled["pairs"](A, B, found)
        return found

    def _try_to_compile(self, A: np.ndarray) -> Callable[..., None] | None:
        try:
            return _of_users.find([self.function], lambda: _pairs_for(self.function, A))
        except Exception:  # numba has many ways to say that it does not know something; Python knows
            return None

    def _looped(self, A: Any, B: Any) -> np.ndarray:
        found = np.empty((len(A), len(B)))
        for i, x in enumerate(A):
            for j, z in enumerate(B):
                found[i, j] = _number(self.function(x, z), self.function)
        return found


_of_users: Compilations[Callable[..., None]] = Compilations()


def _pairs_for(function: Callable[[Any, Any], Any], A: np.ndarray) -> Callable[..., None]:
    """The loop over pairs of rows with a user's function in it, compiled and tried on such a row."""
    pairs = rebuild(kernel_matrix.pairs, pair=function)
    pairs(A[:1], A[:1], np.empty((1, 1)))
    return pairs


def resolve(
    kernel: Any, *, degree: float, gamma: float | None, coef0: float, fit_intercept: bool, n_features: int | None
) -> Potential | UsersPotential:
    """The potential function of this name and these parameters, for rows of so many columns; a function is its own."""
    constant = 1.0 if fit_intercept else 0.0
    if callable(kernel):
        return UsersPotential(kernel, constant)
    if kernel not in NAMES:
        raise RuleError(f"Unknown kernel {kernel!r}. The names are {', '.join(map(repr, NAMES))}.")
    if gamma is None and kernel not in _NO_GAMMA and n_features is None:
        raise DataError(
            f"With dicts of named features the kernel {kernel!r} needs gamma=: its default, 1 / columns, "
            "would change with every new name."
        )
    scale = 1.0 / max(1, n_features or 1) if gamma is None else float(gamma)
    return Potential(kernel, degree, 1.0 if kernel in _NO_GAMMA else scale, float(coef0), constant)


def _squared_norms(points: Points) -> np.ndarray:
    if points.kind == "sparse":
        return np.asarray(points.data.multiply(points.data).sum(axis=1)).reshape(-1)
    data = points.data.astype(np.float64, copy=False)
    return np.einsum("ij,ij->i", data, data)


def _squared_distances(dots: np.ndarray, A: Points, B: Points) -> np.ndarray:
    """|x - z|^2 = |x|^2 - 2<x, z> + |z|^2, in the array of the products."""
    dots *= -2.0
    dots += _squared_norms(A)[:, None]
    dots += _squared_norms(B)
    return np.maximum(dots, 0.0, out=dots)


def _compared(measure: Callable[..., None], A: Points, B: Points) -> np.ndarray:
    """A distance of every row with every row, column by column."""
    a, b = _filled(A, B), _filled(B, A)
    found = np.empty((len(a), len(b)))
    measure(a, b, found)
    return found


def _filled(points: Points, other: Points) -> np.ndarray:
    """As a dense array of doubles, as wide as the other."""
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
