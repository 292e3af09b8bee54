"""Writing: blocks of rows as files, one writer per format, so that what is read can be written in another format."""

from novikoff.writing.conversion import Converted, convert
from novikoff.writing.outputs import FORMATS, format_of

__all__ = ["FORMATS", "Converted", "convert", "format_of"]
