"""count_conflicts: identical rows with different labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["count_conflicts"]


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


def _row_keys(X: Any) -> Iterable[bytes]:
    """Return bytes of each row that are equal for equal rows."""
    if not sp.issparse(X):
        return (row.tobytes() for row in X + 0.0)  # -0 becomes 0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    return (X.indices[low:high].tobytes() + X.data[low:high].tobytes() for low, high in bounds)
