"""Blocks: what a reader yields, consecutive rows of a source with the line of each.

A reader holds a few blocks at a time, so that memory does not grow with the file. Rows come in the order of the
source. One that cannot be read is either an error, `file:line:column: what is wrong`, or, on request, a `Reject`
beside the others.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops.delimited import distinct_strings
from novikoff.data.feature_names import name_in_namespace
from novikoff.data.formats.hash_key import KEY, Key
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.formats.rejects import Reject
from novikoff.inputs.labels import encode_labels

__all__ = [
    "AnyColumn",
    "Block",
    "CategoricalColumn",
    "NamedBlock",
    "Reject",
    "SparseBlock",
    "TableBlock",
    "TextColumn",
    "pack_strings",
]


@dataclass(frozen=True, eq=False)
class CategoricalColumn:
    """A column of a few different strings: the different ones, and for every row the code of its own, -1 if missing.

    >>> from novikoff.data.formats.block import CategoricalColumn
    >>> sky = CategoricalColumn.from_cells(["sun", None, "rain", "sun"])
    >>> sky.codes.tolist(), sky.values, sky[2:].tolist()
    ([0, -1, 1, 0], ['sun', 'rain'], ['rain', 'sun'])
    """

    codes: np.ndarray  # int32
    values: list[str]  # no two alike; a part of a column may not use them all

    @classmethod
    def from_cells(cls, cells: Iterable[str | None]) -> CategoricalColumn:
        """Number the strings of a column in the order in which they come."""
        code_of: dict[str | None, int] = {None: -1}
        codes = [code_of.setdefault(cell, len(code_of) - 1) for cell in cells]
        return cls(np.array(codes, np.int32), [cell for cell in code_of if cell is not None])

    @classmethod
    def from_spans(cls, text: bytearray, spans: np.ndarray) -> CategoricalColumn:
        """Number the strings text[begin:end] of these spans, which are UTF-8; one is missing where begin is -1."""
        n = len(spans)
        codes, firsts = np.empty(n, np.int32), np.empty(n, np.int32)
        table = np.full(1 << (2 * n).bit_length(), -1, np.int32)
        count = distinct_strings(np.frombuffer(text, np.uint8), spans, *KEY, codes, firsts, table)
        return cls(codes, [text[begin:end].decode() for begin, end in spans[firsts[:count]].tolist()])

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, part: slice | np.ndarray) -> CategoricalColumn:
        return CategoricalColumn(self.codes[part], self.values)

    def tolist(self) -> list[str | None]:
        cells = [*self.values, None]  # code -1 finds the last
        return [cells[code] for code in self.codes.tolist()]

    @cached_property
    def strings(self) -> np.ndarray:
        """All cells as an array of strings, which cannot be written to: the codes would be those of others."""
        strings = np.array([*self.values, None], object)[self.codes]  # code -1 finds the last
        strings.flags.writeable = False
        return strings

    def sorted_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the different strings in order, and for each row the index of its own among them, as `encode_labels`
        finds them in `strings`; no cell may be missing.

        >>> from novikoff.data.formats.block import CategoricalColumn
        >>> CategoricalColumn.from_cells(["spam", "ham", "spam"]).sorted_classes()
        (array(['ham', 'spam'], dtype=object), array([1, 0, 1]))
        """
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.values))).tolist()
        order = sorted(used, key=self.values.__getitem__)
        index_of = np.zeros(len(self.values), np.int64)
        index_of[order] = np.arange(len(order))
        return np.array([self.values[code] for code in order], object), index_of[self.codes]


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of texts: where each begins and ends in common memory of UTF-8, -1 and -1 if the cell is missing.

    >>> from novikoff.data.formats.block import TextColumn
    >>> TextColumn.from_cells(["call now", None, "see you"])[1:].tolist()
    [None, 'see you']
    """

    memory: np.ndarray  # uint8
    spans: np.ndarray  # int32, two per row

    @classmethod
    def from_cells(cls, cells: Sequence[str | None]) -> TextColumn:
        """Copy texts into one array of bytes."""
        memory, spans = pack_strings([cell or "" for cell in cells])
        spans[[cell is None for cell in cells]] = -1
        return cls(memory, spans)

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, part: slice | np.ndarray) -> TextColumn:
        return TextColumn(self.memory, self.spans[part])

    def tolist(self) -> list[str | None]:
        text = self.memory.tobytes()
        return [None if begin < 0 else text[begin:end].decode() for begin, end in self.spans.tolist()]


AnyColumn = np.ndarray | CategoricalColumn | TextColumn


def pack_strings(strings: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the UTF-8 of strings, one after another, and where each begins and ends."""
    packed = [string.encode("utf-8", "surrogatepass") for string in strings]  # a Python string may hold half a pair
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
        Rows among these that could not be read, if the reader passes over such rows.
    coded_labels : CategoricalColumn or None
        The labels once more as codes, if the reader has them so. Then `labels` can be replaced, but not written to.
    """

    source: str
    lines: np.ndarray
    labels: np.ndarray | None
    rejects: list[Reject] = field(default_factory=list, kw_only=True)
    coded_labels: CategoricalColumn | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, part: slice | np.ndarray) -> Self:
        """Some rows, consecutive ones or those of these indices, in any order; without the rejects."""
        changes = self._cut(part)
        if self._are_labels_coded:
            assert self.coded_labels is not None
            changes["coded_labels"] = self.coded_labels[part]
            changes["labels"] = changes["coded_labels"].strings
        else:
            changes["labels"] = None if self.labels is None else self.labels[part]
        return replace(self, lines=self.lines[part], rejects=[], **changes)

    def after(self, n: int) -> Self:
        """Return the block without its first n rows, with its rejects."""
        return replace(self[n:], rejects=self.rejects)

    @abstractmethod
    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        """Return what `[]` changes besides lines and labels."""

    @property
    def _are_labels_coded(self) -> bool:
        """Whether `coded_labels` are those of `labels`: neither replaced by others, nor in a copy by pickle, which can
        be written to."""
        if self.coded_labels is None or self.labels is None:
            return False
        return self.labels is self.coded_labels.strings and not self.labels.flags.writeable

    def encode_labels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the sorted classes among the labels, and for each row the index of its class."""
        if self._are_labels_coded:
            assert self.coded_labels is not None
            return self.coded_labels.sorted_classes()
        assert self.labels is not None
        return encode_labels(self.labels)


@dataclass(frozen=True, eq=False)
class SparseBlock(Block):
    """Rows of a format whose features have numbers: column j of `rows` is feature j.

    `squared_norms` are those of the rows, as `Rows` has them, if the reader has computed them; a copy with other rows
    has none.
    """

    rows: sp.csr_array
    squared_norms: np.ndarray | None = field(default=None, init=False)

    @classmethod
    def with_norms(
        cls,
        source: str,
        lines: np.ndarray,
        labels: np.ndarray,
        rows: sp.csr_array,
        squared_norms: np.ndarray,
        rejects: list[Reject],
    ) -> SparseBlock:
        """Return a block whose squared norms are known."""
        block = cls(source, lines, labels, rows, rejects=rejects)
        object.__setattr__(block, "squared_norms", squared_norms)
        return block

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        return {"rows": self.rows[part]}


@dataclass(frozen=True, eq=False)
class TableBlock(Block):
    """Rows of a table: its columns by name, without the target.

    A numeric column is an array of doubles, NaN where a cell is missing; others are a `CategoricalColumn` or a
    `TextColumn`. The first block decides what a column holds.

    Attributes
    ----------
    is_loose : bool
        Whether a column that is not there counts as missing in every row, as in JSON lines, where a row names what it
        has; else a table without a column that the model knows is a mistake.
    numbers : NumberMatrix or None
        The numeric columns once more, row-major, if the reader has them so. Columns can be replaced; those of Parquet
        and Arrow files cannot be written to.
    """

    columns: dict[str, AnyColumn]
    is_loose: bool = field(default=False, kw_only=True)
    numbers: NumberMatrix | None = field(default=None, kw_only=True)

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        if self.numbers is None or not self.numbers.matches(self.numbers.names, self.columns):
            return {"columns": {name: column[part] for name, column in self.columns.items()}, "numbers": None}
        numbers = self.numbers[part]
        columns = {
            name: numbers.columns[name] if name in numbers.columns else column[part]
            for name, column in self.columns.items()
        }
        return {"columns": columns, "numbers": numbers}


@dataclass(frozen=True, eq=False)
class NamedBlock(Block):
    """Rows of a format whose features have names, any number of them in a row: Vowpal Wabbit's text.

    Entry p of the block is feature `names[p]` of namespace `namespaces[namespace_of[p]]`, both as begin and end in
    `memory`, and has the value `values[p]`. Those of row i are indptr[i] to indptr[i + 1]. A name may be there twice in
    a row: its values add up.

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
    namespace_of: np.ndarray  # int32
    namespaces: np.ndarray  # int32, two per namespace
    key: Key = field(default=KEY, kw_only=True)

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        return self._entries(np.arange(len(self))[part])

    def select(self, rows: np.ndarray, rejects: list[Reject]) -> NamedBlock:
        """Some rows, by index, and these rejects."""
        labels = None if self.labels is None else self.labels[rows]
        return replace(self, lines=self.lines[rows], labels=labels, rejects=rejects, **self._entries(rows))

    def _entries(self, rows: np.ndarray) -> dict[str, Any]:
        sizes = np.diff(self.indptr)[rows]
        ends = np.cumsum(sizes)
        entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.indptr[rows] - (ends - sizes), sizes)
        parts = {name: getattr(self, name)[entries] for name in ("names", "hashes", "values", "namespace_of")}
        parts |= {"distinct": self.distinct[rows], "squared_norms": self.squared_norms[rows]}
        return {"indptr": np.concatenate([[0], ends]).astype(np.int32), **parts}

    def dicts(self) -> list[dict[str, float]]:
        """Every row as a dict of names, `namespace^feature` as Vowpal Wabbit shows them, and values."""
        text = self.memory.tobytes()
        names, namespaces = (
            [text[begin:end].decode() for begin, end in spans.tolist()] for spans in (self.names, self.namespaces)
        )
        full = [
            name_in_namespace(namespaces[k], name) for k, name in zip(self.namespace_of.tolist(), names, strict=True)
        ]
        rows: list[dict[str, float]] = []
        for begin, end in itertools.pairwise(self.indptr.tolist()):
            row: dict[str, float] = {}
            for name, value in zip(full[begin:end], self.values[begin:end].tolist(), strict=True):
                row[name] = row.get(name, 0.0) + value
            rows.append(row)
        return rows
