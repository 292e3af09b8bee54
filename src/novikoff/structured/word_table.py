"""WordTable: ids for words, and the hashes of their attributes, computed once for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from novikoff._compiled.loops import tokens as loops
from novikoff._compiled.loops.hashed_names import SEED, name_hashes
from novikoff.data.formats.block import pack_strings
from novikoff.errors import DataError
from novikoff.structured.attributes import Attribute
from novikoff.structured.hash_table import HashTable
from novikoff.system.threads import Lock

__all__ = ["WordTable", "hash_texts"]


class WordTable:
    """All distinct cells seen so far, with ids from 0 on, and the hash of each of their attributes.

    Parameters
    ----------
    attributes : list of (name, function)
        The function is None for the text itself.

    Attributes
    ----------
    texts : list of str
        The words by id.
    n_kept : int
        The first words are never forgotten: those that feature names are made of, and those that are being learned
        from.
    epoch : int
        How often words were forgotten: an id stands for the same word only within an epoch.
    lock : Lock
        For calls that need ids and hashes of the same epoch. A thread that holds it may be in the middle of a change,
        from which a signal handler, a finalizer or an attribute of the user has called the tagger again: such a call
        uses a table of its own, from `copy_first`.

    Examples
    --------
    >>> from novikoff.structured.word_table import WordTable
    >>> words = WordTable([("text", None), ("lower", str.lower)])
    >>> words.encode([["The", "the"], ["The"]], 3).tolist()
    [0, 1, 0]
    >>> text, lower = words.attribute_hashes().T
    >>> bool(text[0] == text[1]), bool(lower[0] == lower[1])
    (False, True)
    """

    def __init__(self, attributes: Sequence[tuple[str, Attribute | None]]) -> None:
        self.attributes = list(attributes)
        self.texts: list[str] = []
        self.n_kept = self.epoch = 0
        self.lock = Lock()
        self._table = HashTable()
        self._hashes = np.zeros((256, len(self.attributes)), np.uint64)
        self._n_hashed = 0  # words whose attributes are hashed

    def __len__(self) -> int:
        return len(self.texts)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle: only the words that are kept, and nothing that other threads may change."""
        with self.lock:
            return self.copy_first(self.n_kept).__dict__

    def copy_first(self, n: int) -> WordTable:
        """Return a table of the first n words, for any n that `n_kept` will not fall below.

        These words and their hashes do not change, so no lock is needed: this thread or another one may be in the
        middle of any change of the table.
        """
        table = WordTable(self.attributes)
        table.texts, table.n_kept = self.texts[:n], n
        table._table = _index_words(table.texts)
        table._n_hashed = min(self._n_hashed, n)  # read before the hashes, of which there may only be more afterwards
        table._hashes = self._hashes[: max(1, n)].copy()
        return table

    def encode(self, rows: Collection[Iterable[Any]], n: int) -> np.ndarray:
        """Return the word id of each cell of all rows; new words are added.

        No row is empty, and all together have n cells. If a cell is not text, a DataError is raised and no word added.
        """
        text, spans = _join_cells(rows, n)
        hashes = _hash_spans(text, spans)
        with self.lock:
            if self._table.count != len(self.texts):  # an interrupt came between the two changes below
                self._table = _index_words(self.texts)
            indices = self._table.find(hashes)
            missing = np.flatnonzero(indices < 0)
            if missing.size:
                fresh = missing[np.sort(np.unique(hashes[missing], return_index=True)[1])]  # distinct, in order
                new = (text[begin:end].tobytes() for begin, end in spans[fresh].tolist())
                self.texts += [word.decode("utf-8", "surrogatepass") for word in new]
                self._table.append(hashes[fresh])
                indices[missing] = self._table.find(hashes[missing])
        return indices

    def attribute_hashes(self) -> np.ndarray:
        """Return the hash of each attribute (a column) of each word (a row); 0 where a word does not have it."""
        with self.lock:
            n = len(self)
            if n > self._n_hashed:
                self._hash_up_to(n)
            return self._hashes[:n]

    def _hash_up_to(self, n: int) -> None:
        if n > len(self._hashes):
            larger = np.zeros((max(n, 2 * len(self._hashes)), len(self.attributes)), np.uint64)
            larger[: self._n_hashed] = self._hashes[: self._n_hashed]
            self._hashes = larger
        new = self.texts[self._n_hashed : n]
        for k, (name, function) in enumerate(self.attributes):
            hashes = hash_texts(new) if function is None else _hash_attribute(name, function, new)
            self._hashes[self._n_hashed : n, k] = hashes
        self._n_hashed = n

    def forget(self) -> None:
        """Forget all words but the first `n_kept`; their ids will be given to others. Arrays that `attribute_hashes`
        has returned do not change."""
        with self.lock:
            if self.n_kept >= len(self.texts):
                return
            self._hashes, self._n_hashed = self._hashes.copy(), min(self._n_hashed, self.n_kept)
            self.epoch += 1
            del self.texts[self.n_kept :]
            self._table = _index_words(self.texts)


def _hash_spans(text: np.ndarray, spans: np.ndarray) -> np.ndarray:
    hashes = np.empty(len(spans), np.uint64)
    loops.hash_words(text, spans, hashes)
    return hashes


def _index_words(texts: list[str]) -> HashTable:
    """Return a table in which the hash of texts[i] has index i."""
    text, spans = pack_strings(texts)
    return HashTable.from_keys(_hash_spans(text, spans.astype(np.int64)))


def _join_cells(rows: Collection[Iterable[Any]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the UTF-8 bytes of all cells in one array, and the offsets where each begins and ends."""
    try:
        joined = "\0".join(map("\0".join, rows))
    except TypeError as error:
        bad = next((cell for row in rows for cell in row if not isinstance(cell, str)), None)
        raise DataError(f"Words must be text; found {bad!r}, of type {type(bad).__name__}.") from error
    text, spans = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8), np.empty((n, 2), np.int64)
    if loops.split_words(text, spans):
        return text, spans
    cells = [cell for row in rows for cell in row]  # some word contains a zero byte
    if len(cells) != n:
        raise DataError(f"The lengths of sentences add up to {n}, but their words to {len(cells)}. Pass lists.")
    text, spans = pack_strings(cells)
    return text, spans.astype(np.int64)


def hash_texts(texts: Sequence[str]) -> np.ndarray:
    """Return a hash of each text that is the same in every process and on every machine."""
    text, spans = pack_strings(texts)
    hashes = np.empty(len(texts), np.uint64)
    name_hashes(text, spans, np.full(len(texts), SEED), hashes)
    return hashes


def _hash_attribute(name: str, function: Attribute, words: list[str]) -> np.ndarray:
    values = list(map(function, words))
    texts = [
        value if type(value) is str else _as_text(name, word, value) for word, value in zip(words, values, strict=True)
    ]
    hashes = hash_texts(texts)
    hashes[[not value for value in values]] = 0
    return hashes


def _as_text(name: str, word: str, value: Any) -> str:
    """Convert what an attribute has returned to text."""
    if value is None or isinstance(value, (bool, np.bool_, str)):
        return str(value or "")
    raise DataError(f"The attribute {name!r} of {word!r} is {value!r}; an attribute is text, or True, or None.")
