"""Text encodings other than UTF-8: chunks of bytes are transcoded to UTF-8 before anything else looks at them.

UTF-16 and UTF-32 are recognised by their byte order mark. Any other encoding must be named: bytes that are not UTF-8
could be one of dozens, and a wrong guess would change names and words without a word.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable

from novikoff.errors import DataError

__all__ = ["transcode_chunks"]

_MARKS = {  # those of UTF-32 first: that of UTF-16 is the beginning of one
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def transcode_chunks(
    name: str, chunks: Iterable[bytes], encoding: str | None, *, size: int
) -> Generator[bytes, None, None]:
    """Yield the chunks of a source as UTF-8, each of at most `size` bytes.

    Parameters
    ----------
    name : str
        Of the source, for messages.
    chunks : iterable of bytes
    encoding : str or None
        As Python names it; None for UTF-8, or UTF-16 or UTF-32 with a byte order mark.
    size : int

    Examples
    --------
    >>> from novikoff.data.formats.text_encodings import transcode_chunks
    >>> list(transcode_chunks("a.csv", ["é;1\\n".encode("utf-16")], None, size=100))
    [b'\\xc3\\xa9;1\\n']
    >>> list(transcode_chunks("a.csv", [b"\\xe9;1\\n"], "latin-1", size=100))
    [b'\\xc3\\xa9;1\\n']
    """
    chunks = iter(chunks)
    first = b""
    if encoding is None:
        # No more is read than is needed to tell: more may take a while to come through a pipe.
        while any(mark.startswith(first) and mark != first for mark in _MARKS):
            more = next(chunks, b"")
            first += more
            if not more:
                break
        encoding = next((codec for mark, codec in _MARKS.items() if first.startswith(mark)), "utf-8")
    codec = _find_codec(encoding)
    if codec.name == "utf-8":
        for chunk in _joined(first, chunks):
            yield from _pieces(chunk, size)
        return
    decoder, at = codec.incrementaldecoder(), 0
    for chunk in _joined(first, chunks):
        yield from _pieces(_decode(name, decoder, chunk, at, encoding), size)
        at += len(chunk)
    yield from _pieces(_decode(name, decoder, b"", at, encoding, final=True), size)


def _joined(first: bytes, chunks: Iterable[bytes]) -> Generator[bytes, None, None]:
    if first:
        yield first
    yield from chunks


def _pieces(chunk: bytes, size: int) -> Generator[bytes, None, None]:
    for start in range(0, len(chunk), size):
        yield chunk[start : start + size] if len(chunk) > size else chunk


def _find_codec(encoding: str) -> codecs.CodecInfo:
    try:
        codec = codecs.lookup(encoding)
        is_text = getattr(codec, "_is_text_encoding", True)  # zip and hex are codecs too
    except LookupError:
        is_text = False
    if not is_text or codec.incrementaldecoder is None:
        raise DataError(
            f"There is no text encoding {encoding!r}. Python knows utf-8, utf-16, latin-1, cp1252 and others."
        )
    return codec


def _decode(
    name: str, decoder: codecs.IncrementalDecoder, chunk: bytes, at: int, encoding: str, *, final: bool = False
) -> bytes:
    """Return the UTF-8 of a chunk that begins at offset `at`."""
    try:
        return decoder.decode(chunk, final).encode()
    except UnicodeError as error:
        start = at + getattr(error, "start", 0)
        raise DataError(f"{name}: the bytes near offset {start:,} are not {encoding}. Name its encoding.") from error
