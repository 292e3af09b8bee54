"""Text from files made safe for a terminal."""

from __future__ import annotations

from typing import Any

__all__ = ["printable"]


def printable(value: Any, longest: int | None = None) -> str:
    """The text of a value without control characters, which a terminal would obey; cut at `longest` characters.

    >>> from novikoff.cli.printable import printable
    >>> printable("a\\x1b[31mb"), printable("abcdef", longest=4)
    ('a?[31mb', 'abc…')
    """
    text = "".join(c if c.isprintable() else "?" for c in str(value))
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"
