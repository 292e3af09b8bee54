"""Opening: the reader that fits a file, by its name and by its first lines."""

from __future__ import annotations

import os
import re
from typing import Any

from novikoff.errors import DataError
from novikoff.streams.sources import Source, open_source
from novikoff.streams.svmlight import SvmlightReader
from novikoff.streams.tables import TableReader
from novikoff.texts import looks_like_svmlight

__all__ = ["FORMATS", "open_stream"]

FORMATS = ("csv", "tsv", "svmlight")

_EXTENSIONS = {"csv": "csv", "tsv": "tsv", "svm": "svmlight", "svmlight": "svmlight", "libsvm": "svmlight"}
_FOR_TABLES = ("target", "drop", "header", "types", "delimiter")


def open_stream(
    path: str | os.PathLike[str] | Source, *, format: str | None = None, **options: Any
) -> SvmlightReader | TableReader:
    """Open a file, or standard input for "-", with the reader for its format.

    Parameters
    ----------
    path : str or path or Source
    format : {"csv", "tsv", "svmlight"}, optional
        By default told by the extension, also before .gz, .bz2, .xz or .zst; or by the first lines, which stay to be
        read.
    **options
        Passed on: `bad_rows`; and for tables `target`, `drop`, `header`, `types`, `delimiter`.

    Examples
    --------
    >>> import bz2, tempfile
    >>> from pathlib import Path
    >>> from novikoff.streams import open_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "days.data")
    ...     _ = path.write_bytes(bz2.compress(b"1 1:0.5 4:2\\n-1 2:1\\n"))
    ...     with open_stream(path) as reader:
    ...         [block] = reader
    >>> type(reader).__name__, block.rows.shape, block.labels.tolist()
    ('SvmlightReader', (2, 5), [1.0, -1.0])
    """
    if format is not None and format not in FORMATS:
        raise DataError(f"format must be one of {', '.join(map(repr, FORMATS))}; found {format!r}.")
    source = path if isinstance(path, Source) else open_source(path)
    try:
        format = format or _by_name(source.name) or _by_content(source)
        if format == "svmlight":
            _require_no_table_options(source.name, options)
            return SvmlightReader(source, **options)
        if format == "tsv":
            options = {"delimiter": "\t", **options}
        return TableReader(source, **options)
    except BaseException:
        source.close()
        raise


def _by_name(name: str) -> str | None:
    extension = re.sub(r"\.(gz|bz2|xz|zst)$", "", name.lower()).rpartition(".")[2]
    return _EXTENSIONS.get(extension)


def _by_content(source: Source) -> str:
    text = source.peek_line().removeprefix(b"\xef\xbb\xbf")[:100_000]
    lines = text.splitlines(keepends=True)
    if len(lines) > 1 and not lines[-1].endswith(b"\n") and any(line.partition(b"#")[0].strip() for line in lines[:-1]):
        lines.pop()  # the chunk may have ended within it
    return "svmlight" if looks_like_svmlight(b"".join(lines).decode(errors="replace")) else "csv"


def _require_no_table_options(name: str, options: dict[str, Any]) -> None:
    given = [option for option in _FOR_TABLES if options.get(option) not in (None, ())]
    for option in _FOR_TABLES:
        options.pop(option, None)
    if given:
        raise DataError(f"{name}: an svmlight file has its labels first and no names: it takes no {' or '.join(given)}"
                        ". If it is a table, say that its format is csv.")  # fmt: skip
