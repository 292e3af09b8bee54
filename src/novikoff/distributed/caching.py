"""Rows of earlier rounds, kept in the memory of the process that encoded them.

A task that finds its rows here need not read its files again. Nothing depends on it but time: what is not here, because
there was no room or because another worker computes the task, is read and encoded again, to the same rows.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows

__all__ = ["AUTO", "cached", "limit_memory", "read_persist"]

AUTO = -1  # bytes: a share of the memory that the process may use
_SHARE = 0.6  # of the memory that a worker may use, what it has taken before the first task included
_IN_PROCESS = 1 << 29  # bytes, without a worker's limit

Encoded = tuple[Rows, np.ndarray]  # rows and the codes of their classes

_lock = threading.Lock()
_rows_of: dict[str, list[Encoded]] = {}
_run, _used, _room = "", 0, _IN_PROCESS


def limit_memory(limit: int | None, taken: int) -> None:
    """Note how much memory this process may use, and how much it has taken without any rows."""
    global _room
    if limit and not _rows_of:
        _room = max(0, int(_SHARE * limit) - taken)


def read_persist(persist: bool | str | int) -> int:
    """Return how many bytes of rows each process may keep, given what a user says: True, False, "auto" or a number."""
    if persist == "auto" and isinstance(persist, str):
        return AUTO
    if isinstance(persist, bool):
        return int(np.iinfo(np.int64).max) if persist else 0
    if isinstance(persist, int) and persist >= 0:
        return persist
    raise DataError(f"persist must be True, False, 'auto' or a number of bytes; found {persist!r}.")


def cached(run: str, name: str, encoded: Iterable[Encoded], limit: int) -> Iterator[Encoded]:
    """Yield the rows that are kept under a name, or else those of the iterable, which are kept if they fit."""
    with _lock:
        _begin(run)
        held = _rows_of.get(name)
    if held is not None:
        yield from held
        return
    kept: list[Encoded] | None = []
    size, limit = 0, _room if limit == AUTO else limit
    for part in encoded:
        size += _memory_of(part)
        if kept is not None and _used + size <= limit:
            kept.append(part)
        else:
            kept = None
        yield part
    with _lock:
        if kept is not None and run == _run and _used + size <= limit and name not in _rows_of:
            _keep(name, kept, size)


def _begin(run: str) -> None:
    """Forget the rows of other runs."""
    global _run, _used
    if run != _run:
        _rows_of.clear()
        _run, _used = run, 0


def _keep(name: str, rows: list[Encoded], size: int) -> None:
    global _used
    _rows_of[name], _used = rows, _used + size


def _memory_of(encoded: Encoded) -> int:
    rows, codes = encoded
    arrays: list[Any] = [rows.data, rows.indices, rows.indptr, rows.squared_norms, codes]
    return sum(array.nbytes for array in arrays if array is not None)


def _forget_after_fork() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
