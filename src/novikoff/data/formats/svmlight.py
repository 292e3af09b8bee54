"""svmlight files: rows `label index:value ...`, as LIBSVM, SVMlight and Vowpal's cousins exchange them.

A kernel reads the lines that are as they should be. Any other it leaves to `row_of_line`, which reads a line the slow
way: numbers that take more than 128 bits to round, and lines that are wrong, for which it finds the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops.decimals import LARGEST
from novikoff._compiled.loops.rows import UNMEASURED
from novikoff._compiled.loops.svmlight import LARGEST_INDEX, svmlight_rows
from novikoff.data.formats.block import Reject, SparseBlock
from novikoff.data.formats.lines import Piece, powers, require_text
from novikoff.data.formats.linewise import LineReader
from novikoff.data.formats.sniffing import NUMBER
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["SvmlightReader", "row_of_line"]

_ROWS = 1 << 16  # in a block, at most
_ROW, _PAIR = 2, 4  # bytes that a label takes at least, with its line end, and a pair, with the blank before it


class SvmlightReader(LineReader[SparseBlock]):
    """Blocks of rows from svmlight text, the next ones parsed in threads while the caller works on this one.

    Column j of a block's rows is index j as written, so files that count from 1 leave column 0 empty. The width is the
    largest index so far plus one: it grows from block to block and never shrinks. Labels are doubles. Indices need not
    ascend; one that is there twice in a row is an error. Comments, blank lines and `qid:` are passed over.

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
    >>> from novikoff.data.formats.svmlight import SvmlightReader
    >>> chunks = iter([b"1 2:0.5 3:1 # first\\n-1 5:oops\\n-1 0:2.5e-1\\n", b""])
    >>> [block] = SvmlightReader(Source("rows.svm", lambda n: next(chunks)), bad_rows="skip")
    >>> block.labels.tolist(), block.lines.tolist(), block.rows.toarray().tolist()
    ([1.0, -1.0], [1, 3], [[0.0, 0.0, 0.5, 1.0], [0.25, 0.0, 0.0, 0.0]])
    >>> block.rejects[0].reason
    "rows.svm:2:2: expected index:value, such as 3:0.5, found '5:oops'. Correct it, or pass over such rows."
    """

    _only = "blank lines and comments"

    def __init__(self, source: Source | str, *, target: bool | None = None, bad_rows: str = "stop") -> None:
        super().__init__(source, bad_rows)
        self._width = 0
        self._needs_labels = target is not False

    def _room(self, piece: Piece, at: int) -> _Room:
        return _Room.beside(piece.text, at, self._needs_labels)

    def _in_turn(self, block: SparseBlock) -> SparseBlock:
        """The same block, at least as wide as those before it."""
        self._width = max(self._width, block.rows.shape[1])
        block.rows.resize(len(block), self._width)
        return block


@dataclass(frozen=True, eq=False)
class _Room:
    """The arrays of a block in the making."""

    lines: np.ndarray
    labels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    squared_norms: np.ndarray
    needs_labels: bool

    @classmethod
    def beside(cls, text: bytearray, at: int, needs_labels: bool) -> _Room:
        """Enough for what a text holds, if it is not more rows than a block has."""
        n = min((len(text) - at) // _ROW + 1, _ROWS)
        most = (len(text) - at) // _PAIR + 1
        room = cls(
            np.empty(n, np.int64),
            np.empty(n),
            np.empty(n + 1, np.int32),
            np.empty(most, np.int32),
            np.empty(most),
            np.empty(n),
            needs_labels,
        )
        room.indptr[0] = 0
        return room

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.lines, self.labels, self.indptr, self.indices, self.data, self.squared_norms

    def fill(self, text: np.ndarray, at: int, line: int, row: int) -> tuple[int, int, int, int]:
        return svmlight_rows(text, at, line, row, powers(), *self.arrays)

    def put(self, row: int, line: int, at: int, asked: bytes, place: str) -> bool:
        found = row_of_line(asked, place, needs_label=self.needs_labels)
        if found is None:
            return False
        label, indices, values = found
        begin = int(self.indptr[row])
        end = begin + len(indices)
        self.lines[row], self.labels[row], self.indptr[row + 1] = line, label, end
        self.indices[begin:end], self.data[begin:end] = indices, values
        self.squared_norms[row] = UNMEASURED
        return True

    def block(self, name: str, n: int, rejects: list[Reject]) -> SparseBlock:
        size = self.indptr[n]
        indices = self.indices[:size]
        width = int(indices.max(initial=-1)) + 1
        rows = sp.csr_array((self.data[:size], indices, self.indptr[: n + 1]), shape=(n, width))
        rows.has_canonical_format = True  # indices ascend, so nobody needs to look again
        return SparseBlock.measured(name, self.lines[:n], self.labels[:n], rows, self.squared_norms[:n], rejects)


def row_of_line(text: bytes, place: str, *, needs_label: bool = True) -> tuple[float, list[int], list[float]] | None:
    """The label, the indices in ascending order and the values of a line; None if it has no row. If it needs no label
    and has none, that is 0.

    Examples
    --------
    >>> from novikoff.data.formats.svmlight import row_of_line
    >>> row_of_line(b"-1 qid:7 12:0.5 3:1e-400 # why not", "rows.svm:1")
    (-1.0, [3, 12], [0.0, 0.5])
    """
    words = re.split("[ \t\r\n]+", require_text(text, place).partition("#")[0].strip(" \t\r\n"))
    if words == [""]:
        return None
    if not needs_label and ":" in words[0]:
        words.insert(0, "0")
    if not NUMBER.fullmatch(words[0]) or not abs(float(words[0])) < LARGEST:
        raise DataError(
            f"{place}:1: expected a number as label, found {words[0][:40]!r}. Rows are label index:value "
            "..., with classes as numbers, such as 1 and -1."
        )
    first = 2 if len(words) > 1 and words[1].startswith("qid:") else 1
    row: dict[int, float] = {}
    for at, word in enumerate(words[first:], start=first + 1):
        index, value = _pair(word, f"{place}:{at}")
        if index in row:
            raise DataError(f"{place}:{at}: feature {index} is there twice in this row. Keep one, or add them up.")
        row[index] = value
    indices = sorted(row)
    return float(words[0]), indices, [row[index] for index in indices]


def _pair(word: str, place: str) -> tuple[int, float]:
    index, _, value = word.partition(":")
    if not (index.isascii() and index.isdecimal() and NUMBER.fullmatch(value)):
        if index.isdecimal() and value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise DataError(f"{place}: feature {index} is {value}, not a finite number. Leave it out if it is missing.")
        raise DataError(
            f"{place}: expected index:value, such as 3:0.5, found {word[:40]!r}. Correct it, or pass over such rows."
        )
    digits = index.lstrip("0")
    if len(digits) > 10 or int(digits or "0") > LARGEST_INDEX:
        raise DataError(
            f"{place}: the index {index[:40]} is larger than {LARGEST_INDEX}. Number the features "
            "anew, or hash their names."
        )
    if not abs(float(value)) < LARGEST:
        raise DataError(
            f"{place}: the value {value[:40]} of feature {index} is not a finite number below {LARGEST:g}. Scale it."
        )
    return int(digits or "0"), float(value)
