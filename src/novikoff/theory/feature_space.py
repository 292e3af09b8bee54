"""Separability in the feature space of a kernel, decided and proved by kernel values alone.

Let z_i = y_i x_i in feature space, where <z_i, z_j> = y_i y_j K(x_i, x_j). As in the linear case, either 0 is in their
convex hull or some function separates them; and no more than inner products is needed to say which:

    inseparable   lambda > 0 on some rows S with sum_j lambda_j y_j K(x_j, x_i) = 0 for every i in S. Then
                  |sum lambda_j z_j|^2 = 0, and for every function of the space some row of S is not on its side
    separable     the nearest point of the hull, x = sum lambda_j z_j, is a separator: f = sum lambda_j y_j K(x_j, .),
                  |f|^2 = lambda' Y K Y lambda, and  min y_i f(x_i) / |f|  <=  gamma  <=  |f| / sum lambda

The nearest point is looked for in doubles among the rows of L, where K = L L'. What is claimed is proved in exact
arithmetic (see kernel_values.py for what the exact values are), and what doubles leave open is decided by Wolfe's
algorithm over the rationals.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq
from scipy.linalg.lapack import dpstrf

from novikoff.errors import CertificateError, DataError
from novikoff.inputs.rows import Rows
from novikoff.theory import exact
from novikoff.theory.certificates import Certificate, Inseparable, KernelSeparable, Question
from novikoff.theory.checked_kernel_values import Matrix
from novikoff.theory.decision import Witness, searched
from novikoff.theory.kernel_values import KernelValues
from novikoff.theory.signed_points import Points

__all__ = ["certify_features"]

_POLISHED = 200  # rows: exact steps grow with the fourth power of them, beyond that the gap is stated as it is
_POSITIVE = 1e-8  # how far from an inner product rounding may take a matrix, as a fraction of its largest entry
_UNIT = 2.0**-52
_FEW_UNITS = 64.0 * _UNIT


def certify_features(
    values: KernelValues,
    signs: np.ndarray,
    question: Question,
    n_features: int,
    method: str = "hull",
    tol: float = 1e-9,
) -> Certificate:
    """The certificate for rows with these kernels and signs -1 and +1; rows with sign 0 are left out."""
    asked = np.flatnonzero(signs)
    question = replace(question, n_asked=len(asked))
    hull = _Hull(values, asked, signs[asked])
    found = hull.settled() or hull.decided(method, tol)
    if values.is_given:
        hull.require_positive(found.rows if isinstance(found, _Nearest) else found[0])
    if not isinstance(found, _Nearest):
        rows, multipliers = found
        order = np.argsort(rows)
        return Inseparable(question, asked[rows[order]], tuple(multipliers[a] for a in order), len(signs), n_features)
    separator = np.zeros(len(signs), found.weights.dtype)
    order = np.argsort(found.rows)
    rows, weights = found.rows[order], found.weights[order]
    separator[asked[rows]] = weights * signs[asked[rows]]
    radius = exact.root_above(max(hull.product(row, row) for row in hull.longest()))
    return KernelSeparable(
        question,
        separator,
        0.0,
        found.lower,
        found.upper,
        asked[rows],
        found.shares[order],
        radius,
        len(signs),
        n_features,
    )


class _Nearest:
    """sum weights * z over some rows, a positive multiple of a point of the hull, and the margins that it proves.

    `shares` are the weights of that point: the same, but for rounding, and they sum to 1.
    """

    def __init__(self, rows: np.ndarray, weights: np.ndarray, lower: float | Fraction, upper: float) -> None:
        self.rows, self.weights, self.lower, self.upper = rows, weights, lower, upper
        self.shares = _shares(weights)

    def is_within(self, tol: float) -> bool:
        """Whether no separator has a margin that is larger by more than this fraction."""
        return self.lower >= (1.0 - tol) * self.upper


class _Hull:
    """The points z of one question, by their inner products."""

    def __init__(self, values: KernelValues, asked: np.ndarray, signs: np.ndarray) -> None:
        self.values, self.asked, self.signs = values, asked, signs
        self.K = values.K[np.ix_(asked, asked)]
        self.lengths = np.sqrt(np.maximum(self.K.diagonal(), 0.0))
        self._products: dict[tuple[int, int], fmpq] = {}

    def product(self, a: int, b: int) -> fmpq:
        """<z_a, z_b>, exactly."""
        key = (min(a, b), max(a, b))
        if key not in self._products:
            (value,) = self.values.exactly(int(self.asked[key[0]]), [int(self.asked[key[1]])])
            self._products[key] = value * int(self.signs[a] * self.signs[b])
        return self._products[key]

    def slope(self, row: int, rows: list[int], weights: list[fmpq]) -> fmpq:
        """<z, x> for x = sum weights * z, exactly."""
        return sum((weight * self.product(row, other) for other, weight in zip(rows, weights, strict=True)), fmpq(0))

    def longest(self) -> list[int]:
        """Rows that may have the largest K(x, x)."""
        squared = self.K.diagonal()
        return np.flatnonzero(squared >= squared.max() * (1.0 - 4.0 * self.values.rounding)).tolist()

    def require_positive(self, rows: np.ndarray) -> None:
        """Values that are taken as given must be an inner product on the rows that prove something."""
        try:
            Matrix(self.K).require_positive(np.arange(len(self.K)), rows)
        except CertificateError as error:
            raise CertificateError(
                "Undecided: on the rows that decide, the kernel's values as doubles are no inner product, perhaps for "
                f"rounding ({error}). Try a kernel with exact values: 'linear', 'poly', whole numbers."
            ) from error

    # -- deciding

    def settled(self) -> Witness | None:
        """A row that is 0, or two of opposite labels that are the same, as far as their kernels tell."""
        for row in np.flatnonzero(self.K.diagonal() <= 0.0).tolist():
            if self.product(row, row) == 0:
                return np.array([row]), (Fraction(1),)
        alike: dict[int, list[int]] = {}
        for row, kernels in enumerate(self.K):
            for other in alike.setdefault(hash(kernels.tobytes()), []):
                if self.signs[row] != self.signs[other] and self.values.are_equal(self.asked[row], self.asked[other]):
                    return np.array([other, row]), (Fraction(1), Fraction(1))
            alike[hash(kernels.tobytes())].append(row)
        return None

    def decided(self, method: str, tol: float) -> _Nearest | Witness:
        """What the search in doubles found, proved; or what exact arithmetic finds from there."""
        found = searched(Points(self.coordinates(), self.signs, 0.0), method, tol)
        if len(found.rows):
            if found.lower <= 0.0 and self.values.can_vanish:
                witness = self.witness(found.rows.tolist())
                if witness is not None:
                    return witness
            nearest = self.proved(found.rows, found.weights, tol)
            if nearest is not None and (
                nearest.is_within(tol) or not self.values.is_exact or len(found.rows) > _POLISHED
            ):
                return nearest
        if not self.values.is_exact:
            raise CertificateError(
                "Undecided: the kernel's values are rounded to doubles, and the margin, if there is "
                "one, is no larger than rounding makes it. Try a kernel that bends more (a larger "
                "gamma), or one with exact values: 'linear', 'poly', whole numbers."
            )
        return self.decided_exactly(found.rows, found.weights, tol)

    def coordinates(self) -> Rows:
        """Rows L with L L' = K, as many columns as K has rank: Cholesky's factorisation with pivoting.

        A matrix that is taken as given must be near to one. What rounding makes of others is accounted for.
        """
        K = self.K
        factor, pivots, rank, _ = dpstrf(K, lower=1)
        L = np.empty((len(K), rank))
        L[pivots - 1] = np.tril(factor)[:, :rank]
        apart = np.abs(L @ L.T - K).max()
        if self.values.is_given and apart > _POSITIVE * np.abs(K).max():
            largest = f"entries up to {np.abs(K).max():.3g} are {apart:.3g} away from any L L'"
            raise DataError(
                f"The kernel is no inner product: its matrix has negative eigenvalues ({largest}). Separability in "
                "feature space is only defined for positive semi-definite kernels."
            )
        rows = Rows.of(L)
        rows.require_numbers()
        return rows

    def witness(self, rows: list[int]) -> Witness | None:
        """Rows among these and multipliers that are whole numbers, if these rows have any: by the null space of their
        inner products, of which affinely independent ones have one dimension at most."""
        G = [[self.product(a, b) for b in rows] for a in rows]
        scale = math.lcm(*(int(value.q) for row in G for value in row))
        null = exact.positive_null([[int(value.p) * (scale // int(value.q)) for value in row] for row in G])
        if null is None:
            return None
        kept = [a for a, factor in enumerate(null) if factor]
        return np.array(rows)[kept], exact.as_multipliers([null[a] for a in kept])

    def proved(self, rows: np.ndarray, weights: np.ndarray, tol: float) -> _Nearest | None:
        """The point with these weights, doubles or Fractions, as a separator; scaled to length 1 where they are
        doubles. None if its margins do not show that it is one, or no more than rounding does."""
        doubles = weights.astype(float)
        slopes, off = self._slopes(rows, doubles)
        if weights.dtype.kind == "f" and (length := self._length(rows, doubles, slopes, off)):
            weights = doubles = doubles / length
            slopes, off = self._slopes(rows, doubles)
        found = self._proved_in_doubles(rows, doubles, slopes, off)
        if self.values.can_vanish and (found is None or weights.dtype.kind != "f" or not found.is_within(tol)):
            found = self._proved_exactly(rows, weights, slopes, off)
        if found is None or self.values.is_exact:
            return found
        # Kernels off by a few units of rounding move gamma^2, which is a mean of them, by as many.
        return found if found.upper**2 > _FEW_UNITS * float(self.K.diagonal().max()) else None

    def _length(self, rows: np.ndarray, weights: np.ndarray, slopes: np.ndarray, off: np.ndarray) -> float:
        """|sum weights * z|, as far as doubles tell, or else exact values; 0 if nothing does."""
        squared = float(weights @ slopes[rows])
        if 1e-300 < squared < 1e300 and squared > float(np.abs(weights) @ off[rows]):
            return squared**0.5
        return exact.root_above(self._squared(rows.tolist(), weights)) if self.values.can_vanish else 0.0

    def _squared(self, rows: list[int], weights: np.ndarray) -> fmpq:
        """|sum weights * z|^2, exactly; 0 if it is negative, which no inner product is."""
        exactly = exact.rationals(weights)
        pairs = zip(rows, exactly, strict=True)
        return max(fmpq(0), sum((weight * self.slope(row, rows, exactly) for row, weight in pairs), fmpq(0)))

    def _slopes(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """<z, x> for every point z and x = sum weights * z, in doubles, and how far they may be off: by as many units
        as there are products, and by what the kernels are, of sum |weights| |z| |z'| (Cauchy and Schwarz)."""
        slopes = self.signs * ((weights * self.signs[rows]) @ self.K[rows])
        units = self.values.rounding + 4.0 * (len(rows) + 4) * _UNIT
        return slopes, units * self.lengths * float(np.abs(weights) @ self.lengths[rows])

    def _proved_in_doubles(
        self, rows: np.ndarray, weights: np.ndarray, slopes: np.ndarray, off: np.ndarray
    ) -> _Nearest | None:
        squared, error = float(weights @ slopes[rows]), float(np.abs(weights) @ off[rows]) * 2.0
        least = float((slopes - off).min())
        if least <= 0.0 or squared <= error:
            return None
        length, round_up = (squared + error) ** 0.5, 1.0 + 8.0 * len(rows) * _UNIT
        found = _Nearest(rows, weights, least / (length * round_up), length * round_up / float(weights.sum()))
        found.upper += 8.0 * _UNIT * float(found.shares @ self.lengths[rows])  # each share is rounded
        return found

    def _proved_exactly(
        self, rows: np.ndarray, weights: np.ndarray, slopes: np.ndarray, off: np.ndarray
    ) -> _Nearest | None:
        at, exactly = rows.tolist(), exact.rationals(weights)
        squared = self._squared(at, weights)
        near = np.flatnonzero(~(slopes - off > (slopes + off).min())).tolist()
        least = min(self.slope(row, at, exactly) for row in near)
        if squared <= 0 or least <= 0:
            return None
        found = _Nearest(rows, weights, exact.root_below(least * least / squared), math.inf)
        total = sum(exact.rationals(found.shares), fmpq(0))
        found.upper = exact.root_above(self._squared(at, found.shares) / total**2)
        return found

    def decided_exactly(self, rows: np.ndarray, weights: np.ndarray, tol: float) -> _Nearest | Witness:
        """Wolfe's algorithm over the rationals, until x is 0 or no row is nearer than (1 - tol) |x| along it."""
        (enough,) = exact.rationals(np.array([1.0 - tol]))
        corral = _Corral(self, rows, weights)
        while True:
            squared = corral.squared_norm()
            if squared == 0:
                return np.array(corral.rows), exact.as_multipliers(corral.weights)
            slopes, _ = self._slopes(np.array(corral.rows), exact.as_fractions(corral.weights).astype(float))
            entering = next(
                (
                    row
                    for row in np.argsort(slopes).tolist()
                    if row not in corral.rows and self.slope(row, corral.rows, corral.weights) < enough * squared
                ),
                None,
            )
            if entering is None:
                break
            corral.enter(entering)
        fractions = exact.as_fractions(corral.weights)
        at = np.array(corral.rows)
        found = self.proved(at, fractions.astype(float), tol)
        if found is None or not found.is_within(tol):
            found = self.proved(at, fractions, tol)  # rounded to doubles, the weights lose the margin, or much of it
        assert found is not None  # exactly, x separates
        return found


class _Corral(exact.RationalCorral):
    """Wolfe's corral in feature space."""

    def __init__(self, hull: _Hull, rows: np.ndarray, weights: np.ndarray) -> None:
        """As doubles left it if its rows are affinely independent, else its heaviest row alone."""
        first = int(rows[np.argmax(weights)]) if len(rows) else int(np.argmin(hull.lengths))
        exactly = exact.rationals(weights)
        super().__init__(rows.tolist(), [weight / sum(exactly, fmpq(0)) for weight in exactly])
        self.hull = hull
        try:
            self.walk()
        except (ValueError, ZeroDivisionError):  # no rows, or FLINT's word for a singular system
            self.rows, self.weights = [first], [fmpq(1)]

    def _inner(self, a: int, b: int) -> fmpq:
        return self.hull.product(a, b)

    def squared_norm(self) -> fmpq:
        rows = zip(self.rows, self.weights, strict=True)
        return sum((weight * self.hull.slope(row, self.rows, self.weights) for row, weight in rows), fmpq(0))


def _shares(weights: np.ndarray) -> np.ndarray:
    """Doubles or Fractions in the same proportions that sum to 1."""
    return np.asarray(weights / weights.sum())
