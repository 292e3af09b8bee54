"""Kernel values for the checkers of certificates in feature space.

What is checked of the values depends on where they come from:

    linear, poly              computed here, exactly: doubles are rationals, and so are their polynomials
    rbf, laplacian, hamming   computed here, as enclosures: distances exactly, exp(-t) to 36 digits. A claim passes only
                              if it is true of every value in the enclosure, so it is true of the kernel
    precomputed               the doubles of the matrix, taken as given: row i and column j as (K[i, j] + K[j, i]) / 2
    a user's own function     the doubles that it returned, taken as given

There is a feature space only if K is an inner product. For named kernels this is a theorem, under conditions on their
parameters, which are checked. A matrix that is taken as given must be positive semi-definite, exactly, on the rows that
a proof uses, and up to rounding on all rows that it is about (see `GivenMatrix.require_positive`). Uses no code of the
search.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import to_fractions, to_integers
from novikoff.theory.checkers.exponentials import BITS, ERROR_UNITS, exponential_in_doubles, exponential_integers
from novikoff.theory.checkers.fields import require_numbers, require_type
from novikoff.theory.checkers.rows import canonicalize_rows
from novikoff.theory.checkers.semidefinite import has_cholesky_factor, is_definite, require_semidefinite

__all__ = ["DistanceKernel", "GivenMatrix", "InnerProducts", "PolynomialKernel", "kernel_by_name", "read_precomputed"]

_UNIT = 2.0**-52
_NEARLY = 4e-8  # negative eigenvalues that rounding may cause, as a fraction of the largest entry, for each row


class GivenMatrix:
    """A kernel matrix whose doubles are taken as given."""

    def __init__(self, K: np.ndarray) -> None:
        self.K = K

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int, int]:
        """K of rows with columns as Python integers times 2**scale, and by how many units they may be off: none."""
        return *to_integers(self.K[np.ix_(rows, columns)]), 0

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        return to_fractions(self.K[rows, rows])

    def keys(self, rows: np.ndarray) -> list[Any]:
        """Return keys that are equal only for equal rows: the row indices, as a matrix has no rows to compare."""
        return rows.tolist()

    def rounding_units(self) -> int:
        """By how many units of sqrt(K(x, x) K(z, z)) a computation of K in doubles may be off."""
        return 0

    def require_positive(self, rows: np.ndarray, used: np.ndarray) -> None:
        """Require a positive semi-definite matrix: exactly on the rows that a proof uses, nearly on all of its n rows.

        Nearly means that no eigenvalue is below -4e-8 n max |K|: rounding may cause that, and a matrix that is no inner
        product exceeds it.
        """
        matrix = self.K[np.ix_(rows, rows)]
        if not np.isfinite(matrix).all():
            raise CertificateError("The kernel is NaN or infinite for some rows.")
        largest = float(np.abs(matrix).max())
        nearly = matrix / (largest or 1.0) + _NEARLY * len(matrix) * np.eye(len(matrix))
        if not has_cholesky_factor(nearly):
            raise CertificateError("The kernel is no inner product: its matrix has negative eigenvalues.")
        used = np.unique(used)
        if not is_definite(self.K[np.ix_(used, used)]):
            require_semidefinite(self(used, used)[0])


class _NumberRows:
    """Rows of numbers, without the columns that are zero in all of them."""

    def __init__(self, X: Any) -> None:
        X = canonicalize_rows(X)
        self.n_features = X.shape[1]
        self.X = X[:, np.unique(X.indices)] if sp.issparse(X) else X

    def take(self, rows: np.ndarray) -> np.ndarray:
        block = self.X[rows]
        return np.asarray(block.toarray() if sp.issparse(block) else block, np.float64)

    def keys(self, rows: np.ndarray) -> list[Any]:
        """Return bytes that are equal where the rows are."""
        return [row.tobytes() for row in self.take(rows) + 0.0]  # -0.0 becomes 0.0


class PolynomialKernel:
    """K(x, z) = (gamma <x, z> + coef0)^degree + constant, exactly."""

    def __init__(self, X: Any, degree: int, gamma: float, coef0: float, constant: int) -> None:
        self.rows, self.degree, self.constant = _NumberRows(X), degree, constant
        self.keys = self.rows.keys
        self.factors = to_fractions([gamma, coef0])
        if degree < 0 or min(self.factors) < 0:
            given = f"{gamma!r}, {coef0!r} and {degree!r}"
            raise CertificateError(
                f"The kernel poly is an inner product if gamma, coef0 and degree are >= 0, not {given}."
            )

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int, int]:
        """K of rows with columns as Python integers times 2**scale, and by how many units they may be off: none."""
        (left, left_scale), (right, right_scale) = (to_integers(self.rows.take(at)) for at in (rows, columns))
        gamma, coef0 = self.factors[0] * Fraction(2) ** (left_scale + right_scale), self.factors[1]
        unit = max(gamma.denominator, coef0.denominator)  # both are powers of two
        powers = (left @ right.T * int(gamma * unit) + int(coef0 * unit)) ** self.degree
        return powers + self.constant * unit**self.degree, -(unit.bit_length() - 1) * self.degree, 0

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        squares = []
        for row in rows.tolist():
            value, scale, _ = self(np.array([row]), np.array([row]))
            squares.append(int(value[0, 0]) * Fraction(2) ** scale)
        return squares

    def rounding_units(self) -> int:
        """By how many units of sqrt(K(x, x) K(z, z)) a computation of K in doubles may be off."""
        return (self.rows.n_features + 16) * max(1, self.degree)

    def require_positive(self, rows: np.ndarray, used: np.ndarray) -> None:
        """Nothing to do: sums, products and powers of inner products are inner products (Schur 1911)."""


class DistanceKernel:
    """K(x, z) = exp(-gamma D(x, z)) + constant.

    D is the squared length of x - z, the sum of its absolute values, or the number of columns in which x and z differ.
    """

    def __init__(self, X: Any, name: str, gamma: float, constant: int) -> None:
        self.name, self.rows, self.constant = name, _NumberRows(X), constant
        self.keys = self.rows.keys
        self.distance, self.distance_in_doubles = _DISTANCES[name]
        (self.gamma,) = to_fractions([gamma])
        if self.gamma < 0:
            raise CertificateError(f"The kernel {name} is an inner product for gamma >= 0, not for {gamma!r}.")

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int, int]:
        """K of rows with columns as Python integers times 2**scale, and by how many units they may be off."""
        numbers, scale = to_integers(self.rows.take(np.concatenate([rows, columns])))
        distances, power = self.distance(numbers[: len(rows)], numbers[len(rows) :])
        factor = self.gamma * Fraction(2) ** (power * scale)
        return exponential_integers(distances, factor) + (self.constant << BITS), -BITS, ERROR_UNITS

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        return [Fraction(1 + self.constant)] * len(rows)

    def in_doubles(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, float]:
        """K of rows with columns in doubles, and how far they may be off; by inf if numbers are too large.

        D is off by d + 3 roundings at most, as a fraction of it; t exp(-t) <= 1 / 2, so exp(-t) is off by half as many
        units for that, and by eight of its own.
        """
        gamma, d = float(self.gamma), self.rows.n_features
        with np.errstate(over="ignore", under="ignore"):
            scaled = gamma * self.distance_in_doubles(self.rows.take(rows), self.rows.take(columns))
        if not np.isfinite(scaled).all():
            return np.zeros_like(scaled), math.inf
        return exponential_in_doubles(scaled) + self.constant, (d + 16) * _UNIT + gamma * d * 2.0**-1070

    def rounding_units(self) -> int:
        """By how many units of sqrt(K(x, x) K(z, z)) a computation of K in doubles may be off.
        D is a sum of differences, and off by as many units of itself as there are columns; see `in_doubles`.
        """
        return self.rows.n_features + 16

    def require_positive(self, rows: np.ndarray, used: np.ndarray) -> None:
        """Nothing to do: D is of negative type, so exp(-gamma D) is an inner product (Schoenberg 1938)."""


InnerProducts = GivenMatrix | PolynomialKernel | DistanceKernel


def kernel_by_name(X: Any, name: str, degree: float, gamma: float, coef0: float, constant: float) -> InnerProducts:
    """Return the values of a kernel with a name; `constant`, 0 or 1, is added to all of them."""
    require_type("name", name, str)
    require_numbers(degree=degree, gamma=gamma, coef0=coef0, constant=constant)
    if constant not in (0, 1):
        raise CertificateError(f"The constant of feature space is 0 or 1, not {constant!r}.")
    added = int(constant)
    if name == "linear":
        return PolynomialKernel(X, 1, 1.0, 0.0, added)
    if name == "poly" and float(degree).is_integer():
        return PolynomialKernel(X, int(degree), gamma, coef0, added)
    if name in _DISTANCES:
        return DistanceKernel(X, name, gamma, added)
    if name == "precomputed":
        return read_precomputed(X, added)
    raise CertificateError(f"The kernel {name!r} with these parameters is no inner product: it has no feature space.")


def read_precomputed(X: Any, constant: int) -> GivenMatrix:
    """Return a precomputed kernel matrix with a constant added, as its mean with its transpose."""
    K = canonicalize_rows(X)
    if sp.issparse(K) or K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise CertificateError(
            f"A precomputed kernel is a square array, not a sparse matrix or one of shape {K.shape}."
        )
    K = K.astype(np.float64) + constant
    if not np.isfinite(K).all():
        raise CertificateError("The precomputed kernel holds NaN or infinity.")
    if np.abs(K - K.T).max(initial=0.0) > 1e-8 * max(1.0, np.abs(K).max(initial=0.0)):
        raise CertificateError("The precomputed kernel is not symmetric.")
    return GivenMatrix(0.5 * (K + K.T))


# -- distances: of integers, with the power of their unit in the result; and of doubles


def _squared_distances(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """|x - z|^2 of integers."""
    squares = [(part * part).sum(axis=1) for part in (left, right)]
    return squares[0][:, None] + squares[1] - 2 * (left @ right.T), 2


def _manhattan_distances(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """sum |x - z| of integers."""
    return np.stack([np.abs(left - z).sum(axis=1) for z in right], axis=1).astype(object), 1


def _hamming_distances(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the number of columns in which integers differ."""
    return np.stack([(left != z).sum(axis=1) for z in right], axis=1).astype(object), 0


def _squared_in_doubles(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.stack([((left - z) ** 2).sum(axis=1) for z in right], axis=1)


def _manhattan_in_doubles(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.stack([np.abs(left - z).sum(axis=1) for z in right], axis=1)


def _hamming_in_doubles(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.stack([(left != z).sum(axis=1).astype(np.float64) for z in right], axis=1)


_DISTANCES = {
    "rbf": (_squared_distances, _squared_in_doubles),
    "laplacian": (_manhattan_distances, _manhattan_in_doubles),
    "hamming": (_hamming_distances, _hamming_in_doubles),
}
