"""Texts as bags: the n-grams that each row brings, before they have places."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from novikoff._compiled.loops import ngrams as kernels
from novikoff._compiled.loops.simd import WINDOW
from novikoff.data.encoding.names import Names, head_hashes
from novikoff.data.formats.block import Texts, in_one_memory
from novikoff.data.formats.hash_key import KEY

__all__ = ["Bag"]

_ASCII = 128
_NO_LETTERS = re.compile(r"[^\w\x00-\x7f]+")
_MARKS = ":~"  # after the name of the column: n-grams of words, and of characters
_ARE_RUNS = np.array([True, False])


@dataclass(frozen=True, eq=False)
class Bag:
    """The n-grams of some rows: those of row i are names[indptr[i]:indptr[i + 1]], no two alike, and `counts` says how
    often each is there.

    >>> from novikoff.data.encoding.ngrams import Bag
    >>> from novikoff.data.formats import Texts
    >>> from novikoff.data.encoding.vocabulary import Vocabulary
    >>> bag = Bag.of("sms", Texts.of(["Call NOW!", None]), ngrams=(1, 2), char_ngrams=(4, 4))
    >>> vocabulary = Vocabulary()
    >>> vocabulary.places(bag.names, learn=True).tolist(), bag.indptr.tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9, 9])
    >>> vocabulary.names
    ['sms:call', 'sms:call now', 'sms:now', 'sms~ cal', 'sms~call', 'sms~all ', 'sms~ now', 'sms~now!', 'sms~ow! ']
    """

    names: Names
    counts: np.ndarray
    indptr: np.ndarray

    @classmethod
    def of(cls, column: str, texts: Texts, *, ngrams: tuple[int, int], char_ngrams: tuple[int, int]) -> Bag:
        """The n-grams of a column of texts, each with between the first and the second number of words, or characters;
        a text that is missing has none."""
        memory, cells, size, spare = _tidied(_small_letters(_alone(texts)), bool(char_ngrams[1]))
        heads, head_spans = in_one_memory([column + mark for mark in _MARKS])
        most = size * sum(last - first + 1 for first, last in (ngrams, char_ngrams) if last)
        hashes, spans = np.empty(most, np.uint64), np.empty((most, 2), np.int32)
        kinds, counts, indptr = np.empty(most, np.int32), np.empty(most), np.empty(len(texts) + 1, np.int32)
        used = kernels.ngrams(
            memory,
            cells,
            spare,
            head_hashes(heads, head_spans, KEY),
            KEY.factor,
            ngrams,
            char_ngrams,
            hashes,
            spans,
            kinds,
            counts,
            indptr,
        )
        names = Names(memory, spans[:used], hashes[:used], heads, kinds[:used], head_spans, _ARE_RUNS)
        return cls(names, counts[:used], indptr)

    @classmethod
    def together(cls, bags: list[Bag]) -> Bag:
        """The n-grams of several columns of the same rows."""
        if len(bags) == 1:
            return bags[0]
        names = Names.together([bag.names for bag in bags])
        order = np.argsort(np.concatenate([bag.rows for bag in bags]), kind="stable")
        counts = np.concatenate([bag.counts for bag in bags])[order]
        return cls(names[order], counts, np.array([bag.indptr for bag in bags]).sum(axis=0, dtype=np.int32))

    @property
    def rows(self) -> np.ndarray:
        """The row of every n-gram."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


def _tidied(texts: Texts, blanks: bool) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Texts without capitals in a memory of their own, where they are, how long together, and where room begins for
    their words with a byte after each; if `blanks` matter, with one on both sides and between words."""
    size = int((texts.spans[:, 1] - texts.spans[:, 0]).sum())
    room = size + len(texts) + WINDOW
    if blanks:
        spare = size + 2 * len(texts) + WINDOW
        memory, cells = np.empty(spare + room, np.uint8), np.empty((len(texts), 2), np.int32)
        return memory, cells, kernels.tidy(texts.memory, texts.spans, memory, cells), spare
    spare = len(texts.memory) + WINDOW
    memory = np.empty(spare + room, np.uint8)
    kernels.lower(texts.memory, memory[:spare])
    return memory, np.maximum(texts.spans, 0), size, spare


def _alone(texts: Texts) -> Texts:
    """The same texts without the memory before and after them, which is that of the rest of the block."""
    used = texts.spans[texts.spans[:, 0] >= 0]
    begin, end = (int(used.min()), int(used.max())) if len(used) else (0, 0)
    return Texts(texts.memory[begin:end], np.where(texts.spans < 0, texts.spans, texts.spans - np.int32(begin)))


def _small_letters(texts: Texts) -> Texts:
    """The same texts without capitals and punctuation outside ASCII; what is inside the kernel can tell."""
    high = np.flatnonzero(texts.memory >= _ASCII)
    rows = np.flatnonzero(np.diff(np.searchsorted(high, texts.spans)).ravel())
    if not len(rows):
        return texts
    changed = [
        _NO_LETTERS.sub(" ", texts.memory[begin:end].tobytes().decode(errors="replace").lower())
        for begin, end in texts.spans[rows].tolist()
    ]
    memory, spans = in_one_memory(changed)
    moved = texts.spans.copy()
    moved[rows] = spans + np.int32(len(texts.memory))
    return Texts(np.concatenate([texts.memory, memory]), moved)
