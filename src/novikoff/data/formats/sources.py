"""Sources: the bytes of a file or of standard input, decompressed, a chunk at a time.

Compression is recognised by the first bytes, whatever the name: gzip, bzip2 and xz are decompressed by Python's own
modules, zstandard by pyarrow. Several compressed files joined into one are read as one. Text in another encoding than
UTF-8 is transcoded (text_encodings.py). A pipe's bytes are passed on as they come: nothing here waits for a chunk to be
full.
"""

from __future__ import annotations

import bz2
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Self

from novikoff.data.formats.remote import is_remote, open_remote
from novikoff.data.formats.text_encodings import transcode_chunks
from novikoff.errors import DataError

__all__ = ["CHUNK", "STANDARD_INPUT", "Source", "open_source"]

CHUNK = 1 << 21  # bytes: large beside the cost of a call, small beside memory
STANDARD_INPUT = "standard input"
_COMPRESSED_CHUNK = 1 << 18

Read = Callable[[int], bytes]


class Source:
    """Bytes with a name, read once from front to back.

    Parameters
    ----------
    name : str
    read : callable
        Returns at most as many bytes as asked for, none at the end.
    close : callable, optional
    is_steady, size
        See below.
    chunk : int
        The most bytes that `read` returns.
    encoding : str, optional
        Of text, which is read as UTF-8 then; by default UTF-8, or what a byte order mark says.

    Attributes
    ----------
    name : str
        For messages.
    is_steady : bool
        Whether reading never waits for another program or a person to write: True for files, False for pipes and
        terminals.
    size : int or None
        Bytes of the file as it is, compressed or not; None if it is not known, as with pipes.
    bytes_read : int
        How many of them have been read so far.
    """

    def __init__(
        self,
        name: str,
        read: Read,
        *,
        close: Callable[[], None] | None = None,
        is_steady: bool = True,
        size: int | None = None,
        chunk: int = CHUNK,
        encoding: str | None = None,
    ) -> None:
        self.name = name
        self.is_steady = is_steady
        self.size = size
        self._counting = _CountingRead(
            read
        )  # an object of its own: in a reference cycle with its generator, a Source would outlive its last use
        self._close = close
        decompressed = _read_decompressed(name, self._counting.read, chunk)
        self._chunks = transcode_chunks(name, decompressed, encoding, size=chunk)
        self._kept: list[bytes] = []

    @property
    def bytes_read(self) -> int:
        return self._counting.bytes

    def read(self) -> bytes:
        """Return the next bytes, as many as are available; none at the end."""
        return self._kept.pop(0) if self._kept else self._next()

    def peek(self) -> bytes:
        """Return the bytes that `read` will return first."""
        if not self._kept:
            self._kept.append(self._next())
        return self._kept[0]

    def peek_line(self) -> bytes:
        """At least one whole line from the front, or all there is, up to 64 kB; `read` will return it again."""
        while not re.search(rb"[\r\n]", (text := b"".join(self._kept)).lstrip()) and len(text) < 1 << 16:
            more = self._next()
            if not more:
                break
            self._kept.append(more)
        return text

    def _next(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read: {error.strerror or error}.") from error

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._chunks.close()
        if self._close is not None:
            self._close()
            self._close = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_source(path: str | os.PathLike[str], *, chunk: int = CHUNK, encoding: str | None = None) -> Source:
    """Open a file, also a remote one such as "s3://bucket/rows.csv", or standard input for "-".

    Parameters
    ----------
    path : str or path
    chunk : int
        The most bytes that `read` returns.
    encoding : str, optional
        As Python names it, such as "cp1252"; by default UTF-8, or UTF-16 or UTF-32 if a byte order mark says so.

    Examples
    --------
    >>> import gzip, tempfile
    >>> from pathlib import Path
    >>> from novikoff.data.formats.sources import open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.svm.gz")
    ...     _ = path.write_bytes(gzip.compress(b"1 1:0.5\\n") + gzip.compress(b"-1 2:1\\n"))
    ...     with open_source(path) as source:
    ...         source.peek_line(), source.read(), source.read(), source.read()
    (b'1 1:0.5\\n', b'1 1:0.5\\n', b'-1 2:1\\n', b'')
    """
    if os.fspath(path) == "-":
        return _standard_input(chunk, encoding)
    name = os.fspath(path)
    if is_remote(name):
        remote, size = open_remote(name)
        return Source(name, remote.read, close=remote.close, size=size, chunk=chunk, encoding=encoding)
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115 (Source closes it)
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file.") from None
    except IsADirectoryError:
        raise DataError(f"{name}: is a folder. Name the files in it.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be opened: {getattr(error, 'strerror', None) or error}.") from error
    facts = os.fstat(file.fileno())
    is_steady = stat.S_ISREG(facts.st_mode)
    size = facts.st_size if is_steady else None
    return Source(name, file.read, close=file.close, is_steady=is_steady, size=size, chunk=chunk, encoding=encoding)


def _standard_input(chunk: int, encoding: str | None) -> Source:
    """Standard input without Python's buffer, where a thread that waits for input would hold a lock at the exit of the
    interpreter."""
    try:
        handle = sys.stdin.fileno()
    except (OSError, ValueError):  # a stand-in, as in tests
        stream: Any = sys.stdin.buffer
        return Source(STANDARD_INPUT, getattr(stream, "read1", stream.read), chunk=chunk, encoding=encoding)
    is_steady = stat.S_ISREG(os.fstat(handle).st_mode)
    return Source(STANDARD_INPUT, lambda n: os.read(handle, n), is_steady=is_steady, chunk=chunk, encoding=encoding)


class _CountingRead:
    """A function that reads, and the number of bytes that it has read."""

    def __init__(self, read: Read) -> None:
        self._read, self.bytes = read, 0

    def read(self, n: int) -> bytes:
        found = self._read(n)
        self.bytes += len(found)
        return found


class _GzipDecompressor:
    """zlib's decompressor with the interface of those of bz2 and lzma."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_DECOMPRESSORS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b\x08": _GzipDecompressor,
    **{b"BZh%d1AY&SY" % level: bz2.BZ2Decompressor for level in range(1, 10)},
    **{b"BZh%d\x17\x72\x45" % level: bz2.BZ2Decompressor for level in range(1, 10)},  # of an empty file
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}


def _read_decompressed(name: str, read: Read, chunk: int) -> Generator[bytes, None, None]:
    """Chunks of at most `chunk` bytes, none of them empty."""
    first = b""
    # No more is read than is needed to recognise the compression: more may take a while to come through a pipe.
    while any(magic.startswith(first) and magic != first for magic in [*_DECOMPRESSORS, _ZSTANDARD]):
        more = read(chunk)
        first += more
        if not more:
            break
    if first.startswith(_ZSTANDARD):
        yield from _read_zstandard(name, first, read, chunk)
        return
    for magic, make in _DECOMPRESSORS.items():
        if first.startswith(magic):
            yield from _read_members(name, make, first, read, chunk)
            return
    while first:
        yield first[:chunk]
        first = first[chunk:] or read(chunk)


def _read_members(name: str, make: Callable[[], Any], compressed: bytes, read: Read, chunk: int) -> Iterator[bytes]:
    """Yield the content of compressed files that are joined into one, in turn."""
    while compressed:
        decompressor = make()
        while not decompressor.eof:
            if not compressed and decompressor.needs_input:
                compressed = read(_COMPRESSED_CHUNK)
                if not compressed:
                    raise DataError(f"{name}: the compressed file is cut short. Fetch or pack it again.")
            try:
                content = decompressor.decompress(compressed, chunk)
            except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise DataError(f"{name}: the compressed file is damaged ({error}). Fetch or pack it again.") from error
            compressed = b""
            if content:
                yield content
        compressed = decompressor.unused_data.lstrip(b"\0")  # padding, as of tapes
        while not compressed and (more := read(_COMPRESSED_CHUNK)):
            compressed = more.lstrip(b"\0")


class _ResumedFile:
    """A file object, as pyarrow expects it, of the bytes that have been read already and those that follow."""

    closed = False

    def __init__(self, first: bytes, read: Read) -> None:
        self._first, self._read = first, read

    def read(self, n: int = -1) -> bytes:
        if not self._first:
            return self._read(n if n >= 0 else CHUNK)
        out, self._first = (self._first, b"") if n < 0 else (self._first[:n], self._first[n:])
        return out

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def _read_zstandard(name: str, first: bytes, read: Read, chunk: int) -> Iterator[bytes]:
    import pyarrow  # here: it takes a while to load

    try:
        with pyarrow.CompressedInputStream(pyarrow.PythonFile(_ResumedFile(first, read), mode="r"), "zstd") as stream:
            while content := stream.read(chunk):
                yield content
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: the compressed file is damaged or cut short ({error}).") from error
