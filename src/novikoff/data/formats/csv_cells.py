"""Cells: the records of a table by Python's csv module, and what a first look at them settles.

The conventions are those of `novikoff.data.formats.sniffing`: what counts as a number, as missing, as a header; places
are file:line:column, the column counted in cells.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novikoff._compiled.loops.decimals import LARGEST
from novikoff.data.formats.columns import BY_TYPE, KINDS, Columns, chosen, known_kind, position
from novikoff.data.formats.lines import line_at, require_text
from novikoff.data.formats.sniffing import (
    DELIMITERS,
    MISSING,
    MOSTLY,
    begins_with_header,
    delimiter_of,
    is_number,
    is_prose,
    lines_of,
)
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted

__all__ = ["KINDS", "NO_QUOTE", "Cells", "Incomplete", "Layout", "Record", "number_in", "or_missing", "require_width"]

NO_QUOTE = ""
_BLANKS = " \t\r\n"


@dataclass(frozen=True)
class Record:
    """A row of cells: where it begins, the line it begins on, how many bytes and lines it takes."""

    cells: list[str]
    at: int
    line: int
    size: int
    lines: int


class Incomplete(Exception):  # noqa: N818 (no error: the rest has not been read yet)
    """The text ended within a record."""


@dataclass(frozen=True)
class Cells:
    """How the text of a table is cut into cells."""

    name: str
    delimiter: str
    quote: str  # a character, or NO_QUOTE

    @classmethod
    def seen_in(cls, text: bytearray, name: str, delimiter: str | None = None) -> Cells:
        """The delimiter that cuts the first lines evenly, and the quotes they use."""
        lines = [line for line in lines_of(text[:100_000].decode(errors="replace"))[:20] if line.strip(_BLANKS)]
        is_single = b'"' not in text[:100_000] and lines and re.search(r"(^|[,;\t])\s*'[^']*'\s*([,;\t]|$)", lines[0])
        quote = "'" if is_single else '"'
        if delimiter is None:
            try:
                delimiter = delimiter_of(lines, quote) if lines else DELIMITERS[0]
            except csv.Error:  # a cell too long for the module; the record itself will be told of
                delimiter = DELIMITERS[0]
        return cls(name, delimiter, NO_QUOTE if delimiter == "\t" and not _are_quotes(text, quote) else quote)

    @property
    def _form(self) -> dict[str, Any]:
        form = {"delimiter": self.delimiter, "skipinitialspace": self.delimiter != " "}
        return form | ({"quoting": csv.QUOTE_NONE} if self.quote == NO_QUOTE else {"quotechar": self.quote})

    def record(self, text: bytearray, at: int, line: int, is_last: bool) -> Record:
        """The record that begins at a place, which may take several lines if quotes say so, or more than are there."""
        used: list[bytes] = []

        def lines() -> Iterator[str]:
            end = at
            while end < len(text):
                used.append(line_at(text, end))
                end += len(used[-1])
                one = require_text(used[-1], f"{self.name}:{line + len(used) - 1}")
                yield " ".join(re.split(f"[{_BLANKS}]+", one.strip(_BLANKS))) if self.delimiter == " " else one
            if not is_last:
                raise Incomplete

        try:
            cells = next(csv.reader(lines(), strict=True, **self._form))
        except csv.Error as error:
            raise DataError(f"{self.name}:{line}: this row cannot be read as CSV: {_reason(error)}") from error
        return Record([cell.strip(_BLANKS) for cell in cells], at, line, sum(map(len, used)), len(used))

    def sample(self, text: bytearray, is_last: bool) -> list[Record]:
        """The records of a text that are not blank. Only the first, which must be one, knows its place for certain."""
        records = list(itertools.islice(self._records(text, is_last), 1))
        if not records or self.delimiter == " ":
            return records + list(itertools.islice(self._records(text, is_last), 1, None))
        rest = text[records[0].at + records[0].size :]
        try:  # all at once is ten times as fast
            rows = list(csv.reader(io.StringIO(rest.decode(), newline=""), strict=True, **self._form))
        except (csv.Error, UnicodeDecodeError):
            return list(self._records(text, is_last))
        cut = ([cell.strip(_BLANKS) for cell in cells] for cells in rows)
        return records + [Record(cells, 0, 0, 0, 0) for cells in cut if any(cells) or len(cells) > 1]

    def _records(self, text: bytearray, is_last: bool) -> Iterator[Record]:
        """Those that can be read, one by one."""
        at, line, is_first = 0, 1, True
        while at < len(text):
            try:
                record = self.record(text, at, line, is_last)
            except DataError:
                if is_first:
                    raise
                record = Record([], at, line, len(line_at(text, at)), 1)
            except Incomplete:
                return
            if any(record.cells) or len(record.cells) > 1:
                is_first = False
                yield record
            at, line = at + record.size, line + record.lines


@dataclass(frozen=True)
class Layout(Columns):
    """The columns of a table in text, and its first record."""

    has_header: bool
    first: Record

    @classmethod
    def settled_by(
        cls,
        records: Sequence[Record],
        name: str,
        *,
        target: str | int | bool | None,
        drop: Sequence[str | int],
        header: bool | None,
        types: Mapping[str, str],
    ) -> Layout:
        """What the first records say, or the caller does."""
        width = len(records[0].cells)
        rows = [record.cells for record in records if len(record.cells) == width]
        has_header = begins_with_header(rows) if header is None else header
        names = _names(rows[0] if has_header else [""] * width, name, records[0].line)
        columns = list(zip(*rows[has_header:], strict=True)) or [()] * width
        dropped = {position(column, names, name, "drop") for column in drop}
        if has_header and not rows[0][0] and _counts_rows(columns[0]) and 0 not in dropped:
            dropped.add(0)  # pandas writes such a column
        # A delimiter at the end of each line makes a column without a name and without cells.
        dropped |= {k for k in range(width) if has_header and not rows[0][k] and not any(columns[k])}
        at, used = chosen(names, name, target, dropped)
        if not used:
            raise DataError(
                f"{name}: found {counted(width, 'column')}, and none is left besides the target. Cells are "
                "parted by commas, tabs, semicolons, | or blanks."
            )
        told = {position(column, names, name, BY_TYPE): known_kind(kind) for column, kind in types.items()}
        kinds = tuple(told.get(k) or _kind(columns[k], is_target=k == at) for k in range(width))
        return cls(name, names, kinds, at, used, has_header, records[0])


def number_in(cell: str, layout: Columns, line: int, k: int) -> float:
    """The number in a cell, NaN if it is missing."""
    if cell.lower() in MISSING:
        return float("nan")
    if not is_number(cell):
        raise DataError(
            f'{layout.place(line, k)}: expected a number in column "{layout.names[k]}", found '
            f'"{cell[:40]}". Correct it, pass over such rows, or read the column as words.'
        )
    if not abs(float(cell)) < LARGEST:
        raise DataError(
            f'{layout.place(line, k)}: "{cell[:40]}" in column "{layout.names[k]}" is not a finite number '
            f"below {LARGEST:g}. Scale the column, or leave the cell empty."
        )
    return float(cell)


def require_width(record: Record, layout: Layout) -> None:
    """As many cells as the first line has."""
    if len(record.cells) != len(layout.names):
        raise DataError(
            f"{layout.name}:{record.line}: found {counted(len(record.cells), 'cell')}, line "
            f"{layout.first.line} has {len(layout.names)}. Correct it, or pass it over."
        )


def or_missing(cell: str) -> str | None:
    """The words in a cell, None if it is missing."""
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


def _kind(cells: Sequence[str], *, is_target: bool) -> str:
    """Numbers, if all that are there are; or almost all: then the others are mistakes, except among labels. Otherwise
    words, or texts."""
    counts = Counter(cells)
    there = {cell: count for cell, count in counts.items() if cell.lower() not in MISSING}
    strange = sum(count for cell, count in there.items() if not is_number(cell))
    tolerated = 0.0 if is_target else (1.0 - MOSTLY) * sum(there.values())
    if strange == 0 or strange < tolerated:
        return "number"
    return "text" if not is_target and is_prose([cell for cell in cells if cell.lower() not in MISSING]) else "word"


def _reason(error: csv.Error) -> str:
    """What Python's csv module has found, in our words."""
    said = str(error)
    if "expected after" in said:
        return (
            "something other than a delimiter follows the quote that ends a cell. Double the quotes within a cell, "
            "or remove them."
        )
    if "unexpected end of data" in said:
        return "a quote that begins a cell is never closed. Close it, or remove it."
    if "field larger than" in said:
        return (
            f"a cell with quotes in it is longer than {csv.field_size_limit():,} characters. Shorten it, or close "
            "the quote before it."
        )
    return f"{said}."


def _are_quotes(text: bytearray, quote: str) -> bool:
    """Whether quotes enclose whole cells, as in CSV; between tabs many people write texts as they are."""
    try:
        lines = io.StringIO(text.decode(errors="replace"), newline="")
        for _ in csv.reader(lines, delimiter="\t", quotechar=quote, strict=True):
            pass
    except csv.Error as error:
        return "expected after" not in str(error)
    return True


def _counts_rows(cells: Sequence[str]) -> bool:
    return bool(cells) and list(cells) == [str(n) for n in range(len(cells))]
