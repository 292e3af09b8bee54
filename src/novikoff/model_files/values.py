"""Lists of strings and numbers as tensors: labels and feature names.

A list of n values is `bytes`, all values one after another, and n + 1 `offsets`. Strings are UTF-8; numbers are written
in base 16, which is exact. Types are kept: True, 1, 1.0, NumPy's int64(1) and "1" are read back as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.model_files.section import Section

__all__ = ["read_dtype", "read_values", "to_array", "write_dtype", "write_values"]

_MAX_ITEMSIZE = 1 << 16  # bytes of a string dtype: a small file must not make us allocate gigabytes


def _encode_string(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")  # a Python string may hold a lone surrogate


def _decode_string(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _decode_float(data: bytes) -> float:
    value = float.fromhex(data.decode("ascii"))
    if value != value:
        raise ValueError("NaN")
    return value


Codec = tuple[Callable[[Any], bytes], Callable[[bytes], Any]]

_PYTHON_CODECS: dict[type, Codec] = {
    str: (_encode_string, _decode_string),
    bytes: (bytes, bytes),
    int: (lambda value: format(value, "x").encode(), lambda data: int(data, 16)),
    float: (lambda value: value.hex().encode(), _decode_float),
    bool: (lambda value: b"\1" if value else b"\0", lambda data: bool((b"\0", b"\1").index(data))),
}

_NUMPY_TYPES: dict[type, type] = {
    np.str_: str,
    np.bytes_: bytes,
    np.bool_: bool,
    **{np.dtype(f"i{size}").type: int for size in (1, 2, 4, 8)},
    **{np.dtype(f"u{size}").type: int for size in (1, 2, 4, 8)},
    **{np.dtype(f"f{size}").type: float for size in (2, 4, 8)},
}


def _numpy_codec(kind: type, python_type: type) -> Codec:
    encode, decode = _PYTHON_CODECS[python_type]
    return (lambda value: encode(value.item())), (lambda data: kind(decode(data)))


_CODECS: dict[type, Codec] = _PYTHON_CODECS | {kind: _numpy_codec(kind, own) for kind, own in _NUMPY_TYPES.items()}
_NAMES = {kind: f"{'numpy.' if kind in _NUMPY_TYPES else ''}{kind.__name__}" for kind in _CODECS}
_BY_NAME = {name: kind for kind, name in _NAMES.items()}


def write_values(section: Section, values: Iterable[Any]) -> None:
    """Write a list of strings and numbers.

    >>> from novikoff.model_files import Section, write_values, read_values
    >>> section = Section("")
    >>> write_values(section, ["ham", 3, np.float32(0.1)])
    >>> section.tensors["bytes"].tobytes(), section.facts["types"]
    (b'ham30x1.99999a0000000p-4', ['int', 'numpy.float32', 'str'])
    >>> read_values(section)
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
    section.add_tensor("bytes", np.frombuffer(b"".join(pieces), np.uint8))
    section.add_tensor("offsets", np.cumsum([0, *map(len, pieces)], dtype=np.int64))
    if len(types) > 1:
        section.add_tensor("types", np.array([types.index(type(value)) for value in values], np.uint8))


def read_values(section: Section) -> list[Any]:
    """Read a list of strings and numbers."""
    data = section.tensor("bytes", np.uint8, (None,)).tobytes()
    offsets = section.tensor("offsets", np.int64, (None,))
    is_valid = offsets.size and offsets[0] == 0 and offsets[-1] == len(data) and (offsets[1:] >= offsets[:-1]).all()
    section.require(is_valid, f"{section.full_name('offsets')} do not rise from 0 to the number of bytes")
    names = section.fact("types", list)
    known = all(type(name) is str and name in _BY_NAME for name in names)
    section.require(known and (names or len(offsets) == 1), f"{section.full_name('types')} is {names!r}")
    decoders = [_CODECS[_BY_NAME[name]][1] for name in names]
    pieces = (data[begin:end] for begin, end in pairwise(offsets.tolist()))
    try:
        if len(decoders) > 1:
            which = section.indices("types", (len(offsets) - 1,), len(decoders), np.uint8).tolist()
            return [decoders[k](piece) for k, piece in zip(which, pieces, strict=True)]
        return [decoders[0](piece) for piece in pieces]
    except (ValueError, OverflowError) as error:
        section.fail(f"{section.path} holds a value that cannot be read", error)


def write_dtype(section: Section, dtype: np.dtype) -> None:
    """Write the dtype of an array of numbers, strings or objects."""
    if dtype.kind not in "biufUSO" or (dtype.kind == "f" and dtype.itemsize > 8):
        section.fail(f"{section.path} is an array of dtype {dtype}, which a file cannot keep; use strings or numbers")
    if dtype.kind in "US" and dtype.itemsize > _MAX_ITEMSIZE:
        dtype = np.dtype(dtype.kind)  # as wide as its values
    section.facts["dtype"] = "object" if dtype.kind == "O" else dtype.str


def read_dtype(section: Section) -> np.dtype:
    """Read the dtype of an array."""
    name = section.fact("dtype", str)
    if name == "object":
        return np.dtype(object)
    # NumPy would also accept a list of fields, and much else.
    is_simple = name[:1] in ("<", ">", "|") and name[1:2] in ("b", "i", "u", "f", "U", "S") and name[2:].isdecimal()
    try:
        section.require(is_simple and len(name) <= 9, f"{section.full_name('dtype')} is {name!r}")
        dtype = np.dtype(name)
    except TypeError as error:
        section.fail(f"{section.full_name('dtype')} is {name!r}", error)
    section.require(
        dtype.itemsize <= (_MAX_ITEMSIZE if dtype.kind in "US" else 8), f"{section.full_name('dtype')} is {name!r}"
    )
    return dtype


def to_array(section: Section, values: list[Any], dtype: np.dtype) -> np.ndarray:
    """Return values as a 1-D array of this dtype, which must hold them exactly."""
    array = np.empty(len(values), object)
    array[:] = values
    try:
        converted = array.astype(dtype)
        is_exact = all(one == other for one, other in zip(converted.tolist(), values, strict=True))
    except (TypeError, ValueError, OverflowError) as error:
        section.fail(f"{section.path} holds values that are not of dtype {dtype}", error)
    section.require(is_exact, f"{section.path} holds values that are not of dtype {dtype}")
    return converted
