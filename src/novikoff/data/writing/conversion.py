"""Conversion of files from one format to another, block by block."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from novikoff.data.formats.block import Block
from novikoff.data.formats.opening import open_stream
from novikoff.data.writing.columnar import ColumnarWriter
from novikoff.data.writing.delimited import DelimitedWriter, LabelAndTextWriter
from novikoff.data.writing.jsonlines import JsonLinesWriter
from novikoff.data.writing.outputs import format_of, open_output
from novikoff.data.writing.svmlight import SvmlightWriter
from novikoff.data.writing.table_header import TableHeader, needs_first_pass
from novikoff.data.writing.vw import VowpalWriter
from novikoff.data.writing.writer import BlockWriter, TableWriter, require_unused_name
from novikoff.errors import DataError
from novikoff.system.atomic_files import write_atomic

__all__ = ["ConversionResult", "convert"]


@dataclass(frozen=True)
class ConversionResult:
    """The number of rows that a conversion wrote, and the content of further files that it wrote."""

    rows: int
    side_files: dict[str, bytes]  # by extension: names and labels


def convert(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    label: str | None = None,
    note: Callable[[Block], None] | None = None,
    on_open: Callable[[Any], None] | None = None,
    **options: Any,
) -> ConversionResult:
    """Write the rows of files to another file, in its format.

    The output is replaced at the end, or stays as it is if anything goes wrong. Memory holds a block of rows, and the
    names of features where they have to be numbered.

    Parameters
    ----------
    sources : path or "-", or several
        Any files that `open_stream` reads; several are concatenated in this order.
    output : path or "-"
        Compressed if it ends in .gz, .bz2, .xz or .zst. Names and labels that its format cannot hold are written to
        OUTPUT.names and OUTPUT.labels.
    to : {"csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw", "text"}, optional
        By default that of the extension.
    label : str, optional
        Name of the labels in the output; by default their name in the sources, else "label".
    note : function of a block, optional
        Called with every block once it is written, to show progress or to collect the rejects.
    on_open : function of a reader, optional
        Called with the reader of each file when it is first opened.
    **options
        Options of `open_stream`.

    Returns
    -------
    ConversionResult

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
    inputs = _InputFiles(paths, options, on_open)
    with open_output(output) as file, closing(inputs.blocks()) as blocks:
        first = next(blocks, None)
        if first is None:
            raise DataError("There are no files to convert.")
        writer = _open_writer(format, file, label or inputs.label or "label", first, inputs)
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
        side_files = writer.side_files()
        if os.fspath(output) != "-":
            # They are written before the output replaces its old version, so that it is never there without them.
            for extension, content in side_files.items():
                write_atomic(Path(f"{os.fspath(output)}.{extension}"), content)
    return ConversionResult(rows, side_files)


class _InputFiles:
    """The files to convert, which may be read twice."""

    def __init__(self, paths: list[str], options: dict[str, Any], on_open: Callable[[Any], None] | None) -> None:
        self.paths, self.options, self._on_open = paths, options, on_open
        self.label: str | None = None  # the name of the labels in the files
        self._hints: dict[str, Any] = {}  # how the numbers of the first file are written
        self._opened: set[str] = set()

    def blocks(self) -> Generator[Block, None, None]:
        for path in self.paths:
            with open_stream(path, hints=self._hints, **self.options) as reader:
                self.label = self.label or getattr(reader, "target_name", None)
                self._hints.setdefault("notations", getattr(reader, "notations", {}))
                if self._on_open is not None and path not in self._opened:
                    self._on_open(reader)
                self._opened.add(path)
                yield from reader

    @property
    def is_repeatable(self) -> bool:
        return all(os.path.isfile(path) for path in self.paths)

    def header(self, first: Block) -> TableHeader:
        """Return the header of a table of all rows, given the first block."""
        if not needs_first_pass(first):
            return TableHeader.from_block(first)
        if not self.is_repeatable:
            raise DataError(
                f"{first.source}: how many columns there are shows only at the end, and a pipe cannot be "
                "read twice. Save it to a file first, or write jsonl or vw."
            )
        with closing(self.blocks()) as blocks:
            return TableHeader.from_blocks(blocks)


def _open_writer(format: str, file: BinaryIO, label: str, first: Block, inputs: _InputFiles) -> BlockWriter:
    if format in _WRITERS:
        return _WRITERS[format](file, label)
    header = inputs.header(first)
    if first.labels is not None:
        require_unused_name(label, header.kinds, header.source)
    return _TABLE_WRITERS[format](file, label, header)


_WRITERS: dict[str, Callable[[BinaryIO, str], BlockWriter]] = {
    "jsonl": JsonLinesWriter,
    "svmlight": SvmlightWriter,
    "text": LabelAndTextWriter,
    "vw": VowpalWriter,
}
_TABLE_WRITERS: dict[str, Callable[[BinaryIO, str, TableHeader], TableWriter]] = {
    "csv": lambda file, label, header: DelimitedWriter(file, label, header, ","),
    "tsv": lambda file, label, header: DelimitedWriter(file, label, header, "\t"),
    "parquet": lambda file, label, header: ColumnarWriter(file, label, header, is_parquet=True),
    "arrow": lambda file, label, header: ColumnarWriter(file, label, header, is_parquet=False),
}
