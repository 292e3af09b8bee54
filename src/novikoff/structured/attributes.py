"""What templates may ask of a word: its end, its shape, whether it is a number.

An attribute is a function from the text of a cell to text; None, False or "" means that there is nothing to say, and
features made of it are left out. Each is computed once for each different word, however often that occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["NAMES", "Attribute", "attribute_named"]

Attribute = Callable[[str], "str | bool | None"]


def shape(word: str) -> str:
    """Capitals, small letters and digits as X, x and d; of a run of more than two of a kind two are kept.

    >>> shape("McDonald's"), shape("F-16"), shape("1,000,000")
    ("XxXxx'x", 'X-dd', 'd,dd,dd')
    """
    return re.sub(r"(.)\1{2,}", r"\1\1", pattern(word))


def pattern(word: str) -> str:
    """Capitals, small letters and digits as X, x and d, and all the rest as it is: one sign for each character.

    >>> pattern("McDonald's")
    "XxXxxxxx'x"
    """
    return "".join(map(_sign, word))


def _sign(c: str) -> str:
    if c.isdigit():
        return "d"
    if c.isalpha():
        return "X" if c.isupper() else "x"
    return c


def _has(test: Callable[[str], bool]) -> Attribute:
    return lambda word: any(map(test, word))


_PLAIN: dict[str, Attribute] = {
    "lower": str.lower,
    "shape": shape,
    "pattern": pattern,
    "length": lambda word: str(min(len(word), 12)),
    "is_digit": str.isdigit,
    "is_upper": str.isupper,
    "is_lower": str.islower,
    "is_title": str.istitle,
    "is_capital": lambda word: word[:1].isupper(),
    "is_alpha": str.isalpha,
    "has_digit": _has(str.isdigit),
    "has_upper": _has(str.isupper),
    "has_hyphen": lambda word: "-" in word,
    "has_punctuation": _has(lambda c: not c.isalnum()),
}

NAMES = (*_PLAIN, "suffix1", "suffix2", "…", "prefix1", "prefix2", "…")

_PIECE = re.compile(r"(prefix|suffix)([1-9][0-9]?)\Z")


def attribute_named(name: str) -> Attribute | None:
    """A built-in attribute, None if there is none of this name.

    >>> attribute_named("suffix3")("running"), attribute_named("suffix3")("of"), attribute_named("is_digit")("x")
    ('ing', 'of', False)
    """
    piece = _PIECE.match(name)
    if piece is None:
        return _PLAIN.get(name)
    n = int(piece[2])
    return (lambda word: word[:n]) if piece[1] == "prefix" else (lambda word: word[-n:])
