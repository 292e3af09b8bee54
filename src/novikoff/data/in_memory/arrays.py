"""Arrays and sparse matrices as blocks.

A two-dimensional array is a table without names, and its columns are called as those of a file without a header are. A
sparse matrix is like the rows of an svmlight file: column j is feature j.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.block import AnyColumn, SparseBlock, TableBlock, TextColumn
from novikoff.data.formats.columns import TableLayout, name_column
from novikoff.data.formats.delimited_layout import parse_number
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.in_memory.known import is_missing
from novikoff.errors import DataError
from novikoff.inputs.sparse import to_checked_csr

__all__ = ["as_table_array", "blocks_of_numbers", "blocks_of_sparse", "blocks_of_texts", "name_columns"]

_CELLS = 3 << 19  # in a block, at most: 12 MB
_ROWS = 1 << 16
_MAX_INT32 = np.iinfo(np.int32).max


def as_table_array(data: Any, name: str) -> np.ndarray:
    """Return a two-dimensional array, or a list of rows, as an array: of numbers, or of objects if there is anything
    else."""
    try:
        array = np.asarray(data)
        if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
            array = np.array(data, object)  # NumPy has made strings of the numbers among them
    except ValueError as error:
        raise DataError(f"{name}: its rows have different numbers of values. Give each row as many.") from error
    hint = " For one example use predict_one or learn_one."
    if array.ndim == 0:
        raise DataError(
            "Expected a DataFrame, a list of dicts, an array of two dimensions, a sparse matrix or a list of texts; "
            f"found {type(data).__name__}.{hint if isinstance(data, Mapping) else ''}"
        )
    if not array.size:
        raise DataError(f"{name}: there are no rows, or no columns (shape {array.shape}). Pass some.")
    if array.ndim != 2:
        raise DataError(
            f"{name}: expected two dimensions, a row for each example, found {array.ndim}. Reshape your data."
            f"{hint if array.ndim == 1 else ''}"
        )
    if array.dtype.kind not in "fiubOUS":
        raise DataError(f"{name}: holds {array.dtype}, which are no numbers or strings. Convert them.")
    return array


def name_columns(width: int) -> list[str]:
    """Return the names of columns that have none, as files without a header have them."""
    return [name_column(k) for k in range(1, width + 1)]


def blocks_of_numbers(array: np.ndarray, names: Sequence[str], name: str) -> Iterator[TableBlock]:
    """Yield the rows of an array of numbers as blocks of a table, NaN where a cell is missing."""
    step = max(1, min(_ROWS, _CELLS // len(names)))
    for start in range(0, len(array), step):
        values = np.ascontiguousarray(array[start : start + step], np.float64)
        numbers = NumberMatrix(list(names), values)
        if not numbers.sum_of_squares < VALUE_LIMIT**2:
            _require_moderate(values, start, names, name)
        columns: dict[str, AnyColumn] = dict(numbers.columns)
        lines = np.arange(start + 1, start + len(values) + 1)
        yield TableBlock(name, lines, None, columns, numbers=numbers)


def _require_moderate(values: np.ndarray, start: int, names: Sequence[str], name: str) -> None:
    """Raise an error for the first number that is infinite or too large to be squared."""
    found = np.argwhere(np.abs(values) >= VALUE_LIMIT)
    for row, k in found[:1].tolist():
        layout = TableLayout(name, tuple(names), ("number",) * len(names), None, tuple(range(len(names))))
        parse_number(str(values[row, k]), layout, start + row + 1, k)


def blocks_of_texts(texts: Sequence[Any], column: str, name: str) -> Iterator[TableBlock]:
    """Strings as blocks of a table with one column of texts."""
    for start in range(0, len(texts), _ROWS):
        part = [None if is_missing(text) else text for text in texts[start : start + _ROWS]]
        for n, text in enumerate(part, start=start + 1):
            if text is not None and not isinstance(text, str):
                raise DataError(
                    f"{name}:{n}: expected a string, found {text!r}. If these are the only column of a table, pass a "
                    "table of two dimensions: to_frame() makes one of a Series."
                )
        lines = np.arange(start + 1, start + len(part) + 1)
        yield TableBlock(name, lines, None, {column: TextColumn.from_cells(part)})


def blocks_of_sparse(matrix: Any, name: str) -> Iterator[SparseBlock]:
    """Yield the rows of a sparse matrix as blocks."""
    rows = to_checked_csr(matrix).sum_duplicates().matrix.astype(np.float64, copy=False)
    for start in range(0, rows.shape[0], _ROWS):
        part = rows[start : start + _ROWS] if rows.shape[0] > _ROWS else rows
        if part.nnz <= _MAX_INT32 and part.shape[1] <= _MAX_INT32:  # as in the blocks of files: compiled loops exist
            indices, indptr = part.indices.astype(np.int32, copy=False), part.indptr.astype(np.int32, copy=False)
            part = sp.csr_array((part.data, indices, indptr), shape=part.shape)
        yield SparseBlock(name, np.arange(start + 1, start + part.shape[0] + 1), None, part)
