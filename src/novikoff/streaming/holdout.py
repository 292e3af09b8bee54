"""Holdout: rows that a model does not learn from, chosen at random, to measure its error on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from novikoff.errors import DataError

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block

__all__ = ["Holdout"]

_STREAM = 9  # of random numbers: one that no shuffle uses


class Holdout:
    """A random share of the rows of files, the same whenever the files are read again.

    Parameters
    ----------
    share : float
        Between 0 and 1; 0 holds out nothing.
    seed : int
    """

    def __init__(self, share: float = 0.0, seed: int = 0) -> None:
        if not 0.0 <= share < 1.0:
            raise DataError(f"holdout must be a share of at least 0 and below 1; found {share}.")
        self.share, self.seed = share, seed

    def rows_to_learn(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks, which must be all blocks of the files, without the held-out rows."""
        return iter(blocks) if not self.share else self._select(blocks, is_held_out=False)

    def held_out_rows(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the held-out rows of the blocks, which must be all blocks of the files."""
        return self._select(blocks, is_held_out=True)

    def _select(self, blocks: Iterable[Block], *, is_held_out: bool) -> Iterator[Block]:
        generator = np.random.default_rng([self.seed, _STREAM])
        for block in blocks:
            is_selected = (generator.random(len(block)) < self.share) == is_held_out
            if is_selected.all():
                yield block
            elif is_selected.any() or (block.rejects and not is_held_out):
                rejects = [] if is_held_out else block.rejects
                yield replace(block[np.flatnonzero(is_selected)], rejects=rejects)
