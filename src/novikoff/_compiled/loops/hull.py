"""The point of a convex hull nearest to the origin.

    problem   minimise |x|^2 over x = sum lambda_i z_i, lambda >= 0, sum lambda_i = 1
    given     the Gram matrix G of z_1..z_m; a corral (z's that are affinely independent, all weights positive) to
              start from, with the Cholesky factor L of G + shift over it
    result    the corral of the nearest point, its weights and its factor, in place
    source    Wolfe, "Finding the nearest point in a polytope", Math. Programming 11 (1976)

Adding `shift` to every entry of G leaves the nearest point alone, since the weights sum to 1, and makes the matrix
positive definite exactly when the corral is affinely independent (Wolfe's trick, section 5).
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part

# A weight below this is a weight of zero: the point has left the face opposite to it.
_NO_WEIGHT = 1e-14
# A new point whose distance from the affine hull of the corral is this small in square is not independent of it.
_NO_DISTANCE = 1e-15


@kernel
def nearest_point(G, m, shift, tolerance, entering, corral, weights, L, size, max_steps):
    """Go on from the corral of `size` points, first with point `entering` unless it is -1; return its new size. The
    first m rows and columns of G are those of the points.

    Ends at the nearest point, or where doubles cannot tell any more: no point is nearer by `tolerance`, or the
    nearest depends on the corral.
    """
    slopes, goal = np.empty(m), np.empty(L.shape[0])
    for _ in range(max_steps):
        if entering < 0:
            squared_norm = slopes_of(G, corral, weights, size, slopes)
            entering = np.argmin(slopes)
            if slopes[entering] >= squared_norm - tolerance:
                break
        if not extend(G, shift, corral, L, size, entering):
            break
        corral[size], weights[size] = entering, 0.0
        size = walk(corral, weights, L, size + 1, goal)
        entering = -1
    return size


@part
def slopes_of(G, corral, weights, size, slopes):
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


@part
def extend(G, shift, corral, L, size, entering):
    """Add a row to the factor for an entering point; False if it depends on the corral, or there is no room."""
    if size == L.shape[0]:
        return False
    row = L[size]
    left = G[entering, entering] + shift
    for a in range(size):
        s = G[entering, corral[a]] + shift
        for b in range(a):
            s -= L[a, b] * row[b]
        row[a] = s / L[a, a]
        left -= row[a] * row[a]
    if left <= _NO_DISTANCE * (G[entering, entering] + shift):
        return False
    row[size] = np.sqrt(left)
    return True


@part
def walk(corral, weights, L, size, goal):
    """Move towards the nearest point of the affine hull, dropping each point whose weight reaches zero on the way."""
    while True:
        affine_weights(L, size, goal)
        theta, leaving = 1.0, -1
        for a in range(size):
            if goal[a] <= _NO_WEIGHT:
                reach = weights[a] / (weights[a] - goal[a]) if weights[a] > goal[a] else 0.0
                if leaving < 0 or reach < theta:
                    theta, leaving = reach, a
        for a in range(size):
            weights[a] += theta * (goal[a] - weights[a])
        if leaving < 0:
            return size
        size = drop(corral, weights, L, size, leaving)


@part
def affine_weights(L, size, goal):
    """goal = the weights, summing to 1, of the point nearest to 0 in the affine hull: L L' goal is constant."""
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


@part
def drop(corral, weights, L, size, leaving):
    """Remove a point: its row of the factor goes, and rotations of neighbouring columns make the rest triangular."""
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
