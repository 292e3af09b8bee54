"""The best few chains of tags: exactly, by dynamic programming over lists.

    problem   the k chains with the highest sums, as in `kernels.decoding`, best first
    given     E, Q and T of sentences
    result    chains and their sums; of equal ones the one whose last tag has the lowest number, then the last but one
    source    Seshadri and Sundberg 1994 (the parallel list Viterbi algorithm)

A state is the last tag, or for chains of order two the last two, with the last one first: state = z * tags + b.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.viterbi import add_links, bar_ends


@part
def enter(score, source, sums, sources):
    """Put a sum into a list of the largest so far, behind its equals. Return whether it was large enough."""
    k = sums.size - 1
    if sources[k] >= 0 and sums[k] >= score:
        return False
    while k > 0 and (sources[k - 1] < 0 or sums[k - 1] < score):
        sums[k], sources[k] = sums[k - 1], sources[k - 1]
        k -= 1
    sums[k], sources[k] = score, source
    return True


@part
def extend(before, sources, step, state, sums, froms):
    """Enter all that goes on from a state before, its list being in order."""
    for r in range(before.size):
        if sources[r] < 0 or not enter(before[r] + step, state * before.size + r, sums, froms):
            break


@part
def fill_lists(E, Q, T, begin, n, floor, sums, froms):
    """sums[i, state] are the largest sums of the first i + 1 tags that end in this state; froms where they came from,
    state * k + rank, and -1 where there are fewer."""
    n_tags = Q.shape[1]
    is_second = T is not None
    for i in range(n):
        for state in range(sums.shape[1]):
            for r in range(sums.shape[2]):
                froms[i, state, r] = -1
        q = Q[i if Q.shape[0] > 1 else 0]
        for z in range(n_tags):
            e = np.int64(E[begin + i, z])
            if e <= floor // 2:
                continue
            if i == 0:
                state = z * n_tags if is_second else z
                sums[0, state, 0], froms[0, state, 0] = e, 0
                continue
            for b in range(n_tags):
                step = e + q[b, z]
                if q[b, z] <= floor // 2:
                    continue
                if not is_second:
                    extend(sums[i - 1, b], froms[i - 1, b], step, b, sums[i, z], froms[i, z])
                    continue
                here = z * n_tags + b
                for a in range(n_tags if i > 1 else 1):
                    there = b * n_tags + a
                    third = np.int64(0)
                    if T is not None:
                        if i > 1:
                            third = T[a, b, z]
                    extend(sums[i - 1, there], froms[i - 1, there], step + third, there, sums[i, here], froms[i, here])


@kernel
def list_sentences(starts, E, P, T, barred, ends, links, rows_after, row_of, W, floor, longest, k, tags, scores):
    """The k best chains of every sentence: tags[i, r] is the tag of token i in the chain of rank r, -1 where there are
    not so many, and scores[s, r] its sum. Where no chain may be, none is barred."""
    n_tags = P.shape[0]
    n_states = n_tags if T is None else n_tags * n_tags
    Q = np.empty((longest if links.shape[1] > 0 else 1, n_tags, P.shape[1]), np.int64)
    sums, froms = np.empty((longest, n_states, k), np.int64), np.empty((longest, n_states, k), np.int32)
    top, sources = np.empty(k, np.int64), np.empty(k, np.int32)
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        n = end - begin
        if n == 0:
            continue
        add_links(P, barred, links, begin, n, rows_after, row_of, W, floor, Q)
        bar_ends(E, begin, end, ends, 1)
        fill_lists(E, Q, T, begin, n, floor, sums, froms)
        for turn in range(2):
            sources[:] = -1
            for state in range(n_states):
                extend(sums[n - 1, state], froms[n - 1, state], 0, state, top, sources)
            if sources[0] >= 0 or turn == 1:
                break
            add_links(P, barred[:0], links, begin, n, rows_after, row_of, W, floor, Q)
            bar_ends(E, begin, end, ends, -1)
            fill_lists(E, Q, T, begin, n, floor, sums, froms)
        for r in range(k):
            scores[s, r] = top[r]
            source = sources[r]
            for i in range(n - 1, -1, -1):
                if source < 0:
                    tags[begin + i, r] = -1
                    continue
                state = source // k
                tags[begin + i, r] = state if T is None else state // n_tags
                source = froms[i, state, source % k]
