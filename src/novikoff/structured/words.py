"""Words as numbers, and what templates ask of them, computed once for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.kernels.names import SEED, name_hashes
from novikoff.streams.block import in_one_memory
from novikoff.structured.attributes import Attribute

__all__ = ["Words", "text_hashes"]


class _Numbers(dict[str, int]):
    """A number for each word, the next one for a new word."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.texts)
        self.texts.append(word)
        return number


class Words:
    """Every different cell that has come along, numbered from 0, with the hash of each of its attributes.

    Parameters
    ----------
    attributes : list of (name, function)
        The function is None for the text itself.

    Examples
    --------
    >>> from novikoff.structured.words import Words
    >>> words = Words([("text", None), ("lower", str.lower)])
    >>> words.numbers(["The", "the", "The"]).tolist()
    [0, 1, 0]
    >>> the, lower = words.values().T
    >>> bool(the[0] == the[1]), bool(lower[0] == lower[1])
    (False, True)
    """

    def __init__(self, attributes: Sequence[tuple[str, Attribute | None]]) -> None:
        self.attributes = list(attributes)
        self._numbers = _Numbers()
        self._values = np.zeros((256, len(self.attributes)), np.uint64)
        self._valued = 0  # how many words have their values

    @property
    def texts(self) -> list[str]:
        return self._numbers.texts

    def __len__(self) -> int:
        return len(self.texts)

    def numbers(self, cells: Iterable[Any], n: int = -1) -> np.ndarray:
        """The number of each cell, of which there are n if that is known; a DataError, and nothing remembered, if one
        of them is not text."""
        before = len(self)
        try:
            found = np.fromiter(map(self._numbers.__getitem__, cells), np.int32, n)
            bad = next((word for word in self.texts[before:] if not isinstance(word, str)), None)
        except TypeError as error:  # a list is no key
            self.forget(before)
            raise DataError(f"Words must be text: {error}.") from error
        except ValueError as error:  # fewer than n
            self.forget(before)
            raise DataError(f"Sentences hold fewer words than their lengths say ({error}). Pass lists.") from error
        if bad is not None:
            self.forget(before)
            raise DataError(f"Words must be text; found {bad!r}, of type {type(bad).__name__}.")
        return found

    def values(self) -> np.ndarray:
        """The hash of each attribute (a column) of each word (a row); 0 where it has nothing to say."""
        n = len(self)
        if n > len(self._values):
            larger = np.zeros((max(n, 2 * len(self._values)), len(self.attributes)), np.uint64)
            larger[: self._valued] = self._values[: self._valued]
            self._values = larger
        new = self.texts[self._valued : n]
        if new:
            for k, (name, function) in enumerate(self.attributes):
                hashes = text_hashes(new) if function is None else _hashes_of(name, function, new)
                self._values[self._valued : n, k] = hashes
            self._valued = n
        return self._values[:n]

    def forget(self, n: int) -> None:
        """All but the first n words."""
        for word in self.texts[n:]:
            del self._numbers[word]
        del self.texts[n:]
        self._valued = min(self._valued, n)


def text_hashes(texts: Sequence[str]) -> np.ndarray:
    """A hash for each text, the same in every process and on every machine."""
    memory, spans = in_one_memory(texts)
    hashes = np.empty(len(texts), np.uint64)
    name_hashes(memory, spans, np.full(len(texts), SEED), hashes)
    return hashes


def _hashes_of(name: str, function: Attribute, words: list[str]) -> np.ndarray:
    found = list(map(function, words))
    texts = [
        value if type(value) is str else _text(name, word, value) for word, value in zip(words, found, strict=True)
    ]
    hashes = text_hashes(texts)
    hashes[[not value for value in found]] = 0
    return hashes


def _text(name: str, word: str, value: Any) -> str:
    """What an attribute has answered, if that is not text already."""
    if value is None or isinstance(value, (bool, np.bool_, str)):
        return str(value or "")
    raise DataError(f"The attribute {name!r} of {word!r} is {value!r}; an attribute is text, or True, or None.")
