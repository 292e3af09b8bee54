"""Vowpal Wabbit's text: rows `label 'tag |namespace name:value ...`.

A compiled loop reads the lines that are well-formed. Any other it leaves to `parse_line`, which is slow: numbers that
take more than 128 bits to round, and lines that are wrong, for which it makes the message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff._compiled.loops.names import name_hashes
from novikoff._compiled.loops.rows import UNMEASURED
from novikoff._compiled.loops.vw import NamedArrays, vw_rows
from novikoff.data.formats.block import NamedBlock
from novikoff.data.formats.hash_key import KEY
from novikoff.data.formats.lines import TextChunk, count_byte, decode_line, is_utf8, power_table
from novikoff.data.formats.linewise import LineReader
from novikoff.data.formats.rejects import Reject, RejectCode, RowError
from novikoff.data.formats.sniffing import NUMBER
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["VwReader", "parse_line"]

_ROWS = 1 << 16  # in a block, at most
_TOKEN = re.compile(rb"[^ \t\r\n|]+")
_GROUP = re.compile(rb"\|([^ \t\r\n|:]*)(:[^ \t\r\n|]*)?([^|]*)")


class VwReader(LineReader[NamedBlock]):
    """Blocks of rows from Vowpal Wabbit's text, the next ones parsed in threads while the caller works on this one.

    A name belongs to its namespace, and a namespace may scale its values (`|user:0.5 ...`). A name without a value has
    1; one that is there twice has the sum. Labels are numbers. Tags are skipped. An importance weight must be 1: a
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

    def _new_builder(self, chunk: TextChunk, at: int) -> _NamedBlockBuilder:
        return _NamedBlockBuilder.for_text(chunk.text, at)

    def _check_block(self, block: NamedBlock, chunk: TextChunk) -> tuple[NamedBlock, RowError | None]:
        """Return the rows that have a label, as far as the first error, and that error."""
        assert block.labels is not None
        lacking = np.flatnonzero(np.isnan(block.labels))
        if not self._needs_labels or not len(lacking):
            return block, None
        texts = chunk.text.split(b"\n")
        if self.bad_rows == "stop":
            first = int(lacking[0])
            return block.select(np.arange(first), block.rejects), self._no_label_error(int(block.lines[first]))
        rejects = [
            Reject.from_error(line, self._no_label_error(line), bytes(texts[line - chunk.line]))
            for line in block.lines[lacking].tolist()
        ]
        rejects = sorted([*block.rejects, *rejects], key=lambda reject: reject.line)
        return block.select(np.flatnonzero(~np.isnan(block.labels)), rejects), None

    def _no_label_error(self, line: int) -> RowError:
        return RowError(
            f"{self.name}:{line}:1: this row has no label before its first bar. Give it one, such as "
            "1 or -1, or pass over such rows.",
            RejectCode.BAD_LABEL,
        )


@dataclass(eq=False)
class _NamedBlockBuilder:
    """The arrays of a block that is being read, and its text."""

    text: np.ndarray
    is_utf8: bool
    arrays: NamedArrays
    n_namespaces: int = 0

    @classmethod
    def for_text(cls, text: bytearray, at: int) -> _NamedBlockBuilder:
        """Return a builder with enough memory for the rows of a text from an offset on, or for as many as a block
        has."""
        n, bars = min(count_byte(text, b"\n", at) + 1, _ROWS), count_byte(text, b"|", at)
        most = bars + sum(count_byte(text, blank, at) for blank in (b" ", b"\t", b"\r")) + 1  # one before every name
        arrays = NamedArrays(
            lines=np.empty(n, np.int64),
            labels=np.empty(n),
            indptr=np.empty(n + 1, np.int32),
            distinct=np.empty(n, bool),
            squared_norms=np.empty(n),
            names=np.empty((most, 2), np.int32),
            hashes=np.empty(most, np.uint64),
            values=np.empty(most),
            namespace_of=np.empty(most, np.int32),
            namespaces=np.empty((bars, 2), np.int32),
        )
        arrays.indptr[0] = 0
        return cls(np.frombuffer(text, np.uint8), is_utf8(text), arrays)

    def fill(self, text: np.ndarray, at: int, line: int, row: int) -> tuple[int, int, int, int]:
        row, at, line, self.n_namespaces, status = vw_rows(
            text, at, line, row, self.is_utf8, KEY, power_table(), self.arrays, self.n_namespaces
        )
        return row, at, line, status

    def add_line(self, row: int, line: int, at: int, text: bytes, location: str) -> bool:
        found, to = parse_line(text, location), self.arrays
        to.lines[row], to.labels[row], to.distinct[row], to.squared_norms[row] = line, found.label, False, UNMEASURED
        first = self.n_namespaces
        self.n_namespaces += len(found.namespaces)
        to.namespaces[first : self.n_namespaces] = np.reshape(found.namespaces, (-1, 2)) + at
        begin, end = to.indptr[row], to.indptr[row] + len(found.names)
        to.indptr[row + 1] = end
        to.names[begin:end] = np.reshape(found.names, (-1, 2)) + at
        to.values[begin:end] = found.values
        heads, own = np.empty(len(found.namespaces), np.uint64), np.array(found.namespace_of, np.int32)
        to.namespace_of[begin:end] = own + first
        seeds, zeros = np.array([KEY.seed]), np.zeros(len(heads), np.int32)
        name_hashes(self.text, to.namespaces[first : self.n_namespaces], seeds, zeros, KEY.factor, heads)
        name_hashes(self.text, to.names[begin:end], heads, own, KEY.factor, to.hashes[begin:end])
        return True

    def build(self, name: str, n: int, rejects: list[Reject]) -> NamedBlock:
        size = self.arrays.indptr[n]
        return NamedBlock(
            name,
            self.arrays.lines[:n],
            self.arrays.labels[:n],
            self.text,
            self.arrays.indptr[: n + 1],
            self.arrays.distinct[:n],
            self.arrays.squared_norms[:n],
            self.arrays.names[:size],
            self.arrays.hashes[:size],
            self.arrays.values[:size],
            self.arrays.namespace_of[:size],
            self.arrays.namespaces[: self.n_namespaces],
            rejects=rejects,
        )


class _VwRow(NamedTuple):
    """A row of a line; spans begin at the beginning of the line."""

    label: float
    names: list[tuple[int, int]]
    values: list[float]
    namespace_of: list[int]
    namespaces: list[tuple[int, int]]


def parse_line(text: bytes, location: str) -> _VwRow:
    """Read a line in plain Python.

    Examples
    --------
    >>> from novikoff.data.formats.vw import parse_line
    >>> parse_line(b"1 |ad price:1e-400 new", "ads.vw:1")
    _VwRow(label=1.0, names=[(6, 11), (19, 22)], values=[0.0, 1.0], namespace_of=[0, 0], namespaces=[(3, 5)])
    """
    decode_line(text, location)
    label = _parse_label(text, location)
    row = _VwRow(label, [], [], [], [])
    for group in _GROUP.finditer(text):
        weight = _parse_value(group[2], location, group.start(2))
        row.namespaces.append(group.span(1))
        for token in _TOKEN.finditer(text, group.start(3), group.end(3)):
            name, colon, value = token[0].partition(b":")
            if not name:
                raise RowError(
                    f"{location}:{token.start() + 1}: expected a name, such as price or price:3, found "
                    f"{_quote(token[0])}. Correct it, or pass over such rows.",
                    RejectCode.SYNTAX,
                )
            row.names.append((token.start(), token.start() + len(name)))
            row.values.append(weight * _parse_value(colon + value, location, token.start() + len(name)))
            row.namespace_of.append(len(row.namespaces) - 1)
            if not abs(row.values[-1]) < VALUE_LIMIT:
                raise RowError(
                    f"{location}:{token.start() + 1}: the value of {_quote(name)} is not a finite number below "
                    f"{VALUE_LIMIT:g}. Scale it.",
                    RejectCode.TOO_LARGE,
                )
    return row


def _parse_label(text: bytes, location: str) -> float:
    """Read what is before the first bar: label, importance weight, tag; each may be missing. Return the label."""
    before, bar, _ = text.partition(b"|")
    if not bar:
        raise RowError(f"{location}: found no bar. Rows are: label | name:value name ...", RejectCode.SYNTAX)
    tokens = _TOKEN.findall(before)
    touches = bool(tokens) and before.endswith(tokens[-1])
    if touches and len(tokens) == 1 and _parse_number(tokens[0]) is not None:
        raise RowError(
            f"{location}:{len(before)}: the label touches the bar, which makes it a tag. Put a blank between.",
            RejectCode.BAD_LABEL,
        )
    if tokens and (touches or tokens[-1].startswith(b"'")):
        tokens.pop()
    if not tokens:
        return float("nan")
    label = _parse_number(tokens[0])
    if label is None or not abs(label) < VALUE_LIMIT:
        raise RowError(
            f"{location}:1: expected a number as label, found {_quote(tokens[0])}. Number the classes, such as "
            "1 and -1, or 1, 2, 3.",
            RejectCode.BAD_LABEL,
        )
    if len(tokens) > 2 or (len(tokens) == 2 and _parse_number(tokens[1]) != 1.0):
        raise RowError(
            f"{location}: {_quote(tokens[1])} after the label is an importance weight or an initial "
            "prediction, which a perceptron does not have. Leave it out.",
            RejectCode.BAD_LABEL,
        )
    return label


def _parse_value(text: bytes | None, location: str, at: int) -> float:
    """Return the number after a colon; 1 without a colon."""
    if not text:
        return 1.0
    value = _parse_number(text[1:])
    if value is None:
        raise RowError(
            f"{location}:{at + 1}: expected a number after the colon, found {_quote(text)}. Correct it, or "
            "pass over such rows.",
            RejectCode.NOT_A_NUMBER,
        )
    return value


def _parse_number(text: bytes) -> float | None:
    return float(text) if NUMBER.fullmatch(text.decode()) else None


def _quote(text: bytes) -> str:
    return repr(text.decode()[:40])
