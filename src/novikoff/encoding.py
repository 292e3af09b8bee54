"""From raw blocks to rows of numbers: what a model remembers of the columns it has met.

    features with numbers (svmlight)   column j is feature j
    tables                             numbers are standardised as they come; words become one feature per value,
                                       "column=value", 1 where a row has it (spec: one-hot); a number that is
                                       missing is 0 and has a feature of its own, "column is missing"

Features are numbered in the order in which the rows bring them, so that the result does not depend on the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError, ModelFileError
from novikoff.kernels import moments
from novikoff.rows import Rows
from novikoff.store import Section, put_values, take_values
from novikoff.streams.block import Block, SparseBlock, TableBlock

__all__ = ["Encoding", "IndexEncoding", "TableEncoding", "encoding_for", "take_encoding"]


class Encoding(Protocol):
    """Turns blocks of one kind into rows."""

    kind: str

    @property
    def names(self) -> list[str]:
        """Of the features, in the order of their columns."""
        ...

    def learn(self, block: Any) -> Rows:
        """The rows of a block, taking in what is new in it."""
        ...

    def read(self, block: Any) -> Rows:
        """The rows of a block, for a model that learns nothing from it; what is new counts for nothing."""
        ...

    def put(self, section: Section) -> None:
        """Write what is remembered."""
        ...


@dataclass
class IndexEncoding:
    """Features that are numbers already."""

    width: int = 0
    kind = "index"

    @property
    def names(self) -> list[str]:
        return [str(index) for index in range(self.width)]

    def learn(self, block: SparseBlock) -> Rows:
        _require(block, SparseBlock, "rows of index:value pairs, as svmlight files have")
        self.width = max(self.width, block.rows.shape[1])
        return Rows.of(_wide(block.rows, self.width))

    def read(self, block: SparseBlock) -> Rows:
        _require(block, SparseBlock, "rows of index:value pairs, as svmlight files have")
        return Rows.of(_wide(block.rows, self.width))

    def put(self, section: Section) -> None:
        section.facts["width"] = self.width

    @classmethod
    def take(cls, section: Section) -> IndexEncoding:
        return cls(section.fact("width", int))


@dataclass
class TableEncoding:
    """Columns by name: numbers first, then whatever the rows bring.

    Parameters
    ----------
    numbers, words : list of str
        The columns of the table, as its first block has them.
    scale : bool
        Whether numbers are standardised by the moments of the rows so far.
    """

    numbers: list[str]
    words: list[str]
    scale: bool = True
    places: dict[str, int] = field(default_factory=dict)  # of features beyond the numbers
    moments: np.ndarray = field(default_factory=lambda: np.zeros((3, 0)))  # counts, means, sums of squared deviations
    kind = "table"

    def __post_init__(self) -> None:
        if not self.moments.size:
            self.moments = np.zeros((3, len(self.numbers)))

    @property
    def names(self) -> list[str]:
        return [*self.numbers, *self.places]

    def learn(self, block: TableBlock) -> Rows:
        found = self._features(block)
        for name in _in_order_of_rows(found):
            self.places.setdefault(name, len(self.numbers) + len(self.places))
        return self._rows(block, found, learn=True)

    def read(self, block: TableBlock) -> Rows:
        return self._rows(block, self._features(block), learn=False)

    def _features(self, block: TableBlock) -> list[np.ndarray]:
        """For every column of words, and of numbers where some are missing, the feature of each row, or None."""
        _require(block, TableBlock, "a table with named columns")
        missing = [name for name in (*self.numbers, *self.words) if name not in block.columns]
        if missing:
            raise DataError(f"{block.source} has no column {missing[0]!r}, which the model has learned from. "
                            f"Its columns are {', '.join(map(repr, list(block.columns)[:20]))}.")  # fmt: skip
        found = []
        for name in self.words:
            cells = block.columns[name].tolist()
            found.append(np.array([f"{name}={_word(cell)}" for cell in cells], object))
        for name in self.numbers:
            column = _numbers(block, name)
            if np.isnan(column).any():
                found.append(np.array([f"{name} is missing" if lacks else None for lacks in np.isnan(column)], object))
        return found

    def _rows(self, block: TableBlock, found: list[np.ndarray], *, learn: bool) -> Rows:
        n, p = len(block), len(self.numbers)
        values = np.empty((n, p))
        for j, name in enumerate(self.numbers):
            values[:, j] = _numbers(block, name)
        if self.scale:
            moments.standardise(values, *self.moments, learn)
        else:
            np.nan_to_num(values, copy=False, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if not self.places:
            return Rows.of(values)
        columns = [np.broadcast_to(np.arange(p), (n, p))]
        columns += [np.array([[self.places.get(name, -1)] for name in names]) for names in found]
        return Rows.of(_csr(np.hstack(columns), values, p + len(self.places)))

    def put(self, section: Section) -> None:
        section.facts["scale"] = self.scale
        section.put("moments", self.moments)
        for name, values in (("numbers", self.numbers), ("words", self.words), ("places", list(self.places))):
            put_values(section.open(name), values)

    @classmethod
    def take(cls, section: Section) -> TableEncoding:
        numbers, words, names = (take_values(section.part(name)) for name in ("numbers", "words", "places"))
        found = section.finite("moments", np.float64, (3, len(numbers)))
        if (found[0] < 0.0).any() or (found[2] < 0.0).any():
            section.fail("its moments are not those of any numbers")
        if len(set(names)) != len(names):
            section.fail("it has two features of the same name")
        places = {name: at for at, name in enumerate(names, start=len(numbers))}
        return cls(numbers, words, section.fact("scale", bool), places, found.copy())


def encoding_for(block: Block, *, scale: bool = True) -> Encoding:
    """An encoding that has seen nothing, for a stream that begins with this block."""
    if isinstance(block, SparseBlock):
        return IndexEncoding()
    assert isinstance(block, TableBlock)
    kinds = {name: column.dtype == object for name, column in block.columns.items()}
    numbers = [name for name, is_word in kinds.items() if not is_word]
    return TableEncoding(numbers, [name for name, is_word in kinds.items() if is_word], scale)


def take_encoding(section: Section) -> Encoding:
    """Read back what `put` wrote under the kind of the encoding."""
    kind = section.fact("kind", str)
    for encoding in (IndexEncoding, TableEncoding):
        if encoding.kind == kind:
            return encoding.take(section)
    raise ModelFileError(f"The model has an encoding of kind {kind!r}, which this version of novikoff does not know.")


def _require(block: Block, kind: type, wanted: str) -> None:
    if not isinstance(block, kind):
        raise DataError(f"{block.source}: the model has learned from {wanted}, and this is something else.")


def _numbers(block: TableBlock, name: str) -> np.ndarray:
    column = block.columns[name]
    if column.dtype == object:
        raise DataError(f"{block.source}: column {name!r} holds words; the model has learned from numbers there.")
    return column


def _word(cell: Any) -> str:
    return "?" if cell is None else str(cell)


def _in_order_of_rows(found: list[np.ndarray]) -> Iterator[str]:
    """The features of a block, row by row, each once."""
    seen: dict[str, None] = {}
    for row in zip(*found, strict=True):
        for name in row:
            if name is not None:
                seen[name] = None
    yield from seen


def _csr(columns: np.ndarray, values: np.ndarray, width: int) -> sp.csr_array:
    """Rows whose first entries have these values and the others 1, entries with column -1 left out."""
    n, k = columns.shape
    data = np.ones((n, k))
    data[:, : values.shape[1]] = values
    order = np.argsort(columns, axis=1, kind="stable")
    columns, data = np.take_along_axis(columns, order, 1), np.take_along_axis(data, order, 1)
    used = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    return sp.csr_array((data[used], columns[used].astype(np.int32), indptr.astype(np.int32)), shape=(n, width))


def _wide(rows: sp.csr_array, width: int) -> sp.csr_array:
    """The same rows with this many columns; further ones are left out."""
    if rows.shape[1] > width:
        return rows[:, :width]
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
