"""certify_features: separability in the feature space of a kernel, by kernel values alone.

Let z_i = y_i x_i in feature space, where <z_i, z_j> = y_i y_j K(x_i, x_j). As in the linear case, either 0 is in their
convex hull or some function separates them; and no more than inner products is needed to say which:

    inseparable   lambda > 0 on some rows S with sum_j lambda_j y_j K(x_j, x_i) = 0 for every i in S. Then
                  |sum lambda_j z_j|^2 = 0, and for every function of the space some row of S is not on its side
    separable     the nearest point of the hull, x = sum lambda_j z_j, is a separator: f = sum lambda_j y_j K(x_j, .),
                  |f|^2 = lambda' Y K Y lambda, and  min y_i f(x_i) / |f|  <=  gamma  <=  |f| / sum lambda

The nearest point is searched in doubles among the rows of L, where K = L L'. What is claimed is proved in exact
arithmetic (kernel_values.py says which values are exact), and what doubles leave open is decided by Wolfe's algorithm
over the rationals.
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
from novikoff.theory.certificates import Certificate, Inseparable, KernelSeparable
from novikoff.theory.checkers.kernel_values import GivenMatrix
from novikoff.theory.decision import search_in_doubles
from novikoff.theory.exact_corrals import RationalCorral
from novikoff.theory.kernel_values import KernelValues
from novikoff.theory.null_vectors import find_positive_null_vector
from novikoff.theory.proofs import Witness
from novikoff.theory.questions import Question
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.signed_points import SignedPoints

__all__ = ["certify_features"]

# Rows: exact steps take time that grows with the fourth power of their number. With more rows than this the gap between
# the two margins is left as doubles found it.
_MOST_EXACT_ROWS = 200
_POSITIVE = 1e-8  # how far from an inner product rounding may take a matrix, as a fraction of its largest entry
_UNIT = 2.0**-52
_FEW_UNITS = 64.0 * _UNIT
_UNDERFLOW = 2.0**-900  # K(x, x) below this: sums and products of such values may have lost their digits
_LENGTH_ERROR = 2.0**-24  # of |f|^2, so that the checker, which allows 2^-20, finds f of length 1


def certify_features(
    values: KernelValues,
    signs: np.ndarray,
    question: Question,
    n_features: int,
    method: str = "hull",
    tol: float = 1e-9,
    clock: SearchClock | None = None,
) -> Certificate:
    """Decide about rows with these kernel values and signs -1 and +1, and prove it; rows with sign 0 are left out.

    Where the clock runs out before the verdict, a TimeLimitError.
    """
    clock = SearchClock() if clock is None else clock
    signed_rows = np.flatnonzero(signs)
    question = replace(question, n_asked=len(signed_rows))
    hull = _KernelHull(values, signed_rows, signs[signed_rows])
    with clock.explain(question, len(signed_rows)):
        proof = hull.find_obvious_witness() or hull.decide(method, tol, clock)
    if values.is_given:
        hull.require_positive(proof.rows if isinstance(proof, _NearestPoint) else proof[0])
    if not isinstance(proof, _NearestPoint):
        rows, multipliers = proof
        order = np.argsort(rows)
        return Inseparable(
            question, signed_rows[rows[order]], tuple(multipliers[a] for a in order), len(signs), n_features
        )
    separator = np.zeros(len(signs), proof.weights.dtype)
    order = np.argsort(proof.rows)
    rows, weights = proof.rows[order], proof.weights[order]
    separator[signed_rows[rows]] = weights * signs[signed_rows[rows]]
    radius = exact.root_upper_bound(max(hull.product(row, row) for row in hull.longest()))
    return KernelSeparable(
        question,
        separator,
        0.0,
        proof.lower,
        proof.upper,
        signed_rows[rows],
        proof.shares[order],
        radius,
        len(signs),
        n_features,
    )


class _NearestPoint:
    """A positive multiple sum weights * z of a point of the hull, and the margins that it proves.

    `shares` are the weights of the point itself: in the same proportions, up to rounding, and they sum to 1.
    """

    def __init__(self, rows: np.ndarray, weights: np.ndarray, lower: float | Fraction, upper: float) -> None:
        self.rows, self.weights, self.lower, self.upper = rows, weights, lower, upper
        self.shares = _normalize(weights)

    def is_within(self, tol: float) -> bool:
        """Return whether no separator has a margin that is larger by more than this fraction."""
        return self.lower >= (1.0 - tol) * self.upper


class _KernelHull:
    """The convex hull of the points z of one question, known by their inner products."""

    def __init__(self, values: KernelValues, signed_rows: np.ndarray, signs: np.ndarray) -> None:
        self.values, self.signed_rows, self.signs = values, signed_rows, signs
        self.K = values.K[np.ix_(signed_rows, signed_rows)]
        self.lengths = np.sqrt(np.maximum(self.K.diagonal(), 0.0))
        # Rounding is bounded as a fraction of sqrt(K(x, x) K(z, z)), which is no bound where values underflow.
        self.doubles_suffice = bool(self.K.diagonal().min() >= _UNDERFLOW * values.largest_factor)
        self._products: dict[tuple[int, int], fmpq] = {}

    def product(self, a: int, b: int) -> fmpq:
        """<z_a, z_b>, exactly."""
        key = (min(a, b), max(a, b))
        if key not in self._products:
            (value,) = self.values.exact_values(int(self.signed_rows[key[0]]), [int(self.signed_rows[key[1]])])
            self._products[key] = value * int(self.signs[a] * self.signs[b])
        return self._products[key]

    def slope(self, row: int, rows: list[int], weights: list[fmpq]) -> fmpq:
        """<z, x> for x = sum weights * z, exactly."""
        return sum((weight * self.product(row, other) for other, weight in zip(rows, weights, strict=True)), fmpq(0))

    def longest(self) -> list[int]:
        """Return the rows that may have the largest K(x, x)."""
        squared = self.K.diagonal()
        if not self.doubles_suffice:
            return list(range(len(squared)))
        return np.flatnonzero(squared >= squared.max() * (1.0 - 4.0 * self.values.rounding)).tolist()

    def require_positive(self, rows: np.ndarray) -> None:
        """Require that values which are taken as given are an inner product, on the rows that a proof uses."""
        try:
            GivenMatrix(self.K).require_positive(np.arange(len(self.K)), rows)
        except CertificateError as error:
            raise CertificateError(
                "Undecided: on the rows that decide, the kernel's values as doubles are no inner product, perhaps "
                f"because of rounding ({error}). Try a kernel with exact values: 'linear', 'poly', or a matrix of "
                "integers."
            ) from error

    # -- deciding

    def find_obvious_witness(self) -> Witness | None:
        """Return a row that is 0 in feature space, or two rows that are equal there and have opposite labels."""
        for row in np.flatnonzero(self.K.diagonal() <= 0.0).tolist():
            if self.product(row, row) == 0:
                return np.array([row]), (Fraction(1),)
        rows_by_hash: dict[int, list[int]] = {}
        for row, kernel_row in enumerate(self.K):
            for other in rows_by_hash.setdefault(hash(kernel_row.tobytes()), []):
                if self.signs[row] != self.signs[other] and self.values.are_equal(
                    self.signed_rows[row], self.signed_rows[other]
                ):
                    return np.array([other, row]), (Fraction(1), Fraction(1))
            rows_by_hash[hash(kernel_row.tobytes())].append(row)
        return None

    def decide(self, method: str, tol: float, clock: SearchClock) -> _NearestPoint | Witness:
        """Prove what the search in doubles found, or continue from there in exact arithmetic."""
        corral = search_in_doubles(SignedPoints(self.coordinates(), self.signs, 0.0), method, tol, clock)
        if len(corral.rows):
            if corral.lower <= 0.0 and self.values.can_vanish:
                witness = self.find_witness(corral.rows.tolist())
                if witness is not None:
                    return witness
            nearest = self.prove(corral.rows, corral.weights, tol)
            if nearest is not None and (
                nearest.is_within(tol) or not self.values.is_exact or len(corral.rows) > _MOST_EXACT_ROWS
            ):
                return nearest
        if not self.values.is_exact:
            raise CertificateError(
                "Undecided: the kernel's values are rounded to doubles, and the margin, if there is "
                "one, is no larger than rounding makes it. Try a more flexible kernel (a larger "
                "gamma), or one with exact values: 'linear', 'poly', a matrix of integers."
            )
        return self.decide_exactly(corral.rows, corral.weights, tol, clock)

    def coordinates(self) -> Rows:
        """Return rows L with L L' = K, as many columns as K has rank: Cholesky's factorisation with pivoting.

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

    def find_witness(self, rows: list[int]) -> Witness | None:
        """Return rows among these that cancel, and multipliers that are integers; None if there are none.

        They come from the null space of the inner products, which has dimension 1 at most for affinely independent
        rows.
        """
        G = [[self.product(a, b) for b in rows] for a in rows]
        scale = math.lcm(*(int(value.q) for row in G for value in row))
        null = find_positive_null_vector([[int(value.p) * (scale // int(value.q)) for value in row] for row in G])
        if null is None:
            return None
        kept = [a for a, factor in enumerate(null) if factor]
        return np.array(rows)[kept], exact.to_coprime_integers([null[a] for a in kept])

    @np.errstate(over="ignore", invalid="ignore")  # what overflows in doubles is proved exactly, or not at all
    def prove(self, rows: np.ndarray, weights: np.ndarray, tol: float) -> _NearestPoint | None:
        """Prove that the point with these weights, doubles or Fractions, is a separator; doubles are scaled to length
        1.

        None if its margins do not prove that, or if they are no larger than rounding.
        """
        doubles = weights.astype(float)
        slopes, errors = self._slopes(rows, doubles)
        if not self.values.can_vanish and self._prove_in_doubles(rows, doubles, slopes, errors) is None:
            return None
        if weights.dtype.kind == "f":
            weights = self._scale_to_unit(rows, doubles)
            if weights.dtype.kind == "f":
                doubles = weights
                slopes, errors = self._slopes(rows, doubles)
        nearest = self._prove_in_doubles(rows, doubles, slopes, errors)
        if self.values.can_vanish and (nearest is None or weights.dtype.kind != "f" or not nearest.is_within(tol)):
            nearest = self._prove_exactly(rows, weights, slopes, errors)
        if nearest is None or self.values.is_exact:
            return nearest
        # Kernel values that are off by a few units move gamma^2, which is a mean of them, by as many.
        return nearest if nearest.upper**2 > _FEW_UNITS * float(self.K.diagonal().max()) else None

    def _scale_to_unit(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Scale weights so that sum weights * z has length 1, or return Fractions that sum to 1 where doubles do not
        hold such weights.

        Weights may overflow; and where large ones nearly cancel, rounding each of them changes the length. Weights of a
        sum that is 0 are returned as they are.
        """
        if length := self._length_in_doubles(rows, weights):
            return weights / length
        if not self.values.can_vanish:
            length = self.values.precise_length(self.signed_rows[rows], weights * self.signs[rows])
            return weights / length if length else weights
        length = exact.root_upper_bound(self._exact_squared_length(rows.tolist(), weights))
        if not length:
            return weights
        scaled = weights / length
        if np.isfinite(scaled).all():
            squared = self._exact_squared_length(rows.tolist(), scaled)
            if abs(squared - 1) < exact.to_rationals(np.array([4.0 * _LENGTH_ERROR]))[0]:
                return scaled
        return _normalize(exact.to_fraction_array(exact.to_rationals(weights)))

    def _length_in_doubles(self, rows: np.ndarray, weights: np.ndarray) -> float:
        """|sum weights * z|; 0 if doubles cannot tell it well enough.

        Each product of two weights and a kernel value is off by a few units, and `fsum` adds them without rounding.
        """
        total = float(np.abs(weights) @ self.lengths[rows])
        largest = float(np.square(np.abs(weights).sum()) * np.abs(self.K[rows]).max())
        if not self.doubles_suffice or not largest < 1e300:
            return 0.0
        signed = weights * self.signs[rows]
        squared = math.fsum(
            weight * math.fsum((self.K[row, rows] * signed).tolist())
            for row, weight in zip(rows.tolist(), signed.tolist(), strict=True)
        )
        error = (self.values.rounding + 8.0 * _UNIT) * total * total
        return squared**0.5 if 1e-300 < squared < 1e300 and error < _LENGTH_ERROR * squared else 0.0

    def _exact_squared_length(self, rows: list[int], weights: np.ndarray) -> fmpq:
        """|sum weights * z|^2, exactly; 0 if it is negative, which no inner product is."""
        exactly = exact.to_rationals(weights)
        pairs = zip(rows, exactly, strict=True)
        return max(fmpq(0), sum((weight * self.slope(row, rows, exactly) for row, weight in pairs), fmpq(0)))

    def _slopes(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """<z, x> for every point z and x = sum weights * z, in doubles, and how far each may be off.

        By as many units of sum |weights| |z| |z'| as there are products, and as many as the kernel values are off
        (Cauchy-Schwarz); by inf if values may have underflowed.
        """
        slopes = self.signs * ((weights * self.signs[rows]) @ self.K[rows])
        if not self.doubles_suffice:
            return slopes, np.full(len(slopes), math.inf)
        units = self.values.rounding + 4.0 * (len(rows) + 4) * _UNIT
        return slopes, units * self.lengths * float(np.abs(weights) @ self.lengths[rows])

    def _prove_in_doubles(
        self, rows: np.ndarray, weights: np.ndarray, slopes: np.ndarray, errors: np.ndarray
    ) -> _NearestPoint | None:
        if not self.doubles_suffice:
            return None
        squared, error = float(weights @ slopes[rows]), float(np.abs(weights) @ errors[rows]) * 2.0
        least = float((slopes - errors).min())
        if not (least > 0.0 and error < squared < math.inf):  # not so either if one of them is NaN
            return None
        length, round_up = (squared + error) ** 0.5, 1.0 + 8.0 * len(rows) * _UNIT
        nearest = _NearestPoint(rows, weights, least / (length * round_up), length * round_up / float(weights.sum()))
        nearest.upper += 8.0 * _UNIT * float(nearest.shares @ self.lengths[rows])  # each share is rounded
        return nearest

    def _prove_exactly(
        self, rows: np.ndarray, weights: np.ndarray, slopes: np.ndarray, errors: np.ndarray
    ) -> _NearestPoint | None:
        at, exactly = rows.tolist(), exact.to_rationals(weights)
        squared = self._exact_squared_length(at, weights)
        near = np.flatnonzero(~(slopes - errors > (slopes + errors).min())).tolist()
        least = min(self.slope(row, at, exactly) for row in near)
        if squared <= 0 or least <= 0:
            return None
        nearest = _NearestPoint(rows, weights, exact.root_lower_bound(least * least / squared), math.inf)
        total = sum(exact.to_rationals(nearest.shares), fmpq(0))
        nearest.upper = exact.root_upper_bound(self._exact_squared_length(at, nearest.shares) / total**2)
        return nearest

    def decide_exactly(
        self, rows: np.ndarray, weights: np.ndarray, tol: float, clock: SearchClock
    ) -> _NearestPoint | Witness:
        """Wolfe's algorithm over the rationals, until x is 0 or no row is nearer than (1 - tol) |x| along it."""
        (enough,) = exact.to_rationals(np.array([1.0 - tol]))
        corral = _KernelCorral(self, rows, weights)
        while True:
            clock.check()
            squared = corral.squared_norm()
            if squared == 0:
                return np.array(corral.rows), exact.to_coprime_integers(corral.weights)
            slopes, _ = self._slopes(np.array(corral.rows), exact.to_fraction_array(corral.weights).astype(float))
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
        fractions = exact.to_fraction_array(corral.weights)
        at = np.array(corral.rows)
        nearest = self.prove(at, fractions.astype(float), tol)
        if nearest is None or not nearest.is_within(tol):
            nearest = self.prove(at, fractions, tol)  # weights rounded to doubles lose the margin, or much of it
        assert nearest is not None  # in exact arithmetic x separates
        return nearest


class _KernelCorral(RationalCorral):
    """Wolfe's corral in feature space."""

    def __init__(self, hull: _KernelHull, rows: np.ndarray, weights: np.ndarray) -> None:
        """Start with the corral that doubles found if its rows are affinely independent, otherwise with its row of
        largest weight."""
        first = int(rows[np.argmax(weights)]) if len(rows) else int(np.argmin(hull.lengths))
        exactly = exact.to_rationals(weights)
        super().__init__(rows.tolist(), [weight / sum(exactly, fmpq(0)) for weight in exactly])
        self.hull = hull
        try:
            self.move_to_nearest()
        except (ValueError, ZeroDivisionError):  # no rows, or a singular system
            self.rows, self.weights = [first], [fmpq(1)]

    def _inner(self, a: int, b: int) -> fmpq:
        return self.hull.product(a, b)

    def squared_norm(self) -> fmpq:
        rows = zip(self.rows, self.weights, strict=True)
        return sum((weight * self.hull.slope(row, self.rows, self.weights) for row, weight in rows), fmpq(0))


def _normalize(weights: np.ndarray) -> np.ndarray:
    """Scale doubles or Fractions so that they sum to 1."""
    return np.asarray(weights / weights.sum())
