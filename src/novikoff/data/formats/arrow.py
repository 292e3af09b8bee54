"""Arrow files and streams, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from novikoff.data.formats.columnar import FAULTS, ColumnarReader, rows_for
from novikoff.data.formats.remote import is_remote
from novikoff.data.formats.seeking import FileFromSource, MappedFile, SeekableSource, is_file
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["ArrowReader"]

_FILE, _STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"  # how files and streams begin


class ArrowReader(ColumnarReader):
    """Blocks of rows from Arrow files (also called Feather) and streams, which may come through a pipe.

    A plain file is mapped, and takes the memory of a few blocks; one that comes through a pipe or is compressed also
    takes that of the largest batch that it was written in. All else is as with `ParquetReader`.

    Parameters
    ----------
    source : Source or path or "-"
    target, drop, types, bad_rows
        As `ParquetReader` has them.

    Examples
    --------
    >>> import pyarrow
    >>> from novikoff.data.formats.arrow import ArrowReader
    >>> from novikoff.data.formats.sources import Source
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
        if not isinstance(source, Source) and is_file(source) and not is_remote(source):
            file = SeekableSource(source)
            source = file if file.start[:4] in (_FILE[:4], _STREAM) else source  # else it is compressed
        super().__init__(source, **options)

    def _open(self) -> pa.Schema:
        if isinstance(self.source, SeekableSource):
            self._map: MappedFile | None = MappedFile(self.source.path)
            self._bytes = pa.BufferReader(pa.py_buffer(self._map))
            start, self._rest = self.source.start, self._bytes.read
        else:
            file = FileFromSource(self.source)
            self._map, self._bytes = None, pa.PythonFile(file, mode="r")
            start, self._rest = file.peek(len(_FILE)), file.read
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
        self._bytes.read(len(_FILE))  # most files are a stream between the magic bytes and a list of its batches
        try:
            return pa.ipc.open_stream(self._bytes)
        except FAULTS as error:
            raise DataError(
                f"{self.name}: is an Arrow file that can only be read from its end, as polars writes them, "
                "or damaged. Save it to a file that is not packed, and name that."
            ) from error

    def _batches_of(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        for batch, begin, end in self._parts():
            step = rows_for(len(names))
            for at in range(0, batch.num_rows, step):
                yield batch.slice(at, step).select(names)
                if isinstance(self.source, SeekableSource) and self._map is not None:
                    self.source.bytes_read = begin + (end - begin) * min(at + step, batch.num_rows) // batch.num_rows
                    self._map.release_pages()

    def _parts(self) -> Iterator[tuple[pa.RecordBatch, int, int]]:
        """Yield the batches of the file, and the offsets where each begins and ends, which for files are estimates."""
        if self._is_file and self._map is not None:
            count, size = self._batches_in.num_record_batches, len(self._map)
            for k in range(count):
                yield self._batches_in.get_batch(k), size * k // count, size * (k + 1) // count
            return
        end = 0
        for batch in self._batches_in:
            begin, end = end, self._bytes.tell() if self._map is not None else 0
            yield batch, begin, end
        if self._is_file or self.source.is_steady:  # else waiting for the end of the pipe might take long
            self._require_end(self._rest())

    def _require_end(self, rest: bytes) -> None:
        """Require that a file ends with its footer, the size of that and the magic bytes; a stream, with a batch."""
        size = int.from_bytes(rest[-10:-6], "little") + 10 if self._is_file else 0
        if len(rest) != size or (self._is_file and not rest.endswith(_FILE[:6])):
            raise DataError(
                f"{self.name}: is damaged or cut short: its rows do not end where they should. Fetch or write it again."
            )
