"""Files with random access, and sources as the file objects that pyarrow reads."""

from __future__ import annotations

import mmap
import os
from contextlib import ExitStack
from typing import Any

from novikoff.data.formats.remote import is_remote, open_remote_file
from novikoff.data.formats.sources import Source, open_source

__all__ = ["FileFromSource", "MappedFile", "SeekableSource", "is_file"]


class SeekableSource(Source):
    """A file with random access, whose bytes its reader fetches by itself.

    Attributes
    ----------
    path : str
    start : bytes
        The first eight bytes, not decompressed.
    closing : ExitStack
        What is closed with it.
    bytes_read : int
        Set by its reader.
    """

    bytes_read = 0

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open_source(path) as file:
            super().__init__(file.name, lambda n: b"", close=self._release, size=file.size)
        self.path = os.fspath(path)
        self.closing = ExitStack()
        with open_remote_file(self.path) if is_remote(self.path) else open(path, "rb") as raw:
            self.start = raw.read(8)

    def open(self) -> Any:
        """Return what pyarrow can open: the path, or the remote file, which is closed with this source."""
        return self.closing.enter_context(open_remote_file(self.path)) if is_remote(self.path) else self.path

    def _release(self) -> None:
        self.closing.close()


class MappedFile(mmap.mmap):
    """A memory-mapped file, read from disk where it is accessed."""

    def __new__(cls, path: str) -> MappedFile:
        with open(path, "rb") as file:
            return super().__new__(cls, file.fileno(), 0, access=mmap.ACCESS_READ)

    def release_pages(self) -> None:
        """Release the pages that have been read, or the whole file would count as our memory in the end; they are read
        from disk again where needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.madvise(mmap.MADV_DONTNEED)


class FileFromSource:
    """A source as the file object that pyarrow expects: `read` returns as many bytes as requested, fewer at the end."""

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
            part, self._kept = (chunk, chunk[:0]) if n < 0 else (chunk[: n - size], chunk[n - size :])
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file, or should be one: for a folder, or if nothing is there, opening it raises the
    error."""
    return os.fspath(path) != "-" and (os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path))
