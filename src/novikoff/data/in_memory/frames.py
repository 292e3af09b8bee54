"""FrameReader: DataFrames, and whatever else Arrow can read, as blocks.

A table of Arrow is read as the reader of Arrow files reads it, except that booleans are the numbers 0 and 1, that a
categorical column of numbers holds words, since a program has said what they are, and that strings which are declared
to be numbers may be written in any notation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from novikoff.data.formats.arrow_arrays import SAMPLE, holds_strings
from novikoff.data.formats.block import TableBlock
from novikoff.data.formats.column_kinds import NumberOptions, sniff_columns
from novikoff.data.formats.columnar import ColumnarReader, rows_for
from novikoff.data.formats.notations import Notation
from novikoff.data.formats.sources import Source
from novikoff.data.in_memory.known import KnownColumns, is_missing
from novikoff.errors import DataError

__all__ = ["FrameReader", "NamedArray", "as_arrow_table", "as_frame", "names_of"]

_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError)  # what pyarrow raises for values that do not fit


def library_of(value: object) -> str:
    """Return the name of the package that an object's class is from."""
    return type(value).__module__.partition(".")[0]


class FrameReader(ColumnarReader):
    """Blocks of rows from a table of Arrow that is in memory.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        For messages.
    known : KnownColumns, optional
        What a model knows of the columns: they are read as it knows them.
    target, drop, types, bad_rows
        As `ParquetReader` has them.

    Attributes
    ----------
    notations : dict of str to Notation
        How the numbers in strings are written.

    Examples
    --------
    >>> import pyarrow
    >>> from novikoff.data.in_memory.frames import FrameReader
    >>> days = pyarrow.table({"sky": ["sun", "rain"], "windy": [False, True], "sail": ["yes", "no"]})
    >>> [block] = FrameReader(days, "days")
    >>> block.columns["windy"].tolist(), block.labels.tolist()
    ([0.0, 1.0], ['yes', 'no'])
    """

    _format = "Arrow"

    def __init__(
        self,
        table: pa.Table,
        name: str,
        *,
        known: KnownColumns | None = None,
        types: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        known = known or KnownColumns()
        kinds = {**known.kinds, **(types or {})}
        arrays = [_as_kind(column, own, kinds.get(own), known) for own, column in _zip_columns(table)]
        self._table = pa.Table.from_arrays(arrays, names=table.column_names)
        # Numbers need no declaration, and thousands of columns would each be searched for.
        is_plain = {own for own, column in _zip_columns(self._table) if _holds_numbers(column.type)}
        declared = {
            own: kind
            for own, kind in kinds.items()
            if own in (types or {}) or (own in self._table.column_names and not (kind == "number" and own in is_plain))
        }
        self.notations = self._notations = _find_notations(self._table, kinds, known)
        super().__init__(Source(name, lambda n: b""), types=declared, **options)

    def _open(self) -> pa.Schema:
        return self._table.schema

    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        return iter(self._table.select(names).to_batches(max_chunksize=rows_for(len(names))))

    def __iter__(self) -> Iterator[TableBlock]:
        if self._table.num_rows > rows_for(self._table.num_columns):
            return super().__iter__()
        return self._blocks()  # to start threads would take longer than to read

    @property
    def _workers(self) -> int:
        return super()._workers if self._table.num_rows > rows_for(self._table.num_columns) else 0


def _find_notations(table: pa.Table, kinds: Mapping[str, str], known: KnownColumns) -> dict[str, Notation]:
    """Return how the numbers are written that are strings: as the model knows, or else as the first of them show."""
    strings = {
        own: column for own, column in _zip_columns(table) if kinds.get(own) == "number" and holds_strings(column.type)
    }
    names = [own for own in strings if own not in known.kinds and own not in known.notations]
    samples = [
        ["" if cell is None else cell.strip() for cell in strings[own].slice(0, SAMPLE).to_pylist()] for own in names
    ]
    declared = dict.fromkeys(range(len(names)), "number")
    sniffed = sniff_columns(samples, None, declared=declared, notations={}, options=NumberOptions(), delimiter=",")
    found = {own: known.notation_of(own) for own in strings}
    return found | {own: kind.notation for own, kind in zip(names, sniffed, strict=True)}


def _zip_columns(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Return the names and columns of a table; two may have the same name."""
    return zip(table.column_names, table.columns, strict=True)


def _holds_numbers(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _as_kind(column: pa.ChunkedArray, name: str, kind: str | None, known: KnownColumns) -> pa.ChunkedArray:
    """Return a column in a type that is read as this kind; None if the type decides."""
    if pa.types.is_boolean(column.type):
        if kind not in ("word", "text"):
            return column.cast(pa.float64())
        true, false = known.spell_booleans(name)
        words = [None if cell is None else true if cell else false for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(words, pa.string())])
    if pa.types.is_dictionary(column.type) and not holds_strings(column.type) and kind != "number":
        return column.cast(column.type.value_type).cast(pa.string())
    return column


def as_frame(data: Any, name: str) -> Any:
    """Return a DataFrame of pandas as it is, and any other as a table of Arrow."""
    if library_of(data) == "pandas":
        return data
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data).read_all()  # pa.table would load pandas, if it is installed
        return pa.table(data)
    except _FAULTS as error:
        raise DataError(f"{name}: cannot be read as a table of Arrow: {_reason(error)}.") from error


def names_of(frame: Any) -> list[str]:
    """Return the names of the columns of a DataFrame of pandas, or of a table of Arrow."""
    return frame.column_names if isinstance(frame, pa.Table) else [str(own) for own in frame.columns]


def as_arrow_table(frame: Any, name: str, dropped: Collection[str], types: Mapping[str, str]) -> pa.Table:
    """Return a DataFrame of pandas, a table of Arrow or an array with named columns as a table of Arrow.

    Columns that are dropped keep their place, so that messages number the others as the user does, but may be empty.
    `types` says what columns hold: one with values of several types is an error unless it is named there.
    """
    if isinstance(frame, pa.Table):
        return frame
    names = names_of(frame)
    arrays = [
        pa.chunked_array([pa.nulls(len(frame))])
        if own in dropped
        else _as_arrow_array(frame.iloc[:, k], f'{name}: column "{own}" (number {k + 1})', types.get(own))
        for k, own in enumerate(names)
    ]
    return pa.Table.from_arrays(arrays, names=names)


@dataclass(frozen=True)
class NamedArray:
    """An array of two dimensions with names for its columns, which are found as those of a DataFrame of pandas are."""

    array: np.ndarray
    columns: list[str]

    def __len__(self) -> int:
        return len(self.array)

    @property
    def iloc(self) -> np.ndarray:
        return self.array


def _as_arrow_array(values: Any, where: str, kind: str | None = None) -> pa.ChunkedArray:
    """Return a Series of pandas, or an array of one dimension, as an array of Arrow, missing where a value is None or
    NaN.

    Values of several types are written out as strings if a `kind` says what they are; otherwise the error begins
    with `where`.
    """
    if library_of(values) == "pandas" and type(values.dtype).__name__ == "SparseDtype":
        values = values.sparse.to_dense()
    if isinstance(values, np.ndarray):
        values = values.tolist() if values.dtype.kind in "OUS" else values.astype(_sound_dtype(values.dtype))
    try:
        found = pa.array(values, from_pandas=True)
    except _FAULTS as error:
        if kind is None:
            raise DataError(
                f"{where} holds values that are not all numbers or all strings ({_reason(error)}). Make them so, for "
                "example by astype(str), leave the column out, or say in types what it holds."
            ) from error
        cells = values if isinstance(values, list) else values.tolist()
        found = pa.array([None if is_missing(cell) else str(cell) for cell in cells])
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _sound_dtype(dtype: np.dtype) -> Any:
    """Return a dtype that Arrow knows, with which the numbers stay what they are as doubles."""
    is_known = dtype.kind != "f" or dtype.itemsize in (4, 8)
    return dtype.newbyteorder("=") if is_known else np.float64


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0].strip(" .")[:200]
