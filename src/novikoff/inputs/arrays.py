"""Arrays as compiled loops take them, and properties of rows that are arrays or CSR arrays.

Loops take floats in the byte order of this machine, in memory that numba considers writable.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError

__all__ = ["as_floats", "as_writable", "bound_row_norms", "integer_rows"]

_FLOATS = (np.float32, np.float64)


def as_floats(values: np.ndarray) -> np.ndarray:
    """Return numbers as float32 or float64 in the byte order of this machine; no copy if they are already."""
    if values.dtype in _FLOATS and values.dtype.isnative:
        return values
    if values.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: a half-space needs real numbers. Pass X.real and X.imag as separate columns."
        )
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:  # an integer may be larger than any double
        raise DataError(f"Expected numbers, found dtype {values.dtype}: {error}.") from error


class _WritableView:
    """The memory of a read-only array, declared writable."""

    def __init__(self, array: np.ndarray) -> None:
        self.owner = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def as_writable(array: np.ndarray) -> np.ndarray:
    """Return a view that numba considers writable.

    Loops never write to rows. But for read-only arrays, such as the memory maps that joblib passes to its workers,
    numba would compile everything again.
    """
    return array if array.flags.writeable or not array.size else np.asarray(_WritableView(array))


def bound_row_norms(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return an upper bound of the length of each row, and the number of its values.

    The bound is the largest value times the square root of their number, which neither overflows nor underflows.
    """
    if sp.issparse(rows):
        largest, counts = np.zeros(rows.shape[0]), np.diff(rows.indptr)
        np.maximum.at(largest, np.repeat(np.arange(len(largest)), counts), np.abs(rows.data))
    else:
        largest, counts = np.abs(rows.astype(np.float64)).max(axis=1, initial=0.0), np.full(len(rows), rows.shape[1])
    return largest * np.sqrt(counts), counts


def integer_rows(rows: Any) -> np.ndarray:
    """Return which rows hold only integers."""
    if not sp.issparse(rows):
        return (rows == np.rint(rows)).all(axis=1)
    is_fraction = rows.data != np.rint(rows.data)
    return np.bincount(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), is_fraction, rows.shape[0]) == 0.0
