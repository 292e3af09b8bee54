"""CSV records that compiled code leaves to Python's csv module, and columns sniffed from a sample.

The conventions are those of `novikoff.data.formats.sniffing`: what counts as a number, as missing, as a header.
Locations are file:line:column, the column counted in cells.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.columns import FROM_TYPES, KINDS, TableLayout, check_kind, choose_columns, column_index
from novikoff.data.formats.lines import decode_line, line_from
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.data.formats.sniffing import (
    DELIMITERS,
    MISSING,
    MOSTLY,
    begins_with_header,
    is_number,
    is_prose,
    sniff_delimiter,
    split_lines,
)
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize

__all__ = [
    "KINDS",
    "NO_QUOTE",
    "CsvDialect",
    "DelimitedLayout",
    "IncompleteRecord",
    "Record",
    "parse_number",
    "require_width",
    "string_or_none",
]

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
        """The delimiter that splits the first lines evenly, unless it is given, and the quotes that they use."""
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
        """The records of a text that are not blank. The first must be readable, and has a right offset and line; the
        others may have none."""
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
        """The records that can be read, one by one."""
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
    """The first thing in a text that the csv module, when strict, raises an error for.

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


@dataclass(frozen=True)
class DelimitedLayout(TableLayout):
    """The columns of a table in text, and its first record."""

    has_header: bool
    first: Record

    @classmethod
    def from_records(
        cls,
        records: Sequence[Record],
        name: str,
        *,
        target: str | int | bool | None,
        drop: Sequence[str | int],
        header: bool | None,
        types: Mapping[str, str],
    ) -> DelimitedLayout:
        """The columns as the caller describes them, and where the caller does not, as the first records show them."""
        width = len(records[0].cells)
        rows = [record.cells for record in records if len(record.cells) == width]
        has_header = begins_with_header(rows) if header is None else header
        names = _names(rows[0] if has_header else [""] * width, name, records[0].line)
        columns = list(zip(*rows[has_header:], strict=True)) or [()] * width
        dropped = {column_index(column, names, name, "drop") for column in drop}
        if has_header and not rows[0][0] and _are_row_numbers(columns[0]) and 0 not in dropped:
            dropped.add(0)  # pandas writes such a column
        # A delimiter at the end of each line makes a column without a name and without cells.
        dropped |= {k for k in range(width) if has_header and not rows[0][k] and not any(columns[k])}
        target_index, used = choose_columns(names, name, target, dropped)
        if not used:
            raise DataError(
                f"{name}: found {pluralize(width, 'column')}, and none is left besides the target. Cells are "
                "separated by commas, tabs, semicolons, | or blanks."
            )
        declared = {column_index(column, names, name, FROM_TYPES): check_kind(kind) for column, kind in types.items()}
        kinds = tuple(declared.get(k) or _sniff_kind(columns[k], is_target=k == target_index) for k in range(width))
        return cls(name, names, kinds, target_index, used, has_header, records[0])


def parse_number(cell: str, layout: TableLayout, line: int, k: int) -> float:
    """The number in a cell of column k, NaN if it is missing."""
    if cell.lower() in MISSING:
        return float("nan")
    if not is_number(cell):
        raise RowError(
            f'{layout.location(line, k)}: expected a number in column "{layout.names[k]}", found '
            f'"{cell[:40]}". Correct it, pass over such rows, or read the column as words.',
            RejectCode.NOT_A_NUMBER,
        )
    if not abs(float(cell)) < VALUE_LIMIT:
        raise RowError(
            f'{layout.location(line, k)}: "{cell[:40]}" in column "{layout.names[k]}" is not a finite number '
            f"below {VALUE_LIMIT:g}. Scale the column, or leave the cell empty.",
            RejectCode.TOO_LARGE,
        )
    return float(cell)


def require_width(record: Record, layout: DelimitedLayout) -> None:
    """Raise an error if a record has not as many cells as the first line."""
    if len(record.cells) != len(layout.names):
        raise RowError(
            f"{layout.name}:{record.line}: found {pluralize(len(record.cells), 'cell')}, line "
            f"{layout.first.line} has {len(layout.names)}. Correct it, or pass it over.",
            RejectCode.WIDTH,
        )


def string_or_none(cell: str) -> str | None:
    """The string in a cell, None if it is missing."""
    return None if cell.lower() in MISSING else cell


def _names(cells: Sequence[str], name: str, line: int) -> tuple[str, ...]:
    names = tuple(cell or f"column {k}" for k, cell in enumerate(cells, start=1))
    for twin, count in Counter(names).items():
        if count > 1:
            first, second = [k for k, other in enumerate(names, start=1) if other == twin][:2]
            raise DataError(
                f"{name}:{line}:{second}: columns {first} and {second} are both called {twin!r}. Give them "
                "different names; or, if this line is data, say that there is no header."
            )
    return names


def _sniff_kind(cells: Sequence[str], *, is_target: bool) -> str:
    """A column is numeric if all cells that are there are numbers, or almost all: then the others are mistakes, except
    among labels. Otherwise it is categorical, or text."""
    counts = Counter(cells)
    there = {cell: count for cell, count in counts.items() if cell.lower() not in MISSING}
    n_strings = sum(count for cell, count in there.items() if not is_number(cell))
    tolerated = 0.0 if is_target else (1.0 - MOSTLY) * sum(there.values())
    if n_strings == 0 or n_strings < tolerated:
        return "number"
    return "text" if not is_target and is_prose([cell for cell in cells if cell.lower() not in MISSING]) else "word"


def _are_quotes(text: bytearray, quote: str) -> bool:
    """Whether quotes enclose whole cells, as in CSV; between tabs many people write texts as they are."""
    content = text.decode(errors="replace")
    try:
        for _ in csv.reader(io.StringIO(content, newline=""), delimiter="\t", quotechar=quote, strict=True):
            pass
    except csv.Error:
        return _find_fault(content, "\t", quote, skip_blanks=False) is not _Fault.AFTER_QUOTE
    return True


def _are_row_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and list(cells) == [str(n) for n in range(len(cells))]
