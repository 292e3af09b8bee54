"""Files that are not read from front to back, and sources in the way that pyarrow reads files."""

from __future__ import annotations

import mmap
import os
from contextlib import ExitStack

from novikoff.data.formats.sources import Source, open_source

__all__ = ["Mapped", "Seekable", "Unread", "is_file"]


class Seekable(Source):
    """A file that is not read from front to back.

    Attributes
    ----------
    path : str
    start : bytes
        The first eight, as they are.
    holds : ExitStack
        What is to be closed with it.
    taken : int
        Set by whoever reads it.
    """

    taken = 0

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open_source(path) as file:
            super().__init__(file.name, lambda n: b"", close=self._release, size=file.size)
        self.path = os.fspath(path)
        self.holds = ExitStack()
        with open(path, "rb") as raw:
            self.start = raw.read(8)

    def _release(self) -> None:
        self.holds.close()


class Mapped(mmap.mmap):
    """A file in memory, read from disk where it is looked at."""

    def __new__(cls, path: str) -> Mapped:
        with open(path, "rb") as file:
            return super().__new__(cls, file.fileno(), 0, access=mmap.ACCESS_READ)

    def forget(self) -> None:
        """Let go of what has been read, or in time the whole file would count as our memory; it can be read again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.madvise(mmap.MADV_DONTNEED)


class Unread:
    """A source as pyarrow wants it: as many bytes as are asked for, fewer only at the end."""

    closed = False

    def __init__(self, source: Source) -> None:
        self._source, self._kept = source, memoryview(b"")

    def peek(self, n: int) -> bytes:
        start = self.read(n)
        self._kept = memoryview(start + bytes(self._kept))
        return start

    def read(self, n: int = -1) -> bytes:
        parts, size = [], 0
        while n < 0 or size < n:
            chunk = self._kept or memoryview(self._source.read())
            if not chunk:
                break
            taken, self._kept = (chunk, chunk[:0]) if n < 0 else (chunk[: n - size], chunk[n - size :])
            parts.append(taken)
            size += len(taken)
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a file, or might have been one: then opening it says what is wrong."""
    return os.fspath(path) != "-" and (os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path))
