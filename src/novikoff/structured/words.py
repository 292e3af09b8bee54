"""Words as numbers, and what templates ask of them, computed once for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from threading import RLock
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.kernels import tokens as kernels
from novikoff.kernels.names import SEED, name_hashes
from novikoff.streams.block import in_one_memory
from novikoff.structured.attributes import Attribute
from novikoff.structured.table import Table

__all__ = ["Words", "text_hashes"]

_one_at_a_time = RLock()  # for threads that meet new words; not one in each Words, as a lock cannot be copied


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
    >>> words.numbers([["The", "the"], ["The"]], 3).tolist()
    [0, 1, 0]
    >>> the, lower = words.values().T
    >>> bool(the[0] == the[1]), bool(lower[0] == lower[1])
    (False, True)
    """

    def __init__(self, attributes: Sequence[tuple[str, Attribute | None]]) -> None:
        self.attributes = list(attributes)
        self.texts: list[str] = []
        self._places = Table()
        self._values = np.zeros((256, len(self.attributes)), np.uint64)
        self._valued = 0  # how many words have their values

    def __len__(self) -> int:
        return len(self.texts)

    def numbers(self, rows: Collection[Iterable[Any]], n: int) -> np.ndarray:
        """The number of each cell of all rows, of which there are n and none is empty; a DataError, and nothing
        remembered, if a cell is not text."""
        text, spans = _in_one_memory(rows, n)
        hashes = np.empty(n, np.uint64)
        kernels.word_hashes(text, spans, hashes)
        found = self._places.places(hashes)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            with _one_at_a_time:
                fresh = missing[self._places.add(hashes[missing])]
                new = (text[begin:end].tobytes() for begin, end in spans[fresh].tolist())
                self.texts += [word.decode("utf-8", "surrogatepass") for word in new]
                found[missing] = self._places.places(hashes[missing])
        return found

    def values(self) -> np.ndarray:
        """The hash of each attribute (a column) of each word (a row); 0 where it has nothing to say."""
        n = len(self)
        if n > self._valued:
            with _one_at_a_time:
                self._value_up_to(n)
        return self._values[:n]

    def _value_up_to(self, n: int) -> None:
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

    def forget(self, n: int) -> None:
        """All but the first n words."""
        with _one_at_a_time:
            places = Table()
            places.enter(self._places.keys()[:n])
            self._places = places
            del self.texts[n:]
            self._valued = min(self._valued, n)


def _in_one_memory(rows: Collection[Iterable[Any]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The UTF-8 of all cells, and where each begins and ends."""
    try:
        joined = "\0".join(map("\0".join, rows))
    except TypeError as error:
        bad = next((cell for row in rows for cell in row if not isinstance(cell, str)), None)
        raise DataError(f"Words must be text; found {bad!r}, of type {type(bad).__name__}.") from error
    text, spans = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8), np.empty((n, 2), np.int64)
    if kernels.part_words(text, spans):
        return text, spans
    cells = [cell for row in rows for cell in row]  # a word may hold a zero byte
    if len(cells) != n:
        raise DataError(f"The lengths of sentences add up to {n}, but their words to {len(cells)}. Pass lists.")
    text, spans = in_one_memory(cells)
    return text, spans.astype(np.int64)


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
