"""Kernel values for the checker of certificates in feature space, by code that shares nothing with the search.

Where values come from says what is checked of them:

    linear, poly              computed here, exactly: doubles are rationals, and so are their polynomials
    rbf, laplacian, hamming   computed here, as enclosures: distances exactly, exp(-t) to 36 digits. A claim passes only
                              if it is true of every value in the enclosure, so it is true of the kernel
    precomputed               the doubles of the matrix, taken as given: row i and column j as (K[i, j] + K[j, i]) / 2
    a function of one's own   the doubles that it returned, taken as given

There is a feature space only if K is an inner product. For kernels with a name that is a theorem, if their parameters
are as it says. A matrix that is taken as given must be positive semi-definite, exactly, on the rows that a proof uses,
and up to rounding on all rows that it speaks of (see `Matrix.require_positive`).
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import CertificateError
from novikoff.theory.checker import as_exact, as_integers, plain

__all__ = ["Distances", "Matrix", "Polynomial", "Products", "given", "of_name"]

_UNIT = 2.0**-52
_NEARLY = 4e-8  # negative eigenvalues that rounding may cause, as a fraction of the largest entry, for each row
_MOST_ROWS = 200  # for exact elimination: a few seconds


class Matrix:
    """A kernel matrix as it is."""

    def __init__(self, K: np.ndarray) -> None:
        self.K = K

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int, int]:
        """K of rows with columns as Python integers times 2**scale, and by how many units they may be off: none."""
        return *as_integers(self.K[np.ix_(rows, columns)]), 0

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        return as_exact(self.K[rows, rows])

    def points(self, rows: np.ndarray) -> list[Any]:
        """What is equal for equal rows; of a matrix nothing is known but its entries."""
        return rows.tolist()

    def units(self, rows: np.ndarray) -> int:
        """How many units of sqrt(K(x, x) K(z, z)) whoever computes K in doubles may be off."""
        return 0

    def require_positive(self, asked: np.ndarray, used: np.ndarray) -> None:
        """Positive semi-definite on the rows that a proof uses, exactly; and on all n rows that it speaks of, no
        eigenvalue is below -4e-8 n max |K|, which rounding may cause and a matrix that is no inner product exceeds."""
        whole = self.K[np.ix_(asked, asked)]
        if not np.isfinite(whole).all():
            raise CertificateError("The kernel is NaN or infinite for some rows.")
        largest = float(np.abs(whole).max())
        nearly = whole / (largest or 1.0) + _NEARLY * len(whole) * np.eye(len(whole))
        if not _factors(nearly):
            raise CertificateError("The kernel is no inner product: its matrix has negative eigenvalues.")
        used = np.unique(used)
        if not _is_definite(self.K[np.ix_(used, used)]):
            _require_semidefinite(self(used, used)[0])


class _Table:
    """Rows of numbers, without the columns that are zero in all of them."""

    def __init__(self, X: Any) -> None:
        X = plain(X)
        self.n_features = X.shape[1]
        self.X = X[:, np.unique(X.indices)] if sp.issparse(X) else X

    def rows(self, rows: np.ndarray) -> np.ndarray:
        block = self.X[rows]
        return np.asarray(block.toarray() if sp.issparse(block) else block, np.float64)

    def points(self, rows: np.ndarray) -> list[Any]:
        """Bytes that are equal where the rows are."""
        return [row.tobytes() for row in self.rows(rows) + 0.0]  # -0.0 becomes 0.0


class Polynomial:
    """K(x, z) = (gamma <x, z> + coef0)^degree + constant, exactly."""

    def __init__(self, X: Any, degree: int, gamma: float, coef0: float, constant: int) -> None:
        self.table, self.degree, self.constant = _Table(X), degree, constant
        self.points = self.table.points
        self.factors = as_exact([gamma, coef0])
        if degree < 0 or min(self.factors) < 0:
            found = f"{gamma!r}, {coef0!r} and {degree!r}"
            raise CertificateError(
                f"The kernel poly is an inner product if gamma, coef0 and degree are >= 0, not {found}."
            )

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int, int]:
        """K of rows with columns as Python integers times 2**scale, and by how many units they may be off: none."""
        (left, one), (right, two) = (as_integers(self.table.rows(at)) for at in (rows, columns))
        gamma, coef0 = self.factors[0] * Fraction(2) ** (one + two), self.factors[1]
        unit = max(gamma.denominator, coef0.denominator)  # both are powers of two
        powers = (left @ right.T * int(gamma * unit) + int(coef0 * unit)) ** self.degree
        return powers + self.constant * unit**self.degree, -(unit.bit_length() - 1) * self.degree, 0

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        found = []
        for row in rows.tolist():
            value, scale, _ = self(np.array([row]), np.array([row]))
            found.append(int(value[0, 0]) * Fraction(2) ** scale)
        return found

    def units(self, rows: np.ndarray) -> int:
        """How many units of sqrt(K(x, x) K(z, z)) whoever computes K in doubles may be off."""
        return (self.table.n_features + 16) * max(1, self.degree)

    def require_positive(self, asked: np.ndarray, used: np.ndarray) -> None:
        """Nothing to do: sums, products and powers of inner products are inner products (Schur 1911)."""


class Distances:
    """K(x, z) = exp(-gamma D(x, z)) + constant, D the squared length of x - z, the sum of its sizes, or the number of
    columns in which x and z differ."""

    def __init__(self, X: Any, name: str, gamma: float, constant: int) -> None:
        self.name, self.table, self.constant = name, _Table(X), constant
        self.points = self.table.points
        self.measure, self.measure_in_doubles = _MEASURES[name]
        (self.gamma,) = as_exact([gamma])
        if self.gamma < 0:
            raise CertificateError(f"The kernel {name} is an inner product for gamma >= 0, not for {gamma!r}.")

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, int, int]:
        """K of rows with columns as Python integers times 2**scale, and by how many units they may be off."""
        numbers, scale = as_integers(self.table.rows(np.concatenate([rows, columns])))
        distances, power = self.measure(numbers[: len(rows)], numbers[len(rows) :])
        factor = self.gamma * Fraction(2) ** (power * scale)
        return _exponentials(distances, factor) + (self.constant << _BITS), -_BITS, _OFF

    def squares(self, rows: np.ndarray) -> list[Fraction]:
        """K(x, x)."""
        return [Fraction(1 + self.constant)] * len(rows)

    def in_doubles(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, float]:
        """K of rows with columns in doubles, and how far they may be off; by inf if numbers are too large.

        D is off by d + 3 roundings at most, as a fraction of it; exp(-t) falls no faster than t exp(-t) <= 1 / 2, so by
        half as many units, and is itself off by eight.
        """
        gamma, d = float(self.gamma), self.table.n_features
        with np.errstate(over="ignore", under="ignore"):
            scaled = gamma * self.measure_in_doubles(self.table.rows(rows), self.table.rows(columns))
        if not np.isfinite(scaled).all():
            return np.zeros_like(scaled), math.inf
        return _exponential(scaled) + self.constant, (d + 16) * _UNIT + gamma * d * 2.0**-1070

    def units(self, rows: np.ndarray) -> int:
        """How many units of sqrt(K(x, x) K(z, z)) whoever computes K in doubles may be off: for rbf perhaps with D as
        |x|^2 - 2 <x, z> + |z|^2, off by units of (|x| + |z|)^2 <= 4 max |x|^2."""
        units = self.table.n_features + 16
        if self.name != "rbf":
            return units
        numbers, scale = as_integers(self.table.rows(rows))
        longest = max((numbers * numbers).sum(axis=1).tolist()) * Fraction(4) ** scale
        return math.ceil(units * (1 + 4 * self.gamma * longest))

    def require_positive(self, asked: np.ndarray, used: np.ndarray) -> None:
        """Nothing to do: D is of negative type, so exp(-gamma D) is an inner product (Schoenberg 1938)."""


Products = Matrix | Polynomial | Distances


def given(X: Any, constant: int) -> Matrix:
    """A kernel matrix that is precomputed, with a constant added, as its mean with its transpose."""
    K = plain(X)
    if sp.issparse(K) or K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise CertificateError(
            f"A precomputed kernel is a square array, not a sparse matrix or one of shape {K.shape}."
        )
    K = K.astype(np.float64) + constant
    if not np.isfinite(K).all():
        raise CertificateError("The precomputed kernel holds NaN or infinity.")
    if np.abs(K - K.T).max(initial=0.0) > 1e-8 * max(1.0, np.abs(K).max(initial=0.0)):
        raise CertificateError("The precomputed kernel is not symmetric.")
    return Matrix(0.5 * (K + K.T))


def of_name(X: Any, name: str, degree: float, gamma: float, coef0: float, constant: float) -> Products:
    """The values of a kernel with a name; `constant`, 0 or 1, is added to all of them."""
    if constant not in (0, 1):
        raise CertificateError(f"The constant of feature space is 0 or 1, not {constant!r}.")
    one = int(constant)
    if name == "linear":
        return Polynomial(X, 1, 1.0, 0.0, one)
    if name == "poly" and float(degree).is_integer():
        return Polynomial(X, int(degree), gamma, coef0, one)
    if name in _MEASURES:
        return Distances(X, name, gamma, one)
    if name == "precomputed":
        return given(X, one)
    raise CertificateError(f"The kernel {name!r} with these parameters is no inner product: it has no feature space.")


# -- exp(-t)

_BITS = 120
_OFF = 2  # units: one is cut off, and all that is rounded before is less than another
_DIGITS = decimal.Context(prec=50)
_FURTHEST = 100  # exp(-100) is below 2^-120


def _exponentials(distances: np.ndarray, factor: Fraction) -> np.ndarray:
    """exp(-factor * distance) * 2**120 as integers, each to two units.

    Python's decimal module rounds exp correctly. 50 digits of t <= 100 leave exp(-t) more than 46, and 2^120 has 37.
    """
    scale, denominator = decimal.Decimal(2**_BITS), decimal.Decimal(factor.denominator)
    known: dict[int, int] = {}
    for distance in set(distances.reshape(-1).tolist()):
        if distance * factor.numerator > _FURTHEST * factor.denominator:
            known[distance] = 0
        else:
            t = _DIGITS.divide(decimal.Decimal(distance * factor.numerator), denominator)
            known[distance] = int(_DIGITS.multiply(_DIGITS.exp(-t), scale))
    found = np.array([known[distance] for distance in distances.reshape(-1).tolist()], object)
    return found.reshape(distances.shape)


# ln 2 in two parts, the first with so few bits that k times it is exact (Cody and Waite 1980)
_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_FACTORIALS = [1.0 / math.factorial(k) for k in range(14)]


def _exponential(t: np.ndarray) -> np.ndarray:
    """exp(-t) for t >= 0 in doubles, off by no more than 8 units of 2^-53 as a fraction of it, or by 2^-1000.

    t = k ln 2 + r with |r| < 0.35. The series of exp(-r) to r^13 leaves out 2^-57; adding it up from its smallest term
    loses three units, and r, off by a unit of its own size and by k * 2^-90, one more.
    """
    t = np.minimum(t, 700.0)
    k = np.rint(t * (1.0 / _LN2[0]))
    r = k * _LN2[0] - t + k * _LN2[1]  # -r
    total = np.full_like(r, _FACTORIALS[-1])
    for factor in reversed(_FACTORIALS[:-1]):
        total *= r
        total += factor
    return np.ldexp(total, -k.astype(np.int64))


def _squared_distances(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """|x - z|^2 of integers; the second number is the power of their unit in it."""
    squares = [(part * part).sum(axis=1) for part in (left, right)]
    return squares[0][:, None] + squares[1] - 2 * (left @ right.T), 2


def _manhattan(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """sum |x - z| of integers."""
    return np.stack([np.abs(left - z).sum(axis=1) for z in right], axis=1).astype(object), 1


def _differing(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """In how many columns integers differ."""
    return np.stack([(left != z).sum(axis=1) for z in right], axis=1).astype(object), 0


def _squared_in_doubles(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.stack([((left - z) ** 2).sum(axis=1) for z in right], axis=1)


def _manhattan_in_doubles(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.stack([np.abs(left - z).sum(axis=1) for z in right], axis=1)


def _differing_in_doubles(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.stack([(left != z).sum(axis=1).astype(np.float64) for z in right], axis=1)


_MEASURES = {
    "rbf": (_squared_distances, _squared_in_doubles),
    "laplacian": (_manhattan, _manhattan_in_doubles),
    "hamming": (_differing, _differing_in_doubles),
}


# -- positive semi-definite matrices


def _factors(K: np.ndarray) -> bool:
    """Whether Cholesky's algorithm runs to its end in doubles."""
    try:
        np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return False
    return True


def _is_definite(K: np.ndarray) -> bool:
    """True only if K is positive definite: if Cholesky's algorithm runs to its end for K - c, all of its rounding, k
    units of the trace, moves no eigenvalue by more than c (Rump 2006). False if doubles cannot tell."""
    diagonal = K.diagonal()
    if not (diagonal > 0.0).all():
        return False
    halves = -(np.frexp(diagonal)[1] // 2)  # rows times powers of two, which is exact: the diagonal is then about 1
    scaled = np.ldexp(np.ldexp(K, halves), halves[:, None])
    slack = 8.0 * (len(K) + 8) * _UNIT * float(scaled.diagonal().sum())
    return _factors(scaled - slack * np.eye(len(K)))


def _require_semidefinite(K: np.ndarray) -> None:
    """Elimination without fractions (Bareiss 1968) with the largest diagonal entry as the pivot: it must never be
    negative, and where all that are left are 0, so must the rest be."""
    if len(K) > _MOST_ROWS:
        raise CertificateError(
            f"Doubles cannot tell whether the kernel is an inner product on these {len(K)} rows, and exact arithmetic "
            f"would take too long: it is for {_MOST_ROWS} rows at most."
        )
    before = 1
    while len(K):
        diagonal = K.diagonal().tolist()
        at = max(range(len(K)), key=diagonal.__getitem__)
        pivot = diagonal[at]
        if min(diagonal) < 0 or (not pivot and K.any()):
            raise CertificateError("The kernel is no inner product: its matrix is not positive semi-definite.")
        if not pivot:
            return
        rest = np.delete(np.arange(len(K)), at)
        column = K[rest, at]
        K = (K[np.ix_(rest, rest)] * pivot - np.outer(column, column)) // before
        before = pivot
