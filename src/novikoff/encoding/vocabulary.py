"""The vocabulary: a place for every name that a stream brings, in memory that has a bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from novikoff.errors import DataError
from novikoff.kernels import names as kernels
from novikoff.store import Section
from novikoff.streams.block import in_one_memory

__all__ = ["HASH_BITS", "Names", "Vocabulary", "head_hashes"]

HASH_BITS = 20  # a million names: about 60 MB with their weights
_FEWEST, _MOST = 1, 28


@dataclass(frozen=True, eq=False)
class Names:
    """Names in the order in which they come, each with a head: the column or the namespace that it belongs to.

    Name i is `memory` from spans[i, 0] to spans[i, 1]; its head is `heads` from head_spans[head_of[i], 0] to ...[1].
    `mark` is what stands between the two when they are shown, if it is not in the head already.
    """

    memory: np.ndarray
    spans: np.ndarray
    hashes: np.ndarray
    heads: np.ndarray
    head_of: np.ndarray
    head_spans: np.ndarray
    mark: str = ""

    @classmethod
    def under(cls, head: str, words: Sequence[str]) -> Names:
        """Words that belong to one head.

        >>> from novikoff.encoding.vocabulary import Names, Vocabulary
        >>> vocabulary = Vocabulary()
        >>> vocabulary.places(Names.under("sky=", ["sun", "rain", "sun"]), learn=True).tolist(), vocabulary.names
        ([0, 1, 0], ['sky=sun', 'sky=rain'])
        """
        return cls.joined([(head, words)])

    @classmethod
    def joined(cls, parts: Iterable[tuple[str, Sequence[str]]]) -> Names:
        """The words of several heads, one head after the other."""
        parts = list(parts)
        memory, spans = in_one_memory([word for _, words in parts for word in words])
        heads, head_spans = in_one_memory([head for head, _ in parts])
        head_of = np.repeat(np.arange(len(parts), dtype=np.int32), [len(words) for _, words in parts])
        hashes = np.empty(len(spans), np.uint64)
        kernels.name_hashes(memory, spans, head_hashes(heads, head_spans)[head_of], hashes)
        return cls(memory, spans, hashes, heads, head_of, head_spans)

    @classmethod
    def together(cls, parts: Sequence[Names]) -> Names:
        """All names of all parts, which must have one."""
        parts = [part for part in parts if len(part)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.memory) for part in parts)]).astype(np.int32)
        head_starts = np.cumsum([0, *(len(part.heads) for part in parts)]).astype(np.int32)
        firsts = np.cumsum([0, *(len(part.head_spans) for part in parts)]).astype(np.int32)
        return cls(
            np.concatenate([part.memory for part in parts]),
            np.concatenate([part.spans + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.hashes for part in parts]),
            np.concatenate([part.heads for part in parts]),
            np.concatenate([part.head_of + first for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([part.head_spans + start for part, start in zip(parts, head_starts, strict=False)]),
        )

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, part: np.ndarray | slice) -> Names:
        return Names(self.memory, self.spans[part], self.hashes[part], self.heads, self.head_of[part],
                     self.head_spans, self.mark)  # fmt: skip


def head_hashes(heads: np.ndarray, head_spans: np.ndarray) -> np.ndarray:
    """The hashes that names under each head go on from."""
    hashes = np.empty(len(head_spans), np.uint64)
    kernels.name_hashes(heads, head_spans, np.full(len(head_spans), kernels.SEED), hashes)
    return hashes


class Vocabulary:
    """Places for names, numbered from 0 as the names come.

    The first 2**hash_bits names have a place each; later ones share those places, by their hashes. So memory has a
    bound, and the names that people want to see, which are mostly among the early ones, are known.

    Parameters
    ----------
    hash_bits : int

    Examples
    --------
    >>> from novikoff.encoding.vocabulary import Names, Vocabulary
    >>> vocabulary = Vocabulary(hash_bits=1)
    >>> vocabulary.places(Names.under("", ["red", "green", "blue", "red"]), learn=True).tolist()
    [0, 1, 0, 0]
    >>> vocabulary.names, vocabulary.is_full
    (['red, and others', 'green'], True)
    """

    def __init__(self, hash_bits: int = HASH_BITS) -> None:
        if not _FEWEST <= hash_bits <= _MOST:
            raise DataError(f"hash_bits must be a whole number from {_FEWEST} to {_MOST}; found {hash_bits!r}.")
        self.hash_bits = hash_bits
        self._hashes, self._ends = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._kept = np.empty(0, np.uint8)
        self._shared = np.zeros(0, np.uint8)
        self._table = np.zeros((256, 2), np.uint64)
        self._count = self._used = 0

    def __len__(self) -> int:
        return self._count

    @property
    def limit(self) -> int:
        return 1 << self.hash_bits

    @property
    def is_full(self) -> bool:
        return self._count == self.limit

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
        places = np.empty(len(names), np.int32)
        fresh = np.empty(len(names) if learn else 0, np.int32)
        at = 0
        while at < len(names):
            before = self._count
            if learn and before + len(names) - at >= self.limit and len(self._shared) < self.limit:
                self._shared = _longer(self._shared, self.limit)
            at, self._count = kernels.find_places(
                names.hashes, at, before, self.limit, learn, self._table, fresh, places, self._shared
            )
            self._keep(names, fresh[: self._count - before])
            if at < len(names):
                self._table = np.zeros((2 * len(self._table), 2), np.uint64)
                kernels.fill_table(self._hashes[: self._count], self._table)
        return places

    def _keep(self, names: Names, fresh: np.ndarray) -> None:
        """Remember new names, for people and for the next table."""
        if not len(fresh):
            return
        before = self._count - len(fresh)
        self._hashes, self._ends = _longer(self._hashes, self._count), _longer(self._ends, self._count)
        room = kernels.room_for_names(names.spans, fresh, names.head_of, names.head_spans)
        self._kept = _longer(self._kept, self._used + room)
        self._hashes[before : self._count] = names.hashes[fresh]
        self._used = kernels.keep_names(
            names.memory, names.spans, fresh, names.heads, names.head_of, names.head_spans, ord(names.mark or "\0"),
            self._used, self._ends[before : self._count], self._kept,
        )  # fmt: skip

    def put(self, section: Section) -> None:
        """Write everything to a model file."""
        section.facts["hash_bits"] = self.hash_bits
        section.put("hashes", self._hashes[: self._count])
        section.put("ends", self._ends[: self._count])
        section.put("names", self._kept[: self._used])
        section.put("shared", np.flatnonzero(self._shared).astype(np.int64))

    @classmethod
    def take(cls, section: Section) -> Vocabulary:
        """Read back what `put` wrote."""
        bits = section.fact("hash_bits", int)
        section.require(_FEWEST <= bits <= _MOST, f"hash_bits is {bits}")
        found = cls(bits)
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
        found._table = np.zeros((max(256, 2 << found._count.bit_length()), 2), np.uint64)
        kernels.fill_table(found._hashes, found._table)
        return found


def _longer(array: np.ndarray, size: int) -> np.ndarray:
    """The same array with room for this many entries, and for as many again as it has, so that it is rarely copied."""
    if size <= len(array):
        return array
    room = np.zeros(max(size, 2 * len(array)), array.dtype)
    room[: len(array)] = array
    return room
