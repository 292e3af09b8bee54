"""Columns: which of a table's are used, and what they hold, however the table is stored."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list

__all__ = ["BY_TYPE", "KINDS", "Columns", "chosen", "known_kind", "missing_label", "position"]

KINDS = ("number", "word", "text")
BY_TYPE = "named in types, or known to the model"


@dataclass(frozen=True)
class Columns:
    """The columns of a table: names, kinds, which are used, and which holds the labels."""

    name: str  # of the table
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    target: int | None
    used: tuple[int, ...]  # besides the target

    def place(self, line: int, k: int) -> str:
        return f"{self.name}:{line}:{k + 1}"


def position(wanted: str | int, names: Sequence[str], name: str, option: str) -> int:
    """Of a column, by its name or its number from 1."""
    wanted = str(wanted)
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    near = [own for own in names if own.lower() == wanted.lower()] or difflib.get_close_matches(wanted, names)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"The columns are {quoted_list(names)}."
    raise DataError(f"{name}: there is no column {wanted!r} ({option}). {hint}")


def chosen(
    names: Sequence[str], name: str, target: str | int | bool | None, dropped: Collection[int]
) -> tuple[int | None, tuple[int, ...]]:
    """Where the target is, by default the last column, and where the columns are that are used besides."""
    used = [k for k in range(len(names)) if k not in dropped]
    at = None
    if target is None or target is True:
        at = used[-1] if used else None
    elif target is not False:
        at = position(target, names, name, "target")
    return at, tuple(k for k in used if k != at)


def known_kind(kind: str) -> str:
    """The same, if there is such a kind."""
    if kind not in KINDS:
        raise DataError(f"A column holds one of {', '.join(map(repr, KINDS))}; found {kind!r}.")
    return kind


def missing_label(place: str, column: str) -> DataError:
    """The error for a row whose label is not there."""
    return DataError(
        f'{place}: the label in column "{column}" is missing. Fill it in, pass over such rows, or name another target.'
    )
