"""Output files: replaced atomically, and compressed if their names say so."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from novikoff.errors import DataError
from novikoff.system.atomic_files import name_path_in_errors, open_atomic

__all__ = ["FORMATS", "NonClosingFile", "format_of", "open_output"]

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw", "text")

_EXTENSIONS = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "vw": "vw",
    "txt": "text",
}
_COMPRESSION = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)
_COMPRESSED_FORMATS = ("parquet", "arrow")


def format_of(output: str | os.PathLike[str], to: str | None = None) -> str:
    """Return the format of an output: the one given, or the one of its extension.

    >>> from novikoff.data.writing import format_of
    >>> format_of("train.svm.gz"), format_of("-", "vw")
    ('svmlight', 'vw')
    """
    name = os.fspath(output)
    if to is not None and to not in FORMATS:
        raise DataError(f"The formats to write are {', '.join(FORMATS)}; found {to!r}.")
    format = to or _EXTENSIONS.get(_COMPRESSION.sub("", name.lower()).rpartition(".")[2])
    if format is None:
        what = "the standard output has no extension" if name == "-" else f"{name!r} has no extension that tells"
        raise DataError(f"Which format to write? {what[0].upper()}{what[1:]}: name one of {', '.join(FORMATS)} (to).")
    if format in _COMPRESSED_FORMATS and _COMPRESSION.search(name):
        raise DataError(f"{name}: {format} compresses its columns itself. Leave out {_COMPRESSION.search(name)[0]}.")  # type: ignore[index]
    return format


@contextmanager
def open_output(output: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open an output file, which appears, complete, when the block ends without an error; "-" is standard output."""
    name = os.fspath(output)
    if name == "-":
        yield sys.stdout.buffer
        with name_path_in_errors("standard output"):
            sys.stdout.buffer.flush()
        return
    if os.path.isdir(name):
        raise DataError(f"{name}: is a folder. Name a file in it.")
    # `open_atomic` replaces files, and writes to devices and named pipes directly.
    with open_atomic(Path(name)) as file, _compress(name, file) as compressed:
        yield compressed


class NonClosingFile:
    """A file for pyarrow that pyarrow cannot close: it would do so before the file has been synced."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.write: Callable[[Any], int] = file.write
        self.flush: Callable[[], None] = file.flush
        self.tell: Callable[[], int] = file.tell

    def writable(self) -> bool:
        """Return True, as pyarrow checks."""
        return True

    def close(self) -> None:
        """Do nothing: the file is closed where it was opened."""
        self.closed = True

    def discard(self) -> None:
        """Ignore everything that is written from now on: the file is about to be removed."""
        self.write, self.flush, self.tell = len, lambda: None, lambda: 0


def _compress(name: str, file: BinaryIO) -> AbstractContextManager[Any]:
    extension = _COMPRESSION.search(name)
    return _COMPRESSORS[extension[1].lower()](file) if extension else contextlib.nullcontext(file)


def _zstandard(file: BinaryIO) -> AbstractContextManager[Any]:
    try:
        import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise DataError("Writing zstandard takes pyarrow: pip install pyarrow; or write .gz.") from None
    return pyarrow.CompressedOutputStream(pyarrow.PythonFile(NonClosingFile(file), mode="w"), "zstd")


_COMPRESSORS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    "gz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),  # no time: equal rows give equal bytes
    "bz2": lambda file: bz2.BZ2File(file, "wb"),
    "xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 (`open_output` closes it)
    "zst": _zstandard,
}
