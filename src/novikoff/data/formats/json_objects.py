"""JSON objects line by line: slow, exact, and with words for whatever is wrong.

Places are file:line:character, where the character is known.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from novikoff._compiled.loops.decimals import LARGEST
from novikoff.data.formats.columns import known_kind, missing_label
from novikoff.data.formats.lines import require_text
from novikoff.data.formats.sniffing import MISSING, is_number
from novikoff.errors import DataError

__all__ = ["OBJECT", "Keys"]

OBJECT = "object"  # the kind of a key that holds more keys
_BLANKS = " \t\r\n"
_CALLED = {float: "a number", bool: "true or false", str: "a string", dict: "an object", list: "a list"}
_WANTED = {"number": "a number", "word": "a string", "text": "a string", OBJECT: "an object"}


class _Number(float):
    """A number and how it was written."""

    text: str


def _number(text: str) -> _Number:
    number = _Number(text)
    number.text = "0" if text == "-0" else text
    return number


class _RefusedError(Exception):
    """A row that is JSON of a kind: what is wrong, and what to look for in the text, the how-manieth of these."""

    def __init__(self, reason: str, sought: str, times: int = 1) -> None:
        super().__init__(reason)
        self.sought, self.times = sought, times


def _constant(name: str) -> Any:
    raise _RefusedError(f"{name} is no number in JSON. Write null, or leave the key out, if it is missing", name)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twin = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _RefusedError(f"the key {_quoted(twin)} is there twice. Keep one", _quoted(twin), 2)
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_constant=_constant, parse_float=_number, parse_int=_number
)


@dataclass
class Keys:
    """What is known of the keys of a stream.

    Attributes
    ----------
    told : dict of str to str
        What keys hold, by the user's word.
    dropped : collection of str
    target : str or None
        The key of the labels, once that is settled.
    kinds : dict of str to str
        What keys hold, settled by their first value that is not null: a number, a word, text or more keys.

    Examples
    --------
    >>> from novikoff.data.formats.json_objects import Keys
    >>> keys = Keys()
    >>> keys.row(b'{"user": {"age": 30, "city": null}, "new": true}', "log.jsonl:1")
    {'user.age': 30.0, 'new': 'true'}
    >>> keys.row(b'{"user": {"age": "30"}}', "log.jsonl:2")
    Traceback (most recent call last):
    novikoff.errors.DataError: log.jsonl:2:11: expected a number for "user.age", found a string, "30". Correct it, say
    what the key holds, or pass over such rows.
    """

    told: Mapping[str, str] = field(default_factory=dict)
    dropped: Collection[str] = ()
    target: str | None = None
    kinds: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in self.told.values():
            known_kind(kind)

    def row(self, line: bytes, place: str) -> dict[str, float | str] | None:
        """The values of a line by their keys, joined by dots, without those that are missing; None if it is blank."""
        text = require_text(line, place).rstrip(_BLANKS)
        if not text:
            return None
        try:
            value = _DECODER.decode(text)
            _require_characters(value, text)
            row = _Row(self)
            row.take(_object(value))
        except json.JSONDecodeError as error:
            is_cut = not line.endswith(b"\n")  # as only the last line of all may be
            raise DataError(f"{place}:{error.pos + 1}: {_not_json(error, is_cut)}") from error
        except RecursionError:
            raise DataError(f"{place}: objects within objects, too deep to read. Flatten them.") from None
        except _RefusedError as error:
            raise DataError(f"{place}{_place(text, error)}: {error}, or pass over such rows.") from None
        if self.target is not None and self.target not in row.cells:
            raise missing_label(place, self.target)
        self.kinds |= row.kinds
        return row.cells


@dataclass
class _Row:
    """A row in the making; what it settles counts only if all of it is right."""

    keys: Keys
    cells: dict[str, float | str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def take(self, value: dict[str, Any], prefix: str = "") -> None:
        for key, cell in value.items():
            name = prefix + key
            if cell is None or name in self.keys.dropped:
                continue
            if isinstance(cell, dict):
                self._settle(name, OBJECT, key, cell)
                self.take(cell, name + ".")
            elif isinstance(cell, list):
                raise _RefusedError(
                    f'"{name}" holds a list, which is no number, word or text. Leave it out', _quoted(key)
                )
            else:
                self._put(name, key, cell)

    def _put(self, name: str, key: str, cell: Any) -> None:
        if name in self.cells:
            raise _RefusedError(f'"{name}" is there twice, once within another key. Keep one', _quoted(key))
        cell = _as_told(cell, self.keys.told.get(name))
        self._settle(name, "number" if isinstance(cell, float) else "word", key, cell)
        if isinstance(cell, float) and abs(cell) >= LARGEST:
            raise _RefusedError(
                f'"{name}" is not a finite number below {LARGEST:g}. Scale it, leave it out', _quoted(key)
            )
        if isinstance(cell, bool):
            self.cells[name] = "true" if cell else "false"
        elif cell == cell:
            self.cells[name] = float(cell) if isinstance(cell, float) else cell

    def _settle(self, name: str, found: str, key: str, cell: Any) -> None:
        """Require that a key holds what it held before, or note what it holds from now on."""
        kind = self.kinds.get(name) or self.keys.kinds.get(name) or self.keys.told.get(name) or found
        if _WANTED[kind] != _WANTED[found]:
            what = next(words for kind, words in _CALLED.items() if isinstance(cell, kind))
            shown = f", {_quoted(cell[:40])}" if isinstance(cell, str) else ""
            raise _RefusedError(
                f'expected {_WANTED[kind]} for "{name}", found {what}{shown}. Correct it, say what the key holds',
                _quoted(key),
            )
        self.kinds[name] = kind


def _as_told(cell: Any, kind: str | None) -> Any:
    """A string as a number, or a number as it was written, if that is what the key is said to hold."""
    if kind == "number" and isinstance(cell, str):
        word = cell.strip()
        return math.nan if word.lower() in MISSING else float(word) if is_number(word) else cell
    return cell.text if kind in ("word", "text") and isinstance(cell, _Number) else cell


def _require_characters(value: Any, text: str) -> None:
    """No halves of surrogate pairs, which can only be there if they are escaped."""
    if "\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _RefusedError(
            "one half of a surrogate pair, which is no character. Write both halves, or what is meant", "\\u"
        ) from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        what = next((words for kind, words in _CALLED.items() if isinstance(value, kind)), "null")
        hint = "; jq -c '.[]' makes lines of a list" if isinstance(value, list) else ""
        raise _RefusedError(
            f'expected an object, such as {{"age": 30}}, found {what}. Write one on each line{hint}', ""
        )
    return value


def _not_json(error: json.JSONDecodeError, is_cut: bool) -> str:
    said = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
    if is_cut:
        return f"this row cannot be read as JSON: {said}. The file may be cut short: fetch or write it again."
    hint = "jq -c '.[]' makes lines of a list" if error.doc.startswith("[") else "jq -c . writes it so"
    return (
        f"this row cannot be read as JSON: {said}. A row is one object on one line; {hint}. Correct it, or pass "
        "over such rows."
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _place(text: str, error: _RefusedError) -> str:
    """Where it is in the line, from 1; nothing if it is written in another way than we would write it."""
    at = -1
    for _ in range(error.times):
        at = text.find(error.sought, at + 1)
    return f":{at + 1}" if at >= 0 else ""
