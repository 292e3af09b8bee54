"""NumberMatrix: the numeric columns of a block as one row-major array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from novikoff._compiled.loops.columns import rows_of_columns

__all__ = ["NumberMatrix"]


@dataclass(frozen=True, eq=False)
class NumberMatrix:
    """The numeric columns of a block, row-major, NaN where a cell is missing.

    >>> from novikoff.data.formats.number_matrix import NumberMatrix
    >>> matrix = NumberMatrix.from_columns({"age": np.array([1.0, 2.0]), "size": np.array([3.0, 4.0])}, 2)
    >>> matrix.values.tolist(), matrix.sum_of_squares
    ([[1.0, 3.0], [2.0, 4.0]], 30.0)
    """

    names: list[str]
    values: np.ndarray  # a row for each row, a column for each name
    known_sum: float | None = None  # the sum of their squares, if it was computed on the way

    @classmethod
    def from_columns(cls, columns: Mapping[str, np.ndarray], n: int) -> NumberMatrix:
        """Copy columns of n numbers into one array."""
        names, arrays = list(columns), list(columns.values())
        if any(array.shape != (n,) for array in arrays):
            raise ValueError(f"Columns of {sorted({len(array) for array in arrays})} numbers do not make {n} rows.")
        return cls.from_memory([np.ascontiguousarray(array, np.float64) for array in arrays], names, n)

    @classmethod
    def from_memory(cls, columns: Sequence[int | np.ndarray], names: list[str], n: int) -> NumberMatrix:
        """Copy columns of n doubles, given as contiguous arrays or by their addresses, into one array."""
        if not names:
            return cls(names, np.empty((n, 0)), 0.0)
        addresses = [each if isinstance(each, int) else each.__array_interface__["data"][0] for each in columns]
        values = np.empty((n, len(names)))
        squares = rows_of_columns(np.array(addresses, np.uint64), values)  # type: ignore[no-untyped-call]
        return cls(names, values, squares)

    def __getitem__(self, part: slice | np.ndarray) -> NumberMatrix:
        return NumberMatrix(self.names, self.values[part])

    @property
    def sum_of_squares(self) -> float:
        """NaN if a number is missing; infinite, perhaps, if one is large."""
        if self.known_sum is not None:
            return self.known_sum
        values = self.values.ravel()
        return float(np.einsum("i,i", values, values))  # a dot product would wake the threads of BLAS

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns by name, as views. If the sum of squares is known, they cannot be written to from here on: it
        would be that of other numbers."""
        if self.known_sum is not None:
            self.values.flags.writeable = False
        return {name: self.values[:, j] for j, name in enumerate(self.names)}

    def matches(self, names: list[str], columns: Mapping[str, Any]) -> bool:
        """Return whether these are the columns of these names, and none has been replaced."""
        return names == self.names and all(columns.get(name) is column for name, column in self.columns.items())

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy: copies of views would be arrays by themselves, so that none `matches`."""
        return {"names": self.names, "values": self.values, "known_sum": self.known_sum}
