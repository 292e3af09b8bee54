"""require_doubles: refuse numbers that doubles cannot hold exactly.

Integers above 2^53 may lie between two doubles. Rounded, two different rows may become equal, and what is proved of
them would be false of the rows as they were given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.inputs.sparse import to_checked_csr

__all__ = ["explain_overflow", "require_doubles"]

_EVERY_INTEGER = 2**53  # up to here every integer is a double


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
    for row, column, value in _iterate_inexact(X):
        raise DataError(
            f"Input X contains {_describe(value)} in row {row}, column {column}, which no double is equal to: the "
            f"nearest is {_nearest_double(value)!r}, and what is proved of that may be false of your number. Subtract "
            "a constant from the column, or pass X.astype(float) to ask about the rounded numbers."
        )
    if sp.issparse(X):
        _require_sums_in_doubles(X)


@contextmanager
def explain_overflow(X: Any) -> Iterator[None]:
    """Raise a DataError instead of an OverflowError where X holds integers that are too large for any double."""
    try:
        yield
    except (OverflowError, DataError) as error:
        if isinstance(error, OverflowError) or isinstance(error.__cause__, OverflowError):
            require_doubles(X)
        raise


def _are_doubles(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize <= 8


def _iterate_inexact(X: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield the entries that rounding would change: row, column, value."""
    if sp.issparse(X):
        if X.format == "csr":  # read directly, because SciPy cannot convert a matrix of objects
            for at in _inexact_indices(X.data[: X.indptr[-1]]):
                yield int(np.searchsorted(X.indptr, at, "right")) - 1, int(X.indices[at]), X.data[at]
            return
        to_checked_csr(X)  # SciPy's own conversions follow indices without a check
        entries = X.tocoo()
        for at in _inexact_indices(entries.data):
            yield int(entries.row[at]), int(entries.col[at]), entries.data[at]
        return
    if hasattr(X, "iloc"):  # a DataFrame has a dtype for each column, an array only one
        for column in range(X.shape[1]):
            values = np.asarray(X.iloc[:, column])
            for row in _inexact_indices(values):
                yield row, column, values[row]
        return
    values = np.asarray(X)
    if isinstance(X, (list, tuple)) and values.dtype.kind == "f" and (np.abs(values) >= _EVERY_INTEGER).any():
        values = np.asarray(X, object)  # numpy has converted integers beside floats to floats
    for at in _inexact_indices(values.reshape(-1)):
        yield *map(int, np.unravel_index(at, values.shape)), values.reshape(-1)[at]


def _inexact_indices(values: np.ndarray) -> list[int]:
    """Return the indices at which rounding to doubles would change a 1-D array."""
    if values.dtype.kind == "O":
        return [at for at, value in enumerate(values.tolist()) if _is_inexact_integer(value)]
    if values.dtype.kind in "iu" and values.dtype.itemsize > 4:
        large = np.flatnonzero((values > _EVERY_INTEGER) | (values < -_EVERY_INTEGER))
        return [at for at, value in zip(large.tolist(), values[large].tolist(), strict=True) if float(value) != value]
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return np.flatnonzero(values.astype(np.float64) != values).tolist()
    return []


def _is_inexact_integer(value: Any) -> bool:
    # np.int64(2**53 + 1) == float(2**53 + 1), because numpy rounds before it compares: int() makes that exact
    return isinstance(value, (int, np.integer)) and _nearest_double(int(value)) != int(value)


def _nearest_double(value: Any) -> float:
    """Return a number rounded to a double; inf or -inf if it is beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _describe(value: Any) -> str:
    """Return a number for a message; only the size of one that has hundreds of digits, which Python may refuse to
    print."""
    is_long = isinstance(value, int) and value.bit_length() > 1000
    return f"an integer of {value.bit_length()} bits" if is_long else str(value)


def _require_sums_in_doubles(X: Any) -> None:
    """Raise a DataError if a cell is stored more than once and doubles do not hold the sum of its integers exactly.

    Rows hold the sum of the entries as doubles, added in the order in which they are stored.
    """
    if X.dtype.kind not in "iu":
        return
    to_checked_csr(X)  # SciPy's own conversions follow indices without a check
    entries = X.tocoo()
    if X.nnz < 2 or X.nnz * max(abs(int(entries.data.max())), abs(int(entries.data.min()))) < _EVERY_INTEGER:
        return  # no sum is so large that doubles round it
    # Stable: entries of a cell stay in the order in which they are stored.
    order = np.lexsort((entries.col, entries.row))
    cells = np.stack([entries.row[order], entries.col[order]])
    starts = np.flatnonzero(np.append(True, (cells[:, 1:] != cells[:, :-1]).any(axis=0)))
    stops = np.append(starts[1:], len(order))
    for start, stop in zip(starts[stops - starts > 1].tolist(), stops[stops - starts > 1].tolist(), strict=True):
        values = entries.data[order[start:stop]].tolist()
        exact, rounded = sum(map(int, values)), 0.0
        for value in values:
            rounded += float(value)
        if rounded != exact:
            row, column = cells[:, start].tolist()
            raise DataError(
                f"Input X stores row {row}, column {column} {len(values)} times. Its integers sum to {exact}, and to "
                f"{rounded!r} in doubles: what is proved of that may be false of your number. Subtract a constant from "
                "the column, or pass X.astype(float) to ask about the rounded numbers."
            )
