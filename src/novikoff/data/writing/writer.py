"""What all writers have in common: they write one block after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container
from typing import BinaryIO

from novikoff.data.formats.block import Block
from novikoff.data.writing.table_header import TableHeader
from novikoff.errors import DataError

__all__ = ["BlockWriter", "TableWriter", "require_unused_name"]


class BlockWriter(ABC):
    """Writes blocks to a file in one format.

    Parameters
    ----------
    file : binary file
    label : str
        The name of the labels, in formats where they have one.
    """

    def __init__(self, file: BinaryIO, label: str) -> None:
        self.file, self.label = file, label

    @abstractmethod
    def write(self, block: Block) -> None:
        """Write the rows of one block."""

    def close(self) -> None:
        """Write what comes after the last row."""
        return

    def abandon(self) -> None:
        """Release the file after an error; it will be removed."""
        return

    def side_files(self) -> dict[str, bytes]:
        """Return the content of further files, by extension: names and labels, if the format itself has none."""
        return {}


class TableWriter(BlockWriter):
    """Writes tables, whose columns must be known before the first row."""

    def __init__(self, file: BinaryIO, label: str, header: TableHeader) -> None:
        super().__init__(file, label)
        self.header = header


def require_unused_name(label: str, names: Container[str], location: str) -> None:
    """Raise a DataError if a column has the name of the labels."""
    if label in names:
        raise DataError(
            f"{location}: a column is called {label!r}, as the labels would be. Give them another name (label)."
        )
