"""Columns of tables: which of them are used, and what they hold, for all formats."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list

__all__ = [
    "FROM_TYPES",
    "KINDS",
    "TableLayout",
    "check_kind",
    "choose_columns",
    "column_index",
    "missing_label_error",
]

KINDS = ("number", "word", "text")
FROM_TYPES = "named in types, or known to the model"


@dataclass(frozen=True)
class TableLayout:
    """The columns of a table: names, kinds, which are used, and which holds the labels."""

    name: str  # of the table
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    target: int | None
    used: tuple[int, ...]  # besides the target

    def location(self, line: int, k: int) -> str:
        """file:line:column of a cell of column k, for messages."""
        return f"{self.name}:{line}:{k + 1}"


def column_index(wanted: str | int, names: Sequence[str], name: str, option: str) -> int:
    """The index of a column, given by its name or its number from 1."""
    wanted = str(wanted)
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    near = [own for own in names if own.lower() == wanted.lower()] or difflib.get_close_matches(wanted, names)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"The columns are {quoted_list(names)}."
    raise DataError(f"{name}: there is no column {wanted!r} ({option}). {hint}")


def choose_columns(
    names: Sequence[str], name: str, target: str | int | bool | None, dropped: Collection[int]
) -> tuple[int | None, tuple[int, ...]]:
    """The index of the target, by default the last column, and those of the columns that are used besides."""
    used = [k for k in range(len(names)) if k not in dropped]
    target_index = None
    if target is None or target is True:
        target_index = used[-1] if used else None
    elif target is not False:
        target_index = column_index(target, names, name, "target")
    return target_index, tuple(k for k in used if k != target_index)


def check_kind(kind: str) -> str:
    """Return the kind of a column, or raise an error if there is no such kind."""
    if kind not in KINDS:
        raise DataError(f"A column holds one of {', '.join(map(repr, KINDS))}; found {kind!r}.")
    return kind


def missing_label_error(location: str, column: str) -> RowError:
    """The error for a row without a label."""
    return RowError(
        f'{location}: the label in column "{column}" is missing. Fill it in, pass over such rows, or name another '
        "target.",
        RejectCode.MISSING_LABEL,
    )
