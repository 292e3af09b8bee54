"""Geometric means of ratios."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["geometric_mean"]

_LEAST = 1e-9  # for a learner without any mistake


def geometric_mean(pairs: Iterable[tuple[float | None, float | None]]) -> float | None:
    """The geometric mean of ours / theirs; None if one of them is not known, or there are none."""
    logs = []
    for ours, theirs in pairs:
        if ours is None or theirs is None:
            return None
        logs.append(math.log(max(ours, _LEAST) / max(theirs, _LEAST)))
    return math.exp(sum(logs) / len(logs)) if logs else None
