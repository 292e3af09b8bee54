"""A file as one table: rows of numbers, their labels and their places, for commands that look at all rows at once.

Read as `novikoff learn` reads it, whatever its format. What is held is what is said of it:

    numbers     a column of numbers is one column of X
    words       any other becomes one column of X per value, named "column=value", that is 1 where the row has it
    features    of svmlight and Vowpal Wabbit's text are columns of X, those that occur
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.data.encoding import MARK, NameEncoding, Vocabulary
from novikoff.data.formats.block import Block, Reject, SparseBlock, TableBlock, Texts, Words
from novikoff.data.formats.opening import open_stream
from novikoff.data.formats.text import ProseReader
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted

__all__ = ["Column", "Table", "read_table"]

_WORDS = 50  # values that a column of words may have in any case, and half as many as rows beyond that
_DENSE = 20_000_000  # numbers in a table of words that is still held as a dense array
_EXACT = 28  # bits: as many names as there can be, none of which shares a column
_NO_LABEL = "the label in column"  # begins the reason why a row without one cannot be read


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


def read_table(file: str, *, drop_missing: bool = False, **reading: Any) -> Table:
    """The table in a file, or in the standard input for "-".

    Parameters
    ----------
    file : str
    drop_missing : bool
        Leave out rows with missing cells: empty, ?, NA, N/A, NaN or null. Otherwise they are errors.
    **reading
        The options of `open_stream`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from novikoff.cli.table import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "days.csv")
    ...     _ = path.write_text("sky,wind,sail\\nsun,3,yes\\nrain,9,no\\n")
    ...     table = read_table(str(path))
    >>> table.names, table.X.tolist(), table.y.tolist(), table.lines.tolist()
    (['sky=rain', 'sky=sun', 'wind'], [[0.0, 1.0, 3.0], [1.0, 0.0, 9.0]], ['yes', 'no'], [2, 3])
    """
    with open_stream(file, bad_rows="skip", **reading) as reader:
        if isinstance(reader, ProseReader):
            raise DataError(
                f"{reader.name}: lines of label<TAB>text have no columns to look at. `novikoff learn` "
                "makes features of the words in them."
            )
        name, blocks = reader.name, list(reader)
        target, names = getattr(reader, "target_name", None), getattr(reader, "names", ())
    rejects = [reject for block in blocks for reject in block.rejects]
    _require_readable(rejects, drop_missing)
    blocks = [block for block in blocks if len(block)]
    if not blocks:
        raise DataError(f"{name}: every row has a missing cell. Leave columns out with --drop.")
    lines = np.concatenate([block.lines for block in blocks])
    places = np.searchsorted(np.sort([*lines, *(reject.line for reject in rejects)]), lines)
    y = _labels(np.concatenate([np.asarray(block.labels) for block in blocks]))
    whole = Table(None, y, (), lines, places, target, "csv")
    if isinstance(blocks[0], TableBlock):
        return _Cells(name, names, whole, blocks, len(rejects)).table(drop_missing)
    return _of_features(name, whole, blocks)


def _require_readable(rejects: Sequence[Reject], drop_missing: bool) -> None:
    """An error at the first row that could not be read; without a label, it may be left out as one with a gap."""
    for reject in rejects:
        has_no_label = _NO_LABEL in reject.reason
        if not (has_no_label and drop_missing):
            raise DataError(reject.reason + (" Leave such rows out with --drop-missing." if has_no_label else ""))


def _of_features(name: str, whole: Table, blocks: Sequence[Block]) -> Table:
    """Rows that number or name their features: those that occur become columns."""
    if isinstance(blocks[0], SparseBlock):
        format, (X, names) = "svmlight", _numbered(blocks)
    else:
        format, (X, names) = "vw", _named(blocks)
    used = np.unique(X.indices)
    if not len(used):
        raise DataError(f"{name}: no row has any feature. If it is a CSV file, say --format csv.")
    X = sp.csr_array((X.data, np.searchsorted(used, X.indices), X.indptr), shape=(len(whole.y), len(used)))
    X.sort_indices()
    return replace(whole, X=X, columns=tuple(Column(names(j), at) for at, j in enumerate(used.tolist())), format=format)


def _numbered(blocks: Sequence[Any]) -> tuple[sp.csr_array, Callable[[int], str]]:
    width = max(block.rows.shape[1] for block in blocks)
    wide = [
        sp.csr_array((own.data, own.indices, own.indptr), shape=(own.shape[0], width))
        for own in (block.rows for block in blocks)
    ]
    return sp.vstack(wide, format="csr"), lambda j: f"feature {j}"


def _named(blocks: Sequence[Any]) -> tuple[sp.csr_array, Callable[[int], str]]:
    encoding = NameEncoding(Vocabulary(_EXACT, MARK))
    for block in blocks:
        for _ in encoding.learn(block):
            pass
    X = sp.vstack([sp.csr_array(encoding.read(block).matrix) for block in blocks], format="csr")
    return X, encoding.names.__getitem__


class _Cells:
    """Columns of numbers and words, on their way to a matrix."""

    def __init__(
        self, name: str, names: Sequence[str], whole: Table, blocks: Sequence[TableBlock], n_left_out: int
    ) -> None:
        self.name, self.names, self.whole, self.n_left_out = name, list(names), whole, n_left_out
        self.notes: list[str] = []
        self.parts = {
            column: self._joined(column, [block.columns.get(column) for block in blocks], blocks)
            for column in dict.fromkeys(own for block in blocks for own in block.columns)
        }

    def _joined(self, column: str, parts: Sequence[Any], blocks: Sequence[TableBlock]) -> np.ndarray:
        """All cells of a column: doubles, NaN where one is missing; or words, None where one is."""
        found = [
            part if part is not None else np.full(len(block), np.nan) for part, block in zip(parts, blocks, strict=True)
        ]
        if all(isinstance(part, np.ndarray) for part in found):
            return np.concatenate(found)
        cells = np.empty(sum(map(len, found)), object)
        cells[:] = [
            cell
            for part in found
            for cell in (part.tolist() if isinstance(part, (Words, Texts)) else [None] * len(part))
        ]
        return cells

    def table(self, drop_missing: bool) -> Table:
        """The table, of the rows and columns that stay."""
        self._leave_out_empty_columns()
        kept = self._kept_rows(drop_missing)
        parts = {name: cells[kept] for name, cells in self.parts.items()}
        for name, cells in parts.items():
            if cells.dtype == object:
                self._require_few(name, cells, "leave it out with --drop.")
        if self.whole.y.dtype.kind not in "iuf":
            self._require_few(str(self.whole.target), self.whole.y, "name the column of the labels with --target.")
        values = [tuple(sorted(set(cells))) if cells.dtype == object else () for cells in parts.values()]
        firsts = np.cumsum([0, *(len(own) or 1 for own in values)])
        columns = tuple(map(Column, parts, firsts.tolist(), values))
        self._require_names(columns)
        return replace(
            self.whole,
            X=_matrix(list(parts.values()), columns, int(firsts[-1])),
            y=self.whole.y[kept],
            columns=columns,
            lines=self.whole.lines[kept],
            numbers=self.whole.numbers[kept],
            notes=tuple(self.notes),
        )

    def _leave_out_empty_columns(self) -> None:
        for name in [name for name, cells in self.parts.items() if _is_missing(cells).all()]:
            self.notes.append(f"Column {name!r} is empty and left out.")
            del self.parts[name]
        if not self.parts:
            raise DataError(f"{self.name}: every row has a missing cell. Leave columns out with --drop.")

    def _kept_rows(self, drop_missing: bool) -> np.ndarray:
        """Which rows have no missing cell; an error at the first that has one, unless such rows are to be dropped."""
        gaps = np.array([_is_missing(cells) for cells in self.parts.values()])
        kept = np.flatnonzero(~gaps.any(axis=0))
        missing = self.n_left_out + gaps.shape[1] - len(kept)
        if missing and not drop_missing:
            row = int(np.argmax(gaps.any(axis=0)))
            name = list(self.parts)[int(np.argmax(gaps[:, row]))]
            place = f"{self.name}:{self.whole.lines[row]}:{self.names.index(name) + 1}"
            raise DataError(
                f"{place}: {name!r} is missing; cells are missing in "
                f"{counted(missing, 'row')}. Leave these rows out with --drop-missing, or a column with "
                "--drop."
            )
        if not len(kept):
            raise DataError(f"{self.name}: every row has a missing cell. Leave columns out with --drop.")
        if missing:
            self.notes.append(f"{counted(missing, 'row')} with missing cells left out.")
        return kept

    def _require_names(self, columns: Sequence[Column]) -> None:
        """One name for every column of X, and a note on those that are made here."""
        for twin, count in Counter(name for column in columns for name in column.names).items():
            if count > 1:
                raise DataError(f"{self.name}: two columns would both be called {twin!r}; rename one of them.")
        made = [name for column in columns if column.values for name in column.names]
        if made:
            words = sum(1 for column in columns if column.values)
            self.notes.append(
                f"{counted(words, 'column')} of words became {counted(len(made), 'column')} of 0 and 1, "
                f"such as {made[0]!r}."
            )

    def _require_few(self, name: str, cells: np.ndarray, remedy: str) -> None:
        values = len(set(cells.tolist()))
        if values > max(_WORDS, len(cells) // 2):
            raise DataError(
                f"{self.name}: column {name!r} holds text, {values:,} different values in {len(cells):,} rows: {remedy}"
            )


def _is_missing(cells: np.ndarray) -> np.ndarray:
    return np.array([cell is None for cell in cells], bool) if cells.dtype == object else np.isnan(cells)


def _labels(found: np.ndarray) -> np.ndarray:
    """Whole numbers if all are, numbers if all are, or as they stand."""
    if found.dtype.kind != "f":
        return found.astype(str)
    is_whole = bool((found == np.trunc(found)).all() and (np.abs(found) < 2**53).all())
    return found.astype(np.int64) if is_whole else found


def _matrix(parts: Sequence[np.ndarray], columns: Sequence[Column], width: int) -> Any:
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
