"""Tables: a CSV, TSV or svmlight file as rows of numbers and their labels, with the place of each row in the file.

A small reader for the command line, which holds the whole table. Its errors name the place as file:line:column, the
column counted in cells, and the options of the command that help.

    numbers     a column whose cells are all numbers is one column of X
    words       any other becomes one column of X per value, named "column=value", that is 1 where the row has it
    header      the first line, if it has words above numbers; or words only, none of which recurs in its column
"""

from __future__ import annotations

import bz2
import csv
import difflib
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.texts import (
    MISSING,
    MOSTLY,
    NUMBER,
    begins_with_header,
    delimiter_of,
    is_number,
    listed,
    looks_like_svmlight,
    many,
)

__all__ = ["Column", "Table", "read_table"]

_LARGEST = 1e150  # squares must be doubles too
_WORDS = 50  # values that a column of words may have in any case, and half as many as rows beyond that
_DENSE = 20_000_000  # numbers in a table of words that is still held as a dense array


@dataclass(frozen=True)
class Column:
    """A column of the file: X[:, first] if it holds numbers, X[:, first + k] for its k-th value if it holds words."""

    name: str
    first: int
    values: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Of its columns in X."""
        return [f"{self.name}={value}" for value in self.values] or [self.name]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows X with labels y.

    `lines` are the lines of the file on which the rows begin, from 1; `numbers` their places among all its rows, from
    0, dropped ones included. `target` names the column of the labels. `notes` say what was decided on the way.
    """

    X: Any
    y: np.ndarray
    columns: tuple[Column, ...]
    lines: np.ndarray
    numbers: np.ndarray
    target: str | None
    format: str
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Of the columns of X."""
        return [name for column in self.columns for name in column.names]


def read_table(
    content: bytes,
    name: str,
    *,
    format: str | None = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    drop_missing: bool = False,
) -> Table:
    """The table in the content of a file, unpacked if it is gzip or bzip2.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file: for messages, and its extension tells the format.
    format : {"csv", "svmlight"}, optional
        By default found out.
    target : str, optional
        Name or number, from 1, of the column with the labels; by default the last.
    drop : sequence of str
        Columns to leave out.
    header : bool, optional
        Whether the first line names the columns; by default found out.
    drop_missing : bool
        Leave out rows with missing cells: empty, ?, NA, N/A, NaN or null. Otherwise they are errors.

    Examples
    --------
    >>> from novikoff.tables import read_table
    >>> table = read_table(b"sky,wind,sail\\nsun,3,yes\\nrain,9,no\\n", "days.csv")
    >>> table.names, table.X.tolist(), table.y.tolist(), table.lines.tolist()
    (['sky=rain', 'sky=sun', 'wind'], [[0.0, 1.0, 3.0], [1.0, 0.0, 9.0]], ['yes', 'no'], [2, 3])
    """
    text = _decoded(content, name)
    if not text.strip():
        raise DataError(f"{name}: the file is empty.")
    extension = re.sub(r"\.(gz|bz2)$", "", name.lower()).rpartition(".")[2]
    if format is None:
        format = {"csv": "csv", "tsv": "csv", "svm": "svmlight", "svmlight": "svmlight", "libsvm": "svmlight"}.get(
            extension, "svmlight" if looks_like_svmlight(text) else "csv"
        )
    if format == "svmlight":
        if target is not None or drop or header is not None:
            raise DataError(f"{name}: an svmlight file has its labels first and no names: it takes no --target, "
                            "--drop or --header. If it is a CSV file, say --format csv.")  # fmt: skip
        return _svmlight(text, name)
    rows, lines = _cells(text, name, "\t" if extension == "tsv" else None)
    return _Csv(name, rows, lines, header).table(target, drop, drop_missing)


def _decoded(content: bytes, name: str) -> str:
    """Text, unpacked if it is packed."""
    try:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        elif content.startswith(b"BZh"):
            content = bz2.decompress(content)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise DataError(f"{name}: the compressed file is damaged or not complete ({error}).") from error
    if b"\0" in content:
        raise DataError(f"{name}: not a text file, it contains zero bytes. Export the table as CSV in UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise DataError(f"{name}:{line}:{column}: byte 0x{content[error.start]:02x} is not UTF-8. If the file is in "
                        "Latin-1, convert it: iconv -f latin1 -t utf-8.") from error  # fmt: skip


def _cells(text: str, name: str, delimiter: str | None) -> tuple[list[list[str]], list[int]]:
    """The cells of every row that is not blank, and the line that it begins on."""
    sample = [line for line in text[:100_000].splitlines()[:20] if line.strip()]
    quote = "'" if '"' not in text[:100_000] and re.search(r"(^|[,;\t])\s*'[^']*'\s*([,;\t]|$)", sample[0]) else '"'
    delimiter = delimiter or delimiter_of(sample, quote)
    lines: Iterator[str] = io.StringIO(text, newline="")
    if delimiter == " ":
        lines = (" ".join(line.split()) for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=delimiter != " ", strict=True)
    rows, starts, start = [], [], 1
    try:
        for cells in reader:
            if any(cells) or len(cells) > 1:
                rows.append([cell.strip() for cell in cells])
                starts.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}:{start}: this row cannot be read as CSV: {error}.") from error
    if not rows:
        raise DataError(f"{name}: every cell is empty.")
    for cells, line in zip(rows, starts, strict=True):
        if len(cells) != len(rows[0]):
            raise DataError(f"{name}:{line}: found {many(len(cells), 'cell')}, line {starts[0]} has {len(rows[0])}.")
    return rows, starts


class _Csv:
    """Cells with their names and lines, on their way to a table."""

    def __init__(self, name: str, rows: list[list[str]], lines: list[int], header: bool | None) -> None:
        self.name = name
        has_header = begins_with_header(rows) if header is None else header
        first = rows[0] if has_header else []
        self.columns = list(zip(*rows[has_header:], strict=True))
        self.lines = lines[has_header:]
        self.names = [cell or f"column {k}" for k, cell in enumerate(first or [""] * len(rows[0]), start=1)]
        self.unnamed = bool(first) and not first[0]
        self.notes: list[str] = []
        for twin, count in Counter(self.names).items():
            if count > 1:
                at = [k for k, other in enumerate(self.names, start=1) if other == twin]
                raise DataError(f"{name}:{lines[0]}:{at[1]}: columns {at[0]} and {at[1]} are both called {twin!r}. "
                                "Give them different names; or, if this line is data, say --no-header.")  # fmt: skip
        if not self.lines:
            raise DataError(f"{name}: found a header line but no rows. If that line is data, say --no-header.")

    def table(self, target: str | None, drop: Sequence[str], drop_missing: bool) -> Table:
        dropped = {self._position(column, "--drop") for column in drop}
        used = [k for k in range(len(self.names)) if k not in dropped and not self._is_idle(k)]
        label = used[-1] if target is None and used else self._position(target or "1", "--target")
        features = [k for k in used if k != label]
        if not features:
            raise DataError(f"{self.name}: found {many(len(self.names), 'column')}, and none is left besides the "
                            "target. Cells are parted by commas, tabs, semicolons, | or blanks.")  # fmt: skip
        numbers = self._without_missing([*features, label], drop_missing)
        parts = [self._part(k) for k in features]
        if not all(map(is_number, set(self.columns[label]))):
            self._require_few(label, "name the column of the labels with --target.")
        values = [tuple(sorted(set(part))) if isinstance(part, tuple) else () for part in parts]
        firsts = np.cumsum([0, *(len(of_part) or 1 for of_part in values)])
        columns = tuple(map(Column, (self.names[k] for k in features), firsts.tolist(), values))
        self._require_names(columns)
        return Table(_matrix(parts, columns, int(firsts[-1])), _labels(self.columns[label]), columns,
                     np.array(self.lines), numbers, self.names[label], "csv", tuple(self.notes))  # fmt: skip

    def _require_names(self, columns: Sequence[Column]) -> None:
        """One name for every column of X, and a note on those that are made here."""
        for twin, count in Counter(name for column in columns for name in column.names).items():
            if count > 1:
                raise DataError(f"{self.name}: two columns would both be called {twin!r}; rename one of them.")
        made = [name for column in columns if column.values for name in column.names]
        if made:
            words = sum(1 for column in columns if column.values)
            self.notes.append(f"{many(words, 'column')} of words became {many(len(made), 'column')} of 0 and 1, "
                              f"such as {made[0]!r}.")  # fmt: skip

    def _position(self, wanted: str, option: str) -> int:
        if wanted in self.names:
            return self.names.index(wanted)
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self.names):
            return int(wanted) - 1
        near = difflib.get_close_matches(wanted, self.names)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"The columns are {listed(self.names)}."
        raise DataError(f"{self.name}: there is no column {wanted!r} ({option}). {hint}")

    def _is_idle(self, k: int) -> bool:
        """A column that says nothing about its rows: without cells, or a nameless count of the rows."""
        if not any(self.columns[k]):
            self.notes.append(f"Column {k + 1} is empty and left out.")
            return True
        if k == 0 and self.unnamed and list(self.columns[0]) == [str(n) for n in range(len(self.lines))]:
            self.notes.append("Column 1 has no name and counts the rows: left out.")
            return True
        return False

    def _without_missing(self, used: list[int], drop_missing: bool) -> np.ndarray:
        """Drop rows with missing cells, or raise at the first; the numbers of the rows that stay."""
        missing: dict[int, int] = {}
        for k in sorted(used, reverse=True):
            bad = {cell for cell in set(self.columns[k]) if cell.lower() in MISSING}
            if bad:
                missing.update((row, k) for row, cell in enumerate(self.columns[k]) if cell in bad)
        numbers = np.array([row for row in range(len(self.lines)) if row not in missing], int)
        if not missing:
            return numbers
        row = min(missing)
        k = missing[row]
        cell = self.columns[k][row]
        if not drop_missing:
            found = f" ({cell!r})" if cell else ""
            raise DataError(f"{self.name}:{self.lines[row]}:{k + 1}: {self.names[k]!r} is missing{found}; cells are "
                            f"missing in {many(len(missing), 'row')}. Leave these rows out with --drop-missing, or a "
                            "column with --drop.")  # fmt: skip
        if not len(numbers):
            raise DataError(f"{self.name}: every row has a missing cell. Leave columns out with --drop.")
        self.columns = [tuple(column[row] for row in numbers) for column in self.columns]
        self.lines = [self.lines[row] for row in numbers]
        self.notes.append(f"{many(len(missing), 'row')} with missing cells left out.")
        return numbers

    def _part(self, k: int) -> np.ndarray | tuple[str, ...]:
        """A column as numbers, or as the words that it holds."""
        cells = self.columns[k]
        kinds = {cell: is_number(cell) for cell in set(cells)}
        if not all(kinds.values()):
            strange = [row for row, cell in enumerate(cells) if not kinds[cell]]
            if len(strange) < (1.0 - MOSTLY) * len(cells):
                raise DataError(f"{self._cell(strange[0], k)} is not a number, as {len(cells) - len(strange):,} of "
                                f"{len(cells):,} cells of this column are. Correct it, or leave the column out with "
                                "--drop.")  # fmt: skip
            self._require_few(k, "leave it out with --drop.")
            return cells
        numbers = np.array(list(map(float, cells)))
        far = np.flatnonzero(~(np.abs(numbers) < _LARGEST))
        if len(far):
            raise DataError(f"{self._cell(int(far[0]), k)} is not a finite number below {_LARGEST:g}.")
        return numbers

    def _require_few(self, k: int, remedy: str) -> None:
        values = len(set(self.columns[k]))
        if values > max(_WORDS, len(self.lines) // 2):
            raise DataError(f"{self.name}: column {self.names[k]!r} holds text, {values:,} different values in "
                            f"{len(self.lines):,} rows: {remedy}")  # fmt: skip

    def _cell(self, row: int, k: int) -> str:
        cell = self.columns[k][row]
        return f"{self.name}:{self.lines[row]}:{k + 1}: {cell[:40]!r} in column {self.names[k]!r}"


def _labels(cells: Sequence[str]) -> np.ndarray:
    """Whole numbers if all are, numbers if all are, or as they stand."""
    if not all(map(NUMBER.fullmatch, set(cells))):
        return np.array(cells)
    numbers = np.array(list(map(float, cells)))
    is_whole = bool((numbers == np.trunc(numbers)).all() and (np.abs(numbers) < 2**53).all())
    return numbers.astype(np.int64) if is_whole else numbers


def _matrix(parts: Sequence[Any], columns: Sequence[Column], width: int) -> Any:
    """Numbers as they are, words as ones: dense, unless that would be large."""
    n = len(parts[0])
    rows, places, values = np.arange(n), [], []
    for part, column in zip(parts, columns, strict=True):
        codes = {value: code for code, value in enumerate(column.values)}
        places.append(column.first + np.array([codes[cell] for cell in part] if codes else np.zeros(n, int)))
        values.append(np.ones(n) if codes else part)
    if n * width > _DENSE and n * width > 4 * n * len(parts):
        X = sp.csr_array((np.concatenate(values), (np.tile(rows, len(parts)), np.concatenate(places))), (n, width))
        X.eliminate_zeros()
        return X
    dense = np.zeros((n, width))
    for place, value in zip(places, values, strict=True):
        dense[rows, place] = value
    return dense


def _svmlight(text: str, name: str) -> Table:
    """label index:value ... # comment"""
    labels, lines, widths, indices, values = [], [], [0], [], []
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        first = 2 if len(words) > 1 and words[1].startswith("qid:") else 1
        try:
            pairs = [word.split(":") for word in words[first:]]
            row = [int(index) for index, _ in pairs]
            values += [float(value) for _, value in pairs]
        except ValueError:
            raise _bad_word(words, first, f"{name}:{number}") from None
        if ":" in words[0] or len(set(row)) < len(row) or (row and (min(row) < 0 or max(row) >= 2**63)):
            raise _bad_word(words, first, f"{name}:{number}")
        labels.append(words[0])
        lines.append(number)
        widths.append(len(row))
        indices += row
    if not indices:
        raise DataError(f"{name}: found no index:value in any row. If it is a CSV file, say --format csv.")
    data, indptr = np.array(values), np.cumsum(widths)
    far = np.flatnonzero(~(np.abs(data) < _LARGEST))
    if len(far):
        row_of = int(np.searchsorted(indptr, far[0], side="right")) - 1
        raise DataError(f"{name}:{lines[row_of]}: the value {values[far[0]]!r} of feature {indices[far[0]]} is not a "
                        f"finite number below {_LARGEST:g}.")  # fmt: skip
    known, places = np.unique(np.array(indices, np.int64), return_inverse=True)
    X = sp.csr_array((data, places, indptr), shape=(len(labels), len(known)))
    X.sort_indices()
    columns = tuple(Column(f"feature {index}", at) for at, index in enumerate(known.tolist()))
    return Table(X, _labels(labels), columns, np.array(lines), np.arange(len(lines)), None, "svmlight")


def _bad_word(words: list[str], first: int, place: str) -> DataError:
    """What is wrong with a row that is not label index:value ..."""
    if ":" in words[0]:
        return DataError(f"{place}:1: expected a label, found {words[0]!r}.")
    seen: set[int] = set()
    for at, word in enumerate(words[first:], start=first + 1):
        index, _, value = word.partition(":")
        if not index.isdecimal() or int(index) >= 2**63 or not is_number(value):
            return DataError(f"{place}:{at}: expected index:value, such as 3:0.5, found {word[:40]!r}.")
        if int(index) in seen:
            return DataError(f"{place}:{at}: feature {index} is there twice in this row.")
        seen.add(int(index))
    return DataError(f"{place}: expected label index:value ..., found {' '.join(words)[:40]!r}.")
