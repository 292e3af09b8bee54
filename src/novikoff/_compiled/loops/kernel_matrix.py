"""Kernel matrices: powers of inner products, distances, and functions of the user's own, for every pair of rows.

    problem   K(x_i, z_j) for every row x_i of one block and every row z_j of another
    given     rows as arrays; or the inner products of pieces of their columns, each exact in its own precision; where
              many entries of the x_i are zero, the other block transposed, so that what one entry that is not zero
              (or a pair of neighbours) adds to the products with all z_j (or LANES of them) lies side by side
    result    `out`, in double precision; rows begin..end-1 of it, so that threads can share the work

Sums that are exact in pieces are exact in any order, and a row of `out` depends on no other: neither the way nor the
number of threads can be told from the result.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part, part_in_order
from novikoff._compiled.loops.simd import LANES, pair_products

TOGETHER = 256  # rows to go through a tile, one after the other

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
def sparse_powers(rows, others, gamma, coef0, degree, out, begin, end):
    """out = (gamma * <x, z> + coef0)^degree for rows x that are mostly zeros, and z the columns of `others`."""
    d, n = others.shape
    places, values, base = np.empty(d, np.int64), np.empty(d, rows.dtype), np.empty(n)
    for i in range(begin, end):
        m = not_zero(rows[i], places, values)
        combine(places, values, m, others, out[i])
        raise_row(out[i], gamma, coef0, degree, base)


@part
def not_zero(row, places, values):
    """Find the entries that are not zero; return how many there are."""
    m = _u(0)
    for j in range(_u(row.size)):
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


@kernel
def whole_powers(rows, tiles, gamma, coef0, degree, out, begin, end):
    """out = (gamma * <x, z> + coef0)^degree for rows x of whole numbers, many of them zero, and z the rows that were
    laid out in `tiles`. Every x goes through one tile, which stays in the nearest cache, before any goes on to the
    next."""
    room = TOGETHER * tiles.shape[1]
    places, values, ends = np.empty(room, np.int64), np.empty((room, 2), np.int16), np.zeros(TOGETHER + 1, np.int64)
    sums, base = np.empty(LANES, np.int32), np.empty(LANES)
    for start in range(begin, end, TOGETHER):
        some = rows[start : min(start + TOGETHER, end)]
        for i in range(some.shape[0]):
            ends[i + 1] = pairs_not_zero(some[i], ends[i], places, values)
        for t in range(tiles.shape[0]):
            for i in range(some.shape[0]):
                pair_products(places, values, ends[i], ends[i + 1], tiles[t], sums)
                row = out[start + i, t * LANES : (t + 1) * LANES]
                for j in range(row.size):
                    row[j] = sums[j]
                raise_row(row, gamma, coef0, degree, base)


@part
def pairs_not_zero(row, m, places, values):
    """Find the pairs of neighbours that are not both zero, and add them to the m there are; return how many that
    makes."""
    m, halves = _u(m), _u(row.size // 2)
    for c in range(halves):
        x, y = row[_u(2) * c], row[_u(2) * c + _u(1)]
        places[m], values[m, 0], values[m, 1] = c, x, y
        m += _u((x != 0.0) | (y != 0.0))  # no branch: which it is cannot be foreseen
    if row.size % 2 and row[row.size - 1] != 0.0:
        places[m], values[m, 0], values[m, 1] = halves, row[row.size - 1], 0
        m += _u(1)
    return m


@kernel
def lay_tiles(rows, tiles):
    """tiles[t, c, l] = columns 2c and 2c + 1 of row t * LANES + l, where there is one: what a pair of numbers adds to
    its products with LANES rows lies side by side. The tiles are zeros before."""
    for i in range(rows.shape[0]):
        tile, lane = tiles[i // LANES], i % LANES
        for j in range(rows.shape[1]):
            tile[j // 2, lane, j % 2] = rows[i, j]


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
