"""The file format: safetensors with a checksum, written and read whole or not at all."""

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
from novikoff.system.atomic_files import write_atomic

__all__ = ["SCHEMA", "pack", "read", "unpack", "write"]

SCHEMA = 1

# Booleans are facts: the bytes of a boolean tensor could be neither 0 nor 1.
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
    """Write a model file, after loading its content from memory: this raises an error if it is not a valid model.

    If the process is killed, either the old or the new file is complete; see `novikoff.system.atomic_files` for links,
    permissions and temporary files.

    Parameters
    ----------
    path : str or path
    kind : str
        The kind of the model.
    root : Section
        The content.
    load : function of a root section
        Builds the model as `novikoff.load` would.
    """
    try:
        content = pack(kind, root)
    except (TypeError, ValueError) as error:
        root.fail(f"it holds what no file can keep ({error})", error)
    load(replace(unpack(content, os.fspath(path))[1], complaint=root.complaint))
    try:
        write_atomic(Path(path), content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{os.fspath(path)} cannot be written: {reason}.") from error


def read(path: str | os.PathLike[str]) -> tuple[str, Section]:
    """Return the kind of a model file and its root section.

    A file that is not complete, or of a schema that this version does not know, is a ModelFileError that says why.
    """
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {getattr(error, 'strerror', error)}.") from error
    return unpack(content, os.fspath(path))


def pack(kind: str, root: Section) -> bytes:
    """Return the bytes of a model file.

    >>> from novikoff.model_files.container import pack, unpack
    >>> from novikoff.model_files import Section
    >>> kind, root = unpack(pack("perceptron", Section("", {"answer": 42})), "m.nk")
    >>> kind, root.facts
    ('perceptron', {'answer': 42})
    """
    tensors = dict(sorted(root.tensors.items()))
    metadata = {"schema": SCHEMA, "kind": kind, "facts": root.facts}
    metadata["checksum"] = _checksum(metadata, tensors)
    # A single entry, because safetensors writes several in an order that changes from run to run.
    return serialize(tensors, {"novikoff": _as_json(metadata)})


def unpack(content: bytes, source: str) -> tuple[str, Section]:
    """Return the kind and the root section of a model file given as bytes; errors call it `source`."""
    try:
        flat = deserialize(content)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        _raise_not_safetensors(content, source, error)
    metadata = _read_metadata(content, source)
    schema, kind, facts = (metadata.get(name) for name in ("schema", "kind", "facts"))
    if type(schema) is int and schema > SCHEMA:
        raise ModelFileError(
            f"{source} was written by a newer novikoff: its schema is {schema}, this version reads "
            f"{SCHEMA}; upgrade novikoff."
        )
    if schema != SCHEMA or type(kind) is not str or type(facts) is not dict:
        raise ModelFileError(f"{source} is damaged: its metadata does not describe a model.")
    tensors = _to_arrays(flat, source)
    if metadata.pop("checksum", None) != _checksum(metadata, tensors):
        raise ModelFileError(f"{source} is damaged: its checksum does not match its content.")
    return kind, Section(f"{source} holds no valid model", facts, tensors)


def _to_arrays(flat: list[tuple[str, dict[str, Any]]], source: str) -> dict[str, np.ndarray]:
    """Return the tensors as aligned arrays that can be written to, because learning continues in them."""
    arrays = {}
    for name, view in sorted(flat, key=lambda item: item[0]):
        if view["dtype"] not in _DTYPES:
            raise ModelFileError(f"{source} holds no valid model: the tensor {name!r} has type {view['dtype']}.")
        try:
            array = np.frombuffer(view["data"], f"<{_DTYPES[view['dtype']]}").reshape(view["shape"])
        except (ValueError, OverflowError) as error:  # more or longer axes than numpy supports
            raise ModelFileError(f"{source} is damaged: the tensor {name!r} has an impossible shape.") from error
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        arrays[name] = np.require(native, requirements=("A", "W"))
    return arrays


def _read_metadata(content: bytes, source: str) -> dict[str, Any]:
    """Return the entry "novikoff" of the header, which safetensors has already parsed without an error."""
    length = int.from_bytes(content[:8], "little")
    try:
        entry = json.loads(content[8 : 8 + length]).get("__metadata__", {}).get("novikoff")
        metadata = None if entry is None else json.loads(entry, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{source} is damaged: its metadata cannot be read.") from error
    if type(metadata) is not dict:
        raise ModelFileError(f"{source} is a safetensors file, but not one that novikoff has written.")
    return metadata


def _raise_not_safetensors(content: bytes, source: str, error: Exception) -> NoReturn:
    if not content:
        reason = "is empty"
    elif content[8:9] == b"{" or len(content) <= 8:
        reason = "is cut short or damaged"
    else:
        reason = "is not a model file of novikoff"
    raise ModelFileError(f"{source} {reason} ({error}).") from error


def _checksum(metadata: dict[str, Any], tensors: dict[str, np.ndarray]) -> str:
    """Return a digest of everything in the file but the checksum itself; tensors are sorted by name."""
    digest = hashlib.blake2b(_as_json(metadata).encode(), digest_size=32)
    for name, array in tensors.items():
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(_as_json([name, little.dtype.str, little.shape]).encode())
        digest.update(little.reshape(-1).view(np.uint8).data)  # a view in C order, not a copy
    return digest.hexdigest()


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
