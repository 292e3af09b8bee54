"""The k best chains of tags: exactly, by dynamic programming over lists.

    problem   the k chains with the highest scores, as in `loops.viterbi`, best first
    given     E, Q and T of sentences
    result    chains and their scores; of equal ones the one whose last tag has the lowest number, then the last but one
    source    Seshadri and Sundberg 1994 (the parallel list Viterbi algorithm)

A state is the last tag, or for chains of order two the last two, with the last one first: state = z * tags + b. An
entry of a state's list is identified by state * k + rank.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.viterbi import add_end_penalties, fill_transitions


@inlined
def insert(score, source, scores, sources):
    """Insert a score into a list of the largest so far, after its equals. Return whether it was large enough."""
    k = scores.size - 1
    if sources[k] >= 0 and scores[k] >= score:
        return False
    while k > 0 and (sources[k - 1] < 0 or scores[k - 1] < score):
        scores[k], sources[k] = scores[k - 1], sources[k - 1]
        k -= 1
    scores[k], sources[k] = score, source
    return True


@inlined
def extend(before, before_sources, step, state, scores, sources):
    """Insert all chains that extend those of a state before, whose list is sorted, by a step of this score."""
    for r in range(before.size):
        if before_sources[r] < 0 or not insert(before[r] + step, state * before.size + r, scores, sources):
            break


@inlined
def fill_lists(E, Q, T, begin, n, neg_inf, scores, sources):
    """scores[i, state] are the largest scores of the first i + 1 tags that end in this state; sources[i, state] the
    entries of token i - 1 that they extend, and -1 where there are fewer."""
    n_tags = Q.shape[1]
    is_second = T is not None
    for i in range(n):
        for state in range(scores.shape[1]):
            for r in range(scores.shape[2]):
                sources[i, state, r] = -1
        q = Q[i if Q.shape[0] > 1 else 0]
        for z in range(n_tags):
            e = np.int64(E[begin + i, z])
            if e <= neg_inf // 2:
                continue
            if i == 0:
                state = z * n_tags if is_second else z
                scores[0, state, 0], sources[0, state, 0] = e, 0
                continue
            for b in range(n_tags):
                step = e + q[b, z]
                if q[b, z] <= neg_inf // 2:
                    continue
                if not is_second:
                    extend(scores[i - 1, b], sources[i - 1, b], step, b, scores[i, z], sources[i, z])
                    continue
                new = z * n_tags + b
                for a in range(n_tags if i > 1 else 1):
                    old = b * n_tags + a
                    third = np.int64(0)
                    if T is not None:
                        if i > 1:
                            third = T[a, b, z]
                    extend(scores[i - 1, old], sources[i - 1, old], step + third, old, scores[i, new], sources[i, new])


@inlined
def trace_back(source, sources, begin, n, states_per_tag, rank, tags):
    """Write the tags of the chain that ends in an entry, from the last to the first; -1 if there is no such entry."""
    k = sources.shape[2]
    for i in range(n - 1, -1, -1):
        if source < 0:
            tags[begin + i, rank] = -1
            continue
        state = source // k
        tags[begin + i, rank] = state // states_per_tag
        source = sources[i, state, source % k]


@loop
def list_sentences(starts, E, weights, T, penalties, longest, k, tags, best_scores):
    """Find the k best chains of every sentence: tags[i, r] is the tag of token i in the chain of rank r, -1 where there
    are fewer chains, and best_scores[s, r] its score. A sentence that has no allowed chain gets the best of all
    chains."""
    n_tags, width = weights.P.shape
    states_per_tag = 1 if T is None else n_tags
    n_states = n_tags * states_per_tag
    Q = np.empty((longest if weights.features.shape[1] > 0 else 1, n_tags, width), np.int64)
    scores, sources = np.empty((longest, n_states, k), np.int64), np.empty((longest, n_states, k), np.int32)
    top, top_sources = np.empty(k, np.int64), np.empty(k, np.int32)
    neg_inf = penalties.neg_inf
    for s in range(starts.size - 1):
        begin, end = starts[s], starts[s + 1]
        n = end - begin
        if n == 0:
            continue
        add_end_penalties(E, begin, end, penalties.ends, 1)
        for attempt in range(2):  # with constraints, then without
            pairs = penalties.pairs if attempt == 0 else penalties.pairs[:0]
            fill_transitions(weights, pairs, begin, n, neg_inf, Q)
            fill_lists(E, Q, T, begin, n, neg_inf, scores, sources)
            top_sources[:] = -1
            for state in range(n_states):
                extend(scores[n - 1, state], sources[n - 1, state], 0, state, top, top_sources)
            if top_sources[0] >= 0:
                break
            add_end_penalties(E, begin, end, penalties.ends, -1)
        for r in range(k):
            best_scores[s, r] = top[r]
            trace_back(top_sources[r], sources, begin, n, states_per_tag, r, tags)
