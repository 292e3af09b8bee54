"""Streams: files and pipes as blocks of rows, one reader per format, one contract (block.py)."""

from novikoff.streams.block import Block, Reject, SparseBlock, TableBlock
from novikoff.streams.opening import FORMATS, open_stream
from novikoff.streams.reader import BAD_ROWS, Reader
from novikoff.streams.sources import Source, open_source
from novikoff.streams.svmlight import SvmlightReader
from novikoff.streams.tables import TableReader

__all__ = [
    "BAD_ROWS",
    "FORMATS",
    "Block",
    "Reader",
    "Reject",
    "Source",
    "SparseBlock",
    "SvmlightReader",
    "TableBlock",
    "TableReader",
    "open_source",
    "open_stream",
]
