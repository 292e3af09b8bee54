"""Running standardisation: every number less the mean, over the standard deviation, of its column so far.

    problem   bring columns of unknown scale to a common one while they are being read
    given     rows of numbers, NaN where one is missing; count, mean and sum of squared deviations of each column
    result    (v - mean) / deviation, 0 for NaN and for a column that has not varied yet; the moments moved on
    source    Welford 1962

Each row counts before it is scaled, so that the result depends on the rows before it and on nothing else, however they
come in blocks.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel
from novikoff._compiled.loops.simd import FOUR, place, turn

_TILE = 32  # rows


@kernel
def standardise(values, scaled, counts, means, squares, learn):
    """Scale rows into others, in order, by moments that each row moves on first if `learn`.

    Written so that LLVM takes four columns at a time: nothing is skipped, and every moment is written back.
    """
    for i in range(values.shape[0]):
        for j in range(counts.size):
            v = values[i, j]
            is_there = v == v
            n, mean, square = counts[j], means[j], squares[j]
            if learn and is_there:
                n += 1.0
                before = v - mean
                mean += before / n
                square += before * (v - mean)
            counts[j], means[j], squares[j] = n, mean, square
            deviation = np.sqrt(square / max(n, 1.0))
            scaled[i, j] = (v - mean) / deviation if is_there and deviation > 0.0 else 0.0


@kernel
def rows_of_columns(addresses, values):
    """Fill rows from the columns of doubles at these addresses, a few rows at a time, so that what is written stays in
    the first cache; return the sum of their squares."""
    n, p = values.shape
    in_a_row = values.reshape(n * p)  # one long loop over a tile is faster than one for each of its rows
    squares = 0.0
    for start in range(0, n, _TILE):
        stop = min(start + _TILE, n)
        fours = start + (stop - start) // FOUR * FOUR
        for j in range(0, p - FOUR + 1, FOUR):
            for i in range(start, fours, FOUR):
                turn(addresses, j, i, values)
            for i in range(fours, stop):
                for k in range(j, j + FOUR):
                    place(addresses, k, i, values)
        for j in range(p // FOUR * FOUR, p):
            for i in range(start, stop):
                place(addresses, j, i, values)
        for at in range(start * p, stop * p):
            squares += in_a_row[at] * in_a_row[at]
    return squares
