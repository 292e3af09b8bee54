"""Naming: numbers for names, where a format knows only numbers; and the files beside the output that tell which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from novikoff.data.formats.block import Block
from novikoff.data.writing.shortest_decimals import number_texts
from novikoff.errors import DataError

__all__ = ["LabelCodes", "Numbering", "label_texts", "one_line"]

_BLANKS = str.maketrans("\t\r\n", "   ")


def one_line(text: str) -> str:
    """A name or a text with blanks for what would end a cell or a line."""
    return text.translate(_BLANKS)


class Numbering:
    """Names of features, numbered from 1 in the order in which they come."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def number(self, name: str) -> int:
        """That of a name, which may be new."""
        return self.places.setdefault(name, len(self.places) + 1)

    def listing(self) -> bytes:
        """A line for each: number, tab, name."""
        return _listing((number, name) for name, number in self.places.items())


class LabelCodes:
    """Labels as numbers: those that are numbers as they are, words as 0, 1, 2, ... in the order in which they come.

    >>> import numpy as np
    >>> from novikoff.data.writing.feature_numbers import LabelCodes
    >>> codes = LabelCodes()
    >>> codes.texts(np.array(["stay", "go", "stay"], object)), codes.listing()
    (['0', '1', '0'], b'0\\tstay\\n1\\tgo\\n')
    """

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self._are_words: bool | None = None

    def of_block(self, block: Block) -> list[str] | None:
        """The labels of a block, empty where one is missing; None if it has none."""
        if block.labels is None or not len(block):
            return None
        are_words = block.labels.dtype == object
        if self._are_words not in (None, are_words):
            raise DataError(
                f"{block.source}: its labels are {_what(are_words)}, those before it "
                f"{_what(not are_words)}; as numbers they would be mixed up. Convert the files one by "
                "one."
            )
        self._are_words = are_words
        return self.texts(block.labels)

    def texts(self, labels: np.ndarray) -> list[str]:
        if labels.dtype != object:
            return number_texts(labels)
        return [str(self.codes.setdefault(label, len(self.codes))) for label in labels.tolist()]

    def listing(self) -> bytes:
        """A line for each word: number, tab, word."""
        return _listing((code, label) for label, code in self.codes.items())


def label_texts(labels: np.ndarray) -> list[str]:
    """Labels as they are, for formats that take any."""
    return number_texts(labels) if labels.dtype != object else labels.tolist()


def _what(are_words: Any) -> str:
    return "words" if are_words else "numbers"


def _listing(pairs: Iterable[tuple[int, str]]) -> bytes:
    return "".join(f"{number}\t{one_line(name)}\n" for number, name in pairs).encode()
