"""Kernel matrices: powers of inner products, distances, and functions of the user's own, for every pair of rows.

    problem   K(x_i, z_j) for every row x_i of one block and every row z_j of another
    given     rows as arrays; or the inner products of pieces of their columns, each exact in its own precision; where
              most entries of the x_i are zero, the other block transposed, so that what one entry that is not zero
              adds to the products with all z_j lies side by side
    result    `out`, in double precision; rows begin..end-1 of it, so that threads can share the work

Sums that are exact in pieces are exact in any order, and a row of `out` depends on no other: neither the way nor the
number of threads can be told from the result.
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part, part_in_order

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@kernel
def powers(pieces, gamma, coef0, degree, out, begin, end):
    """out = (gamma * sum of pieces + coef0)^degree."""
    base = np.empty(out.shape[1])
    for i in range(begin, end):
        row = out[i]
        for j in range(row.size):
            row[j] = 0.0
        for p in range(pieces.shape[0]):
            piece = pieces[p, i]
            for j in range(row.size):
                row[j] += piece[j]
        raise_row(row, gamma, coef0, degree, base)


@kernel
def sparse_powers(rows, others, width, gamma, coef0, degree, out, begin, end):
    """out = (gamma * <x, z> + coef0)^degree for rows x that are mostly zeros, and z the columns of `others`; products
    of `width` neighbouring entries at a time are added up in the precision of the rows."""
    d, n = others.shape
    places, values = np.empty(d, np.int64), np.empty(d, rows.dtype)
    sums, base = np.empty(n, rows.dtype), np.empty(n)
    for i in range(begin, end):
        row = out[i]
        for j in range(n):
            row[j] = 0.0
        for start in range(0, d, width):
            m = not_zero(rows[i], start, min(start + width, d), places, values)
            combine(places, values, m, others, sums)
            for j in range(n):
                row[j] += sums[j]
        raise_row(row, gamma, coef0, degree, base)


@part
def not_zero(row, start, end, places, values):
    """Find the entries that are not zero among start..end-1; return how many there are."""
    m = _u(0)
    for j in range(_u(start), _u(end)):
        places[m], values[m] = j, row[j]
        m += _u(row[j] != 0.0)  # no branch: which it is cannot be foreseen
    return m


@part_in_order
def combine(places, values, m, others, sums):
    """sums = sum of values_p * others[places_p] over p < m; four at a time, as to load a sum costs as much as one."""
    for j in range(sums.size):
        sums[j] = 0.0
    p = _u(0)
    while p + _u(4) <= m:
        a, b, c, e = _u(places[p]), _u(places[p + _u(1)]), _u(places[p + _u(2)]), _u(places[p + _u(3)])
        s, t, u, v = values[p], values[p + _u(1)], values[p + _u(2)], values[p + _u(3)]
        for j in range(sums.size):
            sums[j] = sums[j] + s * others[a, j] + t * others[b, j] + u * others[c, j] + v * others[e, j]
        p += _u(4)
    while p < m:
        a, s = _u(places[p]), values[p]
        for j in range(sums.size):
            sums[j] += s * others[a, j]
        p += _u(1)


@part
def raise_row(row, gamma, coef0, degree, base):
    """row <- (gamma * row + coef0)^degree, by squaring, from the highest bit of the degree down."""
    for j in range(row.size):
        row[j] = base[j] = gamma * row[j] + coef0
    bit = 1
    while 2 * bit <= degree:
        bit *= 2
    bit //= 2
    while bit:
        for j in range(row.size):
            row[j] *= row[j]
        if degree & bit:
            for j in range(row.size):
                row[j] *= base[j]
        bit //= 2


@kernel
def manhattan(a, b, out):
    """out[i, j] = sum of |a_i - b_j|."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(a.shape[1]):
                s += abs(a[i, k] - b[j, k])
            out[i, j] = s


@kernel
def differing(a, b, out):
    """out[i, j] = in how many columns a_i and b_j differ."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(a.shape[1]):
                s += 1.0 if a[i, k] != b[j, k] else 0.0
            out[i, j] = s


@part
def pair(x, z):
    """K(x, z); a user's own function takes this place."""
    return 0.0


@kernel
def pairs(a, b, out):
    """out[i, j] = K(a_i, b_j)."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = pair(a[i], b[j])


@kernel
def largest_pieces(data, quarter, out):
    """out = the largest squared norms in any row: of all columns, of half of them, of a quarter, cut at multiples of
    `quarter`. Return whether every number is whole."""
    for i in range(data.shape[0]):
        whole = half = 0.0
        for start in range(0, data.shape[1], quarter):
            q = 0.0
            for j in range(start, min(start + quarter, data.shape[1])):
                x = np.float64(data[i, j])
                if x != np.floor(x):
                    return False
                q += x * x
            whole += q
            half = half + q if start % (2 * quarter) else q
            out[2] = max(out[2], q)
            out[1] = max(out[1], half)
        out[0] = max(out[0], whole)
    return True
