"""The data that both sides learn from: generated from a seed, or read from $NOVIKOFF_DATA."""

from __future__ import annotations

import bz2
import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

__all__ = [
    "Split",
    "Stream",
    "certified_files",
    "digits",
    "libsvm",
    "noisy_linear",
    "phishing",
    "text_like",
    "uniform_sparse",
]

_HELD_OUT = 20_000  # rows to score on: the standard error of a share is then below 0.4 %


@dataclass(frozen=True)
class Split:
    """Training rows, test rows, and a description of where they come from."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    source: str


@dataclass(frozen=True)
class Stream:
    """Examples as dicts of named features, with labels, and a description of where they come from."""

    examples: list[tuple[dict[str, float], bool]]
    source: str


def noisy_linear(n: int, d: int, dtype: type, seed: int = 0) -> Split:
    """Gaussian rows labelled by the sign of a linear function with noise, a tenth of its standard deviation. They are
    not separable, and a perceptron errs on about one row in twenty."""
    rng = np.random.default_rng(seed)
    total = n + _HELD_OUT
    X = np.empty((total, d), dtype)
    rng.standard_normal(dtype=dtype, out=X)
    u = rng.standard_normal(d)
    clean = X @ (u / np.linalg.norm(u)).astype(dtype)
    y = (clean + 0.1 * rng.standard_normal(total) > 0.0).astype(np.int64)
    return Split(X[:n], y[:n], X[n:], y[n:], f"Gaussian, noisy linear target, seed {seed}")


def text_like(n: int, d: int, words: int, seed: int = 0) -> Split:
    """Rows like tf-idf of texts: word k is drawn with probability proportional to 1/(k + 3) (Zipf), column indices are
    shuffled as if in alphabetical order, values are (1 + log count) * idf, rows have norm 1."""
    rng = np.random.default_rng(seed)
    total = n + _HELD_OUT
    spread = np.cumsum(1.0 / (np.arange(d) + 3.0))
    column_of = rng.permutation(d).astype(np.int32)
    lengths = np.maximum(1, rng.poisson(words * rng.gamma(4.0, 0.25, total)))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    drawn = column_of[np.searchsorted(spread, rng.random(indptr[-1]) * spread[-1])]
    X = sp.csr_array((np.ones(len(drawn)), drawn, indptr), shape=(total, d))
    X.sum_duplicates()
    idf = np.log(total / (1.0 + np.bincount(X.indices, minlength=d)))
    X.data = (1.0 + np.log(X.data)) * idf[X.indices]
    starts = X.indptr[:-1]
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, starts)), np.diff(X.indptr))
    clean = X @ rng.standard_normal(d)
    y = (clean + 0.1 * clean.std() * rng.standard_normal(total) > 0.0).astype(np.int64)
    return Split(X[:n], y[:n], X[n:], y[n:], f"text-like: Zipf columns, tf-idf, rows of norm 1, seed {seed}")


def unequal_binary(n: int, d: int, seed: int = 0) -> Split:
    """Sparse rows of ones whose numbers of non-zeros are log-normal, from 1 to about a hundred; column k is drawn with
    probability proportional to 1 / (k + 1)^0.9, and 3 % of the rows are positive."""
    rng = np.random.default_rng(seed)
    total = n + _HELD_OUT
    lengths = np.clip(np.exp(rng.normal(2.2, 0.75, total)).astype(int), 1, 110)
    spread = np.cumsum((np.arange(d) + 1.0) ** -0.9)
    drawn = np.searchsorted(spread, rng.random(lengths.sum()) * spread[-1]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sp.csr_array((np.ones(len(drawn)), drawn, indptr), shape=(total, d))
    X.sum_duplicates()
    X.data[:] = 1.0
    scores = X @ rng.standard_normal(d) + 0.8 * rng.standard_normal(total)
    y = (scores > np.quantile(scores, 0.97)).astype(np.int64)
    return Split(X[:n], y[:n], X[n:], y[n:], f"binary, rows of very different lengths, 3 % positive, seed {seed}")


def uniform_sparse(n: int, d: int, per_row: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Rows with exactly `per_row` non-zeros, one in each of as many equal ranges of columns. The first is always column
    0 and determines the label of 19 rows in 20, so that the number of mistakes does not depend on `per_row`."""
    rng = np.random.default_rng(seed)
    width = d // per_row
    columns = rng.integers(0, width, (n, per_row), dtype=np.int32)
    columns += np.arange(per_row, dtype=np.int32) * np.int32(width)
    values = rng.standard_normal((n, per_row))
    y = rng.integers(0, 2, n)
    columns[:, 0], values[:, 0] = 0, (2.0 * y - 1.0) * np.sqrt(per_row)
    indptr = np.arange(n + 1, dtype=np.int32) * np.int32(per_row)
    X = sp.csr_array((values.reshape(-1), columns.reshape(-1), indptr), shape=(n, d))
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def digits(dtype: type, quick: bool) -> Split:
    """MNIST with pixels from 0 to 1; without it ten noisy patterns of the same shape."""
    n, test = (6_000, 2_000) if quick else (60_000, 10_000)
    folder = _real_folder("mnist")
    if folder is not None:
        X = (_idx(folder, "train-images-idx3") / 255.0).astype(dtype).reshape(-1, 784)[:n]
        X_test = (_idx(folder, "t10k-images-idx3") / 255.0).astype(dtype).reshape(-1, 784)[:test]
        y, y_test = _idx(folder, "train-labels-idx1")[:n], _idx(folder, "t10k-labels-idx1")[:test]
        return Split(X, y.astype(np.int64), X_test, y_test.astype(np.int64), "MNIST, pixels / 255")
    rng = np.random.default_rng(0)
    patterns = _random_images(rng, 10, dtype)
    y = rng.integers(0, 10, n + test)
    X = _random_images(rng, n + test, dtype)
    X += dtype(0.13) * patterns[y]  # so faint that one row in ten is a mistake
    return Split(X[:n], y[:n], X[n:], y[n:], "synthetic in the shape of MNIST (set NOVIKOFF_DATA for the real one)")


def _random_images(rng: np.random.Generator, n: int, dtype: type) -> np.ndarray:
    """Images of 784 pixels, four in five of them zero, the others uniform."""
    grey = rng.random((n, 784), dtype=dtype)
    return np.maximum(grey - dtype(0.8), dtype(0.0)) * dtype(5.0)


def phishing() -> Stream:
    """The phishing stream; without it a random one of its shape, 1,250 examples of nine features in {0, 1/2, 1}."""
    folder = _real_folder("streams")
    if folder is not None:
        with gzip.open(folder / "phishing.csv.gz", "rt") as lines:
            rows = list(csv.DictReader(lines))
        label = "is_phishing"
        examples = [({k: float(v) for k, v in row.items() if k != label}, row[label] == "1") for row in rows]
        return Stream(examples, "phishing stream")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (1_250, 9)) / 2.0
    y = X @ rng.standard_normal(9) + 0.5 * rng.standard_normal(1_250) > 0.0
    named = [
        ({f"feature_{j}": value for j, value in enumerate(row)}, label)
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return Stream(named, "synthetic in the shape of the phishing stream (set NOVIKOFF_DATA for the real one)")


def certified_files() -> Iterator[tuple[str, Any, np.ndarray]]:
    """Five files to decide the separability of: name, rows, labels."""
    folder = _real_folder("libsvm")
    if folder is not None:
        for name, opener in (("a9a.gz", gzip.open), ("mushrooms.gz", gzip.open), ("reuters.trn.bz2", bz2.open)):
            with opener(folder / name) as lines:
                X, y = load_svmlight_file(lines)
            yield name.split(".")[0], X, y
    folder = _real_folder("uci")
    if folder is not None:
        for name in ("sonar.csv", "spambase.data"):
            table = np.loadtxt(folder / name, delimiter=",", dtype=str)
            yield name.split(".")[0], table[:, :-1].astype(float), table[:, -1]


def libsvm(train: str, test: str) -> Split | None:
    """Training and test rows in LIBSVM's format, as CSR with the 32-bit indices that LIBLINEAR takes."""
    paths = [real_file(f"libsvm/{name}") for name in (train, test)]
    if paths[0] is None or paths[1] is None:
        return None
    X, y = load_svmlight_file(str(paths[0]))
    X_test, y_test = load_svmlight_file(str(paths[1]), n_features=X.shape[1])
    for rows in (X, X_test):
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return Split(X, y, X_test, y_test, train.split(".")[0])


def real_file(name: str) -> Path | None:
    """The path of a file below $NOVIKOFF_DATA; None if there is none."""
    root = os.environ.get("NOVIKOFF_DATA")
    found = Path(root) / name if root else None
    return found if found is not None and found.is_file() else None


def _real_folder(folder: str) -> Path | None:
    root = os.environ.get("NOVIKOFF_DATA")
    found = Path(root) / folder if root else None
    return found if found is not None and found.is_dir() else None


def _idx(folder: Path, name: str) -> np.ndarray:
    """An idx file of bytes: four magic bytes, the last the number of dimensions, then the dimensions, then the data."""
    content = gzip.decompress((folder / f"{name}-ubyte.gz").read_bytes())
    dims = content[3]
    shape = np.frombuffer(content, ">i4", dims, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dims).reshape(shape)
