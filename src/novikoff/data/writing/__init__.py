"""Writing: blocks of rows as files, one writer per format, so that what is read can be written in another format."""

from novikoff.data.writing.conversion import Converted, convert
from novikoff.data.writing.outputs import FORMATS, format_of

__all__ = ["FORMATS", "Converted", "convert", "format_of"]
