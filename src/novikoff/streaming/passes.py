"""Passes over files: their blocks, without rows that an interrupted run has learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from novikoff.streaming.opening import open_for_model, remember_reader

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

__all__ = ["FilePasses", "RowSkipper"]


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
        """How many rows of a source are still to be left out."""
        return self._remaining.get(os.path.realpath(source), 0)

    def knows_any(self, sources: Iterable[str]) -> bool:
        """Whether the interrupted run has read one of these sources."""
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
    """A block without its first n rows and the rejects before the row that is then the first."""
    if not n and (with_rejects or not block.rejects):
        return block
    first_line = block.lines[n] if n else 0
    rejects = [reject for reject in block.rejects if reject.line >= first_line] if with_rejects else []
    return replace(block.after(n) if n else block, rejects=rejects)


class FilePasses:
    """The blocks of some files, in order, as many times as there are passes.

    Parameters
    ----------
    model : StreamModel
        It determines how the files are read, and learns from the blocks. Its `target` is set to that of each file.
    files : sequence of str
        Paths, or "-" for standard input.
    passes : int
    resume : bool
        Whether to leave out the rows that the model has learned in its last run over these files. Otherwise a new run
        begins.
    options : mapping, optional
        How to read the files; see `open_stream`.
    on_open : callable, optional
        Called with the reader of each file before its first block.
    notify : callable, optional
        Called with a message if there is nothing to leave out, or fewer rows than the model has learned.
    """

    def __init__(
        self,
        model: StreamModel,
        files: Sequence[str],
        *,
        passes: int = 1,
        resume: bool = False,
        options: Mapping[str, Any] | None = None,
        on_open: Callable[[Any], None] | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.model, self.files, self.passes, self.resume = model, files, passes, resume
        self.options = dict(options or {})
        self._on_open, self._notify = on_open, notify

    def __iter__(self) -> Iterator[Block]:
        skipper = self._begin()
        for k in range(self.passes):
            for file in self.files:
                with open_for_model(self.model, file, self.options) as reader:
                    remember_reader(self.model, reader)
                    if self._on_open is not None:
                        self._on_open(reader)
                    yield from self.model.ahead_of(skipper.skip(reader, with_rejects=k == 0))
                    missing = skipper.remaining(reader.name)
                    if missing and k == self.passes - 1 and self._notify is not None:
                        self._notify(f"{reader.name} has {missing:,} rows fewer than the model has read of it.")

    def _begin(self) -> RowSkipper:
        if not self.resume:
            self.model.forget_run(self.files)
            return RowSkipper({})
        skipper = RowSkipper(self.model.rows_of_run)
        if self._notify is not None and not skipper.knows_any(self.files):
            self._notify("The model has read none of these files before: there is nothing to pass over.")
        return skipper
