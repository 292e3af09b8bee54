"""Features that have names: a place for every `namespace^name` of Vowpal Wabbit's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff._compiled.loops import names as kernels
from novikoff.data.encoding.contract import Encoding, refuse, room_for
from novikoff.data.encoding.vocabulary import Names, Vocabulary
from novikoff.data.formats.block import Block, NamedBlock
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section

__all__ = ["MARK", "NameEncoding"]

MARK = "^"  # between a namespace and a name when they are shown


@dataclass
class NameEncoding(Encoding[NamedBlock]):
    """Features that have names."""

    vocabulary: Vocabulary
    seen: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)
    kind = "names"

    @property
    def names(self) -> list[str]:
        return self.vocabulary.names

    @property
    def n_features(self) -> int:
        return len(self.vocabulary)

    def require(self, block: Block) -> None:
        if not isinstance(block, NamedBlock):
            refuse(block, "rows of names, as Vowpal Wabbit's text has")

    def mark(self) -> Any:
        return self.vocabulary.checkpoint()

    def back_to(self, mark: Any) -> None:
        self.vocabulary.restore(mark)

    def learn(self, block: NamedBlock) -> Iterator[Rows]:
        yield self._rows(block, learn=True)

    def read(self, block: NamedBlock) -> Rows:
        return self._rows(block, learn=False)

    def _rows(self, block: NamedBlock, *, learn: bool) -> Rows:
        self.require(block)
        runs = np.zeros(len(block.spaces), bool)
        names = Names(
            block.memory, block.names, block.hashes, block.memory, block.space_of, block.spaces, runs, block.key
        )
        places = self.vocabulary.places(names, learn=learn)
        if block.distinct.all() and not self.vocabulary.is_full and not (places < 0).any():
            return Rows.distinct(block.values, places, block.indptr, len(self.vocabulary), block.squared_norms)
        if len(self.seen) < len(self.vocabulary):
            self.seen = np.zeros(2 * len(self.vocabulary), np.int32)
        indptr, indices, data = room_for(len(block), len(places))
        used = kernels.gather_rows(block.indptr, places, block.values, indptr, indices, data, self.seen)
        return Rows.distinct(data[:used], indices[:used], indptr, len(self.vocabulary))

    def put(self, section: Section) -> None:
        self.vocabulary.put(section.open("vocabulary"))

    @classmethod
    def take(cls, section: Section) -> NameEncoding:
        return cls(Vocabulary.take(section.part("vocabulary"), MARK))
