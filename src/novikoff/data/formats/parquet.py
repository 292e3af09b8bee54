"""Parquet files, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from novikoff.data.formats.columnar import ColumnarReader, rows_for
from novikoff.data.formats.seeking import Seekable, is_file
from novikoff.data.formats.sources import Source, open_source
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted

__all__ = ["ParquetReader"]

_BUFFER = 1 << 16  # bytes of each column that are read at once


class ParquetReader(ColumnarReader):
    """Blocks of rows from a Parquet file, the next ones read in threads while the caller works on this one.

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
    source: Seekable

    def __init__(self, source: Source | str | os.PathLike[str], **options: Any) -> None:
        if isinstance(source, Source) or not is_file(source):
            raise DataError(
                f"{getattr(source, 'name', source)}: Parquet is read from its end and needs a file, not a "
                "pipe. Save it to one, and name that."
            )
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

    def _require_plain(self) -> None:
        with open_source(self.source.path) as source:
            start = source.peek()[:4]
        if not start:
            raise DataError(f"{self.name}: the file is empty.")
        if start == b"PARE":
            raise DataError(f"{self.name}: is an encrypted Parquet file. Decrypt it first.")
        if start == b"PAR1" and not self.source.start.startswith(start):
            raise DataError(
                f"{self.name}: is a Parquet file that has been packed as a whole. Unpack it first: Parquet "
                "packs its columns itself."
            )

    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        n_rows, size = 0, self.source.size or 0
        for batch in self._file.iter_batches(rows_for(len(names)), columns=names, use_threads=True):
            n_rows += batch.num_rows
            self.source.taken = size * n_rows // max(self._file.metadata.num_rows, 1)
            yield batch if batch.schema.names == names else batch.select(names)
        if n_rows != self._file.metadata.num_rows:
            raise DataError(
                f"{self.name}: is damaged: it promises {counted(self._file.metadata.num_rows, 'row')} and has "
                f"{n_rows:,}. Fetch or write it again."
            )
