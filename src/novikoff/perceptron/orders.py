"""The order in which a pass over a training set visits its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

__all__ = ["ORDERS", "Order", "draw_order"]

Order: TypeAlias = Literal["given", "shuffled", "random", "worst"]
ORDERS: tuple[Order, ...] = get_args(Order)


def draw_order(
    order: str, n_rows: int, rng: np.random.Generator, margins: Callable[[], np.ndarray] | None = None
) -> np.ndarray | None:
    """Return the row at each position of a pass; None for the order given.

    `margins` is only called for "worst", which visits the most violated rows first.
    """
    if order == "shuffled":
        return rng.permutation(n_rows)
    if order == "random":
        return rng.integers(0, n_rows, size=n_rows)
    if order == "worst" and margins is not None:
        return np.argsort(margins(), kind="stable")
    return None
