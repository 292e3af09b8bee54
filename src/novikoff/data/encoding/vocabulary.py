"""The vocabulary: a place for every name that a stream brings, in memory that has a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff._compiled.loops import names as kernels
from novikoff.data.encoding.names import NO_SHARING, Content, Names, NameTable, Sharing, head_hashes, longer
from novikoff.data.formats.hash_key import KEY, Key
from novikoff.errors import DataError
from novikoff.model_files import Section

__all__ = ["HASH_BITS", "Names", "Vocabulary"]

HASH_BITS = 20  # a million names: about 60 MB with their weights
_FEWEST, _MOST = 1, 28
_ZERO = np.zeros(1, np.int32)  # heads have no heads: their number is 0


class Vocabulary:
    """Places for names, numbered from 0 as the names come.

    The first 2**hash_bits names have a place each, and no two of them the same: names are compared byte by byte, with
    their heads. Later ones share those places, by their hashes. So memory has a bound, and the names that people want
    to see, which are mostly among the early ones, are known.

    Two keys keep whoever writes the names from choosing which of them fall together. Names are looked up under a key of
    the process, on which nothing depends but time. Where they share places, results do depend on the key: it is a
    digest of the names that have taken all places. So the same stream gives the same model, without a seed to choose or
    to lose; and who has not seen all of the stream up to there cannot know the key. It is kept with the model.

    Parameters
    ----------
    hash_bits : int
    mark : str
        What stands between a head and a name when they are shown, if it is not in the head already: one character, or
        none.

    Examples
    --------
    >>> from novikoff.data.encoding.vocabulary import Names, Vocabulary
    >>> vocabulary = Vocabulary(hash_bits=1)
    >>> vocabulary.places(Names.under("", ["red", "green", "blue", "red"]), learn=True).tolist()
    [0, 1, 0, 0]
    >>> vocabulary.names, vocabulary.is_full
    (['red, and others', 'green'], True)
    """

    is_exact = True  # whether names are compared

    def __init__(self, hash_bits: int = HASH_BITS, mark: str = "") -> None:
        if not _FEWEST <= hash_bits <= _MOST:
            raise DataError(f"hash_bits must be a whole number from {_FEWEST} to {_MOST}; found {hash_bits!r}.")
        self.hash_bits, self.mark = hash_bits, mark
        self._shared, self._share_key = np.zeros(0, np.uint8), b""
        self._clear()

    def _clear(self) -> None:
        self._key = KEY
        self._names = NameTable(self.limit, np.empty(0, np.uint64))
        self._heads = NameTable(kernels.LIMIT, np.array([KEY.seed]))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._key != KEY:  # it comes from another process
            content = self._content()
            self._clear()
            self._enter(content)

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
        """Of every place the name that took it."""
        names = self._content().shown(self.mark)
        for place in np.flatnonzero(self._shared).tolist():
            names[place] += ", and others"
        return names

    def places(self, names: Names, *, learn: bool) -> np.ndarray:
        """Of every name its place; without `learn`, -1 for those that have none."""
        if names.key != KEY:
            names = names.hashed(KEY)
        places = np.empty(len(names), np.int32)
        numbers = self._numbers(names, learn=learn)
        at = 0
        while at < len(names):
            if numbers is None:
                names = names.shortened()
                numbers = self._numbers(names, learn=learn)
                assert numbers is not None
            at, why = self._names.find(names, numbers, places, at, self._sharing(names), learn=learn)
            if why == kernels.LONG:
                numbers = None
            elif why == kernels.FULL:
                self._share_key = self._content().digest()
                self._shared = longer(self._shared, self.limit)
        return places

    def checkpoint(self) -> Any:
        """Return what `restore` needs to forget the names that come from now on."""
        return self._names.checkpoint(), self._heads.checkpoint(), self._shared.copy(), self._share_key

    def restore(self, mark: Any) -> None:
        """Forget the names that came after the mark, even if a call that entered them was interrupted."""
        names, heads, shared, self._share_key = mark
        self._names.restore(names)
        self._heads.restore(heads)
        self._shared = shared.copy()

    def _numbers(self, names: Names, *, learn: bool) -> np.ndarray | None:
        """The number of every head, -1 for those that are not known; None if one is too long. New ones become known if
        they have names to be learned."""
        hashes = head_hashes(names.heads, names.head_spans, KEY)
        none = np.zeros(len(hashes), np.int32)
        heads = Names(names.heads, names.head_spans, hashes, names.heads, none, names.head_spans, names.runs)
        numbers = np.empty(len(heads), np.int32)
        if self._heads.find(heads, _ZERO, numbers, 0, NO_SHARING, learn=False)[1] == kernels.LONG:
            return None
        if learn and not self.is_full and (numbers < 0).any():
            used = np.zeros(len(numbers), bool)
            used[names.head_of] = True
            new = np.flatnonzero(used & (numbers < 0))
            found = np.empty(len(new), np.int32)
            self._heads.find(heads[new], _ZERO, found, 0, NO_SHARING, learn=True)
            numbers[new] = found
            self._names.begin = longer(self._names.begin, self._heads.count)
            self._names.begin[found] = hashes[new]
        return numbers

    def _sharing(self, names: Names) -> Sharing:
        if not self._share_key:
            return NO_SHARING
        key = Key.of(self._share_key)
        heads = head_hashes(names.heads, names.head_spans, key)
        return Sharing(heads, key.factor, np.uint64(64 - self.hash_bits), self._shared)

    def _content(self) -> Content:
        return Content.of(self._names, self._heads)

    def _enter(self, content: Content) -> bool:
        """Give the places to these names, in order; return whether all are different."""
        for names in content.in_parts():
            before = len(self)
            if not np.array_equal(self.places(names, learn=True), np.arange(before, before + len(names))):
                return False
        return True

    # -- model files

    def put(self, section: Section) -> None:
        """Write everything to a model file."""
        section.facts |= {"hash_bits": self.hash_bits, "share_key": self._share_key.hex()}
        self._content().put(section)
        section.put("shared", np.flatnonzero(self._shared).astype(np.int64))

    @classmethod
    def take(cls, section: Section, mark: str = "") -> Vocabulary:
        """Read back what `put` wrote, in this version or before names were compared."""
        bits = section.fact("hash_bits", int)
        section.require(_FEWEST <= bits <= _MOST, f"hash_bits is {bits}")
        if section.place("hashes") in section.tensors:
            from novikoff.data.encoding.hashed_vocabulary import HashedVocabulary

            return HashedVocabulary.taken(section, bits, mark)
        found = cls(bits, mark)
        content = Content.take(section)
        section.require(len(content.sizes) <= found.limit, "it has more names than places")
        section.require(found._enter(content), "it has the same name twice")
        found._take_shared(section)
        return found

    def _take_shared(self, section: Section) -> None:
        """Which places are shared, and the key by which they are."""
        shared = section.indices("shared", (None,), max(len(self), 1))
        try:
            self._share_key = bytes.fromhex(section.fact("share_key", str))
        except ValueError as error:
            section.fail(f"{section.place('share_key')} is not hexadecimal", error)
        section.require(len(self._share_key) in (0, 16), f"{section.place('share_key')} is no key")
        section.require(self.is_full or not (len(shared) or self._share_key), "places are shared before all are taken")
        section.require(self._share_key or not len(shared), "places are shared without a key")
        if self._share_key:
            self._shared = np.zeros(self.limit, np.uint8)
            self._shared[shared] = 1
