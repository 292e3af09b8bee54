"""Columns: what the header of a table says, which must be known before its first row is written.

A table's own columns are those of its first block. Formats whose rows name what they have, svmlight and JSON lines,
tell only at their end how many there are: a first pass finds out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from novikoff.data.formats.block import Block, Column, NamedBlock, SparseBlock, TableBlock, Texts, Words
from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list

__all__ = ["Columns", "kind_of", "needs_a_look"]

_MOST = 100_000  # columns
_CELLS = 1 << 22  # zeros and all, in memory at a time


def kind_of(column: Column) -> str:
    """What a column holds: "number", "word" or "text"."""
    return {Words: "word", Texts: "text"}.get(type(column), "number")


def needs_a_look(block: Block) -> bool:
    """Whether rows like these tell only at their end which columns there are."""
    return isinstance(block, SparseBlock) or (isinstance(block, TableBlock) and block.is_loose)


@dataclass
class Columns:
    """The columns of a table to be written, besides the labels: kinds by name, in order.

    Parameters
    ----------
    kinds : dict of str to str
    source : str
        Where they were first seen, for messages.
    first : int
        Of svmlight's features, the index of the first column: 1, or 0 if a row has a feature 0.
    """

    kinds: dict[str, str]
    source: str
    first: int | None = field(default=None)

    @classmethod
    def of(cls, block: Block) -> Columns:
        """Those of one block."""
        return cls.seen_in([block])

    @classmethod
    def seen_in(cls, blocks: Iterable[Block]) -> Columns:
        """Those of all blocks."""
        kinds: dict[str, str] = {}
        source, width, first = "", 0, None
        for block in blocks:
            source = source or block.source
            if isinstance(block, NamedBlock):
                raise DataError(
                    f"{block.source}: rows with features of any name have no columns. Write jsonl, svmlight or vw."
                )
            if isinstance(block, SparseBlock):
                width = max(width, _used_width(block))
                first = 0 if first == 0 or (block.rows.indices == 0).any() else 1
            else:
                assert isinstance(block, TableBlock)
                for name, column in block.columns.items():
                    kinds.setdefault(name, kind_of(column))
        if first is not None:
            _require_columns(width - first, source)
            kinds = {str(index): "number" for index in range(first, width)}
        return cls(kinds, source, first)

    def parts(self, block: Block) -> Iterator[tuple[slice, list[Column | None]]]:
        """The columns of a block in order, None for one that is missing in all rows; not too many cells at once."""
        if isinstance(block, TableBlock) and self.first is None:
            self._require_the_same(block)
            yield slice(0, len(block)), [block.columns.get(name) for name in self.kinds]
        elif isinstance(block, SparseBlock) and self.first is not None:
            yield from self._dense(block)
        else:
            raise DataError(
                f"{block.source}: this file is of another kind than {self.source}. Convert them one by one."
            )

    def _dense(self, block: SparseBlock) -> Iterator[tuple[slice, list[Column | None]]]:
        assert self.first is not None
        step = max(1, _CELLS // max(1, len(self.kinds)))
        last = self.first + len(self.kinds)
        for start in range(0, len(block), step):
            part = slice(start, min(start + step, len(block)))
            rows = block.rows[part]
            cells = np.zeros((rows.shape[0], max(last, rows.shape[1])))
            cells[np.repeat(np.arange(len(cells)), np.diff(rows.indptr)), rows.indices] = rows.data
            yield part, list(cells[:, self.first : last].T)

    def _require_the_same(self, block: TableBlock) -> None:
        strange = [name for name in block.columns if name not in self.kinds]
        if strange:
            raise DataError(
                f"{_place(block)}: column {strange[0]!r} is not among those that the table began with, "
                f"{quoted_list(list(self.kinds))}. Leave it out, or write jsonl, svmlight or vw."
            )
        lacking = [name for name in self.kinds if name not in block.columns]
        if lacking and not block.is_loose:
            raise DataError(
                f"{block.source} has no column {lacking[0]!r}, which {self.source} has. Files that become "
                "one table have the same columns."
            )


def _place(block: Block) -> str:
    return f"{block.source}:{block.lines[0]}" if len(block) else block.source


def _used_width(block: SparseBlock) -> int:
    """Up to the largest index; a block may be wider, as those before it were."""
    return int(block.rows.indices.max()) + 1 if block.rows.nnz else 0


def _require_columns(count: int, source: str) -> None:
    if count > _MOST:
        raise DataError(
            f"{source}: a table of it would have {count:,} columns, nearly all of them 0. Write jsonl or "
            "vw, which keep only what is there."
        )
