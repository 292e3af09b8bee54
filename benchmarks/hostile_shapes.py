"""Tables on which a question of separability is hard for some solver: badly scaled, degenerate, large, nearly tied.

Each function returns rows and labels, always the same ones. `SHAPES` maps the names that the benchmark prints to them;
with `small` they have a tenth of the rows and columns or so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["SHAPES", "Table"]

Table = tuple[Any, np.ndarray]


def _gaussian(n: int, d: int, separable: bool, seed: int = 0) -> Table:
    """Gaussian rows, labelled by a linear function, or by chance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) > 0.0 if separable else rng.random(n) < 0.5


def _scaled(n: int, d: int, separable: bool, rows: float = 0.0, columns: float = 0.0) -> Table:
    """Gaussian rows, times powers of ten up to these exponents for each row and each column."""
    rng = np.random.default_rng(1)
    X, y = _gaussian(n, d, separable)
    return X * 10.0 ** rng.uniform(-rows, rows, (n, 1)) * 10.0 ** rng.uniform(-columns, columns, d), y


def _cells(n: int, d: int, decades: float) -> Table:
    """Every cell in units of its own."""
    rng = np.random.default_rng(2)
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-decades, decades, (n, d)), rng.random(n) < 0.5


def _shifted(n: int, d: int, separable: bool, shift: float) -> Table:
    X, y = _gaussian(n, d, separable)
    return X + shift, y


def _identity(n: int, sparse: bool) -> Table:
    y = np.random.default_rng(3).random(n) < 0.5
    return (sp.eye_array(n, format="csr") if sparse else np.eye(n)), y


def _low_rank(n: int, d: int, separable: bool) -> Table:
    rng = np.random.default_rng(4)
    X, y = _gaussian(n, 5, separable)
    return X @ rng.standard_normal((5, d)), y


def _copies(n: int, d: int, times: int) -> Table:
    """Each row many times, in a random order, with labels by chance that the copies share."""
    X, y = _gaussian(n, d, False)
    order = np.random.default_rng(5).permutation(np.repeat(np.arange(n), times))
    return X[order], y[order]


def _one_flipped(n: int, d: int) -> Table:
    X, y = _gaussian(n, d, True)
    y[n // 2] = ~y[n // 2]
    return X, y


def _parity(bits: int) -> Table:
    X = np.array(list(product((0.0, 1.0), repeat=bits)))
    return X, X.sum(axis=1) % 2 == 1


def _majority(bits: int) -> Table:
    X = np.array(list(product((-1.0, 1.0), repeat=bits)))
    return X, X.sum(axis=1) > 0


def _odd_max_bit(n: int, bits: int) -> Table:
    """The label is the parity of the last index that is 1, by a decision list of all indices: separable, but weights
    double from index to index."""
    last = np.random.default_rng(7).integers(0, bits, n)
    X = (np.random.default_rng(6).random((n, bits)) < 0.5) & (np.arange(bits) < last[:, None])
    X[np.arange(n), last] = True
    return X.astype(float), last % 2 == 1


def _moment_curve(n: int, degree: int, separable: bool) -> Table:
    """Powers of numbers in [-1, 1]; the label is an interval, or by chance."""
    t = np.linspace(-1.0, 1.0, n)
    y = np.abs(t) < 0.3 if separable else np.random.default_rng(8).random(n) < 0.5
    return t[:, None] ** np.arange(1, degree + 1), y


def _narrow(n: int, d: int, gap: float) -> Table:
    """Two classes on both sides of a hyperplane, some of each at this distance from it."""
    X, _ = _gaussian(n, d, True)
    u = np.random.default_rng(9).standard_normal(d)
    u /= np.linalg.norm(u)
    side = np.where(X @ u > 0.0, 1.0, -1.0)
    at = np.arange(n) < n // 4
    X[at] += np.outer(side * gap - X @ u, u)[at]
    return X, side > 0.0


def _touching(n: int, d: int) -> Table:
    """Integer rows of which many are on the boundary, on both sides: no separator, although few rows err."""
    rng = np.random.default_rng(10)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    scores = X @ rng.integers(-2, 3, d)
    return X, np.where(scores == 0, rng.random(n) < 0.5, scores > 0)


def _triangle(n: int) -> Table:
    """Rows with -1 below the diagonal and 1 on it, labels in turns."""
    return np.tril(np.full((n, n), -1.0), -1) + np.eye(n), np.arange(n) % 2 == 0


def _words(n: int, d: int, separable: bool) -> Table:
    """Sparse rows of counts, columns as frequent as words are."""
    rng = np.random.default_rng(11)
    rows = np.repeat(np.arange(n), 30)
    columns = np.minimum((d ** rng.random(len(rows))).astype(int), d - 1)
    X = sp.csr_array(sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, d)))
    return X, X @ rng.standard_normal(d) > 0.0 if separable else rng.random(n) < 0.5


def _categories(n: int, columns: int, values: int) -> Table:
    """Categorical columns, one-hot encoded: every row has the same length, and the columns sum to the same."""
    rng = np.random.default_rng(12)
    codes = rng.integers(0, values, (n, columns)) + np.arange(columns) * values
    X = sp.csr_array((np.ones(codes.size), codes.ravel(), np.arange(0, codes.size + 1, columns)))
    return X, rng.random(n) < 0.5


def _ball(n: int, d: int) -> Table:
    """Rows on a sphere, and one of the other class within it."""
    X, _ = _gaussian(n, d, False)
    X /= np.linalg.norm(X, axis=1)[:, None]
    X[0] = 0.01
    return X, np.arange(n) > 0


def _heavy_tails(n: int, d: int) -> Table:
    rng = np.random.default_rng(13)
    return rng.standard_cauchy((n, d)), rng.random(n) < 0.5


def _outlier(n: int, d: int) -> Table:
    X, y = _gaussian(n, d, True)
    X[0] *= 1e12
    return X, y


def _float32(n: int, d: int, separable: bool) -> Table:
    X, y = _gaussian(n, d, separable)
    return (np.clip(X, 0.0, None) * 255.0).astype(np.float32), y


def _one_class(n: int, d: int) -> Table:
    X, _ = _gaussian(n, d, False)
    return np.abs(X), np.ones(n, bool)


_Make = Callable[[], Table]


def _shapes(by: int) -> dict[str, _Make]:
    """Return functions that make the tables, with sizes divided by `by`."""
    n = lambda size: max(8, size // by)  # noqa: E731
    return {
        "2,000×50, row lengths 1e±8": partial(_scaled, n(2000), 50, False, rows=8.0),
        "2,000×50, row lengths 1e±8, separable": partial(_scaled, n(2000), 50, True, rows=8.0),
        "500×20, row lengths 1e±4": partial(_scaled, n(500), 20, False, rows=4.0),
        "500×20, row lengths 1e±4, separable": partial(_scaled, n(500), 20, True, rows=4.0),
        "2,000×100, columns 1e±8": partial(_scaled, n(2000), 100, False, columns=8.0),
        "2,000×100, columns 1e±8, separable": partial(_scaled, n(2000), 100, True, columns=8.0),
        "1,000×30, rows and columns 1e±5": partial(_scaled, n(1000), 30, False, rows=5.0, columns=5.0),
        "1,000×30, rows and columns 1e±5, separable": partial(_scaled, n(1000), 30, True, rows=5.0, columns=5.0),
        "500×20, cells 1e±6": partial(_cells, n(500), 20, 6.0),
        "identity 3,000×3,000, dense": partial(_identity, n(3000), False),
        "identity 3,000×3,000, sparse": partial(_identity, n(3000), True),
        "5,000×300 of rank 5": partial(_low_rank, n(5000), 300 // by, False),
        "5,000×300 of rank 5, separable": partial(_low_rank, n(5000), 300 // by, True),
        "2,000×800, random labels": partial(_gaussian, n(2000), 800 // by, False),
        "1,500×800, random labels, separable": partial(_gaussian, n(1500), 800 // by, False),
        "300×3,000, more columns than rows": partial(_gaussian, n(300), 3000 // by, False),
        "2,000×20, shifted by 1e6": partial(_shifted, n(2000), 20, False, 1e6),
        "2,000×20, shifted by 1e6, separable": partial(_shifted, n(2000), 20, True, 1e6),
        "2,000×20, shifted by 1e9, separable": partial(_shifted, n(2000), 20, True, 1e9),
        "500×20, each row 50 times": partial(_copies, n(500), 20, 50),
        "5,000×50, one label flipped": partial(_one_flipped, n(5000), 50),
        "parity of 12 bits": partial(_parity, 12 if by == 1 else 6),
        "majority of 13 bits": partial(_majority, 13 if by == 1 else 7),
        "2,000×40, odd max bit": partial(_odd_max_bit, n(2000), 40 if by == 1 else 12),
        "moment curve, 2,000×12": partial(_moment_curve, n(2000), 12, False),
        "moment curve, 2,000×12, separable": partial(_moment_curve, n(2000), 12, True),
        "2,000×30, margin 1e-7": partial(_narrow, n(2000), 30, 1e-7),
        "2,000×30, margin 1e-13": partial(_narrow, n(2000), 30, 1e-13),
        "5,000×10 integers, classes touch": partial(_touching, n(5000), 10),
        "triangle of -1, 200×200": partial(_triangle, 200 // by),
        "5,000×5,000 words, sparse": partial(_words, n(5000), 5000 // by, False),
        "5,000×5,000 words, sparse, separable": partial(_words, n(5000), 5000 // by, True),
        "10,000×20 categories of 10, one-hot": partial(_categories, n(10000), 20, 10),
        "20,000×10, a point within a ball": partial(_ball, n(20000), 10),
        "2,000×20, Cauchy": partial(_heavy_tails, n(2000), 20),
        "2,000×20, one row 1e12 times as long": partial(_outlier, n(2000), 20),
        "5,000×100 float32, pixels": partial(_float32, n(5000), 100, False),
        "100,000×3, random labels": partial(_gaussian, n(100000), 3, False),
        "20,000×50, one class": partial(_one_class, n(20000), 50),
    }


SHAPES, SMALL_SHAPES = _shapes(1), _shapes(10)
