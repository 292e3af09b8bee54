"""NameBatch: names in the order in which they come, with prefixes and hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from novikoff._compiled.loops import names as loops
from novikoff.data.formats.block import pack_strings
from novikoff.data.formats.hash_key import KEY, Key

__all__ = ["CUT", "NameBatch", "hash_prefixes"]

CUT = b"\xff"  # which UTF-8 never holds: between the beginning of a long name and its digest
_DIGEST_SIZE = loops.MAX_BYTES - loops.MAX_SHOWN - len(CUT)


@dataclass(frozen=True, eq=False)
class NameBatch:
    """Names in the order in which they come, each with a prefix: the column or the namespace that it belongs to.

    Name i is `memory` from spans[i, 0] to spans[i, 1]; its prefix is `prefixes` from prefix_spans[prefix_of[i], 0] to
    ...[1]. `hashes` are those of both together, under `key`. is_ngram[prefix] says that the names with a prefix are
    n-grams of words, separated by single blanks.
    """

    memory: np.ndarray
    spans: np.ndarray
    hashes: np.ndarray
    prefixes: np.ndarray
    prefix_of: np.ndarray
    prefix_spans: np.ndarray
    is_ngram: np.ndarray
    key: Key = KEY

    @classmethod
    def with_prefix(cls, prefix: str, names: Sequence[str]) -> NameBatch:
        """Return names that all have one prefix.

        >>> from novikoff.data.encoding import NameBatch, Vocabulary
        >>> vocabulary = Vocabulary()
        >>> names = NameBatch.with_prefix("sky=", ["sun", "rain", "sun"])
        >>> vocabulary.find_indices(names, learn=True).tolist(), vocabulary.names
        ([0, 1, 0], ['sky=sun', 'sky=rain'])
        """
        return cls.with_prefixes([(prefix, names)])

    @classmethod
    def with_prefixes(cls, groups: Iterable[tuple[str, Sequence[str]]]) -> NameBatch:
        """Return the names of several groups, each of which has a prefix, one group after the other."""
        groups = list(groups)
        memory, spans = pack_strings([name for _, names in groups for name in names])
        prefixes, prefix_spans = pack_strings([prefix for prefix, _ in groups])
        prefix_of = np.repeat(np.arange(len(groups), dtype=np.int32), [len(names) for _, names in groups])
        return cls.from_spans(memory, spans, prefixes, prefix_of, prefix_spans)

    @classmethod
    def from_spans(
        cls,
        memory: np.ndarray,
        spans: np.ndarray,
        prefixes: np.ndarray,
        prefix_of: np.ndarray,
        prefix_spans: np.ndarray,
    ) -> NameBatch:
        """Return names that are given by where they begin and end in memory."""
        hashes, is_ngram = np.empty(len(spans), np.uint64), np.zeros(len(prefix_spans), bool)
        return cls(memory, spans, hashes, prefixes, prefix_of, prefix_spans, is_ngram).rehash(KEY)

    @classmethod
    def concatenate(cls, batches: Sequence[NameBatch]) -> NameBatch:
        """Return the names of all batches; there must be at least one batch."""
        batches = [batch for batch in batches if len(batch)] or batches[:1]
        if len(batches) == 1:
            return batches[0]
        starts = np.cumsum([0, *(len(batch.memory) for batch in batches)]).astype(np.int32)
        prefix_starts = np.cumsum([0, *(len(batch.prefixes) for batch in batches)]).astype(np.int32)
        firsts = np.cumsum([0, *(len(batch.prefix_spans) for batch in batches)]).astype(np.int32)
        batches = [batch.rehash(KEY) if batch.key != KEY else batch for batch in batches]
        return cls(
            np.concatenate([batch.memory for batch in batches]),
            np.concatenate([batch.spans + start for batch, start in zip(batches, starts, strict=False)]),
            np.concatenate([batch.hashes for batch in batches]),
            np.concatenate([batch.prefixes for batch in batches]),
            np.concatenate([batch.prefix_of + first for batch, first in zip(batches, firsts, strict=False)]),
            np.concatenate([batch.prefix_spans + start for batch, start in zip(batches, prefix_starts, strict=False)]),
            np.concatenate([batch.is_ngram for batch in batches]),
        )

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, part: np.ndarray | slice) -> NameBatch:
        return replace(self, spans=self.spans[part], hashes=self.hashes[part], prefix_of=self.prefix_of[part])

    @property
    def arrays(self) -> loops.NameArrays:
        """The names as compiled loops take them."""
        return loops.NameArrays(self.memory, self.spans, self.hashes, self.prefix_of)

    def rehash(self, key: Key) -> NameBatch:
        """Return the names with their hashes under a key."""
        hashes = np.empty(len(self), np.uint64)
        begin = hash_prefixes(self.prefixes, self.prefix_spans, key)
        loops.name_hashes(self.memory, self.spans, begin, self.prefix_of, key.factor, hashes)
        return replace(self, hashes=hashes, key=key)

    def shorten(self) -> NameBatch:
        """Return the names with long ones cut, and a digest of 256 bits after the cut: so memory is bounded, and
        different names stay different."""
        memory, spans = _shorten(self.memory, self.spans)
        prefixes, prefix_spans = _shorten(self.prefixes, self.prefix_spans)
        return NameBatch.from_spans(memory, spans, prefixes, self.prefix_of, prefix_spans)


def hash_prefixes(prefixes: np.ndarray, prefix_spans: np.ndarray, key: Key) -> np.ndarray:
    """Return the hashes that names with each prefix continue."""
    hashes = np.empty(len(prefix_spans), np.uint64)
    which = np.zeros(len(prefix_spans), np.int32)
    loops.name_hashes(prefixes, prefix_spans, np.array([key.seed]), which, key.factor, hashes)
    return hashes


def _shorten(memory: np.ndarray, spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    long = np.flatnonzero(spans[:, 1] - spans[:, 0] > loops.MAX_BYTES)
    if not len(long):
        return memory, spans
    text, spans = memory.tobytes(), spans.copy()
    appended = bytearray()
    for i, (begin, end) in zip(long.tolist(), spans[long].tolist(), strict=True):
        digest = hashlib.blake2b(text[begin:end], digest_size=_DIGEST_SIZE).digest()
        spans[i, 0] = len(text) + len(appended)
        appended += text[begin : begin + loops.MAX_SHOWN] + CUT + digest
        spans[i, 1] = len(text) + len(appended)
    return np.concatenate([memory, np.frombuffer(appended, np.uint8)]), spans
