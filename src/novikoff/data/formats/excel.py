"""Excel files: the first sheet that has rows, as delimited text, so that its columns are read as those of a CSV file.

Line n of the text is row n of the sheet. A sheet has at most a million rows, and is held in memory by python-calamine,
which also reads .xls, .xlsb and .ods.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from novikoff.formatting.extras import explain_missing

__all__ = ["SheetSource", "is_excel", "is_zip"]

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # Excel up to 2003
_ROWS = 1000  # rows that make a chunk


def is_zip(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of a ZIP archive, as .xlsx files are."""
    return start.startswith(_ZIP)


def is_excel(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of an Excel file."""
    return (is_zip(start) and b"xl/" in start) or start.startswith(_OLE)


class SheetSource(Source):
    """The rows of the first sheet with rows as lines of CSV; empty rows are empty lines.

    Parameters
    ----------
    source : Source
        An Excel file, which is read to its end at once.
    """

    def __init__(self, source: Source) -> None:
        lines = _read_lines(source)
        super().__init__(source.name, lambda n: next(lines, b""), close=source.close, size=source.size)
        self._file = source

    @property
    def bytes_read(self) -> int:
        return self._file.bytes_read


def _read_lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of the sheet, some at a time."""
    sheet = _open_sheet(source)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for n, row in enumerate(sheet.iter_rows(), start=1):
        cells = list(map(_as_text, row))
        if any(cells):
            writer.writerow(cells)
        else:
            file.write("\n")
        if n % _ROWS == 0:
            yield file.getvalue().encode(errors="replace")
            file.seek(0)
            file.truncate()
    yield file.getvalue().encode(errors="replace")


def _open_sheet(source: Source) -> Any:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise DataError(
            f"{source.name}: is an Excel file. {explain_missing('Reading it', 'python-calamine', 'excel')} "
            "Or save the sheet as CSV."
        ) from None
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(b"".join(iter(source.read, b""))))
        sheets = (workbook.get_sheet_by_index(k) for k in range(len(workbook.sheet_names)))
        sheet = next((sheet for sheet in sheets if sheet.height), None)
    except CalamineError as error:
        raise DataError(f"{source.name}: the Excel file cannot be read ({error}). Save the sheet as CSV.") from error
    if sheet is None:
        raise DataError(f"{source.name}: none of its sheets has any rows.")
    return sheet


def _as_text(cell: Any) -> str:
    """Return a cell as people would write it in a CSV file."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    return " ".join(str(cell).split("\n")).replace("\r", " ").replace("\0", " ")
