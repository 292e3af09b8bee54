"""What a reader yields: a block of consecutive rows, raw, with the place of each in its source.

A reader holds one block at a time, so that memory does not grow with the file. Rows come in the order of the
source. One that cannot be read is either an error, `file:line:column: what is wrong`, or, on request, a `Reject`
beside the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

__all__ = ["Block", "Reject", "SparseBlock", "TableBlock"]


@dataclass(frozen=True)
class Reject:
    """A row that could not be read: where it is, why, and what it says."""

    line: int
    reason: str  # "file:line:column: what is wrong"
    text: bytes


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """Rows of a source.

    Attributes
    ----------
    source : str
        Its name, for messages.
    lines : ndarray of int64
        The line that each row begins on, counted from 1; in files without lines, the row.
    labels : ndarray or None
        One per row, doubles or strings (dtype object); None if the source has none.
    rejects : list of Reject
        Rows among these that could not be read, if the reader was told to go on.
    """

    source: str
    lines: np.ndarray
    labels: np.ndarray | None
    rejects: list[Reject] = field(default_factory=list, kw_only=True)

    def __len__(self) -> int:
        return len(self.lines)

    def after(self, n: int) -> Self:
        """The same block without its first n rows."""
        labels = None if self.labels is None else self.labels[n:]
        return replace(self, lines=self.lines[n:], labels=labels, **self._rest_after(n))

    @abstractmethod
    def _rest_after(self, n: int) -> dict[str, Any]:
        """What `after` changes besides lines and labels."""


@dataclass(frozen=True, eq=False)
class SparseBlock(Block):
    """Rows of a format whose features have numbers: column j of `rows` is feature j."""

    rows: sp.csr_array

    def _rest_after(self, n: int) -> dict[str, Any]:
        return {"rows": self.rows[n:]}


@dataclass(frozen=True, eq=False)
class TableBlock(Block):
    """Rows of a table: its columns by name, the target left out.

    A column of numbers is an array of doubles, NaN where a cell is missing; any other has dtype object, strings, and
    None where a cell is missing. The kind of a column is settled by the first block and does not change.
    """

    columns: dict[str, np.ndarray]

    def _rest_after(self, n: int) -> dict[str, Any]:
        return {"columns": {name: column[n:] for name, column in self.columns.items()}}
