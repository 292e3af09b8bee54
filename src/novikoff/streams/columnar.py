"""Parquet and Arrow files, block by block.

Their schema says what the columns hold. Places are file:row:column, both counted from 1.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from novikoff.errors import DataError
from novikoff.kernels.text import LARGEST
from novikoff.streams.ahead import in_parallel
from novikoff.streams.arrays import (
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
from novikoff.streams.block import Column, Reject, TableBlock, Texts, Words
from novikoff.streams.cells import number_in
from novikoff.streams.columns import BY_TYPE, Columns, chosen, known_kind, missing_label, position
from novikoff.streams.reader import Reader
from novikoff.streams.seeking import Mapped, Seekable, Unread, is_file
from novikoff.streams.sources import Source, open_source
from novikoff.streams.stacked import Stacked
from novikoff.texts import many

__all__ = ["ArrowReader", "ParquetReader"]

_ROWS, _CELLS = 3 << 13, 3 << 19  # in a block, at most: 12 MB; every batch and column costs pyarrow and us some calls
_WAITING = 1  # blocks besides those that are being read
_BUFFER = 1 << 16  # bytes of each column of a Parquet file that are read at once
_FAULTS = (pa.ArrowException, OSError, ValueError)  # what pyarrow raises for files that are not what they should be
_FILE, _STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"  # how Arrow's files and streams begin
_INDEX = re.compile(r"__index_level_\d+__")  # pandas writes such columns


def _rows_for(n_columns: int) -> int:
    """How many rows of this many columns make a block."""
    return max(1, min(_ROWS, _CELLS // n_columns))


class _ColumnarReader(Reader[TableBlock]):
    """What Parquet and Arrow files have in common: a schema, and batches of rows."""

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
            self._told = {position(column, self.names, self.name, BY_TYPE): known_kind(kind)
                          for column, kind in (types or {}).items()}  # fmt: skip
            dropped = {position(column, self.names, self.name, "drop") for column in drop}
            dropped |= {k for k, name in enumerate(self.names) if _INDEX.fullmatch(name)}
            target_at, used = chosen(self.names, self.name, target, dropped)
            if not used:
                raise DataError(f"{self.name}: found {many(len(self.names), 'column')}, and none is left besides the "
                                "target.")  # fmt: skip
            self._read = (*used, *([] if target_at is None else [target_at]))
            kinds = schema.types
            usable = {kind for kind in {kinds[k] for k in self._read} if kind_of(pa.nulls(0, kind)) is not None}
            for k in self._read:
                if kinds[k] not in usable:
                    self._require_told(k, kinds[k])
            self._batches = self._batches_of([self.names[k] for k in self._read])
            self._first = self._next()
            if self._first is None:
                raise DataError(f"{self.name}: found {many(len(self.names), 'column')}, but no rows.")
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
            raise DataError(f"{place}. Leave it out, or convert it; if it is to be read as a number, it will be in "
                            "seconds.")  # fmt: skip
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
        except _FAULTS as error:
            said = str(error).partition("\n")[0].strip(" .")[:200]
            raise DataError(f"{self.name}: is no {self._format} file, or damaged or cut short ({said}). Fetch or write "
                            "it again.") from error  # fmt: skip

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
            columns = {self.names[k]: column_of(column, self.kinds[k])
                       for k, column in zip(self._read, batch.columns, strict=True)}  # fmt: skip
        wrong = self._wrong_cells(batch, columns)
        if wrong and self.bad_rows == "stop":
            first = min(wrong)
            block, _ = self._block(batch.slice(0, first), rows[:first])
            return block, self._error(batch, first, int(rows[first]), wrong[first])
        if wrong:
            rejects = [Reject(int(rows[n]), str(self._error(batch, n, int(rows[n]), k)), _as_json(batch, n))
                       for n, k in sorted(wrong.items())]  # fmt: skip
            kept = np.ones(len(rows), bool)
            kept[list(wrong)] = False
            block, _ = self._block(batch.filter(pa.array(kept)), rows[kept])
            block.rejects.extend(rejects)
            return block, None
        labels = None if self.target_name is None else labels_of(columns.pop(self.target_name))
        numbers = {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}
        return TableBlock.stacked(self.name, rows, labels, columns, Stacked.of(numbers, len(rows))), None

    def _of_numbers(self, batch: pa.RecordBatch, rows: np.ndarray) -> TableBlock | None:
        """The same of a batch that holds nothing but numbers, if it is plain that none is wrong, which is much faster
        than to look at each. They are stacked here and not by who learns from them: pyarrow's memory is let go."""
        if any(self.kinds[k] != "number" for k in self._read):
            return None
        arrays, labels = batch.columns, None
        if self.target_name is not None:
            labels = labels_of(numbers_of(arrays.pop()))
            # One is missing, since NaN is not below anything, or large. (A dot product would wake the threads of BLAS.)
            if not np.einsum("i,i", labels, labels) < LARGEST**2:
                return None
        columns = [address_of(array) or numbers_of(array) for array in arrays]
        numbers = Stacked.at(columns, [self.names[k] for k in self.layout.used], len(rows))
        if not (self._largest < LARGEST or numbers.squares < LARGEST**2):
            return None
        return TableBlock.stacked(self.name, rows, labels, {}, numbers)

    @property
    def _largest(self) -> float:
        """No number of the file that is not missing is larger, or smaller than minus this."""
        return np.inf

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


class ParquetReader(_ColumnarReader):
    """Blocks of rows from a Parquet file, the next one read in a thread while the caller works on this one.

    Whole numbers, floats and decimals are numbers, each the double nearest to it; strings are words, or texts if they
    look like that in the first block; true and false are words. Nulls are missing, and so is NaN. Days and times must
    be left out or told to be numbers, which are seconds, since 1970 if they have a date. Lists, records and bytes must
    be left out. What is left out is not read.

    A number that is infinite or 1e150 and more, and a missing label, are errors.

    Parameters
    ----------
    source : path
        A file: Parquet is read from its end, so a pipe will not do.
    target : str or int or False, optional
        Name or number, from 1, of the column with the labels; by default the last. False if there is none.
    drop : sequence of str or int
        Columns to leave out.
    types : dict of str to {"number", "word", "text"}, optional
        What columns hold, where their type misleads.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`, with the row as JSON.

    Attributes
    ----------
    names, kinds : tuple of str
        Of all columns of the file, in its order.
    target_name : str or None

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow, pyarrow.parquet
    >>> from novikoff.streams.columnar import ParquetReader
    >>> days = pyarrow.table({"sky": ["sun", None], "wind": [3, 4], "sail": [True, False]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "days.parquet")
    ...     pyarrow.parquet.write_table(days, path)
    ...     [block] = ParquetReader(path)
    >>> block.columns["sky"].tolist(), block.columns["wind"].tolist(), block.labels.tolist(), block.lines.tolist()
    (['sun', None], [3.0, 4.0], ['true', 'false'], [1, 2])
    """

    _format = "Parquet"
    source: Seekable

    def __init__(self, source: Source | str | os.PathLike[str], **options: Any) -> None:
        if isinstance(source, Source) or not is_file(source):
            raise DataError(f"{getattr(source, 'name', source)}: Parquet is read from its end and needs a file, not a "
                            "pipe. Save it to one, and name that.")  # fmt: skip
        super().__init__(Seekable(source), **options)

    def _open(self) -> pa.Schema:
        from pyarrow import parquet

        self._require_plain()
        # A row group may be as large as the file: its columns are read as they are needed, not all of them ahead.
        self._file = parquet.ParquetFile(
            self.source.path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
        )
        self.source.holds.enter_context(self._file)
        return self._file.schema_arrow

    @functools.cached_property
    def _largest(self) -> float:
        """As the file itself says; infinity if it does not."""
        if self._file.schema.names != self._file.schema_arrow.names:
            return np.inf  # columns within columns
        groups, found = self._file.metadata, 0.0
        for group in map(groups.row_group, range(groups.num_row_groups)):
            for column in map(group.column, self._read):
                known = column.statistics if column.is_stats_set else None
                ends = (known.min, known.max) if known is not None and known.has_min_max else (None, None)
                if not all(isinstance(end, int | float) and math.isfinite(end) for end in ends):
                    return np.inf
                found = max(found, *map(abs, ends))
        return found

    def _require_plain(self) -> None:
        with open_source(self.source.path) as source:
            start = source.peek()[:4]
        if not start:
            raise DataError(f"{self.name}: the file is empty.")
        if start == b"PARE":
            raise DataError(f"{self.name}: is an encrypted Parquet file. Decrypt it first.")
        if start == b"PAR1" and not self.source.start.startswith(start):
            raise DataError(f"{self.name}: is a Parquet file that has been packed as a whole. Unpack it first: Parquet "
                            "packs its columns itself.")  # fmt: skip

    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        n_rows, size = 0, self.source.size or 0
        for batch in self._file.iter_batches(_rows_for(len(names)), columns=names, use_threads=True):
            n_rows += batch.num_rows
            self.source.taken = size * n_rows // max(self._file.metadata.num_rows, 1)
            yield batch if batch.schema.names == names else batch.select(names)
        if n_rows != self._file.metadata.num_rows:
            raise DataError(f"{self.name}: is damaged: it promises {many(self._file.metadata.num_rows, 'row')} and has "
                            f"{n_rows:,}. Fetch or write it again.")  # fmt: skip


class ArrowReader(_ColumnarReader):
    """Blocks of rows from Arrow's files (also called Feather) and streams, which may come through a pipe.

    Memory is that of a block for files as they are, which are mapped; of the largest batch that the file was written
    in, if it comes through a pipe or is packed. All else is as with `ParquetReader`.

    Parameters
    ----------
    source : Source or path or "-"
    target, drop, types, bad_rows
        As `ParquetReader` has them.

    Examples
    --------
    >>> import pyarrow
    >>> from novikoff.streams.columnar import ArrowReader
    >>> from novikoff.streams.sources import Source
    >>> days = pyarrow.record_batch({"sky": ["sun", "rain"], "wind": [3.5, None], "sail": ["yes", "no"]})
    >>> sink = pyarrow.BufferOutputStream()
    >>> with pyarrow.ipc.new_stream(sink, days.schema) as writer:
    ...     writer.write(days)
    >>> chunks = iter([sink.getvalue().to_pybytes(), b""])
    >>> [block] = ArrowReader(Source("days", lambda n: next(chunks)))
    >>> block.columns["wind"].tolist(), block.labels.tolist()
    ([3.5, nan], ['yes', 'no'])
    """

    _format = "Arrow"

    def __init__(self, source: Source | str | os.PathLike[str], **options: Any) -> None:
        if not isinstance(source, Source) and is_file(source):
            file = Seekable(source)
            source = file if file.start[:4] in (_FILE[:4], _STREAM) else source  # else it is packed
        super().__init__(source, **options)

    def _open(self) -> pa.Schema:
        if isinstance(self.source, Seekable):
            self._map: Mapped | None = Mapped(self.source.path)
            self._bytes = pa.BufferReader(pa.py_buffer(self._map))
            start, self._rest = self.source.start, self._bytes.read
        else:
            unread = Unread(self.source)
            self._map, self._bytes = None, pa.PythonFile(unread, mode="r")
            start, self._rest = unread.peek(len(_FILE)), unread.read
        if not start:
            raise DataError(f"{self.name}: the file is empty.")
        self._is_file = start == _FILE
        if self._is_file and self._map is not None:
            self._batches_in = pa.ipc.open_file(self._bytes)
        else:
            self._batches_in = self._open_stream()
        return self._batches_in.schema

    def _open_stream(self) -> pa.RecordBatchReader:
        if not self._is_file:
            return pa.ipc.open_stream(self._bytes)
        self._bytes.read(len(_FILE))  # most files are a stream between their name and a list of the places in it
        try:
            return pa.ipc.open_stream(self._bytes)
        except _FAULTS as error:
            raise DataError(f"{self.name}: is an Arrow file that can only be read from its end, as polars writes them, "
                            "or damaged. Save it to a file that is not packed, and name that.") from error  # fmt: skip

    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        for batch, begin, end in self._parts():
            step = _rows_for(len(names))
            for at in range(0, batch.num_rows, step):
                yield batch.slice(at, step).select(names)
                if isinstance(self.source, Seekable) and self._map is not None:
                    self.source.taken = begin + (end - begin) * min(at + step, batch.num_rows) // batch.num_rows
                    self._map.forget()

    def _parts(self) -> Iterator[tuple[pa.RecordBatch, int, int]]:
        """The batches of the file, and where each begins and ends, in bytes; that is an estimate for files."""
        if self._is_file and self._map is not None:
            count, size = self._batches_in.num_record_batches, len(self._map)
            for k in range(count):
                yield self._batches_in.get_batch(k), size * k // count, size * (k + 1) // count
            return
        end = 0
        for batch in self._batches_in:
            begin, end = end, self._bytes.tell() if self._map is not None else 0
            yield batch, begin, end
        if self._is_file or self.source.is_steady:  # else the pipe may be open for another while
            self._require_end(self._rest())

    def _require_end(self, rest: bytes) -> None:
        """After the last batch, a file has its footer, the length of that and the name; a stream nothing."""
        size = int.from_bytes(rest[-10:-6], "little") + 10 if self._is_file else 0
        if len(rest) != size or (self._is_file and not rest.endswith(_FILE[:6])):
            raise DataError(f"{self.name}: is damaged or cut short: its rows do not end where they should. Fetch or "
                            "write it again.")  # fmt: skip


def _distinct(names: Sequence[str], name: str) -> tuple[str, ...]:
    for second, twin in enumerate(names):
        if (first := names.index(twin)) != second:
            raise DataError(f"{name}: columns {first + 1} and {second + 1} are both called {twin!r}. Give them "
                            "different names.")  # fmt: skip
    return tuple(names)


def _as_json(batch: pa.RecordBatch, n: int) -> bytes:
    """A row for people to read."""
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        cell = column.slice(n, 1)
        row[name] = (cell.cast(pa.string()) if is_time(cell.type) else cell)[0].as_py()
    return json.dumps(row, ensure_ascii=False, default=str).encode()
