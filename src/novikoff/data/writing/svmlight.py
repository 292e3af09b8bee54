"""svmlight: rows `label index:value ...`, the names of what had any in a list beside."""

from __future__ import annotations

import itertools
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp

from novikoff.data.formats.block import Block, NamedBlock, SparseBlock, TableBlock, Texts, Words
from novikoff.data.writing.feature_numbers import LabelCodes, Numbering
from novikoff.data.writing.shortest_decimals import number_texts
from novikoff.data.writing.writer import Writer
from novikoff.errors import DataError

__all__ = ["SvmlightWriter"]


class SvmlightWriter(Writer):
    """Features that have numbers keep them. Others are numbered from 1: a table's columns of numbers first, then words
    as column=word and missing numbers as column is missing, in the order in which rows bring them."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        super().__init__(file, label)
        self.names, self.labels = Numbering(), LabelCodes()
        self._kind: type | None = None

    def write(self, block: Block) -> None:
        if self._kind not in (None, type(block)):
            raise DataError(
                f"{block.source}: this file is of another kind than those before it. Convert them one by one."
            )
        self._kind = type(block)
        labels = self.labels.of_block(block) or itertools.repeat("0", len(block))
        rows = self._rows(block)
        pairs = [
            f" {index}:{value}" for index, value in zip(rows.indices.tolist(), number_texts(rows.data), strict=True)
        ]
        ends = itertools.pairwise(rows.indptr.tolist())
        lines = (f"{label or 0}{''.join(pairs[begin:end])}\n" for label, (begin, end) in zip(labels, ends, strict=True))
        self.file.write("".join(lines).encode())

    def _rows(self, block: Block) -> sp.csr_array:
        """With ascending indices, as others' readers want them."""
        if isinstance(block, SparseBlock):
            return block.rows.sorted_indices()
        return (self._of_named(block) if isinstance(block, NamedBlock) else self._of_table(block)).sorted_indices()

    def _of_named(self, block: NamedBlock) -> sp.csr_array:
        rows = block.dicts()
        indices = [self.names.number(name) for row in rows for name in row]
        values = [value for row in rows for value in row.values()]
        return _csr(values, indices, [len(row) for row in rows])

    def _of_table(self, block: Block) -> sp.csr_array:
        assert isinstance(block, TableBlock)
        if not block.is_loose:
            for name, column in block.columns.items():
                if isinstance(column, np.ndarray):
                    self.names.number(name)
        features = [found for name, column in block.columns.items() for found in _features(block, name, column)]
        self._number_in_order_of_rows(features)
        n, k = len(block), len(features)
        indices, values = np.zeros((n, k), np.int64), np.zeros((n, k))
        for j, (names, codes, numbers) in enumerate(features):
            indices[:, j] = np.array([*(self.names.places.get(name, 0) for name in names), 0], np.int64)[codes]
            values[:, j] = numbers
        used = (values != 0.0) & (indices > 0)
        return _csr(values[used], indices[used], used.sum(axis=1))

    def _number_in_order_of_rows(self, features: list[_Feature]) -> None:
        """Whatever the blocks: names that are new are numbered by the first row that has them."""
        new = []
        for j, (names, codes, numbers) in enumerate(features):
            there = np.flatnonzero((codes >= 0) & (numbers != 0.0))
            for code, at in zip(*np.unique(codes[there], return_index=True), strict=True):
                if names[code] not in self.names.places:
                    new.append((int(there[at]), j, names[code]))
        for _, _, name in sorted(new):
            self.names.number(name)

    def beside(self) -> dict[str, bytes]:
        """The names of indices and the labels of numbers, where there are any."""
        listings = {"names": self.names.listing(), "labels": self.labels.listing()}
        return {extension: listing for extension, listing in listings.items() if listing}


_Feature = tuple[list[str], np.ndarray, np.ndarray]  # names; which of them each row has, -1 for none; its value


def _features(block: TableBlock, name: str, column: object) -> list[_Feature]:
    """What becomes of a column. Rows that name what they have lack nothing: what they do not name is 0."""
    n = len(block)
    if isinstance(column, Texts):
        raise DataError(
            f"{block.source}: column {name!r} is text, for which svmlight has no place. Write vw or jsonl, "
            "or leave the column out."
        )
    if isinstance(column, Words):
        codes = column.codes if block.is_loose else np.where(column.codes < 0, len(column.values), column.codes)
        return [([f"{name}={word}" for word in [*column.values, "?"]], codes, np.ones(n))]
    assert isinstance(column, np.ndarray)
    lacks = np.isnan(column)
    found: list[_Feature] = [([name], np.zeros(n, np.int64), np.where(lacks, 0.0, column))]
    if lacks.any() and not block.is_loose:
        found.append(([f"{name} is missing"], np.where(lacks, 0, -1), np.ones(n)))
    return found


def _csr(
    values: list[float] | np.ndarray, indices: list[int] | np.ndarray, counts: list[int] | np.ndarray
) -> sp.csr_array:
    indptr = np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])
    indices = np.asarray(indices, np.int64)
    width = int(indices.max()) + 1 if len(indices) else 1
    return sp.csr_array((np.asarray(values, float), indices, indptr), shape=(len(indptr) - 1, width))
