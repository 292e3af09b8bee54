"""Arrays as compiled code takes them: floats of this machine, and memory that numba takes for writable; and what is
asked of rows that are arrays or CSR arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError

__all__ = ["as_floats", "row_lengths", "whole_rows", "writable"]

_FLOATS = (np.float32, np.float64)


def as_floats(values: np.ndarray) -> np.ndarray:
    """Numbers as float32 or float64 in the byte order of this machine; no copy if they are."""
    if values.dtype in _FLOATS and values.dtype.isnative:
        return values
    if values.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: a half-space needs real numbers. Pass X.real and X.imag as separate columns."
        )
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"Expected numbers, found dtype {values.dtype}: {error}.") from error


class _Unlocked:
    """The memory of a read-only array, offered as if it could be written to."""

    def __init__(self, array: np.ndarray) -> None:
        self.owner = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def writable(array: np.ndarray) -> np.ndarray:
    """A view that numba takes for writable. Kernels never write to rows, but for read-only ones, such as the memory
    maps that joblib hands to its workers, numba would compile everything again."""
    return array if array.flags.writeable or not array.size else np.asarray(_Unlocked(array))


def row_lengths(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """For each row at least its length, and how many values it has. The largest value times the root of their number
    neither overflows nor vanishes."""
    if sp.issparse(rows):
        largest, counts = np.zeros(rows.shape[0]), np.diff(rows.indptr)
        np.maximum.at(largest, np.repeat(np.arange(len(largest)), counts), np.abs(rows.data))
    else:
        largest, counts = np.abs(rows.astype(np.float64)).max(axis=1, initial=0.0), np.full(len(rows), rows.shape[1])
    return largest * np.sqrt(counts), counts


def whole_rows(rows: Any) -> np.ndarray:
    """Which rows hold only whole numbers."""
    if not sp.issparse(rows):
        return (rows == np.rint(rows)).all(axis=1)
    broken = rows.data != np.rint(rows.data)
    return np.bincount(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), broken, rows.shape[0]) == 0.0
