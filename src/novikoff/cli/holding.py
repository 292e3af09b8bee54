"""Rows of files held in memory, and models that learn from some of them and are tried on others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.cli.progress import say, tell_of_compiling
from novikoff.cli.sources import Columns, LeftOut
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted, quoted_list

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

__all__ = ["Held", "errors_of", "learned", "split", "warn_of_unknown"]


class Held:
    """All blocks of some files, and the column of their labels."""

    def __init__(self, blocks: list[Block], target: str | None) -> None:
        self.blocks, self.target = blocks, target

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    @cached_property
    def labels(self) -> np.ndarray:
        """Those of all rows, as words."""
        return _labels_of(self.blocks)

    def require_classes(self) -> None:
        """There is something to choose between."""
        known = np.unique(self.labels).tolist()
        if len(known) < 2:
            raise DataError(
                f"{self.blocks[0].source}: every row has the label {known[0]!r}: there is nothing to tell "
                "apart. Is this the column of the labels? --target names another."
            )

    def warn_of_order(self) -> None:
        """Say so if the rows stand in an order that is bad to learn in."""
        labels = self.labels
        if len(labels) > 20 and int((labels[1:] != labels[:-1]).sum()) == len(np.unique(labels)) - 1:
            say("The rows are sorted by their labels, the worst order to learn in: shuffle them (shuf, sort -R).")

    @classmethod
    def read(
        cls, files: Sequence[str], options: dict[str, Any], rejects: Path | None = None, target: str | None = None
    ) -> Held:
        """Read files to the end, saying what their columns were taken for. The labels of tables are in the column
        `target`, unless the options name another."""
        from novikoff.data.formats.opening import open_stream

        tell_of_compiling()
        left_out, columns, blocks = LeftOut(rejects), Columns(), []
        hints = {} if target is None else {"target": target}
        for file in files:
            with open_stream(file, hints=hints, **options) as reader:
                columns.say(reader)
                target = getattr(reader, "target_name", None)
                for block in reader:
                    left_out.note(block)
                    if len(block):
                        blocks.append(block)
        left_out.close()
        if not blocks:
            raise DataError(f"{', '.join(files)}: there is nothing to learn from.")
        return cls(blocks, target)


def split(blocks: Sequence[Block], folds: int, share: float, seed: int) -> list[tuple[list[Block], list[Block]]]:
    """Blocks to learn from and blocks to be tried on, once or, with more than one fold, several times.

    Rows are drawn by the seed: this share of them, or one of the folds; of each label as many. On either side they
    stand in the order of the files.
    """
    labels = _labels_of(blocks)
    n = len(labels)
    if n < max(2, folds):
        times = f" {folds} times" if folds > 1 else ""
        raise DataError(f"There are {counted(n, 'row')}: too few to hold some of them out{times}.")
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(n)
    drawn = drawn[np.argsort(labels[drawn], kind="stable")]  # label by label, every part takes its share of each
    held_out = max(1, min(n - 1, round(share * n)))
    spread = ((np.arange(held_out) + rng.random()) * n / held_out).astype(int)
    parts = [drawn[k::folds] for k in range(folds)] if folds > 1 else [drawn[spread]]
    return [(_rows_of(blocks, np.delete(np.arange(n), part)), _rows_of(blocks, np.sort(part))) for part in parts]


def _labels_of(blocks: Sequence[Block]) -> np.ndarray:
    """The labels of all rows, as words."""
    return np.concatenate([np.asarray(block.labels).astype(str) for block in blocks])


def _rows_of(blocks: Sequence[Block], rows: np.ndarray) -> list[Block]:
    """The blocks with these rows only, which are counted through all of them and rise; none that has none."""
    ends = np.cumsum([0, *map(len, blocks)])
    cuts = np.searchsorted(rows, ends)
    spans = zip(blocks, ends[:-1], cuts[:-1], cuts[1:], strict=True)
    return [block[rows[lo:hi] - begin] for block, begin, lo, hi in spans if hi > lo]


def learned(model: StreamModel, blocks: Sequence[Block], passes: int) -> float:
    """Teach a model all blocks, so many times; return the seconds that it took."""
    began = time.perf_counter()
    for _ in range(passes):
        for block in blocks:
            model.learn(block)
    return time.perf_counter() - began


def errors_of(model: StreamModel, blocks: Iterable[Block]) -> tuple[int, int]:
    """How many rows of blocks a model gets wrong, of how many."""
    wrong = rows = 0
    for block in blocks:
        assert block.labels is not None
        wrong += int((model.predict(block) != block.labels).sum())
        rows += len(block)
    return wrong, rows


def warn_of_unknown(labels: Sequence[Any]) -> None:
    """Say that test rows have labels that no row to learn from had."""
    if labels:
        say(
            f"The test rows have labels that the others do not: {quoted_list(list(map(str, labels)))}. Each of "
            "these rows counts as an error."
        )
