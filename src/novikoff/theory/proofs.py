"""What a search returns: a separator with the margins that are proved of it, or the rows of a witness."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

__all__ = ["Separator", "Witness"]


@dataclass(frozen=True, eq=False)
class Separator:
    """w with its bias last, and what is proved: it attains the margin `lower`, and the support rows prove that no w
    attains more than `upper`."""

    w: np.ndarray
    lower: float | Fraction
    upper: float
    support: np.ndarray
    weights: np.ndarray

    def is_within(self, tol: float) -> bool:
        """Return whether no separator has a margin that is larger by more than this fraction."""
        return self.lower >= (1.0 - tol) * self.upper


Witness = tuple[np.ndarray, tuple[Fraction, ...]]  # rows and their multipliers
