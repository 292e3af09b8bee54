"""Passes over files: their blocks, in order or shuffled, without rows that an interrupted run has learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from novikoff.data.formats.joining import memory_of
from novikoff.errors import DataError
from novikoff.streaming.holdout import Holdout
from novikoff.streaming.label_runs import LabelRuns, TargetRuns
from novikoff.streaming.opening import open_for_model, options_like, remember_reader
from novikoff.streaming.row_order import RunOrder, ShufflePolicy, scatter, shuffle_blocks, windows

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

__all__ = ["FilePasses", "PassObserver", "RowSkipper"]


class RowSkipper:
    """Leaves out the rows of each source that an interrupted run has learned.

    Parameters
    ----------
    rows_of_run : mapping
        For each source, how many rows to leave out, over all passes; see `StreamModel.rows_of_run`.
    """

    def __init__(self, rows_of_run: Mapping[str, int]) -> None:
        # By real paths, since a file may be given by another name now.
        self._remaining = {os.path.realpath(source): rows for source, rows in rows_of_run.items()}

    def remaining(self, source: str) -> int:
        """Return how many rows of a source are still to be left out."""
        return self._remaining.get(os.path.realpath(source), 0)

    def total(self, sources: Iterable[str]) -> int:
        """Return how many rows of these sources are still to be left out."""
        return sum(self._remaining.get(path, 0) for path in {os.path.realpath(source) for source in sources})

    def knows_any(self, sources: Iterable[str]) -> bool:
        """Return whether the interrupted run has read one of these sources."""
        return any(os.path.realpath(source) in self._remaining for source in sources)

    def skip(self, blocks: Iterable[Block], *, with_rejects: bool = True) -> Iterator[Block]:
        """Yield the blocks without the rows to leave out, and without the rejects that were reported with those.

        Rejects are reported once: in later passes `with_rejects` is False.
        """
        for block in blocks:
            remaining = self.remaining(block.source)
            n_skipped = min(remaining, len(block))
            if remaining:
                self._remaining[os.path.realpath(block.source)] = remaining - n_skipped
            if not remaining or n_skipped < len(block):
                yield _without_rows(block, n_skipped, with_rejects=with_rejects)


def _without_rows(block: Block, n: int, *, with_rejects: bool) -> Block:
    """Return a block without its first n rows and the rejects before the row that is then the first."""
    if not n and (with_rejects or not block.rejects):
        return block
    first_line = block.lines[n] if n else 0
    rejects = [reject for reject in block.rejects if reject.line >= first_line] if with_rejects else []
    return replace(block.after(n) if n else block, rejects=rejects)


class PassObserver:
    """What `FilePasses` reports on the way; each method does nothing unless it is overridden."""

    def on_open(self, reader: Any) -> None:
        """Called with the reader of each file before its first block."""

    def on_notice(self, message: str) -> None:
        """Called with a message if there is nothing to leave out, or fewer rows than the model has learned."""

    def on_order(self, order: RunOrder) -> None:
        """Called before the first shuffled row is learned."""

    def on_sorted(self, runs: LabelRuns | TargetRuns) -> None:
        """Called once, as early as can be, if rows that stay in their order seem to be sorted by label."""

    def on_long_runs(self, runs: LabelRuns | TargetRuns) -> None:
        """Called after a first pass in the order of the files if labels came in few long runs."""

    def on_pass_end(self, k: int) -> None:
        """Called when all rows of pass k, counted from 0, have been learned."""


class FilePasses:
    """The blocks of some files, as many times as there are passes.

    The first pass keeps the order of the rows, unless they come sorted by label: nothing can be learned in that order,
    so they are shuffled. Later passes visit the rows in a new random order each.

    Parameters
    ----------
    model : StreamModel
        It determines how the files are read, and learns from the blocks. Its `target` is set to that of each file, and
        its `run_order` when rows are shuffled.
    files : sequence of str
        Paths, or "-" for standard input, whose rows stay in their order.
    passes : int
    resume : bool
        Whether to leave out the rows that the model has learned in its last run over these files. Otherwise a new run
        begins.
    options : mapping, optional
        How to read the files; see `open_stream`.
    policy : ShufflePolicy, optional
    holdout : Holdout, optional
        Rows that are left out of every pass.
    check : callable, optional
        Called with the first block before anything is learned; it raises an error if the rows make no sense.
    observer : PassObserver, optional
    """

    def __init__(
        self,
        model: StreamModel,
        files: Sequence[str],
        *,
        passes: int = 1,
        resume: bool = False,
        options: Mapping[str, Any] | None = None,
        policy: ShufflePolicy | None = None,
        holdout: Holdout | None = None,
        check: Callable[[Block], None] | None = None,
        observer: PassObserver | None = None,
    ) -> None:
        self.model, self.files, self.passes, self.resume = model, files, passes, resume
        self.policy, self.holdout = policy or ShufflePolicy(), holdout or Holdout()
        self.observer = observer or PassObserver()
        self._options, self._check = dict(options or {}), check
        self._cache = _BlockCache(self.policy.memory)

    @property
    def name(self) -> str:
        """What shuffled rows are counted under: the file, or all files together."""
        return self.files[0] if len(self.files) == 1 else f"{self.files[0]} and {len(self.files) - 1} more"

    def __iter__(self) -> Iterator[Block]:
        skipper, order = self._begin()
        n_learned = skipper.total([*self.files, self.name])
        if not n_learned:
            order, blocks = self._decide_order()
        else:
            blocks = self._read(with_rejects=True)
        is_shuffled = order is not None and order.is_first_shuffled
        if order is not None and is_shuffled:
            blocks = self._shuffled_pass(order, 0, with_rejects=not n_learned)
            yield from self.model.ahead_of(_without_first(blocks, n_learned))
        else:
            yield from self._pass_in_order(blocks, skipper)
        self.observer.on_pass_end(0)
        if self.passes > 1:
            n_rows = order.rows if order is not None and is_shuffled else self._cache.n_rows
            yield from self._later_passes(order, n_rows, n_learned)

    def _begin(self) -> tuple[RowSkipper, RunOrder | None]:
        """Return what to leave out, and the order of the run that is resumed."""
        if not self.resume:
            self.model.forget_run([*self.files, self.name])
            return RowSkipper({}), None
        skipper, order = RowSkipper(self.model.rows_of_run), self.model.run_order
        if not skipper.knows_any([*self.files, self.name]):
            self.observer.on_notice("The model has read none of these files before: there is nothing to pass over.")
        if order is None or os.path.realpath(order.source) != os.path.realpath(self.name):
            return skipper, None
        if order.seed != self.policy.seed:
            raise DataError(
                f"The run that is resumed shuffles with seed {order.seed}, not {self.policy.seed}: give the same seed."
            )
        return skipper, order

    # -- the first pass

    def _decide_order(self) -> tuple[RunOrder | None, Iterator[Block]]:
        """Return the order of a new run, None if its first pass is not shuffled, and the blocks of that pass.

        Blocks are held until they show that the rows are not sorted, which is soon for most files, or to the end.
        """
        blocks = self._read(with_rejects=True)
        if self.policy.when == "never" or "-" in self.files:
            return None, self._watch_labels(blocks)
        runs = self._new_runs()
        for block in blocks:
            self._cache.add(block)
            runs.add(block)
            if self.policy.when == "sorted" and not runs.may_be_sorted:
                if self._cache.blocks is not None:
                    return None, chain(self._cache.drain(), blocks)
                blocks.close()
                break
        if self.policy.when == "sorted" and not runs.is_sorted:
            return None, self._cache.drain() if self._cache.blocks is not None else self._read(with_rejects=True)
        order = RunOrder(self.name, self.policy.seed, runs.n_rows, self._cache.parts, is_first_shuffled=True)
        return self._announce(order), iter(())

    def _new_runs(self) -> LabelRuns | TargetRuns:
        return (TargetRuns if self.model.predicts_numbers else LabelRuns)(len(self.files))

    def _announce(self, order: RunOrder) -> RunOrder:
        """Have the model remember an order before the first row is learned in it."""
        self.model.run_order = order
        self.observer.on_order(order)
        return order

    def _watch_labels(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks, and report if they come sorted by label."""
        runs, is_reported = self._new_runs(), False
        for block in blocks:
            if runs.may_be_sorted and not is_reported:
                runs.add(block)
                if is_reported := runs.seems_sorted:
                    self.observer.on_sorted(runs)
            yield block

    def _pass_in_order(self, blocks: Iterator[Block], skipper: RowSkipper) -> Iterator[Block]:
        """Yield the blocks of the first pass, which are held in memory if there are others and they fit."""
        self._cache = _BlockCache(self.policy.memory)
        blocks = blocks if self.passes == 1 else self._hold(blocks)
        runs = self._new_runs()
        for block in self.model.ahead_of(skipper.skip(blocks)):
            runs.add(block)
            yield block
        if runs.are_long:
            self.observer.on_long_runs(runs)
        for file in self.files if self.passes == 1 else ():
            if missing := skipper.remaining(file):
                self.observer.on_notice(f"{file} has {missing:,} rows fewer than the model has read of it.")

    def _hold(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            self._cache.add(block)
            yield block

    # -- later passes

    def _later_passes(self, order: RunOrder | None, n_rows: int, n_learned: int) -> Iterator[Block]:
        """Yield the blocks of the passes after the first, which has n_rows rows; n_learned were learned before."""
        is_in_order = order is None and (self.policy.when == "never" or n_learned > n_rows)
        if order is None and not is_in_order:
            order = self._announce(RunOrder(self.name, self.policy.seed, n_rows, self._cache.parts))
        if order is not None and order.rows != n_rows:
            raise _other_rows(self.name, n_rows, order)
        for k in range(1, self.passes):
            n_learned = max(0, n_learned - n_rows)
            if n_learned < n_rows:
                blocks = self._read() if order is None else self._shuffled_pass(order, k)
                yield from self.model.ahead_of(_without_first(blocks, n_learned))
            self.observer.on_pass_end(k)

    def _shuffled_pass(self, order: RunOrder, k: int, *, with_rejects: bool = False) -> Iterator[Block]:
        """Yield the rows of pass k in its random order."""
        if order.parts == 1:
            blocks = self._cache.blocks
            if blocks is None or not self._cache.n_rows:
                blocks = list(self._read_again(order, with_rejects=with_rejects))
            yield from shuffle_blocks(blocks, self.name, order.generator(k), with_rejects=with_rejects)
            return
        if order.is_first_shuffled:
            parts: Iterable[list[Block]] = (
                list(
                    scatter(
                        self._read_again(order, with_rejects=with_rejects and not part),
                        order.generator(k, 0),
                        part,
                        order.parts,
                    )
                )
                for part in range(order.parts)
            )
        else:
            parts = windows(self._read_again(order), -(-order.rows // order.parts))
        for number, blocks in enumerate(parts):
            yield from shuffle_blocks(blocks, self.name, order.generator(k, 1 + number), with_rejects=with_rejects)

    # -- reading

    def _read_again(self, order: RunOrder, *, with_rejects: bool = False) -> Iterator[Block]:
        """Yield all blocks; raise an error in the end if there are not as many rows as there were."""
        n_rows = 0
        for block in self._read(with_rejects=with_rejects):
            n_rows += len(block)
            yield block
        if n_rows != order.rows:
            raise _other_rows(self.name, n_rows, order)

    def _read(self, *, with_rejects: bool = False) -> Generator[Block, None, None]:
        """Yield the blocks of all files in order, without held-out rows."""
        for block in self.holdout.rows_to_learn(self._read_files()):
            yield block if with_rejects or not block.rejects else replace(block, rejects=[])

    def _read_files(self) -> Generator[Block, None, None]:
        options, is_first = self._options, True
        for file in self.files:
            with open_for_model(self.model, file, options) as reader:
                remember_reader(self.model, reader)
                self.observer.on_open(reader)
                for block in reader:
                    if is_first and len(block) and self._check is not None:
                        self._check(block)
                    is_first = is_first and not len(block)
                    yield block
                if self.model.encoding is None:  # its columns are not known to the model yet
                    options = options_like(reader, self._options)


class _BlockCache:
    """The blocks of a pass, as long as they fit in memory together.

    Attributes
    ----------
    blocks : list or None
        None once they do not fit.
    n_rows, memory : int
        Of all blocks that were added.
    """

    def __init__(self, limit: int) -> None:
        self.blocks: list[Block] | None = []
        self.n_rows = self.memory = 0
        self._limit = limit

    def add(self, block: Block) -> None:
        self.n_rows += len(block)
        self.memory += memory_of(block)
        if self.memory > self._limit:
            self.blocks = None
        if self.blocks is not None:
            self.blocks.append(block)

    def drain(self) -> Iterator[Block]:
        """Yield the blocks, and hold none of them longer than until the next is requested."""
        blocks, self.blocks = self.blocks or [], []
        while blocks:
            yield blocks.pop(0)

    @property
    def parts(self) -> int:
        """Into how many parts the rows must be divided for each to fit in memory."""
        return max(1, -(-self.memory // self._limit))


def _without_first(blocks: Iterable[Block], n: int) -> Iterator[Block]:
    """Yield the blocks without their first n rows."""
    for block in blocks:
        n_skipped = min(n, len(block))
        n -= n_skipped
        if n_skipped < len(block) or not n_skipped:
            yield block.after(n_skipped) if n_skipped else block


def _other_rows(name: str, n_rows: int, order: RunOrder) -> DataError:
    return DataError(
        f"{name} has {n_rows:,} rows; it had {order.rows:,} when this run began. Rows in a random order can be resumed "
        "only while the files stay as they were: begin a new run from the model instead."
    )
