"""Wolfe's algorithm for the point of a convex hull nearest to the origin.

    problem   minimise |x|^2 over x = sum lambda_i u_i, lambda >= 0, sum b_i lambda_i = 1
    given     the Gram matrix G of u_1..u_m, and b > 0; a corral to start from (points u_i / b_i that are affinely
              independent, all with positive weights), with the Cholesky factor L of G + shift b b' for its points
    result    the corral of the nearest point, its weights and its factor, in place
    source    Wolfe, "Finding the nearest point in a polytope", Math. Programming 11 (1976)

This is the hull of the points z_i = u_i / b_i, whose lengths may differ by many powers of ten where those of u_i do
not. Adding `shift` b b' to G does not change the nearest point, since the sum of b_i lambda_i is 1, and makes the
matrix positive definite exactly when the corral is affinely independent (Wolfe's trick, section 5).
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop

# A weight below this share of the largest counts as zero: then the nearest point is on the opposite face, and the
# point leaves the corral.
_NO_WEIGHT = 1e-14
# A new point whose squared distance from the affine hull of the corral is at most this share of its own squared length
# counts as dependent on it.
_NO_DISTANCE = 1e-15


@loop
def find_nearest_point(G, b, m, shift, tolerance, entering, corral, weights, L, size, max_steps):
    """Continue from a corral of `size` points, with point `entering` first unless it is -1.

    The first m rows and columns of G, and entries of b, are those of the points. Returns the new size, and whether it
    has ended: at the nearest point, or where double precision allows no further step, because no point is nearer by
    more than `tolerance`, or the entering point depends on the corral. Otherwise `max_steps` were made.
    """
    slopes, goal = np.empty(m), np.empty(L.shape[0])
    for _ in range(max_steps):
        if entering < 0:
            squared_norm = compute_slopes(G, corral, weights, size, slopes)
            entering, least = find_nearest_along(slopes, b, squared_norm)
            if least >= -tolerance:
                return size, True
        if not extend_factor(G, b, shift, corral, L, size, entering):
            return size, True
        corral[size], weights[size] = entering, 0.0
        size = move_to_affine_minimum(b, corral, weights, L, size + 1, goal)
        entering = -1
    return size, False


@inlined
def find_nearest_along(slopes, b, squared_norm):
    """Return the point with the least <x, u> - b |x|^2, and that number."""
    at, least = 0, np.inf
    for i in range(slopes.size):
        excess = slopes[i] - b[i] * squared_norm
        if excess < least:
            at, least = i, excess
    return at, least


@inlined
def compute_slopes(G, corral, weights, size, slopes):
    """slopes[i] = <x, u_i> for every point; return |x|^2."""
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
def extend_factor(G, b, shift, corral, L, size, entering):
    """Add a row to the factor for an entering point; return False if it depends on the corral, or if L is full."""
    if size == L.shape[0]:
        return False
    row, shift = L[size], shift * b[entering]
    square = G[entering, entering] + shift * b[entering]
    remainder = square
    for a in range(size):
        s = G[entering, corral[a]] + shift * b[corral[a]]
        for c in range(a):
            s -= L[a, c] * row[c]
        row[a] = s / L[a, a]
        remainder -= row[a] * row[a]
    if remainder <= _NO_DISTANCE * square:
        return False
    row[size] = np.sqrt(remainder)
    return True


@inlined
def move_to_affine_minimum(b, corral, weights, L, size, goal):
    """Move towards the nearest point of the affine hull; remove each point whose weight reaches zero on the way."""
    while True:
        largest = solve_affine_weights(b, corral, L, size, goal)
        theta, leaving = 1.0, -1
        for a in range(size):
            if goal[a] <= _NO_WEIGHT * largest:
                share = weights[a] / (weights[a] - goal[a]) if weights[a] > goal[a] else 0.0
                if leaving < 0 or share < theta:
                    theta, leaving = share, a
        for a in range(size):
            weights[a] += theta * (goal[a] - weights[a])
        if leaving < 0:
            return size
        size = remove_point(b, corral, weights, L, size, leaving)


@inlined
def solve_affine_weights(b, corral, L, size, goal):
    """goal = the weights of the point nearest to 0 in the affine hull: the sum of b goal is 1, and L L' goal a multiple
    of b. Returns the largest."""
    for a in range(size):
        s = b[corral[a]]
        for c in range(a):
            s -= L[a, c] * goal[c]
        goal[a] = s / L[a, a]
    total = 0.0
    for a in range(size - 1, -1, -1):
        goal[a] /= L[a, a]
        for c in range(a):
            goal[c] -= L[a, c] * goal[a]
        total += b[corral[a]] * goal[a]
    largest = 0.0
    for a in range(size):
        goal[a] /= total
        largest = max(largest, goal[a])
    return largest


@inlined
def remove_point(b, corral, weights, L, size, leaving):
    """Remove a point and its row of the factor; rotations of adjacent columns make the factor triangular again."""
    for a in range(leaving, size - 1):
        corral[a], weights[a] = corral[a + 1], weights[a + 1]
        for c in range(a + 2):
            L[a, c] = L[a + 1, c]
    size -= 1
    for a in range(leaving, size):
        r = np.hypot(L[a, a], L[a, a + 1])
        cosine, sine = L[a, a] / r, L[a, a + 1] / r
        L[a, a] = r
        for row in range(a + 1, size):
            left, right = L[row, a], L[row, a + 1]
            L[row, a] = cosine * left + sine * right
            L[row, a + 1] = cosine * right - sine * left
    total = 0.0
    for a in range(size):
        total += b[corral[a]] * weights[a]
    for a in range(size):
        weights[a] /= total
    return size
