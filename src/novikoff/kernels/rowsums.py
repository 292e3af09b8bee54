"""Sums of some rows of a table of weights.

problem   e = sum of W[rows[k]] over k < m, for a few rows of a few whole numbers each
given     W larger than the cache, its rows filled up to a multiple of as many numbers as are added at once
result    e; or, ahead of it, the rows on their way into the cache
"""

from __future__ import annotations

from novikoff._jit import part, prefetch


@part
def ask_for(W, row):
    """Ask for a row before it is needed. It takes two lines of the cache at most, if it is of 32 numbers of 32 bits;
    of longer ones the processor fetches the rest by itself."""
    width = W.shape[1]
    prefetch(W, row * width)
    prefetch(W, row * width + width - 1)


@part
def add_rows(W, rows, m, e):
    """e <- e + sum of W[rows[k]] over k < m; four at a time, as to load and store e costs as much as to add two."""
    k = 0
    while k + 4 <= m:
        s, t, u, v = W[rows[k]], W[rows[k + 1]], W[rows[k + 2]], W[rows[k + 3]]
        for y in range(e.size):
            e[y] += s[y] + t[y] + u[y] + v[y]
        k += 4
    while k < m:
        s = W[rows[k]]
        for y in range(e.size):
            e[y] += s[y]
        k += 1
