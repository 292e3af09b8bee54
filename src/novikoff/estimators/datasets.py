"""Data of scikit-learn for demonstrations."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

__all__ = ["load_digit_images"]


def load_digit_images() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return 1,797 handwritten digits of 8 by 8 pixels from 0 to 16: column names, pixels, labels."""
    X, y = load_digits(return_X_y=True)
    return [f"pixel_{row}_{column}" for row in range(8) for column in range(8)], X, y
