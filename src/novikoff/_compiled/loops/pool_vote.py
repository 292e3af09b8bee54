"""The vote of the rule "auto": a weighted majority of eight candidates, which share weight after its own mistakes.

    problem   err hardly more often than the best of K = 8 candidates, whichever that turns out to be
    given     scores of the candidates for each class; their weights h_i, at first 1/8
    result    the class with the largest weight behind it; the weights after the row, in place
    source    Littlestone & Warmuth 1994; sharing: Herbster & Warmuth 1998

Every candidate that errs: h_i *= e^-eta; then all are divided by their sum. If the vote erred, they share weight:
h = (1 - eps) h + eps / K.

Theorem. On any stream, for any number of classes and every candidate i with m_i mistakes, the vote makes at most
(eta m_i + ln K) / (ln(2 / (1 + e^-eta)) - ln(1 / (1 - eps))) mistakes; for eta = 0.3 and eps = 0.01, 2.33 m_i + 16.2.
"""

from __future__ import annotations

import math

from novikoff._compiled import inlined_exactly
from novikoff._compiled.loops.additive import find_strongest_rival, judge

__all__ = ["N_CANDIDATES", "SHARE", "VOTE_RATE"]

N_CANDIDATES = 8
VOTE_RATE = 0.3  # eta
SHARE = 0.01  # eps
DISCOUNT = math.exp(-VOTE_RATE)


@inlined_exactly
def cast_votes(scores, votes_so_far, tie, votes):
    """votes[k] = the weight of the candidates that answer class k; of two classes, votes[0] is the difference."""
    for k in range(votes.shape[0]):
        votes[k] = 0.0
    for c in range(N_CANDIDATES):
        h = votes_so_far[0, c]
        if scores.shape[1] == 1:
            s = scores[c, 0]
            votes[0] += h if s > 0.0 or (s == 0.0 and tie >= 0) else -h
        else:
            votes[find_strongest_rival(scores[c], -1, tie)] += h


@inlined_exactly
def update_vote(scores, code, tie, is_mistake, votes_so_far):
    """Update the weights h of the candidates, and count their mistakes, after the vote has answered.

    Row 0 of `votes_so_far` has the weights, row 1 the mistakes.
    """
    total = 0.0
    for c in range(N_CANDIDATES):
        if judge(scores[c], code, tie)[1]:
            votes_so_far[1, c] += 1.0
            votes_so_far[0, c] *= DISCOUNT
        total += votes_so_far[0, c]
    for c in range(N_CANDIDATES):
        votes_so_far[0, c] /= total
        if is_mistake:
            votes_so_far[0, c] = (1.0 - SHARE) * votes_so_far[0, c] + SHARE / N_CANDIDATES
