"""The columns of delimited text: as the caller describes them, and where the caller does not, as the first records
show them.

The conventions are those of `sniffing` and `column_kinds`: what counts as a number, as missing, as a header.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.column_kinds import ColumnKind, NumberOptions, sniff_columns
from novikoff.data.formats.columns import (
    TableLayout,
    UnnamedColumns,
    choose_columns,
    column_index,
    declared_kinds,
)
from novikoff.data.formats.csv_cells import Record
from novikoff.data.formats.notations import Notation, check_notation, is_date, is_disguised_number, parse_cell
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.data.formats.sniffing import MISSING, begins_with_header, is_number
from novikoff.formatting.phrases import pluralize

__all__ = ["ColumnOptions", "DelimitedLayout", "number_error", "parse_number", "require_width", "string_or_none"]


_COMMENTS = ("#", "%")

# What the first cell of a file begins with, in lower case, if the file is no table, and what to do then.
_OTHER_CONTENT = {
    "@relation": "is an ARFF file, of Weka. Save it as CSV there, or remove its header, up to @data",
    "<!doctype": "is a web page, not a table: fetch the data themselves",
    "<html": "is a web page, not a table: fetch the data themselves",
    "<?xml": "is XML, not a table: save it as CSV",
    "sep=": "begins with a line for Excel that says what separates cells, which is no row: remove it",
    "version https://git-lfs": "is a pointer to a file in Git LFS, not the file: fetch it with git lfs pull",
}


@dataclass(frozen=True)
class ColumnOptions:
    """What the caller says about the columns; see `TableReader`."""

    target: str | int | bool | None = None
    drop: Sequence[str | int] = ()
    header: bool | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    only: Collection[str] | None = None
    unnamed: UnnamedColumns | None = None
    numbers: NumberOptions = field(default_factory=NumberOptions)


@dataclass(frozen=True)
class DelimitedLayout(TableLayout):
    """The columns of a table in text, and its first record."""

    has_header: bool
    first: Record
    columns: tuple[ColumnKind, ...]
    has_comma_groups: bool  # whether 1,234 is 1234 where it comes late in a column of plain numbers

    @classmethod
    def from_records(
        cls, records: Sequence[Record], name: str, delimiter: str, options: ColumnOptions
    ) -> DelimitedLayout:
        """Find out what the columns of a table are."""
        _refuse_other_content(records[0], name)
        width = len(records[0].cells)
        rows = [record.cells for record in records if len(record.cells) == width]
        has_header = begins_with_header(rows, _is_value) if options.header is None else options.header
        if not has_header and options.unnamed is not None:
            names = options.unnamed.names(width, name)
        else:
            names = _names(rows[0] if has_header else [""] * width, name, records[0].line)
        columns = list(zip(*rows[has_header:], strict=True)) or [()] * width
        dropped = {column_index(column, names, name, "drop") for column in options.drop}
        if has_header and not rows[0][0] and _are_row_numbers(columns[0]) and 0 not in dropped:
            dropped.add(0)  # pandas writes such a column
        # A delimiter at the end of each line makes a column without a name and without cells.
        dropped |= {k for k in range(width) if has_header and not rows[0][k] and not any(columns[k])}
        target, used, reason = choose_columns(names, name, options.target, dropped, options.only)
        kinds = sniff_columns(
            columns,
            target,
            declared=declared_kinds(options.types, names, name),
            notations={
                names.index(own): check_notation(notation)
                for own, notation in options.numbers.notations.items()
                if own in names
            },
            options=options.numbers,
            delimiter=delimiter,
        )
        used = tuple(k for k in used if not kinds[k].is_dropped)
        if not used:
            comment = records[0].cells[0][:1] if records[0].cells[0][:1] in _COMMENTS else ""
            hint = f" Its first line is a comment, with {comment}: remove such lines." if comment else ""
            raise FileError(
                f"{name}: found {pluralize(width, 'column')}, and none is left besides the target.{hint} Cells are "
                "separated by commas, tabs, semicolons, | or blanks.",
                Remedy.NAME_DELIMITER,
            )
        return cls(
            name,
            names,
            tuple(kind.kind for kind in kinds),
            target,
            used,
            has_header,
            records[0],
            tuple(kinds),
            options.numbers.decimal == "." or (options.numbers.decimal is None and delimiter != ";"),
            target_reason=reason,
        )

    def is_disguised(self, k: int) -> bool:
        """Return whether column k holds numbers that compiled code cannot read."""
        return self.kinds[k] == "number" and self.columns[k].notation is not Notation.PLAIN

    @property
    def notations(self) -> dict[str, str]:
        """The notations of all columns of numbers that are used, those of labels included, by name."""
        found = [*self.used, *([] if self.target is None else [self.target])]
        return {self.names[k]: str(self.columns[k].notation) for k in found if self.kinds[k] == "number"}


def parse_number(cell: str, layout: TableLayout, line: int, k: int) -> float:
    """Return the number in a cell of column k, NaN if it is missing; an error if it is neither."""
    notation, has_comma_groups = Notation.PLAIN, False
    if isinstance(layout, DelimitedLayout):
        notation, has_comma_groups = layout.columns[k].notation, layout.has_comma_groups
    number = parse_cell(cell, notation)
    if number == math.inf and notation is Notation.PLAIN and has_comma_groups and not is_number(cell):
        number = parse_cell(cell, Notation.DECIMAL_POINT)
    if number == math.inf:
        raise number_error(cell, layout, line, k)
    return number


def number_error(cell: str, layout: TableLayout, line: int, k: int) -> RowError:
    """Return the error for a cell of column k that is no number, or too large a one."""
    column = layout.names[k]
    if is_number(cell) and not abs(float(cell)) < VALUE_LIMIT:
        return RowError(
            f'{layout.location(line, k)}: "{cell[:40]}" in column "{column}" is not a finite number '
            f"below {VALUE_LIMIT:g}. Scale the column, or leave the cell empty.",
            RejectCode.TOO_LARGE,
            column,
        )
    code, advice = RejectCode.NOT_A_NUMBER, "read the column as words"
    if not isinstance(layout, DelimitedLayout):
        pass  # the caller cannot say how numbers are written
    elif is_date(cell):
        code, advice = RejectCode.OTHER_DATE, "say how its dates are written"
    elif is_disguised_number(cell):
        code, advice = RejectCode.OTHER_DECIMAL, "say what its decimal mark is"
    return RowError(
        f'{layout.location(line, k)}: expected a number in column "{column}", found "{cell[:40]}". Correct it, pass '
        f"over such rows, or {advice}.",
        code,
        column,
    )


def require_width(record: Record, layout: DelimitedLayout) -> None:
    """Raise an error if a record has not as many cells as the first line."""
    if len(record.cells) != len(layout.names):
        raise RowError(
            f"{layout.name}:{record.line}: found {pluralize(len(record.cells), 'cell')}, line "
            f"{layout.first.line} has {len(layout.names)}. Correct it, or pass it over.",
            RejectCode.WIDTH,
        )


def string_or_none(cell: str) -> str | None:
    """Return the string in a cell, None if it is missing."""
    return None if cell.lower() in MISSING else cell


def _refuse_other_content(first: Record, name: str) -> None:
    """Raise an error if the first line shows that a file is no table."""
    line = " ".join(first.cells).lower()
    for start, what in _OTHER_CONTENT.items():
        if line.startswith(start):
            raise FileError(f"{name}:{first.line}: this {what}.")


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number or a date, however it is written."""
    return is_number(cell) or is_disguised_number(cell) or is_date(cell)


def _names(cells: Sequence[str], name: str, line: int) -> tuple[str, ...]:
    names = tuple(cell or f"column {k}" for k, cell in enumerate(cells, start=1))
    for twin, count in Counter(names).items():
        if count > 1:
            first, second = [k for k, other in enumerate(names, start=1) if other == twin][:2]
            raise FileError(
                f"{name}:{line}:{second}: columns {first} and {second} are both called {twin!r}. Give them "
                "different names; or, if this line is data, say that there is no header.",
                Remedy.NO_HEADER,
            )
    return names


def _are_row_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and list(cells) == [str(n) for n in range(len(cells))]
