"""Columns of numbers side by side, as rows to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from novikoff._compiled.loops import moments

__all__ = ["Stacked"]


@dataclass(frozen=True, eq=False)
class Stacked:
    """The columns of numbers of a block, in memory of their own.

    >>> from novikoff.data.formats.stacked import Stacked
    >>> stacked = Stacked.of({"age": np.array([1.0, 2.0]), "size": np.array([3.0, 4.0])}, 2)
    >>> stacked.values.tolist(), stacked.squares
    ([[1.0, 3.0], [2.0, 4.0]], 30.0)
    """

    names: list[str]
    values: np.ndarray  # a row for each row, a column for each name
    squares: float  # their sum, or something else that is NaN if one is missing and infinite if they may be large

    @classmethod
    def of(cls, columns: Mapping[str, np.ndarray], n: int) -> Stacked:
        """Stack columns of n numbers."""
        names, arrays = list(columns), list(columns.values())
        if not arrays:
            return cls(names, np.empty((n, 0)), 0.0)
        if any(array.shape != (n,) for array in arrays):
            raise ValueError(f"Columns of {sorted({len(array) for array in arrays})} numbers do not make {n} rows.")
        table = _table_of(arrays)
        if table is not None:
            values = table.copy()
            return cls(names, values, np.nan if np.isnan(values.sum()) else np.inf)
        return cls.at([np.ascontiguousarray(array, np.float64) for array in arrays], names, n)

    @classmethod
    def at(cls, columns: Sequence[int | np.ndarray], names: list[str], n: int) -> Stacked:
        """Stack columns of n doubles, given as arrays without gaps in memory, or by their addresses."""
        addresses = [each if isinstance(each, int) else each.__array_interface__["data"][0] for each in columns]
        values = np.empty((n, len(names)))
        return cls(names, values, moments.rows_of_columns(np.array(addresses, np.uint64), values))

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns by name, where they stand. From here on nobody can write to them: the squares would be others."""
        self.values.flags.writeable = False
        return {name: self.values[:, j] for j, name in enumerate(self.names)}

    def are(self, names: list[str], columns: Mapping[str, Any]) -> bool:
        """Whether these are the columns of these names, and nobody has put others in their place: in a copy of both, as
        pickle makes them, they stand by themselves."""
        return names == self.names and all(
            columns.get(name) is column and column.base is self.values for name, column in self.columns.items()
        )


def _table_of(columns: list[np.ndarray]) -> np.ndarray | None:
    """The table that a reader has cut columns out of, if it is one, in that order."""
    base = columns[0].base
    if not isinstance(base, np.ndarray) or base.ndim != 2 or not base.flags.c_contiguous or base.dtype != np.float64:
        return None
    if any(column.base is not base or column.strides[0] != base.strides[0] for column in columns):
        return None
    begins = np.array([column.__array_interface__["data"][0] for column in columns]) - base.ctypes.data
    row, first = divmod(int(begins[0]) // base.itemsize, base.shape[1])
    if (np.diff(begins) != base.itemsize).any() or first + len(columns) > base.shape[1]:
        return None
    return base[row : row + len(columns[0]), first : first + len(columns)]
