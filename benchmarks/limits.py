"""The limit that learning is compared with: scoring the same rows without learning.

A perceptron computes the score of every row in every pass. However good its loop is, it cannot be faster than one that
does only this, so the share of this limit that is reached does not depend on the machine as a ratio to a peer does. In
sparse rows, weights are read all over a vector larger than the first cache; in dense float32 rows, the processor takes
longer to convert numbers to doubles than memory takes to deliver them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import novikoff as nk
from benchmarks.measure import Line, Options, Times, at_least, best_of
from novikoff._compiled.loops.additive import binary_scores

__all__ = ["SHARE", "scoring_time", "share_of_scoring"]

SHARE = 0.75  # of the speed of scoring that learning should reach


def scoring_time(X: Any, repeats: int) -> float:
    """Seconds to compute <w, x> for all rows once."""
    rows = nk.Rows.of(X)
    w, scores = np.zeros((1, X.shape[1])), np.empty(X.shape[0])
    arrays = rows.data, rows.indices, rows.indptr
    return best_of(lambda: binary_scores(*arrays, 0.0, w[0], np.zeros(1), scores), repeats)


def share_of_scoring(work: str, X: Any, seconds: float, passes: int, options: Options, note: str = "") -> Line:
    """A line that compares `seconds` of learning with scoring the rows in as many passes."""
    limit = passes * scoring_time(X, options.repeats)
    return Line(
        f"{work}: share of the speed of scoring",
        f"scoring X {passes} times, without learning",
        at_least(SHARE, "%"),
        limit / seconds,
        Times(limit, seconds),
        note=note,
    )
