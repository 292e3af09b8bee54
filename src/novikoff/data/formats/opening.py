"""Opening a file with the reader for its format, sniffed from its name and first bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from novikoff.data.formats.delimited import TableReader
from novikoff.data.formats.excel import SheetSource, is_excel, is_zip
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.data.formats.sniffing import looks_like_labelled_text, looks_like_svmlight, looks_like_vw
from novikoff.data.formats.sources import Source, open_source
from novikoff.data.formats.svmlight import SvmlightReader
from novikoff.data.formats.text import LabelledTextReader
from novikoff.data.formats.vw import VwReader
from novikoff.errors import DataError

__all__ = ["FORMATS", "open_stream"]

FORMATS = ("csv", "tsv", "text", "svmlight", "vw", "parquet", "arrow", "jsonl", "excel")

_EXTENSIONS = {
    "csv": "csv",
    "tsv": "tsv",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "arrows": "arrow",
    "ipc": "arrow",
    "feather": "arrow",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "vw": "vw",
    "xlsx": "excel",
    "xlsm": "excel",
    "xlsb": "excel",
    "xls": "excel",
    "ods": "excel",
}
_BINARY = ("parquet", "arrow", "excel")
_MAGIC = {b"PAR1": "parquet", b"PARE": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_FOR_TEXT = ("header", "delimiter", "decimal", "notations", "unnamed")  # of delimited text only
_FOR_TABLES = (*_FOR_TEXT, "drop", "dates", "only")
_REFUSED_OPTIONS = {
    "svmlight": (("target", *_FOR_TABLES, "types"), "an svmlight file has its labels first and no names"),
    "vw": ((*_FOR_TABLES, "types"), "Vowpal Wabbit's text has its labels first and no columns"),
    "text": (_FOR_TABLES, "lines of label<TAB>text have no other columns"),
    "parquet": (_FOR_TEXT, "a Parquet file knows its columns"),
    "arrow": (_FOR_TEXT, "an Arrow file knows its columns"),
    "jsonl": ((*_FOR_TEXT, "dates", "only"), "JSON names what it holds"),
    "excel": (("delimiter",), "an Excel file has cells"),
}

_LINE_READERS: dict[str, Callable[..., Reader[Any]]] = {
    "svmlight": SvmlightReader,
    "vw": VwReader,
    "text": LabelledTextReader,
}


def open_stream(
    path: str | os.PathLike[str] | Source,
    *,
    format: str | None = None,
    otherwise: str = "csv",
    encoding: str | None = None,
    hints: Mapping[str, Any] | None = None,
    **options: Any,
) -> Reader[Any]:
    """Open a file, or standard input for "-", with the reader for its format.

    Parameters
    ----------
    path : str or path or Source
    format : {"csv", "tsv", "text", "svmlight", "vw", "parquet", "arrow", "jsonl", "excel"}, optional
        By default sniffed from the extension, also before .gz, .bz2, .xz or .zst; or from the first lines, which are
        read again later.
    otherwise : str
        The format if neither the extension nor the first lines show it.
    encoding : str, optional
        Of text, as Python names it, such as "cp1252"; by default UTF-8, or UTF-16 if it has a byte order mark.
    hints : dict, optional
        Options for those formats that take them.
    **options
        Passed on: `bad_rows`; for tables `target`, `drop`, `types` and `dates`; for csv and tsv also `header`,
        `delimiter` and `decimal`; see `TableReader`. `target=False` says that labels do not matter.

    Examples
    --------
    >>> import bz2, tempfile
    >>> from pathlib import Path
    >>> from novikoff.data.formats import open_stream
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
    source = path if isinstance(path, Source) else open_source(path, encoding=encoding)
    try:
        format = format or _format_from_name(source) or _format_from_content(source) or otherwise
        _check_options(source.name, format, options)
        if encoding is not None and format in _BINARY:
            raise DataError(f"{source.name}: is no text, and takes no encoding.")
        options = {
            name: value
            for name, value in (hints or {}).items()
            if value is not None and _is_option_allowed(format, name, value)
        } | options
        return _open_reader(path, source, format, options)
    except BaseException:
        source.close()
        raise


def _open_reader(
    path: str | os.PathLike[str] | Source, source: Source, format: str, options: dict[str, Any]
) -> Reader[Any]:
    if format in _LINE_READERS:
        return _LINE_READERS[format](source, **options)
    if format in ("parquet", "arrow"):
        from novikoff.data.formats.arrow import ArrowReader
        from novikoff.data.formats.parquet import ParquetReader

        if not isinstance(path, Source) and source.size is not None:
            source.close()  # a file, which these readers open in their own way
        else:
            path = source
        return ParquetReader(path, **options) if format == "parquet" else ArrowReader(path, **options)
    if format == "jsonl":
        from novikoff.data.formats.jsonlines import JsonLinesReader

        return JsonLinesReader(source, **options)
    if format == "excel":
        return TableReader(SheetSource(source), delimiter=",", **options)
    return TableReader(source, **({"delimiter": "\t"} if format == "tsv" else {}) | options)


def _format_from_name(source: Source) -> str | None:
    extension = re.sub(r"\.(gz|bz2|xz|zst)$", "", source.name.lower()).rpartition(".")[2]
    if extension == "tsv" and looks_like_labelled_text(_first_lines(source)):
        return "text"
    return _EXTENSIONS.get(extension)


def _format_from_content(source: Source) -> str | None:
    # Binary streams may be long without a line feed: of a pipe, no more is read than is needed.
    for start in (source.peek, source.peek_line):
        for magic, format in _MAGIC.items():
            if start().startswith(magic):
                return format
    if is_excel(source.peek()):
        return "excel"
    if is_zip(source.peek()):
        raise DataError(f"{source.name}: is a ZIP archive. Unpack it, and name the files in it.")
    text = _first_lines(source)
    if re.match(r'\s*(\[\s*)?\{\s*["}]', text):
        return "jsonl"
    tests = {"svmlight": looks_like_svmlight, "vw": looks_like_vw, "text": looks_like_labelled_text}
    return next((format for format, test in tests.items() if test(text)), None)


def _first_lines(source: Source) -> str:
    """Some lines, of a pipe those that have come; without the last, which may be cut, if one before it is not blank."""
    lines = source.peek_line().removeprefix(b"\xef\xbb\xbf")[:100_000].splitlines(keepends=True)
    if (
        len(lines) > 1
        and not lines[-1].endswith((b"\n", b"\r"))
        and any(line.partition(b"#")[0].strip() for line in lines[:-1])
    ):
        lines.pop()  # the chunk may have ended within it
    return b"".join(lines).decode(errors="replace")


def _is_option_allowed(format: str, option: str, value: Any) -> bool:
    """Return whether an option makes sense for a format, or has not been set; target=False makes sense for all."""
    refused, _ = _REFUSED_OPTIONS.get(format, ((), ""))
    return option not in refused or value in (None, ()) or (option, value) == ("target", False)


def _check_options(name: str, format: str, options: dict[str, Any]) -> None:
    """Raise an error if options are set that make no sense for a format; remove them if they are not set."""
    refused, why = _REFUSED_OPTIONS.get(format, ((), ""))
    given = [option for option in refused if not _is_option_allowed(format, option, options.get(option, ()))]
    for option in refused:
        if option != "target" or options.get(option) is not False:
            options.pop(option, None)
    if given:
        raise FileError(
            f"{name}: {why}: it takes no {' or '.join(given)}. If it is a table, say that its format is csv.",
            Remedy.NAME_FORMAT,
        )
