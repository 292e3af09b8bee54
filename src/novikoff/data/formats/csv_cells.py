"""CSV records that compiled code leaves to Python's csv module.

Locations are file:line:column, the column counted in cells.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from novikoff.data.formats.lines import decode_line, line_from
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.data.formats.sniffing import DELIMITERS, sniff_delimiter, split_lines

__all__ = ["NO_QUOTE", "CsvDialect", "IncompleteRecord", "Record"]

NO_QUOTE = ""
_BLANKS = " \t\r\n"


@dataclass(frozen=True)
class Record:
    """A row of cells: its offset, the line it begins on, and how many bytes and lines it takes."""

    cells: list[str]
    at: int
    line: int
    size: int
    lines: int


class IncompleteRecord(Exception):  # noqa: N818 (no error: the rest has not been read yet)
    """The text ended within a record."""


class _Fault(Enum):
    """Why Python's csv module cannot split a record; its own error has no code that says so."""

    AFTER_QUOTE = (
        "something other than a delimiter follows the quote that ends a cell. Double the quotes within a cell, "
        "or remove them."
    )
    OPEN_QUOTE = "a quote that begins a cell is never closed. Close it, or remove it."
    CELL_SIZE = (
        "a cell with quotes in it is longer than {limit:,} characters. Shorten it, or close the quote before it."
    )


@dataclass(frozen=True)
class CsvDialect:
    """How the text of a table is split into cells."""

    name: str  # of the table
    delimiter: str
    quote: str  # a character, or NO_QUOTE

    @classmethod
    def sniff(cls, text: bytearray, name: str, delimiter: str | None = None) -> CsvDialect:
        """Return the delimiter that splits the first lines evenly, unless it is given, and the quotes that they use."""
        lines = [line for line in split_lines(text[:100_000].decode(errors="replace"))[:20] if line.strip(_BLANKS)]
        is_single = b'"' not in text[:100_000] and lines and re.search(r"(^|[,;\t])\s*'[^']*'\s*([,;\t]|$)", lines[0])
        quote = "'" if is_single else '"'
        if delimiter is None:
            try:
                delimiter = sniff_delimiter(lines, quote) if lines else DELIMITERS[0]
            except csv.Error:  # a cell too long for the module; reading the record will say so
                delimiter = DELIMITERS[0]
        return cls(name, delimiter, NO_QUOTE if delimiter == "\t" and not _are_quotes(text, quote) else quote)

    @property
    def _options(self) -> dict[str, Any]:
        options = {"delimiter": self.delimiter, "skipinitialspace": self.delimiter != " "}
        return options | ({"quoting": csv.QUOTE_NONE} if self.quote == NO_QUOTE else {"quotechar": self.quote})

    def read_record(self, text: bytearray, at: int, line: int, is_last: bool) -> Record:
        """Read the record at an offset, which takes several lines if quotes say so: perhaps more than the text has,
        unless `is_last`."""
        raw: list[bytes] = []
        given: list[str] = []

        def lines() -> Iterator[str]:
            end = at
            while end < len(text):
                raw.append(line_from(text, end))
                end += len(raw[-1])
                one = decode_line(raw[-1], f"{self.name}:{line + len(raw) - 1}")
                given.append(" ".join(re.split(f"[{_BLANKS}]+", one.strip(_BLANKS))) if self.delimiter == " " else one)
                yield given[-1]
            if not is_last:
                raise IncompleteRecord

        try:
            cells = next(csv.reader(lines(), strict=True, **self._options))
        except csv.Error as error:
            fault = _find_fault("".join(given), self.delimiter, self.quote, skip_blanks=self.delimiter != " ")
            reason = fault.value.format(limit=csv.field_size_limit()) if fault else f"{error}."
            code = RejectCode.CELL_SIZE if fault is _Fault.CELL_SIZE else RejectCode.QUOTES
            raise RowError(f"{self.name}:{line}: this row cannot be read as CSV: {reason}", code) from error
        return Record([cell.strip(_BLANKS) for cell in cells], at, line, sum(map(len, raw)), len(raw))

    def read_sample(self, text: bytearray, is_last: bool) -> list[Record]:
        """Return the records of a text that are not blank. The first must be readable, and has a right offset and line;
        the others may have none."""
        records = list(itertools.islice(self._records(text, is_last), 1))
        if not records or self.delimiter == " ":
            return records + list(itertools.islice(self._records(text, is_last), 1, None))
        rest = text[records[0].at + records[0].size :]
        try:  # one call of the csv module for all of them is ten times as fast
            rows = list(csv.reader(io.StringIO(rest.decode(), newline=""), strict=True, **self._options))
        except (csv.Error, UnicodeDecodeError):
            return list(self._records(text, is_last))
        stripped = ([cell.strip(_BLANKS) for cell in cells] for cells in rows)
        return records + [Record(cells, 0, 0, 0, 0) for cells in stripped if any(cells) or len(cells) > 1]

    def _records(self, text: bytearray, is_last: bool) -> Iterator[Record]:
        """Yield the records that can be read, one by one."""
        at, line, is_first = 0, 1, True
        while at < len(text):
            try:
                record = self.read_record(text, at, line, is_last)
            except RowError:
                if is_first:
                    raise
                record = Record([], at, line, len(line_from(text, at)), 1)
            except IncompleteRecord:
                return
            if any(record.cells) or len(record.cells) > 1:
                is_first = False
                yield record
            at, line = at + record.size, line + record.lines


def _find_fault(text: str, delimiter: str, quote: str, *, skip_blanks: bool) -> _Fault | None:
    """Return the first thing in a text that the csv module, when strict, raises an error for.

    >>> from novikoff.data.formats.csv_cells import _find_fault
    >>> _find_fault('1,"2"x', ",", '"', skip_blanks=True).name, _find_fault('1,"2', ",", '"', skip_blanks=True).name
    ('AFTER_QUOTE', 'OPEN_QUOTE')
    """
    blanks, ends = " *" if skip_blanks else "", re.escape(delimiter) + "\r\n"
    plain = re.compile(f"{blanks}([^{ends}]*)")
    quoted = re.compile(f"{blanks}{quote}([^{quote}]*(?:{quote * 2}[^{quote}]*)*)({quote}?)") if quote else None
    at = 0
    while at < len(text):
        if quoted and (found := quoted.match(text, at)):
            content, is_closed, end = found[1].replace(2 * quote, quote), bool(found[2]), found.end()
            is_followed = end < len(text) and text[end] not in (delimiter, "\r", "\n")
        else:
            found = plain.match(text, at)
            assert found is not None
            content, is_closed, end, is_followed = found[1], True, found.end(), False
        if len(content) > csv.field_size_limit():
            return _Fault.CELL_SIZE
        if not is_closed:
            return _Fault.OPEN_QUOTE
        if is_followed:
            return _Fault.AFTER_QUOTE
        at = end + 1  # after the delimiter, or the end of the line
    return None


def _are_quotes(text: bytearray, quote: str) -> bool:
    """Return whether quotes enclose whole cells, as in CSV; between tabs many people write texts as they are."""
    content = text.decode(errors="replace")
    try:
        for _ in csv.reader(io.StringIO(content, newline=""), delimiter="\t", quotechar=quote, strict=True):
            pass
    except csv.Error:
        return _find_fault(content, "\t", quote, skip_blanks=False) is not _Fault.AFTER_QUOTE
    return True
