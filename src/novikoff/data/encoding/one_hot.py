"""OneHotFeatures: categorical columns and missing numbers, of which a row has at most one value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novikoff.data.feature_names import MISSING_VALUE, category_prefix
from novikoff.data.formats.block import CategoricalColumn

__all__ = ["OneHotFeatures"]


@dataclass(frozen=True, eq=False)
class OneHotFeatures:
    """Features of which a row has at most one: row i has values[codes[i]], or none if that code is -1."""

    prefix: str
    values: list[str]
    codes: np.ndarray
    used: np.ndarray  # the codes that occur
    first_rows: np.ndarray  # where each of them occurs first

    @classmethod
    def from_codes(cls, prefix: str, values: list[str], codes: np.ndarray) -> OneHotFeatures:
        firsts = np.full(len(values) + 1, len(codes))
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # of several assignments the last one counts
        used = np.flatnonzero(firsts[:-1] < len(codes))
        return cls(prefix, values, codes, used, firsts[used])

    @classmethod
    def from_column(cls, name: str, column: CategoricalColumn, first: int) -> OneHotFeatures:
        """Return the values of a categorical column, with a question mark for a missing or empty one; rows before row
        `first`, where the column first occurs, have none."""
        codes = np.where(column.codes < 0, len(column.values), column.codes)
        if "" in column.values:
            codes[codes == column.values.index("")] = len(column.values)
        codes[:first] = -1
        return cls.from_codes(category_prefix(name), [*column.values, MISSING_VALUE], codes)

    @classmethod
    def from_missing(cls, prefix: str, name: str, is_missing: np.ndarray, first: int) -> OneHotFeatures:
        """Return the feature that a number is missing; rows before row `first`, where the column first occurs, do not
        have it."""
        codes = is_missing.astype(np.int32) - 1
        codes[:first] = -1
        return cls.from_codes(prefix, [name], codes)

    @classmethod
    def first_seen(cls, row: int, prefix: str, names: list[str]) -> OneHotFeatures:
        """Return features that have their names from this row on; which rows have them is not recorded."""
        n = len(names)
        return cls(prefix, names, np.empty(0, np.int32), np.arange(n), np.full(n, row))

    @property
    def used_values(self) -> list[str]:
        """The values that occur."""
        return [self.values[code] for code in self.used.tolist()]

    def index_per_row(self, indices: np.ndarray) -> np.ndarray:
        """Return the index of every row's feature, -1 for none, given the indices of the values that occur."""
        index_of = np.full(len(self.values) + 1, -1, np.int32)  # code -1 finds the last
        index_of[self.used] = indices
        return index_of[self.codes]
