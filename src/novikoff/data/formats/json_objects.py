"""JSON objects line by line: slow and exact, with a message for everything that is wrong.

Locations are file:line:character, where the character is known.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.columns import check_kind, missing_label_error
from novikoff.data.formats.lines import decode_line
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.data.formats.sniffing import MISSING, is_number

__all__ = ["OBJECT", "JsonKeys"]

OBJECT = "object"  # the kind of a key that holds more keys
_BLANKS = " \t\r\n"
_CALLED = {float: "a number", bool: "true or false", str: "a string", dict: "an object", list: "a list"}
_WANTED = {"number": "a number", "word": "a string", "text": "a string", OBJECT: "an object"}


class _WrittenNumber(float):
    """A number and how it was written."""

    text: str


def _parse_number(text: str) -> _WrittenNumber:
    number = _WrittenNumber(text)
    number.text = "0" if text == "-0" else text
    return number


class _RefusedError(Exception):
    """A row that is JSON and still wrong: why, and the string in the text where it is wrong, of which it is the
    `occurrence`-th."""

    def __init__(self, reason: str, sought: str, code: RejectCode, occurrence: int = 1) -> None:
        super().__init__(reason)
        self.sought, self.code, self.occurrence = sought, code, occurrence


def _refuse_constant(name: str) -> Any:
    raise _RefusedError(
        f"{name} is no number in JSON. Write null, or leave the key out, if it is missing", name, RejectCode.SYNTAX
    )


def _require_distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twin = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _RefusedError(f"the key {_quoted(twin)} is there twice. Keep one", _quoted(twin), RejectCode.DUPLICATE, 2)
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_require_distinct,
    parse_constant=_refuse_constant,
    parse_float=_parse_number,
    parse_int=_parse_number,
)


@dataclass
class JsonKeys:
    """What is known of the keys of a stream.

    Attributes
    ----------
    declared : dict of str to str
        What keys hold, as the user says.
    dropped : collection of str
    target : str or None
        The key of the labels, once that is known.
    kinds : dict of str to str
        What keys hold, as their first value that is not null decides: a number, a word, text or more keys.

    Examples
    --------
    >>> from novikoff.data.formats.json_objects import JsonKeys
    >>> keys = JsonKeys()
    >>> keys.row(b'{"user": {"age": 30, "city": null}, "new": true}', "log.jsonl:1")
    {'user.age': 30.0, 'new': 'true'}
    >>> keys.row(b'{"user": {"age": "30"}}', "log.jsonl:2")
    Traceback (most recent call last):
    novikoff.data.formats.rejects.RowError: log.jsonl:2:11: expected a number for "user.age", found a string, "30".
    Correct it, say what the key holds, or pass over such rows.
    """

    declared: Mapping[str, str] = field(default_factory=dict)
    dropped: Collection[str] = ()
    target: str | None = None
    kinds: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in self.declared.values():
            check_kind(kind)

    def row(self, line: bytes, location: str) -> dict[str, float | str] | None:
        """Return the values of a line by their keys, joined by dots, without those that are missing; None if it is
        blank."""
        text = decode_line(line, location).rstrip(_BLANKS)
        if not text:
            return None
        try:
            value = _DECODER.decode(text)
            _require_characters(value, text)
            row = _JsonRow(self)
            row.add(_require_object(value))
        except json.JSONDecodeError as error:
            is_cut = not line.endswith(b"\n")  # as only the last line of all may be
            raise RowError(f"{location}:{error.pos + 1}: {_describe(error, is_cut)}", RejectCode.SYNTAX) from error
        except RecursionError:
            message = f"{location}: objects within objects, too deep to read. Flatten them."
            raise RowError(message, RejectCode.NESTING) from None
        except _RefusedError as error:
            message = f"{location}{_character(text, error)}: {error}, or pass over such rows."
            raise RowError(message, error.code) from None
        if self.target is not None and self.target not in row.cells:
            raise missing_label_error(location, self.target)
        self.kinds |= row.kinds
        return row.cells


@dataclass
class _JsonRow:
    """A row that is being read; what it decides about keys counts only if all of it is right."""

    keys: JsonKeys
    cells: dict[str, float | str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def add(self, value: dict[str, Any], prefix: str = "") -> None:
        """Add the values of an object, and those of objects within it."""
        for key, cell in value.items():
            name = prefix + key
            if cell is None or name in self.keys.dropped:
                continue
            if isinstance(cell, dict):
                self._decide_kind(name, OBJECT, key, cell)
                self.add(cell, name + ".")
            elif isinstance(cell, list) and cell and isinstance(cell[0], dict):
                raise _RefusedError(
                    f'"{name}" holds a list of objects. If these are the rows, write one on each line, as '
                    f"jq -c '.{name}[]' does. Leave it out",
                    _quoted(key),
                    RejectCode.KIND,
                )
            elif isinstance(cell, list):
                raise _RefusedError(
                    f'"{name}" holds a list, which is no number, word or text. Leave it out',
                    _quoted(key),
                    RejectCode.KIND,
                )
            else:
                self._add_cell(name, key, cell)

    def _add_cell(self, name: str, key: str, cell: Any) -> None:
        if name in self.cells:
            raise _RefusedError(
                f'"{name}" is there twice, once within another key. Keep one', _quoted(key), RejectCode.DUPLICATE
            )
        cell = _as_declared(cell, self.keys.declared.get(name))
        self._decide_kind(name, "number" if isinstance(cell, float) else "word", key, cell)
        if isinstance(cell, float) and abs(cell) >= VALUE_LIMIT:
            raise _RefusedError(
                f'"{name}" is not a finite number below {VALUE_LIMIT:g}. Scale it, leave it out',
                _quoted(key),
                RejectCode.TOO_LARGE,
            )
        if isinstance(cell, bool):
            self.cells[name] = "true" if cell else "false"
        elif cell == cell:
            self.cells[name] = float(cell) if isinstance(cell, float) else cell

    def _decide_kind(self, name: str, found: str, key: str, cell: Any) -> None:
        """Require that a key holds what it held before, or remember what it holds from now on."""
        kind = self.kinds.get(name) or self.keys.kinds.get(name) or self.keys.declared.get(name) or found
        if _WANTED[kind] != _WANTED[found]:
            what = next(phrase for kind, phrase in _CALLED.items() if isinstance(cell, kind))
            shown = f", {_quoted(cell[:40])}" if isinstance(cell, str) else ""
            raise _RefusedError(
                f'expected {_WANTED[kind]} for "{name}", found {what}{shown}. Correct it, say what the key holds',
                _quoted(key),
                RejectCode.KIND,
            )
        self.kinds[name] = kind


def _as_declared(cell: Any, kind: str | None) -> Any:
    """Return a string as a number, or a number as it was written, if the key is declared to hold that."""
    if kind == "number" and isinstance(cell, str):
        string = cell.strip()
        return math.nan if string.lower() in MISSING else float(string) if is_number(string) else cell
    if kind == "number" and isinstance(cell, bool):
        return float(cell)
    return cell.text if kind in ("word", "text") and isinstance(cell, _WrittenNumber) else cell


def _require_characters(value: Any, text: str) -> None:
    """Raise an error for half a surrogate pair, which can only be there as an escape sequence."""
    if "\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _RefusedError(
            "one half of a surrogate pair, which is no character. Write both halves, or what is meant",
            "\\u",
            RejectCode.ENCODING,
        ) from None


def _require_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        what = next((phrase for kind, phrase in _CALLED.items() if isinstance(value, kind)), "null")
        hint = "; jq -c '.[]' makes lines of a list" if isinstance(value, list) else ""
        raise _RefusedError(
            f'expected an object, such as {{"age": 30}}, found {what}. Write one on each line{hint}',
            "",
            RejectCode.KIND,
        )
    return value


def _describe(error: json.JSONDecodeError, is_cut: bool) -> str:
    reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
    if is_cut:
        return f"this row cannot be read as JSON: {reason}. The file may be cut short: fetch or write it again."
    hint = "jq -c '.[]' makes lines of a list" if error.doc.startswith("[") else "jq -c . writes it so"
    return (
        f"this row cannot be read as JSON: {reason}. A row is one object on one line; {hint}. Correct it, or pass "
        "over such rows."
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _character(text: str, error: _RefusedError) -> str:
    """Return the character of a line where it is wrong, from 1; nothing if the key is written with escapes and not
    found."""
    at = -1
    for _ in range(error.occurrence):
        at = text.find(error.sought, at + 1)
    return f":{at + 1}" if at >= 0 else ""
