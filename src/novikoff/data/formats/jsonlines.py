"""JSON lines: one object on each line, as logs and web services write them; or an array of objects.

pyarrow parses a chunk of many lines at once. Where it fails, or might accept what is wrong, the lines of the chunk are
parsed one by one (json_objects.py), which finds the row that is wrong, and the message for it.

A block has a cell for each of its rows and keys. Lines with ever new keys would make that the square of what is read,
so a block ends before it has too many cells, and a chunk that might have too many is not given to pyarrow.
"""

from __future__ import annotations

import io
import itertools
import json
import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from novikoff.data.formats.arrow_arrays import SAMPLE, column_of, find_too_large, is_time, kind_of, labels_of
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.columns import column_index, find_target_name
from novikoff.data.formats.json_arrays import ArrayAsLines, begins_with_array
from novikoff.data.formats.json_objects import OBJECT, JsonKeys
from novikoff.data.formats.lines import TextChunk, count_byte, decode_line, read_text_chunks
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.rejects import Reject, RowError
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.data.formats.sniffing import is_prose
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize, quoted_list

__all__ = ["JsonLinesReader"]

_ROWS = 1 << 16  # in a block, at most
_CELLS = 1 << 22  # in a block of more than one row, at most
_SAMPLE = 1 << 20  # bytes of a file that decide what its first keys hold
_FEW = 1 << 12  # bytes that are parsed line by line in less time than pyarrow takes to begin
_WIDE = (
    1 << 14
)  # bytes of a line, on average, from which on lines are parsed one by one: pyarrow is slow with many keys
_DEEP = 100  # opening brackets in a line; some thousands within each other overflow pyarrow's stack


class JsonLinesReader(Reader[TableBlock]):
    """Blocks of rows from lines of JSON, those of a pipe as soon as they come; or from an array of objects, whose
    elements are counted as lines.

    Numbers are numbers; strings are words, or texts if they look like that where their key first occurs; true and false
    are words; null is missing, and so is a key that is not there. Keys of objects within objects are joined by dots, as
    in "user.age". Lists must be left out. A key may first occur anywhere in the stream, but holds values of one kind
    from then on. A value of another kind, a key that is there twice, a missing label, and a line that is not one object
    are errors. Blank lines are skipped.

    Parameters
    ----------
    source : Source or path or "-"
    target : str or False, optional
        The key of the labels; by default label, class, target or y, if just one of these is there. False if there is
        none.
    drop : sequence of str
        Keys to leave out, with all that is within them. They need not be there.
    types : dict of str to {"number", "word", "text"}, optional
        What keys hold, where their values mislead: numbers that are names, say, or numbers in quotes.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.

    Attributes
    ----------
    names, kinds : tuple of str
        Of the keys so far, in the order of their first occurrence, without those that are left out.
    target_name : str or None

    Examples
    --------
    >>> from novikoff.data.formats.jsonlines import JsonLinesReader
    >>> from novikoff.data.formats.sources import Source
    >>> chunks = iter([b'{"user": {"age": 30}, "y": true}\\n', b'{"sky": "red", "y": false}\\n', b""])
    >>> reader = JsonLinesReader(Source("log.jsonl", lambda n: next(chunks)))
    >>> [block] = reader
    >>> reader.names, reader.kinds, reader.target_name
    (('user.age', 'y', 'sky'), ('number', 'word', 'word'), 'y')
    >>> block.columns["user.age"].tolist(), block.columns["sky"].tolist(), block.labels.tolist()
    ([30.0, nan], [None, 'red'], ['true', 'false'])
    """

    def __init__(
        self,
        source: Source | str | os.PathLike[str],
        *,
        target: str | int | bool | None = None,
        drop: Sequence[str | int] = (),
        types: Mapping[str, str] | None = None,
        bad_rows: str = "stop",
    ) -> None:
        super().__init__(source, bad_rows)
        try:
            self._keys = JsonKeys(types or {}, frozenset(map(str, drop)))
            self._schema = pa.schema([])  # of the keys whose types are known
            self._all_keys = pa.schema([])  # and of those that are left out, or null so far
            is_array = begins_with_array(self.source.peek_line())
            self._chunks = read_text_chunks(ArrayAsLines(self.source) if is_array else self.source)
            self._first = self._sniff()
            self.target_name = self._keys.target = self._target(target)
            if self._keys.kinds.get(self.target_name or "") == "text":
                self._keys.kinds[str(self.target_name)] = "word"
        except BaseException:
            self.source.close()
            raise

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self._keys.kinds.items() if kind != OBJECT)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in self._keys.kinds.values() if kind != OBJECT)

    def _sniff(self) -> TextChunk:
        """Return the first lines, which are parsed again later: of a pipe, the first that has a row."""
        text = bytearray()
        for chunk in itertools.chain(self._chunks, [None]):
            text += chunk.text if chunk else b""
            if chunk and self.source.is_steady and len(text) < _SAMPLE:
                continue
            found = self._parse(TextChunk(text, 1))
            if len(found.lines):
                return TextChunk(text, 1)
            if found.error is not None:
                raise found.error
        if not found.rejects:
            raise DataError(f"{self.name}: found no rows, only blank lines.")
        raise DataError(
            f"{self.name}: none of its {pluralize(len(found.rejects), 'row')} can be read. The first: "
            f"{found.rejects[0].reason}"
        )

    target_reason = ""  # why this is the target, if the caller has not named it

    def _target(self, target: str | int | bool | None) -> str | None:
        if target is False:
            return None
        if target is not None and target is not True:
            # The first row of a pipe may be one without its label, which is reported when it is parsed.
            return (
                self.names[column_index(target, self.names, self.name, "target")]
                if self.source.is_steady
                else str(target)
            )
        found = find_target_name(self.names)
        if found is None:
            raise FileError(
                f"{self.name}: which key holds the labels? Name it as target; the keys are {quoted_list(self.names)}.",
                Remedy.NAME_TARGET,
            )
        self.target_reason = "by its name"
        return found

    def _blocks(self) -> Generator[TableBlock, None, None]:
        chunks = itertools.chain([self._first], self._chunks)
        del self._first
        for chunk in chunks:
            found = self._parse(chunk)
            yield from self._as_blocks(found)
            if found.error is not None:
                raise found.error

    def _as_blocks(self, found: _ParsedJson) -> Iterator[TableBlock]:
        rejects = found.rejects
        for lines, columns in found.parts:
            columns = dict(columns)
            labels, coded_labels = None, None
            if self.target_name is not None:
                labels, coded_labels = labels_of(columns.pop(self.target_name))
            block = TableBlock(self.name, lines, labels, columns, is_loose=True, coded_labels=coded_labels)
            for at in range(0, len(block), _ROWS):
                part = block if len(block) <= _ROWS else block[at : at + _ROWS]
                yield replace(part, rejects=rejects)
                rejects = []  # they go with the first rows
        if rejects:
            labels = None if self.target_name is None else np.empty(0, object)
            yield TableBlock(self.name, found.lines, labels, {}, rejects=rejects, is_loose=True)

    def _parse(self, chunk: TextChunk) -> _ParsedJson:
        """Return the rows of a chunk."""
        is_wide = len(chunk.text) > _WIDE * count_byte(chunk.text, b"\n")
        return (
            None if len(chunk.text) < _FEW or is_wide else self._parse_with_pyarrow(chunk)
        ) or self._parse_line_by_line(chunk)

    def _parse_line_by_line(self, chunk: TextChunk) -> _ParsedJson:
        """Return the rows of a chunk, as Python's json module parses them."""
        rows, lines = [], []
        found = _ParsedJson()
        known = set(self._keys.kinds)
        for line, text in enumerate(io.BytesIO(chunk.text), start=chunk.line):
            try:
                row = self._keys.row(text, f"{self.name}:{line}")
            except RowError as error:
                if self.bad_rows == "stop":
                    found.error = error
                    break
                found.rejects.append(Reject.from_error(line, error, text))
                continue
            if row is not None:
                rows.append(row)
                lines.append(line)
        self._sniff_texts(rows, known)
        found.lines = np.array(lines, np.int64)
        found.parts = self._make_parts(rows, found.lines)
        return found

    def _sniff_texts(self, rows: list[dict[str, Any]], known: set[str]) -> None:
        """Make new keys ones of texts, if their values look like prose."""
        strings: dict[str, list[str]] = defaultdict(list)
        known = known.union(self._keys.declared, [self._keys.target or ""])
        for row in rows:
            for name in row.keys() - known:
                if isinstance(row[name], str):
                    strings[name].append(row[name])
        for name, cells in strings.items():
            if is_prose(cells[:SAMPLE]):
                self._keys.kinds[name] = "text"

    def _make_parts(self, rows: list[dict[str, Any]], lines: np.ndarray) -> Iterator[_Part]:
        """Yield the lines and columns of rows, in parts that do not have too many cells."""
        start = 0
        while start < len(rows):
            cells: dict[str, tuple[list[int], list[Any]]] = defaultdict(lambda: ([], []))
            names: set[str] = set()
            stop = start
            while stop < len(rows):
                n_names = len(names) + len(rows[stop].keys() - names)
                if stop > start and (stop + 1 - start) * n_names > _CELLS:
                    break
                names.update(rows[stop])
                stop += 1
            for at, row in enumerate(rows[start:stop]):
                for name, cell in row.items():
                    indices, values = cells[name]
                    indices.append(at)
                    values.append(cell)
            yield (
                lines[start:stop],
                {name: _column(stop - start, *found, self._keys.kinds[name]) for name, found in cells.items()},
            )
            start = stop

    def _parse_with_pyarrow(self, chunk: TextChunk) -> _ParsedJson | None:
        """Return the rows of a chunk, as pyarrow parses them; None if there may be anything wrong with it."""
        lines = _lines_of_objects(chunk, self.name)
        table = None if lines is None else self._table(chunk.text, len(lines))
        if lines is None or table is None or table.num_rows != len(lines):
            return None
        kinds, columns = {}, {}
        for name, array in self._flat((name, table[name].combine_chunks()) for name in table.schema.names):
            kind = self._kind(name, array)
            if kind is None or name in kinds:
                return None
            kinds[name] = kind
            if kind != OBJECT:
                columns[name] = column_of(array, kind)
                if not _are_finite(array, columns[name]):
                    return None
        if self._keys.target is not None and not _are_complete(columns.get(self._keys.target)):
            return None
        self._keys.kinds |= kinds
        self._schema = pa.schema(self._fields(table.schema))
        self._all_keys = pa.schema(self._fields(table.schema, is_complete=True))
        return _ParsedJson(lines, [(lines, columns)])

    def _table(self, text: bytearray, n_rows: int) -> pa.Table | None:
        """Return a chunk as pyarrow parses it; None if it cannot, or if the table might have too many cells."""
        if 0 < n_rows * _count_columns(self._all_keys) <= _CELLS:
            # Most chunks have no new key. This fails at the first one, before any memory is allocated for it.
            table = _parse_text(text, self._all_keys, "error")
            if table is not None:
                return table
        if not _has_few_keys(text, _CELLS // max(1, n_rows) - _count_columns(self._schema)):
            return None
        table = _parse_text(text, self._schema, "infer")
        if table is None:
            return None
        schema = pa.schema(self._fields(table.schema))
        # pyarrow takes strings for times if they look like that; with a schema, it does not.
        arrays = self._flat(zip(table.schema.names, table.columns, strict=True))
        return _parse_text(text, schema, "infer") if any(is_time(array.type) for _, array in arrays) else table

    def _flat(self, arrays: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Yield the keys that are not left out and not null in every row, objects before what is in them."""
        for name, array in arrays:
            if name in self._keys.dropped or array.null_count == len(array):
                continue
            yield name, array
            if pa.types.is_struct(array.type):
                names = (f"{name}.{field.name}" for field in array.type)
                yield from self._flat(zip(names, array.flatten(), strict=True))

    def _fields(self, fields: Iterable[pa.Field], prefix: str = "", *, is_complete: bool = False) -> list[pa.Field]:
        """Return the schema that pyarrow is given from now on; the types of other keys it infers again.

        If it is complete, it also has keys that are left out, null, or hold lists.
        """
        expected = []
        for one in fields:
            name, kind = prefix + one.name, one.type
            if pa.types.is_struct(kind):
                kind = pa.struct(self._fields(kind, name + ".", is_complete=is_complete))
            elif pa.types.is_integer(kind) and self._keys.declared.get(name) in (None, "number"):
                kind = pa.float64()
            elif is_time(kind):
                kind = pa.string()
            is_known = not (name in self._keys.dropped or pa.types.is_null(kind) or pa.types.is_list(kind))
            if is_known or is_complete:
                expected.append(pa.field(one.name, kind))
        return expected

    def _kind(self, name: str, array: pa.Array) -> str | None:
        """Return what a key holds; None if these values are not of that kind."""
        declared, known = self._keys.declared.get(name), self._keys.kinds.get(name)
        if pa.types.is_struct(array.type):
            return OBJECT if declared is None and known in (None, OBJECT) else None
        found = kind_of(array) if known is None else _kind_of_type(array.type)
        if declared == "number":
            fits = found == "number" or pa.types.is_string(array.type) or pa.types.is_boolean(array.type)
        elif declared:
            fits = found is not None and not pa.types.is_floating(array.type)  # whose digits are lost
        else:
            fits = known != OBJECT and (known in (None, found) or (known, found) == ("text", "word"))
        return (known or declared or found) if fits else None


_Part = tuple[np.ndarray, dict[str, AnyColumn]]  # the lines of consecutive rows, and their columns


@dataclass
class _ParsedJson:
    """The rows of a chunk, as far as the first error, and that error; `parts` can be iterated over once."""

    lines: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    parts: Iterable[_Part] = ()
    rejects: list[Reject] = field(default_factory=list)
    error: RowError | None = None


def _lines_of_objects(chunk: TextChunk, name: str) -> np.ndarray | None:
    """Return the numbers of the lines that are not blank; None if one of these is not text from { to }, or too deep.

    pyarrow accepts objects on several lines, and several objects on one.
    """
    try:
        decode_line(bytes(chunk.text), name)
    except RowError:
        return None
    array = np.frombuffer(chunk.text, np.uint8)
    ends = np.flatnonzero(array == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    if chunk.text.endswith(b"}\n") and (array[starts] == ord("{")).all() and (array[ends - 1] == ord("}")).all():
        is_bracket = (array == ord("{")) | (array == ord("["))
        depths = np.add.reduceat(is_bracket, starts, dtype=np.int32)
        return np.arange(chunk.line, chunk.line + len(ends)) if depths.max() < _DEEP else None
    rows = [row.strip(b" \t\r") for row in chunk.text.split(b"\n")]  # some are blank, or end with \r
    if not all(
        row[:1] == b"{" and row[-1:] == b"}" and row.count(b"{") + row.count(b"[") < _DEEP for row in rows if row
    ):
        return None
    return np.array([line for line, row in enumerate(rows, start=chunk.line) if row], np.int64)


def _count_columns(fields: Iterable[pa.Field]) -> int:
    """Return the number of keys, with those of objects within objects."""
    return sum(1 + (_count_columns(one.type) if pa.types.is_struct(one.type) else 0) for one in fields)


def _has_few_keys(text: bytearray, limit: int) -> bool:
    """Return whether lines of JSON have at most so many different keys, with those of objects within objects."""
    names: set[str] = set()
    for line in io.BytesIO(text):
        try:
            row = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            return False
        names.update(row if line.count(b"{") == 1 else _nested_keys(row))
        if len(names) > limit:
            return False
    return True


def _nested_keys(value: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, cell in value.items():
        yield prefix + key
        if isinstance(cell, dict):
            yield from _nested_keys(cell, f"{prefix}{key}.")


def _parse_text(text: bytearray, schema: pa.Schema, new_keys: str) -> pa.Table | None:
    how = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=new_keys)
    # Several threads gain nothing: the learner uses the other cores.
    whole = arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1)
    try:
        return arrow_json.read_json(pa.BufferReader(bytes(text)), read_options=whole, parse_options=how)
    except (pa.ArrowException, ValueError):
        return None


def _kind_of_type(kind: pa.DataType) -> str | None:
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    return "word" if pa.types.is_string(kind) or pa.types.is_boolean(kind) else None


def _are_finite(array: pa.Array, column: AnyColumn) -> bool:
    """Return whether numbers are finite; NaN, which pyarrow accepts as a number and JSON does not, is not."""
    if not isinstance(column, np.ndarray):
        return True
    has_no_nan = pa.types.is_string(array.type) or np.isnan(column).sum() == array.null_count
    return bool(has_no_nan) and not len(find_too_large(array, column))


def _are_complete(labels: AnyColumn | None) -> bool:
    if labels is None:
        return False
    is_missing = np.isnan(labels) if isinstance(labels, np.ndarray) else _codes(labels) < 0
    return not is_missing.any()


def _codes(column: CategoricalColumn | TextColumn) -> np.ndarray:
    return column.codes if isinstance(column, CategoricalColumn) else column.spans[:, 0]


def _column(n: int, indices: list[int], cells: list[Any], kind: str) -> AnyColumn:
    """Return a column of n rows, of which those with the given indices are not missing."""
    if kind == "number":
        numbers = np.full(n, np.nan)
        numbers[indices] = cells
        return numbers
    if kind == "text":
        texts = TextColumn.from_cells(cells)
        spans = np.full((n, 2), -1, np.int32)
        spans[indices] = texts.spans
        return TextColumn(texts.memory, spans)
    words = CategoricalColumn.from_cells(cells)
    codes = np.full(n, -1, np.int32)
    codes[indices] = words.codes
    return CategoricalColumn(codes, words.values)
