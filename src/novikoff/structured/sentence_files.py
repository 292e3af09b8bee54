"""Sentences in files: CoNLL columns, CoNLL-U, and plain lines of words.

    columns   a token per line, its cells parted by tabs or spaces; an empty line after each sentence
    conllu    the ten columns of Universal Dependencies, parted by tabs, with comments; multiword tokens (1-2) and empty
              nodes (1.1) are no tokens of the sentence
    text      a sentence per line, its words parted by spaces

Files may be packed as `streams.sources` knows it, and are read as they come: memory does not grow with them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from sys import intern

from novikoff.data.formats.lines import require_text, whole_ends, with_line_feeds
from novikoff.data.formats.sources import Source, open_source
from novikoff.errors import DataError

__all__ = ["CONLLU", "FORMATS", "FileColumns", "Read", "SentenceFile", "cells_of"]

FORMATS = ("columns", "conllu", "text")
CONLLU = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_ID = re.compile(r"[1-9][0-9]*\Z")
_NO_TOKEN = re.compile(r"(?:[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[0-9]+)\Z")
_SAMPLE = 1 << 16  # bytes to tell a format by
_BLANKS = " \t"
_DOCUMENT = "-DOCSTART-"  # CoNLL-2003's line between two documents


@dataclass(frozen=True)
class FileColumns:
    """What the files were like that a tagger has learned from: their format, the names of all columns, and that of the
    tags."""

    format: str
    names: tuple[str, ...]
    tag: str

    @property
    def without_tag(self) -> tuple[str, ...]:
        """The names of the columns in a file that is yet to be tagged."""
        return tuple(name for name in self.names if name != self.tag)


@dataclass
class Read:
    """A sentence of a file: its rows of cells, and all of its lines, each with the number of its token or None."""

    line: int
    rows: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[tuple[str, int | None]] = field(default_factory=list)


class SentenceFile:
    """A file of sentences, read once from front to back; iterate over it.

    Parameters
    ----------
    path : str or path
        "-" is the standard input.
    format : {"columns", "conllu", "text"}, optional
        Told by the name and the first line if not given; never taken for text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from novikoff.structured.sentence_files import SentenceFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "chunks.txt")
    ...     _ = path.write_text("He PRP B-NP\\nran VBD B-VP\\n\\nStop VB B-VP\\n")
    ...     with SentenceFile(path) as file:
    ...         [sentence.rows for sentence in file]
    [[('He', 'PRP', 'B-NP'), ('ran', 'VBD', 'B-VP')], [('Stop', 'VB', 'B-VP')]]
    """

    def __init__(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        if format is not None and format not in FORMATS:
            raise DataError(f"format must be one of {', '.join(map(repr, FORMATS))}; found {format!r}.")
        self._source = open_source(path)
        self.name, self.is_steady = self._source.name, self._source.is_steady
        try:
            self.format = format or _told(self._source)
        except BaseException:
            self._source.close()
            raise
        self._width: tuple[int, int] | None = None  # of the first row: its number of cells, and its line

    def __enter__(self) -> SentenceFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._source.close()

    def first_lines(self) -> list[str]:
        """The lines at the front, those that are there without waiting for more than one; they will be read again."""
        text = with_line_feeds(self._source.peek_line()[:_SAMPLE])
        whole = text.rpartition(b"\n")[0] or text  # the last one may be cut
        return whole.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").split("\n")

    def __iter__(self) -> Iterator[Read]:
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[list[Read]]:
        """The same, some at a time: those that have ended in what could be read at once, 2 MB of a file, or as much as
        somebody has written into a pipe. Who writes a sentence and waits gets it without delay."""
        sentence = Read(1)
        for lines in _lines(self._source):
            found: list[Read] = []
            for number, line in lines:
                if self.format == "text":
                    found.append(Read(number, [(intern(word),) for word in _parted(line)]))
                elif line.strip(_BLANKS):
                    sentence.line = sentence.line if sentence.lines else number
                    self._add(sentence, number, line)
                else:
                    found += self._whole(sentence)
                    sentence = Read(number + 1)
            if found:
                yield found
        if last := self._whole(sentence):
            yield last

    def _whole(self, sentence: Read) -> list[Read]:
        """A sentence that has ended, if it is one."""
        is_sentence = sentence.lines and not (sentence.rows and sentence.rows[0][0] == _DOCUMENT)
        return [sentence] if is_sentence else []

    def _add(self, sentence: Read, number: int, line: str) -> None:
        if self.format == "conllu":
            row = self._conllu_row(number, line)
        else:
            row = _row(cells_of(line))
            self._require_width(number, row)
        sentence.lines.append((line, None if row is None else len(sentence.rows)))
        if row is not None:
            sentence.rows.append(row)

    def _conllu_row(self, number: int, line: str) -> tuple[str, ...] | None:
        """The cells of a token, None for lines that are no token."""
        if line[0] == "#":
            return None
        row = _row(line.split("\t"))
        if len(row) != len(CONLLU):
            raise DataError(
                f"{self.name}:{number}: {len(row)} cells parted by tabs; CoNLL-U has {len(CONLLU)}. For "
                "other columns say --format columns."
            )
        if _ID.match(row[0]):
            return row
        if _NO_TOKEN.match(row[0]):
            return None
        raise DataError(
            f"{self.name}:{number}: {row[0]!r} is not the number of a token (1), of a multiword token "
            "(1-2) or of an empty node (1.1)."
        )

    def _require_width(self, number: int, row: tuple[str, ...]) -> None:
        if self._width is None:
            self._width = len(row), number
        if len(row) != self._width[0]:
            raise DataError(
                f"{self.name}:{number}: {len(row)} {'column' if len(row) == 1 else 'columns'}, but "
                f"{self._width[0]} in line {self._width[1]}. Each token needs all of them, and sentences "
                "an empty line between them."
            )


def cells_of(line: str) -> list[str]:
    """The cells of a line of columns."""
    return line.split("\t") if "\t" in line else _parted(line)


def _parted(line: str) -> list[str]:
    """What blanks and tabs part; other characters that Python takes for blanks are letters of a word."""
    return [word for word in line.replace("\t", " ").split(" ") if word]


def _row(cells: list[str]) -> tuple[str, ...]:
    """Cells of the same text as one and the same string: a third of the memory, and found faster in every dict."""
    return tuple(map(intern, cells))


def _told(source: Source) -> str:
    """The format, from the name or from the first line that is no comment."""
    name = source.name.lower()
    if ".conllu" in name:
        return "conllu"
    for line in with_line_feeds(source.peek_line().lstrip()).split(b"\n"):
        cells = line.split(b"\t")
        if len(cells) == len(CONLLU) and cells[0][:1].isdigit():
            return "conllu"
        if line.startswith((b"# sent_id", b"# text", b"# newdoc", b"# newpar", b"# global.columns")):
            return "conllu"
    return "columns"


def _lines(source: Source) -> Iterator[Iterable[tuple[int, str]]]:
    """The lines as text, numbered from 1, without their ends: as many at a time as could be read at once."""
    rest, number = b"", 0
    chunks = whole_ends(source)
    while True:
        chunk = with_line_feeds(next(chunks, b""))
        whole, mark, rest = (rest + chunk).rpartition(b"\n") if chunk else (rest, b"\n" if rest else b"", b"")
        if mark:
            lines = _decoded(source.name, number, whole)
            yield enumerate(lines, number + 1)
            number += len(lines)
        if not chunk:
            return


def _decoded(name: str, before: int, text: bytes) -> list[str]:
    if not before and text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    try:
        lines = text.decode().split("\n")
        is_sound = b"\0" not in text
    except UnicodeDecodeError:
        is_sound = False
    if not is_sound:  # line by line, for an error that says where
        lines = [require_text(line, f"{name}:{before + k}") for k, line in enumerate(text.split(b"\n"), 1)]
    return [line.removesuffix("\r") for line in lines]
