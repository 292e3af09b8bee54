"""SentenceFile: sentences in CoNLL columns, CoNLL-U, and plain text.

    columns   a token per line, its cells separated by tabs or spaces; an empty line after each sentence
    conllu    the ten columns of Universal Dependencies, separated by tabs, with comments; multiword tokens (1-2) and
              empty nodes (1.1) are not tokens of the sentence
    text      a sentence per line, its words separated by spaces, or as `tokenize` splits it

Files may be compressed (see `data.formats.sources`), and are read in chunks: memory does not grow with the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from sys import intern

from novikoff.data.formats.lines import decode_line, read_whole_line_ends, replace_lone_returns
from novikoff.data.formats.sources import Source, open_source
from novikoff.errors import DataError
from novikoff.structured.tokenizing import tokenize as split_into_tokens

__all__ = ["CONLLU", "FORMATS", "FileColumns", "FileSentence", "SentenceFile", "split_line"]

FORMATS = ("columns", "conllu", "text")
CONLLU = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_ID = re.compile(r"[1-9][0-9]*\Z")
_NO_TOKEN = re.compile(r"(?:[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[0-9]+)\Z")
_SAMPLE = 1 << 16  # bytes that a format is sniffed from
_BLANKS = " \t"
_DOCUMENT = "-DOCSTART-"  # CoNLL-2003's line between two documents


@dataclass(frozen=True)
class FileColumns:
    """The columns of the files that a tagger has learned from: their format, all names, and the name of the column of
    tags."""

    format: str
    names: tuple[str, ...]
    tag: str

    @property
    def without_tag(self) -> tuple[str, ...]:
        """The names of the columns in a file without tags."""
        return tuple(name for name in self.names if name != self.tag)


@dataclass
class FileSentence:
    """A sentence of a file: the number of its first line, its rows of cells, and all of its lines, each with the
    position of its token or None."""

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
        Sniffed from the name and the first line if not given; never text.
    tokenize : bool, default=False
        Whether words of text are also split from punctuation, by `novikoff.structured.tokenize`.

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

    def __init__(self, path: str | os.PathLike[str], *, format: str | None = None, tokenize: bool = False) -> None:
        if format is not None and format not in FORMATS:
            raise DataError(f"format must be one of {', '.join(map(repr, FORMATS))}; found {format!r}.")
        self._split_text = split_into_tokens if tokenize else _split_blanks
        self._source = open_source(path)
        self.name, self.is_steady = self._source.name, self._source.is_steady
        try:
            self.format = format or _sniff_format(self._source)
        except BaseException:
            self._source.close()
            raise
        self._width: tuple[int, int] | None = None  # of the first row: the number of its cells, and its line

    def __enter__(self) -> SentenceFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._source.close()

    def first_lines(self) -> list[str]:
        """Return the first lines, as many as can be read without waiting for a second; iteration still yields them."""
        text = replace_lone_returns(self._source.peek_line()[:_SAMPLE])
        complete = text.rpartition(b"\n")[0] or text  # the last line may be incomplete
        return complete.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").split("\n")

    def __iter__(self) -> Iterator[FileSentence]:
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[list[FileSentence]]:
        """Yield lists of sentences: all that are complete after each read, which is 2 MB of a file, or whatever is in a
        pipe. So a program that writes one sentence into a pipe and waits for it is answered without delay."""
        sentence = FileSentence(1)
        for lines in _read_lines(self._source):
            block: list[FileSentence] = []
            for number, line in lines:
                if self.format == "text":
                    block.append(FileSentence(number, [(intern(word),) for word in self._split_text(line)]))
                elif line.strip(_BLANKS):
                    sentence.line = sentence.line if sentence.lines else number
                    self._add(sentence, number, line)
                else:
                    block += self._finish(sentence)
                    sentence = FileSentence(number + 1)
            if block:
                yield block
        if last := self._finish(sentence):
            yield last

    def _finish(self, sentence: FileSentence) -> list[FileSentence]:
        """Return a list of the sentence, or an empty one if it has no lines or is the mark of a document."""
        is_sentence = sentence.lines and not (sentence.rows and sentence.rows[0][0] == _DOCUMENT)
        return [sentence] if is_sentence else []

    def _add(self, sentence: FileSentence, number: int, line: str) -> None:
        if self.format == "conllu":
            row = self._conllu_row(number, line)
        else:
            row = _intern_cells(split_line(line))
            self._require_width(number, row)
        sentence.lines.append((line, None if row is None else len(sentence.rows)))
        if row is not None:
            sentence.rows.append(row)

    def _conllu_row(self, number: int, line: str) -> tuple[str, ...] | None:
        """Return the cells of a token, None for lines that are not tokens."""
        if line[0] == "#":
            return None
        row = _intern_cells(line.split("\t"))
        if len(row) != len(CONLLU):
            raise DataError(
                f"{self.name}:{number}: {len(row)} cells separated by tabs; CoNLL-U has {len(CONLLU)}. For "
                "other columns, choose the format columns."
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


def split_line(line: str) -> list[str]:
    """Return the cells of a line of columns."""
    return line.split("\t") if "\t" in line else _split_blanks(line)


def _split_blanks(line: str) -> list[str]:
    """Split a line at spaces and tabs only; str.split would also split at other Unicode white space."""
    return [word for word in line.replace("\t", " ").split(" ") if word]


def _intern_cells(cells: list[str]) -> tuple[str, ...]:
    """Return the cells with equal text as one string object: a third of the memory, and faster dict lookups."""
    return tuple(map(intern, cells))


def _sniff_format(source: Source) -> str:
    """Return the format, from the name or from the first line that is not a comment."""
    name = source.name.lower()
    if ".conllu" in name:
        return "conllu"
    for line in replace_lone_returns(source.peek_line().lstrip()).split(b"\n"):
        cells = line.split(b"\t")
        if len(cells) == len(CONLLU) and cells[0][:1].isdigit():
            return "conllu"
        if line.startswith((b"# sent_id", b"# text", b"# newdoc", b"# newpar", b"# global.columns")):
            return "conllu"
    return "columns"


def _read_lines(source: Source) -> Iterator[Iterable[tuple[int, str]]]:
    """Yield the numbered lines of each read, as text without line ends, counted from 1."""
    rest, number = b"", 0
    chunks = read_whole_line_ends(source)
    while True:
        chunk = replace_lone_returns(next(chunks, b""))
        complete, end, rest = (rest + chunk).rpartition(b"\n") if chunk else (rest, b"\n" if rest else b"", b"")
        if end:
            lines = _decode_lines(source.name, number, complete)
            yield enumerate(lines, number + 1)
            number += len(lines)
        if not chunk:
            return


def _decode_lines(name: str, before: int, text: bytes) -> list[str]:
    if not before and text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    try:
        lines = text.decode().split("\n")
        is_valid = b"\0" not in text
    except UnicodeDecodeError:
        is_valid = False
    if not is_valid:  # line by line, for an error with its location
        lines = [decode_line(line, f"{name}:{before + k}") for k, line in enumerate(text.split(b"\n"), 1)]
    return [line.removesuffix("\r") for line in lines]
