"""Formats whose rows are lines: a kernel reads the lines that are as they should be, Python looks at the others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from contextlib import closing
from typing import Generic, Protocol, TypeVar

import numpy as np

from novikoff._compiled.loops.decimals import ASK
from novikoff.data.formats.block import Block, Reject
from novikoff.data.formats.lines import Piece, line_at, pieces_of
from novikoff.data.formats.read_ahead import in_parallel
from novikoff.data.formats.reader import Reader
from novikoff.errors import DataError

__all__ = ["LineReader", "Room"]

B = TypeVar("B", bound=Block)
C = TypeVar("C", bound=Block, covariant=True)


class Room(Protocol, Generic[C]):
    """The arrays of a block in the making."""

    def fill(self, text: np.ndarray, at: int, line: int, row: int) -> tuple[int, int, int, int]:
        """Let the kernel read lines from a place on, into rows from `row` on; (row, at, line, why) as it ended."""
        ...

    def put(self, row: int, line: int, at: int, asked: bytes, place: str) -> bool:
        """Write the row of a line that the kernel has left to Python; whether it has one."""
        ...

    def block(self, name: str, n: int, rejects: list[Reject]) -> C:
        """What came of it: n rows."""
        ...


class LineReader(Reader[B]):
    """Blocks of rows, the next ones parsed in threads while the caller works on this one."""

    _is_divisible = True
    _only = "blank lines"  # what a file without rows has

    @abstractmethod
    def _room(self, piece: Piece, at: int) -> Room[B]:
        """Enough for what a piece holds from a place on, if it is not more rows than a block has."""

    def _checked(self, block: B, piece: Piece) -> tuple[B, DataError | None]:
        """A block without what is wrong in it though its lines could be read, and the first error, if it counts."""
        return block, None

    def _in_turn(self, block: B) -> B:
        """A block, when its turn has come."""
        return block

    def _blocks(self) -> Generator[B, None, None]:
        n_rows = 0
        with closing(in_parallel(self._parsed, pieces_of(self.source), self._workers)) as parsed:
            for blocks, error in parsed:
                for block in blocks:
                    n_rows += len(block) + len(block.rejects)
                    yield self._in_turn(block)
                if error is not None:
                    raise error
        if not n_rows:
            raise DataError(f"{self.name}: found no rows, only {self._only}.")

    def _parsed(self, piece: Piece) -> tuple[list[B], DataError | None]:
        """The blocks of a piece, as far as the first error, and that error."""
        blocks, error, at, line = [], None, 0, piece.line
        while at < len(piece.text) and error is None:
            block, at, line, error = self._block(piece, at, line)
            if len(block) or block.rejects:
                blocks.append(block)
        return blocks, error

    def _block(self, piece: Piece, at: int, line: int) -> tuple[B, int, int, DataError | None]:
        """Rows from a place in a piece on, and the place after them; or the error that is there."""
        text, room = np.frombuffer(piece.text, np.uint8), self._room(piece, at)
        rejects: list[Reject] = []
        error, row = None, 0
        while True:
            row, at, line, why = room.fill(text, at, line, row)
            if why != ASK:
                break
            asked = line_at(piece.text, at)
            try:
                row += room.put(row, line, at, asked, f"{self.name}:{line}")
            except DataError as wrong:
                if self.bad_rows == "stop":
                    error = wrong
                    break
                rejects.append(Reject(line, str(wrong), asked))
            at, line = at + len(asked), line + 1
        block, earlier = self._checked(room.block(self.name, row, rejects), piece)
        return block, at, line, earlier or error
