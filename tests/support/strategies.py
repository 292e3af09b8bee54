"""Formats of rows, small exact problems, and functions that compare learners.

Problems are made of small integers, so that sums are exact in any order and ties are real ties.
"""

from dataclasses import dataclass

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import scipy.sparse as sp
from hypothesis import assume

from tests.reference import perceptron as reference

TIES = ("mistake", "positive", "negative")
HYPOTHESES = ("last", "averaged", "voted", "pocket")
ORDERS = ("given", "shuffled", "random", "worst")


# -- formats


def csr(X, index=np.int32):
    """Return a CSR array with indices of this dtype; the constructor would convert them to int32."""
    found = sp.csr_array(np.asarray(X, float))
    found.indices, found.indptr = found.indices.astype(index), found.indptr.astype(index)
    return found


FORMATS = {
    "float64": lambda X: np.asarray(X, np.float64),
    "float32": lambda X: np.asarray(X, np.float32),
    "csr32": lambda X: csr(X, np.int32),
    "csr64": lambda X: csr(X, np.int64),
}


def dicts(X, *, zeros=True):
    """Return rows as dicts of named features f0, f1, ...; with or without the zeros."""
    return [{f"f{j}": v for j, v in enumerate(row) if zeros or v} for row in np.asarray(X).tolist()]


# -- problems


def integers(seed, n, d, n_classes, low=-2, high=2):
    """Return rows of small integers and random labels: not separable, and with many ties."""
    rng = np.random.default_rng(seed)
    return rng.integers(low, high + 1, (n, d)).astype(float), rng.integers(0, n_classes, n)


def signs(seed, n, d, n_classes, nonzeros):
    """Rows with so many +1 or -1 among zeros. Where their squared norm is a power of two, so are the denominators of
    passive-aggressive steps."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    for row in X:
        row[rng.permutation(d)[:nonzeros]] = rng.choice([-1.0, 1.0], nonzeros)
    return X, rng.integers(0, n_classes, n)


def matrices(n, d, bound=3):
    return hnp.arrays(np.float64, (n, d), elements=st.integers(-bound, bound))


@st.composite
def streams(draw, labels=(0, 1, 2), max_rows=14):
    """Draw any (X, y)."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 3))
    return draw(matrices(n, d)), np.array(draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n)))


@dataclass
class Separable:
    """Rows that weights u separate: u has its intercept first, and one row per class if there are more than two."""

    X: np.ndarray
    y: np.ndarray
    u: np.ndarray
    intercept: bool

    @property
    def n_classes(self):
        return 2 if self.u.ndim == 1 else len(self.u)

    @property
    def classes(self):
        return [-1, 1] if self.n_classes == 2 else list(range(self.n_classes))

    @property
    def vectors(self):
        """y x or phi(x, y) - phi(x, z), the constant coordinate last."""
        return reference.differences(reference.folded(self.X, self.intercept), self.y, self.n_classes)

    @property
    def squared_radius(self):
        return float((self.vectors**2).sum(axis=1).max())

    @property
    def margin(self):
        """The margin of u, a lower bound of the largest margin."""
        u = np.roll(self.u, -int(self.intercept), axis=-1).ravel()
        return float((self.vectors @ u).min() / np.linalg.norm(u))

    @property
    def bound(self):
        return self.squared_radius / self.margin**2

    @property
    def given(self):
        """Parameters of an estimator for this problem."""
        return {"fit_intercept": self.intercept, "classes": self.classes}


@st.composite
def separable(draw, max_classes=2, intercept=None):
    n, d, n_classes = draw(st.integers(1, 10)), draw(st.integers(1, 3)), draw(st.integers(2, max_classes))
    intercept = draw(st.booleans()) if intercept is None else intercept
    u = draw(matrices(1 if n_classes == 2 else n_classes, d + intercept))
    X = draw(matrices(n, d, bound=4))
    scores = X @ u[:, int(intercept) :].T + (u[:, 0] if intercept else 0.0)
    if n_classes == 2:
        u, y = u[0], np.sign(scores[:, 0]).astype(int)
        clear = y != 0
    else:
        y = scores.argmax(axis=1)
        clear = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assume(clear.any())
    return Separable(X[clear], y[clear], u, intercept)


# -- looking at learners


def raw(model):
    """Return the raw weights, the bias last: one row for each vector."""
    return np.column_stack([model.raw_coef_, model.raw_intercept_])


def account(ledger):
    """Return the numbers of a ledger that do not depend on how the rows came."""
    return [ledger.examples, ledger.mistakes, ledger.updates, ledger.radius, ledger.norm, ledger.step_sum]


def assert_same(one, other, X, X_of_other=None, *, rtol=0.0, atol=0.0):
    """Check that two models have equal labels, weights, ledgers and answers on X."""

    def same(a, b):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)

    assert one.classes_.tolist() == other.classes_.tolist()
    same(raw(one), raw(other))
    same(account(one.ledger_), account(other.ledger_))
    same(np.array(one.ledger_.trace.points), np.array(other.ledger_.trace.points))
    assert_same_answers(one, other, X, X if X_of_other is None else X_of_other)


def assert_same_answers(one, other, X, X_of_other):
    """Compare answers except at ties: averages are rounded quotients, and there rounding may decide."""
    scores = one.decision_function(X)
    np.testing.assert_allclose(other.decision_function(X_of_other), scores, rtol=1e-9, atol=1e-9)
    sure = ~tied(scores) if one.hypothesis == "averaged" else slice(None)
    assert one.predict(X)[sure].tolist() == other.predict(X_of_other)[sure].tolist()


def tied(scores, within=1e-9):
    """Return which rows are tied."""
    if scores.ndim == 1:
        return np.abs(scores) <= within
    second, first = np.sort(scores, axis=1)[:, -2:].T
    return first - second <= within


def one_by_one(model, X, y):
    """Feed a stream one example at a time; arrays or dicts."""
    for x, label in zip(X, y, strict=True):
        model.learn_one(x, label)
    return model
