"""Data in memory as blocks: DataFrames, lists of dicts, arrays and sparse matrices, read as files with their rows are.

opening.py recognises what it is given, without importing pandas or polars.
"""

from novikoff.data.in_memory.known import KnownColumns
from novikoff.data.in_memory.labels import attach_labels, labels_from
from novikoff.data.in_memory.opening import OPTIONS, OpenedData, is_data, open_data

__all__ = ["OPTIONS", "KnownColumns", "OpenedData", "attach_labels", "is_data", "labels_from", "open_data"]
