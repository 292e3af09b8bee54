"""Writer of svmlight files: rows `label index:value ...`, and names in a file OUTPUT.names."""

from __future__ import annotations

import itertools
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp

from novikoff.data.feature_names import MISSING_VALUE, category_name, missing_name
from novikoff.data.formats.block import Block, CategoricalColumn, NamedBlock, SparseBlock, TableBlock, TextColumn
from novikoff.data.writing.feature_numbers import FeatureNumbers, LabelCodes
from novikoff.data.writing.shortest_decimals import format_numbers
from novikoff.data.writing.writer import BlockWriter
from novikoff.errors import DataError

__all__ = ["SvmlightWriter"]


class SvmlightWriter(BlockWriter):
    """Writes rows `label index:value ...`. Features that are numbers keep them. Others are numbered from 1: the numeric
    columns of a table first, then values of categories and missing numbers, in the order in which rows bring them."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        super().__init__(file, label)
        self.names, self.labels = FeatureNumbers(), LabelCodes()
        self._kind: type | None = None

    def write(self, block: Block) -> None:
        if self._kind not in (None, type(block)):
            raise DataError(
                f"{block.source}: this file is of another kind than those before it. Convert them one by one."
            )
        self._kind = type(block)
        labels = self.labels.encode_block(block) or itertools.repeat("0", len(block))
        rows = self._rows(block)
        pairs = [
            f" {index}:{value}" for index, value in zip(rows.indices.tolist(), format_numbers(rows.data), strict=True)
        ]
        ends = itertools.pairwise(rows.indptr.tolist())
        lines = (f"{label or 0}{''.join(pairs[begin:end])}\n" for label, (begin, end) in zip(labels, ends, strict=True))
        self.file.write("".join(lines).encode())

    def _rows(self, block: Block) -> sp.csr_array:
        """Return rows with ascending indices, as other readers of svmlight expect."""
        if isinstance(block, SparseBlock):
            return block.rows.sorted_indices()
        rows = self._rows_of_names(block) if isinstance(block, NamedBlock) else self._rows_of_table(block)
        return rows.sorted_indices()

    def _rows_of_names(self, block: NamedBlock) -> sp.csr_array:
        rows = block.dicts()
        indices = [self.names.number(name) for row in rows for name in row]
        values = [value for row in rows for value in row.values()]
        return _csr(values, indices, [len(row) for row in rows])

    def _rows_of_table(self, block: Block) -> sp.csr_array:
        assert isinstance(block, TableBlock)
        if not block.is_loose:
            for name, column in block.columns.items():
                if isinstance(column, np.ndarray):
                    self.names.number(name)
        features = [found for name, column in block.columns.items() for found in _features_of(block, name, column)]
        self._number_in_order_of_rows(features)
        n, k = len(block), len(features)
        indices, values = np.zeros((n, k), np.int64), np.zeros((n, k))
        for j, (names, codes, numbers) in enumerate(features):
            indices[:, j] = np.array([*(self.names.number_of.get(name, 0) for name in names), 0], np.int64)[codes]
            values[:, j] = numbers
        used = (values != 0.0) & (indices > 0)
        return _csr(values[used], indices[used], used.sum(axis=1))

    def _number_in_order_of_rows(self, features: list[_Feature]) -> None:
        """Number new names by the first row that has them, so that the numbers do not depend on the blocks."""
        new = []
        for j, (names, codes, numbers) in enumerate(features):
            rows = np.flatnonzero((codes >= 0) & (numbers != 0.0))
            for code, at in zip(*np.unique(codes[rows], return_index=True), strict=True):
                if names[code] not in self.names.number_of:
                    new.append((int(rows[at]), j, names[code]))
        for _, _, name in sorted(new):
            self.names.number(name)

    def side_files(self) -> dict[str, bytes]:
        """Return the names of indices and the labels of numbers, where there are any."""
        contents = {"names": self.names.to_lines(), "labels": self.labels.to_lines()}
        return {extension: lines for extension, lines in contents.items() if lines}


_Feature = tuple[list[str], np.ndarray, np.ndarray]  # names; which of them each row has, -1 for none; its value


def _features_of(block: TableBlock, name: str, column: object) -> list[_Feature]:
    """Return the features of a column. In loose blocks nothing is missing: what a row does not name is 0."""
    n = len(block)
    if isinstance(column, TextColumn):
        raise DataError(
            f"{block.source}: column {name!r} is text, which svmlight cannot hold. Write vw or jsonl, "
            "or leave the column out."
        )
    if isinstance(column, CategoricalColumn):
        codes = column.codes if block.is_loose else np.where(column.codes < 0, len(column.values), column.codes)
        return [([category_name(name, value) for value in [*column.values, MISSING_VALUE]], codes, np.ones(n))]
    assert isinstance(column, np.ndarray)
    is_missing = np.isnan(column)
    found: list[_Feature] = [([name], np.zeros(n, np.int64), np.where(is_missing, 0.0, column))]
    if is_missing.any() and not block.is_loose:
        found.append(([missing_name(name)], np.where(is_missing, 0, -1), np.ones(n)))
    return found


def _csr(
    values: list[float] | np.ndarray, indices: list[int] | np.ndarray, counts: list[int] | np.ndarray
) -> sp.csr_array:
    indptr = np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])
    indices = np.asarray(indices, np.int64)
    width = int(indices.max()) + 1 if len(indices) else 1
    return sp.csr_array((np.asarray(values, float), indices, indptr), shape=(len(indptr) - 1, width))
