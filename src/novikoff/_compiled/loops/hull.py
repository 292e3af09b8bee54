"""Wolfe's algorithm for the point of a convex hull nearest to the origin.

    problem   minimise |x|^2 over x = sum lambda_i z_i, lambda >= 0, sum lambda_i = 1
    given     the Gram matrix G of z_1..z_m; a corral to start from (points that are affinely independent, all with
              positive weights), with the Cholesky factor L of G + shift for its points
    result    the corral of the nearest point, its weights and its factor, in place
    source    Wolfe, "Finding the nearest point in a polytope", Math. Programming 11 (1976)

Adding `shift` to every entry of G does not change the nearest point, since the weights sum to 1, and makes the matrix
positive definite exactly when the corral is affinely independent (Wolfe's trick, section 5).
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop

# A weight below this counts as zero: then the nearest point is on the opposite face, and the point leaves the corral.
_NO_WEIGHT = 1e-14
# A new point whose squared distance from the affine hull of the corral is at most this share of its own squared length
# counts as dependent on it.
_NO_DISTANCE = 1e-15


@loop
def find_nearest_point(G, m, shift, tolerance, entering, corral, weights, L, size, max_steps):
    """Continue from a corral of `size` points, with point `entering` first unless it is -1; return the new size.

    The first m rows and columns of G are those of the points. It ends at the nearest point, or where double precision
    allows no further step: no point is nearer by more than `tolerance`, or the entering point depends on the corral.
    """
    slopes, goal = np.empty(m), np.empty(L.shape[0])
    for _ in range(max_steps):
        if entering < 0:
            squared_norm = compute_slopes(G, corral, weights, size, slopes)
            entering = np.argmin(slopes)
            if slopes[entering] >= squared_norm - tolerance:
                break
        if not extend_factor(G, shift, corral, L, size, entering):
            break
        corral[size], weights[size] = entering, 0.0
        size = move_to_affine_minimum(corral, weights, L, size + 1, goal)
        entering = -1
    return size


@inlined
def compute_slopes(G, corral, weights, size, slopes):
    """slopes[i] = <x, z_i> for every point; return |x|^2."""
    slopes[:] = 0.0
    for a in range(size):
        row, weight = G[corral[a]], weights[a]
        for i in range(slopes.size):
            slopes[i] += weight * row[i]
    squared_norm = 0.0
    for a in range(size):
        squared_norm += weights[a] * slopes[corral[a]]
    return squared_norm


@inlined
def extend_factor(G, shift, corral, L, size, entering):
    """Add a row to the factor for an entering point; return False if it depends on the corral, or if L is full."""
    if size == L.shape[0]:
        return False
    row = L[size]
    remainder = G[entering, entering] + shift
    for a in range(size):
        s = G[entering, corral[a]] + shift
        for b in range(a):
            s -= L[a, b] * row[b]
        row[a] = s / L[a, a]
        remainder -= row[a] * row[a]
    if remainder <= _NO_DISTANCE * (G[entering, entering] + shift):
        return False
    row[size] = np.sqrt(remainder)
    return True


@inlined
def move_to_affine_minimum(corral, weights, L, size, goal):
    """Move towards the nearest point of the affine hull; remove each point whose weight reaches zero on the way."""
    while True:
        solve_affine_weights(L, size, goal)
        theta, leaving = 1.0, -1
        for a in range(size):
            if goal[a] <= _NO_WEIGHT:
                share = weights[a] / (weights[a] - goal[a]) if weights[a] > goal[a] else 0.0
                if leaving < 0 or share < theta:
                    theta, leaving = share, a
        for a in range(size):
            weights[a] += theta * (goal[a] - weights[a])
        if leaving < 0:
            return size
        size = remove_point(corral, weights, L, size, leaving)


@inlined
def solve_affine_weights(L, size, goal):
    """goal = the weights of the point nearest to 0 in the affine hull: they sum to 1 and L L' goal is constant."""
    for a in range(size):
        s = 1.0
        for b in range(a):
            s -= L[a, b] * goal[b]
        goal[a] = s / L[a, a]
    total = 0.0
    for a in range(size - 1, -1, -1):
        goal[a] /= L[a, a]
        for b in range(a):
            goal[b] -= L[a, b] * goal[a]
        total += goal[a]
    for a in range(size):
        goal[a] /= total


@inlined
def remove_point(corral, weights, L, size, leaving):
    """Remove a point and its row of the factor; rotations of adjacent columns make the factor triangular again."""
    for a in range(leaving, size - 1):
        corral[a], weights[a] = corral[a + 1], weights[a + 1]
        for b in range(a + 2):
            L[a, b] = L[a + 1, b]
    size -= 1
    for a in range(leaving, size):
        r = np.hypot(L[a, a], L[a, a + 1])
        c, s = L[a, a] / r, L[a, a + 1] / r
        L[a, a] = r
        for b in range(a + 1, size):
            left, right = L[b, a], L[b, a + 1]
            L[b, a] = c * left + s * right
            L[b, a + 1] = c * right - s * left
    total = 0.0
    for a in range(size):
        total += weights[a]
    for a in range(size):
        weights[a] /= total
    return size
