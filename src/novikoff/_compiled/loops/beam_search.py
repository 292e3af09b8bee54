"""A good chain of tags: by beam search, with early update while learning.

    problem   argmax_y as in `loops.viterbi`, with no more than `width` prefixes of each length kept
    given     E, Q and T of a sentence, and while learning its tags y
    result    the best chain found; while learning, as soon as no prefix in the beam is one of y, the best prefix
    source    Collins and Roark 2004, section 3 (early update); Huang, Fayong and Guo 2012 (why it converges: every
              update is on a violation, a wrong prefix that scores no lower than the right one)

Prefixes that end in the same tag, or in the same two tags for chains of order two, have the same scores to come, so
only the best of them is kept. The state of a prefix is these tags as one number, the last tag first: z, or
z * tags + b. Of prefixes with equal scores the one with the lowest state wins, so that a beam that is wide enough finds
the chain that `loops.viterbi` finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop


class BeamBuffers(NamedTuple):
    """Memory for the beam search of one sentence.

    scores and parents have an element for each state: the best score of a prefix in this state, and the rank of the
    prefix that it extends. kept, kept_scores and kept_parents have a row for each token: the state, score and parent of
    every prefix in the beam, best first.
    """

    scores: np.ndarray
    parents: np.ndarray
    kept: np.ndarray
    kept_scores: np.ndarray
    kept_parents: np.ndarray


@inlined
def keep_best(scores, parents, width, kept, kept_scores, kept_parents):
    """Write the `width` best states that have a score, best first. Return how many there are."""
    count = 0
    for state in range(scores.size):
        if parents[state] >= 0 and (count < width or scores[state] > kept_scores[count - 1]):
            k = min(count, width - 1)
            count = k + 1
            while k > 0 and kept_scores[k - 1] < scores[state]:
                kept[k], kept_scores[k], kept_parents[k] = kept[k - 1], kept_scores[k - 1], kept_parents[k - 1]
                k -= 1
            kept[k], kept_scores[k], kept_parents[k] = state, scores[state], parents[state]
    return count


@inlined
def extend_prefixes(E, Q, T, i, neg_inf, n_before, before, before_scores, scores, parents):
    """Extend every prefix of the beam by every tag at token i: the best score of each state, and its parent."""
    n_tags = Q.shape[1]
    q = Q[i if Q.shape[0] > 1 else 0]
    is_second = T is not None
    for state in range(scores.size):
        parents[state] = -1
    for k in range(n_before):
        b, a = (before[k] // n_tags, before[k] % n_tags) if is_second else (before[k], 0)
        for z in range(n_tags):
            new = before_scores[k] + q[b, z] + E[i, z]
            if q[b, z] <= neg_inf // 2 or E[i, z] <= neg_inf // 2:
                continue
            if T is not None:
                if i > 1:
                    new += T[a, b, z]
            state = z * n_tags + b if is_second else z
            old = parents[state]
            if old < 0 or new > scores[state] or (new == scores[state] and before[k] < before[old]):
                scores[state], parents[state] = new, k


@inlined
def find_right_prefix(kept, kept_parents, count, tag, parent, n_tags, is_second):
    """Return the rank in the beam of the prefix that extends `parent` by this tag, or -1."""
    rank = -1
    for k in range(count):
        last = kept[k] // n_tags if is_second else kept[k]
        if last == tag and kept_parents[k] == parent:
            rank = k
    return rank


@loop
def search_beam(E, Q, T, n, neg_inf, is_learning, y, beam, guess):
    """Beam search. Return the number of tags in `guess`: n; while learning, the length of the first prefix of y that is
    not in the beam; 0 if no allowed chain exists."""
    scores, parents, kept, kept_scores, kept_parents = beam
    n_tags, width = Q.shape[1], kept.shape[1]
    is_second = T is not None
    for state in range(scores.size):
        parents[state] = -1
    for z in range(n_tags):
        if E[0, z] > neg_inf // 2:
            state = z * n_tags if is_second else z
            scores[state], parents[state] = E[0, z], 0
    right = 0  # the rank of the prefix of y
    count, length = 0, n
    for i in range(n):
        if i > 0:
            extend_prefixes(E, Q, T, i, neg_inf, count, kept[i - 1], kept_scores[i - 1], scores, parents)
        count = keep_best(scores, parents, width, kept[i], kept_scores[i], kept_parents[i])
        if count == 0:
            return 0
        if is_learning:
            right = find_right_prefix(kept[i], kept_parents[i], count, y[i], right, n_tags, is_second)
            if right < 0:
                length = i + 1
                break
    k = 0
    for i in range(length - 1, -1, -1):
        guess[i] = kept[i, k] // n_tags if is_second else kept[i, k]
        k = kept_parents[i, k]
    return length
