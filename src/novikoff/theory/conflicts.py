"""Identical rows with different labels: how many there are, and which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["count_conflicts", "find_conflicts"]


def count_conflicts(X: Any, signs: np.ndarray) -> tuple[int, int]:
    """Return how many sets of identical rows have both signs, and how many rows in them every rule must get wrong.

    >>> import numpy as np
    >>> from novikoff.theory.conflicts import count_conflicts
    >>> count_conflicts(np.array([[1.0], [1.0], [1.0], [2.0], [3.0], [3.0]]), np.array([1, 1, -1, 1, -1, -1]))
    (1, 1)
    """
    counts: defaultdict[bytes, list[int]] = defaultdict(lambda: [0, 0])
    for key, sign in zip(_row_keys(X), signs.tolist(), strict=True):
        if sign:
            counts[key][sign > 0] += 1
    conflicts = [min(pair) for pair in counts.values() if all(pair)]
    return len(conflicts), sum(conflicts)


def find_conflicts(X: Any, signs: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Return pairs of identical rows, the first of which has the sign -1 and the second +1: for each set of identical
    rows with both signs the first of either, and no more than `most` pairs.

    >>> import numpy as np
    >>> from novikoff.theory.conflicts import find_conflicts
    >>> find_conflicts(np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([1, 1, 1, -1]), most=10)
    [(3, 0)]
    """
    firsts: dict[bytes, dict[bool, int]] = {}
    for row, (key, sign) in enumerate(zip(_row_keys(X), signs.tolist(), strict=True)):
        if sign:
            firsts.setdefault(key, {}).setdefault(sign > 0, row)
    pairs = [(found[False], found[True]) for found in firsts.values() if len(found) == 2]
    return pairs[:most]


def _row_keys(X: Any) -> Iterable[bytes]:
    """Return bytes of each row that are equal for equal rows."""
    if not sp.issparse(X):
        return (row.tobytes() for row in X + 0.0)  # -0 becomes 0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    return (X.indices[low:high].tobytes() + X.data[low:high].tobytes() for low, high in bounds)
