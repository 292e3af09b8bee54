"""Vocabularies of model files that were written before names were compared."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from novikoff._compiled.loops import hashed_names as kernels
from novikoff.data.encoding.names import Names, longer
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.model_files import Section

__all__ = ["HashedVocabulary"]


class HashedVocabulary(Vocabulary):
    """Places for names that are told by their hashes, as the file has them: it does not hold the whole names.

    Such a model goes on as before, with the hash that it began with, and is written as it was read.
    """

    is_exact = False

    def __init__(self, hash_bits: int, mark: str) -> None:
        super().__init__(hash_bits, mark)
        self._count, self._used, self._table = 0, 0, np.zeros((256, 2), np.uint64)
        self._hashes, self._ends = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._kept = np.empty(0, np.uint8)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def __len__(self) -> int:
        return self._count

    @property
    def names(self) -> list[str]:
        """Of every place the name that took it."""
        text = self._kept.tobytes()
        ends = [0, *self._ends[: self._count].tolist()]
        names = [text[begin:end].decode("utf-8", "replace") for begin, end in pairwise(ends)]
        for place in np.flatnonzero(self._shared).tolist():
            names[place] += ", and others"
        return names

    def places(self, names: Names, *, learn: bool) -> np.ndarray:
        """Of every name its place; without `learn`, -1 for those that have none."""
        places, hashes = np.empty(len(names), np.int32), _hashes_of(names)
        fresh = np.empty(len(names) if learn else 0, np.int32)
        at = 0
        while at < len(names):
            before = self._count
            if learn and before + len(names) - at >= self.limit and len(self._shared) < self.limit:
                self._shared = longer(self._shared, self.limit)
            at, self._count = kernels.find_places(
                hashes, at, before, self.limit, learn, self._table, fresh, places, self._shared
            )
            self._keep(names, hashes, fresh[: self._count - before])
            if at < len(names):
                self._table = np.zeros((2 * len(self._table), 2), np.uint64)
                kernels.fill_table(self._hashes[: self._count], self._table)
        return places

    def _keep(self, names: Names, hashes: np.ndarray, fresh: np.ndarray) -> None:
        """Remember new names, for people and for the next table."""
        if not len(fresh):
            return
        before = self._count - len(fresh)
        self._hashes, self._ends = longer(self._hashes, self._count), longer(self._ends, self._count)
        room = kernels.room_for_names(names.spans, fresh, names.head_of, names.head_spans)
        self._kept = longer(self._kept, self._used + room)
        self._hashes[before : self._count] = hashes[fresh]
        self._used = kernels.keep_names(
            names.memory,
            names.spans,
            fresh,
            names.heads,
            names.head_of,
            names.head_spans,
            ord(self.mark or "\0"),
            self._used,
            self._ends[before : self._count],
            self._kept,
        )

    def checkpoint(self) -> tuple[int, int, np.ndarray]:
        """Return what `restore` needs to forget the names that come from now on."""
        return self._count, self._used, self._shared.copy()

    def restore(self, mark: tuple[int, int, np.ndarray]) -> None:
        """Forget the names that came after the mark, even if a call that entered them was interrupted."""
        self._count, self._used, shared = mark
        self._shared = shared.copy()
        self._fill_table()

    def _fill_table(self) -> None:
        table = np.zeros((max(256, 2 << self._count.bit_length()), 2), np.uint64)
        kernels.fill_table(self._hashes[: self._count], table)
        self._table = table

    def put(self, section: Section) -> None:
        section.facts["hash_bits"] = self.hash_bits
        section.put("hashes", self._hashes[: self._count])
        section.put("ends", self._ends[: self._count])
        section.put("names", self._kept[: self._used])
        section.put("shared", np.flatnonzero(self._shared).astype(np.int64))

    @classmethod
    def taken(cls, section: Section, bits: int, mark: str) -> HashedVocabulary:
        """Read back what `put` wrote."""
        found = cls(bits, mark)
        found._hashes = section.tensor("hashes", np.uint64, (None,))
        found._count = len(found._hashes)
        section.require(found._count <= found.limit, "it has more names than places")
        section.require(len(np.unique(found._hashes)) == found._count, "it has two names with the same hash")
        found._kept = section.tensor("names", np.uint8, (None,))
        found._ends = section.indices("ends", (found._count,), len(found._kept) + 1)
        section.require((np.diff(found._ends, prepend=0) >= 0).all(), "its names overlap")
        found._used = int(found._ends[-1]) if found._count else 0
        shared = section.indices("shared", (None,), max(found._count, 1))
        if found.is_full:
            found._shared = np.zeros(found.limit, np.uint8)
            found._shared[shared] = 1
        else:
            section.require(not len(shared), "places are shared before all are taken")
        found._fill_table()
        return found


def _hashes_of(names: Names) -> np.ndarray:
    """The hash of every name, after that of its head."""
    heads, hashes = np.empty(len(names.head_spans), np.uint64), np.empty(len(names), np.uint64)
    kernels.name_hashes(names.heads, names.head_spans, np.full(len(heads), kernels.SEED), heads)
    kernels.hashes_after(names.memory, names.spans, heads, names.head_of, names.runs, hashes)
    return hashes
