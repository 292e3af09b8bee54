"""A good chain of tags: by beam search, and where it loses sight of the right one.

    problem   argmax_y as in `kernels.decoding`, looking at no more than `width` beginnings of each length
    given     E, Q and T of a sentence, and while learning its tags y
    result    the best chain found; or, as soon as none of the beginnings kept is that of y, the best of them
    source    Collins and Roark 2004, section 3 (early update); Huang, Fayong and Guo 2012 (why it converges: what is
              updated on is always a violation, a wrong beginning that scores no lower than the right one)

Of beginnings that nothing to come can tell apart, since they end in the same tag, or in the same two for chains of
order two, only the best is kept. Keys are these tags as one number, the last tag first: of equals the lowest is best,
so that a beam that is wide enough finds what `decoding` finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import kernel, part


class Beam(NamedTuple):
    """Memory for the work on one sentence: of every key the score and the beginning it goes on from; and of every
    beginning kept, at every token, its key, score and the one it goes on from."""

    scores: np.ndarray
    froms: np.ndarray
    kept: np.ndarray
    kept_scores: np.ndarray
    kept_froms: np.ndarray


@part
def keep_best(scores, froms, width, kept, kept_scores, kept_froms):
    """The `width` best keys, best first, of those that have a score. Return how many there are."""
    count = 0
    for key in range(scores.size):
        if froms[key] >= 0 and (count < width or scores[key] > kept_scores[count - 1]):
            k = min(count, width - 1)
            count = k + 1
            while k > 0 and kept_scores[k - 1] < scores[key]:
                kept[k], kept_scores[k], kept_froms[k] = kept[k - 1], kept_scores[k - 1], kept_froms[k - 1]
                k -= 1
            kept[k], kept_scores[k], kept_froms[k] = key, scores[key], froms[key]
    return count


@part
def go_on(E, Q, T, i, floor, n_before, before, before_scores, scores, froms):
    """Every beginning that was kept, with every tag: of each key the best score, and the one it goes on from."""
    n_tags = Q.shape[1]
    q = Q[i if Q.shape[0] > 1 else 0]
    is_second = T is not None
    for key in range(scores.size):
        froms[key] = -1
    for k in range(n_before):
        b, a = (before[k] // n_tags, before[k] % n_tags) if is_second else (before[k], 0)
        for z in range(n_tags):
            new = before_scores[k] + q[b, z] + E[i, z]
            if q[b, z] <= floor // 2 or E[i, z] <= floor // 2:
                continue
            if T is not None:
                if i > 1:
                    new += T[a, b, z]
            key = z * n_tags + b if is_second else z
            old = froms[key]
            if old < 0 or new > scores[key] or (new == scores[key] and before[k] < before[old]):
                scores[key], froms[key] = new, k


@kernel
def beam_chain(E, Q, T, n, floor, is_learning, y, beam, guess):
    """Beam search. Return how many tags the guess has: n; while learning, as many as it takes to lose sight of y; 0 if
    there is no chain that may be."""
    scores, froms, kept, kept_scores, kept_froms = beam
    n_tags, width = Q.shape[1], kept.shape[1]
    is_second = T is not None
    for key in range(scores.size):
        froms[key] = -1
    for z in range(n_tags):
        if E[0, z] > floor // 2:
            key = z * n_tags if is_second else z
            scores[key], froms[key] = E[0, z], 0
    right = 0  # which of those kept is the beginning of y
    count, m = 0, n
    for i in range(n):
        if i > 0:
            go_on(E, Q, T, i, floor, count, kept[i - 1], kept_scores[i - 1], scores, froms)
        count = keep_best(scores, froms, width, kept[i], kept_scores[i], kept_froms[i])
        if count == 0:
            return 0
        if is_learning:
            found = -1
            for k in range(count):
                last = kept[i, k] // n_tags if is_second else kept[i, k]
                if last == y[i] and kept_froms[i, k] == right:
                    found = k
            right = found
            if found < 0:
                m = i + 1
                break
    k = 0
    for i in range(m - 1, -1, -1):
        guess[i] = kept[i, k] // n_tags if is_second else kept[i, k]
        k = kept_froms[i, k]
    return m
