"""The best chain of tags: exactly, by dynamic programming.

    problem   argmax_y sum_i E[i, y_i] + Q_i[y_i-1, y_i] + T[y_i-2, y_i-1, y_i]
    given     E, what each token says of each tag; Q_i, what is said of the tags at i - 1 and i; T, of three in a row
    result    y; of equal chains the one whose last tag has the lowest number, then the last but one
    source    Viterbi 1967; for chains of order two Thede and Harper 1999

Q has one layer if what it says is the same at all tokens, and otherwise one for each. T is None for chains of order
one: then numba leaves out what is about it before it compiles. Rows of tags are filled up to a multiple of eight, as
many as the processor adds at once, Q with `floor` (see below), so that none of the tags that are not there is best.

All numbers are whole, so that a tie is a tie. Before each step the largest of the sums so far is taken from all of
them: what is compared are differences, which do not grow with the sentence, so 32 bits hold them. What must not be
gets `floor`, lower than anything that may be; sums are kept from falling below it, so as not to run out of bits.

What works on a whole sentence is a kernel, not a part of others: a call costs nothing there, and compiling it once
instead of in each of them halves the time that takes.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.simd import best_step, level


@kernel
def add_links(P, barred, links, begin, n, rows_after, row_of, W, floor, Q):
    """Q_i = P + what is barred + the weights of the features of token i that go with the tag before; `floor` where
    there is no tag.

    links[i, k] is the feature that template k makes of token i, rows_after[f, a] the one it becomes after tag a.
    """
    n_tags, width = P.shape
    for i in range(n if Q.shape[0] > 1 else 1):
        for a in range(n_tags):
            q = Q[i, a]
            for z in range(width):
                q[z] = P[a, z]
            if barred.shape[0] > 0:
                for z in range(width):
                    q[z] += barred[a, z]
            for k in range(links.shape[1]):
                if links[begin + i, k] >= 0:
                    row = row_of[rows_after[links[begin + i, k], a]]
                    if row >= 0:
                        w = W[row]
                        for z in range(width):
                            q[z] += w[z]
            for z in range(n_tags, width):
                q[z] = floor


@part
def bar_ends(E, begin, end, ends, sign):
    """Add what is said of the first and the last tag of a chain, or take it away again."""
    for z in range(ends.shape[1]):
        E[begin, z] += sign * ends[0, z]
        E[end - 1, z] += sign * ends[1, z]


@kernel
def best_chain(E, Q, n, floor, best, top, y):
    """Viterbi. best[i, z] is the most that the first i + 1 tags can have if the last is z, less the most of all. Return
    whether there is a chain that may be.

    Where the maximum came from is not noted on the way but looked up on the way back, for one tag of a token instead of
    all: what is left on the way is an addition and a maximum, which the processor does for eight tags at once.
    """
    n_tags, width = Q.shape[1], Q.shape[2]
    for z in range(width):
        best[0, z] = E[0, z] if z < n_tags else floor
    level(best[0], floor, top)
    for i in range(1, n):
        if top[0] <= floor // 2:
            return False
        best_step(best[i - 1], Q[i if Q.shape[0] > 1 else 0], n_tags, E[i], best[i])
        level(best[i], floor, top)
    if top[0] <= floor // 2:
        return False
    z = 0
    while best[n - 1, z] != 0:  # the most, less the most of all
        z += 1
    y[n - 1] = z
    for i in range(n - 1, 0, -1):
        q, before = Q[i if Q.shape[0] > 1 else 0], best[i - 1]
        from_, most = 0, before[0] + q[0, z]
        for a in range(1, n_tags):
            new = before[a] + q[a, z]
            from_, most = (a, new) if new > most else (from_, most)  # no branch: which it is cannot be foreseen
        y[i - 1] = z = from_
    return True


@kernel
def best_chain_of_order_two(E, Q, T, n, floor, best, y):
    """The same where three tags in a row have a weight: best[i, b, z] is the most with b and z as the last two."""
    n_tags, width = Q.shape[1], Q.shape[2]
    whole = best.dtype.type
    q = Q[1 if Q.shape[0] > 1 else 0]
    for b in range(n_tags):
        for z in range(width):
            start = max(whole(E[0, b] + q[b, z]), whole(floor))
            best[1, b, z] = start + E[1, z]
    for i in range(2, n):
        if not level_all(best[i - 1], n_tags, floor):
            return False
        q = Q[i if Q.shape[0] > 1 else 0]
        for b in range(n_tags):
            row = best[i, b]
            for z in range(width):
                row[z] = best[i - 1, 0, b] + T[0, b, z]
            for a in range(1, n_tags):
                so_far, t = best[i - 1, a, b], T[a, b]
                for z in range(width):
                    new = whole(so_far + t[z])
                    row[z] = new if new > row[z] else row[z]
            for z in range(width):
                new = whole(row[z] + q[b, z])
                row[z] = (new if new > floor else whole(floor)) + E[i, z]
    if not level_all(best[n - 1], n_tags, floor):
        return False
    y[n - 2] = y[n - 1] = 0
    for z in range(n_tags):
        for b in range(n_tags):
            if best[n - 1, b, z] > best[n - 1, y[n - 2], y[n - 1]]:
                y[n - 2], y[n - 1] = b, z
    for i in range(n - 1, 1, -1):
        b, z, from_ = y[i - 1], y[i], 0
        for a in range(1, n_tags):
            if best[i - 1, a, b] + T[a, b, z] > best[i - 1, from_, b] + T[from_, b, z]:
                from_ = a
        y[i - 2] = from_
    return True


@part
def level_all(rows, n_tags, floor):
    """Take the largest sum of pairs of tags from all, but let none fall below the floor. Return whether there is one
    that may be."""
    top = rows[0, 0]
    for b in range(n_tags):
        for z in range(n_tags):
            top = max(top, rows[b, z])
    if top <= floor // 2:
        return False
    for b in range(n_tags):
        for z in range(rows.shape[1]):
            new = rows[b, z] - top
            rows[b, z] = new if new > floor else floor
    return True


@part
def decode(E, Q, T, n, floor, best, top, best_pairs, y):
    """The best chain of either order. Return whether there is one that may be."""
    if T is not None:
        if n > 1:
            return best_chain_of_order_two(E, Q, T, n, floor, best_pairs, y)
    return best_chain(E, Q, n, floor, best, top, y)


@part
def chain_score(E, Q, T, n, y):
    """<w, phi(x, y)> of the first n tags."""
    total = np.int64(E[0, y[0]])
    for i in range(1, n):
        total += np.int64(E[i, y[i]]) + Q[i if Q.shape[0] > 1 else 0, y[i - 1], y[i]]
        if T is not None:
            if i > 1:
                total += T[y[i - 2], y[i - 1], y[i]]
    return total
