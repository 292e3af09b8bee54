"""Tables as rows of numbers.

numbers   standardised as they come; one that is missing is 0 and has a feature of its own, "column is missing"
words     a feature per value, "column=value", 1 where a row has it (spec: one-hot); "column=?" where it is missing
texts     a feature per n-gram of words, "column:call now", and of characters, "column~ll n", with how often it
          occurs; all of them in a row are brought to length 4 together
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from novikoff._compiled.loops import moments
from novikoff._compiled.loops import names as kernels
from novikoff._compiled.loops.rows import LARGEST
from novikoff.data.encoding.contract import Encoding, Features, refuse, room_for
from novikoff.data.encoding.ngrams import Bag
from novikoff.data.encoding.vocabulary import Names, Vocabulary
from novikoff.data.formats.block import Column, TableBlock, Texts, Words
from novikoff.data.formats.read_ahead import read_ahead
from novikoff.data.formats.stacked import Stacked
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows, writable
from novikoff.model_files import Section, put_values, take_values

__all__ = ["TableEncoding"]

_KINDS: dict[type, str] = {np.ndarray: "number", Words: "word", Texts: "text"}
_TEXT = 1 << 19  # bytes of text to look at at once: their n-grams take forty times as much


class TableEncoding(Encoding[TableBlock]):
    """Columns by name.

    Parameters
    ----------
    features : Features, optional

    Attributes
    ----------
    kinds : dict
        What each column holds: "number", "word" or "text".
    moments : ndarray
        Of the columns of numbers: how many there were, their means, and the sums of their squared deviations.
    places : ndarray
        Of the columns of numbers: which feature each is.
    """

    kind = "table"

    def __init__(self, features: Features | None = None) -> None:
        self.features = features or Features()
        self.kinds: dict[str, str] = {}
        self.vocabulary = Vocabulary(self.features.hash_bits)
        self.moments = np.zeros((3, 0))
        self.places = np.zeros(0, np.int32)
        # Whether no row has had anything but numbers, each with a place of its own: then rows are dense.
        self.is_dense = True
        self._seen = np.zeros(0, np.int32)

    @property
    def names(self) -> list[str]:
        return self.vocabulary.names

    @property
    def n_features(self) -> int:
        return len(self.vocabulary)

    def columns(self, kind: str) -> list[str]:
        """The names of the columns of one kind."""
        return [name for name, other in self.kinds.items() if other == kind]

    def ahead_of(self, blocks: Iterable[TableBlock]) -> Iterator[TableBlock]:
        blocks = iter(blocks)
        for first in blocks:
            every = chain(iter([first]), blocks)
            has_texts = isinstance(first, TableBlock) and bool(_names_of_texts(first))
            del first  # neither this nor a list in the chain is to keep it to the end
            yield from read_ahead(self._with_bags(every)) if has_texts else every

    def _with_bags(self, blocks: Iterable[TableBlock]) -> Generator[TableBlock, None, None]:
        for block in blocks:
            if not isinstance(block, TableBlock):
                yield block  # for `learn` to refuse
                continue
            for part in _parts(block):
                yield BaggedBlock.of(part, self._bag(part), self.features)

    def pieces(self, block: TableBlock) -> Iterator[TableBlock]:
        return _parts(self._with_known_texts(block))

    def mark(self) -> Any:
        return dict(self.kinds), self.moments.copy(), self.places, self.is_dense, self.vocabulary.checkpoint()

    def back_to(self, mark: Any) -> None:
        kinds, moments, places, is_dense, names = mark
        self.kinds, self.moments, self.places, self.is_dense = dict(kinds), moments.copy(), places, is_dense
        self.vocabulary.restore(names)

    def learn(self, block: TableBlock) -> Iterator[Rows]:
        self.require(block)
        for part in _parts(self._with_known_texts(block)):
            yield from self._learned(part, self._bag(part), self._meet(part))

    def read(self, block: TableBlock) -> Rows:
        self.require(block)
        return Rows.joined([self._read(part) for part in _parts(self._with_known_texts(block))])

    def _read(self, block: TableBlock) -> Rows:
        numbers = self._numbers(block)
        gaps = _gaps(numbers)
        flags, bag = self._flags(block, {}, gaps), self._bag(block)
        values = self._standardised(numbers.values, gaps, learn=False)
        if self.is_dense:
            return Rows.of(values)
        return self._joined(values, flags, bag, self.vocabulary.places(_names(flags, bag), learn=False))

    # -- columns

    def _meet(self, block: TableBlock) -> dict[str, int]:
        """Take in the columns that are new; of each the row from which on it is there."""
        if self.kinds and not block.is_loose:
            return {}
        firsts = {}
        for name, column in block.columns.items():
            there = ~_is_missing(column) if block.is_loose else np.ones(1, bool)
            if name not in self.kinds and there.any():
                firsts[name] = int(there.argmax())
        # In a loose block columns that begin in the same row stand in no order that could be relied on.
        for name in sorted(firsts, key=lambda name: (firsts[name], name if block.is_loose else "")):
            self.kinds[name] = _KINDS[type(block.columns[name])]
        n_new = len(self.columns("number")) - self.moments.shape[1]
        self.moments = np.hstack([self.moments, np.zeros((3, n_new))])
        self.is_dense &= not block.is_loose and self.moments.shape[1] <= self.vocabulary.limit
        return firsts

    def require(self, block: TableBlock) -> None:
        """A table with the columns that are known, of the kinds that are known."""
        if not isinstance(block, TableBlock):
            refuse(block, "a table with named columns")
        for name, kind in self.kinds.items():
            if name not in block.columns and not block.is_loose:
                raise DataError(
                    f"{block.source} has no column {name!r}, which the model has learned from. "
                    f"Its columns are {', '.join(map(repr, list(block.columns)[:20]))}."
                )
            found = _KINDS[type(block.columns[name])] if name in block.columns else kind
            if found != kind:
                raise DataError(
                    f"{block.source}: column {name!r} holds {found}s; the model has learned from {kind}s there."
                )

    # -- rows

    def _learned(self, block: TableBlock, bag: Bag | None, firsts: dict[str, int]) -> list[Rows]:
        """All rows: dense as long as there are only numbers, and not from the first row on that brings something else,
        so that how they are added up does not depend on the blocks."""
        numbers = self._numbers(block)
        gaps = _gaps(numbers)
        are_numbers = not self.features.scale and numbers.squares <= LARGEST
        values = self._standardised(numbers.values, gaps, learn=True)
        is_known = len(self.places) == values.shape[1] and not self.columns("word")
        if self.is_dense and is_known and not (gaps.size or bag):
            return [Rows.of(values, are_numbers=are_numbers)]  # most blocks of numbers bring nothing new
        flags = self._flags(block, firsts, gaps)
        was_dense = self.is_dense
        fresh = [_Flag.at(firsts[name], name) for name in self.columns("number")[len(self.places) :]]
        names = _names([*fresh, *flags], bag)
        if was_dense or fresh or flags:
            rows = _first_rows([*fresh, *flags], bag)
            places = self._new_places(names, rows)
            start = min(rows[len(fresh) :], default=len(block)) if was_dense else 0
        else:
            places, start = self.vocabulary.places(names, learn=True), 0
        self.places = np.concatenate([self.places, places[: len(fresh)]])
        self.is_dense = bool(was_dense and start == len(block))
        found = [Rows.of(values[:start], are_numbers=are_numbers)] if start else []
        if start < len(block):
            found.append(self._joined(values, flags, bag, places[len(fresh) :])[start:])
        return found

    def _new_places(self, names: Names, rows: np.ndarray) -> np.ndarray:
        """The places of names, which are given out in the order of the rows that bring them."""
        if (rows[1:] >= rows[:-1]).all():
            return self.vocabulary.places(names, learn=True)
        places, order = np.empty(len(names), np.int32), np.argsort(rows, kind="stable")
        places[order] = self.vocabulary.places(names[order], learn=True)
        return places

    def _numbers(self, block: TableBlock) -> Stacked:
        """The columns of numbers side by side."""
        names = self.columns("number")
        if block.numbers is not None and block.numbers.are(names, block.columns):
            return block.numbers
        columns = {
            name: block.columns[name] if name in block.columns else np.full(len(block), np.nan) for name in names
        }
        return Stacked.of({name: _number(column) for name, column in columns.items()}, len(block))

    def _standardised(self, values: np.ndarray, gaps: np.ndarray, *, learn: bool) -> np.ndarray:
        """Rows of numbers as they are learned from; those given may be the block's own and stay as they are."""
        values = writable(values)
        if self.features.scale:
            scaled = np.empty_like(values)
            moments.standardise(values, scaled, *self.moments, learn)
            return scaled
        return np.where(gaps, 0.0, values) if gaps.size else values

    def _flags(self, block: TableBlock, firsts: dict[str, int], gaps: np.ndarray) -> list[_Flag]:
        """What is 1 where a row has it: the words, and that a number is missing."""
        absent = Words(np.full(len(block), -1, np.int32), [])
        flags = []
        for name in self.columns("word"):
            column = block.columns.get(name, absent)
            assert isinstance(column, Words)
            flags.append(_Flag.of_words(name, column, firsts.get(name, 0)))
        numbers = self.columns("number")
        for j in np.flatnonzero(gaps.any(axis=0)).tolist():
            head, name = self.name_of_missing(numbers[j])
            flags.append(_Flag.of_missing(head, name, gaps[:, j], firsts.get(numbers[j], 0)))
        return flags

    def name_of_missing(self, column: str) -> tuple[str, str]:
        """The head and the name of the feature that a number of this column is missing. No column has the same name and
        no head, though one may be called "age is missing"; models of before did not make this difference."""
        return (column, " is missing") if self.vocabulary.is_exact else ("", f"{column} is missing")

    def _with_known_texts(self, block: TableBlock) -> TableBlock:
        """A block without texts that the model knows nothing of, unless it may still learn of new columns."""
        if block.is_loose or not self.kinds:
            return block
        unknown = [name for name in _names_of_texts(block) if name not in self.kinds]
        columns = {name: column for name, column in block.columns.items() if name not in unknown}
        return replace(block, columns=columns) if unknown else block

    def _bag(self, block: TableBlock) -> Bag | None:
        """The n-grams of the texts of a block. They depend on nothing that has been learned."""
        if isinstance(block, BaggedBlock) and block.form == (self.features, _names_of_texts(block)):
            return block.bag
        form = {"ngrams": self.features.ngrams, "char_ngrams": self.features.char_ngrams}
        texts = [(name, block.columns[name]) for name in _names_of_texts(block)]
        bags = [Bag.of(name, column, **form) for name, column in texts if isinstance(column, Texts)]
        return Bag.together(bags) if bags else None

    def _joined(self, values: np.ndarray, flags: list[_Flag], bag: Bag | None, places: np.ndarray) -> Rows:
        """Sparse rows of everything, by the places of the flags that were found and of the bag."""
        if len(self._seen) < len(self.vocabulary):
            self._seen = np.zeros(2 * len(self.vocabulary), np.int32)
        if bag and not values.shape[1] and not flags:
            indptr, indices, data, squared_norms = self._bag_rows(bag, places)
            return Rows.distinct(data, indices, indptr, len(self.vocabulary), squared_norms)
        n, at = len(values), 0
        ones = np.empty((n, len(flags)), np.int32)
        for k, flag in enumerate(flags):
            ones[:, k] = flag.placed(places[at : at + len(flag.used)])
            at += len(flag.used)
        no_bag = np.zeros(n + 1, np.int32), places[:0], np.empty(0)
        bag_rows = self._bag_rows(bag, places[at:])[:3] if bag else no_bag
        indptr, indices, data = room_for(n, values.size + ones.size + len(bag_rows[1]))
        used = kernels.join_rows(values, self.places, ones, *bag_rows, indptr, indices, data, self._seen)
        return Rows.distinct(data[:used], indices[:used], indptr, len(self.vocabulary))

    def _bag_rows(self, bag: Bag, places: np.ndarray) -> tuple[np.ndarray, ...]:
        """How often each n-gram is there, in rows of one length: indptr, places, values and squared norms."""
        indptr, indices, data = bag.indptr, places, bag.counts
        if self.vocabulary.is_full or (places < 0).any():
            indptr, indices, data = room_for(len(bag.indptr) - 1, len(places))
            used = kernels.gather_rows(bag.indptr, places, bag.counts, indptr, indices, data, self._seen)
            indices, data = indices[:used], data[:used]
        values, squared_norms = np.empty(len(data)), np.empty(len(indptr) - 1)
        kernels.normalise_rows(indptr, data, self.features.text_length, values, squared_norms)
        return indptr, indices, values, squared_norms

    # -- model files

    def put(self, section: Section) -> None:
        section.facts |= {"is_dense": self.is_dense, "kinds": list(self.kinds.values())}
        section.facts |= {"scale": self.features.scale, "text_length": self.features.text_length}
        section.put("ngrams", np.array([self.features.ngrams, self.features.char_ngrams], np.int64))
        section.put("moments", self.moments)
        section.put("places", self.places)
        put_values(section.open("columns"), list(self.kinds))
        self.vocabulary.put(section.open("vocabulary"))

    @classmethod
    def take(cls, section: Section) -> TableEncoding:
        names, kinds = take_values(section.part("columns")), section.fact("kinds", list)
        section.require(len(set(names)) == len(names) == len(kinds), "its columns have no kinds, or the same name")
        section.require(all(kind in list(_KINDS.values()) for kind in kinds), "a column is of no known kind")
        vocabulary = Vocabulary.take(section.part("vocabulary"))
        ngrams, char_ngrams = map(tuple, section.tensor("ngrams", np.int64, (2, 2)).tolist())
        try:
            features = Features(
                section.fact("scale", bool),
                vocabulary.hash_bits,
                ngrams,
                char_ngrams,
                section.fact("text_length", float),
            )
        except DataError as error:
            section.fail(str(error), error)
        found = cls(features)
        found.kinds, found.vocabulary = dict(zip(names, kinds, strict=True)), vocabulary
        n_numbers = kinds.count("number")
        found.moments = section.finite("moments", np.float64, (3, n_numbers))
        section.require((found.moments[[0, 2]] >= 0.0).all(), "its moments are not those of any numbers")
        found.places = section.indices("places", (n_numbers,), len(vocabulary), np.int32)
        found.is_dense = section.fact("is_dense", bool)
        is_plain = len(vocabulary) == n_numbers and (found.places == np.arange(n_numbers)).all()
        section.require(is_plain or not found.is_dense, "its rows cannot be dense")
        return found


@dataclass(frozen=True, eq=False)
class _Flag:
    """Features of which a row has at most one: row i has values[codes[i]], or none if that is -1."""

    head: str
    values: list[str]
    codes: np.ndarray
    used: np.ndarray  # the codes that occur
    rows: np.ndarray  # where each of them occurs first

    @classmethod
    def of(cls, head: str, values: list[str], codes: np.ndarray) -> _Flag:
        firsts = np.full(len(values) + 1, len(codes))
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written stays
        used = np.flatnonzero(firsts[:-1] < len(codes))
        return cls(head, values, codes, used, firsts[used])

    @classmethod
    def of_words(cls, name: str, words: Words, first: int) -> _Flag:
        """The words of a column, a question mark for a missing or empty one; nothing before the column is there."""
        codes = np.where(words.codes < 0, len(words.values), words.codes)
        if "" in words.values:
            codes[codes == words.values.index("")] = len(words.values)
        codes[:first] = -1
        return cls.of(f"{name}=", [*words.values, "?"], codes)

    @classmethod
    def of_missing(cls, head: str, name: str, is_missing: np.ndarray, first: int) -> _Flag:
        codes = is_missing.astype(np.int32) - 1
        codes[:first] = -1
        return cls.of(head, [name], codes)

    @classmethod
    def at(cls, row: int, name: str) -> _Flag:
        """One feature that this row brings; which others have it is not said."""
        return cls("", [name], np.empty(0, np.int32), np.zeros(1, np.int64), np.array([row]))

    def placed(self, places: np.ndarray) -> np.ndarray:
        """The place of every row's feature, if those that are used have these."""
        every = np.full(len(self.values) + 1, -1, np.int32)  # the last is what -1 finds
        every[self.used] = places
        return every[self.codes]


def _names(flags: list[_Flag], bag: Bag | None) -> Names:
    """The names that a block brings."""
    words = Names.joined([(flag.head, [flag.values[code] for code in flag.used.tolist()]) for flag in flags])
    return Names.together([words, *([bag.names] if bag else [])])


def _first_rows(flags: list[_Flag], bag: Bag | None) -> np.ndarray:
    """The rows that bring them first."""
    return np.concatenate([np.empty(0, np.int64), *(flag.rows for flag in flags), *([bag.rows] if bag else [])])


@dataclass(frozen=True, eq=False)
class BaggedBlock(TableBlock):
    """Rows of a table whose texts have been looked at: `bag` has the n-grams that these features ask for, of the
    columns that are named beside them."""

    bag: Bag | None
    form: tuple[Features, list[str]] | None

    @classmethod
    def of(cls, block: TableBlock, bag: Bag | None, features: Features) -> BaggedBlock:
        known = {each.name: getattr(block, each.name) for each in fields(block) if each.init}
        found = cls(**known, bag=bag, form=(features, _names_of_texts(block)))
        object.__setattr__(found, "numbers", block.numbers)
        return found

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        return super()._cut(part) | {"bag": None, "form": None}


def _names_of_texts(block: TableBlock) -> list[str]:
    """In an order that does not depend on the rows of a loose block."""
    names = [name for name, column in block.columns.items() if isinstance(column, Texts)]
    return sorted(names) if block.is_loose else names


def _parts(block: TableBlock) -> Iterator[TableBlock]:
    """The block, in pieces if it holds much text, unless that has been looked at; its rejects are with the first."""
    if isinstance(block, BaggedBlock) or not _names_of_texts(block):
        yield block
        return
    sizes = sum(np.diff(column.spans).ravel() for column in block.columns.values() if isinstance(column, Texts))
    pieces = np.cumsum(np.broadcast_to(sizes, len(block))) // _TEXT
    edges = [0, *(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(block)]
    if len(edges) == 2:
        yield block
        return
    for start, stop in pairwise(edges):
        yield block[start:stop] if start else replace(block[start:stop], rejects=block.rejects)


def _is_missing(column: Column) -> np.ndarray:
    if isinstance(column, Words):
        return column.codes < 0
    return column.spans[:, 0] < 0 if isinstance(column, Texts) else np.isnan(column)


def _number(column: Column) -> np.ndarray:
    assert isinstance(column, np.ndarray)
    return column


def _gaps(numbers: Stacked) -> np.ndarray:
    """Where numbers are missing; nothing at all if none is, which their squares tell."""
    return np.isnan(numbers.values) if np.isnan(numbers.squares) else np.zeros((1, 0), bool)
