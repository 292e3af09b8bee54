"""Vowpal Wabbit's text: rows `label 'tag |space name:value ...`.

A kernel reads the lines that are as they should be. Any other it leaves to `row_of_line`, which reads a line the slow
way: numbers that take more than 128 bits to round, and lines that are wrong, for which it finds the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from novikoff._compiled.loops.decimals import LARGEST
from novikoff._compiled.loops.names import name_hashes
from novikoff._compiled.loops.rows import UNMEASURED
from novikoff._compiled.loops.vw import vw_rows
from novikoff.data.formats.block import NamedBlock, Reject
from novikoff.data.formats.hash_key import KEY
from novikoff.data.formats.lines import Piece, count, is_text, powers, require_text
from novikoff.data.formats.linewise import LineReader
from novikoff.data.formats.sniffing import NUMBER
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["VwReader", "row_of_line"]

_ROWS = 1 << 16  # in a block, at most
_WORD = re.compile(rb"[^ \t\r\n|]+")
_GROUP = re.compile(rb"\|([^ \t\r\n|:]*)(:[^ \t\r\n|]*)?([^|]*)")


class VwReader(LineReader[NamedBlock]):
    """Blocks of rows from Vowpal Wabbit's text, the next ones parsed in threads while the caller works on this one.

    A name belongs to its namespace, and a namespace may scale its values (`|user:0.5 ...`). A name without a value has
    1; one that is there twice has the sum. Labels are numbers. Tags are passed over. An importance weight must be 1: a
    perceptron counts every example once.

    Parameters
    ----------
    source : Source or path or "-"
    target : None or False
        False if labels do not matter and may be missing.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.

    Examples
    --------
    >>> from novikoff.data.formats.sources import Source
    >>> from novikoff.data.formats.vw import VwReader
    >>> chunks = iter([b"1 'first |user old:0.5 |ad:2 shoes price:3\\n-1 | shoes shoes\\n", b""])
    >>> [block] = VwReader(Source("ads.vw", lambda n: next(chunks)))
    >>> block.labels.tolist(), block.dicts()
    ([1.0, -1.0], [{'user^old': 0.5, 'ad^shoes': 2.0, 'ad^price': 6.0}, {'shoes': 2.0}])
    """

    def __init__(self, source: Source | str, *, target: str | bool | None = None, bad_rows: str = "stop") -> None:
        super().__init__(source, bad_rows)
        if target not in (None, True, False):
            raise DataError(f"{self.name}: the labels of Vowpal Wabbit's text come first: no target can be named.")
        self._needs_labels = target is not False

    def _room(self, piece: Piece, at: int) -> _Room:
        return _Room.beside(piece.text, at)

    def _checked(self, block: NamedBlock, piece: Piece) -> tuple[NamedBlock, DataError | None]:
        """The rows that have a label, as far as the first error, and that error."""
        assert block.labels is not None
        lacking = np.flatnonzero(np.isnan(block.labels))
        if not self._needs_labels or not len(lacking):
            return block, None
        texts = piece.text.split(b"\n")
        rejects = [self._unlabelled(int(line), bytes(texts[line - piece.line])) for line in block.lines[lacking]]
        if self.bad_rows == "stop":
            return block.only(np.arange(lacking[0]), block.rejects), DataError(rejects[0].reason)
        rejects = sorted([*block.rejects, *rejects], key=lambda reject: reject.line)
        return block.only(np.flatnonzero(~np.isnan(block.labels)), rejects), None

    def _unlabelled(self, line: int, text: bytes) -> Reject:
        return Reject(
            line,
            f"{self.name}:{line}:1: this row has no label before its first bar. Give it one, such as "
            "1 or -1, or pass over such rows.",
            text,
        )


@dataclass(eq=False)
class _Room:
    """The arrays of a block in the making, beside its text."""

    text: np.ndarray
    is_text: bool
    arrays: tuple[np.ndarray, ...]
    n_spaces: int = 0

    @classmethod
    def beside(cls, text: bytearray, at: int) -> _Room:
        """Enough for what a text holds, if it is not more rows than a block has."""
        n, bars = min(count(text, b"\n", at) + 1, _ROWS), count(text, b"|", at)
        most = bars + sum(count(text, blank, at) for blank in (b" ", b"\t", b"\r")) + 1  # before every name is one
        indptr = np.empty(n + 1, np.int32)
        indptr[0] = 0
        arrays = (
            np.empty(n, np.int64),
            np.empty(n),
            indptr,
            np.empty(n, bool),
            np.empty(n),
            np.empty((most, 2), np.int32),
            np.empty(most, np.uint64),
            np.empty(most),
            np.empty(most, np.int32),
            np.empty((bars, 2), np.int32),
        )
        return cls(np.frombuffer(text, np.uint8), is_text(text), arrays)

    def fill(self, text: np.ndarray, at: int, line: int, row: int) -> tuple[int, int, int, int]:
        row, at, line, self.n_spaces, why = vw_rows(
            text, at, line, row, self.is_text, *KEY, powers(), *self.arrays, self.n_spaces
        )
        return row, at, line, why

    def put(self, row: int, line: int, at: int, asked: bytes, place: str) -> bool:
        found = row_of_line(asked, place)
        lines, labels, indptr, distinct, squared_norms, names, hashes, values, space_of, spaces = self.arrays
        lines[row], labels[row], distinct[row], squared_norms[row] = line, found.label, False, UNMEASURED
        first = self.n_spaces
        self.n_spaces += len(found.spaces)
        spaces[first : self.n_spaces] = np.reshape(found.spaces, (-1, 2)) + at
        begin, end = indptr[row], indptr[row] + len(found.names)
        indptr[row + 1] = end
        names[begin:end] = np.reshape(found.names, (-1, 2)) + at
        values[begin:end] = found.values
        heads, own = np.empty(len(found.spaces), np.uint64), np.array(found.space_of, np.int32)
        space_of[begin:end] = own + first
        seeds, none = np.array([KEY.seed]), np.zeros(len(heads), np.int32)
        name_hashes(self.text, spaces[first : self.n_spaces], seeds, none, KEY.factor, heads)
        name_hashes(self.text, names[begin:end], heads, own, KEY.factor, hashes[begin:end])
        return True

    def block(self, name: str, n: int, rejects: list[Reject]) -> NamedBlock:
        lines, labels, indptr, distinct, squared_norms, names, hashes, values, space_of, spaces = self.arrays
        size = indptr[n]
        return NamedBlock(
            name,
            lines[:n],
            labels[:n],
            self.text,
            indptr[: n + 1],
            distinct[:n],
            squared_norms[:n],
            names[:size],
            hashes[:size],
            values[:size],
            space_of[:size],
            spaces[: self.n_spaces],
            rejects=rejects,
        )


class _Row(NamedTuple):
    """A row: spans are counted from the beginning of its line."""

    label: float
    names: list[tuple[int, int]]
    values: list[float]
    space_of: list[int]
    spaces: list[tuple[int, int]]


def row_of_line(text: bytes, place: str) -> _Row:
    """Read a line.

    Examples
    --------
    >>> from novikoff.data.formats.vw import row_of_line
    >>> row_of_line(b"1 |ad price:1e-400 new", "ads.vw:1")
    _Row(label=1.0, names=[(6, 11), (19, 22)], values=[0.0, 1.0], space_of=[0, 0], spaces=[(3, 5)])
    """
    require_text(text, place)
    label = _label(text, place)
    row = _Row(label, [], [], [], [])
    for group in _GROUP.finditer(text):
        weight = _value(group[2], place, group.start(2))
        row.spaces.append(group.span(1))
        for word in _WORD.finditer(text, group.start(3), group.end(3)):
            name, colon, value = word[0].partition(b":")
            if not name:
                raise DataError(
                    f"{place}:{word.start() + 1}: expected a name, such as price or price:3, found "
                    f"{_shown(word[0])}. Correct it, or pass over such rows."
                )
            row.names.append((word.start(), word.start() + len(name)))
            row.values.append(weight * _value(colon + value, place, word.start() + len(name)))
            row.space_of.append(len(row.spaces) - 1)
            if not abs(row.values[-1]) < LARGEST:
                raise DataError(
                    f"{place}:{word.start() + 1}: the value of {_shown(name)} is not a finite number below "
                    f"{LARGEST:g}. Scale it."
                )
    return row


def _label(text: bytes, place: str) -> float:
    """What stands before the first bar: label, importance weight, tag; each may be missing."""
    before, bar, _ = text.partition(b"|")
    if not bar:
        raise DataError(f"{place}: found no bar. Rows are: label | name:value name ...")
    words = _WORD.findall(before)
    touches = bool(words) and before.endswith(words[-1])
    if touches and len(words) == 1 and _number(words[0]) is not None:
        raise DataError(f"{place}:{len(before)}: the label touches the bar, which makes it a tag. Put a blank between.")
    if words and (touches or words[-1].startswith(b"'")):
        words.pop()
    if not words:
        return float("nan")
    label = _number(words[0])
    if label is None or not abs(label) < LARGEST:
        raise DataError(
            f"{place}:1: expected a number as label, found {_shown(words[0])}. Number the classes, such as "
            "1 and -1, or 1, 2, 3."
        )
    if len(words) > 2 or (len(words) == 2 and _number(words[1]) != 1.0):
        raise DataError(
            f"{place}: {_shown(words[1])} after the label is an importance weight or an initial "
            "prediction, which a perceptron does not have. Leave it out."
        )
    return label


def _value(text: bytes | None, place: str, at: int) -> float:
    """The number after a colon; 1 without one."""
    if not text:
        return 1.0
    value = _number(text[1:])
    if value is None:
        raise DataError(
            f"{place}:{at + 1}: expected a number after the colon, found {_shown(text)}. Correct it, or "
            "pass over such rows."
        )
    return value


def _number(text: bytes) -> float | None:
    return float(text) if NUMBER.fullmatch(text.decode()) else None


def _shown(text: bytes) -> str:
    return repr(text.decode()[:40])
