"""Writers of delimited text: CSV, TSV, and plain label<TAB>text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np

from novikoff.data.formats.block import AnyColumn, Block, TableBlock
from novikoff.data.writing.feature_numbers import format_labels, to_one_line
from novikoff.data.writing.shortest_decimals import format_numbers
from novikoff.data.writing.table_header import TableHeader, kind_of
from novikoff.data.writing.writer import BlockWriter, TableWriter
from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list

__all__ = ["DelimitedWriter", "LabelAndTextWriter"]

_MISLEADING = frozenset("';|\t")  # in a header, to a reader that sniffs quotes and delimiters


class DelimitedWriter(TableWriter):
    """Writes a header, then a line for each row, the label last; missing cells are empty, quotes where needed."""

    def __init__(self, file: BinaryIO, label: str, header: TableHeader, delimiter: str) -> None:
        super().__init__(file, label, header)
        self.delimiter = delimiter
        self._width = 0

    def write(self, block: Block) -> None:
        for part, columns in self.header.parts(block):
            cells = [_cells(column, part.stop - part.start) for column in columns]
            if block.labels is not None:
                cells.append(format_labels(block.labels[part]))
            self._require_width(len(cells), block)
            self._write_lines(zip(*cells, strict=True))

    def _write_lines(self, rows: Iterable[Sequence[str]], quoting: Any = csv.QUOTE_MINIMAL) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
        self.file.write(text.getvalue().encode())

    def _require_width(self, width: int, block: Block) -> None:
        """Write the header before the first row; refuse rows that do not fit it after that."""
        if not self._width:
            names = [*self.header.kinds, *([] if block.labels is None else [self.label])]
            quoting = csv.QUOTE_MINIMAL if _MISLEADING.isdisjoint("".join(names)) else csv.QUOTE_ALL
            self._write_lines([names], quoting)
            self._width = width
        elif width != self._width:
            raise DataError(
                f"{block.source}: some of the files have labels and some have none. Convert them one by one."
            )


def _cells(column: AnyColumn | None, n: int) -> list[str]:
    if column is None:
        return [""] * n
    if isinstance(column, np.ndarray):
        return format_numbers(column)
    return ["" if cell is None else cell for cell in column.tolist()]


class LabelAndTextWriter(BlockWriter):
    """Writes lines of a label, a tab and a text, without a header."""

    def write(self, block: Block) -> None:
        texts = self._text_column(block)
        assert block.labels is not None
        pairs = zip(format_labels(block.labels), texts.tolist(), strict=True)
        self.file.write("".join(f"{to_one_line(label)}\t{to_one_line(text or '')}\n" for label, text in pairs).encode())

    def _text_column(self, block: Block) -> AnyColumn:
        """Return the only column besides the labels."""
        columns = block.columns if isinstance(block, TableBlock) else {}
        if block.labels is None or len(columns) != 1 or kind_of(*columns.values()) == "number":
            found = f"its columns are {quoted_list(list(columns))}" if columns else "it has no column of text"
            raise DataError(
                f"{block.source}: lines of label and text take a label and one column of text or words; "
                f"{found}, {'with' if block.labels is not None else 'without'} labels. Leave out the "
                "others, or write another format."
            )
        [column] = columns.values()
        return column
