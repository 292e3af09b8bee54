"""NameEncoding: features that have names, as in Vowpal Wabbit's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff._compiled.loops import feature_rows
from novikoff.data.encoding.contract import Encoding, empty_csr, raise_other_kind
from novikoff.data.encoding.curves import Curves
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.sparse_hats import SparseHats
from novikoff.data.encoding.sparse_scaling import SparseScaler, read_scaler, write_scaler
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.data.feature_names import NAMESPACE_SEPARATOR
from novikoff.data.formats.block import Block, NamedBlock
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section

__all__ = ["NameEncoding"]


@dataclass
class NameEncoding(Encoding[NamedBlock]):
    """Features that have names: an index for every `namespace^name`, or, with hats, one that the scaler knows. Their
    values are scaled if there is a scaler."""

    vocabulary: Vocabulary
    scaler: SparseScaler | None = None
    last_entry: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)  # see `feature_rows`
    kind = "names"

    @classmethod
    def empty(cls, hash_bits: int, *, scale: bool = False, hats: bool = False, log_counts: bool = True) -> NameEncoding:
        """Return an encoding that has learned nothing."""
        scaler = SparseScaler(hats=hats, log_counts=log_counts) if scale else None
        return cls(Vocabulary(hash_bits, NAMESPACE_SEPARATOR), scaler)

    @property
    def names(self) -> list[str]:
        return self.vocabulary.names if self.hats is None else self.hats.names(self.vocabulary.names)

    @property
    def n_features(self) -> int:
        return len(self.vocabulary) if self.hats is None else self.hats.n_features

    def require(self, block: Block) -> None:
        if not isinstance(block, NamedBlock):
            raise_other_kind(block, "rows of names, as Vowpal Wabbit's text has")

    @property
    def scales(self) -> bool:
        return self.scaler is not None

    @property
    def hats(self) -> SparseHats | None:
        """Where features and their hats are, if there are hats."""
        return None if self.scaler is None else self.scaler.hats

    @property
    def has_hats(self) -> bool:
        return self.hats is not None

    @property
    def log_counts(self) -> bool:
        return self.scaler is not None and self.scaler.log_counts

    def curves(self) -> Curves | None:
        return None if self.scaler is None else self.scaler.curves(self.vocabulary.names)

    def snapshot(self) -> Any:
        return self.vocabulary.snapshot(), self.scaler and self.scaler.snapshot()

    def restore(self, snapshot: Any) -> None:
        names, scaling = snapshot
        self.vocabulary.restore(names)
        if self.scaler is not None:
            self.scaler.restore(scaling)

    def learn(self, block: NamedBlock) -> Iterator[Rows]:
        rows = self._rows(block, learn=True)
        yield from [rows] if self.scaler is None else self.scaler.learn(rows)

    def encode(self, block: NamedBlock) -> Rows:
        rows = self._rows(block, learn=False)
        return rows if self.scaler is None else self.scaler.encode(rows)

    def _rows(self, block: NamedBlock, *, learn: bool) -> Rows:
        self.require(block)
        is_ngram = np.zeros(len(block.namespaces), bool)
        names = NameBatch(
            block.memory,
            block.names,
            block.hashes,
            block.memory,
            block.namespace_of,
            block.namespaces,
            is_ngram,
            block.key,
        )
        found = self.vocabulary.find_indices(names, learn=learn)
        if block.distinct.all() and not self.vocabulary.is_full and not (found < 0).any():
            return Rows.from_csr(block.values, found, block.indptr, len(self.vocabulary), block.squared_norms)
        if len(self.last_entry) < len(self.vocabulary):
            self.last_entry = np.zeros(2 * len(self.vocabulary), np.int32)
        indptr, indices, data = empty_csr(len(block), len(found))
        used = feature_rows.gather_rows(block.indptr, found, block.values, indptr, indices, data, self.last_entry)
        return Rows.from_csr(data[:used], indices[:used], indptr, len(self.vocabulary))

    def write_to(self, section: Section) -> None:
        self.vocabulary.write_to(section.add_part("vocabulary"))
        write_scaler(section, self.scaler, len(self.vocabulary))

    @classmethod
    def read_from(cls, section: Section) -> NameEncoding:
        vocabulary = Vocabulary.read_from(section.part("vocabulary"), NAMESPACE_SEPARATOR)
        return cls(vocabulary, read_scaler(section, len(vocabulary)))
