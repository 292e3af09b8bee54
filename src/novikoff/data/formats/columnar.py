"""ColumnarReader: what the readers of Parquet and Arrow files share.

Locations are file:row:column, both counted from 1.
"""

from __future__ import annotations

import json
import math
import os
import re
from abc import abstractmethod
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import numpy as np
import pyarrow as pa

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.arrow_arrays import (
    address_of,
    column_of,
    find_too_large,
    has_views,
    is_time,
    kind_of,
    labels_of,
    numbers_of,
    without_views,
)
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.column_kinds import NumberOptions
from novikoff.data.formats.columns import (
    TableLayout,
    choose_columns,
    column_index,
    declared_kinds,
    missing_label_error,
)
from novikoff.data.formats.delimited_layout import number_error
from novikoff.data.formats.notations import Notation, parse_cell
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.formats.read_ahead import map_in_threads
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.rejects import Reject, RowError
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize

__all__ = ["FAULTS", "ColumnarReader", "rows_for"]

_ROWS, _CELLS = 3 << 13, 3 << 19  # in a block, at most: 12 MB; every batch and column costs some calls
_WAITING = 1  # blocks besides those that are being made: the caller's
FAULTS = (pa.ArrowException, OSError, ValueError)  # what pyarrow raises for damaged files
_INDEX = re.compile(r"__index_level_\d+__")  # pandas writes such columns


def rows_for(n_columns: int) -> int:
    """Return the number of rows of this many columns that make a block."""
    return max(1, min(_ROWS, _CELLS // n_columns))


class ColumnarReader(Reader[TableBlock]):
    """Blocks of rows, made while the next batch is decoded and the caller works on the one before."""

    _is_divisible = True
    _format: str
    _notations: Mapping[str, Notation] = {}  # of the strings that are numbers, by column; plain by default

    def __init__(
        self,
        source: Source | str | os.PathLike[str],
        *,
        target: str | int | bool | None = None,
        drop: Sequence[str | int] = (),
        types: Mapping[str, str] | None = None,
        bad_rows: str = "stop",
        dates: str = "number",
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(source, bad_rows)
        try:
            with self._as_data_error():
                schema = self._open()
                self._has_views = has_views(schema)
                self.names = _require_distinct(schema.names, self.name)
                self.kinds = tuple(map(str, schema.types))  # stays so for columns that are left out
            self._declared = declared_kinds(types or {}, self.names, self.name)
            target_index, used, reason = self._choose(schema.types, target, drop, dates, only)
            self._read = (*used, *([] if target_index is None else [target_index]))
            self._require_usable(schema.types)
            self._batches = self._batches_of([self.names[k] for k in self._read])
            self._first = self._next()
            if self._first is None:
                raise DataError(f"{self.name}: found {pluralize(len(self.names), 'column')}, but no rows.")
            self.kinds = self._kinds(target_index, self._first)
        except BaseException:
            self.source.close()
            raise
        self.layout = TableLayout(self.name, self.names, self.kinds, target_index, used, target_reason=reason)
        self.target_name = None if target_index is None else self.names[target_index]

    @abstractmethod
    def _open(self) -> pa.Schema:
        """Open the file."""

    @abstractmethod
    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns, a few rows at a time."""

    def _choose(
        self,
        kinds: Sequence[pa.DataType],
        target: str | int | bool | None,
        drop: Sequence[str | int],
        dates: str,
        only: Collection[str] | None,
    ) -> tuple[int | None, tuple[int, ...], str]:
        """Return the columns that are used, as `choose_columns` returns them; those of times are declared as `dates`
        says."""
        dropped = {column_index(column, self.names, self.name, "drop") for column in drop}
        dropped |= {k for k, name in enumerate(self.names) if _INDEX.fullmatch(name)}
        target_index, used, reason = choose_columns(self.names, self.name, target, dropped, only)
        times = {k for k, kind in enumerate(kinds) if is_time(kind) and k not in self._declared}
        if NumberOptions(dates=dates).dates == "drop":
            used = tuple(k for k in used if k not in times)
        for k in times:
            self._declared[k] = "word" if dates == "word" or k == target_index else "number"
        if not used:
            raise DataError(
                f"{self.name}: found {pluralize(len(self.names), 'column')}, and none is left besides the target."
            )
        return target_index, used, reason

    def _require_usable(self, kinds: Sequence[pa.DataType]) -> None:
        """Raise an error for a column whose type is not one of ours."""
        usable = {kind for kind in {kinds[k] for k in self._read} if kind_of(pa.nulls(0, kind)) is not None}
        for k in self._read:
            if kinds[k] not in usable and not is_time(kinds[k]):
                raise FileError(
                    f'{self.name}: column "{self.names[k]}" (number {k + 1}) holds {kinds[k]}, which is no number, '
                    "word or text. Leave it out, or convert it.",
                    Remedy.DROP_COLUMN,
                    column=self.names[k],
                )

    def _kinds(self, target: int | None, first: pa.RecordBatch) -> tuple[str, ...]:
        kinds = list(self.kinds)
        for k in self._read:
            found = self._declared.get(k) or str(kind_of(first.column(self.names[k])))
            kinds[k] = "word" if k == target and found == "text" else found
        return tuple(kinds)

    def _next(self) -> pa.RecordBatch | None:
        """Return the next batch that has rows."""
        with self._as_data_error():
            for batch in self._batches:
                if batch.num_rows:
                    batch.validate(full=True)
                    return without_views(batch) if self._has_views else batch
        return None

    @contextmanager
    def _as_data_error(self) -> Iterator[None]:
        """Turn what pyarrow raises for a damaged file into a DataError of one sentence."""
        try:
            yield
        except DataError:
            raise
        except FAULTS as error:
            reason = str(error).partition("\n")[0].strip(" .")[:200]
            raise DataError(
                f"{self.name}: is no {self._format} file, or damaged or cut short ({reason}). Fetch or write it again."
            ) from error

    def _blocks(self) -> Generator[TableBlock, None, None]:
        with closing(map_in_threads(self._block_of_batch, self._numbered_batches(), self._workers, _WAITING)) as blocks:
            for block, error in blocks:
                if len(block) or block.rejects:
                    yield block
                if error is not None:
                    raise error

    def _numbered_batches(self) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield the batches, and the number of the first row of each."""
        batch, row = self._first, 1
        del self._first
        while batch is not None:
            yield batch, row
            row += batch.num_rows
            batch = self._next()

    def _block_of_batch(self, numbered: tuple[pa.RecordBatch, int]) -> tuple[TableBlock, RowError | None]:
        batch, row = numbered
        return self._block(batch, np.arange(row, row + batch.num_rows))

    def _block(self, batch: pa.RecordBatch, rows: np.ndarray) -> tuple[TableBlock, RowError | None]:
        """Return the rows of a batch: as far as the first error, and that error, or without those that are wrong."""
        with self._as_data_error():
            block = self._block_of_numbers(batch, rows)
            if block is not None:
                return block, None
            columns = {
                self.names[k]: column_of(column, self.kinds[k], self._notation(k))
                for k, column in zip(self._read, batch.columns, strict=True)
            }
        wrong = self._wrong_cells(batch, columns)
        if wrong and self.bad_rows == "stop":
            first = min(wrong)
            block, _ = self._block(batch.slice(0, first), rows[:first])
            return block, self._error(batch, first, int(rows[first]), wrong[first])
        if wrong:
            rejects = [
                Reject.from_error(int(rows[n]), self._error(batch, n, int(rows[n]), k), _as_json(batch, n))
                for n, k in sorted(wrong.items())
            ]
            kept = np.ones(len(rows), bool)
            kept[list(wrong)] = False
            block, _ = self._block(batch.filter(pa.array(kept)), rows[kept])
            block.rejects.extend(rejects)
            return block, None
        labels, coded_labels = (None, None) if self.target_name is None else labels_of(columns.pop(self.target_name))
        numbers = NumberMatrix.from_columns(
            {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}, len(rows)
        )
        columns |= numbers.columns
        return TableBlock(self.name, rows, labels, columns, coded_labels=coded_labels, numbers=numbers), None

    def _block_of_numbers(self, batch: pa.RecordBatch, rows: np.ndarray) -> TableBlock | None:
        """Return the rows of a batch that holds nothing but numbers, if the sum of their squares shows that none is
        wrong, which is much faster than to check each. They are made row-major here and not when they are learned from,
        so that pyarrow's memory can be freed."""
        if any(self.kinds[k] != "number" for k in self._read):
            return None
        arrays, labels = batch.columns, None
        if self.target_name is not None:
            labels, _ = labels_of(numbers_of(arrays.pop(), self._notation(self._read[-1])))
            # NaN, a missing one, is not below anything. (A dot product would wake the threads of BLAS.)
            if not np.einsum("i,i", labels, labels) < VALUE_LIMIT**2:
                return None
        memory = [
            address_of(array) or numbers_of(array, self._notation(k))
            for array, k in zip(arrays, self.layout.used, strict=True)
        ]
        numbers = NumberMatrix.from_memory(memory, [self.names[k] for k in self.layout.used], len(rows))
        if not (numbers.sum_of_squares < VALUE_LIMIT**2 or _are_below(VALUE_LIMIT, numbers.values)):
            return None
        columns: dict[str, AnyColumn] = dict(numbers.columns)
        return TableBlock(self.name, rows, labels, columns, numbers=numbers)

    def _wrong_cells(self, batch: pa.RecordBatch, columns: dict[str, AnyColumn]) -> dict[int, int]:
        """Return the rows that are wrong, and the first wrong column of each."""
        wrong: dict[int, int] = {}
        for k in sorted(self._read):
            column = columns[self.names[k]]
            if isinstance(column, TextColumn):
                continue
            found: list[np.ndarray] = []
            if isinstance(column, np.ndarray):
                found.append(find_too_large(batch.column(self.names[k]), column))
            if k == self.layout.target:
                found.append(
                    np.flatnonzero(column.codes < 0 if isinstance(column, CategoricalColumn) else np.isnan(column))
                )
            for n in np.concatenate(found).tolist() if found else ():
                wrong.setdefault(n, k)
        return wrong

    def _notation(self, k: int) -> Notation:
        return self._notations.get(self.names[k], Notation.PLAIN)

    def _error(self, batch: pa.RecordBatch, n: int, row: int, k: int) -> RowError:
        cell = batch.column(self.names[k])[n].as_py()
        if cell is not None and self.kinds[k] == "number":
            text = str(cell).strip()
            if not math.isnan(parse_cell(text, self._notation(k))):
                return number_error(text, self.layout, row, k)
        return missing_label_error(self.layout.location(row, k), self.names[k])


def _require_distinct(names: Sequence[str], name: str) -> tuple[str, ...]:
    if len(set(names)) == len(names):
        return tuple(names)  # to search for each takes long if there are thousands
    for second, twin in enumerate(names):
        if (first := names.index(twin)) != second:
            raise DataError(
                f"{name}: columns {first + 1} and {second + 1} are both called {twin!r}. Give them different names."
            )
    return tuple(names)


def _are_below(limit: float, values: np.ndarray) -> bool:
    """Return whether the absolute value of every number that is not missing is below a limit."""
    return not (np.fmax.reduce(values, axis=None) >= limit or np.fmin.reduce(values, axis=None) <= -limit)


def _as_json(batch: pa.RecordBatch, n: int) -> bytes:
    """Return a row for people to read."""
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        cell = column.slice(n, 1)
        row[name] = (cell.cast(pa.string()) if is_time(cell.type) else cell)[0].as_py()
    return json.dumps(row, ensure_ascii=False, default=str).encode()
