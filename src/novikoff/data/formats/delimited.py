"""Tables as text: CSV, TSV and their relatives, block by block.

A kernel reads the lines whose cells are plain or simply quoted. Any other it leaves to Python's csv module: quotes
within quotes, line feeds within quotes, and lines that are wrong, for which the words are found there.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from novikoff._compiled.loops import delimited as kernels
from novikoff._compiled.loops.decimals import ASK
from novikoff.data.formats.block import Column, Reject, TableBlock, Texts, Words
from novikoff.data.formats.csv_cells import (
    NO_QUOTE,
    Cells,
    Incomplete,
    Layout,
    Record,
    number_in,
    or_missing,
    require_width,
)
from novikoff.data.formats.hash_key import KEY
from novikoff.data.formats.lines import Piece, count, count_lines, is_text, line_at, pieces_of, powers
from novikoff.data.formats.read_ahead import in_parallel
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["TableReader"]

_ROWS = 1 << 16  # in a block, at most
_SAMPLE = 1 << 18  # bytes that settle the kinds of columns: a tenth of a second for four times as many
_FEWEST = 4  # records that settle them, if so many take more bytes


class TableReader(Reader[TableBlock]):
    """Blocks of rows from delimited text, the next ones parsed in threads while the caller works on this one.

    Opening it reads the first 256 kB, or of a pipe the first lines that come, and settles for good what the columns
    are: a column holds numbers if all its cells do that are not missing, or all but a tenth, so that a slip of the pen
    is found and not taken for a word; otherwise words. A later cell that does not fit is an error. Cells are missing
    if they are empty, ?, NA, N/A, NaN or null.

    Labels are doubles if all labels seen at the opening are numbers, and a later one that is none is an error;
    otherwise they are strings, numbers among them too. A missing label is an error.

    Parameters
    ----------
    source : Source or path or "-"
    target : str or int or False, optional
        Name or number, from 1, of the column with the labels; by default the last. False if there is none.
    drop : sequence of str or int
        Columns to leave out.
    header : bool, optional
        Whether the first line names the columns; by default found out.
    types : dict of str to {"number", "word", "text"}, optional
        What columns hold, where the first lines may mislead. Text is read as words are; it is for who uses it to tell.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.
    delimiter : str, optional
        Between cells; by default found out.

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
            self._pieces = pieces_of(self.source, keep_returns=True)
            self._first, self._cells, records = self._look(delimiter)
            self.layout = Layout.settled_by(
                records, self.name, target=target, drop=drop, header=header, types=types or {}
            )
        except BaseException:
            self.source.close()
            raise
        self.names, self.kinds, self.has_header = self.layout.names, self.layout.kinds, self.layout.has_header
        self.delimiter = self._cells.delimiter
        self.target_name = None if self.layout.target is None else self.names[self.layout.target]
        self._plan = _Plan.of(self.layout)

    def _look(self, delimiter: str | None) -> tuple[Piece, Cells, list[Record]]:
        """The first lines, which stay to be read, and the records in them: of a pipe, the first two that come."""
        text, size, is_last = bytearray(), _SAMPLE, False
        fewest = _FEWEST if self.source.is_steady else 2
        while True:
            wanted = size if self.source.is_steady else len(text) + 1
            while len(text) < wanted and not is_last:
                piece = next(self._pieces, None)
                is_last = piece is None
                text += piece.text if piece else b""
            sample = text[: size + len(line_at(text, size))]
            is_all = is_last and len(sample) == len(text)
            cells = Cells.seen_in(sample, self.name, delimiter)
            records = cells.sample(sample, is_all)
            if len(records) >= fewest or is_all:
                break
            size *= 2  # rows are long
        if not records:
            raise DataError(f"{self.name}: found no rows, only blank lines.")
        return Piece(text, 1), cells, records

    def _blocks(self) -> Generator[TableBlock, None, None]:
        n_rows = 0
        with closing(self._all_parsed()) as parsed:
            for found in parsed:
                for block in found.blocks:
                    n_rows += len(block) + len(block.rejects)
                    yield block
                if found.error is not None:
                    raise found.error
        if not n_rows:
            raise DataError(
                f"{self.name}: found a header line but no rows. If that line is data, say that there is no header."
            )

    def _all_parsed(self) -> Generator[_Parsed, None, None]:
        """All pieces, several parsed at a time as if each began with a record. One that does not, because the piece
        before it turns out to have ended within a record, is parsed again, behind what was left over."""
        rest = Piece(bytearray(), 1)
        pieces = self._pieces_after_header()
        if self._workers and self._cells.quote != NO_QUOTE:
            pieces = _outside_quotes(pieces, self._cells.quote.encode())
        with closing(in_parallel(self._parsed, pieces, self._workers)) as parsed:
            for found in parsed:
                if rest.text:
                    found = self._parsed(_joined(rest, found.piece))
                yield found
                rest = found.rest
        if rest.text:
            yield self._parsed(rest, is_last=True)

    def _pieces_after_header(self) -> Iterator[Piece]:
        text, line = self._first.text, 1
        del self._first
        if self.has_header:
            header = self.layout.first
            text, line = text[header.at + header.size :], header.line + header.lines
        yield Piece(text, line)
        del text
        yield from self._pieces

    def _parsed(self, piece: Piece, *, is_last: bool = False) -> _Parsed:
        """The blocks of a piece, as far as the first error, and that error."""
        blocks, at, line, is_whole, error = [], 0, piece.line, True, None
        while at < len(piece.text) and is_whole and error is None:
            making = _Making.beside(piece.text, at, self._plan)
            at, line, is_whole, error = self._fill(making, piece.text, at, line, is_last)
            if making.n or making.rejects:
                blocks.append(making.block(self.name, self.layout, self._plan, piece.text))
        return _Parsed(piece, blocks, Piece(piece.text[at:], line), error)

    def _fill(
        self, making: _Making, text: bytearray, at: int, line: int, is_last: bool
    ) -> tuple[int, int, bool, DataError | None]:
        """Read rows from a place on; return the place after them, its line, whether the text did not end within a
        record, and the error that is there."""
        quote = -1 if self._cells.quote == NO_QUOTE else ord(self._cells.quote)
        form = ord(self.delimiter), quote, is_text(text)
        array = np.frombuffer(text, np.uint8)
        while True:
            making.n, at, line, why = kernels.table_rows(
                array, at, line, making.n, *form, *self._plan.columns, powers(), *making.arrays
            )
            if why != ASK:
                return at, line, True, None
            size, lines = len(line_at(text, at)), 1
            try:
                record = self._cells.record(text, at, line, is_last)
                require_width(record, self.layout)
                size, lines = record.size, record.lines  # from here on the row is wrong, not only its quotes
                making.put(record, self.layout, self._plan)
            except Incomplete:
                return at, line, False, None
            except DataError as error:
                if self.bad_rows == "stop":
                    return at, line, True, error
                making.rejects.append(Reject(line, str(error), bytes(text[at : at + size])))
            at, line = at + size, line + lines


@dataclass(frozen=True, eq=False)
class _Parsed:
    """What came of a piece: blocks, the record that it ended within, and the error that is there."""

    piece: Piece
    blocks: list[TableBlock]
    rest: Piece
    error: DataError | None


def _outside_quotes(pieces: Iterator[Piece], quote: bytes) -> Iterator[Piece]:
    """The same text, cut anew where a piece seems to end within quotes: before the line with the last of them, if they
    have been odd in number so far. Where that is a mistake, it costs some time and nothing else."""
    rest, is_open = Piece(bytearray(), 1), False
    for piece in pieces:
        is_open ^= quote in piece.text and count(piece.text, quote) % 2 == 1
        text, line = _joined(rest, piece).text, rest.line if rest.text else piece.line
        del piece
        last = max(text.rfind(quote), 0) if is_open else len(text)
        end = max(text.rfind(b"\n", 0, last), text.rfind(b"\r", 0, last)) + 1 or len(text)
        rest = Piece(text[end:], line + count_lines(text[:end]) if end < len(text) else 0)
        del text[end:]
        yield Piece(text, line)
    if rest.text:
        yield rest


def _joined(rest: Piece, piece: Piece) -> Piece:
    """A piece behind what the one before it left over."""
    return Piece(rest.text + piece.text, rest.line) if rest.text else piece


@dataclass(frozen=True, eq=False)
class _Plan:
    """Where the cells of each column go, as the kernel wants to be told."""

    kinds: np.ndarray
    places: np.ndarray
    required: int
    n_numbers: int
    n_words: int

    @classmethod
    def of(cls, layout: Layout) -> _Plan:
        kinds = np.full(len(layout.names), kernels.LEFT_OUT, np.int8)
        for k in [*layout.used, *([] if layout.target is None else [layout.target])]:
            kinds[k] = kernels.NUMBERS if layout.kinds[k] == "number" else kernels.WORDS
        is_number, is_word = kinds == kernels.NUMBERS, kinds == kernels.WORDS
        places = np.where(is_number, is_number.cumsum(), is_word.cumsum()) - 1
        required = -1 if layout.target is None else layout.target
        return cls(kinds, places, required, int(is_number.sum()), int(is_word.sum()))

    @property
    def columns(self) -> tuple[np.ndarray, np.ndarray, int]:
        return self.kinds, self.places, self.required


@dataclass(eq=False)
class _Making:
    """A block in the making: n rows so far."""

    lines: np.ndarray
    numbers: np.ndarray
    spans: np.ndarray
    n: int = 0
    rejects: list[Reject] = field(default_factory=list)
    odd: dict[tuple[int, int], str] = field(default_factory=dict)  # words that stand otherwise in the text

    @classmethod
    def beside(cls, text: bytearray, at: int, plan: _Plan) -> _Making:
        """Room for what a text holds, if it is not more rows than a block has."""
        n = min(count_lines(text, at) + 1, (len(text) - at) // len(plan.kinds) + 1, _ROWS)
        return cls(np.empty(n, np.int64), np.empty((n, plan.n_numbers)), np.empty((n, plan.n_words, 2), np.int32))

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.lines, self.numbers, self.spans

    def put(self, record: Record, layout: Layout, plan: _Plan) -> None:
        """Write a row that was read elsewhere."""
        odd = {}
        for k, (kind, place, cell) in enumerate(zip(plan.kinds, plan.places, record.cells, strict=True)):
            if k == plan.required and or_missing(cell) is None:
                raise DataError(
                    f'{layout.place(record.line, k)}: the label in column "{layout.names[k]}" is missing. '
                    "Fill it in, pass over such rows, or name another target."
                )
            if kind == kernels.NUMBERS:
                self.numbers[self.n, place] = number_in(cell, layout, record.line, k)
            elif kind == kernels.WORDS:
                self.spans[self.n, place] = -1
                if (word := or_missing(cell)) is not None:
                    odd[self.n, int(place)] = word
        self.odd |= odd
        self.lines[self.n] = record.line
        self.n += 1

    def block(self, name: str, layout: Layout, plan: _Plan, text: bytearray) -> TableBlock:
        """What came of it."""
        labels = None if layout.target is None else self._labels(layout.target, plan, text)
        columns = {layout.names[k]: self._column(k, layout.kinds[k], plan, text) for k in layout.used}
        return TableBlock(name, self.lines[: self.n], labels, columns, rejects=self.rejects)

    def _labels(self, k: int, plan: _Plan, text: bytearray) -> np.ndarray:
        column = self._column(k, "word", plan, text)
        return np.array(column.tolist(), object) if isinstance(column, Words) else np.ascontiguousarray(column)

    def _column(self, k: int, kind: str, plan: _Plan, text: bytearray) -> Column:
        place = plan.places[k]
        if plan.kinds[k] == kernels.NUMBERS:
            return self.numbers[: self.n, place]
        odd = {row: word for (row, at), word in self.odd.items() if at == place}
        spans = np.ascontiguousarray(self.spans[: self.n, place])
        return self._texts(spans, odd, text) if kind == "text" else self._words(spans, odd, text)

    def _words(self, spans: np.ndarray, odd: dict[int, str], text: bytearray) -> Words:
        """Cut out of the text: one string for all cells that say the same."""
        codes, firsts = np.empty(self.n, np.int32), np.empty(self.n, np.int32)
        table = np.full(1 << (2 * self.n).bit_length(), -1, np.int32)
        count = kernels.distinct_words(np.frombuffer(text, np.uint8), spans, *KEY, codes, firsts, table)
        values = [text[begin:end].decode() for begin, end in spans[firsts[:count]].tolist()]
        known = {value: code for code, value in enumerate(values)} if odd else {}
        for row, word in odd.items():
            codes[row] = known.setdefault(word, len(known))
        return Words(codes, list(known) if odd else values)

    def _texts(self, spans: np.ndarray, odd: dict[int, str], text: bytearray) -> Texts:
        """Where they are; those that stand otherwise in the file are added at the end."""
        memory = text
        if odd:
            memory = bytearray(text)
            for row, word in odd.items():
                spans[row] = len(memory), len(memory) + len(word.encode())
                memory += word.encode()
        return Texts(np.frombuffer(memory, np.uint8), spans)
