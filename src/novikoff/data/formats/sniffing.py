"""Sniffing: what text is made of, such as numbers, missing cells, headers and delimiters.

All readers share these guesses, and so agree.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence

__all__ = [
    "DELIMITERS",
    "MISSING",
    "MOSTLY",
    "NUMBER",
    "PLACEHOLDERS",
    "begins_with_header",
    "is_number",
    "is_placeholder",
    "is_prose",
    "looks_like_labelled_text",
    "looks_like_svmlight",
    "looks_like_vw",
    "sniff_delimiter",
    "split_lines",
]

MISSING = frozenset(["", "?", "na", "n/a", "nan", "null"])
# In a column of numbers these are missing too; elsewhere they are words.
_PLACEHOLDERS = """
unknown;unk;none;nil;missing;undefined;undef;blank;empty;tbd;not available;not applicable;n.a.;n.a;n/d;n.d.
-;--;---;–;—;.;..;...;*;(null);<na>;<null>;\\n;-nan;1.#ind;-1.#ind;1.#qnan;#n/a;#na;#value!;#div/0!;#ref!
"""
PLACEHOLDERS = frozenset(_PLACEHOLDERS.strip().replace("\n", ";").split(";"))
MOSTLY = 0.9  # of a column's cells are numbers: then the others are mistakes, not categories
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
DELIMITERS = "\t;|, "  # on a tie the first: a comma may be a decimal one
_LABEL = rf"{NUMBER.pattern}\s+(1(\.0*)?\s+)?('\S*\s*|[^\s|]+)?"
_VW_LINE = re.compile(rf"\s*({_LABEL})?\|", re.IGNORECASE | re.ASCII)
_VW_ENTRY = re.compile(r"\|[^\s|\d]|\|[^|]*[^\s|]:[-+.\d]")  # a namespace, or a value
_SAMPLE = 1000  # lines that decide whether there is a header
_PROSE_WORDS = 4  # words in a cell, on average, from which on a column is text


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends, which are those of `formats.lines`; `str.splitlines` knows others
    too.

    >>> from novikoff.data.formats.sniffing import split_lines
    >>> split_lines("a\\x85b\\r\\nc\\rd")
    ['a\\x85b', 'c', 'd']
    """
    return re.split("\r\n|\r|\n", text)


def sniff_delimiter(sample: list[str], quote: str) -> str:
    """Return the character that splits most lines into the same number of cells, more than one."""

    def quality(delimiter: str) -> tuple[int, int]:
        lines = (" ".join(line.split()) for line in sample) if delimiter == " " else sample
        widths = Counter(map(len, csv.reader(lines, delimiter=delimiter, quotechar=quote)))
        width, count = widths.most_common(1)[0]
        return (count if width > 1 else 0, -DELIMITERS.index(delimiter))

    return max(DELIMITERS, key=quality)


def begins_with_header(rows: list[list[str]], is_value: Callable[[str], bool] | None = None) -> bool:
    """Return whether the first row names the columns: words above numbers, or words that do not recur below.

    `is_value` tells a number, by default a plain one; placeholders for a missing number are passed over.
    """
    is_value = is_value or is_number
    first, below = rows[0], rows[1 : _SAMPLE + 1]
    for cell, column in zip(first, zip(*below, strict=True), strict=False):
        if is_value(cell) or cell.lower() in MISSING:
            continue
        there = [other for other in column if other.lower() not in MISSING and not is_placeholder(other)]
        if there and all(map(is_value, there)):
            return True
    if any(is_value(cell) or cell.lower() in MISSING for cell in first):
        return False
    return not any(cell in column for cell, column in zip(first, zip(*rows[1:], strict=True), strict=False))


def is_placeholder(cell: str) -> bool:
    """Return whether a cell stands for a missing number, if its column holds numbers, though it is not empty."""
    return cell.lower() in PLACEHOLDERS


def is_number(cell: str) -> bool:
    """Return whether a cell is written as people write numbers; Python takes others too, such as 1_000."""
    return NUMBER.fullmatch(cell) is not None or cell.lower().lstrip("+-") in ("inf", "infinity")


def is_prose(cells: Sequence[str]) -> bool:
    """Return whether the cells of a column that are not missing are texts rather than names of categories: four words
    or more on average, and most of them different.

    >>> from novikoff.data.formats.sniffing import is_prose
    >>> is_prose(["call me when you can", "see you at the lake"]), is_prose(["New York City", "Rio de Janeiro"])
    (True, False)
    """
    words = sum(len(cell.split()) for cell in cells)
    return bool(cells) and words >= _PROSE_WORDS * len(cells) and len(set(cells)) > len(cells) / 2


def looks_like_svmlight(text: str) -> bool:
    """Return whether the first lines are label index:value ..."""
    lines = [line.partition("#")[0].split() for line in split_lines(text[:100_000])[:10]]
    lines = [tokens for tokens in lines if tokens]
    tails = [token for tokens in lines for token in tokens[1:]]
    return (
        bool(tails)
        and all(":" not in tokens[0] for tokens in lines)
        and all(re.fullmatch(r"(qid|\d+):[^\s:]+", token) for token in tails[: -1 if len(text) > 100_000 else None])
    )


def looks_like_vw(text: str) -> bool:
    """Return whether the first lines are label |namespace name:value ..., and no table whose cells are separated by
    bars."""
    lines = [line for line in split_lines(text[:100_000])[:10] if line.strip()]
    if not lines or not all(_VW_LINE.match(line) for line in lines):
        return False
    return any(_VW_ENTRY.search(line) for line in lines) or all(line.count("|") == 1 for line in lines)


def looks_like_labelled_text(text: str) -> bool:
    """Return whether the first lines are label<TAB>text, without a header."""
    rows = [line.split("\t") for line in split_lines(text[:100_000])[:100] if line.strip(" \t")]
    if not rows or any(len(row) != 2 or not row[0].strip(" ") for row in rows):
        return False
    return is_prose([text for _, text in rows]) and not begins_with_header(rows)
