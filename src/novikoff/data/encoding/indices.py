"""IndexEncoding: features that are numbers already, as in svmlight files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import scipy.sparse as sp

from novikoff.data.encoding.contract import Encoding, raise_other_kind
from novikoff.data.formats.block import Block, SparseBlock
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section

__all__ = ["IndexEncoding"]


@dataclass
class IndexEncoding(Encoding[SparseBlock]):
    """Features that are numbers already: column j of svmlight is feature j."""

    width: int = 0
    kind = "index"

    @property
    def names(self) -> list[str]:
        return [str(index) for index in range(self.width)]

    @property
    def n_features(self) -> int:
        return self.width

    def snapshot(self) -> int:
        return self.width

    def restore(self, snapshot: int) -> None:
        self.width = snapshot

    def learn(self, block: SparseBlock) -> Iterator[Rows]:
        self.require(block)
        self.width = max(self.width, block.rows.shape[1])
        yield self._rows(block)

    def encode(self, block: SparseBlock) -> Rows:
        self.require(block)
        return self._rows(block)

    def _rows(self, block: SparseBlock) -> Rows:
        norms = block.squared_norms if block.rows.shape[1] <= self.width else None
        return Rows.of(_with_width(block.rows, self.width), squared_norms=norms)

    def require(self, block: Block) -> None:
        if not isinstance(block, SparseBlock):
            raise_other_kind(block, "rows of index:value pairs, as svmlight files have")

    def write_to(self, section: Section) -> None:
        section.facts["width"] = self.width

    @classmethod
    def read_from(cls, section: Section) -> IndexEncoding:
        return cls(section.fact("width", int))


def _with_width(rows: sp.csr_array, width: int) -> sp.csr_array:
    """Return the rows with this many columns; further ones are left out."""
    if rows.shape[1] == width:
        return rows
    if rows.shape[1] > width:
        return rows[:, :width]
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
