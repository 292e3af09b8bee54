"""Orders of rows: which passes are shuffled, and how, so that a resumed run can repeat them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from novikoff.data.formats.joining import join_blocks
from novikoff.errors import DataError
from novikoff.streaming.label_runs import LabelRuns

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block

__all__ = ["SHUFFLES", "RunOrder", "ShufflePolicy", "scatter", "shuffle_blocks", "visit_in_memory", "windows"]

Shuffles = Literal["sorted", "always", "never"]
SHUFFLES: tuple[str, ...] = get_args(Shuffles)

_CHUNK = 8192  # rows of a shuffled block
_MEMORY = 512 << 20  # bytes


@dataclass(frozen=True)
class ShufflePolicy:
    """When the rows of files are shuffled.

    Attributes
    ----------
    when : {"sorted", "always", "never"}
        Whether the first pass is shuffled: if the rows come sorted by label, always, or never. Later passes are
        shuffled unless it is "never".
    seed : int
    memory : int
        Bytes of rows that are held and shuffled at a time.
    """

    when: Shuffles = "sorted"
    seed: int = 0
    memory: int = _MEMORY

    def __post_init__(self) -> None:
        if self.when not in SHUFFLES:
            raise DataError(f"shuffle must be one of {', '.join(map(repr, SHUFFLES))}; found {self.when!r}.")
        if self.seed < 0:
            raise DataError(f"seed must be an integer of at least 0; found {self.seed}.")


@dataclass(frozen=True)
class RunOrder:
    """The order in which a run with shuffled passes visits its rows.

    Attributes
    ----------
    source : str
        The name under which shuffled rows are counted.
    seed : int
    rows : int
        Rows of a pass.
    parts : int
        Rows are shuffled in this number of parts, one after another, because they do not fit in memory together.
    is_first_shuffled : bool
        Whether the first pass is shuffled too. Then each part is a random sample of all rows, for which the files are
        read once per part; otherwise a part is a window of consecutive rows.
    """

    source: str
    seed: int
    rows: int
    parts: int = 1
    is_first_shuffled: bool = False

    def generator(self, *stream: int) -> np.random.Generator:
        """Return a random generator for one of several independent streams of numbers."""
        return np.random.default_rng([self.seed, *stream])


def shuffle_blocks(
    blocks: Sequence[Block], source: str, generator: np.random.Generator, *, with_rejects: bool = False
) -> Iterator[Block]:
    """Yield the rows of all blocks in a random order, and on request all rejects, beside the first rows."""
    if not blocks:
        return
    joined = join_blocks(blocks, source)
    rejects = [reject for block in blocks for reject in block.rejects] if with_rejects else []
    order = generator.permutation(len(joined))
    for start in range(0, max(len(order), 1), _CHUNK):
        chunk = joined[order[start : start + _CHUNK]]
        yield chunk if start else replace(chunk, rejects=rejects)


def visit_in_memory(blocks: Sequence[Block], passes: int, policy: ShufflePolicy) -> Iterator[Block]:
    """Yield blocks that are in memory as many times as there are passes, in the orders that a run over files has."""
    runs = LabelRuns(len({block.source for block in blocks}))
    for block in blocks:
        runs.add(block)
    is_first_shuffled = policy.when == "always" or (policy.when == "sorted" and runs.is_sorted)
    order = RunOrder(blocks[0].source, policy.seed, runs.n_rows, is_first_shuffled=is_first_shuffled)
    for k in range(passes):
        is_shuffled = is_first_shuffled if k == 0 else policy.when != "never"
        yield from shuffle_blocks(blocks, order.source, order.generator(k)) if is_shuffled else blocks


def scatter(blocks: Iterable[Block], generator: np.random.Generator, part: int, parts: int) -> Iterator[Block]:
    """Yield the rows that belong to one of several random parts; the generator must be the same for every part."""
    for block in blocks:
        rows = np.flatnonzero((generator.random(len(block)) * parts).astype(np.int64) == part)
        if len(rows) or block.rejects:
            yield replace(block[rows], rejects=block.rejects)


def windows(blocks: Iterable[Block], size: int) -> Iterator[list[Block]]:
    """Group blocks into windows of this many rows; the last window may be smaller."""
    window: list[Block] = []
    n = 0
    for block in blocks:
        begin = 0
        while n + len(block) - begin >= size:
            end = begin + size - n
            yield [*window, block[begin:end]]
            window, n, begin = [], 0, end
        if begin < len(block):
            window.append(block[begin:])
            n += len(block) - begin
    if window:
        yield window
