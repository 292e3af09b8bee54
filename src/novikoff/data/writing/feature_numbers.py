"""Numbers for feature names and labels, for formats that have only numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from novikoff.data.formats.block import Block
from novikoff.data.writing.shortest_decimals import format_numbers
from novikoff.errors import DataError

__all__ = ["FeatureNumbers", "LabelCodes", "format_labels", "to_one_line"]

_BLANKS = str.maketrans("\t\r\n", "   ")


def to_one_line(text: str) -> str:
    """Return a string with blanks for characters that would end a cell or a line."""
    return text.translate(_BLANKS)


class FeatureNumbers:
    """Numbers of feature names, from 1, in the order in which they come."""

    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}

    def number(self, name: str) -> int:
        """Return the number of a name, which may be new."""
        return self.number_of.setdefault(name, len(self.number_of) + 1)

    def to_lines(self) -> bytes:
        """Return a line for each name: number, tab, name."""
        return _number_lines((number, name) for name, number in self.number_of.items())


class LabelCodes:
    """Labels as numbers: numbers stay, strings become 0, 1, 2, ... in the order in which they come.

    >>> import numpy as np
    >>> from novikoff.data.writing.feature_numbers import LabelCodes
    >>> codes = LabelCodes()
    >>> codes.encode(np.array(["stay", "go", "stay"], object)), codes.to_lines()
    (['0', '1', '0'], b'0\\tstay\\n1\\tgo\\n')
    """

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self._are_strings: bool | None = None

    def encode_block(self, block: Block) -> list[str] | None:
        """Return the labels of a block as text, empty where one is missing; None if it has none."""
        if block.labels is None or not len(block):
            return None
        are_strings = block.labels.dtype == object
        if self._are_strings not in (None, are_strings):
            raise DataError(
                f"{block.source}: its labels are {_kind_name(are_strings)}, those before it "
                f"{_kind_name(not are_strings)}; as numbers they would be mixed up. Convert the files one by "
                "one."
            )
        self._are_strings = are_strings
        return self.encode(block.labels)

    def encode(self, labels: np.ndarray) -> list[str]:
        if labels.dtype != object:
            return format_numbers(labels)
        return [str(self.codes.setdefault(label, len(self.codes))) for label in labels.tolist()]

    def to_lines(self) -> bytes:
        """Return a line for each label that is a string: number, tab, label."""
        return _number_lines((code, label) for label, code in self.codes.items())


def format_labels(labels: np.ndarray) -> list[str]:
    """Return labels as text, for formats whose labels may be any text."""
    return format_numbers(labels) if labels.dtype != object else labels.tolist()


def _kind_name(are_strings: Any) -> str:
    return "words" if are_strings else "numbers"


def _number_lines(pairs: Iterable[tuple[int, str]]) -> bytes:
    return "".join(f"{number}\t{to_one_line(name)}\n" for number, name in pairs).encode()
