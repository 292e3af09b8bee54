"""IndexEncoding: features that are numbers already, as in svmlight files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from novikoff.data.encoding.contract import Encoding, raise_other_kind
from novikoff.data.encoding.curves import Curves
from novikoff.data.encoding.sparse_hats import SparseHats
from novikoff.data.encoding.sparse_scaling import SparseScaler, read_scaler, write_scaler
from novikoff.data.formats.block import Block, SparseBlock
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section

__all__ = ["IndexEncoding"]


@dataclass
class IndexEncoding(Encoding[SparseBlock]):
    """Features that are numbers already: column j of svmlight is feature j, or, with hats, that of an index that the
    scaler knows. Their values are scaled if there is a scaler."""

    width: int = 0
    scaler: SparseScaler | None = None
    kind = "index"

    @classmethod
    def empty(cls, *, scale: bool = False, hats: bool = False, log_counts: bool = True) -> IndexEncoding:
        """Return an encoding that has learned nothing."""
        return cls(0, SparseScaler(hats=hats, log_counts=log_counts) if scale else None)

    @property
    def names(self) -> list[str]:
        names = [str(index) for index in range(self.width)]
        return names if self.hats is None else self.hats.names(names)

    @property
    def n_features(self) -> int:
        return self.width if self.hats is None else self.hats.n_features

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
        names = [str(index) for index in range(self.width)]
        return None if self.scaler is None else self.scaler.curves(names)

    def snapshot(self) -> Any:
        return self.width, self.scaler and self.scaler.snapshot()

    def restore(self, snapshot: Any) -> None:
        self.width, scaling = snapshot
        if self.scaler is not None:
            self.scaler.restore(scaling)

    def learn(self, block: SparseBlock) -> Iterator[Rows]:
        self.require(block)
        self.width = max(self.width, block.rows.shape[1])
        rows = self._rows(block, self.width)
        yield from [rows] if self.scaler is None else self.scaler.learn(rows)

    def encode(self, block: SparseBlock) -> Rows:
        self.require(block)
        rows = self._rows(block, self.width if self.hats is None else self.hats.n_known)
        return rows if self.scaler is None else self.scaler.encode(rows)

    def _rows(self, block: SparseBlock, width: int) -> Rows:
        norms = block.squared_norms if block.rows.shape[1] <= width else None
        return Rows.of(_with_width(block.rows, width), squared_norms=norms)

    def require(self, block: Block) -> None:
        if not isinstance(block, SparseBlock):
            raise_other_kind(block, "rows of index:value pairs, as svmlight files have")

    def write_to(self, section: Section) -> None:
        section.facts["width"] = self.width
        write_scaler(section, self.scaler, self.width)

    @classmethod
    def read_from(cls, section: Section) -> IndexEncoding:
        width = section.fact("width", int)
        return cls(width, read_scaler(section, width))


def _with_width(rows: sp.csr_array, width: int) -> sp.csr_array:
    """Return the rows with this many columns; further ones are left out."""
    if rows.shape[1] == width:
        return rows
    if rows.shape[1] > width:
        return rows[:, :width]
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
