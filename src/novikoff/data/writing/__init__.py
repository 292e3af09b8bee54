"""Writers of blocks, one per format, and the conversion of files from one format to another.

Reading is in `formats`. Model files are not written here but by `novikoff.model_files`.
"""

from novikoff.data.writing.conversion import ConversionResult, convert
from novikoff.data.writing.outputs import FORMATS, format_of

__all__ = ["FORMATS", "ConversionResult", "convert", "format_of"]
