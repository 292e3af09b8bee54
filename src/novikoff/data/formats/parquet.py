"""ParquetReader: reads Parquet files block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from novikoff.data.formats.columnar import ColumnarReader, rows_for
from novikoff.data.formats.seeking import SeekableSource, is_file
from novikoff.data.formats.sources import Source, open_source
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize

__all__ = ["ParquetReader"]

_BUFFER = 1 << 16  # bytes of each column to read at a time


class ParquetReader(ColumnarReader):
    """Iterator over the blocks of a Parquet file. The next blocks are read in threads while the caller uses this one.

    How values are read depends on the type of their column:

    - Integers, floats and decimals are numbers, converted to the nearest double.
    - Strings are words, or texts if they look like texts in the first block.
    - Booleans are the words "true" and "false".
    - Nulls and NaN are missing values.
    - Dates and times are numbers of seconds, since 1970 if they have a date; `dates` may be "word" or "drop" instead.
    - Lists, structs and binary columns must be dropped.

    Dropped columns are not read. A row is bad if its label is missing, or if one of its numbers is infinite or has an
    absolute value of 1e150 or more.

    Parameters
    ----------
    source : path
        A file. Parquet is read from its end, so pipes are not supported.
    target : str or int or False, optional
        The label column: its name; its number, from 1, or from -1 at the end; or "first" or "last". By default the one
        that is called label, class, target or y, if there is just one, otherwise the last. False if there is none.
    drop : sequence of str or int
        Columns to drop.
    types : dict of str to {"number", "word", "text"}, optional
        Kinds of columns that are not to be inferred from their types.
    dates : {"number", "word", "drop"}
        What columns of dates and times become.
    only : collection of str, optional
        The columns that are used besides the target. By default all.
    bad_rows : {"stop", "skip"}
        What to do with a bad row. "stop": raise an error after yielding the preceding rows. "skip": add the row, as
        JSON, to the block's `rejects`.

    Attributes
    ----------
    names, kinds : tuple of str
        Names and kinds of all columns, in file order.
    target_name : str or None

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow, pyarrow.parquet
    >>> from novikoff.data.formats.parquet import ParquetReader
    >>> days = pyarrow.table({"sky": ["sun", None], "wind": [3, 4], "sail": [True, False]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "days.parquet")
    ...     pyarrow.parquet.write_table(days, path)
    ...     [block] = ParquetReader(path)
    >>> block.columns["sky"].tolist(), block.columns["wind"].tolist(), block.labels.tolist(), block.lines.tolist()
    (['sun', None], [3.0, 4.0], ['true', 'false'], [1, 2])
    """

    _format = "Parquet"
    source: SeekableSource

    def __init__(self, source: Source | str | os.PathLike[str], **options: Any) -> None:
        if isinstance(source, Source) or not is_file(source):
            raise DataError(
                f"{getattr(source, 'name', source)}: Parquet is read from its end, so pipes are not supported. "
                "Save the data to a file and pass its path."
            )
        super().__init__(SeekableSource(source), **options)

    def _open(self) -> pa.Schema:
        from pyarrow import parquet

        self._require_plain()
        # A row group may be as large as the file, so its columns are read piece by piece, not all in advance.
        self._file = parquet.ParquetFile(
            self.source.open(), buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
        )
        self.source.closing.enter_context(self._file)
        return self._file.schema_arrow

    def _require_plain(self) -> None:
        with open_source(self.source.path) as source:
            start = source.peek()[:4]
        if not start:
            raise DataError(f"{self.name}: the file is empty.")
        if start == b"PARE":
            raise DataError(f"{self.name}: is an encrypted Parquet file. Decrypt it first.")
        if start == b"PAR1" and not self.source.start.startswith(start):
            raise DataError(
                f"{self.name}: the Parquet file is itself compressed. Decompress it first; Parquet already compresses "
                "its columns."
            )

    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        n_rows, size = 0, self.source.size or 0
        for batch in self._file.iter_batches(rows_for(len(names)), columns=names, use_threads=True):
            n_rows += batch.num_rows
            self.source.bytes_read = size * n_rows // max(self._file.metadata.num_rows, 1)
            yield batch if batch.schema.names == names else batch.select(names)
        if n_rows != self._file.metadata.num_rows:
            raise DataError(
                f"{self.name}: is damaged: metadata declares {pluralize(self._file.metadata.num_rows, 'row')}, but "
                f"{n_rows:,} were read. Download or write it again."
            )
