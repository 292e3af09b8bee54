"""Templates: which features a token has, said in a small language.

A template is one or more cells, joined by +. A cell is a column or an attribute, and which token it is taken from:

    word[0]                 the word itself
    word[-1]+word[0]        the word before and the word, together
    suffix3[0]              the last three letters of the word
    pos[-2]                 the column "pos" two tokens before
    shape(lemma)[1]         an attribute of another column than the first, at the next token
    tag[-1]+word[0]         the tag before and the word, together

Text after # is a comment. Files of CRF++ are read as they are: `U05:%x[-1,0]/%x[0,0]` is a template, B says that pairs
of neighbouring tags have weights, and `B01:%x[0,0]` is a template that goes with the tag before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from novikoff.errors import DataError
from novikoff.structured.attributes import NAMES, Attribute, attribute_named

__all__ = ["SETS", "Atom", "Template", "TemplateSource", "Templates", "cells_of", "parse", "source_of"]

_CELL = re.compile(r"\s*([^\W\d]\w*)\s*(?:\(\s*([^\W\d]\w*)\s*\))?\s*\[\s*([+-]?\d+)\s*\]\s*\Z")
_TAG_BEFORE = re.compile(r"\s*tag\s*\[\s*-\s*1\s*\]\s*\Z")
_MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")
_FARTHEST = 1000  # tokens: anything beyond is a slip

_AROUND = "word[-2]; word[-1]; word[0]; word[1]; word[2]; word[-1]+word[0]; word[0]+word[1]"
_AFFIXES = "suffix1[0]; suffix2[0]; suffix3[0]; suffix4[0]; prefix1[0]; prefix2[0]; prefix3[0]; prefix4[0]"
_POS_AROUND = (
    "pos[-2]; pos[-1]; pos[0]; pos[1]; pos[2]; pos[-2]+pos[-1]; pos[-1]+pos[0]; pos[0]+pos[1]; pos[1]+pos[2]; "
    "pos[-2]+pos[-1]+pos[0]; pos[-1]+pos[0]+pos[1]; pos[0]+pos[1]+pos[2]"
)

SETS: dict[str, tuple[str, ...]] = {
    # Chosen on the development set of the English Web Treebank, never on its test set.
    "pos": tuple(
        (
            "word[0]; lower[0]; lower[-2]; lower[-1]; lower[1]; lower[2]; lower[-1]+lower[0]; lower[0]+lower[1]; "
            f"{_AFFIXES}; suffix3[-1]; suffix3[1]; suffix3[-1]+suffix3[0]; suffix3[0]+suffix3[1]; "
            "shape[0]; shape[-1]; shape[1]; shape[-1]+shape[0]; shape[0]+shape[1]; shape[0]+suffix2[0]"
        ).split("; ")
    ),
    "chunk": tuple(
        (
            f"{_AROUND}; {_POS_AROUND}; lower[0]; suffix3[0]; suffix2[0]; word[0]+pos[0]; word[-1]+pos[0]; "
            "word[1]+pos[0]; word[0]+pos[-1]; word[0]+pos[1]"
        ).split("; ")
    ),
    "ner": tuple(
        (
            f"{_AROUND}; lower[0]; lower[-1]; lower[1]; shape[-2]; shape[-1]; shape[0]; shape[1]; shape[2]; "
            "shape[-1]+shape[0]; shape[0]+shape[1]; shape[-1]+shape[0]+shape[1]; prefix1[0]; prefix2[0]; prefix3[0]; "
            "prefix4[0]; suffix1[0]; suffix2[0]; suffix3[0]; suffix4[0]; is_capital[0]; is_upper[0]; is_digit[0]; "
            "has_digit[0]; has_hyphen[0]; lower[-1]+shape[0]; shape[0]+lower[1]"
        ).split("; ")
    ),
}


@dataclass(frozen=True)
class Atom:
    """One cell: an attribute (None: the text itself) of a column, so many tokens away."""

    attribute: str | None
    column: int
    offset: int


@dataclass(frozen=True)
class Template:
    """Cells taken together. `stem` is what tells its features from those of others; `text` is what people read. One
    that `is_link` goes with the tag before as well."""

    text: str
    stem: str
    atoms: tuple[Atom, ...]
    is_link: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether it looks at one word and no other."""
        return len({(atom.column, atom.offset) for atom in self.atoms}) == 1


@dataclass(frozen=True)
class Templates:
    """All templates of a tagger, those that are links last, and whether pairs of neighbouring tags have weights."""

    every: tuple[Template, ...]
    pairs: bool = True


@dataclass(frozen=True)
class TemplateSource:
    """Lines with templates, and the name to complain about them by."""

    name: str
    lines: tuple[str, ...]


def source_of(templates: str | os.PathLike[str] | Iterable[str] | TemplateSource) -> TemplateSource:
    """A built-in set by its name, lines of text, a list, or a file."""
    if isinstance(templates, TemplateSource):
        return templates
    if isinstance(templates, str) and templates in SETS:
        return TemplateSource(f'templates="{templates}"', SETS[templates])
    if isinstance(templates, str) and ("[" in templates or "\n" in templates):
        return TemplateSource("templates", tuple(templates.splitlines()))
    if not isinstance(templates, (str, os.PathLike)):
        lines = tuple(templates)
        if not all(isinstance(line, str) for line in lines):
            raise DataError(f"templates must be text, found {lines!r}.")
        return TemplateSource("templates", lines)
    try:
        return TemplateSource(os.fspath(templates), tuple(Path(templates).read_text("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"templates is {os.fspath(templates)!r}: neither one of {', '.join(map(repr, SETS))}, nor a "
            f"template such as 'word[0]', nor a file that can be read ({error})."
        ) from error


def parse(source: TemplateSource, columns: Sequence[str], own: Mapping[str, Attribute] | None = None) -> Templates:
    """Make sense of templates for sentences that have these columns.

    >>> from novikoff.structured.templates import parse, source_of
    >>> [atom.offset for atom in parse(source_of("word[-1]+word[0]"), ["word"]).every[0].atoms]
    [-1, 0]
    >>> parse(source_of(["word[0]", "wrod[1]"]), ["word", "pos"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    novikoff.errors.DataError: templates:2: there is no 'wrod' in 'wrod[1]'. Columns: word, pos. Attributes: lower, ...
    """
    stripped = [(number, line.split("#")[0].strip()) for number, line in enumerate(source.lines, 1)]
    given = [(f"{source.name}:{number}", line) for number, line in stripped if line]
    is_crfpp = any("%x[" in line for _, line in given)
    read = _Crfpp(columns) if is_crfpp else _Own(columns, own or {})
    every = [template for place, line in given if (template := read.line(place, line)) is not None]
    every.sort(key=lambda template: template.is_link)
    if not every or every[0].is_link:
        raise DataError(f"{source.name}: there is no template in it. Write one such as word[0].")
    return Templates(tuple(every), read.pairs if is_crfpp else True)


class _Own:
    """Our own language."""

    pairs = True

    def __init__(self, columns: Sequence[str], own: Mapping[str, Attribute]) -> None:
        self.columns, self.own = list(columns), own
        self.seen: dict[str, str] = {}

    def line(self, place: str, line: str) -> Template | None:
        text = "".join(line.split())
        if text in self.seen:
            raise DataError(f"{place}: {line!r} is there twice, first in {self.seen[text]}. Leave one out.")
        self.seen[text] = place
        cells = cells_of(line)
        others = cells if "tag" in self.columns else [cell for cell in cells if not _TAG_BEFORE.match(cell)]
        atoms = tuple(self._atom(place, line, cell) for cell in others)
        if not atoms:  # tag[-1] alone: pairs of tags, which have weights anyway
            return None
        return Template("+".join(map("".join, map(str.split, others))), text, atoms, len(others) < len(cells))

    def _atom(self, place: str, line: str, cell: str) -> Atom:
        found = _CELL.match(cell)
        if found is None:
            raise DataError(
                f"{place}: {cell.strip()!r} in {line!r} is not of the form name[offset], such as word[-1]. "
                "Several of them are joined by +."
            )
        name, column, offset = found[1], found[2], _offset(place, line, found[3])
        if column is None and name in self.columns:
            return Atom(None, self.columns.index(name), offset)
        for wanted, known in ((name, self._is_attribute(name)), (column, column is None or column in self.columns)):
            if not known:
                raise DataError(
                    f"{place}: there is no {wanted!r} in {line!r}. Columns: {', '.join(self.columns)}. "
                    f"Attributes: {', '.join([*self.own, *NAMES])}. The tag before: tag[-1]."
                )
        return Atom(name, 0 if column is None else self.columns.index(column), offset)

    def _is_attribute(self, name: str) -> bool:
        return name in self.own or attribute_named(name) is not None


def cells_of(line: str) -> list[str]:
    """The cells between plus signs; one within brackets is a sign of an offset."""
    return re.split(r"\+(?![^\[]*\])", line)


class _Crfpp:
    """Template files of CRF++."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns, self.pairs = list(columns), False

    def line(self, place: str, line: str) -> Template | None:
        if line[0] not in "UB":
            raise DataError(f"{place}: {line!r} begins neither with U nor with B, as templates of CRF++ do.")
        atoms = tuple(self._atom(place, line, found) for found in _MACRO.finditer(line))
        if "%" in _MACRO.sub("", line):
            raise DataError(f"{place}: {line!r} has a % that is not of the form %x[row,column].")
        if line[0] == "B" and not atoms:
            self.pairs = True
            return None
        return Template(line, _MACRO.sub("%x", line), atoms, line[0] == "B")

    def _atom(self, place: str, line: str, found: re.Match[str]) -> Atom:
        column = int(found[2])
        if column >= len(self.columns):
            raise DataError(
                f"{place}: {line!r} asks for column {column}; there are {len(self.columns)}, counted from "
                f"0: {', '.join(self.columns)}."
            )
        return Atom(None, column, _offset(place, line, found[1]))


def _offset(place: str, line: str, digits: str) -> int:
    offset = int(digits)
    if abs(offset) > _FARTHEST:
        raise DataError(f"{place}: {line!r} looks {abs(offset):,} tokens away; {_FARTHEST:,} is the most.")
    return offset
