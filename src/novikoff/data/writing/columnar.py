"""Writer of Parquet and Arrow files, by pyarrow: doubles and strings, null where a cell is missing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from novikoff.data.formats.block import AnyColumn, Block, CategoricalColumn
from novikoff.data.writing.outputs import NonClosingFile
from novikoff.data.writing.table_header import TableHeader
from novikoff.data.writing.writer import TableWriter
from novikoff.errors import DataError

__all__ = ["ColumnarWriter"]


_MIN_CELLS = 1 << 20  # in a row group or batch: a pipe may bring its rows one by one


class ColumnarWriter(TableWriter):
    """Writes columns of doubles and of strings, the labels last."""

    def __init__(self, file: BinaryIO, label: str, header: TableHeader, *, is_parquet: bool) -> None:
        super().__init__(file, label, header)
        self.is_parquet = is_parquet
        self._writer: Any = None
        self._sink: NonClosingFile | None = None
        self._waiting: list[Any] = []
        self._cells = 0

    def write(self, block: Block) -> None:
        import pyarrow as pa

        for part, columns in self.header.parts(block):
            arrays = {
                name: self._array(name, column, part, block)
                for name, column in zip(self.header.kinds, columns, strict=True)
            }
            if block.labels is not None:
                arrays[self.label] = _labels(block.labels[part])
            batch = pa.RecordBatch.from_pydict(arrays)
            self._require_fit(batch.schema, block)
            self._waiting.append(batch)
            self._cells += batch.num_rows * batch.num_columns
            if self._cells >= _MIN_CELLS:
                self._flush()

    def _array(self, name: str, column: AnyColumn | None, part: slice, block: Block) -> Any:
        import pyarrow as pa

        are_numbers = self.header.kinds[name] == "number"
        if column is None:
            return pa.nulls(part.stop - part.start, pa.float64() if are_numbers else pa.string())
        if are_numbers != isinstance(column, np.ndarray):
            found = "words" if are_numbers else "numbers"
            raise DataError(
                f"{block.source}: column {name!r} holds {found} here, but not in {self.header.source}. Say "
                f"what it holds (types), such as {name}=word."
            )
        if isinstance(column, np.ndarray):
            return pa.array(np.ascontiguousarray(column), from_pandas=True)  # NaN is null
        if isinstance(column, CategoricalColumn):
            codes = pa.array(column.codes, mask=column.codes < 0)
            return pa.DictionaryArray.from_arrays(codes, pa.array(column.values, pa.string())).dictionary_decode()
        return pa.array(column.tolist(), pa.string())

    def _require_fit(self, schema: Any, block: Block) -> None:
        """Open the file with the schema of the first rows; refuse rows with another schema after that."""
        import pyarrow as pa
        from pyarrow import parquet

        if self._writer is None:
            open_file = parquet.ParquetWriter if self.is_parquet else pa.ipc.new_file
            self._sink, self._schema = NonClosingFile(self.file), schema
            self._writer = open_file(self._sink, schema)
        elif schema != self._schema:
            raise DataError(
                f"{block.source}: its labels are of another kind than those in {self.header.source}. "
                "Convert the files one by one."
            )

    def _flush(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema).combine_chunks())
        self._waiting, self._cells = [], 0

    def close(self) -> None:
        """Write the rest, and the footer, without which the file cannot be read."""
        if self._writer is not None:
            if self._waiting:
                self._flush()
            self._writer.close()

    def abandon(self) -> None:
        """Close pyarrow's writer, which else would close itself some time later and write to a closed file. An error
        may have left it in any state, so that its own errors mean nothing."""
        if self._sink is not None:
            self._sink.discard()
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()


def _labels(labels: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.array(labels, pa.string() if labels.dtype == object else pa.float64())
