"""Writer of Vowpal Wabbit's text: rows `label |namespace feature:value ...`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np

from novikoff.data.feature_names import MISSING_VALUE, category_name, missing_name
from novikoff.data.formats.block import (
    AnyColumn,
    Block,
    CategoricalColumn,
    NamedBlock,
    SparseBlock,
    TableBlock,
    TextColumn,
)
from novikoff.data.writing.feature_numbers import LabelCodes
from novikoff.data.writing.shortest_decimals import format_numbers
from novikoff.data.writing.writer import BlockWriter

__all__ = ["VowpalWriter"]

_RESERVED = re.compile(r"[\s|:]")


class VowpalWriter(BlockWriter):
    """Writes rows `label |namespace feature:value ...`. Numbers of a table are column:value, values of categories
    column=value, missing numbers column_is_missing; a text column is a namespace of its words. Blanks, | and : in names
    become _."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        super().__init__(file, label)
        self.labels = LabelCodes()

    def write(self, block: Block) -> None:
        labels = self.labels.encode_block(block)
        starts = itertools.repeat("|", len(block)) if labels is None else (f"{label} |".lstrip() for label in labels)
        self.file.write("".join(f"{start}{row}\n" for start, row in zip(starts, _rows(block), strict=True)).encode())

    def side_files(self) -> dict[str, bytes]:
        """Return the labels of numbers, if there are any."""
        return {"labels": self.labels.to_lines()} if self.labels.codes else {}


def _rows(block: Block) -> Iterable[str]:
    """Return for each row what comes after the first |."""
    if isinstance(block, NamedBlock):
        return _rows_of_names(block)
    if isinstance(block, SparseBlock):
        return _sparse_rows(block)
    assert isinstance(block, TableBlock)
    return _table_rows(block)


def _table_rows(block: TableBlock) -> Iterable[str]:
    plain = [
        _feature_texts(name, column, block.is_loose)
        for name, column in block.columns.items()
        if not isinstance(column, TextColumn)
    ]
    texts = [_namespace(name, column) for name, column in block.columns.items() if isinstance(column, TextColumn)]
    empty = [""] * len(block)
    for row in zip(empty, *plain, *texts, strict=True):
        yield "".join(row)


def _feature_texts(name: str, column: AnyColumn, is_loose: bool) -> list[str]:
    """Return the text of a column in every row, with a blank before it."""
    if isinstance(column, CategoricalColumn):
        missing = "" if is_loose else f" {_allowed(category_name(name, MISSING_VALUE))}"
        parts = [*(f" {_allowed(category_name(name, value))}" for value in column.values), missing]
        return [parts[code] for code in column.codes.tolist()]
    assert isinstance(column, np.ndarray)
    allowed_name, missing = _allowed(name), f" {_allowed(missing_name(name))}"
    parts = [f" {allowed_name}:{text}" for text in format_numbers(column)]
    for row in np.flatnonzero(column == 0.0).tolist():
        parts[row] = ""
    for row in np.flatnonzero(np.isnan(column)).tolist():
        parts[row] = "" if is_loose else missing
    return parts


def _namespace(name: str, column: TextColumn) -> list[str]:
    start = f" |{_allowed(name)} "
    return [start + " ".join(map(_allowed, text.split())) if text and text.split() else "" for text in column.tolist()]


def _sparse_rows(block: SparseBlock) -> Iterable[str]:
    pairs = [
        f" {index}:{value}"
        for index, value in zip(block.rows.indices.tolist(), format_numbers(block.rows.data), strict=True)
    ]
    for begin, end in itertools.pairwise(block.rows.indptr.tolist()):
        yield "".join(pairs[begin:end])


def _rows_of_names(block: NamedBlock) -> Iterable[str]:
    """Return rows as they were, with each namespace where it began."""
    text = block.memory.tobytes()
    names, spaces = (
        [text[begin:end].decode() for begin, end in spans.tolist()] for spans in (block.names, block.namespaces)
    )
    pairs = [
        name if value == "1" else f"{name}:{value}"
        for name, value in zip(names, format_numbers(block.values), strict=True)
    ]
    owners = block.namespace_of.tolist()
    for begin, end in itertools.pairwise(block.indptr.tolist()):
        groups = itertools.groupby(range(begin, end), owners.__getitem__)
        yield " |".join(f"{spaces[space]} {' '.join(pairs[p] for p in entries)}" for space, entries in groups)


def _allowed(name: str) -> str:
    return _RESERVED.sub("_", name)
