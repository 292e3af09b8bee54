"""Tables as text: CSV, TSV and their relatives, block by block.

A compiled loop reads the lines whose cells are plain or simply quoted. Any other it leaves to Python's csv module:
quotes within quotes, line feeds within quotes, and lines that are wrong, for which the message is made there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from novikoff._compiled.loops import delimited as loops
from novikoff._compiled.loops.decimals import NEEDS_PYTHON
from novikoff.data.formats.block import TableBlock
from novikoff.data.formats.column_kinds import NumberOptions
from novikoff.data.formats.columns import UnnamedColumns
from novikoff.data.formats.csv_cells import NO_QUOTE, CsvDialect, IncompleteRecord, Record
from novikoff.data.formats.delimited_layout import ColumnOptions, DelimitedLayout, require_width
from novikoff.data.formats.lines import (
    TextChunk,
    count_byte,
    count_lines,
    is_utf8,
    line_from,
    power_table,
    read_text_chunks,
)
from novikoff.data.formats.read_ahead import map_in_threads
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.rejects import Reject, RowError
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.data.formats.sources import Source
from novikoff.data.formats.table_builder import LateCell, TableBlockBuilder, targets_of
from novikoff.errors import DataError

__all__ = ["TableReader"]

_SAMPLE = 1 << 18  # bytes that decide the kinds of columns: a tenth of a second for four times as many
_FEWEST = 4  # records that decide them, if so many take more bytes


class TableReader(Reader[TableBlock]):
    """Blocks of rows from delimited text, the next ones parsed in threads while the caller works on this one.

    The constructor reads the first 256 kB, or of a pipe the first lines that come, and decides for good what the
    columns are: a column is numeric if all its cells that are not missing are numbers, or all but a tenth, so that a
    typing error is reported and not taken for a category; otherwise it is categorical or text. A later cell that does
    not fit is an error. Cells are missing if they are empty, ?, NA, N/A, NaN or null; among numbers also if they are
    unknown, none, -, #N/A and the like.

    Numbers may also be written with a decimal comma, with digits in groups of three, with a currency or percent sign,
    which is left out, or as true and false; and dates become seconds since 1970. `layout.columns` tells the notation of
    each column; how it is decided is said in `column_kinds`.

    Labels are doubles if all labels in these first lines are numbers, and a later one that is none is an error;
    otherwise they are strings, numbers among them too; dates, true and false are strings. A missing label is an error.

    Parameters
    ----------
    source : Source or path or "-"
    target : str or int or False, optional
        The column with the labels: its name; its number, from 1, or from -1 at the end; or "first" or "last". By
        default the one that is called label, class, target or y, if there is just one, otherwise the last. False if
        there is none.
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
    decimal : {".", ","}, optional
        What fractions begin with, where the cells do not show it, as in 1,234.
    dates : {"number", "word", "drop", "day-first", "month-first"}
        What columns of dates become; the last two are numbers, and say which part of 1/2/2024 is the day.
    only : collection of str, optional
        The columns that are used besides the target; others are left out. By default all.
    notations : dict of str to str, optional
        How the numbers of columns are written, as `notations` of another reader says.
    unnamed : UnnamedColumns, optional
        What the columns of a table without a header are.

    Attributes
    ----------
    names, kinds : tuple of str
        Of all columns of the file, in its order.
    target_name : str or None
    delimiter : str
    has_header : bool
    notations : dict of str to str
        How the numbers of columns are written.
    notify : callable, optional
        Called with a sentence about the first cell of each column that is written in another way than those before it,
        and accepted.

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
        decimal: str | None = None,
        dates: str = "number",
        only: Collection[str] | None = None,
        notations: Mapping[str, str] | None = None,
        unnamed: UnnamedColumns | None = None,
    ) -> None:
        super().__init__(source, bad_rows)
        self.notify: Callable[[str], None] | None = None
        self._noted: set[int] = set()  # columns
        try:
            numbers = NumberOptions(decimal, dates, notations or {})
            _check_delimiter(delimiter)
            self._chunks = read_text_chunks(self.source, keep_returns=True)
            self._first, self._dialect, records = self._sniff(delimiter)
            self.layout = DelimitedLayout.from_records(
                records,
                self.name,
                self._dialect.delimiter,
                ColumnOptions(target, drop, header, types or {}, only, unnamed, numbers),
            )
        except BaseException:
            self.source.close()
            raise
        self.names, self.kinds, self.has_header = self.layout.names, self.layout.kinds, self.layout.has_header
        self.delimiter = self._dialect.delimiter
        self.target_name = None if self.layout.target is None else self.names[self.layout.target]
        self.notations = self.layout.notations
        self._targets = targets_of(self.layout)

    def _sniff(self, delimiter: str | None) -> tuple[TextChunk, CsvDialect, list[Record]]:
        """Return the first lines, which are read again later, and the records in them: of a pipe, the first two that
        come."""
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
                for late in parsed.late:
                    self._note(late)
                for block in parsed.blocks:
                    n_rows += len(block) + len(block.rejects)
                    yield block
                if parsed.error is not None:
                    raise parsed.error
        if not n_rows:
            raise FileError(
                f"{self.name}: found a header line but no rows. If that line is data, say that there is no header.",
                Remedy.NO_HEADER,
            )

    def _note(self, late: LateCell) -> None:
        """Say what an unusual cell was taken for, once for each column."""
        if late.column in self._noted or self.notify is None:
            return
        self._noted.add(late.column)
        meaning = "taken as missing" if late.number != late.number else f"read as {late.number:g}"
        column = self.names[late.column]
        self.notify(
            f'{self.layout.location(late.line, late.column)}: "{late.cell[:40]}" in column "{column}" is {meaning}.'
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
        """Return the blocks of a chunk, as far as the first error, and that error."""
        blocks, at, line, is_whole, error = [], 0, chunk.line, True, None
        late: list[LateCell] = []
        while at < len(chunk.text) and is_whole and error is None:
            builder = TableBlockBuilder.for_text(chunk.text, at, self.layout, self._targets)
            at, line, is_whole, error = self._fill(builder, chunk.text, at, line, is_last)
            error = builder.convert_numbers(chunk.text, self.bad_rows) or error  # the former is in an earlier row
            if builder.n or builder.rejects:
                blocks.append(builder.build(chunk.text))
            late += builder.late.values()
        return _ParsedTable(chunk, blocks, TextChunk(chunk.text[at:], line), error, late)

    def _fill(
        self, builder: TableBlockBuilder, text: bytearray, at: int, line: int, is_last: bool
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
    """What came of a chunk: blocks, the record that it ended within, the error that ended it, and unusual cells."""

    chunk: TextChunk
    blocks: list[TableBlock]
    rest: TextChunk
    error: RowError | None
    late: list[LateCell]


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and not (len(delimiter) == 1 and delimiter.isascii() and delimiter not in "\r\n\0\"'"):
        raise DataError(f"delimiter must be one ASCII character between cells, no quote; found {delimiter!r}.")


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
    """Return a chunk after the rest of the one before it."""
    return TextChunk(rest.text + chunk.text, rest.line) if rest.text else chunk
