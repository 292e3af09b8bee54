"""The checker of mistake bounds decides over the rationals, to the last bit."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from tests.reference import separability as oracle
from tests.theory import problems


def next_above(x):
    return math.nextafter(x, math.inf)


def smallest_double_above_root(squared):
    """The smallest double that is no less than the square root."""
    root = math.sqrt(squared)
    while Fraction(root) ** 2 < squared:
        root = next_above(root)
    while root and Fraction(math.nextafter(root, 0.0)) ** 2 >= squared:
        root = math.nextafter(root, 0.0)
    return root


def double_above(x):
    return float(x) if Fraction(float(x)) >= x else next_above(float(x))


def losses(bound, X, y, intercept):
    """h of every row, over the rationals."""
    v = [Fraction(a) / Fraction(bound.margin) for a in [*bound.u.tolist(), *([bound.intercept] if intercept else [])]]
    return [max(Fraction(0), 1 - oracle.dot(v, z)) for z in oracle.points(X, y, intercept)]


@given(problem=problems.small(), intercept=st.booleans(), sparse=st.booleans())
def test_true_bounds_are_accepted(problem, intercept, sparse):
    X, y = problem
    bound = nk.mistake_bound(X, y, fit_intercept=intercept)
    bound.verify(sp.csr_array(X) if sparse else X, y)
    for candidate in bound.candidates.values():
        candidate.verify(X, y)


@pytest.mark.parametrize("seed", range(40))
def test_true_bounds_at_all_scales(seed):
    rng = np.random.default_rng(seed)
    X, y = problems.badly_scaled(rng, -60, 60) if seed % 2 else problems.pushed_to_the_boundary(rng)
    nk.mistake_bound(X, y).verify(X, y)
    nk.mistake_bound(X * 2.0**-300, y, fit_intercept=False).verify(X * 2.0**-300, y)


@pytest.mark.parametrize("theorem", ["freund-schapire", "hinge"])
@pytest.mark.parametrize("seed", range(6))
def test_losses_to_the_last_bit(theorem, seed):
    """The loss rounded up as little as possible: integers can prove that it suffices, doubles cannot."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(60) > 0, 1, -1)
    bound = nk.mistake_bound(X, y).candidates[theorem]
    h = losses(bound, X, y, True)
    loss = smallest_double_above_root(sum(v * v for v in h)) if theorem == "freund-schapire" else double_above(sum(h))
    assert loss < bound.loss
    replace(bound, loss=loss).verify(X, y)
    with pytest.raises(CertificateError, match="loss"):
        replace(bound, loss=math.nextafter(loss, 0.0)).verify(X, y)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_a_theorem_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(30) > 0, 1, -1)
    bound = nk.mistake_bound(X, y).candidates["hinge"]
    alpha, Z = oracle.exact(bound.weights), oracle.points(X, y, True)
    total, squared = sum(alpha), oracle.dot(*[oracle.combined(alpha, Z)] * 2)
    best = min(total / max(alpha), (total * Fraction(bound.radius)) ** 2 / squared)
    lower = -double_above(-best)
    assert bound.lower < lower
    if lower <= bound.value:
        replace(bound, lower=lower).verify(X, y)
    with pytest.raises(CertificateError):
        replace(bound, lower=next_above(lower)).verify(X, y)


def test_other_data_are_refused():
    X = np.arange(40.0)[:, None]
    y = np.array(["a"] * 21 + ["b"] * 19)
    y[[18, 22]] = "b", "a"
    bound = nk.mistake_bound(X, y)
    bound.verify(X, y)
    assert bound.margin is not None
    for data, labels in ((X * 2, y), (X[:3], y[:3]), (X, y[::-1]), (np.hstack([X, X]), y), (X, np.array(["c"] * 40))):
        with pytest.raises(CertificateError):
            bound.verify(data, labels)


def test_a_given_certificate_is_verified():
    """mistake_bound trusts a given certificate that fits the data; verify checks it."""
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), [0, 0, 1, 1]
    certificate = nk.certify(X, y)
    forged = replace(certificate, margin_upper=certificate.margin_upper * 0.999)
    bound = nk.mistake_bound(X, y, certificate=forged)
    with pytest.raises(CertificateError, match="do not prove"):
        bound.verify(X, y)
    for positive in (0, 1):
        nk.mistake_bound(X, y, certificate=nk.certify(X, y, positive=positive)).verify(X, y)
    with pytest.raises(DataError, match="is not about these data"):
        nk.mistake_bound(X, y, certificate=replace(certificate, margin_lower=1.0))


def test_many_classes_dates_and_empty_rows():
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "c"]
    for name in y:
        nk.mistake_bound(X, y, positive=name).verify(X, y)
    dates = np.array(["2020-01-01", "2021-01-01", "2020-01-01"], "datetime64[D]")
    nk.mistake_bound(X, dates).verify(X, dates)
    nk.mistake_bound(np.zeros((10, 0)), [1] * 9 + [0]).verify(np.zeros((10, 0)), [1] * 9 + [0])
    nk.mistake_bound(np.zeros((5, 2)), [0, 1, 0, 1, 1], fit_intercept=False).verify(np.zeros((5, 2)), [0, 1, 0, 1, 1])
