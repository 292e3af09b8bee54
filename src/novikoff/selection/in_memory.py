"""Rows of files in memory, and splits into rows to learn from and held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.formats.opening import open_stream
from novikoff.data.table_form import TableForm
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block

__all__ = ["InMemoryBlocks", "split_blocks"]


class InMemoryBlocks:
    """All blocks of some files, and the name of the column that holds the labels.

    Parameters
    ----------
    blocks : list of blocks
        With labels.
    target : str or None
    form : TableForm, optional
        How the files are written, if they are tables.
    """

    def __init__(self, blocks: list[Block], target: str | None, form: TableForm | None = None) -> None:
        self.blocks, self.target, self.form = blocks, target, form

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(len(block) for block in self.blocks)

    @classmethod
    def read(
        cls,
        files: Sequence[str],
        options: dict[str, Any],
        *,
        target: str | None = None,
        form: TableForm | None = None,
        on_open: Callable[[Any], None] | None = None,
        on_block: Callable[[Block], None] | None = None,
    ) -> InMemoryBlocks:
        """Read all blocks of files.

        The labels of tables are in the column `target`, unless `options`, which go to `open_stream`, name another, and
        their numbers are written as `form` says. The callbacks get the reader of each file before it is read, and each
        block.
        """
        blocks = []
        hints: dict[str, Any] = {} if target is None else {"target": target}
        if form is not None:
            hints["notations"] = form.notations
        for file in files:
            with open_stream(file, hints=hints, **options) as reader:
                if on_open is not None:
                    on_open(reader)
                target = getattr(reader, "target_name", None)
                form = form or TableForm.from_reader(reader)
                hints.setdefault("notations", getattr(reader, "notations", {}))
                for block in reader:
                    if on_block is not None:
                        on_block(block)
                    if len(block):
                        blocks.append(block)
        if not blocks:
            raise DataError(f"{', '.join(files)}: there is nothing to learn from.")
        return cls(blocks, target, form)

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels of all rows, as strings."""
        return _labels_of(self.blocks)

    def require_two_classes(self) -> None:
        """Raise an error if all rows have the same label."""
        known = np.unique(self.labels).tolist()
        if len(known) < 2:
            raise DataError(
                f"{self.blocks[0].source}: every row has the label {known[0]!r}: there is nothing to tell "
                "apart. Is this the column of the labels?"
            )


def split_blocks(blocks: Sequence[Block], folds: int, share: float, seed: int) -> list[tuple[list[Block], list[Block]]]:
    """Split rows into a part to learn from and a held-out part, once or, for more than one fold, once for each fold.

    The held-out part is a `share` of the rows, or one fold. It is drawn by the seed, stratified by label. In both parts
    the rows keep the order of the files.
    """
    labels = _labels_of(blocks)
    n = len(labels)
    if n < max(2, folds):
        times = f" {folds} times" if folds > 1 else ""
        raise DataError(f"There are {pluralize(n, 'row')}: too few to hold some of them out{times}.")
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    order = order[np.argsort(labels[order], kind="stable")]  # label by label: every k-th row is a stratified sample
    n_held_out = max(1, min(n - 1, round(share * n)))
    spread = ((np.arange(n_held_out) + rng.random()) * n / n_held_out).astype(int)
    parts = [order[k::folds] for k in range(folds)] if folds > 1 else [order[spread]]
    return [(_select_rows(blocks, np.delete(np.arange(n), p)), _select_rows(blocks, np.sort(p))) for p in parts]


def _labels_of(blocks: Sequence[Block]) -> np.ndarray:
    """Return the labels of all rows, as strings."""
    return np.concatenate([np.asarray(block.labels).astype(str) for block in blocks])


def _select_rows(blocks: Sequence[Block], rows: np.ndarray) -> list[Block]:
    """Return the blocks with only the rows of these ascending indices, which count over all blocks, without empty
    blocks."""
    ends = np.cumsum([0, *map(len, blocks)])
    cuts = np.searchsorted(rows, ends)
    spans = zip(blocks, ends[:-1], cuts[:-1], cuts[1:], strict=True)
    return [block[rows[lo:hi] - begin] for block, begin, lo, hi in spans if hi > lo]
