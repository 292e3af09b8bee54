"""svmlight files: rows `label index:value ...`, as LIBSVM and SVMlight write them.

A compiled loop reads the lines that are well-formed. Any other it leaves to `parse_line`, which is slow: numbers that
take more than 128 bits to round, and lines that are wrong, for which it makes the message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff._compiled.loops.rows import UNMEASURED
from novikoff._compiled.loops.svmlight import LARGEST_INDEX, svmlight_rows
from novikoff.data.formats.block import SparseBlock
from novikoff.data.formats.lines import TextChunk, decode_line, power_table
from novikoff.data.formats.linewise import LineReader
from novikoff.data.formats.rejects import Reject, RejectCode, RowError
from novikoff.data.formats.sniffing import NUMBER
from novikoff.data.formats.sources import Source

__all__ = ["SvmlightReader", "parse_line"]

_ROWS = 1 << 16  # in a block, at most
_ROW, _PAIR = 2, 4  # bytes that a label takes at least, with its line end, and a pair, with the blank before it


class SvmlightReader(LineReader[SparseBlock]):
    """Blocks of rows from svmlight text, the next ones parsed in threads while the caller works on this one.

    Column j of a block's rows is index j as written, so files that count from 1 leave column 0 empty. The width is the
    largest index so far plus one: it grows from block to block and never shrinks. Labels are doubles. Indices need not
    ascend; one that is there twice in a row is an error. Comments, blank lines and `qid:` are skipped.

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

    _without_rows = "blank lines and comments"

    def __init__(self, source: Source | str, *, target: bool | None = None, bad_rows: str = "stop") -> None:
        super().__init__(source, bad_rows)
        self._width = 0
        self._needs_labels = target is not False

    def _new_builder(self, chunk: TextChunk, at: int) -> _SparseBlockBuilder:
        return _SparseBlockBuilder.for_text(chunk.text, at, self._needs_labels)

    def _finish_in_order(self, block: SparseBlock) -> SparseBlock:
        """Make a block at least as wide as those before it."""
        self._width = max(self._width, block.rows.shape[1])
        block.rows.resize(len(block), self._width)
        return block


@dataclass(frozen=True, eq=False)
class _SparseBlockBuilder:
    """The arrays of a block that is being read."""

    lines: np.ndarray
    labels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    squared_norms: np.ndarray
    needs_labels: bool

    @classmethod
    def for_text(cls, text: bytearray, at: int, needs_labels: bool) -> _SparseBlockBuilder:
        """Return a builder with enough memory for the rows of a text from an offset on, or for as many as a block
        has."""
        n = min((len(text) - at) // _ROW + 1, _ROWS)
        most = (len(text) - at) // _PAIR + 1
        builder = cls(
            np.empty(n, np.int64),
            np.empty(n),
            np.empty(n + 1, np.int32),
            np.empty(most, np.int32),
            np.empty(most),
            np.empty(n),
            needs_labels,
        )
        builder.indptr[0] = 0
        return builder

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.lines, self.labels, self.indptr, self.indices, self.data, self.squared_norms

    def fill(self, text: np.ndarray, at: int, line: int, row: int) -> tuple[int, int, int, int]:
        return svmlight_rows(text, at, line, row, power_table(), *self.arrays)

    def add_line(self, row: int, line: int, at: int, text: bytes, location: str) -> bool:
        found = parse_line(text, location, needs_label=self.needs_labels)
        if found is None:
            return False
        label, indices, values = found
        begin = int(self.indptr[row])
        end = begin + len(indices)
        self.lines[row], self.labels[row], self.indptr[row + 1] = line, label, end
        self.indices[begin:end], self.data[begin:end] = indices, values
        self.squared_norms[row] = UNMEASURED
        return True

    def build(self, name: str, n: int, rejects: list[Reject]) -> SparseBlock:
        size = self.indptr[n]
        indices = self.indices[:size]
        width = int(indices.max(initial=-1)) + 1
        rows = sp.csr_array((self.data[:size], indices, self.indptr[: n + 1]), shape=(n, width))
        rows.has_canonical_format = True  # indices ascend, which need not be checked again
        return SparseBlock.with_norms(name, self.lines[:n], self.labels[:n], rows, self.squared_norms[:n], rejects)


def parse_line(text: bytes, location: str, *, needs_label: bool = True) -> tuple[float, list[int], list[float]] | None:
    """Return the label, the indices in ascending order and the values of a line; None if it has no row. A label that is
    not needed and not there is 0.

    Examples
    --------
    >>> from novikoff.data.formats.svmlight import parse_line
    >>> parse_line(b"-1 qid:7 12:0.5 3:1e-400 # why not", "rows.svm:1")
    (-1.0, [3, 12], [0.0, 0.5])
    """
    tokens = re.split("[ \t\r\n]+", decode_line(text, location).partition("#")[0].strip(" \t\r\n"))
    if tokens == [""]:
        return None
    if not needs_label and ":" in tokens[0]:
        tokens.insert(0, "0")
    if not NUMBER.fullmatch(tokens[0]) or not abs(float(tokens[0])) < VALUE_LIMIT:
        raise RowError(
            f"{location}:1: expected a number as label, found {tokens[0][:40]!r}. Rows are label index:value "
            "..., with classes as numbers, such as 1 and -1.",
            RejectCode.BAD_LABEL,
        )
    first = 2 if len(tokens) > 1 and tokens[1].startswith("qid:") else 1
    row: dict[int, float] = {}
    for at, token in enumerate(tokens[first:], start=first + 1):
        index, value = _parse_pair(token, f"{location}:{at}")
        if index in row:
            raise RowError(
                f"{location}:{at}: feature {index} is there twice in this row. Keep one, or add them up.",
                RejectCode.DUPLICATE,
            )
        row[index] = value
    indices = sorted(row)
    return float(tokens[0]), indices, [row[index] for index in indices]


def _parse_pair(token: str, location: str) -> tuple[int, float]:
    index, _, value = token.partition(":")
    if not (index.isascii() and index.isdecimal() and NUMBER.fullmatch(value)):
        if index.isdecimal() and value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise RowError(
                f"{location}: feature {index} is {value}, not a finite number. Leave it out if it is missing.",
                RejectCode.TOO_LARGE,
            )
        raise RowError(
            f"{location}: expected index:value, such as 3:0.5, found {token[:40]!r}. Correct it, "
            "or pass over such rows.",
            RejectCode.SYNTAX,
        )
    digits = index.lstrip("0")
    if len(digits) > 10 or int(digits or "0") > LARGEST_INDEX:
        raise RowError(
            f"{location}: the index {index[:40]} is larger than {LARGEST_INDEX}. Number the features "
            "anew, or hash their names.",
            RejectCode.TOO_LARGE,
        )
    if not abs(float(value)) < VALUE_LIMIT:
        raise RowError(
            f"{location}: the value {value[:40]} of feature {index} is not a finite number below "
            f"{VALUE_LIMIT:g}. Scale it.",
            RejectCode.TOO_LARGE,
        )
    return int(digits or "0"), float(value)
