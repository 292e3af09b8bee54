"""LineReader: what the readers of formats with a row per line share.

A compiled loop reads the lines that are well-formed and leaves the others to Python.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from contextlib import closing
from typing import Generic, Protocol, TypeVar

import numpy as np

from novikoff._compiled.loops.decimals import NEEDS_PYTHON
from novikoff.data.formats.block import Block
from novikoff.data.formats.lines import TextChunk, line_from, read_text_chunks
from novikoff.data.formats.read_ahead import map_in_threads
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.rejects import Reject, RowError
from novikoff.errors import DataError

__all__ = ["LineBlockBuilder", "LineReader"]

B = TypeVar("B", bound=Block)
C = TypeVar("C", bound=Block, covariant=True)


class LineBlockBuilder(Protocol, Generic[C]):
    """The arrays of a block that is being read."""

    def fill(self, text: np.ndarray, at: int, line: int, row: int) -> tuple[int, int, int, int]:
        """Let the compiled loop read lines from an offset on, into rows from `row` on; return (row, at, line, status)
        as it ended."""
        ...

    def add_line(self, row: int, line: int, at: int, text: bytes, location: str) -> bool:
        """Write the row of a line that is left to Python, which begins at offset `at`; return whether it has one."""
        ...

    def build(self, name: str, n: int, rejects: list[Reject]) -> C:
        """Return the block of the first n rows."""
        ...


class LineReader(Reader[B]):
    """Blocks of rows, the next ones parsed in threads while the caller works on this one."""

    _is_divisible = True
    _without_rows = "blank lines"  # what a file without rows has

    @abstractmethod
    def _new_builder(self, chunk: TextChunk, at: int) -> LineBlockBuilder[B]:
        """Return a builder with enough memory for the rows of a chunk from an offset on, or for as many as a block
        has."""

    def _check_block(self, block: B, chunk: TextChunk) -> tuple[B, RowError | None]:
        """Check rows that could be read; return the block without those that are wrong, and the first error, if errors
        stop the reader."""
        return block, None

    def _finish_in_order(self, block: B) -> B:
        """Return what is left to do with a block that depends on the blocks before it."""
        return block

    def _blocks(self) -> Generator[B, None, None]:
        n_rows = 0
        with closing(map_in_threads(self._parse, read_text_chunks(self.source), self._workers)) as parsed:
            for blocks, error in parsed:
                for block in blocks:
                    n_rows += len(block) + len(block.rejects)
                    yield self._finish_in_order(block)
                if error is not None:
                    raise error
        if not n_rows:
            raise DataError(f"{self.name}: found no rows, only {self._without_rows}.")

    def _parse(self, chunk: TextChunk) -> tuple[list[B], RowError | None]:
        """Return the blocks of a chunk, as far as the first error, and that error."""
        blocks, error, at, line = [], None, 0, chunk.line
        while at < len(chunk.text) and error is None:
            block, at, line, error = self._block(chunk, at, line)
            if len(block) or block.rejects:
                blocks.append(block)
        return blocks, error

    def _block(self, chunk: TextChunk, at: int, line: int) -> tuple[B, int, int, RowError | None]:
        """Return the block of the rows from an offset on, the offset and the number of the line after it, and the error
        that ended it."""
        text, builder = np.frombuffer(chunk.text, np.uint8), self._new_builder(chunk, at)
        rejects: list[Reject] = []
        error, row = None, 0
        while True:
            row, at, line, status = builder.fill(text, at, line, row)
            if status != NEEDS_PYTHON:
                break
            one = line_from(chunk.text, at)
            try:
                row += builder.add_line(row, line, at, one, f"{self.name}:{line}")
            except RowError as found:
                if self.bad_rows == "stop":
                    error = found
                    break
                rejects.append(Reject.from_error(line, found, one))
            at, line = at + len(one), line + 1
        block, earlier = self._check_block(builder.build(self.name, row, rejects), chunk)
        return block, at, line, earlier or error
