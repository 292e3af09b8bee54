"""Sparse matrices with arrays damaged at random: refused with a DataError, or read as the numbers that they hold.

What they hold is found again here in plain Python, one entry at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk

_ARRAYS = {"csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "coo": ("row", "col", "data")}
_STRANGE = np.array([-(10**9), -2, -1, 0, 1, 2, 3, 7, 8, 9, 40, 41, 10**9, 2**31 - 1])
_TYPES = [np.int32, np.int64, np.uint8, np.uint32, np.uint64, ">i4", ">i8", np.float64]
_TYPES_OF_DATA = [np.float32, ">f8", ">f4", np.int64]


def attack(rng: np.random.Generator) -> int:
    """Damage a hundred matrices, most of them a little."""
    for _ in range(100):
        X = _matrix(rng)
        for _ in range(rng.integers(0, 4)):
            _damage(X, rng)
        _check(X, _entries(X), rng)
    return 100


def _matrix(rng: np.random.Generator) -> Any:
    n, d = rng.integers(1, 12), rng.integers(1, 12)
    dense = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < rng.choice([0.1, 0.5, 1.0]))
    kind = str(rng.choice(list(_ARRAYS)))
    X = getattr(sp, f"{kind}_{rng.choice(['array', 'matrix'])}")(dense.astype(float))
    if kind != "coo" and rng.random() < 0.5:
        _ = X.has_canonical_format  # SciPy keeps the answer
    return X


def _damage(X: Any, rng: np.random.Generator) -> None:
    """Change one of the arrays, or the shape."""
    name = str(rng.choice([*_ARRAYS[X.format], "_shape"]))
    if name == "_shape":
        X._shape = tuple(int(max(0, size + rng.integers(-1, 2))) for size in X.shape)
        return
    values = getattr(X, name).copy()
    how = rng.integers(6)
    if how == 0 and len(values):
        values[rng.integers(len(values))] = rng.choice(_STRANGE)
    elif how == 1 and len(values) > 1:
        i, j = rng.integers(len(values), size=2)
        values[[i, j]] = values[[j, i]]
    elif how == 2:
        values = values[: rng.integers(len(values) + 1)]
    elif how == 3:
        values = np.append(values, rng.choice(_STRANGE, rng.integers(1, 3)).astype(values.dtype))
    elif how == 4:
        types = _TYPES_OF_DATA if name == "data" else _TYPES
        values = values.astype(types[rng.integers(len(types))])
    else:
        values = np.repeat(values, 2)[::2]
    if X.format == "coo" and name != "data":
        X.coords = (values, X.coords[1]) if name == "row" else (X.coords[0], values)
    else:
        setattr(X, name, values)


def _entries(X: Any) -> list[tuple[int, int, float]] | None:
    """Every entry as (row, column, value), or None if the arrays do not fit together."""
    if X.format == "coo":
        (row, column), data = X.coords, X.data
        if not len(row) == len(column) == len(data):
            return None
    else:
        data, indices, indptr = X.data, X.indices, X.indptr
        if indptr.dtype.kind == "f" or indices.dtype.kind == "f":
            return None
        bounds, n = [int(p) for p in indptr], X.shape[0 if X.format == "csr" else 1]
        if len(bounds) != n + 1 or bounds[0] != 0 or bounds != sorted(bounds):
            return None
        if bounds[-1] > min(len(indices), len(data)):
            return None
        major = np.array([i for i in range(n) for _ in range(bounds[i], bounds[i + 1])], int)
        row, column = (major, indices) if X.format == "csr" else (indices[: len(major)], major)
    if row.dtype.kind == "f" or column.dtype.kind == "f":
        return None
    found = [(int(i), int(j), float(v)) for i, j, v in zip(row, column, data, strict=False)]
    inside = all(0 <= i < X.shape[0] and 0 <= j < X.shape[1] for i, j, _ in found)
    return found if inside else None


def _check(X: Any, entries: list[tuple[int, int, float]] | None, rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, X.shape[0])
    try:
        rows = nk.Rows.of(X)
    except nk.errors.DataError:
        assert entries is None, (X.format, vars(X))
        _expect_refusal(X, y)
        return
    assert entries is not None, (X.format, vars(X))
    dense = np.zeros(X.shape)
    for i, j, value in entries:
        dense[i, j] += value
    np.testing.assert_array_equal(rows.matrix.toarray(), dense)
    if 0 in X.shape:
        return
    model, expected = nk.Perceptron().partial_fit(X, y), nk.Perceptron().partial_fit(dense, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(dense))


def _expect_refusal(X: Any, y: np.ndarray) -> None:
    model = nk.Perceptron()
    try:
        model.partial_fit(X, y)
    except ValueError:
        assert not hasattr(model, "_model")
        return
    raise AssertionError(f"{X.format} {vars(X)} was learned from, but Rows.of refused it.")
