"""TableHeader: the columns of a table, which must be known before its first row is written.

The columns of a table are those of its first block. Where rows name their features, as in svmlight and JSON lines, the
last row may bring a new one: finding all columns takes a first pass over the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from novikoff.data.formats.block import (
    AnyColumn,
    Block,
    CategoricalColumn,
    NamedBlock,
    SparseBlock,
    TableBlock,
    TextColumn,
)
from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list

__all__ = ["TableHeader", "kind_of", "needs_first_pass"]

_MAX_COLUMNS = 100_000
_MAX_CELLS = 1 << 22  # in memory at a time, including zeros


def kind_of(column: AnyColumn) -> str:
    """Return what a column holds: "number", "word" (a category) or "text"."""
    return {CategoricalColumn: "word", TextColumn: "text"}.get(type(column), "number")


def needs_first_pass(block: Block) -> bool:
    """Return whether all columns of a file like this are known only at its end."""
    return isinstance(block, SparseBlock) or (isinstance(block, TableBlock) and block.is_loose)


@dataclass
class TableHeader:
    """The columns of a table to be written, without the labels.

    Parameters
    ----------
    kinds : dict of str to str
        What each column holds, by name, in order.
    source : str
        The file that the first block came from, for messages.
    first : int
        For svmlight, the index of the first column: 1, or 0 if a row has a feature 0; else None.
    """

    kinds: dict[str, str]
    source: str
    first: int | None = field(default=None)

    @classmethod
    def from_block(cls, block: Block) -> TableHeader:
        """Return the header for one block."""
        return cls.from_blocks([block])

    @classmethod
    def from_blocks(cls, blocks: Iterable[Block]) -> TableHeader:
        """Return the header for all blocks."""
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
            _require_few_columns(width - first, source)
            kinds = {str(index): "number" for index in range(first, width)}
        return cls(kinds, source, first)

    def parts(self, block: Block) -> Iterator[tuple[slice, list[AnyColumn | None]]]:
        """Yield the rows of a block, a limited number of cells at a time: which rows, and their columns in order, None
        for a column that is missing in all rows."""
        if isinstance(block, TableBlock) and self.first is None:
            self._require_known_columns(block)
            yield slice(0, len(block)), [block.columns.get(name) for name in self.kinds]
        elif isinstance(block, SparseBlock) and self.first is not None:
            yield from self._dense_parts(block)
        else:
            raise DataError(
                f"{block.source}: this file is of another kind than {self.source}. Convert them one by one."
            )

    def _dense_parts(self, block: SparseBlock) -> Iterator[tuple[slice, list[AnyColumn | None]]]:
        assert self.first is not None
        step = max(1, _MAX_CELLS // max(1, len(self.kinds)))
        last = self.first + len(self.kinds)
        for start in range(0, len(block), step):
            part = slice(start, min(start + step, len(block)))
            rows = block.rows[part]
            cells = np.zeros((rows.shape[0], max(last, rows.shape[1])))
            cells[np.repeat(np.arange(len(cells)), np.diff(rows.indptr)), rows.indices] = rows.data
            yield part, list(cells[:, self.first : last].T)

    def _require_known_columns(self, block: TableBlock) -> None:
        unknown = [name for name in block.columns if name not in self.kinds]
        if unknown:
            raise DataError(
                f"{_location(block)}: column {unknown[0]!r} is not among those that the table began with, "
                f"{quoted_list(list(self.kinds))}. Leave it out, or write jsonl, svmlight or vw."
            )
        absent = [name for name in self.kinds if name not in block.columns]
        if absent and not block.is_loose:
            raise DataError(
                f"{block.source} has no column {absent[0]!r}, which {self.source} has. Files that become "
                "one table have the same columns."
            )


def _location(block: Block) -> str:
    return f"{block.source}:{block.lines[0]}" if len(block) else block.source


def _used_width(block: SparseBlock) -> int:
    """Return the largest index plus one; a block may be wider, because those before it were."""
    return int(block.rows.indices.max()) + 1 if block.rows.nnz else 0


def _require_few_columns(count: int, source: str) -> None:
    if count > _MAX_COLUMNS:
        raise DataError(
            f"{source}: a table of it would have {count:,} columns, nearly all of them 0. Write jsonl or "
            "vw, which keep only what is there."
        )
