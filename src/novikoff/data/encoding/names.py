"""Names as they come, and tables of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from novikoff._compiled.loops import names as kernels
from novikoff.data.formats.block import in_one_memory
from novikoff.data.formats.hash_key import KEY, Key
from novikoff.model_files import Section

__all__ = ["NO_SHARING", "Content", "NameTable", "Names", "Sharing", "head_hashes", "longer"]

_CUT = b"\xff"  # which UTF-8 never holds: between the beginning of a long name and its digest
_DIGEST = kernels.MOST - kernels.LONGEST - len(_CUT)  # bytes
_AT_ONCE = 1 << 16  # names of a file that are entered together


@dataclass(frozen=True, eq=False)
class Names:
    """Names in the order in which they come, each with a head: the column or the namespace that it belongs to.

    Name i is `memory` from spans[i, 0] to spans[i, 1]; its head is `heads` from head_spans[head_of[i], 0] to ...[1].
    `hashes` are those of both together, under `key`. runs[head] says that the names of a head are words with a blank
    between each two.
    """

    memory: np.ndarray
    spans: np.ndarray
    hashes: np.ndarray
    heads: np.ndarray
    head_of: np.ndarray
    head_spans: np.ndarray
    runs: np.ndarray
    key: Key = KEY

    @classmethod
    def under(cls, head: str, words: Sequence[str]) -> Names:
        """Words that belong to one head.

        >>> from novikoff.data.encoding.vocabulary import Names, Vocabulary
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
        return cls.at(memory, spans, heads, head_of, head_spans)

    @classmethod
    def at(
        cls, memory: np.ndarray, spans: np.ndarray, heads: np.ndarray, head_of: np.ndarray, head_spans: np.ndarray
    ) -> Names:
        """Names at places in memory."""
        hashes, runs = np.empty(len(spans), np.uint64), np.zeros(len(head_spans), bool)
        return cls(memory, spans, hashes, heads, head_of, head_spans, runs).hashed(KEY)

    @classmethod
    def together(cls, parts: Sequence[Names]) -> Names:
        """All names of all parts, which must have one."""
        parts = [part for part in parts if len(part)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.memory) for part in parts)]).astype(np.int32)
        head_starts = np.cumsum([0, *(len(part.heads) for part in parts)]).astype(np.int32)
        firsts = np.cumsum([0, *(len(part.head_spans) for part in parts)]).astype(np.int32)
        parts = [part.hashed(KEY) if part.key != KEY else part for part in parts]
        return cls(
            np.concatenate([part.memory for part in parts]),
            np.concatenate([part.spans + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.hashes for part in parts]),
            np.concatenate([part.heads for part in parts]),
            np.concatenate([part.head_of + first for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([part.head_spans + start for part, start in zip(parts, head_starts, strict=False)]),
            np.concatenate([part.runs for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, part: np.ndarray | slice) -> Names:
        return replace(self, spans=self.spans[part], hashes=self.hashes[part], head_of=self.head_of[part])

    def hashed(self, key: Key) -> Names:
        """The same names with their hashes under a key."""
        hashes = np.empty(len(self), np.uint64)
        begin = head_hashes(self.heads, self.head_spans, key)
        kernels.name_hashes(self.memory, self.spans, begin, self.head_of, key.factor, hashes)
        return replace(self, hashes=hashes, key=key)

    def shortened(self) -> Names:
        """The same names, those that are longer than a record may be cut, with a digest of 256 bits behind the cut: so
        memory has a bound, and different names stay different."""
        memory, spans = _shortened(self.memory, self.spans)
        heads, head_spans = _shortened(self.heads, self.head_spans)
        return Names.at(memory, spans, heads, self.head_of, head_spans)


def _shortened(memory: np.ndarray, spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    long = np.flatnonzero(spans[:, 1] - spans[:, 0] > kernels.MOST)
    if not len(long):
        return memory, spans
    text, spans = memory.tobytes(), spans.copy()
    short = bytearray()
    for i, (begin, end) in zip(long.tolist(), spans[long].tolist(), strict=True):
        digest = hashlib.blake2b(text[begin:end], digest_size=_DIGEST).digest()
        spans[i, 0] = len(text) + len(short)
        short += text[begin : begin + kernels.LONGEST] + _CUT + digest
        spans[i, 1] = len(text) + len(short)
    return np.concatenate([memory, np.frombuffer(short, np.uint8)]), spans


def head_hashes(heads: np.ndarray, head_spans: np.ndarray, key: Key) -> np.ndarray:
    """The hashes that names under each head go on from."""
    hashes = np.empty(len(head_spans), np.uint64)
    which = np.zeros(len(head_spans), np.int32)
    kernels.name_hashes(heads, head_spans, np.array([key.seed]), which, key.factor, hashes)
    return hashes


class Sharing(NamedTuple):
    """How names that find no place of their own share those of others: the hashes of heads under a key, none if there
    is no key yet; the factor of the key; how many bits of a hash do not count; which places are shared."""

    heads: np.ndarray
    factor: np.uint64
    shift: np.uint64
    shared: np.ndarray


NO_SHARING = Sharing(np.empty(0, np.uint64), np.uint64(1), np.uint64(0), np.empty(0, np.uint8))


class NameTable:
    """Different names, each under a head that has a number, with places in the order in which they have come.

    Parameters
    ----------
    limit : int
        The most names that it takes.
    begin : ndarray of uint64
        The hashes that names go on from, by the numbers of their heads.

    Attributes
    ----------
    count : int
        How many names there are.
    """

    def __init__(self, limit: int, begin: np.ndarray) -> None:
        self.limit, self.begin, self.count = limit, begin, 0
        self._slots = np.zeros((256, 2), np.uint64)
        self._records, self._used = np.zeros(256, np.uint64), 0

    def find(
        self, names: Names, numbers: np.ndarray, places: np.ndarray, at: int, sharing: Sharing, *, learn: bool
    ) -> tuple[int, int]:
        """Fill in the places of names from number `at` on, given the number of every head; return where it ended, and
        why (see _compiled/loops/names.py)."""
        while True:
            at, self.count, self._used, why = kernels.find_places(
                names.memory,
                names.spans,
                names.hashes,
                numbers,
                names.head_of,
                at,
                learn,
                self.limit,
                *sharing,
                self._slots,
                self._records,
                self.count,
                self._used,
                places,
            )
            if why != kernels.CROWDED:
                return at, why
            self._widen()

    def _widen(self) -> None:
        """Make room for another name."""
        if 2 * (self.count + 1) > len(self._slots):
            larger = np.zeros((2 * len(self._slots), 2), np.uint64)
            self._move_to(larger)
        self._records = longer(self._records, self._used + kernels.ROOM)

    def _move_to(self, slots: np.ndarray) -> None:
        kernels.move_slots(self._slots, self._records, self.count, self.begin, KEY.factor, slots)
        self._slots = slots

    def checkpoint(self) -> tuple[int, int]:
        """Return what `restore` needs. Names are only ever added after those that are there."""
        return self.count, self._used

    def restore(self, mark: tuple[int, int]) -> None:
        """Forget the names that came after the mark, also those of a call that was interrupted."""
        self.count, self._used = mark
        self._move_to(np.zeros_like(self._slots))

    def content(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bytes of all names, one after another, their sizes, and the numbers of their heads."""
        sizes, head_of, which = (np.empty(self.count, np.int64) for _ in range(3))
        kernels.read_sizes(self._slots, self._records, sizes, head_of, which)
        text = np.empty(int(sizes.sum()), np.uint8)
        kernels.read_bytes(self._slots, self._records, sizes, which, text)
        return text, sizes, head_of


@dataclass(frozen=True, eq=False)
class Content:
    """The names of a vocabulary in the order of their places, as a model file has them: `names` are their bytes one
    after another, `sizes` how many each has; the same for their heads, of which name i has number head_of[i]. Heads are
    numbered as the names bring them."""

    heads: np.ndarray
    head_sizes: np.ndarray
    names: np.ndarray
    sizes: np.ndarray
    head_of: np.ndarray

    @classmethod
    def of(cls, names: NameTable, heads: NameTable) -> Content:
        """The content of a table of names, and of that of their heads."""
        text, sizes, numbers = names.content()
        head_text, head_sizes, _ = heads.content()
        used, firsts, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(firsts))
        ordered = used[np.argsort(firsts)]
        return cls(_taken(head_text, head_sizes, ordered), head_sizes[ordered], text, sizes, rank[inverse])

    def digest(self) -> bytes:
        """16 bytes that depend on everything."""
        parts = (self.head_sizes, self.sizes, self.head_of, self.heads, self.names)
        return hashlib.blake2b(
            b"".join(part.astype("<i8").tobytes() for part in parts[:3]) + parts[3].tobytes() + parts[4].tobytes(),
            digest_size=16,
        ).digest()

    def in_parts(self) -> Iterator[Names]:
        """All names, so many at a time that their offsets are small."""
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        for first in range(0, len(self.sizes), _AT_ONCE):
            last = min(first + _AT_ONCE, len(self.sizes))
            used, head_of = np.unique(self.head_of[first:last], return_inverse=True)
            heads = _taken(self.heads, self.head_sizes, used)
            yield Names.at(
                self.names[edges[first] : edges[last]],
                _spans(self.sizes[first:last]),
                heads,
                head_of.astype(np.int32),
                _spans(self.head_sizes[used]),
            )

    def shown(self, mark: str) -> list[str]:
        """The names for people to read, with a mark after each head that is not empty."""
        cuts = np.cumsum([0, *self.head_sizes]).tolist()
        text = self.heads.tobytes()
        heads = [text[begin:end].partition(_CUT)[0] for begin, end in pairwise(cuts)]
        heads = [head + mark.encode() if head else head for head in heads]
        text, ends = self.names.tobytes(), [0, *np.cumsum(self.sizes).tolist()]
        names = (
            heads[head] + text[begin:end].partition(_CUT)[0]
            for head, (begin, end) in zip(self.head_of.tolist(), pairwise(ends), strict=True)
        )
        return [name[: kernels.LONGEST].decode("utf-8", "replace") for name in names]

    def put(self, section: Section) -> None:
        """Write it to a model file."""
        section.put("heads", self.heads)
        section.put("head_sizes", self.head_sizes.astype(np.uint8))
        section.put("head_of", self.head_of.astype(np.int32))
        section.put("names", self.names)
        section.put("sizes", self.sizes.astype(np.uint8))

    @classmethod
    def take(cls, section: Section) -> Content:
        """Read back what `put` wrote."""
        head_sizes = section.tensor("head_sizes", np.uint8, (None,)).astype(np.int64)
        sizes = section.tensor("sizes", np.uint8, (None,)).astype(np.int64)
        longest = max(sizes.max(initial=0), head_sizes.max(initial=0))
        section.require(longest <= kernels.MOST, "it has a name that is too long")
        heads = section.tensor("heads", np.uint8, (int(head_sizes.sum()),))
        names = section.tensor("names", np.uint8, (int(sizes.sum()),))
        head_of = section.indices("head_of", (len(sizes),), len(head_sizes), np.int32).astype(np.int64)
        return cls(heads, head_sizes, names, sizes, head_of)


def _taken(text: np.ndarray, sizes: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Some of the pieces of a text of these sizes, one after another."""
    ends = np.cumsum(sizes)[which]
    offsets = np.repeat(ends - np.cumsum(sizes[which]), sizes[which])
    return text[np.arange(len(offsets)) + offsets]


def _spans(sizes: np.ndarray) -> np.ndarray:
    """Where pieces of these sizes begin and end, one after another."""
    ends = np.cumsum(sizes)
    return np.column_stack([ends - sizes, ends]).astype(np.int32)


def longer(array: np.ndarray, size: int) -> np.ndarray:
    """The same array with room for this many entries, and for as many again as it has, so that it is rarely copied."""
    if size <= len(array):
        return array
    room = np.zeros(max(size, 2 * len(array)), array.dtype)
    room[: len(array)] = array
    return room
