"""What a reader yields: a block of consecutive rows, raw, with the place of each in its source.

A reader holds a few blocks at a time, so that memory does not grow with the file. Rows come in the order of the
source. One that cannot be read is either an error, `file:line:column: what is wrong`, or, on request, a `Reject`
beside the others.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from novikoff.data.formats.hash_key import KEY, Key

if TYPE_CHECKING:
    from novikoff.data.formats.stacked import Stacked

__all__ = ["Block", "Column", "NamedBlock", "Reject", "SparseBlock", "TableBlock", "Texts", "Words", "in_one_memory"]


@dataclass(frozen=True)
class Reject:
    """A row that could not be read: where it is, why, and what it says."""

    line: int
    reason: str  # "file:line:column: what is wrong"
    text: bytes


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words: those that occur, and for every row which of them it is, -1 if the cell is missing.

    >>> from novikoff.data.formats.block import Words
    >>> sky = Words.of(["sun", None, "rain", "sun"])
    >>> sky.codes.tolist(), sky.values, sky[2:].tolist()
    ([0, -1, 1, 0], ['sun', 'rain'], ['rain', 'sun'])
    """

    codes: np.ndarray  # int32
    values: list[str]  # no two alike; a part of a column may not use them all

    @classmethod
    def of(cls, cells: Iterable[str | None]) -> Words:
        """Count the words of a column in the order in which they come."""
        places: dict[str | None, int] = {None: -1}
        codes = [places.setdefault(cell, len(places) - 1) for cell in cells]
        return cls(np.array(codes, np.int32), [word for word in places if word is not None])

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, part: slice | np.ndarray) -> Words:
        return Words(self.codes[part], self.values)

    def tolist(self) -> list[str | None]:
        cells = [*self.values, None]  # which -1 finds
        return [cells[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts: where each begins and ends in a common memory of UTF-8, -1 and -1 if the cell is missing.

    >>> from novikoff.data.formats.block import Texts
    >>> Texts.of(["call now", None, "see you"])[1:].tolist()
    [None, 'see you']
    """

    memory: np.ndarray  # uint8
    spans: np.ndarray  # int32, two per row

    @classmethod
    def of(cls, cells: Sequence[str | None]) -> Texts:
        """Put texts into one memory."""
        memory, spans = in_one_memory([cell or "" for cell in cells])
        spans[[cell is None for cell in cells]] = -1
        return cls(memory, spans)

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, part: slice | np.ndarray) -> Texts:
        return Texts(self.memory, self.spans[part])

    def tolist(self) -> list[str | None]:
        text = self.memory.tobytes()
        return [None if begin < 0 else text[begin:end].decode() for begin, end in self.spans.tolist()]


Column = np.ndarray | Words | Texts


def in_one_memory(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The UTF-8 of words, one after another, and where each begins and ends."""
    packed = [word.encode("utf-8", "surrogatepass") for word in words]  # a Python string may hold half a pair
    ends = np.cumsum([0, *map(len, packed)]).astype(np.int32)
    return np.frombuffer(bytearray(b"".join(packed)), np.uint8), np.column_stack([ends[:-1], ends[1:]])


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

    def __getitem__(self, part: slice | np.ndarray) -> Self:
        """Some rows, consecutive ones or those of these numbers, which rise; without the rejects."""
        labels = None if self.labels is None else self.labels[part]
        return replace(self, lines=self.lines[part], labels=labels, rejects=[], **self._cut(part))

    def after(self, n: int) -> Self:
        """The same block without its first n rows."""
        return replace(self[n:], rejects=self.rejects)

    @abstractmethod
    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        """What `[]` changes besides lines and labels."""


@dataclass(frozen=True, eq=False)
class SparseBlock(Block):
    """Rows of a format whose features have numbers: column j of `rows` is feature j.

    `squared_norms` are those of the rows, as `Rows` has them, if the reader has measured them on its way; a copy with
    other rows has none.
    """

    rows: sp.csr_array
    squared_norms: np.ndarray | None = field(default=None, init=False)

    @classmethod
    def measured(
        cls,
        source: str,
        lines: np.ndarray,
        labels: np.ndarray,
        rows: sp.csr_array,
        squared_norms: np.ndarray,
        rejects: list[Reject],
    ) -> SparseBlock:
        """A block whose squared norms are known."""
        block = cls(source, lines, labels, rows, rejects=rejects)
        object.__setattr__(block, "squared_norms", squared_norms)
        return block

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        return {"rows": self.rows[part]}


@dataclass(frozen=True, eq=False)
class TableBlock(Block):
    """Rows of a table: its columns by name, the target left out.

    A column of numbers is an array of doubles, NaN where a cell is missing; others are `Words` or `Texts`. What a
    column holds is settled by the first block and does not change.

    Attributes
    ----------
    is_loose : bool
        Whether a column that is not there is taken as missing in every row, as in JSON lines, where a row names what it
        has; else a table without a column that the model knows is a mistake.
    numbers : Stacked or None
        The columns of numbers once more, side by side, if the reader has them so, as those of Parquet and Arrow do;
        then columns can be replaced, but not written to. A copy with other rows has none.
    """

    columns: dict[str, Column]
    is_loose: bool = field(default=False, kw_only=True)
    numbers: Stacked | None = field(default=None, init=False)

    @classmethod
    def stacked(
        cls, source: str, lines: np.ndarray, labels: np.ndarray | None, columns: dict[str, Column], numbers: Stacked
    ) -> TableBlock:
        """A block whose columns of numbers are side by side."""
        block = cls(source, lines, labels, columns | numbers.columns)
        object.__setattr__(block, "numbers", numbers)
        return block

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        return {"columns": {name: column[part] for name, column in self.columns.items()}}


@dataclass(frozen=True, eq=False)
class NamedBlock(Block):
    """Rows of a format whose features have names, any number of them in a row: Vowpal Wabbit's text.

    Entry p of the block is feature `names[p]` of namespace `spaces[space_of[p]]`, both as begin and end in `memory`,
    and has the value `values[p]`. Those of row i are indptr[i] to indptr[i + 1]. A name may be there twice in a row:
    its values add up.

    `distinct[i]` says that no name is there twice in row i; then squared_norms[i] is its squared norm, as `Rows` has
    it.
    """

    memory: np.ndarray  # uint8
    indptr: np.ndarray
    distinct: np.ndarray  # bool
    squared_norms: np.ndarray
    names: np.ndarray  # int32, two per entry
    hashes: np.ndarray  # uint64: of the namespace and the name under `key`, see _compiled/loops/names.py
    values: np.ndarray
    space_of: np.ndarray  # int32
    spaces: np.ndarray  # int32, two per namespace
    key: Key = field(default=KEY, kw_only=True)

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        return self._entries(np.arange(len(self))[part])

    def only(self, kept: np.ndarray, rejects: list[Reject]) -> NamedBlock:
        """Some rows, by number, and these rejects."""
        labels = None if self.labels is None else self.labels[kept]
        return replace(self, lines=self.lines[kept], labels=labels, rejects=rejects, **self._entries(kept))

    def _entries(self, rows: np.ndarray) -> dict[str, Any]:
        sizes = np.diff(self.indptr)
        wanted = np.zeros(len(self), bool)
        wanted[rows] = True
        entries = np.repeat(wanted, sizes)
        parts = {name: getattr(self, name)[entries] for name in ("names", "hashes", "values", "space_of")}
        parts |= {"distinct": self.distinct[rows], "squared_norms": self.squared_norms[rows]}
        return {"indptr": np.concatenate([[0], np.cumsum(sizes[rows])]).astype(np.int32), **parts}

    def dicts(self) -> list[dict[str, float]]:
        """Every row as a dict of names, `namespace^feature` as Vowpal Wabbit shows them, and values."""
        text = self.memory.tobytes()
        words, spaces = (
            [text[begin:end].decode() for begin, end in spans.tolist()] for spans in (self.names, self.spaces)
        )
        full = [
            f"{spaces[k]}^{word}" if spaces[k] else word for k, word in zip(self.space_of.tolist(), words, strict=True)
        ]
        rows: list[dict[str, float]] = []
        for begin, end in itertools.pairwise(self.indptr.tolist()):
            row: dict[str, float] = {}
            for name, value in zip(full[begin:end], self.values[begin:end].tolist(), strict=True):
                row[name] = row.get(name, 0.0) + value
            rows.append(row)
        return rows
