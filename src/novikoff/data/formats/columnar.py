"""What readers of Parquet and of Arrow files have in common: a schema says what the columns hold, rows come in batches.

Places are file:row:column, both counted from 1.
"""

from __future__ import annotations

import json
import os
import re
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import numpy as np
import pyarrow as pa

from novikoff._compiled.loops.decimals import LARGEST
from novikoff.data.formats.arrow_arrays import (
    address_of,
    column_of,
    has_views,
    is_time,
    kind_of,
    labels_of,
    numbers_of,
    too_large,
    without_views,
)
from novikoff.data.formats.block import Column, Reject, TableBlock, Texts, Words
from novikoff.data.formats.columns import BY_TYPE, Columns, chosen, known_kind, missing_label, position
from novikoff.data.formats.csv_cells import number_in
from novikoff.data.formats.read_ahead import in_parallel
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.sources import Source
from novikoff.data.formats.stacked import Stacked
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted

__all__ = ["FAULTS", "ColumnarReader", "rows_for"]

_ROWS, _CELLS = 3 << 13, 3 << 19  # in a block, at most: 12 MB; every batch and column costs pyarrow and us some calls
_WAITING = 1  # blocks besides those that are being made: the caller's
FAULTS = (pa.ArrowException, OSError, ValueError)  # what pyarrow raises for files that are not what they should be
_INDEX = re.compile(r"__index_level_\d+__")  # pandas writes such columns


def rows_for(n_columns: int) -> int:
    """How many rows of this many columns make a block."""
    return max(1, min(_ROWS, _CELLS // n_columns))


class ColumnarReader(Reader[TableBlock]):
    """Blocks of rows, made while the next batch is decoded and the caller works on the one before."""

    _is_divisible = True
    _format: str

    def __init__(
        self,
        source: Source | str | os.PathLike[str],
        *,
        target: str | int | bool | None = None,
        drop: Sequence[str | int] = (),
        types: Mapping[str, str] | None = None,
        bad_rows: str = "stop",
    ) -> None:
        super().__init__(source, bad_rows)
        try:
            with self._one_sentence():
                schema = self._open()
                self._has_views = has_views(schema)
                self.names = _distinct(schema.names, self.name)
                self.kinds = tuple(map(str, schema.types))  # of columns that are left out
            self._told = {
                position(column, self.names, self.name, BY_TYPE): known_kind(kind)
                for column, kind in (types or {}).items()
            }
            dropped = {position(column, self.names, self.name, "drop") for column in drop}
            dropped |= {k for k, name in enumerate(self.names) if _INDEX.fullmatch(name)}
            target_at, used = chosen(self.names, self.name, target, dropped)
            if not used:
                raise DataError(
                    f"{self.name}: found {counted(len(self.names), 'column')}, and none is left besides the target."
                )
            self._read = (*used, *([] if target_at is None else [target_at]))
            kinds = schema.types
            usable = {kind for kind in {kinds[k] for k in self._read} if kind_of(pa.nulls(0, kind)) is not None}
            for k in self._read:
                if kinds[k] not in usable:
                    self._require_told(k, kinds[k])
            self._batches = self._batches_of([self.names[k] for k in self._read])
            self._first = self._next()
            if self._first is None:
                raise DataError(f"{self.name}: found {counted(len(self.names), 'column')}, but no rows.")
            self.kinds = self._kinds(target_at, self._first)
        except BaseException:
            self.source.close()
            raise
        self.layout = Columns(self.name, self.names, self.kinds, target_at, used)
        self.target_name = None if target_at is None else self.names[target_at]

    @abstractmethod
    def _open(self) -> pa.Schema:
        """Open the file."""

    @abstractmethod
    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, a few rows at a time."""

    def _require_told(self, k: int, kind: pa.DataType) -> None:
        """A column whose type is none of ours must be of times, and told to be a number."""
        if is_time(kind) and k in self._told:
            return
        place = f'{self.name}: column "{self.names[k]}" (number {k + 1}) holds {kind}'
        if is_time(kind):
            raise DataError(
                f"{place}. Leave it out, or convert it; if it is to be read as a number, it will be in seconds."
            )
        raise DataError(f"{place}, which is no number, word or text. Leave it out, or convert it.")

    def _kinds(self, target: int | None, first: pa.RecordBatch) -> tuple[str, ...]:
        kinds = list(self.kinds)
        for k in self._read:
            found = self._told.get(k) or str(kind_of(first.column(self.names[k])))
            kinds[k] = "word" if k == target and found == "text" else found
        return tuple(kinds)

    def _next(self) -> pa.RecordBatch | None:
        """The next batch that has rows."""
        with self._one_sentence():
            for batch in self._batches:
                if batch.num_rows:
                    batch.validate(full=True)
                    return without_views(batch) if self._has_views else batch
        return None

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        """Say what pyarrow says of a file that is damaged."""
        try:
            yield
        except DataError:
            raise
        except FAULTS as error:
            said = str(error).partition("\n")[0].strip(" .")[:200]
            raise DataError(
                f"{self.name}: is no {self._format} file, or damaged or cut short ({said}). Fetch or write it again."
            ) from error

    def _blocks(self) -> Generator[TableBlock, None, None]:
        with closing(in_parallel(self._numbered_block, self._numbered(), self._workers, _WAITING)) as blocks:
            for block, error in blocks:
                if len(block) or block.rejects:
                    yield block
                if error is not None:
                    raise error

    def _numbered(self) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The batches, and the number of the first row of each."""
        batch, row = self._first, 1
        del self._first
        while batch is not None:
            yield batch, row
            row += batch.num_rows
            batch = self._next()

    def _numbered_block(self, numbered: tuple[pa.RecordBatch, int]) -> tuple[TableBlock, DataError | None]:
        batch, row = numbered
        return self._block(batch, np.arange(row, row + batch.num_rows))

    def _block(self, batch: pa.RecordBatch, rows: np.ndarray) -> tuple[TableBlock, DataError | None]:
        """The rows of a batch; if there is an error, as far as that, or without those that are wrong."""
        with self._one_sentence():
            block = self._of_numbers(batch, rows)
            if block is not None:
                return block, None
            columns = {
                self.names[k]: column_of(column, self.kinds[k])
                for k, column in zip(self._read, batch.columns, strict=True)
            }
        wrong = self._wrong_cells(batch, columns)
        if wrong and self.bad_rows == "stop":
            first = min(wrong)
            block, _ = self._block(batch.slice(0, first), rows[:first])
            return block, self._error(batch, first, int(rows[first]), wrong[first])
        if wrong:
            rejects = [
                Reject(int(rows[n]), str(self._error(batch, n, int(rows[n]), k)), _as_json(batch, n))
                for n, k in sorted(wrong.items())
            ]
            kept = np.ones(len(rows), bool)
            kept[list(wrong)] = False
            block, _ = self._block(batch.filter(pa.array(kept)), rows[kept])
            block.rejects.extend(rejects)
            return block, None
        labels = None if self.target_name is None else labels_of(columns.pop(self.target_name))
        numbers = {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}
        return TableBlock.stacked(self.name, rows, labels, columns, Stacked.of(numbers, len(rows))), None

    def _of_numbers(self, batch: pa.RecordBatch, rows: np.ndarray) -> TableBlock | None:
        """The rows of a batch that holds nothing but numbers, if it is plain that none is wrong, which is much faster
        than to look at each. They are stacked here and not by who learns from them: pyarrow's memory is let go."""
        if any(self.kinds[k] != "number" for k in self._read):
            return None
        arrays, labels = batch.columns, None
        if self.target_name is not None:
            labels = labels_of(numbers_of(arrays.pop()))
            # NaN, a missing one, is not below anything. (A dot product would wake the threads of BLAS.)
            if not np.einsum("i,i", labels, labels) < LARGEST**2:
                return None
        columns = [address_of(array) or numbers_of(array) for array in arrays]
        numbers = Stacked.at(columns, [self.names[k] for k in self.layout.used], len(rows))
        if not (numbers.squares < LARGEST**2 or _are_below(LARGEST, numbers.values)):
            return None
        return TableBlock.stacked(self.name, rows, labels, {}, numbers)

    def _wrong_cells(self, batch: pa.RecordBatch, columns: dict[str, Column]) -> dict[int, int]:
        """The first column of every row that cannot be taken as it is."""
        wrong: dict[int, int] = {}
        for k in sorted(self._read):
            column = columns[self.names[k]]
            if isinstance(column, Texts):
                continue
            found: list[np.ndarray] = []
            if isinstance(column, np.ndarray):
                found.append(too_large(batch.column(self.names[k]), column))
            if k == self.layout.target:
                found.append(np.flatnonzero(column.codes < 0 if isinstance(column, Words) else np.isnan(column)))
            for n in np.concatenate(found).tolist() if found else ():
                wrong.setdefault(n, k)
        return wrong

    def _error(self, batch: pa.RecordBatch, n: int, row: int, k: int) -> DataError:
        cell = batch.column(self.names[k])[n].as_py()
        if cell is not None and self.kinds[k] == "number":
            try:
                number_in(str(cell).strip(), self.layout, row, k)
            except DataError as error:
                return error
        return missing_label(self.layout.place(row, k), self.names[k])


def _distinct(names: Sequence[str], name: str) -> tuple[str, ...]:
    for second, twin in enumerate(names):
        if (first := names.index(twin)) != second:
            raise DataError(
                f"{name}: columns {first + 1} and {second + 1} are both called {twin!r}. Give them different names."
            )
    return tuple(names)


def _are_below(limit: float, values: np.ndarray) -> bool:
    """Whether the absolute value of every number that is not missing is below a limit."""
    return not (np.fmax.reduce(values, axis=None) >= limit or np.fmin.reduce(values, axis=None) <= -limit)


def _as_json(batch: pa.RecordBatch, n: int) -> bytes:
    """A row for people to read."""
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        cell = column.slice(n, 1)
        row[name] = (cell.cast(pa.string()) if is_time(cell.type) else cell)[0].as_py()
    return json.dumps(row, ensure_ascii=False, default=str).encode()
