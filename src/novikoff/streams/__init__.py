"""Streams: files and pipes as blocks of rows, one reader per format, one contract (block.py)."""

from typing import TYPE_CHECKING, Any

from novikoff.streams.block import Block, NamedBlock, Reject, SparseBlock, TableBlock, Texts, Words
from novikoff.streams.opening import FORMATS, open_stream
from novikoff.streams.reader import BAD_ROWS, Reader
from novikoff.streams.sources import Source, open_source
from novikoff.streams.svmlight import SvmlightReader
from novikoff.streams.tables import TableReader

if TYPE_CHECKING:
    from novikoff.streams.arrow import ArrowReader
    from novikoff.streams.jsonlines import JsonLinesReader
    from novikoff.streams.parquet import ParquetReader

__all__ = [
    "BAD_ROWS",
    "FORMATS",
    "ArrowReader",
    "Block",
    "JsonLinesReader",
    "NamedBlock",
    "ParquetReader",
    "Reader",
    "Reject",
    "Source",
    "SparseBlock",
    "SvmlightReader",
    "TableBlock",
    "TableReader",
    "Texts",
    "Words",
    "open_source",
    "open_stream",
]

_LAZY = {"ArrowReader": "arrow", "ParquetReader": "parquet", "JsonLinesReader": "jsonlines"}  # they load pyarrow


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
