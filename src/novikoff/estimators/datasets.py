"""Data that scikit-learn ships, for demonstrations."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

__all__ = ["digits"]


def digits() -> tuple[list[str], np.ndarray, np.ndarray]:
    """1,797 handwritten digits, 8 by 8 pixels of 0 to 16: column names, pixels, digits."""
    X, y = load_digits(return_X_y=True)
    return [f"pixel_{row}_{column}" for row in range(8) for column in range(8)], X, y
