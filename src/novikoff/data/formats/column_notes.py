"""Notes on columns: what numbers in disguise were taken for, in words, with an example each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from novikoff.data.formats.column_kinds import ColumnKind
from novikoff.data.formats.delimited_layout import DelimitedLayout
from novikoff.data.formats.notations import DATES, OTHER_DECIMAL, SIGNS, Notation, parse_cell

__all__ = ["ColumnNote", "note_columns"]


@dataclass(frozen=True)
class ColumnNote:
    """What columns were taken for.

    Attributes
    ----------
    columns : tuple of str
    text : str
        A phrase, such as "numbers with a decimal comma: 51,257 is 51.257".
    other_decimal : str
        The decimal mark with which the example would be another number, "" if there is none.
    are_dates : bool
        Whether the columns hold dates.
    is_undecided : bool
        Whether these may be day-first or month-first.
    """

    columns: tuple[str, ...]
    text: str
    other_decimal: str = ""
    are_dates: bool = False
    is_undecided: bool = False


def note_columns(layout: DelimitedLayout) -> list[ColumnNote]:
    """Notes on the columns that are used and not plain, one for all columns that are alike."""
    found: dict[str, list[str]] = {}
    notes: dict[str, ColumnNote] = {}
    for k in (*layout.used, *([] if layout.target is None else [layout.target])):
        for key, note in _notes_on(layout.columns[k]):
            notes.setdefault(key, note)
            found.setdefault(key, []).append(layout.names[k])
    return [
        ColumnNote(tuple(found[key]), note.text, note.other_decimal, note.are_dates, note.is_undecided)
        for key, note in notes.items()
    ]


def _notes_on(column: ColumnKind) -> Iterator[tuple[str, ColumnNote]]:
    """Yield the notes on a column, each with a key that is the same for columns of one notation."""
    if column.is_undecided:
        text = "dates, day-first or month-first, which the first rows do not tell; read as words"
        yield "undecided", ColumnNote((), text, is_undecided=True)
    if column.kind != "number":
        return
    if column.example:
        yield _note_on_notation(column)
    if column.placeholders:
        listed = ", ".join(f'"{cell[:20]}"' for cell in column.placeholders)
        text = f"numbers; {listed} {'counts' if len(column.placeholders) == 1 else 'count'} as missing"
        yield text, ColumnNote((), text)


def _note_on_notation(column: ColumnKind) -> tuple[str, ColumnNote]:
    notation, example = column.notation, column.example[:40]
    number = parse_cell(column.example, notation)
    if notation in DATES:
        day = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=number)).date().isoformat()
        meaning = f"{number:.15g}" if notation is Notation.YEAR_FIRST else day
        text = f"dates, as seconds since 1970: {example} is {meaning}"
        return notation, ColumnNote((), text, are_dates=True)
    if notation is Notation.BOOLEAN:
        return notation, ColumnNote((), "true and false, as 1 and 0")
    what = "percentages" if "%" in example else "numbers"
    if what == "numbers" and any(sign in example for sign in SIGNS):
        what = "numbers with a sign, which is left out"
    if notation is Notation.DECIMAL_COMMA and "," in example:
        what = f"{what}, with a decimal comma" if "sign" in what else f"{what} with a decimal comma"
    elif what == "numbers":
        what = "numbers with digits in groups"
    other = parse_cell(column.example, OTHER_DECIMAL.get(notation, notation))
    other_decimal = "." if notation is Notation.DECIMAL_COMMA else ","
    is_open = other not in (number, math.inf)
    note = ColumnNote((), f"{what}: {example} is {number:.15g}", other_decimal if is_open else "")
    return f"{what} {is_open}", note
