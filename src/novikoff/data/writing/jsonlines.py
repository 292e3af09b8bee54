"""Writer of JSON lines: an object for each row."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable

import numpy as np

from novikoff.data.formats.block import AnyColumn, Block, CategoricalColumn, NamedBlock, SparseBlock, TableBlock
from novikoff.data.writing.shortest_decimals import format_number, format_numbers
from novikoff.data.writing.writer import BlockWriter, require_unused_name

__all__ = ["JsonLinesWriter"]


class JsonLinesWriter(BlockWriter):
    """Writes an object for each row, the label last; missing cells of a table are null."""

    def write(self, block: Block) -> None:
        labels = _label_members(self.label, block.labels, len(block))
        rows = zip(self._members(block), labels, strict=True)
        lines = ("{" + ", ".join(itertools.chain(filter(None, members), label)) + "}\n" for members, label in rows)
        self.file.write("".join(lines).encode())

    def _members(self, block: Block) -> Iterable[Iterable[str]]:
        """Return the members of every object as JSON; empty strings are left out."""
        if isinstance(block, SparseBlock):
            return _sparse_members(block)
        if isinstance(block, NamedBlock):
            return self._named_members(block)
        assert isinstance(block, TableBlock)
        if block.labels is not None:
            require_unused_name(self.label, block.columns, block.source)
        return _table_members(block)

    def _named_members(self, block: NamedBlock) -> Iterable[list[str]]:
        for row, line in zip(block.dicts(), block.lines.tolist(), strict=True):
            if block.labels is not None:
                require_unused_name(self.label, row, f"{block.source}:{line}")
            yield [f"{_quote(name)}: {format_number(value)}" for name, value in row.items()]


def _table_members(block: TableBlock) -> Iterable[Iterable[str]]:
    if not block.columns:
        return itertools.repeat((), len(block))
    return zip(*(_column_members(name, column, block.is_loose) for name, column in block.columns.items()), strict=True)


def _column_members(name: str, column: AnyColumn, is_loose: bool) -> list[str]:
    """Return a column as members of objects. In loose blocks, missing ones are left out."""
    key = f"{_quote(name)}: "
    missing = "" if is_loose else f"{key}null"
    if isinstance(column, np.ndarray):
        members = [key + text for text in format_numbers(column, "null")]
        return [missing if member == f"{key}null" else member for member in members] if is_loose else members
    if isinstance(column, CategoricalColumn):
        known = [*(key + _quote(value) for value in column.values), missing]  # code -1 finds the last
        return [known[code] for code in column.codes.tolist()]
    return [missing if cell is None else key + _quote(cell) for cell in column.tolist()]


def _sparse_members(block: SparseBlock) -> Iterable[list[str]]:
    members = [
        f'"{index}": {value}'
        for index, value in zip(block.rows.indices.tolist(), format_numbers(block.rows.data), strict=True)
    ]
    for begin, end in itertools.pairwise(block.rows.indptr.tolist()):
        yield members[begin:end]


def _label_members(name: str, labels: np.ndarray | None, n: int) -> Iterable[tuple[str, ...]]:
    if labels is None:
        return itertools.repeat((), n)
    texts = format_numbers(labels, "null") if labels.dtype != object else [_quote(label) for label in labels.tolist()]
    return ((f"{_quote(name)}: {text}",) for text in texts)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
