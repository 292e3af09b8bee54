"""Attributes of words for templates: affixes, shape, whether it is a number.

An attribute is a function from the text of a cell to text. None, False or "" means that the word does not have it; then
the features that use it are left out. Attributes are computed once for each distinct word.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

__all__ = ["NAMES", "Attribute", "find_attribute"]

Attribute = Callable[[str], "str | bool | None"]


def shape(word: str) -> str:
    """Replace capitals, small letters and digits by X, x and d, and shorten runs of the same character to two.

    >>> shape("McDonald's"), shape("F-16"), shape("1,000,000")
    ("XxXxx'x", 'X-dd', 'd,dd,dd')
    """
    return re.sub(r"(.)\1{2,}", r"\1\1", pattern(word))


def pattern(word: str) -> str:
    """Replace capitals, small letters and digits by X, x and d, and leave other characters as they are.

    >>> pattern("McDonald's")
    "XxXxxxxx'x"
    """
    return word.translate(_CHARACTER_CLASSES)


class _CharacterClasses(dict[int, str]):
    """X, x, d or the character itself, by its code point; filled on first use of each."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        letter = "X" if c.isupper() else "x"
        self[code] = "d" if c.isdigit() else letter if c.isalpha() else c
        return self[code]


_CHARACTER_CLASSES = _CharacterClasses()


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

_AFFIX = re.compile(r"(prefix|suffix)([1-9][0-9]?)\Z")


def find_attribute(name: str) -> Attribute | None:
    """Return the built-in attribute of this name, None if there is none.

    >>> find_attribute("suffix3")("running"), find_attribute("suffix3")("of"), find_attribute("is_digit")("x")
    ('ing', 'of', False)
    """
    affix = _AFFIX.match(name)
    if affix is None:
        return _PLAIN.get(name)
    return partial(_prefix if affix[1] == "prefix" else _suffix, int(affix[2]))
