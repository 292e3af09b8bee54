"""Checks that a matrix is positive semi-definite, so that it holds inner products.

`is_definite` decides in doubles, with a bound on all of their rounding; `require_semidefinite` decides in integers what
doubles cannot. Uses no code of the search.
"""

from __future__ import annotations

import numpy as np

from novikoff.errors import CertificateError

__all__ = ["has_cholesky_factor", "is_definite", "require_semidefinite"]

_UNIT = 2.0**-52
_MOST_ROWS = 200  # for exact elimination: a few seconds


def has_cholesky_factor(K: np.ndarray) -> bool:
    """Return whether Cholesky's algorithm runs to its end in doubles."""
    try:
        np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return False
    return True


def is_definite(K: np.ndarray) -> bool:
    """True only if K is positive definite; False if doubles cannot tell.

    If Cholesky's algorithm runs to its end for K - c, all of its rounding, k units of the trace for k rows, moves no
    eigenvalue by more than c (Rump 2006).
    """
    diagonal = K.diagonal()
    if not (diagonal > 0.0).all():
        return False
    halves = -(np.frexp(diagonal)[1] // 2)  # rows times powers of two, which is exact: the diagonal is then about 1
    scaled = np.ldexp(np.ldexp(K, halves), halves[:, None])
    slack = 8.0 * (len(K) + 8) * _UNIT * float(scaled.diagonal().sum())
    return has_cholesky_factor(scaled - slack * np.eye(len(K)))


def require_semidefinite(K: np.ndarray) -> None:
    """Raise a CertificateError unless a matrix of Python integers is positive semi-definite.

    Elimination without fractions (Bareiss 1968) with the largest diagonal entry as the pivot: no diagonal entry may
    become negative, and once all remaining ones are 0, the rest of the matrix must be 0 too.
    """
    if len(K) > _MOST_ROWS:
        raise CertificateError(
            f"Doubles cannot tell whether the kernel is an inner product on these {len(K)} rows, and exact arithmetic "
            f"would take too long: it is for {_MOST_ROWS} rows at most."
        )
    previous_pivot = 1
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
        K = (K[np.ix_(rest, rest)] * pivot - np.outer(column, column)) // previous_pivot
        previous_pivot = pivot
