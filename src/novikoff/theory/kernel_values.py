"""KernelValues: K(x, z) for the rows of a question, in doubles and, where possible, exactly.

A polynomial of <x, z> has exact values, because doubles are rationals, and so has a matrix of integers that doubles
hold. The values of any other matrix, or of a user's own function, are taken as given, but a margin no larger than their
rounding proves nothing. The other named kernels, functions of distances, are known in doubles with a bound on their
error. They are strictly positive definite: different rows can always be separated, by a margin that rounding may hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from scipy.spatial.distance import cdist

from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.kernel_methods.matrices import are_objects, kernel_matrix
from novikoff.theory import exact
from novikoff.theory.checkers.exact_numbers import to_integers
from novikoff.theory.checkers.kernel_values import kernel_by_name

__all__ = ["KernelValues"]

_MOST_CELLS = 1 << 24  # 128 MB: sparse rows of up to so many cells are converted to dense ones


class KernelValues:
    """K(x, z) for all rows of X.

    Attributes
    ----------
    K : ndarray of shape (n, n)
        In doubles.
    is_exact : bool
        Whether `exact_values` gives the values of the kernel itself.
    can_vanish : bool
        Whether a combination of different rows can be 0 and `exact_values` can tell; if not, it gives doubles.
    is_given : bool
        Whether the values are taken as given, so that nothing proves that they are an inner product.
    rounding : float
        |K[i, j] - exact value| <= rounding * sqrt(K[i, i] K[j, j]), unless values underflow.
    largest_factor : float
        The largest factor, at least 1, by which a product that has underflowed may have been multiplied afterwards.
    """

    def __init__(self, X: Any, function: Kernel | CustomKernel) -> None:
        self.K = kernel_matrix(X, function)
        self.polynomial = function.polynomial
        self.is_given = is_given = isinstance(function, CustomKernel) or function.name == "precomputed"
        self.is_exact = self.polynomial is not None or (is_given and _are_integers(self.K))
        self.can_vanish = self.is_exact or is_given
        self.rounding = 0.0
        self.largest_factor = max(1.0, self.polynomial[1]) if self.polynomial is not None else 1.0
        self._function = function
        self._vectors: dict[int, exact.RationalVector] = {}
        self._rows = None if are_objects(X) else Rows.of(X)
        if self.polynomial is not None and self._rows is not None:
            # n products and their sum, then as many powers, each off by a unit: all of them twice, to be safe
            self.rounding = 2.0 * (self._rows.n_features + 6) * max(1, self.polynomial[0]) * 2.0**-52
        elif isinstance(function, Kernel) and not is_given:
            assert self._rows is not None
            self.rounding = self._bound_rounding(self._rows, function)

    def _bound_rounding(self, rows: Rows, function: Kernel) -> float:
        """Make K more precise where that is easy, and return how far it may be off.

        A distance t that is a sum of differences is off by d + 3 units of t at most, and exp(-t) by half as many and a
        few of its own, as t exp(-t) < 1 / 2; all of them four times, so that the checker
        arrives at the same verdict. The sum |x|^2 - 2 <x, z> + |z|^2 is off by units of (|x| + |z|)^2: differences are
        formed instead, unless rows are too wide for that.
        """
        units = 4.0 * (rows.n_features + 16) * 2.0**-52
        if function.name != "rbf":
            return units
        if rows.is_sparse and len(rows) * rows.n_features > _MOST_CELLS:
            rows.require_numbers()
            return units * (1.0 + function.gamma * 4.0 * float(rows.squared_norms.max()))
        matrix: Any = rows.matrix
        data = (matrix.toarray() if rows.is_sparse else matrix).astype(np.float64, copy=False)
        with np.errstate(under="ignore"):
            self.K = np.exp(-function.gamma * cdist(data, data, "sqeuclidean")) + function.constant
        return units

    def exact_values(self, i: int, columns: Sequence[int]) -> list[fmpq]:
        """K(x_i, x_j) for some columns j."""
        if self.polynomial is None:
            return exact.to_rationals(self.K[i, columns])
        degree, *factors = self.polynomial
        gamma, coef0, constant = exact.to_rationals(np.array(factors))
        return [(gamma * self._vector(i).dot(self._vector(j)) + coef0) ** degree + constant for j in columns]

    def precise_length(self, rows: np.ndarray, weights: np.ndarray) -> float:
        """|sum weights * x| of different rows for a kernel that is a function of distances, from values with 36
        digits."""
        function, used = self._function, np.flatnonzero(weights)
        assert isinstance(function, Kernel)
        assert self._rows is not None
        products = kernel_by_name(
            self._rows.take(rows[used]),
            function.name,
            function.degree,
            function.gamma,
            function.coef0,
            function.constant,
        )
        at = np.arange(len(used))
        K, scale, _ = products(at, at)
        integers, exponent = to_integers(weights[used])
        squared = Fraction(int(integers @ K @ integers)) * Fraction(2) ** (scale + 2 * exponent)
        return exact.root_upper_bound(fmpq(squared.numerator, squared.denominator)) if squared > 0 else 0.0

    def are_equal(self, i: int, j: int) -> bool:
        """Return whether two rows are the same in feature space."""
        if not self.can_vanish:
            return self._vector(i) == self._vector(j)
        (one,), (both, other) = self.exact_values(i, [i]), self.exact_values(j, [i, j])
        return one - 2 * both + other == 0

    def _vector(self, i: int) -> exact.RationalVector:
        if i not in self._vectors:
            assert self._rows is not None
            row: Any = self._rows.take(np.array([i]))
            values = row.toarray()[0] if hasattr(row, "toarray") else row[0]
            self._vectors[i] = exact.to_rational_vector(np.asarray(values, np.float64))
        return self._vectors[i]


def _are_integers(K: np.ndarray) -> bool:
    return bool((np.floor(K) == K).all() and np.abs(K).max() < 2.0**53)
