"""Tables as text: CSV, TSV and their relatives, block by block.

A compiled loop reads the lines whose cells are plain or simply quoted. Any other it leaves to Python's csv module:
quotes within quotes, line feeds within quotes, and lines that are wrong, for which the message is made there.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from novikoff._compiled.loops import delimited as loops
from novikoff._compiled.loops.decimals import NEEDS_PYTHON
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.columns import missing_label_error
from novikoff.data.formats.csv_cells import (
    NO_QUOTE,
    CsvDialect,
    DelimitedLayout,
    IncompleteRecord,
    Record,
    parse_number,
    require_width,
    string_or_none,
)
from novikoff.data.formats.lines import (
    TextChunk,
    count_byte,
    count_lines,
    is_utf8,
    line_from,
    power_table,
    read_text_chunks,
)
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.formats.read_ahead import map_in_threads
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.rejects import Reject, RowError
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["TableReader"]

_ROWS = 1 << 16  # in a block, at most
_SAMPLE = 1 << 18  # bytes that decide the kinds of columns: a tenth of a second for four times as many
_FEWEST = 4  # records that decide them, if so many take more bytes


class TableReader(Reader[TableBlock]):
    """Blocks of rows from delimited text, the next ones parsed in threads while the caller works on this one.

    The constructor reads the first 256 kB, or of a pipe the first lines that come, and decides for good what the
    columns are: a column is numeric if all its cells that are not missing are numbers, or all but a tenth, so that a
    typing error is reported and not taken for a category; otherwise it is categorical or text. A later cell that does
    not fit is an error. Cells are missing if they are empty, ?, NA, N/A, NaN or null.

    Labels are doubles if all labels in these first lines are numbers, and a later one that is none is an error;
    otherwise they are strings, numbers among them too. A missing label is an error.

    Parameters
    ----------
    source : Source or path or "-"
    target : str or int or False, optional
        Name or number, from 1, of the column with the labels; by default the last. False if there is none.
    drop : sequence of str or int
        Columns to leave out.
    header : bool, optional
        Whether the first line names the columns; by default sniffed.
    types : dict of str to {"number", "word", "text"}, optional
        What columns hold, where the first lines may mislead.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.
    delimiter : str, optional
        Between cells; by default sniffed.

    Attributes
    ----------
    names, kinds : tuple of str
        Of all columns of the file, in its order.
    target_name : str or None
    delimiter : str
    has_header : bool

    Examples
    --------
    >>> from novikoff.data.formats.sources import Source
    >>> from novikoff.data.formats.delimited import TableReader
    >>> chunks = iter([b"sky,wind,sail\\nsun,3,yes\\nrain,NA,no\\n", b""])
    >>> reader = TableReader(Source("days.csv", lambda n: next(chunks)))
    >>> reader.names, reader.kinds, reader.target_name
    (('sky', 'wind', 'sail'), ('word', 'number', 'word'), 'sail')
    >>> [block] = reader
    >>> block.columns["sky"].tolist(), block.columns["wind"].tolist(), block.labels.tolist(), block.lines.tolist()
    (['sun', 'rain'], [3.0, nan], ['yes', 'no'], [2, 3])
    """

    _is_divisible = True

    def __init__(
        self,
        source: Source | str | os.PathLike[str],
        *,
        target: str | int | bool | None = None,
        drop: Sequence[str | int] = (),
        header: bool | None = None,
        types: Mapping[str, str] | None = None,
        bad_rows: str = "stop",
        delimiter: str | None = None,
    ) -> None:
        super().__init__(source, bad_rows)
        try:
            self._chunks = read_text_chunks(self.source, keep_returns=True)
            self._first, self._dialect, records = self._sniff(delimiter)
            self.layout = DelimitedLayout.from_records(
                records, self.name, target=target, drop=drop, header=header, types=types or {}
            )
        except BaseException:
            self.source.close()
            raise
        self.names, self.kinds, self.has_header = self.layout.names, self.layout.kinds, self.layout.has_header
        self.delimiter = self._dialect.delimiter
        self.target_name = None if self.layout.target is None else self.names[self.layout.target]
        self._targets = _targets_of(self.layout)

    def _sniff(self, delimiter: str | None) -> tuple[TextChunk, CsvDialect, list[Record]]:
        """The first lines, which are read again later, and the records in them: of a pipe, the first two that come."""
        text, size, is_last = bytearray(), _SAMPLE, False
        fewest = _FEWEST if self.source.is_steady else 2
        while True:
            wanted = size if self.source.is_steady else len(text) + 1
            while len(text) < wanted and not is_last:
                chunk = next(self._chunks, None)
                is_last = chunk is None
                text += chunk.text if chunk else b""
            sample = text[: size + len(line_from(text, size))]
            is_all = is_last and len(sample) == len(text)
            dialect = CsvDialect.sniff(sample, self.name, delimiter)
            records = dialect.read_sample(sample, is_all)
            if len(records) >= fewest or is_all:
                break
            size *= 2  # rows are long
        if not records:
            raise DataError(f"{self.name}: found no rows, only blank lines.")
        return TextChunk(text, 1), dialect, records

    def _blocks(self) -> Generator[TableBlock, None, None]:
        n_rows = 0
        with closing(self._parse_all()) as parsed_chunks:
            for parsed in parsed_chunks:
                for block in parsed.blocks:
                    n_rows += len(block) + len(block.rejects)
                    yield block
                if parsed.error is not None:
                    raise parsed.error
        if not n_rows:
            raise DataError(
                f"{self.name}: found a header line but no rows. If that line is data, say that there is no header."
            )

    def _parse_all(self) -> Generator[_ParsedTable, None, None]:
        """Parse all chunks, several at a time as if each began with a record. One that does not, because the chunk
        before it turns out to end within a record, is parsed again together with the rest of that."""
        rest = TextChunk(bytearray(), 1)
        chunks = self._chunks_after_header()
        if self._workers and self._dialect.quote != NO_QUOTE:
            chunks = _cut_outside_quotes(chunks, self._dialect.quote.encode())
        with closing(map_in_threads(self._parse, chunks, self._workers)) as parsed_chunks:
            for parsed in parsed_chunks:
                if rest.text:
                    parsed = self._parse(_join(rest, parsed.chunk))
                yield parsed
                rest = parsed.rest
        if rest.text:
            yield self._parse(rest, is_last=True)

    def _chunks_after_header(self) -> Iterator[TextChunk]:
        text, line = self._first.text, 1
        del self._first
        if self.has_header:
            header = self.layout.first
            text, line = text[header.at + header.size :], header.line + header.lines
        yield TextChunk(text, line)
        del text
        yield from self._chunks

    def _parse(self, chunk: TextChunk, *, is_last: bool = False) -> _ParsedTable:
        """The blocks of a chunk, as far as the first error, and that error."""
        blocks, at, line, is_whole, error = [], 0, chunk.line, True, None
        while at < len(chunk.text) and is_whole and error is None:
            builder = _TableBlockBuilder.for_text(chunk.text, at, self.layout, self._targets)
            at, line, is_whole, error = self._fill(builder, chunk.text, at, line, is_last)
            if builder.n or builder.rejects:
                blocks.append(builder.build(chunk.text))
        return _ParsedTable(chunk, blocks, TextChunk(chunk.text[at:], line), error)

    def _fill(
        self, builder: _TableBlockBuilder, text: bytearray, at: int, line: int, is_last: bool
    ) -> tuple[int, int, bool, RowError | None]:
        """Read rows from an offset on; return the offset after them, its line, whether the text does not end within a
        record, and the error that ended them."""
        quote = -1 if self._dialect.quote == NO_QUOTE else ord(self._dialect.quote)
        syntax = loops.CellSyntax(ord(self.delimiter), quote, is_utf8(text))
        array = np.frombuffer(text, np.uint8)
        while True:
            builder.n, at, line, status = loops.table_rows(
                array, at, line, builder.n, syntax, self._targets, power_table(), builder.arrays
            )
            if status != NEEDS_PYTHON:
                return at, line, True, None
            size, lines = len(line_from(text, at)), 1
            try:
                record = self._dialect.read_record(text, at, line, is_last)
                require_width(record, self.layout)
                size, lines = record.size, record.lines  # from here on all of the record is wrong, not only its quotes
                builder.add_record(record)
            except IncompleteRecord:
                return at, line, False, None
            except RowError as error:
                if self.bad_rows == "stop":
                    return at, line, True, error
                builder.rejects.append(Reject.from_error(line, error, bytes(text[at : at + size])))
            at, line = at + size, line + lines


@dataclass(frozen=True, eq=False)
class _ParsedTable:
    """What came of a chunk: blocks, the record that it ended within, and the error that ended it."""

    chunk: TextChunk
    blocks: list[TableBlock]
    rest: TextChunk
    error: RowError | None


def _cut_outside_quotes(chunks: Iterator[TextChunk], quote: bytes) -> Iterator[TextChunk]:
    """Move the end of a chunk that seems to be within quotes to before the line with the last quote, if their number
    has been odd so far. Where that is a mistake, it costs some time and nothing else."""
    rest, is_open = TextChunk(bytearray(), 1), False
    for chunk in chunks:
        is_open ^= quote in chunk.text and count_byte(chunk.text, quote) % 2 == 1
        text, line = _join(rest, chunk).text, rest.line if rest.text else chunk.line
        del chunk
        last = max(text.rfind(quote), 0) if is_open else len(text)
        end = max(text.rfind(b"\n", 0, last), text.rfind(b"\r", 0, last)) + 1 or len(text)
        rest = TextChunk(text[end:], line + count_lines(text[:end]) if end < len(text) else 0)
        del text[end:]
        yield TextChunk(text, line)
    if rest.text:
        yield rest


def _join(rest: TextChunk, chunk: TextChunk) -> TextChunk:
    """A chunk after the rest of the one before it."""
    return TextChunk(rest.text + chunk.text, rest.line) if rest.text else chunk


def _targets_of(layout: DelimitedLayout) -> loops.ColumnTargets:
    """Where the cells of each column go."""
    kinds = np.full(len(layout.names), loops.IGNORED_CELLS, np.int8)
    for k in layout.used:
        kinds[k] = loops.NUMBER_CELLS if layout.kinds[k] == "number" else loops.STRING_CELLS
    if layout.target is not None:
        is_number = layout.kinds[layout.target] == "number"
        kinds[layout.target] = loops.NUMERIC_LABELS if is_number else loops.STRING_CELLS
    is_number, is_string = kinds == loops.NUMBER_CELLS, kinds == loops.STRING_CELLS
    indices = np.where(is_number, is_number.cumsum(), is_string.cumsum()) - 1
    return loops.ColumnTargets(kinds, indices, -1 if layout.target is None else layout.target)


@dataclass(eq=False)
class _TableBlockBuilder:
    """The arrays of a block that is being read: n rows so far."""

    layout: DelimitedLayout
    targets: loops.ColumnTargets
    arrays: loops.TableArrays
    n: int = 0
    rejects: list[Reject] = field(default_factory=list)
    # The strings of records that the csv module has split, by row and column of `spans`: they differ from the text.
    decoded: dict[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def for_text(
        cls, text: bytearray, at: int, layout: DelimitedLayout, targets: loops.ColumnTargets
    ) -> _TableBlockBuilder:
        """A builder with enough memory for the rows of a text from an offset on, or for as many as a block has."""
        n = min(count_lines(text, at) + 1, (len(text) - at) // len(targets.kinds) + 1, _ROWS)
        n_numbers, n_labels, n_strings = (
            int((targets.kinds == kind).sum())
            for kind in (loops.NUMBER_CELLS, loops.NUMERIC_LABELS, loops.STRING_CELLS)
        )
        arrays = loops.TableArrays(
            lines=np.empty(n, np.int64),
            numbers=np.empty((n, n_numbers)),
            labels=np.empty(n if n_labels else 0),
            spans=np.empty((n, n_strings, 2), np.int32),
        )
        return cls(layout, targets, arrays)

    def add_record(self, record: Record) -> None:
        """Write the row of a record that the csv module has split."""
        decoded = {}
        for k, (kind, column, cell) in enumerate(
            zip(self.targets.kinds, self.targets.indices, record.cells, strict=True)
        ):
            if k == self.targets.required and string_or_none(cell) is None:
                raise missing_label_error(self.layout.location(record.line, k), self.layout.names[k])
            if kind == loops.NUMBER_CELLS:
                self.arrays.numbers[self.n, column] = parse_number(cell, self.layout, record.line, k)
            elif kind == loops.NUMERIC_LABELS:
                self.arrays.labels[self.n] = parse_number(cell, self.layout, record.line, k)
            elif kind == loops.STRING_CELLS:
                self.arrays.spans[self.n, column] = -1
                if (string := string_or_none(cell)) is not None:
                    decoded[self.n, int(column)] = string
        self.decoded |= decoded
        self.arrays.lines[self.n] = record.line
        self.n += 1

    def build(self, text: bytearray) -> TableBlock:
        """The block of all rows so far."""
        layout = self.layout
        names = [layout.names[k] for k in layout.used if self.targets.kinds[k] == loops.NUMBER_CELLS]
        numbers = NumberMatrix(names, self.arrays.numbers[: self.n])
        columns = {layout.names[k]: self._column(k, numbers, text) for k in layout.used}
        labels: np.ndarray | None = None
        coded_labels: CategoricalColumn | None = None
        if layout.target is not None and self.targets.kinds[layout.target] == loops.NUMERIC_LABELS:
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
        if self.targets.kinds[k] == loops.NUMBER_CELLS:
            return numbers.columns[self.layout.names[k]]
        make = _text_column if self.layout.kinds[k] == "text" else _categorical_column
        return make(*self._strings(k), text)

    def _strings(self, k: int) -> tuple[np.ndarray, dict[int, str]]:
        """The spans of the strings of column k, and those strings that the csv module has decoded, by row."""
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
    """The texts where they are in the file; those that the csv module has decoded are added at the end of a copy."""
    memory = text
    if decoded:
        memory = bytearray(text)
        for row, string in decoded.items():
            spans[row] = len(memory), len(memory) + len(string.encode())
            memory += string.encode()
    return TextColumn(np.frombuffer(memory, np.uint8), spans)
