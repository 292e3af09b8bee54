"""Notations: the ways in which people write numbers in tables, besides the plain one.

    plain            -1.5e3                       what compiled code reads
    decimal-point    1,003.5   $51.257   12 %     digits in groups of three, a currency or percent sign
    decimal-comma    1.003,5   51,257 €  12,5%
    boolean          true, FALSE                  1 and 0
    year-first, day-first, month-first            dates, as seconds since 1970 (dates.py)

Currency and percent signs are left out: 12 % is 12, not 0.12. In each of these notations some words stand for a number
that is missing, such as unknown or -; in a categorical column they are values like any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.dates import ORDERS, parse_date, parse_plain_dates
from novikoff.data.formats.sniffing import MISSING, is_number, is_placeholder
from novikoff.errors import DataError

__all__ = [
    "DATES",
    "OTHER_DECIMAL",
    "SIGNS",
    "Notation",
    "check_notation",
    "is_date",
    "is_disguised_number",
    "parse_cell",
    "parse_cells",
]

SIGNS = "$€£¥₹₩₽₺₪₫฿₴%‰"


class Notation(StrEnum):
    """How the numbers of a column are written."""

    PLAIN = "plain"
    DECIMAL_POINT = "decimal-point"
    DECIMAL_COMMA = "decimal-comma"
    BOOLEAN = "boolean"
    YEAR_FIRST = "year-first"
    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


DATES = tuple(map(Notation, ORDERS))
OTHER_DECIMAL = {
    Notation.DECIMAL_POINT: Notation.DECIMAL_COMMA,
    Notation.DECIMAL_COMMA: Notation.DECIMAL_POINT,
}
_GROUP_MARKS = " '’\u00a0\u202f"
_HAS_DIGIT = re.compile(r"\d", re.ASCII)
_BOOLEANS = {"true": 1.0, "false": 0.0}


def _number_pattern(decimal: str, group: str) -> str:
    """Return a pattern of numbers whose fraction begins with `decimal`, and whose digits may be in groups of three."""
    groups = "|".join(rf"(?:{re.escape(mark)}\d{{3}})+" for mark in group + _GROUP_MARKS)
    grouped = rf"[1-9]\d{{0,2}}(?:{groups})"
    digits = rf"(?:(?:{grouped}|\d+)(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?"
    return rf"(?:[+-]?(?:[{SIGNS}] ?)?|[{SIGNS}] ?[+-]){digits}(?:[ \u00a0\u202f]?[{SIGNS}])?"


_PATTERNS = {
    Notation.DECIMAL_POINT: _number_pattern(r"\.", ","),
    Notation.DECIMAL_COMMA: _number_pattern(",", "."),
}
_ONE = {notation: re.compile(pattern, re.ASCII) for notation, pattern in _PATTERNS.items()}
_MANY = {notation: re.compile(rf"(?:{pattern}\n)*", re.ASCII) for notation, pattern in _PATTERNS.items()}
_LEFT_OUT = dict.fromkeys(map(ord, SIGNS + _GROUP_MARKS))
_CLEANED = {
    Notation.DECIMAL_POINT: _LEFT_OUT | {ord(","): None},
    Notation.DECIMAL_COMMA: _LEFT_OUT | {ord("."): None, ord(","): "."},
}


def check_notation(notation: str) -> Notation:
    """Return a notation, or raise an error if there is no such one."""
    try:
        return Notation(notation)
    except ValueError:
        known = ", ".join(repr(each.value) for each in Notation)
        raise DataError(f"The notation of a column is one of {known}; found {notation!r}.") from None


def is_disguised_number(cell: str) -> bool:
    """Return whether a cell is a number with a decimal point or comma, perhaps with a sign or digits in groups."""
    return any(pattern.fullmatch(cell) for pattern in _ONE.values())


def is_date(cell: str) -> bool:
    """Return whether a cell is a date, in any order."""
    has_digit = _HAS_DIGIT.search(cell) is not None  # most words have none
    return has_digit and any(parse_date(cell, order) < math.inf for order in ORDERS)


def parse_cell(cell: str, notation: Notation) -> float:
    """Return the number in a cell: NaN if it is missing, infinity if it is no number in this notation, or too large.

    In a plain column, a number with a sign or with digits in groups is read with a decimal point, unless it would be
    another one with a decimal comma: 1,003.5 is read, 1,003 is not.

    >>> from novikoff.data.formats.notations import Notation, parse_cell
    >>> parse_cell("1.003,5", Notation.DECIMAL_COMMA), parse_cell("$1,003", Notation.DECIMAL_POINT)
    (1003.5, 1003.0)
    >>> [parse_cell(cell, Notation.PLAIN) for cell in ("1e3", "1,003.5", "1,003", "unknown")]
    [1000.0, 1003.5, inf, nan]
    """
    if cell.lower() in MISSING or is_placeholder(cell):
        return math.nan
    if notation in DATES:
        return parse_date(cell, notation)
    if notation is Notation.BOOLEAN:
        return _BOOLEANS.get(cell.lower(), math.inf)
    if notation is Notation.PLAIN:
        if is_number(cell):
            return _within_limit(float(cell))
        number = parse_cell(cell, Notation.DECIMAL_POINT)
        return number if parse_cell(cell, Notation.DECIMAL_COMMA) in (number, math.inf) else math.inf
    if not _ONE[notation].fullmatch(cell):
        return math.inf
    return _within_limit(float(cell.translate(_CLEANED[notation])))


def parse_cells(cells: Sequence[str], notation: Notation) -> np.ndarray:
    """Return the numbers in cells, as `parse_cell` reads each of them: all at once, if every cell is valid."""
    is_present = [not (cell.lower() in MISSING or is_placeholder(cell)) for cell in cells]
    if all(is_present):
        return _parse_present(cells, notation)
    numbers = np.full(len(cells), np.nan)
    numbers[is_present] = _parse_present(
        [cell for cell, present in zip(cells, is_present, strict=True) if present], notation
    )
    return numbers


def _parse_present(cells: Sequence[str], notation: Notation) -> np.ndarray:
    """Return the numbers in cells that are not missing."""
    if notation in _MANY and _MANY[notation].fullmatch(text := "".join(f"{cell}\n" for cell in cells)):
        numbers = np.array(text.translate(_CLEANED[notation]).split(), np.float64)
        return np.where(np.abs(numbers) < VALUE_LIMIT, numbers, np.inf)
    if notation is Notation.YEAR_FIRST and (dates := parse_plain_dates(cells)) is not None:
        return dates
    return np.array([parse_cell(cell, notation) for cell in cells], np.float64)


def _within_limit(number: float) -> float:
    return number if abs(number) < VALUE_LIMIT else math.inf
