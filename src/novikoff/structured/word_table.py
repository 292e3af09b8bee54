"""Words as numbers, and what templates ask of them, computed once for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from novikoff._compiled.loops import tokens as kernels
from novikoff._compiled.loops.hashed_names import SEED, name_hashes
from novikoff.data.formats.block import in_one_memory
from novikoff.errors import DataError
from novikoff.structured.attributes import Attribute
from novikoff.structured.hash_table import Table
from novikoff.system.threads import Lock

__all__ = ["Words", "text_hashes"]


class Words:
    """Every different cell that has come along, numbered from 0, with the hash of each of its attributes.

    Parameters
    ----------
    attributes : list of (name, function)
        The function is None for the text itself.

    Attributes
    ----------
    texts : list of str
        The words, by their numbers.
    kept : int
        How many words are never forgotten: those that features are named by, and those that are being learned from.
    epoch : int
        How often words were forgotten: a number says the same word as before only within an epoch.
    lock : Lock
        For threads that look up words and values that must go together.

    Examples
    --------
    >>> from novikoff.structured.word_table import Words
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
        self.kept = self.epoch = 0
        self.lock = Lock()
        self._places = Table()
        self._values = np.zeros((256, len(self.attributes)), np.uint64)
        self._valued = 0  # how many words have their values

    def __len__(self) -> int:
        return len(self.texts)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle: the words that are kept, and nothing that other threads may change."""
        with self.lock:
            texts, valued = self.texts[: self.kept], min(self._valued, self.kept)
            return {
                **self.__dict__,
                "texts": texts,
                "_places": _places_of(texts),
                "_valued": valued,
                "_values": self._values[: max(1, self.kept)].copy(),
                "lock": Lock(),
            }

    def numbers(self, rows: Collection[Iterable[Any]], n: int) -> np.ndarray:
        """The number of each cell of all rows, none of which is without cells, n of them in all; a DataError, and
        nothing remembered, if a cell is not text."""
        text, spans = _cells_of(rows, n)
        hashes = _hashes_at(text, spans)
        with self.lock:
            if self._places.count != len(self.texts):  # Ctrl-C came between the two
                self._places = _places_of(self.texts)
            found = self._places.places(hashes)
            missing = np.flatnonzero(found < 0)
            if missing.size:
                fresh = missing[np.sort(np.unique(hashes[missing], return_index=True)[1])]  # each once, as they came
                new = (text[begin:end].tobytes() for begin, end in spans[fresh].tolist())
                self.texts += [word.decode("utf-8", "surrogatepass") for word in new]
                self._places.add(hashes[fresh])
                found[missing] = self._places.places(hashes[missing])
        return found

    def values(self) -> np.ndarray:
        """The hash of each attribute (a column) of each word (a row); 0 where it has nothing to say."""
        with self.lock:
            n = len(self)
            if n > self._valued:
                self._value_up_to(n)
            return self._values[:n]

    def _value_up_to(self, n: int) -> None:
        if n > len(self._values):
            larger = np.zeros((max(n, 2 * len(self._values)), len(self.attributes)), np.uint64)
            larger[: self._valued] = self._values[: self._valued]
            self._values = larger
        new = self.texts[self._valued : n]
        for k, (name, function) in enumerate(self.attributes):
            hashes = text_hashes(new) if function is None else _hashes_of(name, function, new)
            self._values[self._valued : n, k] = hashes
        self._valued = n

    def forget(self) -> None:
        """Forget the words that need not be kept: their numbers go to others. What `values` has given before stays as
        it is."""
        with self.lock:
            if self.kept >= len(self.texts):
                return
            self._values, self._valued = self._values.copy(), min(self._valued, self.kept)
            self.epoch += 1
            del self.texts[self.kept :]
            self._places = _places_of(self.texts)


def _hashes_at(text: np.ndarray, spans: np.ndarray) -> np.ndarray:
    hashes = np.empty(len(spans), np.uint64)
    kernels.word_hashes(text, spans, hashes)
    return hashes


def _places_of(texts: list[str]) -> Table:
    """The number of each of these words."""
    text, spans = in_one_memory(texts)
    return Table.of(_hashes_at(text, spans.astype(np.int64)))


def _cells_of(rows: Collection[Iterable[Any]], n: int) -> tuple[np.ndarray, np.ndarray]:
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
