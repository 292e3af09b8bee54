"""Blocks with text columns: split into pieces, with n-grams that were computed ahead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.data.encoding.contract import Features
from novikoff.data.encoding.ngrams import NgramBag
from novikoff.data.formats.block import TableBlock, TextColumn

__all__ = ["BlockWithNgrams", "ngrams_of", "split_by_text", "text_columns"]

_MAX_TEXT = 1 << 19  # bytes of text that are encoded at once: their n-grams take forty times as much


@dataclass(frozen=True, eq=False)
class BlockWithNgrams(TableBlock):
    """A block of a table with the n-grams of its texts. `made_for` are the features and the text columns for which they
    were computed."""

    bag: NgramBag | None
    made_for: tuple[Features, list[str]] | None

    @classmethod
    def from_block(cls, block: TableBlock, features: Features) -> BlockWithNgrams:
        """Compute the n-grams of a block."""
        known = {each.name: getattr(block, each.name) for each in fields(block) if each.init}
        return cls(**known, bag=ngrams_of(block, features), made_for=(features, text_columns(block)))

    def _cut(self, part: slice | np.ndarray) -> dict[str, Any]:
        if isinstance(part, slice) and part.step in (None, 1) and self.bag is not None:
            return super()._cut(part) | {"bag": self.bag[part]}
        return super()._cut(part) | {"bag": None, "made_for": None}


def ngrams_of(block: TableBlock, features: Features) -> NgramBag | None:
    """Return the n-grams of the texts of a block, which depend on nothing that has been learned; None if it has no
    texts."""
    columns = text_columns(block)
    if isinstance(block, BlockWithNgrams) and block.made_for == (features, columns):
        return block.bag
    sizes = {"ngrams": features.ngrams, "char_ngrams": features.char_ngrams}
    texts = [(name, block.columns[name]) for name in columns]
    bags = [NgramBag.from_texts(name, column, **sizes) for name, column in texts if isinstance(column, TextColumn)]
    return NgramBag.join(bags) if bags else None


def text_columns(block: TableBlock) -> list[str]:
    """Return the names of the text columns, in an order that does not depend on the rows of a loose block."""
    names = [name for name, column in block.columns.items() if isinstance(column, TextColumn)]
    return sorted(names) if block.is_loose else names


def split_by_text(block: TableBlock) -> Iterator[TableBlock]:
    """Yield the block, in pieces if it holds much text, unless its n-grams are known already. The first piece has the
    rejects."""
    if isinstance(block, BlockWithNgrams) or not text_columns(block):
        yield block
        return
    sizes = sum(np.diff(column.spans).ravel() for column in block.columns.values() if isinstance(column, TextColumn))
    pieces = np.cumsum(np.broadcast_to(sizes, len(block))) // _MAX_TEXT
    edges = [0, *(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(block)]
    if len(edges) == 2:
        yield block
        return
    for start, stop in pairwise(edges):
        yield block[start:stop] if start else replace(block[start:stop], rejects=block.rejects)
