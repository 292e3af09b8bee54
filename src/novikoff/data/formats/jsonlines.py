"""JSON lines: one object on each line, as logs and web services write them.

pyarrow reads a piece of many lines at once. Where it stumbles, or might take what is wrong, the same lines are read one
by one (json_objects.py), and so the row is found that is wrong, and the words for it.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from novikoff.data.formats.arrow_arrays import SAMPLE, column_of, is_time, kind_of, labels_of, too_large
from novikoff.data.formats.block import Column, Reject, TableBlock, Texts, Words
from novikoff.data.formats.columns import position
from novikoff.data.formats.json_objects import OBJECT, Keys
from novikoff.data.formats.lines import Piece, count, pieces_of, require_text
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.sniffing import is_prose
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted, quoted_list

__all__ = ["JsonLinesReader"]

_ROWS = 1 << 16  # in a block, at most
_OPENING = 1 << 20  # bytes of a file that settle what its first keys hold
_FEW = 1 << 12  # bytes that are read line by line before pyarrow has begun
_WIDE = (
    1 << 14
)  # bytes of a line, on average, from which on they are read line by line: every key costs pyarrow a while
_DEEP = 100  # opening brackets in a line; with some thousands within each other pyarrow's stack overflows
_TARGETS = ("label", "target", "class", "y")


class JsonLinesReader(Reader[TableBlock]):
    """Blocks of rows from lines of JSON, those of a pipe as soon as they come.

    Numbers are numbers; strings are words, or texts if they look like that where their key comes first; true and false
    are words; null is missing, and so is a key that is not there. Keys of objects within objects are joined by dots, as
    in "user.age". Lists must be left out. A key may come up anywhere in the stream, but holds the same kind of thing
    from then on; one that does not, a key that is there twice, a missing label, and a line that is not one object, are
    errors. Blank lines are passed over.

    Parameters
    ----------
    source : Source or path or "-"
    target : str or False, optional
        The key of the labels; by default "label", "target", "class" or "y", if just one of these is there. False if
        there is none.
    drop : sequence of str
        Keys to leave out, with all that is within them. They need not be there.
    types : dict of str to {"number", "word", "text"}, optional
        What keys hold, where their values mislead: numbers that are names, say, or numbers that stand in quotes.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.

    Attributes
    ----------
    names, kinds : tuple of str
        Of the keys so far, in the order in which they came up, without those that are left out.
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
            self._keys = Keys(types or {}, frozenset(map(str, drop)))
            self._schema = pa.schema([])
            self._pieces = pieces_of(self.source)
            self._first = self._look()
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

    def _look(self) -> Piece:
        """The first lines, which stay to be read: of a pipe, the first that has a row."""
        text = bytearray()
        for piece in itertools.chain(self._pieces, [None]):
            text += piece.text if piece else b""
            if piece and self.source.is_steady and len(text) < _OPENING:
                continue
            found = self._read(Piece(text, 1))
            if len(found.lines):
                return Piece(text, 1)
            if found.error is not None:
                raise found.error
        if not found.rejects:
            raise DataError(f"{self.name}: found no rows, only blank lines.")
        raise DataError(
            f"{self.name}: none of its {counted(len(found.rejects), 'row')} can be read. The first: "
            f"{found.rejects[0].reason}"
        )

    def _target(self, target: str | int | bool | None) -> str | None:
        if target is False:
            return None
        if target is not None and target is not True:
            # The first row of a pipe may be one that lacks its label: it will be told of.
            return (
                self.names[position(target, self.names, self.name, "target")] if self.source.is_steady else str(target)
            )
        found = [name for name in _TARGETS if name in self.names]
        if len(found) != 1:
            raise DataError(
                f"{self.name}: which key holds the labels? Name it as target; the keys are {quoted_list(self.names)}."
            )
        return found[0]

    def _blocks(self) -> Generator[TableBlock, None, None]:
        pieces = itertools.chain([self._first], self._pieces)
        del self._first
        for piece in pieces:
            found = self._read(piece)
            yield from self._as_blocks(found)
            if found.error is not None:
                raise found.error

    def _as_blocks(self, found: _Found) -> Iterator[TableBlock]:
        columns = dict(found.columns)
        labels = None
        if self.target_name is not None:
            labels = labels_of(columns.pop(self.target_name)) if columns else np.empty(0, object)
        block = TableBlock(self.name, found.lines, labels, columns, rejects=found.rejects, is_loose=True)
        if len(block) <= _ROWS:
            if len(block) or block.rejects:
                yield block
            return
        for at in range(0, len(block), _ROWS):
            # The rejects go with the first rows.
            yield replace(block[at : at + _ROWS], rejects=[] if at else block.rejects)

    def _read(self, piece: Piece) -> _Found:
        """What a piece holds."""
        is_wide = len(piece.text) > _WIDE * count(piece.text, b"\n")
        return (None if len(piece.text) < _FEW or is_wide else self._at_once(piece)) or self._one_by_one(piece)

    def _one_by_one(self, piece: Piece) -> _Found:
        rows, lines = [], []
        found = _Found()
        known = set(self._keys.kinds)
        for line, text in enumerate(io.BytesIO(piece.text), start=piece.line):
            try:
                row = self._keys.row(text, f"{self.name}:{line}")
            except DataError as error:
                if self.bad_rows == "stop":
                    found.error = error
                    break
                found.rejects.append(Reject(line, str(error), text))
                continue
            if row is not None:
                rows.append(row)
                lines.append(line)
        for name in dict.fromkeys(name for row in rows for name in row):
            cells = [row.get(name) for row in rows]
            if name not in known and name not in self._keys.told:
                self._tell_text(name, cells)
            found.columns[name] = _column(cells, self._keys.kinds[name])
        found.lines = np.array(lines, np.int64)
        return found

    def _tell_text(self, name: str, cells: list[Any]) -> None:
        there = [cell for cell in cells if isinstance(cell, str)]
        if name != self._keys.target and is_prose(there[:SAMPLE]):
            self._keys.kinds[name] = "text"

    def _at_once(self, piece: Piece) -> _Found | None:
        """What a piece holds, as pyarrow has it; None if there may be anything wrong with it."""
        lines = _lines_of_objects(piece, self.name)
        table = None if lines is None else self._table(piece.text)
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
                if not _is_sound(array, columns[name]):
                    return None
        if self._keys.target is not None and not _is_whole(columns.get(self._keys.target)):
            return None
        self._keys.kinds |= kinds
        self._schema = pa.schema(self._fields(table.schema))
        return _Found(lines, columns)

    def _table(self, text: bytearray) -> pa.Table | None:
        table = _parsed(text, self._schema)
        if table is None:
            return None
        schema = pa.schema(self._fields(table.schema))
        # pyarrow takes strings for times if they look like that; told what to expect, it does not.
        arrays = self._flat(zip(table.schema.names, table.columns, strict=True))
        return _parsed(text, schema) if any(is_time(array.type) for _, array in arrays) else table

    def _flat(self, arrays: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """All that is not left out and not null throughout, objects before what is in them."""
        for name, array in arrays:
            if name in self._keys.dropped or array.null_count == len(array):
                continue
            yield name, array
            if pa.types.is_struct(array.type):
                names = (f"{name}.{field.name}" for field in array.type)
                yield from self._flat(zip(names, array.flatten(), strict=True))

    def _fields(self, fields: Iterable[pa.Field], prefix: str = "") -> list[pa.Field]:
        """What pyarrow is to expect from now on; what is not among this it will find out again."""
        expected = []
        for one in fields:
            name, kind = prefix + one.name, one.type
            if pa.types.is_struct(kind):
                kind = pa.struct(self._fields(kind, name + "."))
            elif pa.types.is_integer(kind) and self._keys.told.get(name) in (None, "number"):
                kind = pa.float64()
            elif is_time(kind):
                kind = pa.string()
            if name not in self._keys.dropped and not pa.types.is_null(kind) and not pa.types.is_list(kind):
                expected.append(pa.field(one.name, kind))
        return expected

    def _kind(self, name: str, array: pa.Array) -> str | None:
        """What a key holds, if its values are of that kind."""
        told, known = self._keys.told.get(name), self._keys.kinds.get(name)
        if pa.types.is_struct(array.type):
            return OBJECT if told is None and known in (None, OBJECT) else None
        found = kind_of(array) if known is None else _kind_of_type(array.type)
        if told == "number":
            fits = found == "number" or pa.types.is_string(array.type)
        elif told:
            fits = found is not None and not pa.types.is_floating(array.type)  # whose digits are lost
        else:
            fits = known != OBJECT and (known in (None, found) or (known, found) == ("text", "word"))
        return (known or told or found) if fits else None


@dataclass
class _Found:
    """What a piece holds, as far as the first error, and that error."""

    lines: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    columns: dict[str, Column] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    error: DataError | None = None


def _lines_of_objects(piece: Piece, name: str) -> np.ndarray | None:
    """The numbers of the lines that are not blank; None if one of these is not text from { to }, or too deep.

    pyarrow minds neither objects on several lines nor several objects on one.
    """
    try:
        require_text(bytes(piece.text), name)
    except DataError:
        return None
    array = np.frombuffer(piece.text, np.uint8)
    ends = np.flatnonzero(array == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    if piece.text.endswith(b"}\n") and (array[starts] == ord("{")).all() and (array[ends - 1] == ord("}")).all():
        is_bracket = (array == ord("{")) | (array == ord("["))
        depths = np.add.reduceat(is_bracket, starts, dtype=np.int32)
        return np.arange(piece.line, piece.line + len(ends)) if depths.max() < _DEEP else None
    rows = [row.strip(b" \t\r") for row in piece.text.split(b"\n")]  # blank ones among them, or ends with \r
    if not all(
        row[:1] == b"{" and row[-1:] == b"}" and row.count(b"{") + row.count(b"[") < _DEEP for row in rows if row
    ):
        return None
    return np.array([line for line, row in enumerate(rows, start=piece.line) if row], np.int64)


def _parsed(text: bytearray, schema: pa.Schema) -> pa.Table | None:
    how = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer")
    # Several threads gain nothing: the learner is busy on the others.
    whole = arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1)
    try:
        return arrow_json.read_json(pa.BufferReader(bytes(text)), read_options=whole, parse_options=how)
    except (pa.ArrowException, ValueError):
        return None


def _kind_of_type(kind: pa.DataType) -> str | None:
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    return "word" if pa.types.is_string(kind) or pa.types.is_boolean(kind) else None


def _is_sound(array: pa.Array, column: Column) -> bool:
    """Whether numbers are finite; NaN, which pyarrow takes for a number and JSON does not, is not."""
    if not isinstance(column, np.ndarray):
        return True
    is_plain = pa.types.is_string(array.type) or np.isnan(column).sum() == array.null_count
    return bool(is_plain) and not len(too_large(array, column))


def _is_whole(labels: Column | None) -> bool:
    if labels is None:
        return False
    lacks = np.isnan(labels) if isinstance(labels, np.ndarray) else _codes(labels) < 0
    return not lacks.any()


def _codes(column: Words | Texts) -> np.ndarray:
    return column.codes if isinstance(column, Words) else column.spans[:, 0]


def _column(cells: list[Any], kind: str) -> Column:
    if kind == "number":
        return np.array([np.nan if cell is None else cell for cell in cells])
    return Texts.of(cells) if kind == "text" else Words.of(cells)
