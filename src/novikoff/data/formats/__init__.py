"""Readers: files and pipes as blocks of rows (base class: reader.py; what it yields: block.py).

What turns blocks into rows of numbers is in `encoding`; what writes files is in `writing`.
"""

from typing import TYPE_CHECKING, Any

from novikoff.data.formats.block import (
    Block,
    CategoricalColumn,
    NamedBlock,
    Reject,
    SparseBlock,
    TableBlock,
    TextColumn,
)
from novikoff.data.formats.delimited import TableReader
from novikoff.data.formats.opening import FORMATS, open_stream
from novikoff.data.formats.reader import BAD_ROWS, Reader
from novikoff.data.formats.rejects import RejectCode
from novikoff.data.formats.sources import Source, open_source
from novikoff.data.formats.svmlight import SvmlightReader

if TYPE_CHECKING:
    from novikoff.data.formats.arrow import ArrowReader
    from novikoff.data.formats.jsonlines import JsonLinesReader
    from novikoff.data.formats.parquet import ParquetReader

__all__ = [
    "BAD_ROWS",
    "FORMATS",
    "ArrowReader",
    "Block",
    "CategoricalColumn",
    "JsonLinesReader",
    "NamedBlock",
    "ParquetReader",
    "Reader",
    "Reject",
    "RejectCode",
    "Source",
    "SparseBlock",
    "SvmlightReader",
    "TableBlock",
    "TableReader",
    "TextColumn",
    "open_source",
    "open_stream",
]

_LAZY = {"ArrowReader": "arrow", "ParquetReader": "parquet", "JsonLinesReader": "jsonlines"}  # they load pyarrow


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
