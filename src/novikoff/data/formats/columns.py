"""Columns of tables: which of them are used, and what they hold, for all formats."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize, quoted_list

__all__ = [
    "FROM_TYPES",
    "KINDS",
    "TARGET_NAMES",
    "TableLayout",
    "UnnamedColumns",
    "check_kind",
    "choose_columns",
    "column_index",
    "declared_kinds",
    "find_target_name",
    "missing_label_error",
    "name_column",
    "position_of",
]

KINDS = ("number", "word", "text")
FROM_TYPES = "named in types, or known to the model"
TARGET_NAMES = ("label", "class", "target", "y")
_TARGET_WORDS = frozenset(["label", "labels", "class", "classes", "classname", "classlabel", "target", "targets"])
_BESIDE_TARGET = frozenset(["y", "name", "names", "true", "variable", "column", "attribute", "value"])
_UNNAMED = "column {}"


@dataclass(frozen=True)
class TableLayout:
    """The columns of a table: names, kinds, which are used, and which holds the labels."""

    name: str  # of the table
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    target: int | None
    used: tuple[int, ...]  # besides the target
    target_reason: str = field(default="", kw_only=True)  # why it is the target, if the caller has not named it

    def location(self, line: int, k: int) -> str:
        """file:line:column of a cell of column k, for messages."""
        return f"{self.name}:{line}:{k + 1}"


@dataclass(frozen=True)
class UnnamedColumns:
    """The columns of tables without a header, as a model has learned from them: they are named by their numbers.

    Attributes
    ----------
    count : int
        How many there are, also those that are not used.
    label : str or None
        The name of the column of the labels, which tables to predict may lack.

    Examples
    --------
    >>> from novikoff.data.formats.columns import UnnamedColumns
    >>> columns = UnnamedColumns(4, "column 2")
    >>> columns.names(4, "new.csv")
    ('column 1', 'column 2', 'column 3', 'column 4')
    >>> columns.names(3, "new.csv")
    ('column 1', 'column 3', 'column 4')
    """

    count: int
    label: str | None = None

    @classmethod
    def from_names(cls, names: Collection[str], label: str | None, count: int = 0) -> UnnamedColumns | None:
        """Return the columns that these names belong to; None if one of them is not that of a column without a name."""
        positions = [position_of(name) for name in (*names, *([] if label is None else [label]))]
        known = [position for position in positions if position is not None]
        return cls(max(count, *known), label) if names and len(known) == len(positions) else None

    def fits(self, width: int) -> bool:
        """Return whether a table of this width has all columns, or all but the labels."""
        return width == self.count or (width == self.count - 1 and self.label is not None)

    def names(self, width: int, table: str) -> tuple[str, ...]:
        """Return the names of the columns of a table of this width: all, or all but the labels."""
        names = tuple(_UNNAMED.format(k) for k in range(1, self.count + 1))
        if self.fits(width):
            return tuple(name for name in names if width == self.count or name != self.label)
        raise FileError(
            f"{table} has {pluralize(width, 'column')} without names; the model has learned from tables with "
            f"{self.count}, the labels included. If the first line names them, say that there is a header.",
            Remedy.HEADER,
        )


def position_of(name: str) -> int | None:
    """Return the number, from 1, of a column of a table without a header; None for a name that people have given."""
    found = re.fullmatch(_UNNAMED.format(r"([1-9]\d*)"), name, re.ASCII)
    return int(found[1]) if found else None


def column_index(wanted: str | int, names: Sequence[str], name: str, option: str) -> int:
    """Return the index of a column, given by its name; its number from 1, or from -1 at the end; or as first or
    last."""
    wanted = str(wanted)
    if wanted in names:
        return names.index(wanted)
    number = {"first": "1", "last": "-1"}.get(wanted, wanted)
    if re.fullmatch(r"-?\d+", number, re.ASCII) and 1 <= abs(int(number)) <= len(names):
        return int(number) - 1 if int(number) > 0 else len(names) + int(number)
    near = [own for own in names if own.lower() == wanted.lower()] or difflib.get_close_matches(wanted, names)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"The columns are {quoted_list(names)}."
    # Names such as "column 1" may have been taken for lack of a header.
    remedies = [Remedy.HEADER] if names and position_of(names[0]) else []
    raise FileError(f"{name}: there is no column {wanted!r} ({option}). {hint}", *remedies)


def find_target_name(names: Sequence[str]) -> str | None:
    """The column that is called label, class, target or y, in any case, if there is just one.

    Otherwise, one that is called Class Name, class_label, TargetVariable or similarly, if there is just one.

    A y beside an x is a coordinate.

    >>> from novikoff.data.formats.columns import find_target_name
    >>> find_target_name(["Class", "a"]), find_target_name(["x", "y", "kind"]), find_target_name(["y", "label"])
    ('Class', None, None)
    >>> find_target_name(["ClassName", "a"]), find_target_name(["class", "class name"]), find_target_name(["workclass"])
    ('ClassName', 'class', None)
    """
    lower = [name.strip().lower() for name in names]
    wanted = [own for own in TARGET_NAMES if own != "y" or "x" not in lower]
    found = [name for name, own in zip(names, lower, strict=True) if own in wanted]
    if not found:
        found = [name for name in names if _is_about_target(name)]
    return found[0] if len(found) == 1 else None


def _is_about_target(name: str) -> bool:
    """Whether a name of several words says nothing but that the column holds labels."""
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name)}
    return not words.isdisjoint(_TARGET_WORDS) and words <= _TARGET_WORDS | _BESIDE_TARGET


def choose_columns(
    names: Sequence[str],
    name: str,
    target: str | int | bool | None,
    dropped: Collection[int],
    only: Collection[str] | None = None,
) -> tuple[int | None, tuple[int, ...], str]:
    """Return the index of the target, those of the columns that are used besides, and why this is the target.

    By default it is the column that `find_target_name` finds, otherwise the last one. Only columns in `only` are used,
    if it is given.
    """
    kept = [k for k in range(len(names)) if k not in dropped]
    target_index, reason = None, ""
    if target is None or target is True:
        known = find_target_name([names[k] for k in kept])
        target_index = names.index(known) if known else kept[-1] if kept else None
        reason = "by its name" if known else "the last column"
    elif target is not False:
        target_index = column_index(target, names, name, "target")
    used = tuple(k for k in kept if k != target_index and (only is None or names[k] in only))
    return target_index, used, reason


def declared_kinds(types: Mapping[str, str], names: Sequence[str], name: str) -> dict[int, str]:
    """Return the kinds of columns that the caller declares, by their indices."""
    return {column_index(column, names, name, FROM_TYPES): check_kind(kind) for column, kind in types.items()}


def name_column(number: int) -> str:
    """Return the name of a column that has none, by its number from 1."""
    return f"column {number}"


def check_kind(kind: str) -> str:
    """Return the kind of a column, or raise an error if there is no such kind."""
    if kind not in KINDS:
        raise DataError(f"A column holds one of {', '.join(map(repr, KINDS))}; found {kind!r}.")
    return kind


def missing_label_error(location: str, column: str) -> RowError:
    """Return the error for a row without a label."""
    return RowError(
        f'{location}: the label in column "{column}" is missing. Fill it in, pass over such rows, or name another '
        "target.",
        RejectCode.MISSING_LABEL,
        column,
    )
