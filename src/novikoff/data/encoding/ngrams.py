"""NgramBag: the n-grams of the texts of a column, before they have indices."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from novikoff._compiled.loops import ngrams as loops
from novikoff._compiled.loops.simd import WINDOW
from novikoff.data.encoding.names import NameBatch, hash_prefixes
from novikoff.data.feature_names import ngram_prefixes
from novikoff.data.formats.block import TextColumn, pack_strings
from novikoff.data.formats.hash_key import KEY

__all__ = ["NgramBag"]

_ASCII = 128
_NOT_IN_WORDS = re.compile(r"[^\w\x00-\x7f]+")
_IS_NGRAM = np.array([True, False])  # of words: the first of `ngram_prefixes`


@dataclass(frozen=True, eq=False)
class NgramBag:
    """The n-grams of some rows: those of row i are names[indptr[i]:indptr[i + 1]], no two alike, and `counts` says how
    often each occurs.

    >>> from novikoff.data.encoding.ngrams import NgramBag
    >>> from novikoff.data.formats import TextColumn
    >>> from novikoff.data.encoding.vocabulary import Vocabulary
    >>> texts = TextColumn.from_cells(["Call NOW!", None])
    >>> bag = NgramBag.from_texts("sms", texts, ngrams=(1, 2), char_ngrams=(4, 4))
    >>> vocabulary = Vocabulary()
    >>> vocabulary.find_indices(bag.names, learn=True).tolist(), bag.indptr.tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9, 9])
    >>> vocabulary.names
    ['sms:call', 'sms:call now', 'sms:now', 'sms~ cal', 'sms~call', 'sms~all ', 'sms~ now', 'sms~now!', 'sms~ow! ']
    """

    names: NameBatch
    counts: np.ndarray
    indptr: np.ndarray

    @classmethod
    def from_texts(
        cls, column: str, texts: TextColumn, *, ngrams: tuple[int, int], char_ngrams: tuple[int, int]
    ) -> NgramBag:
        """Return the n-grams of a text column, with between the first and the second number of words, or characters; a
        missing text has none."""
        memory, cells, size, spare = _normalise(_lower_non_ascii(_without_rest(texts)), bool(char_ngrams[1]))
        prefixes, prefix_spans = pack_strings(ngram_prefixes(column))
        most = size * sum(last - first + 1 for first, last in (ngrams, char_ngrams) if last)
        found = loops.NgramArrays(np.empty(most, np.uint64), np.empty((most, 2), np.int32), np.empty(most, np.int32))
        counts, indptr = np.empty(most), np.empty(len(texts) + 1, np.int32)
        used = loops.fill_ngrams(
            memory,
            cells,
            spare,
            hash_prefixes(prefixes, prefix_spans, KEY),
            KEY.factor,
            ngrams,
            char_ngrams,
            found,
            counts,
            indptr,
        )
        names = NameBatch(
            memory, found.spans[:used], found.hashes[:used], prefixes, found.kinds[:used], prefix_spans, _IS_NGRAM
        )
        return cls(names, counts[:used], indptr)

    @classmethod
    def join(cls, bags: list[NgramBag]) -> NgramBag:
        """Return the n-grams of several columns of the same rows."""
        if len(bags) == 1:
            return bags[0]
        names = NameBatch.concatenate([bag.names for bag in bags])
        order = np.argsort(np.concatenate([bag.rows for bag in bags]), kind="stable")
        counts = np.concatenate([bag.counts for bag in bags])[order]
        return cls(names[order], counts, np.array([bag.indptr for bag in bags]).sum(axis=0, dtype=np.int32))

    def __getitem__(self, part: slice) -> NgramBag:
        """Return the n-grams of consecutive rows, without copying them."""
        start, stop, _ = part.indices(len(self.indptr) - 1)
        indptr = self.indptr[start : max(start, stop) + 1]
        used = slice(int(indptr[0]), int(indptr[-1]))
        return NgramBag(self.names[used], self.counts[used], indptr - indptr[0])

    @property
    def rows(self) -> np.ndarray:
        """The row of every n-gram."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


def _normalise(texts: TextColumn, with_blanks: bool) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Copy texts in lower case. Return the memory, where each text is in it, their total size, and the offset of spare
    memory for their words with a byte after each. `with_blanks`, each text has a blank on both sides and between
    words, as character n-grams need."""
    size = int((texts.spans[:, 1] - texts.spans[:, 0]).sum())
    spare_size = size + len(texts) + WINDOW
    if with_blanks:
        spare = size + 2 * len(texts) + WINDOW
        memory, cells = np.empty(spare + spare_size, np.uint8), np.empty((len(texts), 2), np.int32)
        return memory, cells, loops.normalise_blanks(texts.memory, texts.spans, memory, cells), spare
    spare = len(texts.memory) + WINDOW
    memory = np.empty(spare + spare_size, np.uint8)
    loops.lower(texts.memory, memory[:spare])
    return memory, np.maximum(texts.spans, 0), size, spare


def _without_rest(texts: TextColumn) -> TextColumn:
    """Return the texts without the memory before and after them, which holds the other columns of the block."""
    used = texts.spans[texts.spans[:, 0] >= 0]
    begin, end = (int(used.min()), int(used.max())) if len(used) else (0, 0)
    return TextColumn(texts.memory[begin:end], np.where(texts.spans < 0, texts.spans, texts.spans - np.int32(begin)))


def _lower_non_ascii(texts: TextColumn) -> TextColumn:
    """Return the texts without capitals and punctuation outside ASCII; the compiled loop handles those within."""
    non_ascii = np.flatnonzero(texts.memory >= _ASCII)
    rows = np.flatnonzero(np.diff(np.searchsorted(non_ascii, texts.spans)).ravel())
    if not len(rows):
        return texts
    lowered = [
        _NOT_IN_WORDS.sub(" ", texts.memory[begin:end].tobytes().decode(errors="replace").lower())
        for begin, end in texts.spans[rows].tolist()
    ]
    memory, spans = pack_strings(lowered)
    new_spans = texts.spans.copy()
    new_spans[rows] = spans + np.int32(len(texts.memory))
    return TextColumn(np.concatenate([texts.memory, memory]), new_spans)
