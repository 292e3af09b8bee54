"""Reader: what all readers share, an iterator over the blocks of a source."""

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
from novikoff.system.memory import keep_freed_memory

__all__ = ["BAD_ROWS", "Reader"]

BAD_ROWS = ("stop", "skip")
_THREADS = 2  # that parse; the caller has one of its own

B = TypeVar("B", bound=Block)


class Reader(ABC, Generic[B]):
    """The blocks of a source, in order, once; the next ones are made in threads while the caller works on this one.

    Leaving the `with` block ends the threads and closes the source; without one, leaving the loop early does.

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
        # A weak reference, or the thread would keep alive the generator whose end stops it: the caller's.
        self._running: weakref.ref[Generator[B, None, None]] | None = None
        # Within a `with` block a strong one. Otherwise an exception in the caller's loop would delete the generator,
        # and an interrupt while it ends its threads would be printed as an ignored exception, and lost.
        self._is_entered, self._held = False, None

    @property
    def name(self) -> str:
        return self.source.name

    _held: Generator[B, None, None] | None

    _is_divisible = False  # whether chunks of the source can be parsed independently, several at a time

    @property
    def _workers(self) -> int:
        """The number of threads that parse; none for a pipe: what has come through it must not wait for more to come,
        which may take a while."""
        return _THREADS if self._is_divisible and self.source.is_steady else 0

    @abstractmethod
    def _blocks(self) -> Generator[B, None, None]:
        """Make the blocks, none of them without both rows and rejects."""

    def _blocks_then_close(self) -> Generator[B, None, None]:
        keep_freed_memory()
        with self.source:
            yield from self._blocks()

    def __iter__(self) -> Iterator[B]:
        if self._running is not None:
            raise DataError(f"{self.name}: a reader goes through its source once. Open another.")
        blocks = self._blocks_then_close()
        running = blocks if self._workers else read_ahead(blocks)
        self._running = weakref.ref(running)
        self._held = running if self._is_entered else None
        return running

    def close(self) -> None:
        """End the threads and close the source."""
        running = None if self._running is None else self._running()
        if self._running is None or (running is not None and getgeneratorstate(running) == GEN_CREATED):
            self.source.close()
        elif running is not None and getgeneratorstate(running) != GEN_RUNNING:
            running.close()
        # Else another thread is inside the generator, waiting for a block, and will close it: to close it here would
        # crash CPython 3.11, which touches the frame before it checks whether the generator is running.

    def __enter__(self) -> Self:
        self._is_entered = True
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.close()
        finally:
            self._is_entered, self._held = False, None
