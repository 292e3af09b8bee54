"""TableEncoding: the columns of tables as rows of numbers.

numbers      standardised by the rows so far; a missing one is 0 and has a feature of its own, "column is missing";
             if there are hats, also the weights with which it is interpolated between knots, "column near 1.5"
categories   a feature per value, "column=value", 1 where a row has it (one-hot); "column=?" where it is missing
texts        a feature per n-gram of words, "column:call now", and of characters, "column~ll n", with the value 1 + ln n
             if it occurs n times; all of them in a row are scaled together, to length 4
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from novikoff._compiled.loops import feature_rows, moments
from novikoff._compiled.loops.hats import N_KNOTS
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM
from novikoff.data.encoding.contract import Encoding, Features, empty_csr, raise_other_kind
from novikoff.data.encoding.curves import Curves
from novikoff.data.encoding.hats import TableHats, find_own
from novikoff.data.encoding.ngrams import NgramBag
from novikoff.data.encoding.one_hot import OneHotFeatures
from novikoff.data.encoding.table_names import first_rows, learn_names, names_of
from novikoff.data.encoding.text_blocks import BlockWithNgrams, ngrams_of, split_by_text, text_columns
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.data.feature_names import missing_name, missing_name_parts
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.formats.read_ahead import read_ahead
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows, as_writable
from novikoff.model_files import Section, read_values, write_values

__all__ = ["TableEncoding"]

_KINDS: dict[type, str] = {np.ndarray: "number", CategoricalColumn: "word", TextColumn: "text"}


class TableEncoding(Encoding[TableBlock]):
    """Columns of tables, found by name.

    Parameters
    ----------
    features : Features, optional

    Attributes
    ----------
    kinds : dict
        What each column holds: "number", "word" (a category) or "text".
    moments : ndarray
        For each numeric column the count of its numbers, their mean, and the sum of their squared deviations.
    number_indices : ndarray
        The index of the feature of each numeric column.
    hats : TableHats or None
        The features that interpolate numbers, if there are any.
    """

    kind = "table"
    hats: TableHats | None = None  # here: it is not in pickles of earlier versions

    def __init__(self, features: Features | None = None) -> None:
        self.features = features or Features()
        self.kinds: dict[str, str] = {}
        self.vocabulary = Vocabulary(self.features.hash_bits)
        self.moments = np.zeros((3, 0))
        self.number_indices = np.zeros(0, np.int32)
        self.hats = TableHats() if self.features.has_hats else None
        # Whether no row has had anything but numbers, each with an index of its own: then rows are dense.
        self.is_dense = self.hats is None
        self._last_entry = np.zeros(0, np.int32)  # see `feature_rows`

    @property
    def names(self) -> list[str]:
        return self.vocabulary.names

    @property
    def n_features(self) -> int:
        return len(self.vocabulary)

    @property
    def scales(self) -> bool:
        return self.features.scale

    @property
    def has_hats(self) -> bool:
        return self.hats is not None

    @property
    def log_counts(self) -> bool:
        return self.features.log_counts

    def curves(self) -> Curves | None:
        if self.hats is None:
            return None
        counts, means, squares = self.moments
        deviations, names = np.sqrt(squares / np.maximum(counts, 1.0)), self.columns("number")
        hats, is_hat = self.hats.indices, self.hats.is_hat(len(self.vocabulary))
        return Curves(names, np.arange(len(names)), self.number_indices, hats, means, deviations, is_hat)

    def columns(self, kind: str) -> list[str]:
        """Return the names of the columns of one kind."""
        return [name for name, other in self.kinds.items() if other == kind]

    def precompute(self, blocks: Iterable[TableBlock]) -> Iterator[TableBlock]:
        blocks = iter(blocks)
        for first in blocks:
            every = chain(iter([first]), blocks)
            has_texts = isinstance(first, TableBlock) and bool(text_columns(first))
            del first  # neither this name nor a list in the chain may keep the first block in memory to the end
            yield from read_ahead(self._with_ngrams(every)) if has_texts else every

    def _with_ngrams(self, blocks: Iterable[TableBlock]) -> Generator[TableBlock, None, None]:
        for block in blocks:
            if not isinstance(block, TableBlock):
                yield block  # for `learn` to refuse
                continue
            for piece in split_by_text(block):
                yield BlockWithNgrams.from_block(piece, self.features)

    def split(self, block: TableBlock) -> Iterator[TableBlock]:
        return split_by_text(self._without_unknown_texts(block))

    def snapshot(self) -> Any:
        numbers = self.moments.copy(), self.number_indices, self.hats and self.hats.snapshot()
        return dict(self.kinds), numbers, self.is_dense, self.vocabulary.snapshot()

    def restore(self, snapshot: Any) -> None:
        kinds, (moments, self.number_indices, hats), is_dense, names = snapshot
        self.kinds, self.moments, self.is_dense = dict(kinds), moments.copy(), is_dense
        if self.hats is not None:
            self.hats.restore(hats)
        self.vocabulary.restore(names)

    def learn(self, block: TableBlock) -> Iterator[Rows]:
        self.require(block)
        for piece in self.split(block):
            yield from self._learn_piece(piece, ngrams_of(piece, self.features), self._add_columns(piece))

    def encode(self, block: TableBlock) -> Rows:
        self.require(block)
        return Rows.concatenate([self._encode_piece(piece) for piece in self.split(block)])

    def _encode_piece(self, block: TableBlock) -> Rows:
        numbers = self._numbers(block)
        is_missing = _find_missing(numbers.values, numbers.sum_of_squares)
        one_hot, bag = self._one_hot(block, {}, is_missing), ngrams_of(block, self.features)
        values = self._standardise(numbers.values, is_missing, learn=False)
        if self.is_dense:
            return Rows.of(values)
        indices = self.vocabulary.find_indices(names_of(one_hot, bag), learn=False)
        return self._join(values, is_missing, one_hot, bag, indices)

    # -- columns

    def _add_columns(self, block: TableBlock) -> dict[str, int]:
        """Add the columns that are new; return for each the row from which on it is there."""
        if self.kinds and not block.is_loose:
            return {}
        firsts = {}
        for name, column in block.columns.items():
            is_there = ~_is_missing(column) if block.is_loose else np.ones(1, bool)
            if name not in self.kinds and is_there.any():
                firsts[name] = int(is_there.argmax())
        # In a loose block the order of columns that begin in the same row may depend on the block: sort them by name.
        for name in sorted(firsts, key=lambda name: (firsts[name], name if block.is_loose else "")):
            self.kinds[name] = _KINDS[type(block.columns[name])]
        n_new = len(self.columns("number")) - self.moments.shape[1]
        self.moments = np.hstack([self.moments, np.zeros((3, n_new))])
        self.is_dense &= not block.is_loose and self.moments.shape[1] <= self.vocabulary.limit
        return firsts

    def require(self, block: TableBlock) -> None:
        """Raise a DataError if a block is not a table with the known columns, of the known kinds."""
        if not isinstance(block, TableBlock):
            raise_other_kind(block, "a table with named columns")
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

    def _without_unknown_texts(self, block: TableBlock) -> TableBlock:
        """Return a block without the text columns that the model does not have, unless it may still add columns."""
        if block.is_loose or not self.kinds:
            return block
        unknown = [name for name in text_columns(block) if name not in self.kinds]
        columns = {name: column for name, column in block.columns.items() if name not in unknown}
        return replace(block, columns=columns) if unknown else block

    # -- rows

    def _learn_piece(self, block: TableBlock, bag: NgramBag | None, firsts: dict[str, int]) -> list[Rows]:
        """Return all rows: dense as long as there are only numbers, sparse from the first row on that has something
        else. So the order in which products are summed does not depend on the blocks."""
        numbers = self._numbers(block)
        sum_of_squares = numbers.sum_of_squares
        is_missing = _find_missing(numbers.values, sum_of_squares)
        are_numbers = not self.features.scale and sum_of_squares <= LARGEST_SQUARED_NORM
        values = self._standardise(numbers.values, is_missing, learn=True)
        is_known = len(self.number_indices) == values.shape[1] and not self.columns("word")
        if self.is_dense and is_known and not (is_missing.size or bag):
            return [Rows.of(values, are_numbers=are_numbers)]  # most blocks of numbers bring nothing new
        one_hot = self._one_hot(block, firsts, is_missing)
        was_dense, new = self.is_dense, self._new_numbers(firsts)
        names, n_new = names_of([*new, *one_hot], bag), sum(len(each.values) for each in new)
        if was_dense or new or one_hot:
            rows = first_rows([*new, *one_hot], bag)
            n_before = len(self.vocabulary)
            indices = learn_names(self.vocabulary, names, rows)
            self._add_numbers(indices, n_new, rows, n_before)
            start = min(rows[n_new:], default=len(block)) if was_dense else 0
        else:
            indices, start = self.vocabulary.find_indices(names, learn=True), 0
        self.is_dense = bool(was_dense and start == len(block))
        parts = [Rows.of(values[:start], are_numbers=are_numbers)] if start else []
        if start < len(block):
            parts.append(self._join(values, is_missing, one_hot, bag, indices[n_new:])[start:])
        return parts

    def _new_numbers(self, firsts: dict[str, int]) -> list[OneHotFeatures]:
        """Return the names of the features of numeric columns that are new, given the first row of each."""
        new = []
        for name in self.columns("number")[len(self.number_indices) :]:
            new.append(OneHotFeatures.first_seen(firsts[name], "", [name]))
            if self.hats is not None:
                new.append(self.hats.features_of(name, firsts[name]))
        return new

    def _add_numbers(self, indices: np.ndarray, n_new: int, rows: np.ndarray, n_before: int) -> None:
        """Add the indices of `_new_numbers`, the first n_new of those of a block."""
        if self.hats is None:
            self.number_indices = np.concatenate([self.number_indices, indices[:n_new]])
        elif n_new:
            is_hat = np.arange(n_new) % (1 + N_KNOTS) > 0
            is_own = find_own(indices, rows, n_before)[:n_new] if self.vocabulary.is_full else np.ones(n_new, bool)
            self.number_indices = np.concatenate([self.number_indices, indices[:n_new][~is_hat]])
            self.hats.add(indices[:n_new][is_hat], indices[:n_new][is_hat & is_own])

    def _numbers(self, block: TableBlock) -> NumberMatrix:
        """Return the numeric columns as a matrix."""
        names = self.columns("number")
        if block.numbers is not None and block.numbers.matches(names, block.columns):
            return block.numbers
        columns = {
            name: block.columns[name] if name in block.columns else np.full(len(block), np.nan) for name in names
        }
        return NumberMatrix.from_columns({name: _require_array(column) for name, column in columns.items()}, len(block))

    def _standardise(self, values: np.ndarray, is_missing: np.ndarray, *, learn: bool) -> np.ndarray:
        """Return numbers as they are learned from. Those given may belong to the block and are not changed."""
        values = as_writable(values)
        if self.features.scale:
            scaled = np.empty_like(values)
            moments.standardise(values, scaled, *self.moments, learn)
            return scaled
        return np.where(is_missing, 0.0, values) if is_missing.size else values

    def _one_hot(self, block: TableBlock, firsts: dict[str, int], is_missing: np.ndarray) -> list[OneHotFeatures]:
        """Return the features that are 1 where a row has them: values of categories, and that a number is missing."""
        absent = CategoricalColumn(np.full(len(block), -1, np.int32), [])
        found = []
        for name in self.columns("word"):
            column = block.columns.get(name, absent)
            assert isinstance(column, CategoricalColumn)
            found.append(OneHotFeatures.from_column(name, column, firsts.get(name, 0)))
        numbers = self.columns("number")
        for j in np.flatnonzero(is_missing.any(axis=0)).tolist():
            prefix, name = self.name_of_missing(numbers[j])
            found.append(OneHotFeatures.from_missing(prefix, name, is_missing[:, j], firsts.get(numbers[j], 0)))
        return found

    def name_of_missing(self, column: str) -> tuple[str, str]:
        """Return the prefix and the rest of the name of the feature that a number of this column is missing. Models
        that compare only hashes have no prefix there."""
        return missing_name_parts(column) if self.vocabulary.is_exact else ("", missing_name(column))

    def _join(
        self,
        values: np.ndarray,
        is_missing: np.ndarray,
        one_hot: list[OneHotFeatures],
        bag: NgramBag | None,
        indices: np.ndarray,
    ) -> Rows:
        """Return sparse rows of everything, given the indices of the one-hot features and then of the bag."""
        n_features = len(self.vocabulary)
        is_hat = None if self.hats is None else self.hats.is_hat(n_features)
        if len(self._last_entry) < n_features:
            self._last_entry = np.zeros(2 * n_features, np.int32)
        if bag and not values.shape[1] and not one_hot:
            indptr, bag_indices, data, squared_norms = self._bag_rows(bag, indices)
            return Rows.from_csr(data, bag_indices, indptr, n_features, squared_norms, is_hat)
        n, at = len(values), 0
        ones = np.empty((n, len(one_hot)), np.int32)
        for k, each in enumerate(one_hot):
            ones[:, k] = each.index_per_row(indices[at : at + len(each.used)])
            at += len(each.used)
        no_bag = np.zeros(n + 1, np.int32), indices[:0], np.empty(0)
        bag_rows = feature_rows.Entries(*(self._bag_rows(bag, indices[at:])[:3] if bag else no_bag))
        hats = np.zeros((0, 0), np.int32) if self.hats is None else self.hats.indices
        numbers = feature_rows.Numbers(values, self.number_indices, hats, is_missing)
        out = feature_rows.Entries(
            *empty_csr(n, values.size * (1 if is_hat is None else 3) + ones.size + len(bag_rows.data))
        )
        used = feature_rows.join_rows(numbers, ones, bag_rows, out, self._last_entry)
        return Rows.from_csr(out.data[:used], out.indices[:used], out.indptr, n_features, is_hat=is_hat)

    def _bag_rows(self, bag: NgramBag, bag_indices: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the n-grams in rows of one length: indptr, indices, values and squared norms."""
        indptr, indices, data = bag.indptr, bag_indices, bag.counts
        if self.vocabulary.is_full or (indices < 0).any():
            out = indptr, indices, data = empty_csr(len(bag.indptr) - 1, len(bag_indices))
            used = feature_rows.gather_rows(bag.indptr, bag_indices, bag.counts, *out, self._last_entry)
            indices, data = indices[:used], data[:used]
        values, squared_norms = np.empty(len(data)), np.empty(len(indptr) - 1)
        length, logs = self.features.text_length, self.features.log_counts
        feature_rows.normalise_rows(indptr, data, logs, length, values, squared_norms)
        return indptr, indices, values, squared_norms

    # -- model files

    def write_to(self, section: Section) -> None:
        section.facts |= {"is_dense": self.is_dense, "kinds": list(self.kinds.values())}
        section.facts |= {name: getattr(self.features, name) for name in ("scale", "text_length", "log_counts")}
        if self.hats is not None:
            self.hats.write_to(section.add_part("hats"))
        section.add_tensor("ngrams", np.array([self.features.ngrams, self.features.char_ngrams], np.int64))
        section.add_tensor("moments", self.moments)
        section.add_tensor("places", self.number_indices)
        write_values(section.add_part("columns"), list(self.kinds))
        self.vocabulary.write_to(section.add_part("vocabulary"))

    @classmethod
    def read_from(cls, section: Section) -> TableEncoding:
        names, kinds = read_values(section.part("columns")), section.fact("kinds", list)
        section.require(len(set(names)) == len(names) == len(kinds), "its columns have no kinds, or the same name")
        section.require(all(kind in list(_KINDS.values()) for kind in kinds), "a column is of no known kind")
        vocabulary = Vocabulary.read_from(section.part("vocabulary"))
        encoding = cls(_read_features(section, vocabulary.hash_bits))
        encoding.kinds, encoding.vocabulary = dict(zip(names, kinds, strict=True)), vocabulary
        n_numbers = kinds.count("number")
        encoding.moments = section.finite("moments", np.float64, (3, n_numbers))
        section.require((encoding.moments[[0, 2]] >= 0.0).all(), "its moments are not those of any numbers")
        encoding.number_indices = section.indices("places", (n_numbers,), len(vocabulary), np.int32)
        encoding.is_dense = section.fact("is_dense", bool)
        if encoding.features.hats:
            encoding.hats = TableHats.read_from(section.part("hats"), n_numbers, len(vocabulary))
        can_be_dense = len(vocabulary) == n_numbers and (encoding.number_indices == np.arange(n_numbers)).all()
        can_be_dense &= not encoding.features.hats
        section.require(can_be_dense or not encoding.is_dense, "its rows cannot be dense")
        return encoding


def _read_features(section: Section, hash_bits: int) -> Features:
    ngrams, char_ngrams = map(tuple, section.tensor("ngrams", np.int64, (2, 2)).tolist())
    scale, text_length = section.fact("scale", bool), section.fact("text_length", float)
    section.require(scale or "hats" not in section.facts, "it has hats of numbers that are not standardised")
    # Earlier versions had counts as they are.
    log_counts = "log_counts" in section.facts and section.fact("log_counts", bool)
    try:
        own = scale, hash_bits, ngrams, char_ngrams, text_length
        return Features(*own, hats="hats" in section.facts, log_counts=log_counts)
    except DataError as error:
        section.fail(str(error), error)


def _is_missing(column: AnyColumn) -> np.ndarray:
    if isinstance(column, CategoricalColumn):
        return column.codes < 0
    return column.spans[:, 0] < 0 if isinstance(column, TextColumn) else np.isnan(column)


def _require_array(column: AnyColumn) -> np.ndarray:
    assert isinstance(column, np.ndarray)
    return column


def _find_missing(values: np.ndarray, sum_of_squares: float) -> np.ndarray:
    """Return where numbers are missing; an empty array if none is, which the sum of their squares tells."""
    return np.isnan(values) if np.isnan(sum_of_squares) else np.zeros((1, 0), bool)
