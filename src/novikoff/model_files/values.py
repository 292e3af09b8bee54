"""Text and other single values as tensors: labels and the names of features.

A list of n values is `bytes`, all of them one after another, and `offsets`, n + 1 places in it. Text is UTF-8; numbers
are written in base 16, which is exact. Types are kept: True, 1, 1.0, numpy's int64(1) and "1" come back as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.model_files.section import Section

__all__ = ["as_array", "put_dtype", "put_values", "take_dtype", "take_values"]

_WIDEST = 1 << 16  # characters of a text dtype: a file of a few bytes must not ask for gigabytes


def _text(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")  # Python's strings may hold half a pair


def _untext(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _unhex(data: bytes) -> float:
    found = float.fromhex(data.decode("ascii"))
    if found != found:
        raise ValueError("NaN")
    return found


Codec = tuple[Callable[[Any], bytes], Callable[[bytes], Any]]

_PYTHONS: dict[type, Codec] = {
    str: (_text, _untext),
    bytes: (bytes, bytes),
    int: (lambda value: format(value, "x").encode(), lambda data: int(data, 16)),
    float: (lambda value: value.hex().encode(), _unhex),
    bool: (lambda value: b"\1" if value else b"\0", lambda data: bool((b"\0", b"\1").index(data))),
}

_NUMPYS: dict[type, type] = {
    np.str_: str,
    np.bytes_: bytes,
    np.bool_: bool,
    **{np.dtype(f"i{size}").type: int for size in (1, 2, 4, 8)},
    **{np.dtype(f"u{size}").type: int for size in (1, 2, 4, 8)},
    **{np.dtype(f"f{size}").type: float for size in (2, 4, 8)},
}


def _numpys(kind: type, own: type) -> Codec:
    encode, decode = _PYTHONS[own]
    return (lambda value: encode(value.item())), (lambda data: kind(decode(data)))


_CODECS: dict[type, Codec] = _PYTHONS | {kind: _numpys(kind, own) for kind, own in _NUMPYS.items()}
_NAMES = {kind: f"{'numpy.' if kind in _NUMPYS else ''}{kind.__name__}" for kind in _CODECS}
_BY_NAME = {name: kind for kind, name in _NAMES.items()}


def put_values(section: Section, values: Iterable[Any]) -> None:
    """Keep a list of strings and numbers.

    >>> from novikoff.model_files import Section, put_values, take_values
    >>> section = Section("")
    >>> put_values(section, ["ham", 3, np.float32(0.1)])
    >>> section.tensors["bytes"].tobytes(), section.facts["types"]
    (b'ham30x1.99999a0000000p-4', ['int', 'numpy.float32', 'str'])
    >>> take_values(section)
    ['ham', 3, np.float32(0.1)]
    """
    values = list(values)
    for value in values:
        if type(value) not in _CODECS:
            section.fail(
                f"{section.path} has {value!r} of type {type(value).__name__}, which a file cannot keep; use "
                "strings or numbers"
            )
    types = sorted({type(value) for value in values}, key=_NAMES.__getitem__)
    pieces = [_CODECS[type(value)][0](value) for value in values]
    section.facts["types"] = [_NAMES[kind] for kind in types]
    section.put("bytes", np.frombuffer(b"".join(pieces), np.uint8))
    section.put("offsets", np.cumsum([0, *map(len, pieces)], dtype=np.int64))
    if len(types) > 1:
        section.put("types", np.array([types.index(type(value)) for value in values], np.uint8))


def take_values(section: Section) -> list[Any]:
    """The list that `put_values` kept."""
    data = section.tensor("bytes", np.uint8, (None,)).tobytes()
    offsets = section.tensor("offsets", np.int64, (None,))
    places = section.place("offsets")
    sound = offsets.size and offsets[0] == 0 and offsets[-1] == len(data) and (offsets[1:] >= offsets[:-1]).all()
    section.require(sound, f"{places} do not rise from 0 to the number of bytes")
    names = section.fact("types", list)
    known = all(type(name) is str and name in _BY_NAME for name in names)
    section.require(known and (names or len(offsets) == 1), f"{section.place('types')} is {names!r}")
    decoders = [_CODECS[_BY_NAME[name]][1] for name in names]
    ends = offsets.tolist()
    pieces = (data[a:b] for a, b in pairwise(ends))
    try:
        if len(decoders) > 1:
            which = section.indices("types", (len(offsets) - 1,), len(decoders), np.uint8).tolist()
            return [decoders[k](piece) for k, piece in zip(which, pieces, strict=True)]
        return [decoders[0](piece) for piece in pieces]
    except (ValueError, OverflowError) as error:
        section.fail(f"{section.path} holds a value that cannot be read", error)


def put_dtype(section: Section, dtype: np.dtype) -> None:
    """Keep the dtype of an array of such values: of numbers, text or objects."""
    if dtype.kind not in "biufUSO" or (dtype.kind == "f" and dtype.itemsize > 8):
        section.fail(f"{section.path} is an array of dtype {dtype}, which a file cannot keep; use strings or numbers")
    if dtype.kind in "US" and dtype.itemsize > _WIDEST:
        dtype = np.dtype(dtype.kind)  # as wide as its values need
    section.facts["dtype"] = "object" if dtype.kind == "O" else dtype.str


def take_dtype(section: Section) -> np.dtype:
    """The dtype that `put_dtype` kept."""
    name = section.fact("dtype", str)
    if name == "object":
        return np.dtype(object)
    # A name of this form and no other: numpy would also make sense of a list of fields, and of much else.
    form = name[:1] in ("<", ">", "|") and name[1:2] in ("b", "i", "u", "f", "U", "S") and name[2:].isdecimal()
    try:
        section.require(form and len(name) <= 9, f"{section.place('dtype')} is {name!r}")
        dtype = np.dtype(name)
    except TypeError as error:
        section.fail(f"{section.place('dtype')} is {name!r}", error)
    section.require(dtype.itemsize <= (_WIDEST if dtype.kind in "US" else 8), f"{section.place('dtype')} is {name!r}")
    return dtype


def as_array(section: Section, values: list[Any], dtype: np.dtype) -> np.ndarray:
    """The values as a 1-D array of this dtype, which must hold them exactly."""
    array = np.empty(len(values), object)
    array[:] = values
    try:
        found = array.astype(dtype)
        same = all(one == other for one, other in zip(found.tolist(), values, strict=True))
    except (TypeError, ValueError, OverflowError) as error:
        section.fail(f"{section.path} holds values that are not of dtype {dtype}", error)
    section.require(same, f"{section.path} holds values that are not of dtype {dtype}")
    return found
