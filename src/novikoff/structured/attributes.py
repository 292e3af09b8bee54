"""What templates may ask of a word: its end, its shape, whether it is a number.

An attribute is a function from the text of a cell to text; None, False or "" means that there is nothing to say, and
features made of it are left out. Each is computed once for each different word, however often that occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

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
    return word.translate(_SIGNS)


class _Signs(dict[int, str]):
    """The sign of each character, by its code, found when it is first met."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        letter = "X" if c.isupper() else "x"
        self[code] = "d" if c.isdigit() else letter if c.isalpha() else c
        return self[code]


_SIGNS = _Signs()


def _length(word: str) -> str:
    return str(min(len(word), 12))


def _is_capital(word: str) -> bool:
    return word[:1].isupper()


def _has_hyphen(word: str) -> bool:
    return "-" in word


def _has(test: Callable[[str], bool], word: str) -> bool:
    return any(map(test, word))


def _is_punctuation(c: str) -> bool:
    return not c.isalnum()


def _prefix(n: int, word: str) -> str:
    return word[:n]


def _suffix(n: int, word: str) -> str:
    return word[-n:]


_PLAIN: dict[str, Attribute] = {  # without lambdas, which pickle cannot store
    "lower": str.lower,
    "shape": shape,
    "pattern": pattern,
    "length": _length,
    "is_digit": str.isdigit,
    "is_upper": str.isupper,
    "is_lower": str.islower,
    "is_title": str.istitle,
    "is_capital": _is_capital,
    "is_alpha": str.isalpha,
    "has_digit": partial(_has, str.isdigit),
    "has_upper": partial(_has, str.isupper),
    "has_hyphen": _has_hyphen,
    "has_punctuation": partial(_has, _is_punctuation),
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
    return partial(_prefix if piece[1] == "prefix" else _suffix, int(piece[2]))
