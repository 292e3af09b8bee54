"""JSON arrays as JSON lines: `[{...}, {...}]` becomes a line for each element, in bounded memory.

The commas between elements become line feeds, line ends within elements blanks, and the brackets of the array blanks.
So the n-th line is the n-th element, and whatever is wrong within an element is found where its line is parsed.
"""

from __future__ import annotations

import re

import numpy as np

from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["ArrayAsLines", "begins_with_array"]

_BLANKS = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_ESCAPED = re.compile(rb"\\.", re.DOTALL)


def begins_with_array(text: bytes) -> bool:
    """Return whether the first bytes of a source are those of a JSON array, whose first element is no number or
    string."""
    return re.match(rb"\s*\[\s*([\[{\]]|\Z)", text.removeprefix(_BOM)) is not None


class ArrayAsLines:
    """The elements of a JSON array, a line each, with the part of the interface of a source that readers of lines need.

    Parameters
    ----------
    source : Source

    Examples
    --------
    >>> from novikoff.data.formats.json_arrays import ArrayAsLines
    >>> from novikoff.data.formats.sources import Source
    >>> chunks = iter([b'[{"a": 1,\\n "b": "]},"},', b'{"a": 2}]\\n', b""])
    >>> lines = ArrayAsLines(Source("a.json", lambda n: next(chunks)))
    >>> b"".join(iter(lines.read, b"")).split(b"\\n")
    [b' {"a": 1,  "b": "]},"}', b'{"a": 2}  ']
    """

    def __init__(self, source: Source) -> None:
        self.name, self._source = source.name, source
        self._depth, self._is_in_string, self._is_closed = 0, False, False
        self._held, self._is_first = b"", True

    def read(self) -> bytes:
        """Return the next bytes; none at the end."""
        while chunk := self._source.read():
            chunk, self._held = self._held + chunk, b""
            if self._is_first and len(chunk) < len(_BOM):
                self._held = chunk
                continue
            if chunk.endswith(b"\\") and (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:
                chunk, self._held = chunk[:-1], b"\\"  # what it escapes comes with the next chunk
            if found := self._convert(chunk.removeprefix(_BOM) if self._is_first else chunk):
                return found
        rest, self._held = self._convert(self._held), b""
        if not self._is_closed:
            raise DataError(f"{self.name}: the JSON array is not closed. The file may be cut short: fetch it again.")
        return rest

    def _convert(self, chunk: bytes) -> bytes:
        """Return the next part of the array, as lines."""
        if not chunk:
            return b""
        self._is_first = False
        text = np.frombuffer(bytearray(chunk), np.uint8)
        plain = np.frombuffer(_ESCAPED.sub(b"xx", chunk), np.uint8) if b"\\" in chunk else text
        is_quote = plain == ord('"')
        is_outside = (np.cumsum(is_quote) + self._is_in_string) % 2 == 0
        opens = ((plain == ord("[")) | (plain == ord("{"))) & is_outside
        closes = ((plain == ord("]")) | (plain == ord("}"))) & is_outside
        depth = self._depth + np.cumsum(opens.astype(np.int64) - closes)
        end = self._find_end(chunk, closes & (depth == 0))
        is_comma = (plain == ord(",")) & is_outside & (depth == 1)
        text[(text == 10) | (text == 13) | (opens & (depth == 1))] = ord(" ")
        text[is_comma] = ord("\n")
        text[end:] = ord(" ")
        self._is_in_string ^= bool(is_quote.sum() % 2)
        self._depth = int(depth[-1])
        return text.tobytes()

    def _find_end(self, chunk: bytes, is_end: np.ndarray) -> int:
        """Return the offset of the bracket that closes the array, or the size of the chunk; nothing may follow it."""
        end = 0 if self._is_closed else int(is_end.argmax()) if is_end.any() else len(chunk)
        rest = chunk[end:] if self._is_closed else chunk[end + 1 :]
        if rest.strip(_BLANKS):
            raise DataError(f"{self.name}: something follows the end of the JSON array. Leave it out.")
        self._is_closed = self._is_closed or end < len(chunk)
        return end
