"""Small problems of every kind, from a random generator and as Hypothesis strategies."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np


def _labels(rng, n):
    return rng.choice([-1, 1], n)


def _half_space(rng, X, share=0.6):
    """Labels by a half-space through or beside the origin, most of the time; else by chance."""
    if rng.random() > share:
        return _labels(rng, len(X))
    return np.where(X @ rng.standard_normal(X.shape[1]) + rng.integers(-1, 2) > 0, 1, -1)


def general_position(rng):
    X = rng.standard_normal((rng.integers(2, 11), rng.integers(1, 4)))
    return X, _half_space(rng, X)


def integers(rng):
    X = rng.integers(-3, 4, (rng.integers(2, 11), rng.integers(1, 4))).astype(float)
    return X, _half_space(rng, X, 0.8)


def flat(rng):
    """All rows in a subspace or an affine plane."""
    n, d = rng.integers(2, 9), rng.integers(2, 5)
    rank = rng.integers(1, d)
    X = rng.integers(-3, 4, (n, rank)) @ rng.integers(-2, 3, (rank, d)) + rng.integers(-1, 2, d)
    return X.astype(float), _half_space(rng, X)


def duplicates(rng):
    X, y = integers(rng)
    at = rng.integers(0, len(X), len(X))
    X, y = np.vstack([X, X[at]]), np.concatenate([y, y[at]])
    if rng.random() < 0.3:
        y[-1] = -y[-1]
    return X, y


def zero_rows(rng):
    X, y = integers(rng)
    X[rng.integers(len(X))] = 0.0
    return X, y


def one_class(rng):
    X = rng.integers(-3, 4, (rng.integers(1, 7), rng.integers(1, 4))).astype(float)
    if rng.random() < 0.5:
        X = np.abs(X) + (rng.random(X.shape) < 0.5)
    return X, np.ones(len(X), int)


def collinear(rng):
    n, d = rng.integers(2, 9), rng.integers(1, 4)
    X = rng.integers(-5, 6, (n, 1)) * rng.integers(-2, 3, d) + rng.integers(-1, 2, d)
    cut = rng.integers(0, n)
    return X.astype(float), np.where(np.arange(n) < cut, 1, -1) if rng.random() < 0.5 else _half_space(rng, X)


def more_columns_than_rows(rng):
    n = rng.integers(2, 6)
    X = rng.integers(-2, 3, (n, n + rng.integers(1, 5))).astype(float)
    return X, _labels(rng, n)


def one_row(rng):
    return rng.integers(-1, 2, (1, rng.integers(1, 4))).astype(float), np.array([rng.choice([-1, 1])])


def on_the_boundary(rng):
    """A half-space that many rows touch: the two classes meet on it, or nearly."""
    n, d = rng.integers(3, 9), rng.integers(1, 4)
    X, u = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(-2, 3, d)
    scores = X @ u
    return X, np.where(scores == 0, _labels(rng, n), np.where(scores > 0, 1, -1))


KINDS = [
    general_position,
    integers,
    flat,
    duplicates,
    zero_rows,
    one_class,
    collinear,
    more_columns_than_rows,
    one_row,
    on_the_boundary,
]


def badly_scaled(rng, low, high):
    """Integers times powers of ten from `low` to `high`, one for each row or one for each cell."""
    X, y = integers(rng)
    powers = rng.integers(low, high + 1, X.shape) if rng.random() < 0.5 else rng.integers(low, high + 1, (len(X), 1))
    return X * 10.0**powers, y


def pushed_to_the_boundary(rng):
    """Rows on the hyperplane of a separator as near as doubles get, and then a few units off it, or not."""
    n, d = rng.integers(3, 9), rng.integers(2, 4)
    u = rng.standard_normal(d)
    X = rng.standard_normal((n, d))
    X -= np.outer(X @ u, u) / (u @ u)
    X = 0.01 * X + rng.integers(-1, 2, (n, d)) * np.spacing(0.01 * X)
    y = np.where(X @ u > 0, 1, -1)
    if rng.random() < 0.5:
        y[rng.integers(n)] *= -1
    return X, y


@st.composite
def small(draw, max_rows=8, max_columns=3, bound=3, min_rows=1):
    """(X, y) of integers with labels -1 and +1, about half of them separable."""
    n, d = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, max_columns))
    X = draw(hnp.arrays(np.float64, (n, d), elements=st.integers(-bound, bound)))
    if draw(st.booleans()):
        u = draw(hnp.arrays(np.float64, d, elements=st.integers(-bound, bound)))
        return X, np.where(X @ u + draw(st.integers(-1, 1)) > 0, 1, -1)
    return X, np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
