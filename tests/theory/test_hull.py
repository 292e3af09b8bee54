"""Wolfe's nearest point against all faces, one by one; and the search on a working set around it.

Worth a run as plain Python too (NUMBA_DISABLE_JIT=1), where an index out of bounds is an error.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff._compiled.loops.hull import nearest_point
from novikoff.inputs.rows import Rows
from novikoff.theory import hull, linprog
from novikoff.theory.signed_points import Points

UNIT = 2.0**-52


def brute_force(Z):
    """The least distance from 0 over the simplices of at most d + 1 of the points whose nearest point is inside."""
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


class Kernel:
    """The kernel with its arrays, started at one point."""

    def __init__(self, Z, first, room=None):
        self.Z, self.G = Z, Z @ Z.T
        self.shift = float(np.diagonal(self.G).mean())
        room = min(len(Z), Z.shape[1] + 1) if room is None else room
        self.corral, self.weights, self.L = np.zeros(room + 1, np.int64), np.zeros(room + 1), np.zeros((room, room))
        self.corral[0], self.weights[0], self.L[0, 0] = first, 1.0, np.sqrt(self.G[first, first] + self.shift)
        self.size = 1

    def go_on(self, entering=-1, max_steps=1000):
        rounding = 4.0 * UNIT * np.diagonal(self.G).max()
        self.size = nearest_point(
            self.G, len(self.G), self.shift, rounding, entering, self.corral, self.weights, self.L, self.size, max_steps
        )
        return self

    @property
    def members(self):
        return self.corral[: self.size]

    @property
    def x(self):
        return self.weights[: self.size] @ self.Z[self.members]

    def assert_sound(self):
        """Weights of different points, positive, that sum to 1, and their factor."""
        weights, L = self.weights[: self.size], self.L[: self.size, : self.size]
        assert len(set(self.members.tolist())) == self.size <= self.Z.shape[1] + 1
        assert (weights > 0).all()
        assert weights.sum() == pytest.approx(1.0, rel=1e-12)
        inside = self.G[np.ix_(self.members, self.members)] + self.shift
        np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, inside, rtol=1e-9, atol=1e-9 * np.abs(inside).max())

    def assert_nearest(self, distance):
        self.assert_sound()
        longest = np.sqrt(np.diagonal(self.G).max())
        # <x, z> is known to the rounding of the Gram matrix, and |x| to its root where x is 0
        assert np.linalg.norm(self.x) == pytest.approx(distance, rel=1e-9, abs=1e-7 * longest)
        assert (self.Z @ self.x).min() >= self.x @ self.x - 1e-12 * longest**2


def some_points(seed, whole):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 9), rng.integers(1, 5)
    Z = rng.integers(-3, 4, (n, d)).astype(float) if whole else rng.standard_normal((n, d))
    Z += rng.integers(0, 3) * np.eye(d)[0]  # away from 0, by chance
    return Z if Z.any() else Z + 1.0


@pytest.mark.parametrize("whole", [False, True])
def test_nearest_point_is_that_of_all_faces(whole):
    for seed in range(120):
        Z = some_points(seed, whole)
        distance = brute_force(Z)
        for first in {0, len(Z) - 1}:
            if Z[first].any():
                Kernel(Z, first).go_on().assert_nearest(distance)


def test_by_hand():
    """A segment of the line x = 1, whose nearest point is between its ends; then nearest to a corner; then 0."""
    middle = Kernel(np.array([[1.0, 2.0], [1.0, -2.0], [5.0, 0.0]]), 2).go_on()
    assert middle.x == pytest.approx([1.0, 0.0])
    assert dict(zip(middle.members.tolist(), middle.weights[:2], strict=True)) == pytest.approx({0: 0.5, 1: 0.5})
    corner = Kernel(np.array([[4.0, 4.0], [1.0, 1.0], [1.0, 3.0]]), 0).go_on()
    assert corner.members.tolist() == [1]
    around = Kernel(np.array([[2.0, 1.0], [-1.0, 1.0], [-1.0, -2.0], [9.0, 10.0]]), 0).go_on()
    assert sorted(around.members.tolist()) == [0, 1, 2]
    assert around.weights[:3] == pytest.approx([1 / 3] * 3)


@given(seed=st.integers(0, 10**6), whole=st.booleans())
def test_each_step_is_nearer(seed, whole):
    Z = some_points(seed, whole)
    first = int(np.argmax((Z**2).sum(axis=1)))
    stepped, at_once = Kernel(Z, first), Kernel(Z, first).go_on()
    longest = np.linalg.norm(Z, axis=1).max()
    lengths = [np.linalg.norm(stepped.x)]
    for _ in range(40):
        stepped.go_on(max_steps=1).assert_sound()
        lengths.append(np.linalg.norm(stepped.x))
    assert (np.diff(lengths) <= 1e-7 * longest).all()
    assert lengths[-1] == pytest.approx(np.linalg.norm(at_once.x), rel=1e-9, abs=1e-7 * longest)


@given(seed=st.integers(0, 10**6), at=st.integers(0, 7))
def test_a_point_may_be_told_to_enter(seed, at):
    """Where it starts makes no difference to where it ends, if what enters first is nearer along x."""
    Z = some_points(seed, whole=False)
    first = int(np.argmax((Z**2).sum(axis=1)))
    entering = at % len(Z)
    if Z[entering] @ Z[first] < (Z[first] ** 2).sum() * (1 - 1e-9):
        Kernel(Z, first).go_on(entering).assert_nearest(brute_force(Z))


def test_a_point_that_depends_on_the_corral_does_not_enter():
    Z = np.array([[1.0, 1.0], [1.0, 1.0], [3.0, 3.0]])
    kernel = Kernel(Z, 0).go_on(entering=1)
    assert kernel.members.tolist() == [0]
    assert kernel.weights[0] == 1.0


def test_no_room():
    """A corral as large as its arrays allow stays as it is."""
    Z = np.array([[1.0, 2.0], [1.0, -2.0], [0.5, 0.0]])
    kernel = Kernel(Z, 0, room=1).go_on()
    assert kernel.members.tolist() == [0]


# -- the search around it


def points_of(X, y, intercept=True):
    rows = Rows.of(X)
    rows.require_numbers()
    return Points(rows, np.asarray(y), float(intercept))


@pytest.mark.parametrize("search", [hull.search, linprog.search])
@pytest.mark.parametrize("intercept", [True, False])
def test_search_brackets_the_margin(search, intercept):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((8, 2)), rng.choice([-1, 1], 8)
        points = points_of(X, y, intercept)
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


def test_search_with_more_rows_than_a_round_takes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    X = X[abs(X[:, 0]) > 0.01]
    y = np.where(X[:, 0] > 0, 1, -1)
    found = hull.search(points_of(X, y), 1e-9)
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-8)
    assert len(found.rows) <= 5
