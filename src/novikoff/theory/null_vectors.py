"""Positive null vectors: the multipliers with which the rows of a witness cancel, by rationals of FLINT.

Of a matrix whose null space has dimension 1, a square part that is invertible modulo a prime is solved by p-adic
lifting (Dixon 1982), which for hundreds of rows is many times faster than elimination over the integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

from novikoff.theory.exact import iterate_vectors, to_coprime_integers
from novikoff.theory.signed_points import SignedPoints

__all__ = ["find_positive_null_vector", "find_witness"]

_PRIME = 2**61 - 1
_FEW = 16  # columns: elimination is faster up to here


def find_witness(points: SignedPoints, rows: np.ndarray) -> tuple[np.ndarray, tuple[Fraction, ...]] | None:
    """Return rows among these and their multipliers, integers without a common factor; None if these rows have none.

    The rows of a corral are affinely independent, so there is one way at most to write 0 as a combination of them.
    """
    z = list(iterate_vectors(points, rows))
    columns = sorted(set().union(*(vector.numbers for vector in z)))
    null = find_positive_null_vector([[vector.numbers.get(column, 0) for vector in z] for column in columns])
    if null is None:
        return None
    kept = [a for a, factor in enumerate(null) if factor]
    return rows[kept], to_coprime_integers([null[a] / z[a].unit for a in kept])


def find_positive_null_vector(matrix: list[list[int]]) -> list[fmpq] | None:
    """v >= 0 with matrix v = 0, if the null space has dimension 1 and contains such a v; otherwise None."""
    v = _null_vector(matrix) if matrix and len(matrix[0]) > _FEW else _null_vector_by_elimination(matrix)
    if v is None:
        return None
    if any(value < 0 for value in v):
        v = [-value for value in v]
    return None if any(value < 0 for value in v) else v


def _null_vector_by_elimination(matrix: list[list[int]]) -> list[fmpq] | None:
    null, nullity = fmpz_mat(matrix).nullspace()
    return [fmpq(null[a, 0]) for a in range(len(matrix[0]))] if nullity == 1 else None


def _null_vector(matrix: list[list[int]]) -> list[fmpq] | None:
    """Return the vector that spans the null space; None if the matrix has another null space than a line."""
    k = len(matrix[0])
    matrix = [_without_powers_of_two(row) for row in matrix]
    residues = [[value % _PRIME for value in row] for row in matrix]
    reduced, rank = nmod_mat(len(matrix), k, [value for row in residues for value in row], _PRIME).rref()
    if rank == k:  # over the rationals the rank is no smaller than modulo a prime
        return None
    if rank < k - 1:
        return _null_vector_by_elimination(matrix)
    pivots = _pivot_columns(reduced, rank)
    (free,) = set(range(k)) - set(pivots)
    columns = [row[column] for column in pivots for row in residues]
    rows = _pivot_columns(nmod_mat(rank, len(matrix), columns, _PRIME).rref()[0], rank)
    system = fmpq_mat(fmpz_mat([[matrix[row][column] for column in pivots] for row in rows]))
    given = fmpq_mat(fmpz_mat([[-matrix[row][free]] for row in rows]))
    solution = system.solve(given, algorithm="dixon")  # type: ignore[call-arg]
    v = [fmpq(0)] * k
    v[free] = fmpq(1)
    for a, column in enumerate(pivots):
        v[column] = solution[a, 0]
    return v if _cancels(matrix, v, set(range(len(matrix))) - set(rows)) else None


def _cancels(matrix: list[list[int]], v: list[fmpq], rows: set[int]) -> bool:
    """Return whether these rows of matrix v are 0."""
    integers = [int(value) for value in to_coprime_integers(v)] if rows else []
    return all(not sum(a * b for a, b in zip(matrix[row], integers, strict=True)) for row in rows)


def _pivot_columns(reduced: nmod_mat, rank: int) -> list[int]:
    """Return the column of the first 1 in each row of a reduced echelon form."""
    pivots, column = list[int](), 0
    for row in range(rank):
        while not reduced[row, column]:
            column += 1
        pivots.append(column)
        column += 1
    return pivots


def _without_powers_of_two(row: list[int]) -> list[int]:
    """Divide a row by the largest power of two that divides all of it: columns may have large units."""
    union = 0
    for value in row:
        union |= value
    shift = (union & -union).bit_length() - 1 if union else 0
    return [value >> shift for value in row]
