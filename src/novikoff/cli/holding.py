"""Rows of files held in memory, and models that learn from some of them and are tried on others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.cli.progress import say, tell_of_compiling
from novikoff.cli.reading import Columns, LeftOut
from novikoff.errors import DataError
from novikoff.texts import listed

if TYPE_CHECKING:
    from novikoff.online import StreamModel
    from novikoff.streams.block import Block

__all__ = ["Held", "errors_of", "learned", "split", "warn_of_unknown"]

# Each block is cut into runs of rows, which go as a whole to one side or the other. To learn from a run takes a
# millisecond, however short it is, so they are single rows only where there are few.
_FEW, _RUNS = 1000, 20


class Held:
    """All blocks of some files, and the column of their labels."""

    def __init__(self, blocks: list[Block], target: str | None) -> None:
        self.blocks, self.target = blocks, target

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def require_classes(self) -> None:
        """There is something to choose between; and it is said if the rows are in an order that is bad to learn in."""
        labels = np.concatenate([np.asarray(block.labels).astype(str) for block in self.blocks])
        known = np.unique(labels).tolist()
        if len(known) < 2:
            raise DataError(f"{self.blocks[0].source}: every row has the label {known[0]!r}: there is nothing to tell "
                            "apart. Is this the column of the labels? --target names another.")  # fmt: skip
        if len(labels) > 20 and int((labels[1:] != labels[:-1]).sum()) == len(known) - 1:
            say("The rows are sorted by their labels, the worst order to learn in: shuffle them (shuf, sort -R).")

    @classmethod
    def read(
        cls, files: Sequence[str], options: dict[str, Any], rejects: Path | None = None, target: str | None = None
    ) -> Held:
        """Read files to the end, saying what their columns were taken for. The labels of tables are in the column
        `target`, unless the options name another."""
        from novikoff.streams.opening import open_stream

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


def split(blocks: Iterable[Block], folds: int, share: float, seed: int) -> list[tuple[list[Block], list[Block]]]:
    """Blocks to learn from and blocks to be tried on, once or, with more than one fold, several times.

    Rows go to a side in runs of consecutive ones, in small files one by one, drawn by the seed: one in 1 / share of
    them, or one of the folds; of each label as many, as far as the runs allow.
    """
    runs = [run for block in blocks for run in _cut(block)]
    if len(runs) < max(2, folds):
        times = f" {folds} times" if folds > 1 else ""
        raise DataError(f"There are {sum(map(len, runs)):,} rows in {len(runs)} runs: too few to hold some of them "
                        f"out{times}.")  # fmt: skip
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(runs))
    # Runs of one label stand together then, and every part takes its share of each label.
    drawn = drawn[np.argsort([str(np.asarray(runs[k].labels)[0]) for k in drawn], kind="stable")]
    held_out = max(1, min(len(runs) - 1, round(share * len(runs))))
    spread = ((np.arange(held_out) + rng.random()) * len(runs) / held_out).astype(int)
    parts = [drawn[k::folds] for k in range(folds)] if folds > 1 else [drawn[spread]]
    found = []
    for part in parts:
        out = set(part.tolist())
        found.append(([run for k, run in enumerate(runs) if k not in out], [runs[k] for k in sorted(out)]))
    return found


def _cut(block: Block) -> list[Block]:
    size = 1 if len(block) < _FEW else len(block) // _RUNS
    return [block[start : start + size] for start in range(0, len(block), size)]


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
        say(f"The test rows have labels that the others do not: {listed(list(map(str, labels)))}. Each of "
            "these rows counts as an error.")  # fmt: skip
