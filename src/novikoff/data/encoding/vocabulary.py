"""Vocabulary: an index for every name that a stream brings, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff._compiled.loops import names as loops
from novikoff.data.encoding.name_table import NO_SHARING, NameList, NameTable, grow
from novikoff.data.encoding.names import NameBatch, hash_prefixes
from novikoff.data.formats.hash_key import KEY, Key
from novikoff.errors import DataError
from novikoff.model_files import Section

__all__ = ["HASH_BITS", "Vocabulary"]

HASH_BITS = 20  # a million names: about 60 MB with their weights
_MIN_BITS, _MAX_BITS = 1, 28
_NO_PREFIX = np.zeros(1, np.int32)  # prefixes have no prefixes: the index of theirs is 0


class Vocabulary:
    """A map from names to indices, numbered from 0 in the order in which the names come.

    The first 2**hash_bits names have an index each, and no two of them the same: names are compared byte by byte, with
    their prefixes. Later names share those indices, by their hashes. So memory is bounded, and the names that people
    want to see, which are mostly among the early ones, are known.

    Two keys prevent the author of the names from choosing which of them collide. Names are looked up under a key of the
    process, on which nothing but time depends. Where names share indices, results do depend on a key: it is a digest of
    the names that have an index of their own. So equal streams give equal models, without a seed to choose or to lose;
    and nobody who has not seen all of the stream up to there can know the key. It is saved with the model.

    Parameters
    ----------
    hash_bits : int
    separator : str
        What is written between a prefix and a name when they are shown, if it is not part of the prefix already: one
        character, or none.

    Examples
    --------
    >>> from novikoff.data.encoding import NameBatch, Vocabulary
    >>> vocabulary = Vocabulary(hash_bits=1)
    >>> vocabulary.find_indices(NameBatch.with_prefix("", ["red", "green", "blue", "red"]), learn=True).tolist()
    [0, 1, 0, 0]
    >>> vocabulary.names, vocabulary.is_full
    (['red, and others', 'green'], True)
    """

    is_exact = True  # whether names are compared, not only their hashes

    def __init__(self, hash_bits: int = HASH_BITS, separator: str = "") -> None:
        if not _MIN_BITS <= hash_bits <= _MAX_BITS:
            raise DataError(f"hash_bits must be an integer from {_MIN_BITS} to {_MAX_BITS}; found {hash_bits!r}.")
        self.hash_bits, self.separator = hash_bits, separator
        self._is_shared, self._share_key = np.zeros(0, np.uint8), b""
        self._clear()

    def _clear(self) -> None:
        self._key = KEY
        self._names = NameTable(self.limit, np.empty(0, np.uint64))
        self._prefixes = NameTable(loops.MAX_NAMES, np.array([KEY.seed]))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._key != KEY:  # pickled by another process
            names = self._list()
            self._clear()
            self._insert(names)

    def __len__(self) -> int:
        return self._names.count

    @property
    def limit(self) -> int:
        return 1 << self.hash_bits

    @property
    def is_full(self) -> bool:
        return len(self) == self.limit

    @property
    def names(self) -> list[str]:
        """For every index the first name that had it."""
        names = self._list().to_strings(self.separator)
        for index in np.flatnonzero(self._is_shared).tolist():
            names[index] += ", and others"
        return names

    def find_indices(self, names: NameBatch, *, learn: bool) -> np.ndarray:
        """Return the index of every name; without `learn`, -1 for those that have none."""
        if names.key != KEY:
            names = names.rehash(KEY)
        indices = np.empty(len(names), np.int32)
        prefixes = self._find_prefixes(names, learn=learn)
        at = 0
        while at < len(names):
            if prefixes is None:
                names = names.shorten()
                prefixes = self._find_prefixes(names, learn=learn)
                assert prefixes is not None
            at, why = self._names.find(names, prefixes, indices, at, self._sharing(names), learn=learn)
            if why == loops.TOO_LONG:
                prefixes = None
            elif why == loops.NO_INDEX_LEFT:
                self._share_key = self._list().digest()
                self._is_shared = grow(self._is_shared, self.limit)
        return indices

    def snapshot(self) -> Any:
        """Return what `restore` needs to forget the names that come from now on."""
        return self._names.snapshot(), self._prefixes.snapshot(), self._is_shared.copy(), self._share_key

    def restore(self, snapshot: Any) -> None:
        """Forget the names that came after a snapshot, even if a call that inserted them was interrupted."""
        names, prefixes, is_shared, self._share_key = snapshot
        self._names.restore(names)
        self._prefixes.restore(prefixes)
        self._is_shared = is_shared.copy()

    def _find_prefixes(self, names: NameBatch, *, learn: bool) -> np.ndarray | None:
        """Return the index of every prefix, -1 for those that are unknown; None if one is too long. New ones are
        inserted if they have names to be learned."""
        hashes = hash_prefixes(names.prefixes, names.prefix_spans, KEY)
        none = np.zeros(len(hashes), np.int32)
        prefixes = NameBatch(
            names.prefixes, names.prefix_spans, hashes, names.prefixes, none, names.prefix_spans, names.is_ngram
        )
        indices = np.empty(len(prefixes), np.int32)
        if self._prefixes.find(prefixes, _NO_PREFIX, indices, 0, NO_SHARING, learn=False)[1] == loops.TOO_LONG:
            return None
        if learn and not self.is_full and (indices < 0).any():
            is_used = np.zeros(len(indices), bool)
            is_used[names.prefix_of] = True
            new = np.flatnonzero(is_used & (indices < 0))
            found = np.empty(len(new), np.int32)
            self._prefixes.find(prefixes[new], _NO_PREFIX, found, 0, NO_SHARING, learn=True)
            indices[new] = found
            self._names.prefix_hashes = grow(self._names.prefix_hashes, self._prefixes.count)
            self._names.prefix_hashes[found] = hashes[new]
        return indices

    def _sharing(self, names: NameBatch) -> loops.SharingHash:
        if not self._share_key:
            return NO_SHARING
        key = Key.of(self._share_key)
        prefix_hashes = hash_prefixes(names.prefixes, names.prefix_spans, key)
        return loops.SharingHash(prefix_hashes, key.factor, np.uint64(64 - self.hash_bits), self._is_shared)

    def _list(self) -> NameList:
        return NameList.from_tables(self._names, self._prefixes)

    def _insert(self, names: NameList) -> bool:
        """Insert names in the order of their indices; return whether all are different."""
        for batch in names.batches():
            before = len(self)
            if not np.array_equal(self.find_indices(batch, learn=True), np.arange(before, before + len(batch))):
                return False
        return True

    def absorb(self, other: Vocabulary) -> np.ndarray:
        """Learn the names of another vocabulary, in its order; return for each of its indices the one here.

        >>> from novikoff.data.encoding import NameBatch, Vocabulary
        >>> one, other = Vocabulary(), Vocabulary()
        >>> _ = one.find_indices(NameBatch.with_prefix("", ["red", "green"]), learn=True)
        >>> _ = other.find_indices(NameBatch.with_prefix("", ["blue", "red"]), learn=True)
        >>> one.absorb(other).tolist(), one.names
        ([2, 0], ['red', 'green', 'blue'])
        """
        found = [self.find_indices(batch, learn=True) for batch in other._list().batches()]
        if other._share_key and not self._share_key:  # it has met names that it has not kept
            self._share_key = self._list().digest()
            self._is_shared = grow(self._is_shared, self.limit)
        return np.concatenate([np.empty(0, np.int32), *found])

    # -- model files

    def write_to(self, section: Section) -> None:
        """Write everything to a section of a model file."""
        section.facts |= {"hash_bits": self.hash_bits, "share_key": self._share_key.hex()}
        self._list().write_to(section)
        section.add_tensor("shared", np.flatnonzero(self._is_shared).astype(np.int64))

    @classmethod
    def read_from(cls, section: Section, separator: str = "") -> Vocabulary:
        """Read what `write_to` wrote, in this version or in one that compared only hashes."""
        bits = section.fact("hash_bits", int)
        section.require(_MIN_BITS <= bits <= _MAX_BITS, f"hash_bits is {bits}")
        if section.full_name("hashes") in section.tensors:
            from novikoff.data.encoding.hashed_vocabulary import HashedVocabulary

            return HashedVocabulary.read_hashed(section, bits, separator)
        vocabulary = cls(bits, separator)
        names = NameList.read_from(section)
        section.require(len(names.sizes) <= vocabulary.limit, "it has more names than indices")
        section.require(vocabulary._insert(names), "it has the same name twice")
        vocabulary._read_shared(section)
        return vocabulary

    def _read_shared(self, section: Section) -> None:
        """Read which indices are shared, and the key for sharing."""
        shared = section.indices("shared", (None,), max(len(self), 1))
        try:
            self._share_key = bytes.fromhex(section.fact("share_key", str))
        except ValueError as error:
            section.fail(f"{section.full_name('share_key')} is not hexadecimal", error)
        section.require(len(self._share_key) in (0, 16), f"{section.full_name('share_key')} is no key")
        section.require(self.is_full or not (len(shared) or self._share_key), "indices are shared before all are used")
        section.require(self._share_key or not len(shared), "indices are shared without a key")
        if self._share_key:
            self._is_shared = np.zeros(self.limit, np.uint8)
            self._is_shared[shared] = 1
