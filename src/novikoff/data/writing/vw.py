"""Vowpal Wabbit's text: `label |namespace feature:value ...`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np

from novikoff.data.formats.block import Block, Column, NamedBlock, SparseBlock, TableBlock, Texts, Words
from novikoff.data.writing.feature_numbers import LabelCodes
from novikoff.data.writing.shortest_decimals import number_texts
from novikoff.data.writing.writer import Writer

__all__ = ["VowpalWriter"]

_RESERVED = re.compile(r"[\s|:]")


class VowpalWriter(Writer):
    """A table's numbers are column:value, its words column=word, missing numbers column_is_missing; a column of text is
    a namespace of its words. Blanks, | and : in names become _."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        super().__init__(file, label)
        self.labels = LabelCodes()

    def write(self, block: Block) -> None:
        labels = self.labels.of_block(block)
        heads = itertools.repeat("|", len(block)) if labels is None else (f"{label} |".lstrip() for label in labels)
        self.file.write("".join(f"{head}{row}\n" for head, row in zip(heads, _rows(block), strict=True)).encode())

    def beside(self) -> dict[str, bytes]:
        """The labels of numbers, if there are any."""
        return {"labels": self.labels.listing()} if self.labels.codes else {}


def _rows(block: Block) -> Iterable[str]:
    """What comes after the first |."""
    if isinstance(block, NamedBlock):
        return _of_named(block)
    if isinstance(block, SparseBlock):
        return _of_sparse(block)
    assert isinstance(block, TableBlock)
    return _of_table(block)


def _of_table(block: TableBlock) -> Iterable[str]:
    plain = [
        _features(name, column, block.is_loose)
        for name, column in block.columns.items()
        if not isinstance(column, Texts)
    ]
    texts = [_namespace(name, column) for name, column in block.columns.items() if isinstance(column, Texts)]
    empty = [""] * len(block)
    for row in zip(empty, *plain, *texts, strict=True):
        yield "".join(row)


def _features(name: str, column: Column, is_loose: bool) -> list[str]:
    """A column's part of every row, with a blank before it."""
    name = _allowed(name)
    if isinstance(column, Words):
        parts = [*(f" {name}={_allowed(word)}" for word in column.values), "" if is_loose else f" {name}=?"]
        return [parts[code] for code in column.codes.tolist()]
    assert isinstance(column, np.ndarray)
    parts = [f" {name}:{text}" for text in number_texts(column)]
    for row in np.flatnonzero(column == 0.0).tolist():
        parts[row] = ""
    for row in np.flatnonzero(np.isnan(column)).tolist():
        parts[row] = "" if is_loose else f" {name}_is_missing"
    return parts


def _namespace(name: str, column: Texts) -> list[str]:
    head = f" |{_allowed(name)} "
    return [head + " ".join(map(_allowed, text.split())) if text and text.split() else "" for text in column.tolist()]


def _of_sparse(block: SparseBlock) -> Iterable[str]:
    pairs = [
        f" {index}:{value}"
        for index, value in zip(block.rows.indices.tolist(), number_texts(block.rows.data), strict=True)
    ]
    for begin, end in itertools.pairwise(block.rows.indptr.tolist()):
        yield "".join(pairs[begin:end])


def _of_named(block: NamedBlock) -> Iterable[str]:
    """As it was, each namespace where it began."""
    text = block.memory.tobytes()
    names, spaces = (
        [text[begin:end].decode() for begin, end in spans.tolist()] for spans in (block.names, block.spaces)
    )
    pairs = [
        name if value == "1" else f"{name}:{value}"
        for name, value in zip(names, number_texts(block.values), strict=True)
    ]
    owners = block.space_of.tolist()
    for begin, end in itertools.pairwise(block.indptr.tolist()):
        groups = itertools.groupby(range(begin, end), owners.__getitem__)
        yield " |".join(f"{spaces[space]} {' '.join(pairs[p] for p in entries)}" for space, entries in groups)


def _allowed(name: str) -> str:
    return _RESERVED.sub("_", name)
