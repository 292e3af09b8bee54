"""Arrow's arrays as columns of a block, converted without a loop over rows.

Importing this loads pyarrow, so only readers that need it do, and only when there is such a file. Arrays are read from
their buffers: `to_numpy` would load pandas too, if that is installed, which takes longer than most files.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TextColumn
from novikoff.data.formats.notations import Notation, parse_cells
from novikoff.data.formats.sniffing import is_prose
from novikoff.errors import DataError

__all__ = [
    "SAMPLE",
    "address_of",
    "column_of",
    "find_too_large",
    "has_views",
    "is_time",
    "kind_of",
    "labels_of",
    "numbers_of",
    "without_views",
]

_DOUBLE = pa.float64()
SAMPLE = 1000  # cells that decide whether a column is text
_PER_SECOND = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def holds_strings(kind: pa.DataType) -> bool:
    """Return whether a type is one of those for strings, perhaps behind a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_time(kind: pa.DataType) -> bool:
    """Return whether a type is one of those for days, times and spans of time."""
    return pa.types.is_temporal(kind) and not pa.types.is_interval(kind)


def kind_of(array: pa.Array) -> str | None:
    """Return the kind of column that an array makes, by its type and, for strings, by a sample; None if it makes
    none."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if holds_strings(kind):
        cells = [cell for cell in array.to_pylist() if cell is not None]
        return "text" if is_prose(cells[:SAMPLE]) else "word"
    return "word" if pa.types.is_boolean(kind) or pa.types.is_null(kind) else None


def without_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace strings in the form that polars writes by the form that all of pyarrow's functions know."""
    return pa.RecordBatch.from_arrays([_without_views(column) for column in batch.columns], names=batch.schema.names)


def has_views(schema: pa.Schema) -> bool:
    """Return whether a schema has strings that `without_views` replaces."""
    return any(
        pa.types.is_string_view(kind.value_type if pa.types.is_dictionary(kind) else kind) for kind in schema.types
    )


def _without_views(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type) and pa.types.is_string_view(array.type.value_type):
        return pa.DictionaryArray.from_arrays(array.indices, _without_views(array.dictionary))
    if not pa.types.is_string_view(array.type):
        return array
    # Where a cell is null, a view may be anything; pyarrow's cast follows it all the same, and reads beyond its memory.
    _, views, *memory = array.buffers()
    cells = np.frombuffer(views or b"", "V16")[array.offset : array.offset + len(array)].copy()
    is_null = _is_null(array)
    cells[is_null] = np.zeros((), "V16")
    bits = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    return pa.Array.from_buffers(array.type, len(array), [bits, pa.py_buffer(cells), *memory]).cast(pa.large_string())


def column_of(array: pa.Array, kind: str, notation: Notation = Notation.PLAIN) -> AnyColumn:
    """Return the cells of an array as a column of a kind; strings that are numbers are written in a notation."""
    if kind == "number":
        return numbers_of(array, notation)
    return texts_of(array) if kind == "text" else categories_of(array)


def numbers_of(array: pa.Array, notation: Notation = Notation.PLAIN) -> np.ndarray:
    """Return the nearest doubles, NaN where a cell is missing, seconds for times; for a string that is no number in the
    notation, infinity."""
    if array.type == _DOUBLE and not array.null_count:
        return _cells(array, np.float64)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if holds_strings(array.type):
        strings = categories_of(array)
        return np.append(parse_cells([value.strip() for value in strings.values], notation), np.nan)[strings.codes]
    if is_time(array.type):
        return _seconds(array)
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.string())  # Arrow's direct cast may give a neighbour of the nearest double
    array = array if array.type == _DOUBLE else array.cast(_DOUBLE, safe=False)
    cells = _cells(array, np.float64)
    return np.where(_is_null(array), np.nan, cells) if array.null_count else cells


def address_of(array: pa.Array) -> int | None:
    """Return the address of the cells in memory, if they are doubles and none is missing."""
    if array.type != _DOUBLE or array.null_count or not len(array):
        return None
    return int(array.buffers()[1].address) + _DOUBLE.bit_width // 8 * array.offset


def _seconds(array: pa.Array) -> np.ndarray:
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s"))
    ticks = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return numbers_of(ticks) / _PER_SECOND[array.type.unit]


def find_too_large(array: pa.Array, numbers: np.ndarray) -> np.ndarray:
    """Return the rows where the numbers of an array are infinite, or too large to be squared; most types cannot hold
    such."""
    if pa.types.is_integer(array.type) or pa.types.is_decimal(array.type) or is_time(array.type):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.abs(numbers) >= VALUE_LIMIT)


def categories_of(array: pa.Array) -> CategoricalColumn:
    """Return the different cells, as strings, and the code of each row; for strings, booleans, and whatever `types`
    declares to be words."""
    if pa.types.is_dictionary(array.type):
        if len(array.dictionary) > len(array):
            return categories_of(array.dictionary_decode())  # a dictionary for the whole file, perhaps
        inner = categories_of(array.dictionary)  # which may have a string twice, or a null
        return CategoricalColumn(np.append(inner.codes, np.int32(-1))[_codes(array)], inner.values)
    if not holds_strings(array.type):
        array = array.cast(pa.string())
    encoded = array.dictionary_encode()
    return CategoricalColumn(_codes(encoded), encoded.dictionary.to_pylist())


def _codes(array: pa.DictionaryArray) -> np.ndarray:
    """Return the code of each row, -1 if it is null."""
    indices = array.indices if array.indices.type == pa.int32() else array.indices.cast(pa.int32())
    return np.where(_is_null(indices), np.int32(-1), _cells(indices, np.int32))


def _cells(array: pa.Array, kind: type) -> np.ndarray:
    """Cells of a fixed size as they are in memory; where one is null, the value has no meaning."""
    return np.frombuffer(array.buffers()[1] or b"", kind)[array.offset : array.offset + len(array)]


def _is_null(array: pa.Array) -> np.ndarray:
    if not array.null_count:
        return np.zeros(len(array), bool)
    first = array.offset // 8
    used = np.frombuffer(array.buffers()[0], np.uint8)[first : (array.offset + len(array) + 7) // 8]
    return np.unpackbits(used, bitorder="little")[array.offset - 8 * first :][: len(array)] == 0


def texts_of(array: pa.Array) -> TextColumn:
    """Return the bytes of the cells as they are, copied: the compiled loops expect writable memory."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not pa.types.is_string(array.type):
        array = _without_views(array).cast(pa.large_string())
    if not len(array):
        return TextColumn(np.empty(0, np.uint8), np.empty((0, 2), np.int32))
    _, offsets, text = array.buffers()
    size = np.int32 if pa.types.is_string(array.type) else np.int64
    bounds = np.frombuffer(offsets, size)[array.offset : array.offset + len(array) + 1]
    if bounds[-1] - bounds[0] > np.iinfo(np.int32).max:
        raise DataError(f"A column has 2 GB of text in {len(array):,} rows. Leave it out, or shorten its texts.")
    memory = np.frombuffer(text or b"", np.uint8)[bounds[0] : bounds[-1]].copy()
    spans = np.column_stack([bounds[:-1], bounds[1:]]) - bounds[0]
    spans[_is_null(array)] = -1
    return TextColumn(memory, spans.astype(np.int32))


def labels_of(column: AnyColumn) -> tuple[np.ndarray, CategoricalColumn | None]:
    """Return a column as labels: a copy, if it is numeric; else strings, and the codes that they come from."""
    if isinstance(column, np.ndarray):
        return np.array(column), None
    coded = column if isinstance(column, CategoricalColumn) else CategoricalColumn.from_cells(column.tolist())
    return coded.strings, coded
