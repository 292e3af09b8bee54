"""Lines: chunks of a source that end where a line ends, and what the readers of text share."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from novikoff._compiled.loops.decimals import count_bytes, powers_of_five
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.errors import DataError

__all__ = [
    "LONGEST_LINE",
    "BytesWithName",
    "TextChunk",
    "count_byte",
    "count_lines",
    "decode_line",
    "is_utf8",
    "line_from",
    "power_table",
    "read_text_chunks",
    "read_whole_line_ends",
    "replace_lone_returns",
]

LONGEST_LINE = 1 << 26  # bytes
_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n)?")


@functools.cache
def power_table() -> np.ndarray:
    """Return the powers of five that the compiled loops read numbers with, computed once, in milliseconds."""
    return powers_of_five()


@dataclass(frozen=True)
class TextChunk:
    """Whole lines of a source: their text, writable as the compiled loops expect it, and the number of the first line,
    from 1."""

    text: bytearray
    line: int


class BytesWithName(Protocol):
    """What is read in chunks: a source, or what is made of one."""

    name: str

    def read(self) -> bytes:
        """Return the next bytes; none at the end."""
        ...


def read_text_chunks(source: BytesWithName, *, keep_returns: bool = False) -> Iterator[TextChunk]:
    """Read a source in chunks of whole lines, each as soon as a line has ended; only the last line may lack its end.

    Lines end with a line feed, a carriage return, or both (Unix, old Mac, Windows), also within one source. A carriage
    return alone becomes a line feed, so that readers know two ends of lines and not three; unless `keep_returns`, for
    readers of tables, where a carriage return within quotes is a part of the cell.

    Examples
    --------
    >>> from novikoff.data.formats.lines import read_text_chunks
    >>> from novikoff.data.formats.sources import Source
    >>> chunks = iter([b"a", b"b\\nc\\nd", b"e", b""])
    >>> for chunk in read_text_chunks(Source("letters", lambda n: next(chunks))):
    ...     print(chunk.line, bytes(chunk.text))
    1 b'ab\\nc\\n'
    3 b'de'
    """
    pending, line = bytearray(), 1
    is_first = True
    for content in read_whole_line_ends(source):
        if not keep_returns:
            content = replace_lone_returns(content)
        end = max(content.rfind(b"\n"), content.rfind(b"\r")) + 1
        if end:
            text, pending = bytearray().join((pending, memoryview(content)[:end])), bytearray(content[end:])
            if is_first:
                text = text.removeprefix(_BOM)
            is_first = False
            if text:
                yield TextChunk(text, line)
            line += count_lines(text)
            del text  # or one chunk more would stay in memory
            continue
        pending += content
        if len(pending) > LONGEST_LINE:
            raise DataError(
                f"{source.name}:{line}: this line is longer than {LONGEST_LINE >> 20} MB. If it is a "
                "table, its rows must end in line feeds."
            )
    if is_first:
        pending = pending.removeprefix(_BOM)
    if pending:
        yield TextChunk(pending, line)
    elif line == 1:
        raise DataError(f"{source.name}: the file is empty.")


def read_whole_line_ends(source: BytesWithName) -> Iterator[bytes]:
    """Yield the chunks of a source, none of which ends between a carriage return and a line feed: a carriage return at
    the end of one is moved to the next, where it can be seen whether a line feed follows."""
    held = b""
    while chunk := source.read():
        chunk = held + chunk
        held = b"\r" if chunk.endswith(b"\r") else b""
        if len(chunk) > len(held):
            yield chunk[: len(chunk) - len(held)]
    if held:
        yield held


def replace_lone_returns(text: bytes) -> bytes:
    """Put a line feed for every carriage return that no line feed follows."""
    if b"\r" not in text or text.count(b"\r") == text.count(b"\r\n"):
        return text
    return b"\r\n".join(part.replace(b"\r", b"\n") for part in text.split(b"\r\n"))


def count_lines(text: bytearray, start: int = 0) -> int:
    """Return the number of lines of text[start:] that have an end."""
    returns = count_byte(text, b"\r", start) - text.count(b"\r\n", start) if text.find(b"\r", start) >= 0 else 0
    return count_byte(text, b"\n", start) + returns


def count_byte(text: bytearray, byte: bytes, start: int = 0) -> int:
    """text.count(byte, start), ten times as fast, and without holding the GIL."""
    return int(count_bytes(np.frombuffer(text, np.uint8)[start:], ord(byte)))


def line_from(text: bytearray, start: int) -> bytes:
    """Return the line that begins at an offset, with its end."""
    found = _LINE.match(text, start)
    assert found is not None
    return found[0]


def is_utf8(text: bytearray) -> bool:
    """Return whether all of a text is UTF-8."""
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def decode_line(text: bytes, location: str) -> str:
    """Return a line as a string, or an error that names the byte that is not UTF-8; `location` is file:line."""
    if b"\0" in text:
        raise RowError(
            f"{location}:{text.index(0) + 1}: not a text file, it contains zero bytes. If it is UTF-16, name "
            "its encoding; otherwise export it as text in UTF-8.",
            RejectCode.ENCODING,
        )
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise RowError(
            f"{location}:{error.start + 1}: byte 0x{text[error.start]:02x} is not UTF-8. Name the encoding of the "
            "file, such as latin-1 or cp1252.",
            RejectCode.ENCODING,
        ) from error
