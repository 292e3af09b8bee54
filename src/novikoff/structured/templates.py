"""Templates: a small language for the features of a token.

A template is one or more cells, joined by +. A cell is a column or an attribute, and the offset of its token:

    word[0]                 the word itself
    word[-1]+word[0]        the word before and the word, together
    suffix3[0]              the last three letters of the word
    pos[-2]                 the column "pos" two tokens before
    shape(lemma)[1]         an attribute of another column than the first, at the next token
    tag[-1]+word[0]         the previous tag and the word, together
    ?pos[0]                 the column "pos" if there is one; otherwise this line is left out

Templates with tag[-1] are transition templates: their features depend on the previous tag as well. Text after # is a
comment. Files of CRF++ are read as they are: `U05:%x[-1,0]/%x[0,0]` is a template, B means that pairs of neighbouring
tags have weights, and `B01:%x[0,0]` is a transition template.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from novikoff.errors import DataError
from novikoff.structured.attributes import NAMES, Attribute, find_attribute

__all__ = ["SETS", "Atom", "Template", "TemplateSource", "Templates", "parse_templates", "read_source", "split_cells"]

_CELL = re.compile(r"\s*([^\W\d]\w*)\s*(?:\(\s*([^\W\d]\w*)\s*\))?\s*\[\s*([+-]?\d+)\s*\]\s*\Z")
_TAG_BEFORE = re.compile(r"\s*tag\s*\[\s*-\s*1\s*\]\s*\Z")
_MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")
_MAX_OFFSET = 1000  # tokens: more is treated as a typing error

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
            "has_digit[0]; has_hyphen[0]; lower[-1]+shape[0]; shape[0]+lower[1]; ?pos[-2]; ?pos[-1]; ?pos[0]; ?pos[1]; "
            "?pos[2]; ?pos[-1]+pos[0]; ?pos[0]+pos[1]; ?word[0]+pos[0]"
        ).split("; ")
    ),
}


@dataclass(frozen=True)
class Atom:
    """One cell of a template: an attribute (None: the text itself) of a column, `offset` tokens away."""

    attribute: str | None
    column: int
    offset: int


@dataclass(frozen=True)
class Template:
    """Cells whose values together are one feature.

    `stem` distinguishes its features from those of other templates; `text` is for messages and names. The features of a
    transition template depend on the previous tag as well.
    """

    text: str
    stem: str
    atoms: tuple[Atom, ...]
    is_transition: bool = False

    @property
    def has_one_word(self) -> bool:
        """Whether all its cells are of the same word."""
        return len({(atom.column, atom.offset) for atom in self.atoms}) == 1


@dataclass(frozen=True)
class Templates:
    """All templates of a tagger, transition templates last, and whether pairs of neighbouring tags have weights."""

    every: tuple[Template, ...]
    pairs: bool = True


@dataclass(frozen=True)
class TemplateSource:
    """Lines with templates, and their name in error messages."""

    name: str
    lines: tuple[str, ...]


def read_source(templates: str | os.PathLike[str] | Iterable[str] | TemplateSource) -> TemplateSource:
    """Return the lines of templates that are given as the name of a built-in set, a string, a list, or a file."""
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


def parse_templates(
    source: TemplateSource, columns: Sequence[str], own: Mapping[str, Attribute] | None = None
) -> Templates:
    """Parse templates for sentences that have these columns; `own` are the attributes of the user.

    >>> from novikoff.structured.templates import parse_templates, read_source
    >>> [atom.offset for atom in parse_templates(read_source("word[-1]+word[0]"), ["word"]).every[0].atoms]
    [-1, 0]
    >>> parse_templates(read_source(["word[0]", "wrod[1]"]), ["word", "pos"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    novikoff.errors.DataError: templates:2: there is no 'wrod' in 'wrod[1]'. Columns: word, pos. Attributes: lower, ...
    """
    stripped = [(number, line.split("#")[0].strip()) for number, line in enumerate(source.lines, 1)]
    given = [(f"{source.name}:{number}", line) for number, line in stripped if line]
    is_crfpp = any("%x[" in line for _, line in given)
    parser = _CrfppParser(columns) if is_crfpp else _TemplateParser(columns, own or {})
    every = [template for where, line in given if (template := parser.parse_line(where, line)) is not None]
    every.sort(key=lambda template: template.is_transition)
    if not every or every[0].is_transition:
        raise DataError(f"{source.name}: there is no template in it. Write one such as word[0].")
    return Templates(tuple(every), parser.pairs)


class _TemplateParser:
    """Parses our own language."""

    pairs = True

    def __init__(self, columns: Sequence[str], own: Mapping[str, Attribute]) -> None:
        self.columns, self.own = list(columns), own
        self.seen: dict[str, str] = {}

    def parse_line(self, where: str, line: str) -> Template | None:
        if line.startswith("?"):
            line = line[1:].strip()
            if not all(self._is_known(cell) for cell in split_cells(line)):
                return None
        text = "".join(line.split())
        if text in self.seen:
            raise DataError(f"{where}: {line!r} is there twice, first in {self.seen[text]}. Remove one.")
        self.seen[text] = where
        cells = split_cells(line)
        others = cells if "tag" in self.columns else [cell for cell in cells if not _TAG_BEFORE.match(cell)]
        atoms = tuple(self._parse_cell(where, line, cell) for cell in others)
        if not atoms:  # tag[-1] only: pairs of tags have weights anyway
            return None
        return Template("+".join(map("".join, map(str.split, others))), text, atoms, len(others) < len(cells))

    def _parse_cell(self, where: str, line: str, cell: str) -> Atom:
        match = _CELL.match(cell)
        if match is None:
            raise DataError(
                f"{where}: {cell.strip()!r} in {line!r} is not of the form name[offset], such as word[-1]. "
                "Several of them are joined by +."
            )
        name, column, offset = match[1], match[2], _parse_offset(where, line, match[3])
        if column is None and name in self.columns:
            return Atom(None, self.columns.index(name), offset)
        for wanted, known in ((name, self._is_attribute(name)), (column, column is None or column in self.columns)):
            if not known:
                raise DataError(
                    f"{where}: there is no {wanted!r} in {line!r}. Columns: {', '.join(self.columns)}. "
                    f"Attributes: {', '.join([*self.own, *NAMES])}. The previous tag: tag[-1]."
                )
        return Atom(name, 0 if column is None else self.columns.index(column), offset)

    def _is_known(self, cell: str) -> bool:
        """Return whether the column and the attribute of a cell exist; of a cell that is not valid, `_parse_cell` says
        what is wrong."""
        found = _CELL.match(cell)
        if found is None or _TAG_BEFORE.match(cell):
            return True
        name, column = found[1], found[2]
        return (column is None and name in self.columns) or (
            self._is_attribute(name) and (column is None or column in self.columns)
        )

    def _is_attribute(self, name: str) -> bool:
        return name in self.own or find_attribute(name) is not None


def split_cells(line: str) -> list[str]:
    """Split a template at its plus signs, except those in brackets, which belong to offsets."""
    return re.split(r"\+(?![^\[]*\])", line)


class _CrfppParser:
    """Parses template files of CRF++."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns, self.pairs = list(columns), False

    def parse_line(self, where: str, line: str) -> Template | None:
        if line[0] not in "UB":
            raise DataError(f"{where}: {line!r} begins neither with U nor with B, as templates of CRF++ do.")
        atoms = tuple(self._parse_cell(where, line, match) for match in _MACRO.finditer(line))
        if "%" in _MACRO.sub("", line):
            raise DataError(f"{where}: {line!r} has a % that is not of the form %x[row,column].")
        if line[0] == "B" and not atoms:
            self.pairs = True
            return None
        return Template(line, _MACRO.sub("%x", line), atoms, line[0] == "B")

    def _parse_cell(self, where: str, line: str, match: re.Match[str]) -> Atom:
        column = int(match[2])
        if column >= len(self.columns):
            raise DataError(
                f"{where}: {line!r} uses column {column}; there are {len(self.columns)}, counted from "
                f"0: {', '.join(self.columns)}."
            )
        return Atom(None, column, _parse_offset(where, line, match[1]))


def _parse_offset(where: str, line: str, digits: str) -> int:
    offset = int(digits)
    if abs(offset) > _MAX_OFFSET:
        raise DataError(
            f"{where}: {line!r} has an offset of {abs(offset):,} tokens; at most {_MAX_OFFSET:,} are allowed."
        )
    return offset
