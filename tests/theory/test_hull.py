"""Wolfe's algorithm compared with an exhaustive search of all faces; and the search on a working set around it.

Run it with NUMBA_DISABLE_JIT=1 too: in plain Python an index out of bounds is an error.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff._compiled.loops.hull import find_nearest_point
from novikoff.inputs.rows import Rows
from novikoff.theory import hull, linprog
from novikoff.theory.signed_points import SignedPoints

UNIT = 2.0**-52


def brute_force(Z):
    """Return the least distance from 0 over all simplices of at most d + 1 points whose nearest point is inside."""
    n, d = Z.shape
    least = np.inf
    for size in range(1, min(n, d + 1) + 1):
        for chosen in combinations(range(n), size):
            z = Z[list(chosen)]
            system = np.block([[np.zeros((1, 1)), np.ones((1, size))], [np.ones((size, 1)), z @ z.T]])
            if np.linalg.matrix_rank(system) <= size:
                continue  # affinely dependent: fewer points will do
            weights = np.linalg.solve(system, np.eye(size + 1)[0])[1:]
            if (weights >= -1e-12).all():
                least = min(least, np.linalg.norm(weights @ z))
    return least


class NearestPointRun:
    """A run of `nearest_point` with its arrays, started at one point."""

    def __init__(self, Z, first, capacity=None):
        self.Z, self.G = Z, Z @ Z.T
        self.shift = float(np.diagonal(self.G).mean())
        capacity = min(len(Z), Z.shape[1] + 1) if capacity is None else capacity
        self.corral, self.weights = np.zeros(capacity + 1, np.int64), np.zeros(capacity + 1)
        self.L = np.zeros((capacity, capacity))
        self.corral[0], self.weights[0], self.L[0, 0] = first, 1.0, np.sqrt(self.G[first, first] + self.shift)
        self.size = 1

    def run(self, entering=-1, max_steps=1000):
        rounding = 4.0 * UNIT * np.diagonal(self.G).max()
        given = self.G, np.ones(len(self.G)), len(self.G), self.shift, rounding, entering
        self.size, _ = find_nearest_point(*given, self.corral, self.weights, self.L, self.size, max_steps)
        return self

    @property
    def members(self):
        return self.corral[: self.size]

    @property
    def x(self):
        return self.weights[: self.size] @ self.Z[self.members]

    def assert_valid(self):
        """The points differ, their weights are positive and sum to 1, and the factor is that of their Gram matrix."""
        weights, L = self.weights[: self.size], self.L[: self.size, : self.size]
        assert len(set(self.members.tolist())) == self.size <= self.Z.shape[1] + 1
        assert (weights > 0).all()
        assert weights.sum() == pytest.approx(1.0, rel=1e-12)
        gram = self.G[np.ix_(self.members, self.members)] + self.shift
        np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, gram, rtol=1e-9, atol=1e-9 * np.abs(gram).max())

    def assert_nearest(self, distance):
        self.assert_valid()
        longest = np.sqrt(np.diagonal(self.G).max())
        # <x, z> is as precise as the Gram matrix; |x| only to the square root of that where x is 0
        assert np.linalg.norm(self.x) == pytest.approx(distance, rel=1e-9, abs=1e-7 * longest)
        assert (self.Z @ self.x).min() >= self.x @ self.x - 1e-12 * longest**2


def random_points(seed, is_integer):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 9), rng.integers(1, 5)
    Z = rng.integers(-3, 4, (n, d)).astype(float) if is_integer else rng.standard_normal((n, d))
    Z += rng.integers(0, 3) * np.eye(d)[0]  # for some seeds away from 0
    return Z if Z.any() else Z + 1.0


@pytest.mark.parametrize("is_integer", [False, True])
def test_nearest_point_equals_exhaustive_search(is_integer):
    for seed in range(120):
        Z = random_points(seed, is_integer)
        distance = brute_force(Z)
        for first in {0, len(Z) - 1}:
            if Z[first].any():
                NearestPointRun(Z, first).run().assert_nearest(distance)


def test_nearest_point_by_hand():
    """A point within a segment of the line x = 1; a corner; 0 inside a triangle."""
    middle = NearestPointRun(np.array([[1.0, 2.0], [1.0, -2.0], [5.0, 0.0]]), 2).run()
    assert middle.x == pytest.approx([1.0, 0.0])
    assert dict(zip(middle.members.tolist(), middle.weights[:2], strict=True)) == pytest.approx({0: 0.5, 1: 0.5})
    corner = NearestPointRun(np.array([[4.0, 4.0], [1.0, 1.0], [1.0, 3.0]]), 0).run()
    assert corner.members.tolist() == [1]
    around = NearestPointRun(np.array([[2.0, 1.0], [-1.0, 1.0], [-1.0, -2.0], [9.0, 10.0]]), 0).run()
    assert sorted(around.members.tolist()) == [0, 1, 2]
    assert around.weights[:3] == pytest.approx([1 / 3] * 3)


@given(seed=st.integers(0, 10**6), is_integer=st.booleans())
def test_distance_decreases_with_every_step(seed, is_integer):
    Z = random_points(seed, is_integer)
    first = int(np.argmax((Z**2).sum(axis=1)))
    stepped, at_once = NearestPointRun(Z, first), NearestPointRun(Z, first).run()
    longest = np.linalg.norm(Z, axis=1).max()
    lengths = [np.linalg.norm(stepped.x)]
    for _ in range(40):
        stepped.run(max_steps=1).assert_valid()
        lengths.append(np.linalg.norm(stepped.x))
    assert (np.diff(lengths) <= 1e-7 * longest).all()
    assert lengths[-1] == pytest.approx(np.linalg.norm(at_once.x), rel=1e-9, abs=1e-7 * longest)


@given(seed=st.integers(0, 10**6), at=st.integers(0, 7))
def test_choice_of_the_entering_point_does_not_change_the_result(seed, at):
    """Provided that the point that enters first is nearer along x."""
    Z = random_points(seed, is_integer=False)
    first = int(np.argmax((Z**2).sum(axis=1)))
    entering = at % len(Z)
    if Z[entering] @ Z[first] < (Z[first] ** 2).sum() * (1 - 1e-9):
        NearestPointRun(Z, first).run(entering).assert_nearest(brute_force(Z))


def test_dependent_point_does_not_enter():
    Z = np.array([[1.0, 1.0], [1.0, 1.0], [3.0, 3.0]])
    found = NearestPointRun(Z, 0).run(entering=1)
    assert found.members.tolist() == [0]
    assert found.weights[0] == 1.0


def test_full_corral_stays_as_it_is():
    """No point enters when the arrays are full."""
    Z = np.array([[1.0, 2.0], [1.0, -2.0], [0.5, 0.0]])
    found = NearestPointRun(Z, 0, capacity=1).run()
    assert found.members.tolist() == [0]


# -- the search around it


def signed_points(X, y, intercept=True):
    rows = Rows.of(X)
    rows.require_numbers()
    return SignedPoints(rows, np.asarray(y), float(intercept))


@pytest.mark.parametrize("search", [hull.search, linprog.search])
@pytest.mark.parametrize("intercept", [True, False])
def test_search_brackets_the_margin(search, intercept):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((8, 2)), rng.choice([-1, 1], 8)
        points = signed_points(X, y, intercept)
        Z = y[:, None] * np.hstack([X, np.full((8, 1), float(intercept))])
        found = search(points, 1e-9)
        distance = brute_force(Z if intercept else Z[:, :-1])
        assert found.lower <= distance * (1 + 1e-9) + 1e-9
        assert np.linalg.norm(found.weights @ Z[found.rows]) >= distance - 1e-9
        assert found.weights.sum() == pytest.approx(1.0)
        assert (found.weights > 0).all()
        if distance > 1e-6 and search is hull.search:
            assert found.lower == pytest.approx(distance, rel=1e-9)
            assert found.upper == pytest.approx(distance, rel=1e-9)


def test_search_with_more_rows_than_enter_in_a_round():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    X = X[abs(X[:, 0]) > 0.01]
    y = np.where(X[:, 0] > 0, 1, -1)
    found = hull.search(signed_points(X, y), 1e-9)
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-8)
    assert len(found.rows) <= 5
