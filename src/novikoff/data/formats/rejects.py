"""Rejects: rows that could not be read, each with its location and a reason code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from novikoff.errors import DataError

__all__ = ["Reject", "RejectCode", "RowError"]


class RejectCode(StrEnum):
    """Why a row could not be read."""

    ENCODING = "encoding"  # bytes that are not UTF-8, or zero bytes
    SYNTAX = "syntax"  # not what a row of the format looks like
    QUOTES = "quotes"  # a quote that is not closed, or is followed by something other than a delimiter
    CELL_SIZE = "cell-size"  # a cell longer than Python's csv module takes
    WIDTH = "width"  # more or fewer cells than the first line has
    NOT_A_NUMBER = "not-a-number"  # something else where a number is expected
    OTHER_DECIMAL = "other-decimal"  # a number that is written in another way than those of its column
    OTHER_DATE = "other-date"  # a date where its column holds other numbers, or dates written in another order
    TOO_LARGE = "too-large"  # an infinite number, one of 1e150 and more, or an index that is too large
    MISSING_LABEL = "missing-label"  # an empty cell, or no key, where the label should be
    BAD_LABEL = "bad-label"  # a line that does not begin with a label of the form that its format requires
    DUPLICATE = "duplicate"  # a feature or key twice in a row
    KIND = "kind"  # a value of another kind than its key has held so far
    NESTING = "nesting"  # objects within objects, too deep to read
    OTHER = "other"


@dataclass(frozen=True)
class Reject:
    """A row that could not be read.

    Attributes
    ----------
    line : int
        The line that it begins on, from 1; in files without lines, the row.
    reason : str
        "file:line:column: what is wrong", a sentence for people.
    text : bytes
        The row as it is in the source; of a binary file, as JSON.
    code : RejectCode
        The kind of reason, for programs.
    """

    line: int
    reason: str
    text: bytes
    code: RejectCode = RejectCode.OTHER

    @classmethod
    def from_error(cls, line: int, error: RowError, text: bytes) -> Reject:
        return cls(line, str(error), text, error.code)


class RowError(DataError):
    """A row that cannot be read; `code` is the one that its `Reject` would have, `column` the name of the column at
    fault, "" if there is none."""

    def __init__(self, message: str, code: RejectCode, column: str = "") -> None:
        super().__init__(message)
        self.code, self.column = code, column

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.column)
