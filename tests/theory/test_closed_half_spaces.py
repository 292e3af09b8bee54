"""Closed half-spaces, sign(0) = +1: verdicts compared with a rational linear program, and false claims refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import CertificateError
from tests.reference import separability as oracle


def draw(seed, largest):
    """Few columns of small integers, so that many rows lie on boundaries; labels by a closed half-space, or not."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 9), rng.integers(1, 4)
    X = rng.integers(-largest, largest + 1, (n, d)).astype(float)
    y = X @ rng.integers(-2, 3, d) >= 0 if rng.random() < 0.6 else rng.random(n) < 0.6
    return X, np.where(y, 1, -1)


@given(seed=st.integers(0, 100_000), largest=st.integers(1, 3), intercept=st.booleans(), sparse=st.booleans())
def test_verdict_equals_a_rational_linear_program(seed, largest, intercept, sparse):
    X, y = draw(seed, largest)
    rows = sp.csr_array(X) if sparse else X
    verdict = nk.certify(rows, y, fit_intercept=intercept, positive=1, ties="positive") if (y == 1).any() else None
    if verdict is None:
        return
    verdict.verify(rows, y)
    assert bool(verdict) == oracle.closed_separable(oracle.points(X, y, intercept), y)
    if not verdict:
        assert (y[verdict.rows] < 0).any()
        assert len(verdict.rows) <= X.shape[1] + intercept + 1


@given(seed=st.integers(0, 100_000))
def test_an_intercept_makes_both_conventions_equal(seed):
    X, y = draw(seed, 2)
    if len(np.unique(y)) == 2:
        assert bool(nk.certify(X, y)) == bool(nk.certify(X, y, ties="positive"))


def test_the_fewest_errors_are_those_of_open_half_spaces():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0], [3.0]]), np.array([1, -1, -1, 1, 1])
    closed = nk.fewest_errors(X, y, ties="positive")
    closed.verify(X, y)
    least = min(
        sum((side * (x - cut) >= 0) != (label > 0) for x, label in zip(X[:, 0], y, strict=True))
        for side in (1, -1)
        for cut in np.arange(-1.0, 5.0, 0.5)
    )  # closed half-lines with ends at and between all points
    assert closed.lower == closed.upper == least
    with pytest.raises(ValueError, match="without an intercept"):
        nk.fewest_errors(X, y, fit_intercept=False, ties="positive")


def test_by_hand():
    """Opposite rows that are both positive must lie on the boundary; the negative row is below it."""
    X, y = [[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], [1, 1, -1]
    assert not nk.certify(X, y, fit_intercept=False)
    closed = nk.certify(X, y, fit_intercept=False, ties="positive")
    assert isinstance(closed, nk.ClosedSeparable)
    assert closed.separator[0] == 0
    assert closed.separator[1] > 0
    closed.verify(X, y)
    against = nk.certify([*X, [5.0, 0.0]], [*y, -1], fit_intercept=False, ties="positive")
    assert not against
    against.verify([*X, [5.0, 0.0]], [*y, -1])


def test_real_rows_that_cancel_in_doubles_only():
    """x and -x for real numbers: the space orthogonal to them has coordinates that no double holds."""
    x = np.random.default_rng(0).standard_normal((3, 4))
    X, y = np.vstack([x[0], -x[0], x[1], -x[2]]), np.array([1, 1, 1, -1])
    closed = nk.certify(X, y, fit_intercept=False, ties="positive")
    closed.verify(X, y)
    assert bool(closed) == oracle.closed_separable(oracle.points(X, y, False), y)


def test_false_claims_are_refused():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1, 1, -1])
    closed = nk.certify(X, y, fit_intercept=False, ties="positive")
    for change in (
        {"separator": np.array([Fraction(1), Fraction(1)], object)},
        {"separator": np.array([0.0, -1.0])},
        {"separator": np.array([0.0, 0.0])},
        {"separator": np.array([1.0])},
        {"question": replace(closed.question, ties="wrong")},
        {"question": replace(closed.question, ties="maybe")},
    ):
        with pytest.raises(CertificateError):
            replace(closed, **change).verify(X, y)
    open_witness = nk.certify(X, y, fit_intercept=False)
    with pytest.raises(CertificateError, match="negative row"):
        replace(open_witness, question=closed.question).verify(X, y)


def test_options_that_do_not_go_together():
    with pytest.raises(ValueError, match="ties"):
        nk.certify([[0.0], [1.0]], [0, 1], ties="negative")
    with pytest.raises(ValueError, match="ties"):
        nk.certify([[0.0], [1.0]], [0, 1], ties="positive", kernel="poly")
