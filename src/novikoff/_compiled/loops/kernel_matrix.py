"""Kernel matrices: powers of inner products, distances, and users' own kernels, for every pair of rows.

    problem   K(x_i, z_j) for every row x_i of one block and every row z_j of another
    given     rows as arrays; or their inner products over groups of columns, each exact in its own precision; where
              many entries of the x_i are zero, the other block transposed, so that the numbers that one non-zero (or a
              pair of adjacent entries) is multiplied with, for all z_j (or LANES of them), are contiguous
    result    `out`, in double precision; rows begin..end-1 of it, so that threads can share the work

Sums of integers that doubles hold exactly do not depend on the order of summation, and a row of `out` depends on no
other: so the result depends neither on the method nor on the number of threads.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, inlined_in_order, loop
from novikoff._compiled.loops.simd import LANES, multiply_pairs

ROWS_PER_TILE = 256  # rows that are multiplied with one tile before the next

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@loop
def fill_powers(pieces, gamma, coef0, degree, out, begin, end):
    """out = (gamma * sum of pieces + coef0)^degree, where pieces are inner products over groups of columns."""
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


@loop
def fill_sparse_powers(rows, others, gamma, coef0, degree, out, begin, end):
    """out = (gamma * <x, z> + coef0)^degree for rows x that are mostly zeros, and z the columns of `others`."""
    d, n = others.shape
    columns, values, base = np.empty(d, np.int64), np.empty(d, rows.dtype), np.empty(n)
    for i in range(begin, end):
        m = find_nonzeros(rows[i], columns, values)
        add_weighted_rows(columns, values, m, others, out[i])
        raise_row(out[i], gamma, coef0, degree, base)


@inlined
def find_nonzeros(row, columns, values):
    """Fill in the columns and values of the non-zeros of a dense row; return how many there are."""
    m = _u(0)
    for j in range(_u(row.size)):
        columns[m], values[m] = j, row[j]
        m += _u(row[j] != 0.0)  # no branch, which the processor could not predict
    return m


@inlined_in_order
def add_weighted_rows(columns, values, m, others, sums):
    """sums = sum of values_p * others[columns_p] over p < m; four at a time, since loading a sum costs as much as a
    product."""
    for j in range(sums.size):
        sums[j] = 0.0
    p = _u(0)
    while p + _u(4) <= m:
        a, b, c, e = _u(columns[p]), _u(columns[p + _u(1)]), _u(columns[p + _u(2)]), _u(columns[p + _u(3)])
        s, t, u, v = values[p], values[p + _u(1)], values[p + _u(2)], values[p + _u(3)]
        for j in range(sums.size):
            sums[j] = sums[j] + s * others[a, j] + t * others[b, j] + u * others[c, j] + v * others[e, j]
        p += _u(4)
    while p < m:
        a, s = _u(columns[p]), values[p]
        for j in range(sums.size):
            sums[j] += s * others[a, j]
        p += _u(1)


@loop
def fill_integer_powers(rows, tiles, gamma, coef0, degree, out, begin, end):
    """out = (gamma * <x, z> + coef0)^degree for rows x of integers, many of them zero, and z the rows that `fill_tiles`
    wrote to `tiles`. A block of x is multiplied with one tile, which stays in the first-level cache, before the next.
    """
    size = ROWS_PER_TILE * tiles.shape[1]
    columns, values = np.empty(size, np.int64), np.empty((size, 2), np.int16)
    ends = np.zeros(ROWS_PER_TILE + 1, np.int64)
    sums, base = np.empty(LANES, np.int32), np.empty(LANES)
    for start in range(begin, end, ROWS_PER_TILE):
        some = rows[start : min(start + ROWS_PER_TILE, end)]
        for i in range(some.shape[0]):
            ends[i + 1] = find_nonzero_pairs(some[i], ends[i], columns, values)
        for t in range(tiles.shape[0]):
            for i in range(some.shape[0]):
                multiply_pairs(columns, values, ends[i], ends[i + 1], tiles[t], sums)
                row = out[start + i, t * LANES : (t + 1) * LANES]
                for j in range(row.size):
                    row[j] = sums[j]
                raise_row(row, gamma, coef0, degree, base)


@inlined
def find_nonzero_pairs(row, m, columns, values):
    """Append the pairs of adjacent entries of a dense row that are not both zero to the m pairs found so far; return
    their new number."""
    m, halves = _u(m), _u(row.size // 2)
    for c in range(halves):
        x, y = row[_u(2) * c], row[_u(2) * c + _u(1)]
        columns[m], values[m, 0], values[m, 1] = c, x, y
        m += _u((x != 0.0) | (y != 0.0))  # no branch, which the processor could not predict
    if row.size % 2 and row[row.size - 1] != 0.0:
        columns[m], values[m, 0], values[m, 1] = halves, row[row.size - 1], 0
        m += _u(1)
    return m


@loop
def fill_tiles(rows, tiles):
    """tiles[t, c, l] = columns 2c and 2c + 1 of row t * LANES + l, where there is one: the numbers that a pair of
    entries is multiplied with, for LANES rows, are contiguous. The tiles must be zeros before."""
    for i in range(rows.shape[0]):
        tile, lane = tiles[i // LANES], i % LANES
        for j in range(rows.shape[1]):
            tile[j // 2, lane, j % 2] = rows[i, j]


@inlined
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


@loop
def fill_manhattan_distances(a, b, out):
    """out[i, j] = sum of |a_i - b_j|."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(a.shape[1]):
                s += abs(a[i, k] - b[j, k])
            out[i, j] = s


@loop
def fill_hamming_distances(a, b, out):
    """out[i, j] = number of columns in which a_i and b_j differ."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(a.shape[1]):
                s += 1.0 if a[i, k] != b[j, k] else 0.0
            out[i, j] = s


@inlined
def kernel_value(x, z):
    """Return K(x, z). `rebuild` replaces this by a user's own function."""
    return 0.0


@loop
def fill_kernel_values(a, b, out):
    """out[i, j] = K(a_i, b_j)."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = kernel_value(a[i], b[j])


@loop
def find_largest_pieces(data, quarter, out):
    """out = the largest squared norms of any row over all columns, over two groups of `quarter` columns, and over one.
    Return whether all entries are integers."""
    for i in range(data.shape[0]):
        total = half = 0.0
        for start in range(0, data.shape[1], quarter):
            q = 0.0
            for j in range(start, min(start + quarter, data.shape[1])):
                x = np.float64(data[i, j])
                if x != np.floor(x):
                    return False
                q += x * x
            total += q
            half = half + q if start % (2 * quarter) else q
            out[2] = max(out[2], q)
            out[1] = max(out[1], half)
        out[0] = max(out[0], total)
    return True
