"""TableBlockBuilder: the arrays of a block of delimited text, filled by compiled code or from records.

Numbers in another notation than the plain one come as strings, and are converted when the block is complete: all
different strings of a column at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from novikoff._compiled.loops import delimited as loops
from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.columns import missing_label_error
from novikoff.data.formats.csv_cells import Record
from novikoff.data.formats.delimited_layout import DelimitedLayout, number_error, parse_number, string_or_none
from novikoff.data.formats.lines import count_lines, line_from
from novikoff.data.formats.notations import parse_cells
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.formats.rejects import Reject, RowError
from novikoff.data.formats.sniffing import MISSING, is_number

__all__ = ["LateCell", "TableBlockBuilder", "targets_of"]

_ROWS = 1 << 16  # in a block, at most


@dataclass(frozen=True)
class LateCell:
    """A cell that is not written as the first cells of its column are, and what it was taken for."""

    column: int
    line: int
    cell: str
    number: float  # NaN if it counts as missing


def targets_of(layout: DelimitedLayout) -> loops.ColumnTargets:
    """Return where the cells of each column go."""
    kinds = np.full(len(layout.names), loops.IGNORED_CELLS, np.int8)
    indices = np.zeros(len(layout.names), np.int64)
    for at, k in enumerate(_number_columns(layout)):
        kinds[k], indices[k] = loops.NUMBER_CELLS, at
    if layout.target is not None:
        kinds[layout.target] = loops.NUMERIC_LABELS
    for k in (*layout.used, *([] if layout.target is None else [layout.target])):
        if layout.kinds[k] != "number" or layout.is_disguised(k):
            kinds[k] = loops.STRING_CELLS
    is_string = kinds == loops.STRING_CELLS
    indices = np.where(is_string, is_string.cumsum() - 1, indices)
    return loops.ColumnTargets(kinds, indices, -1 if layout.target is None else layout.target)


def _number_columns(layout: DelimitedLayout) -> list[int]:
    """Return the columns of numbers besides the target, in any notation."""
    return [k for k in layout.used if layout.kinds[k] == "number"]


@dataclass(eq=False)
class TableBlockBuilder:
    """The arrays of a block that is being read: n rows so far."""

    layout: DelimitedLayout
    targets: loops.ColumnTargets
    arrays: loops.TableArrays
    n: int = 0
    rejects: list[Reject] = field(default_factory=list)
    # The strings of records that the csv module has split, by row and column of `spans`: they differ from the text.
    decoded: dict[tuple[int, int], str] = field(default_factory=dict)
    late: dict[int, LateCell] = field(default_factory=dict)  # the first of each column

    @classmethod
    def for_text(
        cls, text: bytearray, at: int, layout: DelimitedLayout, targets: loops.ColumnTargets
    ) -> TableBlockBuilder:
        """Return a builder with enough memory for the rows of a text from an offset on, or for as many as a block
        has."""
        n = min(count_lines(text, at) + 1, (len(text) - at) // len(targets.kinds) + 1, _ROWS)
        has_numeric_labels = layout.target is not None and layout.kinds[layout.target] == "number"
        arrays = loops.TableArrays(
            lines=np.empty(n, np.int64),
            numbers=np.empty((n, len(_number_columns(layout)))),
            labels=np.empty(n if has_numeric_labels else 0),
            spans=np.empty((n, int((targets.kinds == loops.STRING_CELLS).sum()), 2), np.int32),
        )
        return cls(layout, targets, arrays)

    def add_record(self, record: Record) -> None:
        """Write the row of a record that the csv module has split."""
        decoded = {}
        for k, (kind, column, cell) in enumerate(
            zip(self.targets.kinds, self.targets.indices, record.cells, strict=True)
        ):
            is_label = k == self.targets.required
            if is_label and string_or_none(cell) is None:
                raise missing_label_error(self.layout.location(record.line, k), self.layout.names[k])
            if kind in (loops.NUMBER_CELLS, loops.NUMERIC_LABELS) or (
                kind == loops.STRING_CELLS and self.layout.is_disguised(k)
            ):
                number = self._parse(cell, record.line, k)
            if kind == loops.NUMBER_CELLS:
                self.arrays.numbers[self.n, column] = number
            elif kind == loops.NUMERIC_LABELS:
                self.arrays.labels[self.n] = number
            elif kind == loops.STRING_CELLS:
                self.arrays.spans[self.n, column] = -1
                if (string := string_or_none(cell)) is not None:
                    decoded[self.n, int(column)] = string
        self.decoded |= decoded
        self.arrays.lines[self.n] = record.line
        self.n += 1

    def _parse(self, cell: str, line: int, k: int) -> float:
        number = parse_number(cell, self.layout, line, k)
        if k == self.targets.required and number != number:  # a word that stands for a missing number
            raise number_error(cell, self.layout, line, k)
        if not (is_number(cell) or cell.lower() in MISSING or self.layout.is_disguised(k)):
            self.late.setdefault(k, LateCell(k, line, cell, number))
        return number

    def convert_numbers(self, text: bytearray, bad_rows: str) -> RowError | None:
        """Convert the numbers that came as strings. Rows where one cannot be converted become rejects; or, if
        `bad_rows` is "stop", the first of them ends the block, and its error is returned."""
        wrong: dict[int, RowError] = {}
        for k in range(len(self.layout.names)):
            if self.targets.kinds[k] == loops.STRING_CELLS and self.layout.is_disguised(k):
                wrong = self._convert_column(k, text) | wrong
        if wrong and bad_rows == "stop":
            first = min(wrong)
            self._keep(np.arange(first))
            return wrong[first]
        for row, error in wrong.items():
            line = int(self.arrays.lines[row])
            self.rejects.append(Reject.from_error(line, error, self._line_of(row, text)))
        if wrong:
            self.rejects.sort(key=lambda reject: reject.line)
            self._keep(np.setdiff1d(np.arange(self.n), list(wrong)))
        return None

    def _convert_column(self, k: int, text: bytearray) -> dict[int, RowError]:
        """Convert the numbers of a column; return the rows that have none, and why."""
        strings = _categorical_column(*self._strings(k), text)
        values = np.append(parse_cells(strings.values, self.layout.columns[k].notation), np.nan)
        numbers, is_label = values[strings.codes], k == self.targets.required
        if is_label:
            self.arrays.labels[: self.n] = numbers
        else:
            self.arrays.numbers[: self.n, _number_columns(self.layout).index(k)] = numbers
        is_wrong = np.abs(values) >= VALUE_LIMIT
        if is_label:
            is_wrong |= np.isnan(values)  # compiled code has refused rows without a label
        elif not self.layout.columns[k].placeholders:
            self._note_placeholder(k, strings, values)
        lines = self.arrays.lines
        return {
            row: number_error(strings.values[strings.codes[row]], self.layout, int(lines[row]), k)
            for row in np.flatnonzero(is_wrong[strings.codes]).tolist()
        }

    def _note_placeholder(self, k: int, strings: CategoricalColumn, values: np.ndarray) -> None:
        """Note the first cell of a column that counts as missing though it is not empty."""
        rows = np.flatnonzero(np.isnan(values)[strings.codes] & (strings.codes >= 0))
        if len(rows):
            cell = strings.values[strings.codes[rows[0]]]
            self.late.setdefault(k, LateCell(k, int(self.arrays.lines[rows[0]]), cell, np.nan))

    def _line_of(self, row: int, text: bytearray) -> bytes:
        """Return the line of a row that compiled code has read, which is all of the row."""
        begin = int(self.arrays.spans[row].max())
        start = max(text.rfind(b"\n", 0, begin), text.rfind(b"\r", 0, begin)) + 1
        return line_from(text, start)

    def _keep(self, rows: np.ndarray) -> None:
        """Keep only some rows, by their indices, which rise."""
        arrays, n = self.arrays, len(rows)
        for array in (arrays.lines, arrays.numbers, arrays.labels, arrays.spans):
            if len(array):
                array[:n] = array[rows]
        position_of = {row: at for at, row in enumerate(rows.tolist())}
        self.decoded = {
            (position_of[row], column): string for (row, column), string in self.decoded.items() if row in position_of
        }
        self.n = n

    def build(self, text: bytearray) -> TableBlock:
        """Return the block of all rows so far."""
        layout = self.layout
        names = [layout.names[k] for k in _number_columns(layout)]
        numbers = NumberMatrix(names, self.arrays.numbers[: self.n])
        columns = {layout.names[k]: self._column(k, numbers, text) for k in layout.used}
        labels: np.ndarray | None = None
        coded_labels: CategoricalColumn | None = None
        if layout.target is not None and layout.kinds[layout.target] == "number":
            labels = self.arrays.labels[: self.n]
        elif layout.target is not None:
            coded_labels = _categorical_column(*self._strings(layout.target), text)
            labels = coded_labels.strings
        return TableBlock(
            layout.name,
            self.arrays.lines[: self.n],
            labels,
            columns,
            rejects=self.rejects,
            coded_labels=coded_labels,
            numbers=numbers,
        )

    def _column(self, k: int, numbers: NumberMatrix, text: bytearray) -> AnyColumn:
        if self.layout.kinds[k] == "number":
            return numbers.columns[self.layout.names[k]]
        make = _text_column if self.layout.kinds[k] == "text" else _categorical_column
        return make(*self._strings(k), text)

    def _strings(self, k: int) -> tuple[np.ndarray, dict[int, str]]:
        """Return the spans of the strings of column k, and those strings that the csv module has decoded, by row."""
        column = self.targets.indices[k]
        decoded = {row: string for (row, other), string in self.decoded.items() if other == column}
        return np.ascontiguousarray(self.arrays.spans[: self.n, column]), decoded


def _categorical_column(spans: np.ndarray, decoded: dict[int, str], text: bytearray) -> CategoricalColumn:
    column = CategoricalColumn.from_spans(text, spans)
    code_of = {value: code for code, value in enumerate(column.values)} if decoded else {}
    for row, string in decoded.items():
        column.codes[row] = code_of.setdefault(string, len(code_of))
    return CategoricalColumn(column.codes, list(code_of)) if decoded else column


def _text_column(spans: np.ndarray, decoded: dict[int, str], text: bytearray) -> TextColumn:
    """Return the texts where they are in the file; those that the csv module has decoded are added at the end of a
    copy."""
    memory = text
    if decoded:
        memory = bytearray(text)
        for row, string in decoded.items():
            spans[row] = len(memory), len(memory) + len(string.encode())
            memory += string.encode()
    return TextColumn(np.frombuffer(memory, np.uint8), spans)
