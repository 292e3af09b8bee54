"""Conversion: from any format that is read to any that is written, block by block."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from novikoff.data.formats.block import Block
from novikoff.data.formats.opening import open_stream
from novikoff.data.writing.columnar import ColumnarWriter
from novikoff.data.writing.columns import Columns, needs_a_look
from novikoff.data.writing.delimited import DelimitedWriter, LabelAndTextWriter
from novikoff.data.writing.jsonlines import JsonLinesWriter
from novikoff.data.writing.outputs import format_of, opened_output
from novikoff.data.writing.svmlight import SvmlightWriter
from novikoff.data.writing.vw import VowpalWriter
from novikoff.data.writing.writer import TableWriter, Writer, require_free
from novikoff.errors import DataError
from novikoff.system.atomic_files import write_whole

__all__ = ["Converted", "convert"]


@dataclass(frozen=True)
class Converted:
    """What came of a conversion: how many rows were written, and what the output itself does not say."""

    rows: int
    beside: dict[str, bytes]  # by extension: names and labels


def convert(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    label: str | None = None,
    note: Callable[[Block], None] | None = None,
    **options: Any,
) -> Converted:
    """Write the rows of files to another, in its format.

    The output is replaced whole, or not at all if anything goes wrong. Memory holds a block of rows, and the names of
    features where they have to be numbered.

    Parameters
    ----------
    sources : path or "-", or several
        Whatever `open_stream` reads; several become one, in this order.
    output : path or "-"
        Packed if it ends in .gz, .bz2, .xz or .zst. Names and labels that its format has no place for go to files
        beside it, OUTPUT.names and OUTPUT.labels.
    to : {"csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw", "text"}, optional
        By default told by the extension.
    label : str, optional
        Name of the labels in the output; by default the one they have, else "label".
    note : function of a block, optional
        Called with every block once it is written: for progress, or for the rows that could not be read.
    **options
        How to read: those of `open_stream`.

    Returns
    -------
    Converted

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from novikoff.data.writing import convert
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, output = Path(folder, "days.csv"), Path(folder, "days.svm")
    ...     _ = path.write_text("sky,wind,sail\\nsun,3,yes\\nrain,,no\\n")
    ...     converted = convert(path, output)
    ...     print(output.read_text(), Path(folder, "days.svm.names").read_text(), sep="")
    0 1:3 2:1
    1 3:1 4:1
    1	wind
    2	sky=sun
    3	sky=rain
    4	wind is missing
    """
    paths = [os.fspath(path) for path in ([sources] if isinstance(sources, (str, os.PathLike)) else sources)]
    format, rows = format_of(output, to), 0
    reading = _Reading(paths, options)
    with opened_output(output) as file:
        blocks = reading.blocks()
        first = next(blocks, None)
        if first is None:
            raise DataError("There are no files to convert.")
        writer = _writer(format, file, label or reading.label or "label", first, reading)
        try:
            for block in itertools.chain([first], blocks):
                writer.write(block)
                rows += len(block)
                if note is not None:
                    note(block)
            writer.close()
        except BaseException:
            writer.abandon()
            raise
        beside = writer.beside()
        if os.fspath(output) != "-":
            # Before the output is in place, which is then never without them.
            for extension, content in beside.items():
                write_whole(Path(f"{os.fspath(output)}.{extension}"), content)
    return Converted(rows, beside)


class _Reading:
    """The files to convert, to be gone through once or twice."""

    def __init__(self, paths: list[str], options: dict[str, Any]) -> None:
        self.paths, self.options = paths, options
        self.label: str | None = None  # as the files call it

    def blocks(self) -> Iterator[Block]:
        for path in self.paths:
            with open_stream(path, **self.options) as reader:
                self.label = self.label or getattr(reader, "target_name", None)
                yield from reader

    @property
    def is_repeatable(self) -> bool:
        return all(os.path.isfile(path) for path in self.paths)

    def columns(self, first: Block) -> Columns:
        """All that a header must name."""
        if not needs_a_look(first):
            return Columns.of(first)
        if not self.is_repeatable:
            raise DataError(
                f"{first.source}: how many columns there are shows only at the end, and a pipe cannot be "
                "read twice. Save it to a file first, or write jsonl or vw."
            )
        return Columns.seen_in(self.blocks())


def _writer(format: str, file: BinaryIO, label: str, first: Block, reading: _Reading) -> Writer:
    if format in _ANY:
        return _ANY[format](file, label)
    columns = reading.columns(first)
    if first.labels is not None:
        require_free(label, columns.kinds, columns.source)
    return _TABLES[format](file, label, columns)


_ANY: dict[str, Callable[[BinaryIO, str], Writer]] = {
    "jsonl": JsonLinesWriter,
    "svmlight": SvmlightWriter,
    "text": LabelAndTextWriter,
    "vw": VowpalWriter,
}
_TABLES: dict[str, Callable[[BinaryIO, str, Columns], TableWriter]] = {
    "csv": lambda file, label, columns: DelimitedWriter(file, label, columns, ","),
    "tsv": lambda file, label, columns: DelimitedWriter(file, label, columns, "\t"),
    "parquet": lambda file, label, columns: ColumnarWriter(file, label, columns, is_parquet=True),
    "arrow": lambda file, label, columns: ColumnarWriter(file, label, columns, is_parquet=False),
}
