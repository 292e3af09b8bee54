"""The container: one safetensors file, written whole, and read only if it is whole."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save as serialize

from novikoff.errors import ModelFileError
from novikoff.model_files.section import Section
from novikoff.system.atomic_files import write_whole

__all__ = ["SCHEMA", "pack", "read", "unpack", "write"]

SCHEMA = 1

# The types a model file needs. Booleans are facts: as tensors they may hold bytes that are neither.
_DTYPES = {
    "F64": "f8",
    "F32": "f4",
    "F16": "f2",
    "I64": "i8",
    "I32": "i4",
    "I16": "i2",
    "I8": "i1",
    "U64": "u8",
    "U32": "u4",
    "U16": "u2",
    "U8": "u1",
}


def write(path: str | os.PathLike[str], kind: str, root: Section, load: Callable[[Section], object]) -> None:
    """Write a model file, after its content has been loaded, which raises an error if that is no sound model.

    Killed at any instant, the old or the new file is there whole; see `novikoff.system.atomic_files` for what happens
    to links, permissions and temporary files.

    Parameters
    ----------
    path : str or path
    kind : str
        Of the model.
    root : Section
        What the file is to hold.
    load : function of the root section of a file
        What `novikoff.load` makes the model with.
    """
    try:
        content = pack(kind, root)
    except (TypeError, ValueError) as error:
        root.fail(f"it holds what no file can keep ({error})", error)
    load(replace(unpack(content, os.fspath(path))[1], complaint=root.complaint))
    try:
        write_whole(Path(path), content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{os.fspath(path)} cannot be written: {reason}.") from error


def read(path: str | os.PathLike[str]) -> tuple[str, Section]:
    """The kind of a model file and its root section.

    Anything but a whole file of a schema this version knows is a ModelFileError that says in one sentence why.
    """
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {getattr(error, 'strerror', error)}.") from error
    return unpack(content, os.fspath(path))


def pack(kind: str, root: Section) -> bytes:
    """The bytes of a model file.

    >>> from novikoff.model_files.container import pack, unpack
    >>> from novikoff.model_files import Section
    >>> kind, root = unpack(pack("perceptron", Section("", {"answer": 42})), "m.nk")
    >>> kind, root.facts
    ('perceptron', {'answer': 42})
    """
    tensors = dict(sorted(root.tensors.items()))
    about = {"schema": SCHEMA, "kind": kind, "facts": root.facts}
    about["checksum"] = _checksum(about, tensors)
    # One entry, because safetensors writes several in an order of its own that changes from run to run.
    return serialize(tensors, {"novikoff": _as_json(about)})


def unpack(content: bytes, source: str) -> tuple[str, Section]:
    """The kind and the root section of the bytes of a model file; `source` is what errors call it."""
    try:
        flat = deserialize(content)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        _refuse(content, source, error)
    about = _about(content, source)
    schema, kind, facts = (about.get(name) for name in ("schema", "kind", "facts"))
    if type(schema) is int and schema > SCHEMA:
        raise ModelFileError(
            f"{source} was written by a newer novikoff: its schema is {schema}, this version reads "
            f"{SCHEMA}; upgrade novikoff."
        )
    if schema != SCHEMA or type(kind) is not str or type(facts) is not dict:
        raise ModelFileError(f"{source} is damaged: its metadata does not describe a model.")
    tensors = _arrays(flat, source)
    if about.pop("checksum", None) != _checksum(about, tensors):
        raise ModelFileError(f"{source} is damaged: its checksum does not match its content.")
    return kind, Section(f"{source} holds no sound model", facts, tensors)


def _arrays(flat: list[tuple[str, dict[str, Any]]], source: str) -> dict[str, np.ndarray]:
    """Arrays that can be written to, in memory of their own, as learning goes on from them."""
    found = {}
    for name, view in sorted(flat, key=lambda item: item[0]):
        if view["dtype"] not in _DTYPES:
            raise ModelFileError(f"{source} holds no sound model: the tensor {name!r} has type {view['dtype']}.")
        try:
            array = np.frombuffer(view["data"], f"<{_DTYPES[view['dtype']]}").reshape(view["shape"])
        except (ValueError, OverflowError) as error:  # more axes or longer ones than numpy knows
            raise ModelFileError(f"{source} is damaged: the tensor {name!r} has an impossible shape.") from error
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        found[name] = np.require(native, requirements=("A", "W"))
    return found


def _about(content: bytes, source: str) -> dict[str, Any]:
    """Our entry in the header, which safetensors has found sound."""
    length = int.from_bytes(content[:8], "little")
    try:
        entry = json.loads(content[8 : 8 + length]).get("__metadata__", {}).get("novikoff")
        about = None if entry is None else json.loads(entry, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{source} is damaged: its metadata cannot be read.") from error
    if type(about) is not dict:
        raise ModelFileError(f"{source} is a safetensors file, but not one that novikoff has written.")
    return about


def _refuse(content: bytes, source: str, error: Exception) -> NoReturn:
    if not content:
        reason = "is empty"
    elif content[8:9] == b"{" or len(content) <= 8:
        reason = "is cut short or damaged"
    else:
        reason = "is not a model file of novikoff"
    raise ModelFileError(f"{source} {reason} ({error}).") from error


def _checksum(about: dict[str, Any], tensors: dict[str, np.ndarray]) -> str:
    """Of everything in the file but the checksum itself; tensors in the order of their names."""
    digest = hashlib.blake2b(_as_json(about).encode(), digest_size=32)
    for name, array in tensors.items():
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(_as_json([name, little.dtype.str, little.shape]).encode())
        digest.update(little.reshape(-1).view(np.uint8).data)  # the memory itself, in C order, not a copy
    return digest.hexdigest()


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
