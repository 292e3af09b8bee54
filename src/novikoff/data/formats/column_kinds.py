"""Kinds of columns of delimited text, and the notation of their numbers, sniffed from the first rows.

Whether 1,234 is 1234 or 1.234 is decided by what is seen first of:

    1. the column      another cell fits only one of the two: 1,5 or 0,123, or 1,234.5 or 1,234,567
    2. the caller      `decimal`
    3. the file        another column fits only one of the two, and none only the other
    4. the delimiter   a decimal comma between semicolons, else a comma between thousands

A point, as in 1.234 or $51.257, is a decimal point unless the file has decimal commas by these rules. Where it has, a
column of integers is read as one with them too: a fraction may come later.

Dates such as 1/2/2024 are day-first or month-first if one of the days is above 12; if none is, and the caller does not
say, they stay words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from novikoff.data.formats.notations import DATES, OTHER_DECIMAL, SIGNS, Notation, parse_cell
from novikoff.data.formats.sniffing import MISSING, MOSTLY, is_number, is_placeholder, is_prose
from novikoff.errors import DataError

__all__ = ["DATE_OPTIONS", "DECIMALS", "ColumnKind", "NumberOptions", "sniff_columns"]

DECIMALS = (".", ",")
DATE_OPTIONS = ("number", "word", "drop", "day-first", "month-first")
_COMMA, _POINT = Notation.DECIMAL_COMMA, Notation.DECIMAL_POINT
_EXAMPLES = 3  # placeholders, for a message


@dataclass(frozen=True)
class NumberOptions:
    """What the caller says about numbers and dates.

    Attributes
    ----------
    decimal : {".", ","}, optional
        What fractions begin with, where the cells do not show it.
    dates : {"number", "word", "drop", "day-first", "month-first"}
        What columns of dates become; the last two are numbers, and say which part of 1/2/2024 is the day.
    notations : dict of str to str
        The notations of columns by name, as a model remembers them.
    """

    decimal: str | None = None
    dates: str = "number"
    notations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.decimal not in (None, *DECIMALS):
            raise DataError(f"decimal must be '.' or ','; found {self.decimal!r}.")
        if self.dates not in DATE_OPTIONS:
            raise DataError(f"dates must be one of {', '.join(map(repr, DATE_OPTIONS))}; found {self.dates!r}.")


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds.

    Attributes
    ----------
    kind : {"number", "word", "text"}
    notation : Notation
        Of numbers.
    example : str
        The first cell that is not a plain number, of a column that is read as numbers; else "".
    placeholders : tuple of str
        Some cells that count as missing because the column holds numbers.
    is_undecided : bool
        Whether it holds dates that may be day-first or month-first, and are words for that reason.
    is_dropped : bool
        Whether it holds dates that are to be left out.
    """

    kind: str
    notation: Notation = Notation.PLAIN
    example: str = ""
    placeholders: tuple[str, ...] = ()
    is_undecided: bool = False
    is_dropped: bool = False


class _Evidence:
    """The cells of a column that are not missing, and how many of them each notation can read."""

    def __init__(self, cells: Sequence[str], *, is_target: bool) -> None:
        self.cells, self.is_target = cells, is_target
        self.there = {cell: n for cell, n in Counter(cells).items() if cell.lower() not in MISSING}
        self.n_plain = sum(n for cell, n in self.there.items() if is_number(cell))
        self.total = sum(self.there.values())
        self.placeholders: tuple[str, ...] = ()
        self._counts: dict[Notation, int] = {}
        self.is_plain = self.n_plain == self.total
        if not self.is_plain and not is_target:
            placeholders = [cell for cell in self.there if is_placeholder(cell)]
            if len(placeholders) < len(self.there):
                self.placeholders = tuple(placeholders)
                for cell in placeholders:
                    self.total -= self.there.pop(cell)

    def count(self, notation: Notation) -> int:
        """Return how many cells are numbers in a notation."""
        if notation is Notation.PLAIN:
            return self.n_plain
        if notation not in self._counts:
            self._counts[notation] = sum(n for cell, n in self.there.items() if parse_cell(cell, notation) < math.inf)
        return self._counts[notation]

    def is_enough(self, n: int) -> bool:
        """Return whether n cells make the column numeric: all of them, or almost all, and then the others are mistakes;
        among labels, all."""
        return n == self.total or (not self.is_target and self.total - n < (1.0 - MOSTLY) * self.total)

    @property
    def has_one_sign(self) -> bool:
        """Whether all signs are the same: dollars and euros make no common number."""
        return len({character for cell in self.there for character in cell if character in SIGNS}) <= 1

    @property
    def has_comma(self) -> bool:
        return any("," in cell for cell in self.there)

    @property
    def shows_comma(self) -> bool:
        """Whether more cells are numbers with a decimal comma than with a decimal point."""
        return self.count(_COMMA) > self.count(_POINT)

    @property
    def shows_point(self) -> bool:
        return self.count(_POINT) > self.count(_COMMA)


def sniff_columns(
    columns: Sequence[Sequence[str]],
    target: int | None,
    *,
    declared: Mapping[int, str],
    notations: Mapping[int, Notation],
    options: NumberOptions,
    delimiter: str,
) -> list[ColumnKind]:
    """Return what each column holds, as the caller declares it or else as its cells show it.

    >>> from novikoff.data.formats.column_kinds import NumberOptions, sniff_columns
    >>> columns = [["51,257", "7"], ["12 %", "unknown"], ["a", "b"]]
    >>> kinds = sniff_columns(columns, 2, declared={}, notations={}, options=NumberOptions(), delimiter=";")
    >>> [(kind.kind, str(kind.notation)) for kind in kinds]
    [('number', 'decimal-comma'), ('number', 'decimal-comma'), ('word', 'plain')]
    """
    evidence = [_Evidence(cells, is_target=k == target) for k, cells in enumerate(columns)]
    found = []
    for k, own in enumerate(evidence):
        if declared.get(k) in ("word", "text"):
            found.append(ColumnKind(declared[k]))
        else:
            found.append(_sniff_column(own, declared.get(k), notations.get(k), options))
    decimal = _decide_decimal(evidence, found, options.decimal, delimiter)
    if decimal is not None:
        found = [
            kind if k in notations else _with_decimal(own, kind, decimal)
            for k, (own, kind) in enumerate(zip(evidence, found, strict=True))
        ]
    return [_with_example(own, kind) for own, kind in zip(evidence, found, strict=True)]


def _sniff_column(
    own: _Evidence, declared: str | None, notation: Notation | None, options: NumberOptions
) -> ColumnKind:
    """Return the kind of a column; a number that fits a decimal point and a decimal comma equally well gets the
    former."""
    if notation is not None:
        return ColumnKind("number", notation)
    if own.is_plain:
        return ColumnKind("number")
    notation = _find_notation(own, options, is_declared=declared == "number")
    if notation is not None and notation in DATES and declared is None and options.dates in ("word", "drop"):
        return ColumnKind("word", is_dropped=options.dates == "drop")
    if notation is not None or declared == "number":
        return ColumnKind("number", notation or Notation.PLAIN)
    n_dates = own.count(Notation.DAY_FIRST)
    is_undecided = not own.is_target and n_dates > 0 and own.is_enough(n_dates)
    if is_undecided and options.dates in ("word", "drop"):
        return ColumnKind("word", is_dropped=options.dates == "drop")
    cells = [cell for cell in own.cells if cell.lower() not in MISSING]
    is_text = not own.is_target and is_prose(cells)
    return ColumnKind("text" if is_text else "word", is_undecided=is_undecided and not is_text)


def _find_notation(own: _Evidence, options: NumberOptions, *, is_declared: bool) -> Notation | None:
    """Return the notation that reads most cells, if that is enough; None if none does, or two equally well."""
    candidates = [Notation.PLAIN, *((_COMMA, _POINT) if own.shows_comma else (_POINT, _COMMA))]
    if not own.is_target:
        order = options.dates if options.dates in ("day-first", "month-first") else None
        more = (Notation(order),) if order else (Notation.DAY_FIRST, Notation.MONTH_FIRST)
        candidates += [Notation.BOOLEAN, Notation.YEAR_FIRST, *more]
    best = max(candidates, key=own.count)  # of equals the first
    n = own.count(best)
    if best in (_COMMA, _POINT) and not own.has_one_sign:
        return None
    if best is Notation.DAY_FIRST and own.count(Notation.MONTH_FIRST) == n and Notation.MONTH_FIRST in candidates:
        return None
    if best is Notation.BOOLEAN and n < own.total:
        return None
    if best is Notation.PLAIN and own.placeholders:
        best = _POINT  # which knows placeholders without a detour
    return best if n and (is_declared or own.is_enough(n)) else None


def _decide_decimal(
    evidence: Sequence[_Evidence], found: Sequence[ColumnKind], wanted: str | None, delimiter: str
) -> str | None:
    """Return what fractions begin with where a column leaves it open; None if there is nothing to decide."""
    numeric = [
        (own, kind)
        for own, kind in zip(evidence, found, strict=True)
        if kind.kind == "number" and kind.notation in (Notation.PLAIN, _POINT, _COMMA)
    ]
    is_comma_seen = any(kind.notation is _COMMA for _, kind in numeric)
    is_open = any(kind.notation is _POINT and not own.shows_point for own, kind in numeric)
    if wanted == ".":
        return wanted if is_open else None
    if not (wanted or is_comma_seen or is_open):
        return None
    if wanted:
        return wanted
    is_point_seen = any(own.shows_point for own, _ in numeric)
    if is_comma_seen != is_point_seen:
        return "," if is_comma_seen else "."
    return "," if delimiter == ";" and any(own.has_comma for own, _ in numeric) else "."


def _with_decimal(own: _Evidence, kind: ColumnKind, decimal: str) -> ColumnKind:
    """Return a column of numbers, with a decimal comma if the file has them and the column does not show otherwise."""
    is_open = kind.kind == "number" and kind.notation in (Notation.PLAIN, _POINT) and not own.shows_point
    return replace(kind, notation=_COMMA) if decimal == "," and is_open and own.total else kind


def _with_example(own: _Evidence, kind: ColumnKind) -> ColumnKind:
    """Return a column of numbers with an example, if there is one that is not plain; better one that has one meaning
    only."""
    if kind.kind != "number":
        return kind
    cells = [cell for cell in own.there if not is_number(cell)]
    if kind.notation is _COMMA:  # 1.234 is a plain number too, and another one
        cells += [cell for cell in own.there if is_number(cell) and "." in cell]
    fitting = [cell for cell in cells if parse_cell(cell, kind.notation) < math.inf]
    clear = (cell for cell in fitting if parse_cell(cell, OTHER_DECIMAL.get(kind.notation, kind.notation)) == math.inf)
    example = next(clear, fitting[0] if fitting else "")
    return replace(kind, example=example, placeholders=own.placeholders[:_EXAMPLES])
