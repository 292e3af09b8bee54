"""What a certificate is about: numbers that doubles hold exactly.

Whole numbers above 2^53 may lie between two doubles. Rounded, two different rows may become equal, and what is proved
of them would be false of the rows as they were given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows

__all__ = ["require_doubles"]

_EVERY_INTEGER = 2**53  # up to which every whole number is a double


def require_doubles(X: Any) -> None:
    """Raise a DataError if rounding to doubles would change an entry of X, which can be read as rows of numbers.

    >>> from novikoff.theory.exact_inputs import require_doubles
    >>> require_doubles([[2**53, 2**60]])
    >>> require_doubles([[2**53 + 1, 0]])
    Traceback (most recent call last):
    ...
    novikoff.errors.DataError: Input X contains 9007199254740993 in row 0, column 0, which no double is equal to: the \
nearest is 9007199254740992.0, and what is proved of that may be false of your number. Subtract a constant from the \
column, or pass X.astype(float) to ask about the rounded numbers.
    """
    if isinstance(X, Rows) or _are_doubles(getattr(X, "dtype", None)):
        return
    for row, column, value in _rounded(X):
        raise DataError(
            f"Input X contains {value} in row {row}, column {column}, which no double is equal to: the nearest is "
            f"{float(value)!r}, and what is proved of that may be false of your number. Subtract a constant from the "
            "column, or pass X.astype(float) to ask about the rounded numbers."
        )


def _are_doubles(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize <= 8


def _rounded(X: Any) -> Iterator[tuple[int, int, Any]]:
    """The entries that rounding would change: row, column, value."""
    if sp.issparse(X):
        if X.format == "csr":  # read as it is, for SciPy converts no matrix of objects
            for at in _places(X.data[: X.indptr[-1]]):
                yield int(np.searchsorted(X.indptr, at, "right")) - 1, int(X.indices[at]), X.data[at]
            return
        entries = X.tocoo()
        for at in _places(entries.data):
            yield int(entries.row[at]), int(entries.col[at]), entries.data[at]
        return
    if hasattr(X, "iloc"):  # a DataFrame has a type for each column, and as an array only one for all
        for column in range(X.shape[1]):
            values = np.asarray(X.iloc[:, column])
            for row in _places(values):
                yield row, column, values[row]
        return
    values = np.asarray(X)
    if isinstance(X, (list, tuple)) and values.dtype.kind == "f" and (np.abs(values) >= _EVERY_INTEGER).any():
        values = np.asarray(X, object)  # of whole numbers beside floats numpy has made floats
    for at in _places(values.reshape(-1)):
        yield *map(int, np.unravel_index(at, values.shape)), values.reshape(-1)[at]


def _places(values: np.ndarray) -> list[int]:
    """Where rounding to doubles would change an array of one axis."""
    if values.dtype.kind == "O":
        return [at for at, value in enumerate(values.tolist()) if isinstance(value, int) and float(value) != value]
    if values.dtype.kind in "iu" and values.dtype.itemsize > 4:
        large = np.flatnonzero((values > _EVERY_INTEGER) | (values < -_EVERY_INTEGER))
        return [at for at, value in zip(large.tolist(), values[large].tolist(), strict=True) if float(value) != value]
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return np.flatnonzero(values.astype(np.float64) != values).tolist()
    return []
