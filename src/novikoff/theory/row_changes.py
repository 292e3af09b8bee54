"""RowChange: changes of rows that change the mistake bound of a perceptron on them, but hardly what it can learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError

__all__ = ["RowChange"]


@dataclass(frozen=True)
class RowChange:
    """How rows are changed before a perceptron without an intercept of its own learns from them, in this order.

    Attributes
    ----------
    center : bool
        Subtract the mean of each column. Sparse rows would become dense, and are refused.
    constant : float
        Append a column of this number; 0 appends none. Rows with `fit_intercept=True` have 1 already, and then this is
        0.
    unit_length : bool
        Divide each row, with its constant, by its length; rows of zeros stay.
    """

    center: bool = False
    constant: float = 0.0
    unit_length: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.constant) and self.constant >= 0.0):
            raise DataError(f"The constant of a row must be a number >= 0, found {self.constant!r}.")

    def apply(self, X: Any) -> Any:
        """Return the changed rows, as an array or a CSR array of doubles; X itself if nothing is changed.

        >>> from novikoff.theory.row_changes import RowChange
        >>> RowChange(center=True, constant=4.0, unit_length=True).apply([[1.0], [7.0]])
        array([[-0.6,  0.8],
               [ 0.6,  0.8]])
        """
        if self == RowChange():
            return X
        rows = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, np.float64)
        if self.center:
            if sp.issparse(rows):
                raise DataError("Sparse rows become dense where columns are centred: pass X.toarray() for center=True.")
            rows = rows - rows.mean(axis=0)
        if self.constant:
            column = np.full((rows.shape[0], 1), self.constant)
            rows = sp.hstack([rows, column], "csr") if sp.issparse(rows) else np.hstack([rows, column])
        if self.unit_length:
            rows = _divide_by_length(rows)
        return rows

    def __str__(self) -> str:
        parts = ["columns centred"] if self.center else []
        parts += [f"a constant of {self.constant:g}"] if self.constant else []
        parts += ["rows of length 1"] if self.unit_length else []
        return ", ".join(parts) or "as they are"


def _divide_by_length(rows: Any) -> Any:
    """Return rows of length 1, up to rounding. They are divided by their largest entry first: no square overflows."""
    if sp.issparse(rows):
        largest = np.asarray(abs(rows).max(axis=1).toarray()).ravel()
        scaled = sp.diags_array(1.0 / np.where(largest > 0.0, largest, 1.0)) @ rows
        lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ scaled)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest > 0.0, largest, 1.0)
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return scaled / np.where(lengths > 0.0, lengths, 1.0)
