"""Features: what the service takes as a row, and columns of rows for the model.

The first value of a feature that is logged decides what the feature holds: numbers, words (categories) or texts. This
is logged too, so that a replay reads every row as it was read before. It never depends on which rows come together in
a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.block import AnyColumn, CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.sniffing import is_prose
from novikoff.service.refusals import BadRowError

__all__ = ["MOST_FEATURES", "SOURCE", "Features", "Row", "make_block", "split_rows"]

Row = dict[str, float | str]

SOURCE = "novikoff serve"  # the source of all rows, under which a model counts them
MOST_FEATURES = 10_000  # names in all; each is a column of every block
_LONGEST_NAME = 200
_CELLS = 1 << 22  # of a block
_CALLED = {
    bool: "true or false",
    str: "a string",
    dict: "an object",
    list: "a list",
    int: "a number",
    float: "a number",
}
_WANTED = {"number": "a number", "word": "a string", "text": "a string"}


class Features:
    """The names of all features so far, and what they hold.

    Parameters
    ----------
    kinds : mapping of str to {"number", "word", "text"}
    target : str
        The name under which the label is written beside the features; no feature may have it.

    Examples
    --------
    >>> from novikoff.service.features import Features
    >>> features = Features({})
    >>> features.read({"links": 3, "sky": "red", "wind": None}), features.kinds
    ({'links': 3, 'sky': 'red'}, {'links': 'number', 'sky': 'word'})
    >>> features.read({"links": "many"})
    Traceback (most recent call last):
    novikoff.service.refusals.BadRowError: The feature "links" holds numbers, found a string, "many". Send a number, or
    null if it is missing.
    """

    def __init__(self, kinds: Mapping[str, str], target: str = "label") -> None:
        self.kinds = dict(kinds)
        self.target = target
        self.new: dict[str, str] = {}  # since `keep_new`

    def read(self, features: Any) -> Row:
        """Return the values that are not missing; add names that are new. Raise a BadRowError if one is wrong."""
        if type(features) is not dict:
            raise BadRowError(f"features must be an object, {{name: value}}, found {_describe(features)}.")
        row: Row = {}
        new: dict[str, str] = {}
        kinds = self.kinds
        for name, value in features.items():
            kind, found = kinds.get(name), type(value)
            if kind == "number":
                if (found is float or found is int) and -VALUE_LIMIT < value < VALUE_LIMIT:
                    row[name] = value
                    continue
            elif kind is not None and found is str:
                row[name] = value
                continue
            if value is not None:
                if kind is None:
                    kind = new[name] = self._choose_kind(name, value)
                row[name] = _convert(name, kind, value)
        if new:
            self._add(new)
        return row

    def _choose_kind(self, name: str, value: Any) -> str:
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            raise BadRowError(
                f"The feature {_quote(name)} has a name that is empty, longer than {_LONGEST_NAME} "
                "characters, or not printable."
            )
        if name == self.target:
            raise BadRowError(f"The feature {_quote(name)} has the name of the label. Give it another.")
        if isinstance(value, str):
            return "text" if is_prose([value]) else "word"
        return "word" if isinstance(value, bool) else "number"

    def _add(self, new: dict[str, str]) -> None:
        if len(self.kinds) + len(new) > MOST_FEATURES:
            raise BadRowError(
                f"The feature {_quote(next(iter(new)))} would be one more than the {MOST_FEATURES:,} that "
                "a model may have. Send many words as one string."
            )
        self.kinds |= new
        self.new |= new

    def keep_new(self) -> None:
        """Keep the names that were added: they are logged."""
        self.new = {}

    def forget_new(self) -> None:
        """Remove the names that were added since `keep_new`."""
        for name in self.new:
            del self.kinds[name]
        self.new = {}


def _convert(name: str, kind: str, value: Any) -> float | str:
    """Return a value as its column holds it; raise a BadRowError if it cannot."""
    if isinstance(value, bool):
        return (1 if value else 0) if kind == "number" else ("true" if value else "false")
    if isinstance(value, (int, float)) and kind == "number":
        if -VALUE_LIMIT < value < VALUE_LIMIT:
            return value
        raise BadRowError(f"The feature {_quote(name)} must be a number of size below {VALUE_LIMIT:g}.")
    if isinstance(value, str) and kind != "number":
        return value
    raise BadRowError(
        f"The feature {_quote(name)} holds {_WANTED[kind].removeprefix('a ')}s, found {_describe(value)}. "
        f"Send {_WANTED[kind]}, or null if it is missing."
    )


def _describe(value: Any) -> str:
    what = _CALLED.get(type(value), "null")
    return f"{what}, {_quote(str(value)[:40])}" if isinstance(value, (str, int, float)) else what


def _quote(text: str) -> str:
    return f'"{text[:_LONGEST_NAME]}"'


def split_rows(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of consecutive parts of rows that are not too large for one block."""
    start, names = 0, set[str]()
    for at, row in enumerate(rows):
        if not names.issuperset(row):
            names.update(row)
        if at > start and (at + 1 - start) * len(names) > _CELLS:
            yield start, at
            start, names = at, set(row)
    if start < len(rows):
        yield start, len(rows)


def make_block(rows: Sequence[Row], kinds: Mapping[str, str], labels: Sequence[Any] | None) -> TableBlock:
    """Return rows as a block of columns.

    >>> from novikoff.service.features import make_block
    >>> block = make_block([{"sky": "red"}, {"links": 3}], {"sky": "word", "links": "number"}, ["a", "b"])
    >>> block.columns["sky"].tolist(), block.columns["links"].tolist(), block.labels.tolist()
    (['red', None], [nan, 3.0], ['a', 'b'])
    """
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns: dict[str, AnyColumn] = {}
    for name in names:
        if kinds[name] == "number":
            columns[name] = np.array([row.get(name, np.nan) for row in rows], np.float64)
        else:
            kind = CategoricalColumn if kinds[name] == "word" else TextColumn
            columns[name] = kind.from_cells([row.get(name) for row in rows])  # type: ignore[misc]
    found = None
    if labels is not None:
        found = np.empty(len(labels), object if isinstance(labels[0], str) else np.float64)
        found[:] = labels
    return TableBlock(SOURCE, np.arange(1, len(rows) + 1), found, columns, is_loose=True)
