"""Closed half-spaces: separability where a score of 0 counts as positive, sign(0) = +1.

    question   is there a w with <w, x> >= 0 for the positive rows and <w, x> < 0 for the negative ones?
    witness    otherwise some rows cancel, sum multipliers * y * x = 0 with multipliers > 0, and at least one of them is
               negative: Motzkin's transposition theorem (1936)

With an intercept and finitely many rows this is the question of open half-spaces: a slightly larger bias moves the
positive rows off the boundary and leaves the negative ones where they are. Without one, rows that cancel and are all
positive must lie on the boundary. So the search goes on among the w that are orthogonal to these rows, in coordinates
of that space, until it finds a separator or a witness with a negative row. After the first search everything is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from novikoff.theory.exact import iterate_vectors, to_coprime_integers, to_fraction_array
from novikoff.theory.exact_corrals import RationalCorral
from novikoff.theory.proofs import Witness
from novikoff.theory.signed_points import SignedPoints

__all__ = ["ClosedSearch"]

_Vector = list[fmpq]


class _VectorCorral(RationalCorral):
    """A corral of vectors of rationals."""

    def __init__(self, vectors: dict[int, _Vector], first: int) -> None:
        super().__init__([first], [fmpq(1)])
        self.vectors = vectors

    def _inner(self, a: int, b: int) -> fmpq:
        return _dot(self.vectors[a], self.vectors[b])

    def point(self) -> _Vector:
        """x = sum weights * z."""
        return _combine([self.vectors[row] for row in self.rows], self.weights)


class ClosedSearch:
    """The search without an intercept, from rows that are all positive and cancel.

    Attributes
    ----------
    relation : dict
        Positive rows, which must lie on the boundary, and positive multipliers with which they cancel.
    """

    def __init__(self, points: SignedPoints, witness: Witness, check: Callable[[], None]) -> None:
        self.signs, self.check = points.signs, check
        size = points.rows.n_features
        self.vectors = {
            row: [vector.numbers.get(column, 0) * vector.unit for column in range(size)]
            for row, vector in enumerate(iterate_vectors(points, np.arange(len(points))))
        }
        self.size = size
        rows, multipliers = witness
        self.relation = {row: fmpq(*m.as_integer_ratio()) for row, m in zip(rows.tolist(), multipliers, strict=True)}

    def run(self) -> Witness | np.ndarray:
        """Return a witness with a negative row, or weights as Fractions; all 0 if no row is negative."""
        while True:
            self.check()
            basis = self._orthogonal_space()
            inside = {row: [_dot(z, b) for b in basis] for row, z in self.vectors.items()}
            on_boundary = [row for row, z in inside.items() if not any(z)]
            for row in on_boundary:
                if self.signs[row] < 0:
                    return self._as_witness({row: fmpq(1)})
            for row in on_boundary:
                del inside[row]
            if not inside:
                return to_fraction_array([fmpq(0)] * self.size)
            corral = self._search(inside)
            x = corral.point()
            if any(x):
                return to_fraction_array(_combine(basis, x))
            found = dict(zip(corral.rows, corral.weights, strict=True))
            if any(self.signs[row] < 0 for row in found):
                return self._as_witness(found)
            self.relation = self._extend(found, fmpq(1))

    def _orthogonal_space(self) -> list[_Vector]:
        """Return a basis of the w with <w, z> = 0 for all rows of the relation."""
        matrix, _ = fmpq_mat([self.vectors[row] for row in self.relation]).numer_denom()
        null, nullity = fmpz_mat(matrix).nullspace()
        return [[fmpq(null[j, k]) for j in range(self.size)] for k in range(nullity)]

    def _search(self, vectors: dict[int, _Vector]) -> _VectorCorral:
        """Run Wolfe's algorithm until x is 0, or <x, z> > 0 for all vectors."""
        corral = _VectorCorral(vectors, min(vectors, key=lambda row: _dot(vectors[row], vectors[row])))
        while any(x := corral.point()):
            self.check()
            slopes = {row: _dot(x, z) for row, z in vectors.items()}
            entering = min(slopes, key=lambda row: slopes[row])
            if slopes[entering] > 0:
                break
            corral.enter(entering)
        return corral

    def _extend(self, found: dict[int, fmpq], extra: fmpq) -> dict[int, fmpq]:
        """Return multipliers >= 0 with which these rows cancel, together with those of the relation; > 0 if extra > 0.

        The sum of the rows is a combination of those of the relation. To its coefficients, which may be negative,
        enough of the relation is added.
        """
        known = list(self.relation)
        total = _combine([self.vectors[row] for row in found], list(found.values()))
        system = [[*(self.vectors[row][j] for row in known), -total[j]] for j in range(self.size)]
        reduced, rank = fmpq_mat(system).rref()
        coefficients, column = dict.fromkeys(known, fmpq(0)), 0
        for i in range(rank):
            while not reduced[i, column]:
                column += 1
            coefficients[known[column]] = reduced[i, len(known)]
        needed = max([fmpq(0), *(-coefficients[row] / self.relation[row] for row in known)]) + extra
        result = {row: coefficients[row] + needed * self.relation[row] for row in known}
        for row, multiplier in found.items():
            result[row] = result.get(row, fmpq(0)) + multiplier
        return {row: multiplier for row, multiplier in result.items() if multiplier}

    def _as_witness(self, found: dict[int, fmpq]) -> Witness:
        """Return a witness of at most d + 1 rows, of rows that cancel up to a combination of the relation's.

        As long as there are more, some combination of them is 0 without changing the sum of the multipliers of negative
        rows; moving along it until a multiplier is 0 removes a row (Carathéodory).
        """
        multipliers = self._extend(found, fmpq(0))
        while len(multipliers) > self.size + 1:
            rows = list(multipliers)
            matrix = [[self.vectors[row][j] for row in rows] for j in range(self.size)]
            matrix.append([fmpq(int(self.signs[row] < 0)) for row in rows])
            null, _ = fmpz_mat(fmpq_mat(matrix).numer_denom()[0]).nullspace()
            v = [fmpq(null[a, 0]) for a in range(len(rows))]
            v = v if any(value > 0 for value in v) else [-value for value in v]
            step = min(multipliers[row] / value for row, value in zip(rows, v, strict=True) if value > 0)
            moved = {row: multipliers[row] - step * value for row, value in zip(rows, v, strict=True)}
            multipliers = {row: multiplier for row, multiplier in moved.items() if multiplier}
        return np.array(list(multipliers)), to_coprime_integers(list(multipliers.values()))


def _dot(one: _Vector, other: _Vector) -> fmpq:
    return sum((a * b for a, b in zip(one, other, strict=True) if a and b), fmpq(0))


def _combine(vectors: list[_Vector], weights: list[fmpq]) -> _Vector:
    return [sum((w * v[j] for v, w in zip(vectors, weights, strict=True)), fmpq(0)) for j in range(len(vectors[0]))]
