"""JSON lines: an object for each row."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable

import numpy as np

from novikoff.data.formats.block import Block, Column, NamedBlock, SparseBlock, TableBlock, Words
from novikoff.data.writing.shortest_decimals import number_text, number_texts
from novikoff.data.writing.writer import Writer, require_free

__all__ = ["JsonLinesWriter"]


class JsonLinesWriter(Writer):
    """Objects with what a row has, the label last; of a table's missing cells, null."""

    def write(self, block: Block) -> None:
        labels = _labels(self.label, block.labels, len(block))
        rows = zip(self._members(block), labels, strict=True)
        lines = ("{" + ", ".join(itertools.chain(filter(None, members), label)) + "}\n" for members, label in rows)
        self.file.write("".join(lines).encode())

    def _members(self, block: Block) -> Iterable[Iterable[str]]:
        """The members of every object as JSON; empty ones do not count."""
        if isinstance(block, SparseBlock):
            return _of_sparse(block)
        if isinstance(block, NamedBlock):
            return self._of_named(block)
        assert isinstance(block, TableBlock)
        if block.labels is not None:
            require_free(self.label, block.columns, block.source)
        return _of_table(block)

    def _of_named(self, block: NamedBlock) -> Iterable[list[str]]:
        for row, line in zip(block.dicts(), block.lines.tolist(), strict=True):
            if block.labels is not None:
                require_free(self.label, row, f"{block.source}:{line}")
            yield [f"{_text(name)}: {number_text(value)}" for name, value in row.items()]


def _of_table(block: TableBlock) -> Iterable[Iterable[str]]:
    if not block.columns:
        return itertools.repeat((), len(block))
    return zip(*(_column(name, column, block.is_loose) for name, column in block.columns.items()), strict=True)


def _column(name: str, column: Column, is_loose: bool) -> list[str]:
    """A column as members of objects. Rows that name what they have leave out what is missing."""
    key = f"{_text(name)}: "
    missing = "" if is_loose else f"{key}null"
    if isinstance(column, np.ndarray):
        members = [key + text for text in number_texts(column, "null")]
        return [missing if member == f"{key}null" else member for member in members] if is_loose else members
    if isinstance(column, Words):
        known = [*(key + _text(value) for value in column.values), missing]  # which -1 finds
        return [known[code] for code in column.codes.tolist()]
    return [missing if cell is None else key + _text(cell) for cell in column.tolist()]


def _of_sparse(block: SparseBlock) -> Iterable[list[str]]:
    members = [
        f'"{index}": {value}'
        for index, value in zip(block.rows.indices.tolist(), number_texts(block.rows.data), strict=True)
    ]
    for begin, end in itertools.pairwise(block.rows.indptr.tolist()):
        yield members[begin:end]


def _labels(name: str, labels: np.ndarray | None, n: int) -> Iterable[tuple[str, ...]]:
    if labels is None:
        return itertools.repeat((), n)
    texts = number_texts(labels, "null") if labels.dtype != object else [_text(label) for label in labels.tolist()]
    return ((f"{_text(name)}: {text}",) for text in texts)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
