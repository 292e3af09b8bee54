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
    """Whether the first bytes of a source are those of a JSON array, whose first element is no number or string."""
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
        self._depth, self._is_in_string, self._held, self._is_first = 0, False, b"", True

    def read(self) -> bytes:
        """The next bytes; none at the end."""
        while chunk := self._source.read():
            chunk = self._held + chunk
            self._held = b""
            if self._is_first and len(chunk) < len(_BOM):
                self._held = chunk
                continue
            if chunk.endswith(b"\\") and (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:
                chunk, self._held = chunk[:-1], b"\\"  # what it escapes comes with the next chunk
            if found := self._convert(chunk.removeprefix(_BOM) if self._is_first else chunk):
                return found
        if self._depth or self._held:
            raise DataError(f"{self.name}: the JSON array is not closed. The file may be cut short: fetch it again.")
        return b""

    def _convert(self, chunk: bytes) -> bytes:
        """The next part of the array, as lines."""
        self._is_first = self._is_first and not chunk
        text = np.frombuffer(bytearray(chunk), np.uint8)
        plain = np.frombuffer(_ESCAPED.sub(b"xx", chunk), np.uint8) if b"\\" in chunk else text
        is_quote = plain == ord('"')
        is_outside = (np.cumsum(is_quote) + self._is_in_string) % 2 == 0
        opens = ((plain == ord("[")) | (plain == ord("{"))) & is_outside
        closes = ((plain == ord("]")) | (plain == ord("}"))) & is_outside
        depth = self._depth + np.cumsum(opens.astype(np.int64) - closes)
        self._is_in_string ^= bool(is_quote.sum() % 2)
        is_line_end = (text == 10) | (text == 13)
        is_bracket = (opens & (depth == 1)) | (closes & (depth == 0))
        outer = text[(depth <= 0) & ~is_bracket]
        if np.isin(outer, np.frombuffer(_BLANKS, np.uint8), invert=True).any():
            raise DataError(f"{self.name}: something follows the end of the JSON array. Leave it out.")
        if len(depth):
            self._depth = int(depth[-1])
        text[is_line_end | is_bracket] = ord(" ")
        text[(plain == ord(",")) & is_outside & (depth == 1)] = ord("\n")
        return text.tobytes()
