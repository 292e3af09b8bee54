"""HashedVocabulary: vocabularies of old model files, which hold the hashes of names and not the names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from novikoff._compiled.loops import hash_table
from novikoff._compiled.loops import hashed_names as loops
from novikoff.data.encoding.name_table import grow
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.model_files import Section

__all__ = ["HashedVocabulary"]


class HashedVocabulary(Vocabulary):
    """A map from names to indices in which names with equal hashes are equal.

    Model files were written like this before names were compared, and hold only the beginnings of long names. Such a
    model continues with the hash that it began with, and is written as it was read.
    """

    is_exact = False

    def __init__(self, hash_bits: int, separator: str) -> None:
        super().__init__(hash_bits, separator)
        self._count, self._used, self._table = 0, 0, np.zeros((256, 2), np.uint64)
        self._hashes, self._ends = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._text = np.empty(0, np.uint8)  # names for people to read, one after another

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def __len__(self) -> int:
        return self._count

    @property
    def names(self) -> list[str]:
        """For every index the first name that had it."""
        text = self._text.tobytes()
        ends = [0, *self._ends[: self._count].tolist()]
        names = [text[begin:end].decode("utf-8", "replace") for begin, end in pairwise(ends)]
        for index in np.flatnonzero(self._is_shared).tolist():
            names[index] += ", and others"
        return names

    def find_indices(self, names: NameBatch, *, learn: bool) -> np.ndarray:
        """Return the index of every name; without `learn`, -1 for those that have none."""
        indices, hashes = np.empty(len(names), np.int32), _hash_names(names)
        new = np.empty(len(names) if learn else 0, np.int32)
        at = 0
        while at < len(names):
            before = self._count
            if learn and before + len(names) - at >= self.limit and len(self._is_shared) < self.limit:
                self._is_shared = grow(self._is_shared, self.limit)
            at, self._count = loops.find_indices(
                hashes, at, before, self.limit, learn, self._table, new, indices, self._is_shared
            )
            self._append(names, hashes, new[: self._count - before])
            if at < len(names):
                self._table = np.zeros((2 * len(self._table), 2), np.uint64)
                hash_table.append_keys(self._hashes[: self._count], self._table, 0)
        return indices

    def _append(self, names: NameBatch, hashes: np.ndarray, new: np.ndarray) -> None:
        """Keep new names, for people to read, and their hashes, for the next larger table."""
        if not len(new):
            return
        before = self._count - len(new)
        self._hashes, self._ends = grow(self._hashes, self._count), grow(self._ends, self._count)
        size = loops.size_of_names(names.spans, new, names.prefix_of, names.prefix_spans)
        self._text = grow(self._text, self._used + size)
        self._hashes[before : self._count] = hashes[new]
        self._used = loops.append_names(
            names.memory,
            names.spans,
            new,
            names.prefixes,
            names.prefix_of,
            names.prefix_spans,
            ord(self.separator or "\0"),
            self._used,
            self._ends[before : self._count],
            self._text,
        )

    def snapshot(self) -> tuple[int, int, np.ndarray]:
        """Return what `restore` needs to forget the names that come from now on."""
        return self._count, self._used, self._is_shared.copy()

    def restore(self, snapshot: tuple[int, int, np.ndarray]) -> None:
        """Forget the names that came after a snapshot, even if a call that inserted them was interrupted."""
        self._count, self._used, is_shared = snapshot
        self._is_shared = is_shared.copy()
        self._fill_table()

    def _fill_table(self) -> None:
        table = np.zeros((max(256, 2 << self._count.bit_length()), 2), np.uint64)
        hash_table.append_keys(self._hashes[: self._count], table, 0)
        self._table = table

    def write_to(self, section: Section) -> None:
        section.facts["hash_bits"] = self.hash_bits
        section.add_tensor("hashes", self._hashes[: self._count])
        section.add_tensor("ends", self._ends[: self._count])
        section.add_tensor("names", self._text[: self._used])
        section.add_tensor("shared", np.flatnonzero(self._is_shared).astype(np.int64))

    @classmethod
    def read_hashed(cls, section: Section, bits: int, separator: str) -> HashedVocabulary:
        """Read what `write_to` wrote."""
        vocabulary = cls(bits, separator)
        vocabulary._hashes = section.tensor("hashes", np.uint64, (None,))
        vocabulary._count = len(vocabulary._hashes)
        section.require(vocabulary._count <= vocabulary.limit, "it has more names than indices")
        is_distinct = len(np.unique(vocabulary._hashes)) == vocabulary._count
        section.require(is_distinct, "it has two names with the same hash")
        vocabulary._text = section.tensor("names", np.uint8, (None,))
        vocabulary._ends = section.indices("ends", (vocabulary._count,), len(vocabulary._text) + 1)
        section.require((np.diff(vocabulary._ends, prepend=0) >= 0).all(), "its names overlap")
        vocabulary._used = int(vocabulary._ends[-1]) if vocabulary._count else 0
        shared = section.indices("shared", (None,), max(vocabulary._count, 1))
        if vocabulary.is_full:
            vocabulary._is_shared = np.zeros(vocabulary.limit, np.uint8)
            vocabulary._is_shared[shared] = 1
        else:
            section.require(not len(shared), "indices are shared before all are used")
        vocabulary._fill_table()
        return vocabulary


def _hash_names(names: NameBatch) -> np.ndarray:
    """Return the hash of every name with its prefix."""
    prefixes, hashes = np.empty(len(names.prefix_spans), np.uint64), np.empty(len(names), np.uint64)
    loops.name_hashes(names.prefixes, names.prefix_spans, np.full(len(prefixes), loops.SEED), prefixes)
    loops.hashes_after(names.memory, names.spans, prefixes, names.prefix_of, names.is_ngram, hashes)
    return hashes
