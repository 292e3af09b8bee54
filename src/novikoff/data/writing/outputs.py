"""Outputs: where a writer's bytes go. A file is replaced whole or not at all, packed if its name says so."""

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
from novikoff.system.atomic_files import naming, opened_whole

__all__ = ["FORMATS", "StaysOpen", "format_of", "opened_output"]

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
_PACKING = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)
_PACKS_ITSELF = ("parquet", "arrow")


def format_of(output: str | os.PathLike[str], to: str | None = None) -> str:
    """The format that an output is written in: the one that is asked for, or the one that its extension names.

    >>> from novikoff.data.writing import format_of
    >>> format_of("train.svm.gz"), format_of("-", "vw")
    ('svmlight', 'vw')
    """
    name = os.fspath(output)
    if to is not None and to not in FORMATS:
        raise DataError(f"The formats to write are {', '.join(FORMATS)}; found {to!r}.")
    found = to or _EXTENSIONS.get(_PACKING.sub("", name.lower()).rpartition(".")[2])
    if found is None:
        what = "the standard output has no extension" if name == "-" else f"{name!r} has no extension that tells"
        raise DataError(f"Which format to write? {what[0].upper()}{what[1:]}: name one of {', '.join(FORMATS)} (--to).")
    if found in _PACKS_ITSELF and _PACKING.search(name):
        raise DataError(f"{name}: {found} packs its columns itself. Leave {_PACKING.search(name)[0]} away.")  # type: ignore[index]
    return found


@contextmanager
def opened_output(output: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Where to write: a file that is in place, whole, once the block has ended well; or standard output for "-"."""
    name = os.fspath(output)
    if name == "-":
        yield sys.stdout.buffer
        with naming("standard output"):
            sys.stdout.buffer.flush()
        return
    if os.path.isdir(name):
        raise DataError(f"{name}: is a folder. Name a file in it.")
    # A device or a named pipe is written to; only files can be replaced.
    with opened_whole(Path(name)) as file, _packed(name, file) as packed:
        yield packed


class StaysOpen:
    """A file for pyarrow, which would close it at its own end: before it has been synced."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.write: Callable[[Any], int] = file.write
        self.flush: Callable[[], None] = file.flush
        self.tell: Callable[[], int] = file.tell

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def close(self) -> None:
        """Leave that to whoever opened it."""
        self.closed = True

    def discard(self) -> None:
        """Ignore whatever is still written: the file is about to be removed."""
        self.write, self.flush, self.tell = len, lambda: None, lambda: 0


def _packed(name: str, file: BinaryIO) -> AbstractContextManager[Any]:
    packing = _PACKING.search(name)
    return _PACKERS[packing[1].lower()](file) if packing else contextlib.nullcontext(file)


def _zstandard(file: BinaryIO) -> AbstractContextManager[Any]:
    try:
        import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise DataError("To pack with zstandard takes pyarrow: pip install pyarrow; or write .gz.") from None
    return pyarrow.CompressedOutputStream(pyarrow.PythonFile(StaysOpen(file), mode="w"), "zstd")


_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    "gz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),  # the same rows are the same bytes, whatever the day
    "bz2": lambda file: bz2.BZ2File(file, "wb"),
    "xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 (`opened_output` closes it)
    "zst": _zstandard,
}
