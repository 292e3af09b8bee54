"""Lines: pieces of a source that end where a line ends; what readers of text share."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from novikoff._compiled.loops.decimals import count_bytes, powers_of_five
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = [
    "LONGEST_LINE",
    "Piece",
    "count",
    "count_lines",
    "is_text",
    "line_at",
    "pieces_of",
    "powers",
    "require_text",
    "whole_ends",
    "with_line_feeds",
]

LONGEST_LINE = 1 << 26  # bytes
_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n)?")


@functools.cache
def powers() -> np.ndarray:
    """The table that kernels read numbers with, made once, in milliseconds."""
    return powers_of_five()


@dataclass(frozen=True)
class Piece:
    """Whole lines: their text, in memory that kernels take for writable, and the number of the first, from 1."""

    text: bytearray
    line: int


def pieces_of(source: Source, *, keep_returns: bool = False) -> Iterator[Piece]:
    """Cut a source where lines end, as soon as a line has ended; only the last line of all may lack its end.

    Lines end with a line feed, a carriage return, or both (Unix, old Mac, Windows), also within one source. A carriage
    return alone becomes a line feed, so that readers know two ends of lines and not three; unless `keep_returns`, for
    readers of tables, where a carriage return within quotes is a part of the cell.

    Examples
    --------
    >>> from novikoff.data.formats.lines import pieces_of
    >>> from novikoff.data.formats.sources import Source
    >>> chunks = iter([b"a", b"b\\nc\\nd", b"e", b""])
    >>> for piece in pieces_of(Source("letters", lambda n: next(chunks))):
    ...     print(piece.line, bytes(piece.text))
    1 b'ab\\nc\\n'
    3 b'de'
    """
    pending, line = bytearray(), 1
    is_first = True
    for chunk in whole_ends(source):
        if not keep_returns:
            chunk = with_line_feeds(chunk)
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if end:
            text, pending = bytearray().join((pending, memoryview(chunk)[:end])), bytearray(chunk[end:])
            if is_first:
                text = text.removeprefix(_BOM)
            is_first = False
            if text:
                yield Piece(text, line)
            line += count_lines(text)
            del text  # or one piece more would live
            continue
        pending += chunk
        if len(pending) > LONGEST_LINE:
            raise DataError(
                f"{source.name}:{line}: this line is longer than {LONGEST_LINE >> 20} MB. If it is a "
                "table, its rows must end in line feeds."
            )
    if is_first:
        pending = pending.removeprefix(_BOM)
    if pending:
        yield Piece(pending, line)
    elif line == 1:
        raise DataError(f"{source.name}: the file is empty.")


def whole_ends(source: Source) -> Iterator[bytes]:
    """The chunks of a source, cut anew so that a carriage return at the end of one is in the next, where it can be seen
    whether a line feed follows; a last one ends the source."""
    held = b""
    while chunk := source.read():
        chunk = held + chunk
        held = b"\r" if chunk.endswith(b"\r") else b""
        if len(chunk) > len(held):
            yield chunk[: len(chunk) - len(held)]
    if held:
        yield held


def with_line_feeds(text: bytes) -> bytes:
    """The same text with a line feed for every carriage return that has none behind it."""
    if b"\r" not in text or text.count(b"\r") == text.count(b"\r\n"):
        return text
    return b"\r\n".join(part.replace(b"\r", b"\n") for part in text.split(b"\r\n"))


def count_lines(text: bytearray, at: int = 0) -> int:
    """How many lines of text[at:] have an end."""
    returns = count(text, b"\r", at) - text.count(b"\r\n", at) if text.find(b"\r", at) >= 0 else 0
    return count(text, b"\n", at) + returns


def count(text: bytearray, byte: bytes, at: int = 0) -> int:
    """text.count(byte, at), ten times as fast, and other threads may run meanwhile."""
    return int(count_bytes(np.frombuffer(text, np.uint8)[at:], ord(byte)))


def line_at(text: bytearray, at: int) -> bytes:
    """The line that begins at a place, with its end."""
    found = _LINE.match(text, at)
    assert found is not None
    return found[0]


def is_text(text: bytearray) -> bool:
    """Whether all of it is UTF-8."""
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def require_text(text: bytes, place: str) -> str:
    """A line as a string, or an error that names the byte that is not text."""
    if b"\0" in text:
        raise DataError(
            f"{place}:{text.index(0) + 1}: not a text file, it contains zero bytes. Export it as text in UTF-8."
        )
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place}:{error.start + 1}: byte 0x{text[error.start]:02x} is not UTF-8. If the file is in "
            "Latin-1, convert it: iconv -f latin1 -t utf-8."
        ) from error
