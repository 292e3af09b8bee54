"""Remedies: what the caller of a reader can do about an error in a file, for programs that have names of their own for
it, such as the options of the command line."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from novikoff.errors import DataError

__all__ = ["FileError", "Remedy"]


class Remedy(StrEnum):
    """What the caller can do about a file that cannot be read as it is."""

    NAME_TARGET = "name-target"
    NO_HEADER = "no-header"
    HEADER = "header"
    NAME_FORMAT = "name-format"  # csv
    NAME_TSV = "name-tsv"
    DROP_COLUMN = "drop-column"
    NAME_DELIMITER = "name-delimiter"


class FileError(DataError):
    """A file that cannot be read as it is, and what helps.

    Attributes
    ----------
    remedies : tuple of Remedy
    column : str
        The name of the column at fault, "" if there is none.
    """

    def __init__(self, message: str, *remedies: Remedy, column: str = "") -> None:
        super().__init__(message)
        self.remedies, self.column = remedies, column

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (str(self), self.remedies, self.column)


def _restore(message: str, remedies: tuple[Remedy, ...], column: str) -> FileError:
    return FileError(message, *remedies, column=column)
