"""Streams that are generated from a seed, or come with scikit-learn: shapes that the files do not have.

Drift that is sudden, gradual or inverts all labels; rare positives; numbers with heavy tails; many features that say
nothing; concepts that no linear function of the features describes; categories with thousands of values; counts of
words; many classes. Nothing about novikoff was chosen by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn import datasets

from benchmarks.mistakes.files import BenchmarkStream
from novikoff.data.formats.block import Block, CategoricalColumn, SparseBlock, TableBlock

__all__ = ["GENERATED", "GeneratedStream"]

_ROWS = 5_000


@dataclass(frozen=True)
class GeneratedStream(BenchmarkStream):
    """A stream that needs no file.

    Attributes
    ----------
    make : callable
        Makes the rows, by a generator with a fixed seed.
    """

    make: Callable[[np.random.Generator], Block] = lambda rng: _table(np.zeros((0, 0)), np.zeros(0))
    is_generated = True

    def read(self) -> Block:
        return self.make(np.random.default_rng(0))


def _table(X: np.ndarray, y: np.ndarray, **others: CategoricalColumn) -> TableBlock:
    columns = {f"x{j}": np.ascontiguousarray(X[:, j], np.float64) for j in range(X.shape[1])}
    return TableBlock("generated", np.arange(len(y)), y.astype(np.float64), columns | others)


def _flip(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(y)) < share, 1 - y, y)


# -- drift


def _sea(rng: np.random.Generator) -> Block:
    """Street & Kim 2001: x0 + x1 <= threshold, which jumps after every quarter; a tenth of the labels are wrong."""
    X = rng.uniform(0.0, 10.0, (_ROWS, 3))
    thresholds = np.repeat([8.0, 9.0, 7.0, 9.5], _ROWS // 4)
    return _table(X, _flip((X[:, 0] + X[:, 1] <= thresholds).astype(int), 0.1, rng))


def _hyperplane(rng: np.random.Generator) -> Block:
    """A hyperplane in ten dimensions that turns by half a turn along the stream."""
    X = rng.uniform(-1.0, 1.0, (_ROWS, 10))
    first, second = np.linalg.qr(rng.normal(size=(10, 2)))[0].T
    angle = np.linspace(0.0, np.pi, _ROWS)[:, None]
    clean = (X * (np.cos(angle) * first + np.sin(angle) * second)).sum(axis=1)
    return _table(X, _flip((clean > 0.0).astype(int), 0.05, rng))


def _reversal(rng: np.random.Generator) -> Block:
    """Clusters whose labels are exchanged in the middle."""
    X, y = datasets.make_classification(_ROWS, 20, n_informative=8, n_redundant=4, random_state=rng.integers(2**31))
    return _table(X, np.where(np.arange(_ROWS) < _ROWS // 2, y, 1 - y))


def _runs(rng: np.random.Generator) -> Block:
    """Labels that come in runs of about twenty, beside weak features."""
    y = np.cumsum(rng.random(_ROWS) < 0.05) % 2
    return _table(rng.normal(size=(_ROWS, 6)) + 0.4 * (2 * y[:, None] - 1), y)


# -- hard rows


def _rare(rng: np.random.Generator) -> Block:
    """One positive in fifty."""
    seed = int(rng.integers(2**31))
    X, y = datasets.make_classification(
        _ROWS, 15, n_informative=6, weights=[0.98], flip_y=0.0, class_sep=1.0, random_state=seed
    )
    return _table(X, y)


def _heavy_tails(rng: np.random.Generator) -> Block:
    """Numbers of Student's t distribution with 1.2 degrees of freedom, whose variance is infinite."""
    X = rng.standard_t(1.2, (_ROWS, 8))
    clean = np.tanh(X) @ rng.normal(size=8)
    return _table(X, (clean + 0.3 * rng.normal(size=_ROWS) > 0.0).astype(int))


def _irrelevant(rng: np.random.Generator) -> Block:
    """Five features of two hundred decide."""
    X = rng.normal(size=(_ROWS, 200))
    return _table(X, (X[:, :5] @ rng.normal(size=5) + 0.5 * rng.normal(size=_ROWS) > 0.0).astype(int))


def _xor(rng: np.random.Generator) -> Block:
    """The sign of x0 x1, and x2, which has a little to do with it."""
    X = rng.normal(size=(_ROWS, 4))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    X[:, 2] += 0.5 * y
    return _table(X, y)


def _hastie(rng: np.random.Generator) -> Block:
    """Hastie, Tibshirani & Friedman 2009, equation 10.2: whether the sum of ten squares is above its median."""
    X, y = datasets.make_hastie_10_2(_ROWS, random_state=int(rng.integers(2**31)))
    return _table(X, (y > 0.0).astype(int))


def _noise(rng: np.random.Generator) -> Block:
    """Labels that have nothing to do with the numbers; three in five are positive."""
    return _table(rng.normal(size=(_ROWS, 10)), (rng.random(_ROWS) < 0.6).astype(int))


# -- sparse rows


def _categories(rng: np.random.Generator) -> Block:
    """Three columns with thousands of values, a few of which are frequent."""
    codes = np.minimum(rng.zipf(1.3, (_ROWS, 3)), 3_000) - 1
    effects = rng.normal(size=(3, 3_000))
    clean = sum(effects[j, codes[:, j]] for j in range(3)) + rng.normal(size=_ROWS)
    columns = {f"c{j}": CategoricalColumn.from_cells(map(str, codes[:, j].tolist())) for j in range(3)}
    return _table(rng.normal(size=(_ROWS, 1)), (clean > 0.0).astype(int), **columns)


def _counts(rng: np.random.Generator) -> Block:
    """Counts of words in texts of two topics; words that occur once tend to occur again."""
    d = 5_000
    topics = rng.dirichlet(np.full(d, 0.05), 2) * 0.25 + rng.dirichlet(np.full(d, 0.3)) * 0.75
    y = rng.integers(0, 2, _ROWS)
    rows = [
        rng.multinomial(rng.poisson(60), probabilities / probabilities.sum())
        for probabilities in (topics[label] * rng.gamma(0.3, size=d) for label in y)
    ]
    X = sp.csr_array(np.array(rows, np.float64))
    return SparseBlock("generated", np.arange(_ROWS), y.astype(np.float64), X)


def _scales(rng: np.random.Generator) -> Block:
    """Sparse numbers, each feature on a scale of its own between 1/1000 and 1000."""
    d = 300
    X = rng.normal(size=(_ROWS, d)) * (rng.random((_ROWS, d)) < 0.1)
    y = (X @ rng.normal(size=d) + 0.5 * rng.normal(size=_ROWS) > 0.0).astype(np.float64)
    return SparseBlock("generated", np.arange(_ROWS), y, sp.csr_array(X * 10.0 ** rng.uniform(-3.0, 3.0, d)))


# -- many classes


def _led(rng: np.random.Generator) -> Block:
    """Breiman et al. 1984: the seven lights of a digit, each wrong one time in ten, and seventeen that say nothing."""
    codes = (119, 18, 93, 91, 58, 107, 111, 82, 127, 123)  # a bit for each light
    shown = np.array([[code >> k & 1 for k in range(6, -1, -1)] for code in codes])
    y = rng.integers(0, 10, _ROWS)
    X = np.hstack([shown[y] ^ (rng.random((_ROWS, 7)) < 0.1), rng.integers(0, 2, (_ROWS, 17))])
    return _table(X.astype(float), y)


def _digits(rng: np.random.Generator) -> Block:
    return _table(*datasets.load_digits(return_X_y=True))


def _wine(rng: np.random.Generator) -> Block:
    return _table(*datasets.load_wine(return_X_y=True))


def _tumours(rng: np.random.Generator) -> Block:
    return _table(*datasets.load_breast_cancer(return_X_y=True))


GENERATED = (
    GeneratedStream("SEA, sudden drift", make=_sea),
    GeneratedStream("hyperplane, gradual drift", make=_hyperplane),
    GeneratedStream("labels exchanged halfway", make=_reversal),
    GeneratedStream("runs of labels", make=_runs),
    GeneratedStream("rare positives", make=_rare),
    GeneratedStream("heavy tails", make=_heavy_tails),
    GeneratedStream("irrelevant features", make=_irrelevant),
    GeneratedStream("XOR", make=_xor),
    GeneratedStream("Hastie 10.2", make=_hastie),
    GeneratedStream("noise", make=_noise),
    GeneratedStream("categories", make=_categories),
    GeneratedStream("counts of words", make=_counts),
    GeneratedStream("sparse, many scales", make=_scales),
    GeneratedStream("tumours", make=_tumours),
    GeneratedStream("LED", make=_led, has_many_classes=True),
    GeneratedStream("digits 8x8", make=_digits, has_many_classes=True),
    GeneratedStream("wine", make=_wine, is_shuffled=True, has_many_classes=True),
)
