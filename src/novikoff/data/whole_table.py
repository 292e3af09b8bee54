"""read_whole_table: a file as one matrix with labels, for what needs all rows at once.

Any format that `open_stream` reads becomes a matrix X:

    a column of numbers                      one column of X
    any other column                         one column of X per value, named "column=value", 1 where the row has it
    features of svmlight or Vowpal Wabbit    one column of X for each feature that occurs
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.data.encoding import NameEncoding
from novikoff.data.feature_names import category_name
from novikoff.data.formats.block import Block, CategoricalColumn, SparseBlock, TableBlock, TextColumn
from novikoff.data.formats.column_notes import ColumnNote, note_columns
from novikoff.data.formats.delimited import TableReader
from novikoff.data.formats.opening import open_stream
from novikoff.data.formats.rejects import Reject, RejectCode, RowError
from novikoff.data.formats.text import LabelledTextReader
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize

__all__ = ["TableColumn", "TableError", "TableRemedy", "WholeTable", "read_whole_table"]

_FEW_VALUES = 50  # a column of words may have so many different values, or one for every two rows if that is more
_MOST_DENSE = 20_000_000  # cells of a one-hot encoded table that is still stored as a dense array
_HASH_BITS = 28  # the most there are, so that no two feature names share a column


class TableRemedy(StrEnum):
    """What the caller of `read_whole_table` can do about a `TableError`."""

    DROP_ROWS = "drop-rows"
    DROP_ROWS_OR_COLUMN = "drop-rows-or-column"
    DROP_COLUMN = "drop-column"
    DROP_COLUMNS = "drop-columns"
    NAME_TARGET = "name-target"
    NAME_FORMAT = "name-format"
    LEARN_TEXT = "learn-text"


_ADVICE = {
    TableRemedy.DROP_ROWS: "Leave such rows out with drop_missing=True, or name another target.",
    TableRemedy.DROP_ROWS_OR_COLUMN: "Leave these rows out with drop_missing=True, or a column with drop.",
    TableRemedy.DROP_COLUMN: "Leave it out with drop.",
    TableRemedy.DROP_COLUMNS: "Leave columns out with drop.",
    TableRemedy.NAME_TARGET: "Name the column of the labels with target.",
    TableRemedy.NAME_FORMAT: "If it is a CSV file, pass format='csv'.",
    TableRemedy.LEARN_TEXT: "`novikoff.learn` makes features of the words in them.",
}


class TableError(DataError):
    """A file that is no table of numbers and categories: the problem, and what the caller can do about it.

    The message advises parameters of `read_whole_table`; a command that has other names for them builds its own message
    from `problem` and `remedy`.
    """

    def __init__(self, problem: str, remedy: TableRemedy) -> None:
        super().__init__(f"{problem} {_ADVICE[remedy]}")
        self.problem, self.remedy = problem, remedy

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.remedy)


@dataclass(frozen=True)
class TableColumn:
    """A column of the file: X[:, first] if it holds numbers, X[:, first + k] for its k-th value if it holds words."""

    name: str
    first: int
    values: tuple[str, ...] = ()

    @property
    def feature_names(self) -> list[str]:
        """The names of its columns in X."""
        return [category_name(self.name, value) for value in self.values] or [self.name]


@dataclass(frozen=True, eq=False)
class WholeTable:
    """Rows X with labels y.

    Attributes
    ----------
    X, y : array or CSR array, ndarray
    columns : tuple of TableColumn
    lines : ndarray
        The lines of the file on which the rows begin, from 1.
    row_numbers : ndarray
        The numbers of the rows among all rows of the file, from 0, dropped ones included.
    target : str or None
        The name of the column of the labels.
    format : str
    notes : tuple of str
        Sentences about what was left out or encoded.
    target_reason : str
        Why this column holds the labels, if the caller has not named it.
    column_notes : tuple of ColumnNote
        What numbers in disguise were taken for.
    """

    X: Any
    y: np.ndarray
    columns: tuple[TableColumn, ...]
    lines: np.ndarray
    row_numbers: np.ndarray
    target: str | None
    format: str
    notes: tuple[str, ...] = ()
    target_reason: str = ""
    column_notes: tuple[ColumnNote, ...] = ()

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns of X."""
        return [name for column in self.columns for name in column.feature_names]


def read_whole_table(
    file: str, *, drop_missing: bool = False, drop_unreadable: bool = False, **options: Any
) -> WholeTable:
    """Read the table in a file, or in the standard input for "-".

    Parameters
    ----------
    file : str
    drop_missing : bool
        Leave out rows with missing cells: empty, ?, NA, N/A, NaN or null. Otherwise they are errors.
    drop_unreadable : bool
        Leave out rows that cannot be read for another reason, such as a word where a number is expected, and say so in
        the notes. Otherwise the first is an error.
    **options
        The options of `open_stream`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from novikoff.data.whole_table import read_whole_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "days.csv")
    ...     _ = path.write_text("sky,wind,sail\\nsun,3,yes\\nrain,9,no\\n")
    ...     table = read_whole_table(str(path))
    >>> table.feature_names, table.X.tolist(), table.y.tolist(), table.lines.tolist()
    (['sky=rain', 'sky=sun', 'wind'], [[0.0, 1.0, 3.0], [1.0, 0.0, 9.0]], ['yes', 'no'], [2, 3])
    """
    with open_stream(file, bad_rows="skip", **options) as reader:
        if isinstance(reader, LabelledTextReader):
            raise TableError(f"{reader.name}: lines of label<TAB>text have no columns.", TableRemedy.LEARN_TEXT)
        name, blocks = reader.name, list(reader)
        target, names = getattr(reader, "target_name", None), getattr(reader, "names", ())
        reason = getattr(getattr(reader, "layout", reader), "target_reason", "")
        column_notes = tuple(note_columns(reader.layout)) if isinstance(reader, TableReader) else ()
    rejects = [reject for block in blocks for reject in block.rejects]
    unreadable = [reject for reject in rejects if reject.code is not RejectCode.MISSING_LABEL]
    without_label = [reject for reject in rejects if reject.code is RejectCode.MISSING_LABEL]
    _require_readable(without_label if drop_unreadable else rejects, drop_missing)
    blocks = [block for block in blocks if len(block)]
    if not blocks:
        raise _no_complete_row(name)
    lines = np.concatenate([block.lines for block in blocks])
    row_numbers = np.searchsorted(np.sort([*lines, *(reject.line for reject in rejects)]), lines)
    y = _convert_labels(np.concatenate([np.asarray(block.labels) for block in blocks]))
    labelled = WholeTable(
        None, y, (), lines, row_numbers, target, "csv", target_reason=reason, column_notes=column_notes
    )
    if isinstance(blocks[0], TableBlock):
        table = _TableBuilder(name, names, labelled, blocks, len(without_label)).build(drop_missing)
    else:
        table = _build_from_features(name, labelled, blocks)
    return replace(table, notes=(*table.notes, *_note_unreadable(unreadable)))


def _require_readable(rejects: Sequence[Reject], drop_missing: bool) -> None:
    """Raise an error at the first row that could not be read, except those without a label if `drop_missing`."""
    for reject in rejects:
        if reject.code is not RejectCode.MISSING_LABEL:
            raise RowError(reject.reason, reject.code)
        if not drop_missing:
            raise TableError(reject.reason, TableRemedy.DROP_ROWS)


def _note_unreadable(rejects: Sequence[Reject]) -> list[str]:
    if not rejects:
        return []
    return [f"{pluralize(len(rejects), 'row')} that cannot be read left out, the first on line {rejects[0].line}."]


def _no_complete_row(name: str) -> TableError:
    return TableError(f"{name}: every row has a missing cell.", TableRemedy.DROP_COLUMNS)


def _build_from_features(name: str, labelled: WholeTable, blocks: Sequence[Block]) -> WholeTable:
    """Return a table of rows whose features have indices or names: those that occur become columns."""
    if isinstance(blocks[0], SparseBlock):
        format, (X, name_of) = "svmlight", _stack_indexed(blocks)
    else:
        format, (X, name_of) = "vw", _stack_named(blocks)
    used = np.unique(X.indices)
    if not len(used):
        raise TableError(f"{name}: no row has any feature.", TableRemedy.NAME_FORMAT)
    X = sp.csr_array((X.data, np.searchsorted(used, X.indices), X.indptr), shape=(len(labelled.y), len(used)))
    X.sort_indices()
    columns = tuple(TableColumn(name_of(index), column) for column, index in enumerate(used.tolist()))
    return replace(labelled, X=X, columns=columns, format=format)


def _stack_indexed(blocks: Sequence[Any]) -> tuple[sp.csr_array, Callable[[int], str]]:
    """One matrix of all rows of svmlight, and the name of each feature index."""
    width = max(block.rows.shape[1] for block in blocks)
    wide = [
        sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
        for rows in (block.rows for block in blocks)
    ]
    return sp.vstack(wide, format="csr"), lambda index: f"feature {index}"


def _stack_named(blocks: Sequence[Any]) -> tuple[sp.csr_array, Callable[[int], str]]:
    """One matrix of all rows of Vowpal Wabbit's text, and the name of each feature index."""
    encoding = NameEncoding.empty(_HASH_BITS)
    for block in blocks:
        for _ in encoding.learn(block):
            pass
    X = sp.vstack([sp.csr_array(encoding.encode(block).matrix) for block in blocks], format="csr")
    return X, encoding.names.__getitem__


class _TableBuilder:
    """Builds a table from blocks of columns of numbers and words."""

    def __init__(
        self, name: str, names: Sequence[str], labelled: WholeTable, blocks: Sequence[TableBlock], n_rejects: int
    ) -> None:
        self.name, self.names, self.labelled, self.n_rejects = name, list(names), labelled, n_rejects
        self.notes: list[str] = []
        self.columns = {
            column: _join_cells([block.columns.get(column) for block in blocks], blocks)
            for column in dict.fromkeys(own for block in blocks for own in block.columns)
        }

    def build(self, drop_missing: bool) -> WholeTable:
        """Return the table of the rows without missing cells and the columns that are not empty."""
        self._drop_empty_columns()
        kept = self._complete_rows(drop_missing)
        cells_of = {name: cells[kept] for name, cells in self.columns.items()}
        for name, cells in cells_of.items():
            if cells.dtype == object:
                self._require_few_values(name, cells, TableRemedy.DROP_COLUMN)
        if self.labelled.y.dtype.kind not in "iuf":
            self._require_few_values(str(self.labelled.target), self.labelled.y, TableRemedy.NAME_TARGET)
        values = [tuple(sorted(set(cells))) if cells.dtype == object else () for cells in cells_of.values()]
        firsts = np.cumsum([0, *(len(own) or 1 for own in values)])
        columns = tuple(map(TableColumn, cells_of, firsts.tolist(), values))
        self._require_distinct_names(columns)
        self._note_encoding(columns)
        return replace(
            self.labelled,
            X=_encode_cells(list(cells_of.values()), columns, int(firsts[-1])),
            y=self.labelled.y[kept],
            columns=columns,
            lines=self.labelled.lines[kept],
            row_numbers=self.labelled.row_numbers[kept],
            notes=tuple(self.notes),
        )

    def _drop_empty_columns(self) -> None:
        for name in [name for name, cells in self.columns.items() if _is_missing(cells).all()]:
            self.notes.append(f"Column {name!r} is empty and left out.")
            del self.columns[name]
        if not self.columns:
            raise _no_complete_row(self.name)

    def _complete_rows(self, drop_missing: bool) -> np.ndarray:
        """Return the rows without a missing cell; an error at the first row with one, unless such rows are to be
        dropped."""
        gaps = np.array([_is_missing(cells) for cells in self.columns.values()])
        kept = np.flatnonzero(~gaps.any(axis=0))
        n_missing = self.n_rejects + gaps.shape[1] - len(kept)
        if n_missing and not drop_missing:
            row = int(np.argmax(gaps.any(axis=0)))
            name = list(self.columns)[int(np.argmax(gaps[:, row]))]
            location = f"{self.name}:{self.labelled.lines[row]}:{self.names.index(name) + 1}"
            raise TableError(
                f"{location}: {name!r} is missing; cells are missing in {pluralize(n_missing, 'row')}.",
                TableRemedy.DROP_ROWS_OR_COLUMN,
            )
        if not len(kept):
            raise _no_complete_row(self.name)
        if n_missing:
            self.notes.append(f"{pluralize(n_missing, 'row')} with missing cells left out.")
        return kept

    def _require_distinct_names(self, columns: Sequence[TableColumn]) -> None:
        for name, count in Counter(name for column in columns for name in column.feature_names).items():
            if count > 1:
                raise DataError(f"{self.name}: two columns would both be called {name!r}; rename one of them.")

    def _note_encoding(self, columns: Sequence[TableColumn]) -> None:
        """Note how many columns of words were one-hot encoded, with an example."""
        encoded = [column for column in columns if column.values]
        names = [name for column in encoded for name in column.feature_names]
        if names:
            self.notes.append(
                f"{pluralize(len(encoded), 'column')} of words became {pluralize(len(names), 'column')} of 0 and 1, "
                f"such as {names[0]!r}."
            )

    def _require_few_values(self, name: str, cells: np.ndarray, remedy: TableRemedy) -> None:
        n_values = len(set(cells.tolist()))
        if n_values > max(_FEW_VALUES, len(cells) // 2):
            raise TableError(
                f"{self.name}: column {name!r} holds text, {n_values:,} different values in {len(cells):,} rows.",
                remedy,
            )


def _join_cells(parts: Sequence[Any], blocks: Sequence[TableBlock]) -> np.ndarray:
    """Return all cells of a column: doubles, NaN where one is missing; or strings, None where one is missing."""
    parts = [
        part if part is not None else np.full(len(block), np.nan) for part, block in zip(parts, blocks, strict=True)
    ]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    cells = np.empty(sum(map(len, parts)), object)
    cells[:] = [
        cell
        for part in parts
        for cell in (part.tolist() if isinstance(part, (CategoricalColumn, TextColumn)) else [None] * len(part))
    ]
    return cells


def _is_missing(cells: np.ndarray) -> np.ndarray:
    return np.array([cell is None for cell in cells], bool) if cells.dtype == object else np.isnan(cells)


def _convert_labels(labels: np.ndarray) -> np.ndarray:
    """Labels as integers if all are, otherwise as floats if all are numbers, otherwise as strings."""
    if labels.dtype.kind != "f":
        return labels.astype(str)
    are_integers = bool((labels == np.trunc(labels)).all() and (np.abs(labels) < 2**53).all())
    return labels.astype(np.int64) if are_integers else labels


def _encode_cells(cells_of: Sequence[np.ndarray], columns: Sequence[TableColumn], width: int) -> Any:
    """Return the matrix X: numbers as they are, words one-hot encoded; dense, unless that would be large."""
    n = len(cells_of[0])
    rows, indices, values = np.arange(n), [], []
    for cells, column in zip(cells_of, columns, strict=True):
        codes = {value: code for code, value in enumerate(column.values)}
        indices.append(column.first + np.array([codes[cell] for cell in cells] if codes else np.zeros(n, int)))
        values.append(np.ones(n) if codes else cells)
    if n * width > _MOST_DENSE and n * width > 4 * n * len(cells_of):
        coordinates = np.tile(rows, len(cells_of)), np.concatenate(indices)
        X = sp.csr_array((np.concatenate(values), coordinates), (n, width))
        X.eliminate_zeros()
        return X
    dense = np.zeros((n, width))
    for index, value in zip(indices, values, strict=True):
        dense[rows, index] = value
    return dense
