"""What all readers are: something with a name to go through once, block by block."""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from inspect import GEN_CREATED, GEN_RUNNING, getgeneratorstate
from typing import Generic, Self, TypeVar

from novikoff.data.formats.block import Block
from novikoff.data.formats.read_ahead import read_ahead
from novikoff.data.formats.sources import Source, open_source
from novikoff.errors import DataError
from novikoff.system.memory import keep_memory

__all__ = ["BAD_ROWS", "Reader"]

BAD_ROWS = ("stop", "skip")
_THREADS = 2  # that parse; the caller has one of its own

B = TypeVar("B", bound=Block)


class Reader(ABC, Generic[B]):
    """The blocks of a source, in order, once; the next ones are made in threads while the caller works on this one.

    Leaving the loop early, or the `with` block, ends the thread and closes the source.

    Attributes
    ----------
    name : str
        Of the source, for messages.
    """

    def __init__(self, source: Source | str | os.PathLike[str], bad_rows: str) -> None:
        if bad_rows not in BAD_ROWS:
            raise DataError(f"bad_rows must be one of {', '.join(map(repr, BAD_ROWS))}; found {bad_rows!r}.")
        self.source = source if isinstance(source, Source) else open_source(source)
        self.bad_rows = bad_rows
        # Weak, or the thread would hold on to what ends it: the generator that the caller goes through.
        self._running: weakref.ref[Generator[B, None, None]] | None = None

    @property
    def name(self) -> str:
        return self.source.name

    _is_divisible = False  # whether blocks can be made of pieces of the source by themselves, several at a time

    @property
    def _workers(self) -> int:
        """How many threads parse; none for a pipe, which may have nothing more to say for a while: what it has said is
        not to wait for that."""
        return _THREADS if self._is_divisible and self.source.is_steady else 0

    @abstractmethod
    def _blocks(self) -> Generator[B, None, None]:
        """Make the blocks, none of them without rows and rejects."""

    def _blocks_then_close(self) -> Generator[B, None, None]:
        keep_memory()
        with self.source:
            yield from self._blocks()

    def __iter__(self) -> Iterator[B]:
        if self._running is not None:
            raise DataError(f"{self.name}: a reader goes through its source once. Open another.")
        blocks = self._blocks_then_close()
        running = blocks if self._workers else read_ahead(blocks)
        self._running = weakref.ref(running)
        return running

    def close(self) -> None:
        """End the thread and close the source."""
        running = None if self._running is None else self._running()
        if self._running is None or (running is not None and getgeneratorstate(running) == GEN_CREATED):
            self.source.close()
        elif running is not None and getgeneratorstate(running) != GEN_RUNNING:
            running.close()
        # Else a thread that goes ahead is in it, waiting for a block, and will close it: to close it here would crash
        # CPython 3.11, which looks at the frame before it looks whether that is running.

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
