"""NameTable: a hash table of names; NameList: its names in order of index, as model files hold them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from novikoff._compiled.loops import names as loops
from novikoff.data.encoding.names import CUT, NameBatch
from novikoff.data.formats.hash_key import KEY
from novikoff.model_files import Section

__all__ = ["NO_SHARING", "NameList", "NameTable", "grow"]

_BATCH = 1 << 16  # names of a file that are inserted at a time

NO_SHARING = loops.SharingHash(np.empty(0, np.uint64), np.uint64(1), np.uint64(0), np.empty(0, np.uint8))


class NameTable:
    """Different names, each with the index of its prefix, numbered in the order in which they come.

    Parameters
    ----------
    limit : int
        The largest number of names.
    prefix_hashes : ndarray of uint64
        The hashes that names continue, by the index of their prefix.

    Attributes
    ----------
    count : int
        The number of names.
    """

    def __init__(self, limit: int, prefix_hashes: np.ndarray) -> None:
        self.limit, self.prefix_hashes, self.count = limit, prefix_hashes, 0
        self._slots = np.zeros((256, 2), np.uint64)
        self._records, self._used = np.zeros(256, np.uint64), 0

    def find(
        self,
        names: NameBatch,
        prefixes: np.ndarray,
        indices: np.ndarray,
        at: int,
        sharing: loops.SharingHash,
        *,
        learn: bool,
    ) -> tuple[int, int]:
        """Write the indices of names from number `at` on, given the indices of all prefixes; return the number of the
        first name without a result, and the reason (see _compiled/loops/names.py)."""
        while True:
            at, self.count, self._used, why = loops.find_indices(
                names.arrays,
                prefixes,
                at,
                learn,
                self.limit,
                sharing,
                self._slots,
                self._records,
                self.count,
                self._used,
                indices,
            )
            if why != loops.TOO_SMALL:
                return at, why
            self._grow()

    def _grow(self) -> None:
        """Make the table large enough for another name."""
        if 2 * (self.count + 1) > len(self._slots):
            self._copy_slots_to(np.zeros((2 * len(self._slots), 2), np.uint64))
        self._records = grow(self._records, self._used + loops.MAX_RECORD)

    def _copy_slots_to(self, slots: np.ndarray) -> None:
        loops.copy_slots(self._slots, self._records, self.count, self.prefix_hashes, KEY.factor, slots)
        self._slots = slots

    def snapshot(self) -> tuple[int, int]:
        """Return what `restore` needs. Names are only ever added after those that are there."""
        return self.count, self._used

    def restore(self, snapshot: tuple[int, int]) -> None:
        """Forget the names that came after a snapshot, also those of a call that was interrupted."""
        self.count, self._used = snapshot
        self._copy_slots_to(np.zeros_like(self._slots))

    def content(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the bytes of all names, one after another, their sizes, and the indices of their prefixes."""
        sizes, prefix_of, slot_of = (np.empty(self.count, np.int64) for _ in range(3))
        loops.read_sizes(self._slots, self._records, sizes, prefix_of, slot_of)
        text = np.empty(int(sizes.sum()), np.uint8)
        loops.read_bytes(self._slots, self._records, sizes, slot_of, text)
        return text, sizes, prefix_of


@dataclass(frozen=True, eq=False)
class NameList:
    """The names of a vocabulary in order of index, as a model file holds them.

    `names` are their bytes one after another, and `sizes` the number of bytes of each; likewise `prefixes` and
    `prefix_sizes`. Name i has prefix prefix_of[i]. Prefixes are in the order in which the names first have them.
    """

    prefixes: np.ndarray
    prefix_sizes: np.ndarray
    names: np.ndarray
    sizes: np.ndarray
    prefix_of: np.ndarray

    @classmethod
    def from_tables(cls, names: NameTable, prefixes: NameTable) -> NameList:
        """Return the content of a table of names, and of the table of their prefixes."""
        text, sizes, prefix_of = names.content()
        prefix_text, prefix_sizes, _ = prefixes.content()
        used, firsts, inverse = np.unique(prefix_of, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(firsts))
        ordered = used[np.argsort(firsts)]
        return cls(_select(prefix_text, prefix_sizes, ordered), prefix_sizes[ordered], text, sizes, rank[inverse])

    def digest(self) -> bytes:
        """Return 16 bytes that depend on everything."""
        parts = (self.prefix_sizes, self.sizes, self.prefix_of, self.prefixes, self.names)
        return hashlib.blake2b(
            b"".join(part.astype("<i8").tobytes() for part in parts[:3]) + parts[3].tobytes() + parts[4].tobytes(),
            digest_size=16,
        ).digest()

    def batches(self) -> Iterator[NameBatch]:
        """Yield all names, a limited number at a time, so that their offsets fit into 32 bits."""
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        for first in range(0, len(self.sizes), _BATCH):
            last = min(first + _BATCH, len(self.sizes))
            used, prefix_of = np.unique(self.prefix_of[first:last], return_inverse=True)
            prefixes = _select(self.prefixes, self.prefix_sizes, used)
            yield NameBatch.from_spans(
                self.names[edges[first] : edges[last]],
                _spans(self.sizes[first:last]),
                prefixes,
                prefix_of.astype(np.int32),
                _spans(self.prefix_sizes[used]),
            )

    def to_strings(self, separator: str) -> list[str]:
        """Return the names for people to read, with a separator after each prefix that is not empty."""
        cuts = np.cumsum([0, *self.prefix_sizes]).tolist()
        text = self.prefixes.tobytes()
        prefixes = [text[begin:end].partition(CUT)[0] for begin, end in pairwise(cuts)]
        prefixes = [prefix + separator.encode() if prefix else prefix for prefix in prefixes]
        text, ends = self.names.tobytes(), [0, *np.cumsum(self.sizes).tolist()]
        names = (
            prefixes[prefix] + text[begin:end].partition(CUT)[0]
            for prefix, (begin, end) in zip(self.prefix_of.tolist(), pairwise(ends), strict=True)
        )
        return [name[: loops.MAX_SHOWN].decode("utf-8", "replace") for name in names]

    def write_to(self, section: Section) -> None:
        """Write it to a section of a model file."""
        section.add_tensor("heads", self.prefixes)
        section.add_tensor("head_sizes", self.prefix_sizes.astype(np.uint8))
        section.add_tensor("head_of", self.prefix_of.astype(np.int32))
        section.add_tensor("names", self.names)
        section.add_tensor("sizes", self.sizes.astype(np.uint8))

    @classmethod
    def read_from(cls, section: Section) -> NameList:
        """Read what `write_to` wrote."""
        prefix_sizes = section.tensor("head_sizes", np.uint8, (None,)).astype(np.int64)
        sizes = section.tensor("sizes", np.uint8, (None,)).astype(np.int64)
        longest = max(sizes.max(initial=0), prefix_sizes.max(initial=0))
        section.require(longest <= loops.MAX_BYTES, "it has a name that is too long")
        prefixes = section.tensor("heads", np.uint8, (int(prefix_sizes.sum()),))
        names = section.tensor("names", np.uint8, (int(sizes.sum()),))
        prefix_of = section.indices("head_of", (len(sizes),), len(prefix_sizes), np.int32).astype(np.int64)
        return cls(prefixes, prefix_sizes, names, sizes, prefix_of)


def _select(text: np.ndarray, sizes: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return some of the strings of which a text consists, given their sizes, one after another."""
    ends = np.cumsum(sizes)[which]
    offsets = np.repeat(ends - np.cumsum(sizes[which]), sizes[which])
    return text[np.arange(len(offsets)) + offsets]


def _spans(sizes: np.ndarray) -> np.ndarray:
    """Return where strings of these sizes begin and end, one after another."""
    ends = np.cumsum(sizes)
    return np.column_stack([ends - sizes, ends]).astype(np.int32)


def grow(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array, or a copy with zeros after it if it has less than `size` elements. A copy has at least twice as
    many as the array, so that an array is rarely copied."""
    if size <= len(array):
        return array
    larger = np.zeros(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
