"""svmlight files: rows `label index:value ...`, as LIBSVM, SVMlight and Vowpal's cousins exchange them.

A kernel reads the lines that are as they should be. Any other it leaves to `row_of_line`, which reads a line the slow
way: numbers that take more than 128 bits to round, and lines that are wrong, for which it finds the words.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.kernels import svmlight as kernels
from novikoff.kernels.text import ASK, LARGEST
from novikoff.streams.block import Reject, SparseBlock
from novikoff.streams.lines import Piece, in_parallel, line_at, pieces_of, powers, require_text
from novikoff.streams.reader import Reader
from novikoff.streams.sources import Source

__all__ = ["SvmlightReader", "row_of_line"]

_ROWS = 1 << 16  # in a block, at most
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_THREADS = 2  # that parse; the caller has one of its own
_ROW, _PAIR = 2, 4  # bytes that a label takes at least, with its line end, and a pair, with the blank before it


class SvmlightReader(Reader[SparseBlock]):
    """Blocks of rows from svmlight text, the next ones parsed in threads while the caller works on this one.

    Column j of a block's rows is index j as written, so files that count from 1 leave column 0 empty. The width is the
    largest index so far plus one: it grows from block to block and never shrinks. Labels are doubles. Indices need not
    ascend; one that is there twice in a row is an error. Comments, blank lines and `qid:` are passed over.

    Parameters
    ----------
    source : Source or path or "-"
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.

    Examples
    --------
    >>> from novikoff.streams.sources import Source
    >>> from novikoff.streams.svmlight import SvmlightReader
    >>> chunks = iter([b"1 2:0.5 3:1 # first\\n-1 5:oops\\n-1 0:2.5e-1\\n", b""])
    >>> [block] = SvmlightReader(Source("rows.svm", lambda n: next(chunks)), bad_rows="skip")
    >>> block.labels.tolist(), block.lines.tolist(), block.rows.toarray().tolist()
    ([1.0, -1.0], [1, 3], [[0.0, 0.0, 0.5, 1.0], [0.25, 0.0, 0.0, 0.0]])
    >>> block.rejects[0].reason
    "rows.svm:2:2: expected index:value, such as 3:0.5, found '5:oops'. Correct it, or pass over such rows."
    """

    def __init__(self, source: Source | str, *, bad_rows: str = "stop") -> None:
        super().__init__(source, bad_rows)
        self._width = 0
        self._powers = powers()

    def _blocks(self) -> Generator[SparseBlock, None, None]:
        n_rows = 0
        # A pipe may have nothing more to say for a while: what it has said is not to wait for that.
        threads = _THREADS if self.source.is_steady else 0
        with closing(in_parallel(self._parsed, pieces_of(self.source), threads)) as parsed:
            for blocks, error in parsed:
                for block in blocks:
                    n_rows += len(block) + len(block.rejects)
                    yield self._widened(block)
                if error is not None:
                    raise error
        if not n_rows:
            raise DataError(f"{self.name}: found no rows, only blank lines and comments.")

    def _parsed(self, piece: Piece) -> tuple[list[SparseBlock], DataError | None]:
        """The blocks of a piece, as far as the first error, and that error."""
        blocks, error, at, line = [], None, 0, piece.line
        while at < len(piece.text) and error is None:
            block, at, line, error = self._block(piece, at, line)
            if len(block) or block.rejects:
                blocks.append(block)
        return blocks, error

    def _widened(self, block: SparseBlock) -> SparseBlock:
        """The same block, at least as wide as those before it."""
        self._width = max(self._width, block.rows.shape[1])
        block.rows.resize(len(block), self._width)
        return block

    def _block(self, piece: Piece, at: int, line: int) -> tuple[SparseBlock, int, int, DataError | None]:
        """Rows from a place in a piece on, and the place after them; or the error that is there."""
        text = np.frombuffer(piece.text, np.uint8)
        room = _Room.beside(piece.text, at)
        rejects: list[Reject] = []
        error, row, why = None, 0, ASK
        while why == ASK:
            row, at, line, why = kernels.svmlight_rows(text, at, line, row, self._powers, *room.arrays)
            if why != ASK:
                break
            asked = line_at(piece.text, at)
            try:
                found = row_of_line(asked, f"{self.name}:{line}")
                row += found is not None and room.put(row, line, *found)
            except DataError as wrong:
                if self.bad_rows == "stop":
                    error = wrong
                    break
                rejects.append(Reject(line, str(wrong), asked))
            at, line = at + len(asked), line + 1
        return self._as_block(room, row, rejects), at, line, error

    def _as_block(self, room: _Room, n: int, rejects: list[Reject]) -> SparseBlock:
        size = room.indptr[n]
        indices = room.indices[:size]
        width = int(indices.max(initial=-1)) + 1
        rows = sp.csr_array((room.data[:size], indices, room.indptr[: n + 1]), shape=(n, width))
        rows.has_canonical_format = True  # indices ascend, so nobody needs to look again
        rows.has_canonical_format = True  # the kernel has seen to that; nobody need look again
        return SparseBlock(self.name, room.lines[:n], room.labels[:n], rows, rejects=rejects)


@dataclass(frozen=True, eq=False)
class _Room:
    """The arrays of a block in the making."""

    lines: np.ndarray
    labels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray

    @classmethod
    def beside(cls, text: bytearray, at: int) -> _Room:
        """Enough for what a text holds, if it is not more rows than a block has."""
        n = min((len(text) - at) // _ROW + 1, _ROWS)
        most = (len(text) - at) // _PAIR + 1
        room = cls(np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int32),
                   np.empty(most, np.int32), np.empty(most))  # fmt: skip
        room.indptr[0] = 0
        return room

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.lines, self.labels, self.indptr, self.indices, self.data

    def put(self, row: int, line: int, label: float, indices: list[int], values: list[float]) -> bool:
        """Write a row that was read elsewhere."""
        begin = int(self.indptr[row])
        end = begin + len(indices)
        self.lines[row], self.labels[row], self.indptr[row + 1] = line, label, end
        self.indices[begin:end], self.data[begin:end] = indices, values
        return True


def row_of_line(text: bytes, place: str) -> tuple[float, list[int], list[float]] | None:
    """The label, the indices in ascending order and the values of a line; None if it has no row.

    Examples
    --------
    >>> from novikoff.streams.svmlight import row_of_line
    >>> row_of_line(b"-1 qid:7 12:0.5 3:1e-400 # why not", "rows.svm:1")
    (-1.0, [3, 12], [0.0, 0.5])
    """
    words = re.split("[ \t\r\n]+", require_text(text, place).partition("#")[0].strip(" \t\r\n"))
    if words == [""]:
        return None
    if not _NUMBER.fullmatch(words[0]) or not abs(float(words[0])) < LARGEST:
        raise DataError(f"{place}:1: expected a number as label, found {words[0][:40]!r}. Rows are label index:value "
                        "..., with classes as numbers, such as 1 and -1.")  # fmt: skip
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
    if not (index.isascii() and index.isdecimal() and _NUMBER.fullmatch(value)):
        if index.isdecimal() and value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise DataError(f"{place}: feature {index} is {value}, not a finite number. Leave it out if it is missing.")
        raise DataError(f"{place}: expected index:value, such as 3:0.5, found {word[:40]!r}. Correct it, or pass over "
                        "such rows.")  # fmt: skip
    digits = index.lstrip("0")
    if len(digits) > 10 or int(digits or "0") > kernels.LARGEST_INDEX:
        raise DataError(f"{place}: the index {index[:40]} is larger than {kernels.LARGEST_INDEX}. Number the features "
                        "anew, or hash their names.")  # fmt: skip
    if not abs(float(value)) < LARGEST:
        raise DataError(f"{place}: the value {value[:40]} of feature {index} is not a finite number below "
                        f"{LARGEST:g}. Scale it.")  # fmt: skip
    return int(digits or "0"), float(value)
