"""Exact arithmetic of the search, against Fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.inputs.rows import Rows
from novikoff.theory import exact, exact_corrals, null_vectors
from novikoff.theory.signed_points import SignedPoints
from tests.reference import separability as oracle
from tests.theory import problems


def make_points(X, y, intercept=True):
    rows = Rows.of(X)
    rows.require_numbers()
    return SignedPoints(rows, np.asarray(y), float(intercept))


def fraction(value):
    return Fraction(int(value.p), int(value.q))


def point(corral, size):
    x = corral.point()
    return [x.numbers.get(j, 0) * fraction(x.unit) for j in range(size)]


def is_largest_double_below_root(value, squared):
    """Whether value is the largest double whose square is at most this."""
    return Fraction(value) ** 2 <= squared < Fraction(math.nextafter(value, math.inf)) ** 2


def is_smallest_double_above_root(value, squared):
    return Fraction(math.nextafter(value, -math.inf)) ** 2 < squared <= Fraction(value) ** 2


@given(problem=problems.small(max_rows=5, max_columns=2), intercept=st.booleans(), sparse=st.booleans())
def test_nearest_point_without_a_start(problem, intercept, sparse):
    """Where doubles found nothing, exact arithmetic finds the exact nearest point by itself."""
    X, y = problem
    points = make_points(sp.csr_array(X) if sparse else X, y, intercept)
    corral = exact_corrals.find_nearest_point(points, np.empty(0, np.int64), np.empty(0), 0.0)
    Z = oracle.points(X, y, intercept)
    weights = [fraction(w) for w in corral.weights]
    assert sum(weights) == 1
    assert all(w > 0 for w in weights)
    x = oracle.combined(weights, [Z[row] for row in corral.rows])
    assert point(corral, len(x)) == x
    assert oracle.dot(x, x) == oracle.squared_margin(Z)


@given(problem=problems.small(max_rows=5, max_columns=2), intercept=st.booleans(), seed=st.integers(0, 99))
def test_nearest_point_from_any_start(problem, intercept, seed):
    """The start may be any set of rows, affinely dependent or not."""
    X, y = problem
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[: rng.integers(1, len(X) + 1)]
    corral = exact_corrals.find_nearest_point(make_points(X, y, intercept), rows, rng.random(len(rows)) + 0.1, 0.0)
    Z = oracle.points(X, y, intercept)
    x = point(corral, len(Z[0]))
    assert oracle.dot(x, x) == oracle.squared_margin(Z)


@given(problem=problems.small(), intercept=st.booleans())
def test_a_tolerance_ends_earlier_with_the_same_verdict(problem, intercept):
    X, y = problem
    corral = exact_corrals.find_nearest_point(make_points(X, y, intercept), np.empty(0, np.int64), np.empty(0), 0.5)
    Z = oracle.points(X, y, intercept)
    x = point(corral, len(Z[0]))
    assert any(x) == oracle.separable(Z)
    if any(x):
        assert min(oracle.dot(x, z) for z in Z) >= oracle.dot(x, x) / 2


def test_nearest_point_at_the_rounding_level():
    for seed in range(20):
        X, y = problems.pushed_to_the_boundary(np.random.default_rng(seed))
        corral = exact_corrals.find_nearest_point(make_points(X, y, False), np.empty(0, np.int64), np.empty(0), 0.0)
        assert any(point(corral, X.shape[1])) == oracle.separable(oracle.points(X, y, False))


# -- witnesses


def test_witness_by_hand():
    X, y = np.array([[2.0, 1.0], [-1.0, 1.0], [1.0, 2.0], [5.0, 5.0]]), [1, 1, -1, 1]
    points = make_points(X, y, False)
    rows, multipliers = null_vectors.find_witness(points, np.array([2, 0, 1]))
    assert rows.tolist() == [2, 0, 1]
    assert multipliers == (1, 1, 1)
    assert null_vectors.find_witness(points, np.array([0, 1])) is None  # independent
    assert null_vectors.find_witness(points, np.array([0, 1, 3])) is None  # not all of one sign


def test_witness_leaves_out_rows_without_weight():
    X = np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    rows, multipliers = null_vectors.find_witness(make_points(X, [1, 1, 1], False), np.array([0, 1, 2]))
    assert rows.tolist() == [0, 1]
    assert multipliers == (2, 1)


def test_witness_of_numbers_of_different_scales():
    X = np.array([[0.1, 1e100], [-0.1 * 2.0**-40, -1e100 * 2.0**-40]])
    _, multipliers = null_vectors.find_witness(make_points(X, [1, 1], False), np.array([0, 1]))
    assert multipliers == (1, 2**40)
    off = X.copy()
    off[0, 0] = np.nextafter(0.1, 1.0)
    assert null_vectors.find_witness(make_points(off, [1, 1], False), np.array([0, 1])) is None


# -- numbers rounded outwards


@given(problem=problems.small(), seed=st.integers(0, 999), intercept=st.booleans(), sparse=st.booleans())
def test_margin_lower_bound(problem, seed, intercept, sparse):
    """The largest double that is true, or the sign of a margin that is not positive."""
    X, y = problem
    w = np.random.default_rng(seed).standard_normal(X.shape[1] + 1)
    w[-1] *= intercept
    points = make_points(sp.csr_array(X) if sparse else X, y, intercept)
    Z, exact_w = oracle.points(X, y, intercept), oracle.exact(w if intercept else w[:-1])
    least = min(oracle.dot(exact_w, z) for z in Z)
    found = exact.margin_lower_bound(points, exact.to_rational_vector(w))
    if least > 0:
        assert is_largest_double_below_root(found, least**2 / oracle.dot(exact_w, exact_w))
    else:
        assert found == (-1.0 if least < 0 else 0.0)


@given(problem=problems.small(), seed=st.integers(0, 999), intercept=st.booleans(), sparse=st.booleans())
def test_length_upper_bound(problem, seed, intercept, sparse):
    X, y = problem
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[: rng.integers(1, len(X) + 1)]
    weights = rng.random(len(rows)) + 0.01
    Z = oracle.points(X, y, intercept)
    x = oracle.combined(oracle.exact(weights), [Z[row] for row in rows])
    squared = oracle.dot(x, x) / sum(oracle.exact(weights)) ** 2
    points = make_points(sp.csr_array(X) if sparse else X, y, intercept)
    found = exact.length_upper_bound(points, rows, exact.to_rationals(weights))
    assert is_smallest_double_above_root(found, squared) if squared else found == 0.0


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-100, 1e-150, 1e-200, 1e-300, 5e-324, 1e100, 1e140])
def test_radius_upper_bound(scale):
    """Never below the longest row, and no further above it than rounding."""
    rng = np.random.default_rng(0)
    for intercept in (True, False):
        X = rng.integers(-9, 10, (5, 3)) * scale
        radius = exact.radius_upper_bound(make_points(X, np.ones(5, int), intercept))
        squared = max(oracle.dot(z, z) for z in oracle.points(X, [1] * 5, intercept))
        assert squared <= Fraction(radius) ** 2
        assert Fraction(radius) ** 2 <= squared * (1 + Fraction(1, 2**44)) or is_smallest_double_above_root(
            radius, squared
        )


def test_multipliers_are_integers_without_a_common_factor():
    halves = exact.to_rationals(np.array([0.5, 0.75, 1.5]))
    assert exact.to_coprime_integers(halves) == (2, 3, 6)
