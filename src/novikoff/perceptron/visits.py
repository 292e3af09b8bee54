"""Visits: which rows a pass visits, in which order, and the class of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows

__all__ = ["Visits", "as_importances", "as_integers", "require_range"]


class Visits(NamedTuple):
    """Positions start..stop-1 of a pass over rows.

    Attributes
    ----------
    rows : Rows
    codes : array of int64
        The class of each row.
    order : array of int64, or None
        The row at each position; None: row p at position p.
    importances : array of float64, or None
        The factor c > 0 of the step on each row; None: all are 1.
    """

    rows: Rows
    codes: np.ndarray
    order: np.ndarray | None
    start: int
    stop: int
    importances: np.ndarray | None = None

    @classmethod
    def check(
        cls,
        rows: Rows,
        codes: np.ndarray,
        order: np.ndarray | None,
        start: int,
        stop: int | None,
        importances: np.ndarray | None = None,
    ) -> Visits:
        """Build visits whose indices are all within bounds, which compiled code does not check."""
        end = len(rows)
        if order is not None:
            order = as_integers("order", order)
            require_range("order", order, len(rows))
            end = order.size
        stop = end if stop is None else stop
        if not 0 <= start <= stop <= end:
            raise DataError(f"Positions {start} to {stop} are not within 0 to {end}.")
        if importances is not None:
            importances = as_importances(importances, len(rows))
        return cls(rows, codes, order, start, stop, importances)

    def row_indices(self, positions: np.ndarray) -> np.ndarray:
        """Return the rows at some positions."""
        return positions if self.order is None else self.order[positions]

    def between(self, start: int, stop: int) -> Visits:
        """Return the visits of some of the positions."""
        return self if (start, stop) == (self.start, self.stop) else self._replace(start=start, stop=stop)

    @property
    def importance_range(self) -> tuple[float, float] | None:
        """The smallest and the largest importance of the rows visited; None if they have none, or if there are none."""
        if self.importances is None or self.stop == self.start:
            return None
        found = self.importances[self.all_row_indices]
        return float(found.min()), float(found.max())

    @property
    def all_row_indices(self) -> np.ndarray:
        """The rows at all positions, in order."""
        return self.row_indices(np.arange(self.start, self.stop))


def as_integers(name: str, values: np.ndarray) -> np.ndarray:
    """Return values as contiguous int64; raise a DataError if they are not integers."""
    values = np.asarray(values)
    if values.dtype.kind not in "iub":
        raise DataError(f"{name} must be integers, found dtype {values.dtype}.")
    return np.ascontiguousarray(values, np.int64)


def as_importances(values: np.ndarray, n_rows: int) -> np.ndarray:
    """Return importances as contiguous float64; raise a DataError unless there is a number > 0 for each row."""
    values = np.ascontiguousarray(values, np.float64)
    if values.shape != (n_rows,):
        raise DataError(f"There are importances of shape {values.shape} for {n_rows} rows.")
    if not ((values > 0.0) & (values < np.inf)).all():
        raise DataError("importances must be numbers > 0; leave out rows that should not count.")
    return values


def require_range(name: str, values: np.ndarray, limit: int) -> None:
    """Raise a DataError unless all values, int64, are from 0 to limit - 1."""
    # As unsigned integers, negative ones are large; `reduce` takes half the time of `max`, where there is one row.
    if values.size and np.maximum.reduce(values.view(np.uint64)) >= limit:
        raise DataError(f"{name} must be from 0 to {limit - 1}, found {values.min()} to {values.max()}.")
