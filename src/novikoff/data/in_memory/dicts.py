"""DictReader: a list of dicts, read as lines of JSON are.

A dict names what it has, and a key that is not there is a missing cell. The dicts are written as lines of JSON and read
by the reader of those, so that both follow the same rules.
"""

from __future__ import annotations

import datetime
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from novikoff.data.formats.arrow_arrays import numbers_of
from novikoff.data.formats.block import TableBlock
from novikoff.data.formats.jsonlines import JsonLinesReader
from novikoff.data.formats.notations import Notation, parse_cell
from novikoff.data.formats.sniffing import is_number
from novikoff.data.formats.sources import Source
from novikoff.data.in_memory.known import KnownColumns, is_missing
from novikoff.errors import DataError

__all__ = ["DictReader"]

_TIMES = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    np.datetime64,
    np.timedelta64,
)  # and what pandas makes of them
_FEW = 1000  # rows that are read in less time than it takes to start a thread for them


class DictReader(JsonLinesReader):
    """Blocks of rows from dicts of numbers and strings.

    None and NaN are missing. Keys of dicts within dicts are joined by dots, as in "user.age". Times are seconds since
    1970, as in DataFrames.

    Parameters
    ----------
    rows : sequence of mappings
    name : str
        For messages.
    known : KnownColumns, optional
        What a model knows of the columns: they are read as it knows them.
    target, drop, types, bad_rows
        As `JsonLinesReader` has them.

    Examples
    --------
    >>> from novikoff.data.in_memory.dicts import DictReader
    >>> [block] = DictReader([{"sky": "sun", "y": 1}, {"wind": 3, "y": 0}], "days")
    >>> block.columns["sky"].tolist(), block.columns["wind"].tolist(), block.labels.tolist()
    (['sun', None], [nan, 3.0], [1.0, 0.0])
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        name: str,
        *,
        known: KnownColumns | None = None,
        types: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        known = known or KnownColumns()
        self._n_rows = len(rows)
        kinds = {**known.kinds, **(types or {})}
        values = _PlainValues(name, kinds, known, frozenset(map(str, options.get("drop", ()))))
        lines = (json.dumps(values.row(row, number), ensure_ascii=False) for number, row in enumerate(rows, start=1))
        text = io.BytesIO("\n".join(lines).encode("utf-8", "surrogatepass"))
        super().__init__(Source(name, text.read), types=kinds, **options)

    def __iter__(self) -> Iterator[TableBlock]:
        return super().__iter__() if self._n_rows > _FEW else self._blocks()


class _PlainValues:
    """The values of dicts as JSON has them."""

    def __init__(self, name: str, kinds: Mapping[str, str], known: KnownColumns, dropped: frozenset[str]) -> None:
        self._name, self._kinds, self._known, self._dropped = name, kinds, known, dropped

    def row(self, row: Any, number: int, prefix: str = "") -> dict[str, Any]:
        if not isinstance(row, Mapping):
            raise DataError(
                f"{self._name}:{number}: expected a dict, as the first row is, found {type(row).__name__}. "
                "Make all rows dicts."
            )
        found = {}
        for key, value in row.items():
            if not isinstance(key, str):
                raise DataError(f"{self._name}:{number}: the key {key!r} is no string. Name the columns by strings.")
            if prefix + key not in self._dropped:
                found[key] = self._value(value, number, prefix + key)
        return found

    def _value(self, value: Any, number: int, name: str) -> Any:
        if isinstance(value, np.generic) and not isinstance(value, _TIMES):
            value = value.item()
        if isinstance(value, str):
            return self._number_in(value, number, name) if self._kinds.get(name) == "number" else value
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if is_missing(value):
            return None
        if isinstance(value, _TIMES):
            return self._time(value, name)
        if isinstance(value, bool):
            return self._boolean(value, name)
        if isinstance(value, float):
            if math.isinf(value):
                raise DataError(f'{self._name}:{number}: "{name}" is infinite. Scale it, or leave it out.')
            return self._float(float(value), name)
        if isinstance(value, Mapping):
            return self.row(value, number, name + ".")
        raise DataError(
            f'{self._name}:{number}: "{name}" holds a {type(value).__name__}, which is no number, word or text. '
            "Convert it, or leave it out."
        )

    def _number_in(self, string: str, number: int, name: str) -> Any:
        """Return the number in a string; a string that holds none as it is, for the reader to refuse it."""
        notation = self._known.notation_of(name)
        found = parse_cell(string.strip(), notation)
        if found < math.inf:
            return found
        if found == math.inf and notation is not Notation.PLAIN and is_number(string.strip()):
            raise DataError(  # the reader would take it
                f'{self._name}:{number}: expected a number in "{name}" that is written as those before '
                f'({notation}), found "{string[:40]}". Correct it, or pass a number.'
            )
        return None if math.isnan(found) else string

    def _time(self, value: Any, name: str) -> Any:
        """Return a time as seconds, or as it is written in a column of words; None if it is missing."""
        array = pa.array([value], from_pandas=True)
        if array.null_count:
            return None
        if self._kinds.get(name) in ("word", "text"):
            return array.cast(pa.string())[0].as_py()
        return float(numbers_of(array)[0])

    def _float(self, value: float, name: str) -> Any:
        """Return a double; in a column of words without the fraction if that is 0, unless the model has met it with
        one."""
        is_word = self._kinds.get(name) in ("word", "text")
        return int(value) if is_word and value == int(value) and not self._known.has_value(name, str(value)) else value

    def _boolean(self, value: bool, name: str) -> Any:
        """Return a boolean as it is, unless the column is known to hold numbers, or words that are spelled
        otherwise."""
        kind = self._kinds.get(name)
        if kind == "number":
            return int(value)
        return value if kind is None else self._known.spell_booleans(name)[not value]
