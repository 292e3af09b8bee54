"""The values of a kernel for the rows of a question: in doubles, and exactly where they have an exact value.

A polynomial of <x, z> has: doubles are rationals. So has a matrix of whole numbers that doubles hold. Any other matrix,
or function of one's own, is taken at its word, but a margin that is no larger than rounding makes it says nothing. The
other kernels with a name, functions of distances, are known in doubles and how far these may be off. They are strictly
positive definite: rows that are not equal can always be separated, by a margin that rounding may hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq
from scipy.spatial.distance import cdist

from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.kernels import Potential, UsersPotential
from novikoff.kernel_methods.matrices import are_objects, kernel_matrix
from novikoff.theory import exact

__all__ = ["KernelValues"]

_CELLS = 1 << 24  # 128 MB: sparse rows are filled up to here


class KernelValues:
    """K(x, z) for all rows of X.

    Attributes
    ----------
    K : ndarray of shape (n, n)
        In doubles.
    is_exact : bool
        Whether `exactly` gives the kernel's own values.
    can_vanish : bool
        Whether a combination of different rows can be 0, and `exactly` can tell; where not, `exactly` gives doubles.
    is_given : bool
        Whether the values are taken as given, so that nothing proves that they are an inner product.
    rounding : float
        |K[i, j] - exactly(i, j)| <= rounding * sqrt(K[i, i] K[j, j]).
    """

    def __init__(self, X: Any, function: Potential | UsersPotential) -> None:
        self.K = kernel_matrix(X, function)
        self.polynomial = function.polynomial
        self.is_given = is_given = isinstance(function, UsersPotential) or function.name == "precomputed"
        self.is_exact = self.polynomial is not None or (is_given and _are_whole(self.K))
        self.can_vanish = self.is_exact or is_given
        self.rounding = 0.0
        self._vectors: dict[int, exact.Vector] = {}
        self._rows = None if are_objects(X) else Rows.of(X)
        if self.polynomial is not None and self._rows is not None:
            # n products and their sum, then as many powers, each to a unit: all of them twice, to be safe
            self.rounding = 2.0 * (self._rows.n_features + 6) * max(1, self.polynomial[0]) * 2.0**-52
        elif isinstance(function, Potential) and not is_given:
            assert self._rows is not None
            self.rounding = self._measure(self._rows, function)

    def _measure(self, rows: Rows, function: Potential) -> float:
        """Make K more precise where that is easy, and return how far it may be off.

        A distance t that is a sum of differences is off by d + 3 units of t at most, and exp(-t) by half as many and a
        few of its own, as t exp(-t) < 1 / 2; all of them four times, so that the checker finds the same. The sum
        |x|^2 - 2 <x, z> + |z|^2 is off by units of (|x| + |z|)^2: differences are formed instead, unless rows are too
        wide for that.
        """
        units = 4.0 * (rows.n_features + 16) * 2.0**-52
        if function.name != "rbf":
            return units
        if rows.is_sparse and len(rows) * rows.n_features > _CELLS:
            rows.require_numbers()
            return units * (1.0 + function.gamma * 4.0 * float(rows.squared_norms.max()))
        matrix: Any = rows.matrix
        data = (matrix.toarray() if rows.is_sparse else matrix).astype(np.float64, copy=False)
        with np.errstate(under="ignore"):
            self.K = np.exp(-function.gamma * cdist(data, data, "sqeuclidean")) + function.constant
        return units

    def exactly(self, i: int, columns: Sequence[int]) -> list[fmpq]:
        """K(x_i, x_j) for some j."""
        if self.polynomial is None:
            return exact.rationals(self.K[i, columns])
        degree, *factors = self.polynomial
        gamma, coef0, constant = exact.rationals(np.array(factors))
        return [(gamma * self._vector(i).dot(self._vector(j)) + coef0) ** degree + constant for j in columns]

    def are_equal(self, i: int, j: int) -> bool:
        """Whether two rows are the same in feature space."""
        if not self.can_vanish:
            return self._vector(i) == self._vector(j)
        (one,), (both, other) = self.exactly(i, [i]), self.exactly(j, [i, j])
        return one - 2 * both + other == 0

    def _vector(self, i: int) -> exact.Vector:
        if i not in self._vectors:
            assert self._rows is not None
            row: Any = self._rows.take(np.array([i]))
            values = row.toarray()[0] if hasattr(row, "toarray") else row[0]
            self._vectors[i] = exact.vector(np.asarray(values, np.float64))
        return self._vectors[i]


def _are_whole(K: np.ndarray) -> bool:
    return bool((np.floor(K) == K).all() and np.abs(K).max() < 2.0**53)
