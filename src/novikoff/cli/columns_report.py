"""What the columns of a table are read as, in words, before the first row is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.cli.printable import printable
from novikoff.cli.progress import say

if TYPE_CHECKING:
    from novikoff.data.formats.column_notes import ColumnNote

__all__ = ["ColumnsReport", "describe_columns", "describe_note", "describe_notes"]

_LISTED = 8  # names of columns
_LONGEST = 40  # characters of a name


class ColumnsReport:
    """Says what the columns of tables are read as, once for all files that agree."""

    def __init__(self) -> None:
        self._last: tuple[str, Any] = "", None

    def add(self, reader: Any) -> None:
        """Describe the columns of a file, so that a wrong guess can be stopped before anything is learned."""
        if not getattr(reader, "names", ()):
            return
        description = describe_columns(reader), getattr(reader, "notations", None)
        if description != self._last:
            reason = getattr(getattr(reader, "layout", reader), "target_reason", "")
            say(f"{reader.name}: {description[0]}{f' ({reason})' if reason else ''}")
            for line in describe_notes(reader):
                say(f"  {line}")
        self._last = description
        if hasattr(reader, "notify"):
            reader.notify = lambda message: say(printable(message))


def describe_columns(reader: Any) -> str:
    """The columns by kind, such as: 2 numbers (age, hours), 1 word (town); target is_spam."""
    target, layout = reader.target_name, getattr(reader, "layout", None)
    kinds = {name: kind for name, kind in zip(reader.names, reader.kinds, strict=True) if name != target}
    if layout is not None:  # it also has the columns that are left out
        kinds |= {name: "left out" for k, name in enumerate(layout.names) if k not in (*layout.used, layout.target)}
    parts = []
    for kind, plural in (("number", "numbers"), ("word", "words"), ("text", "texts"), ("left out", "left out")):
        names = [name for name, other in kinds.items() if other == kind]
        if names:
            parts.append(f"{len(names):,} {kind if len(names) == 1 else plural} ({_list_names(names)})")
    return ", ".join(parts) + ("" if target is None else f"; target {printable(target, _LONGEST)}")


def describe_notes(reader: Any) -> list[str]:
    """What numbers in disguise were taken for, a line for all columns that are alike, and which option changes it."""
    if not hasattr(reader, "notations"):
        return []
    from novikoff.data.formats.column_notes import note_columns

    return [describe_note(note) for note in note_columns(reader.layout)]


def describe_note(note: ColumnNote) -> str:
    """A note, such as: price: numbers with a decimal comma: 51,257 is 51.257 (else --decimal .)"""
    advice = ""
    if note.is_undecided:
        advice = " (--dates day-first or month-first makes numbers of them)"
    elif note.are_dates:
        advice = " (--dates word or drop to change that)"
    elif note.other_decimal:
        advice = f" (otherwise say --decimal {note.other_decimal})"
    return f"{_list_names(list(note.columns))}: {printable(note.text)}{advice}"


def _list_names(names: list[str]) -> str:
    """The names, or the first few of many."""
    more = [f"... and {len(names) - _LISTED:,} more"] if len(names) > _LISTED + 1 else []
    return ", ".join([printable(name, _LONGEST) for name in (names[:_LISTED] if more else names)] + more)
