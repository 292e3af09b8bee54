"""Curves: what a model with hats adds to a score for a number, as one broken line for each number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novikoff._compiled.loops.hats import KNOTS

__all__ = ["Curves"]

_USUAL = np.abs(KNOTS) <= 2.0  # knots between which most standardised numbers are
_WIDTH = 4.0  # of these


@dataclass(frozen=True, eq=False)
class Curves:
    """The numbers that have hats, and how they are standardised.

    Attributes
    ----------
    names : list of str
    columns : ndarray
        Which of the numeric columns of a table they are, or which of the features of svmlight or Vowpal Wabbit's text.
    indices : ndarray
        The index of the weight of each number.
    hats : ndarray
        The indices of the weights of its hats, one for each knot.
    means, deviations : ndarray
        What is subtracted from each number, and what the difference is divided by; if that is 0, the result is 0.
    is_hat : ndarray
        For each weight of the model 1 if it is that of a hat.
    """

    names: list[str]
    columns: np.ndarray
    indices: np.ndarray
    hats: np.ndarray
    means: np.ndarray
    deviations: np.ndarray
    is_hat: np.ndarray

    def heights(self, w: np.ndarray) -> np.ndarray:
        """Return for each number what the weights w add to the score where it is standardised to each of the knots."""
        heights: np.ndarray = np.multiply.outer(w[self.indices], KNOTS) + w[self.hats]
        return heights

    def join(self, w: np.ndarray) -> np.ndarray:
        """Return weights by which features can be compared, 0 for hats, and for a number with hats the difference
        between the highest and the lowest point of its curve from -2 to 2 standard deviations, divided by the distance
        of these two: for a straight line its weight. It is negative if the curve ends lower than it begins."""
        joined = np.where(self.is_hat > 0, 0.0, w)
        usual = self.heights(w)[:, _USUAL]
        sign = np.where(usual[:, -1] < usual[:, 0], -1.0, 1.0)
        joined[self.indices] = sign * np.ptp(usual, axis=1) / _WIDTH
        return joined
