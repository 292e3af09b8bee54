"""The geometric margin, compared with a quadratic program, and its checker with false claims."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import novikoff as nk
from novikoff.errors import CertificateError, DataError


def separable(seed, n=14, d=3):
    """Two classes of integers on both sides of a hyperplane that need not pass through 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-6, 7, (n, d)).astype(float)
    y = X @ rng.standard_normal(d) > rng.integers(-2, 3)
    return (X, y) if 0 < y.sum() < n else separable(seed + 1000, n, d)


def hard_margin_svm(X, y):
    """The largest geometric margin, by the quadratic program of textbooks: minimise |w|^2 / 2, y (<w, x> + b) >= 1."""
    s = np.where(y, 1.0, -1.0)
    A = s[:, None] * np.column_stack([X, np.ones(len(X))])
    start = nk.certify(X, y)
    w = np.append(start.separator, start.intercept)
    w /= (A @ w).min()
    found = minimize(
        lambda v: 0.5 * v[:-1] @ v[:-1],
        w,
        jac=lambda v: np.append(v[:-1], 0.0),
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1.0, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return 1.0 / np.linalg.norm(found.x[:-1])


@given(seed=st.integers(0, 10_000), sparse=st.booleans())
def test_equals_a_quadratic_program(seed, sparse):
    X, y = separable(seed)
    given_rows = sp.csr_array(X) if sparse else X
    proof = nk.geometric_margin(given_rows, y)
    proof.verify(given_rows, y)
    assert proof.margin == pytest.approx(hard_margin_svm(X, y), rel=1e-6)
    assert proof.margin >= proof.margin_upper * (1.0 - 1e-9)
    assert proof.margin_upper >= nk.certify(X, y).margin_lower  # counting the bias only makes |w| longer


def test_by_hand():
    """Two parallel walls at a distance of 2, far from 0: Novikoff's margin is small, the geometric one is not."""
    X, y = np.array([[1000.0, 0.0], [1000.0, 1.0], [1002.0, 0.0], [1002.0, 1.0]]), np.array([0, 0, 1, 1])
    proof = nk.geometric_margin(X, y)
    proof.verify(X, y)
    assert proof.margin == pytest.approx(1.0, rel=1e-12)
    assert proof.margin_upper == pytest.approx(1.0, rel=1e-12)
    assert nk.certify(X, y).margin < 0.01


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_units(scale):
    X, y = separable(3)
    one, scaled = nk.geometric_margin(X, y), nk.geometric_margin(X * scale, y)
    scaled.verify(X * scale, y)
    assert scaled.margin == pytest.approx(one.margin * scale, rel=1e-9)


def test_without_an_answer():
    assert isinstance(nk.geometric_margin([[0.0], [1.0], [2.0]], [0, 1, 0]), nk.Inseparable)
    with pytest.raises(DataError, match="two labels"):
        nk.geometric_margin([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(DataError, match="one label"):
        nk.geometric_margin([[0.0], [1.0]], [1, 1])


@pytest.mark.parametrize(
    "change",
    [
        lambda proof: {"margin_lower": proof.margin_upper * 1.001},
        lambda proof: {"margin_upper": proof.margin_upper * 0.999},
        lambda proof: {"margin_lower": 0.0},
        lambda proof: {"separator": -proof.separator},
        lambda proof: {"intercept": proof.intercept + 1.0},
        lambda proof: {"multipliers": -proof.multipliers},
        lambda proof: {"support": proof.support + 100},
        lambda proof: {"support": proof.support[:1], "multipliers": proof.multipliers[:1]},
        lambda proof: {"question": replace(proof.question, fit_intercept=False)},
        lambda proof: {"n_rows": proof.n_rows + 1},
        lambda proof: {"margin_upper": "1"},
    ],
)
def test_false_claims_are_refused(change):
    X, y = separable(1)
    proof = nk.geometric_margin(X, y)
    with pytest.raises(CertificateError):
        replace(proof, **change(proof)).verify(X, y)
