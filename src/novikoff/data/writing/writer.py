"""What all writers are: something that takes blocks, one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container
from typing import BinaryIO

from novikoff.data.formats.block import Block
from novikoff.data.writing.columns import Columns
from novikoff.errors import DataError

__all__ = ["TableWriter", "Writer", "require_free"]


class Writer(ABC):
    """Rows to a file in one format.

    Parameters
    ----------
    file : binary file
    label : str
        What the labels are called, in formats where they have a name.
    """

    def __init__(self, file: BinaryIO, label: str) -> None:
        self.file, self.label = file, label

    @abstractmethod
    def write(self, block: Block) -> None:
        """The rows of one block."""

    def close(self) -> None:
        """What comes after the last row."""
        return

    def abandon(self) -> None:
        """Let go of the file after an error: it is removed, whatever it holds."""
        return

    def beside(self) -> dict[str, bytes]:
        """What cannot be said in the format itself, by the extension of the file that it goes to."""
        return {}


class TableWriter(Writer):
    """One that must know all columns before the first row."""

    def __init__(self, file: BinaryIO, label: str, columns: Columns) -> None:
        super().__init__(file, label)
        self.columns = columns


def require_free(label: str, names: Container[str], place: str) -> None:
    """Raise if the labels would have a name that is taken."""
    if label in names:
        raise DataError(
            f"{place}: a column is called {label!r}, as the labels would be. Give them another name (--label)."
        )
