"""Advice: errors of the library, with the options of a command that help.

The library knows no options: its messages say what is wrong, and its errors carry codes. Here codes become options, of
those that the command has.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from novikoff.errors import NovikoffError

__all__ = ["advise"]

# By the code of a RowError: parameters of commands, options, and what each does. {} stands for the column.
_SKIP = ("bad_rows", "--bad-rows skip", "leaves such rows out")
_WORD = ("types", "--types {}=word", "reads the column as words")
_DROP = ("drop", "--drop {}", "leaves the column out")
_TARGET = ("target", "--target COLUMN", "names another column of labels")
_FOR_ROWS = {
    "encoding": [
        ("encoding", "--encoding NAME", "names the encoding, such as cp1252 (Windows), latin-1 or utf-16"),
        _SKIP,
    ],
    "syntax": [_SKIP],
    "quotes": [_SKIP],
    "cell-size": [_SKIP],
    "width": [_SKIP, ("delimiter", "--sep CHAR", "says what separates cells")],
    "not-a-number": [_SKIP, _WORD],
    "other-decimal": [("decimal", "--decimal , or .", "says what fractions begin with"), _SKIP, _WORD],
    "other-date": [
        ("dates", "--dates day-first or month-first", "says what 1/2/2024 means"),
        _SKIP,
        _WORD,
        _DROP,
    ],
    "too-large": [_SKIP, _DROP],
    "missing-label": [_SKIP, _TARGET],
    "bad-label": [_SKIP, ("format", "--format NAME", "names another format")],
    "duplicate": [_SKIP],
    "kind": [_SKIP, ("types", "--types {}=KIND", "says what it holds"), _DROP],
    "nesting": [_SKIP],
    "other": [_SKIP],
}
# By the remedy of a FileError.
_FOR_FILES = {
    "name-target": [("target", "--target NAME", "names it")],
    "no-header": [("header", "--no-header", "says that the first line is data")],
    "header": [("header", "--header", "says that the first line names the columns")],
    "name-format": [("format", "--format csv", "reads it as a table")],
    "name-tsv": [("format", "--format tsv", "reads it as a table")],
    "drop-column": [_DROP],
    "name-delimiter": [("delimiter", "--sep CHAR", "says what separates cells")],
}


def advise(error: NovikoffError, command: click.Command | None) -> str:
    """The message of an error, and the options of the command that help, if there are any.

    >>> import click
    >>> from novikoff.cli.advice import advise
    >>> from novikoff.data.formats.rejects import RejectCode, RowError
    >>> command = click.Command("learn", params=[click.Option(["--types"]), click.Option(["--bad-rows"])])
    >>> print(advise(RowError('t.csv:3:1: expected a number.', RejectCode.NOT_A_NUMBER, "my age"), command))
    t.csv:3:1: expected a number. --bad-rows skip leaves such rows out; --types 'my age=word' reads the column as words.
    """
    names = set() if command is None else {param.name for param in command.params}
    column = getattr(error, "column", "")
    found = []
    for parameter, option, effect in _suggestions(error):
        if parameter in names:
            flag, _, value = option.partition(" ")
            value = shlex.quote(value.format(column)) if column and "{}" in value else value.format("COLUMN")
            found.append(f"{flag} {value} {effect}".replace("  ", " "))
    return f"{error} {'; '.join(found)}." if found else str(error)


def _suggestions(error: NovikoffError) -> Iterator[tuple[str, str, str]]:
    yield from _FOR_ROWS.get(str(getattr(error, "code", "")), ())
    for remedy in getattr(error, "remedies", ()):
        yield from _FOR_FILES.get(str(remedy), ())
