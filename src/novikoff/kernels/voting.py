"""The vote of every weight vector a perceptron ever had.

    problem   sum over k of c_k * vote(w_k, x), where vote is a sign (two classes) or a class (many)
    given     w_k = w_0 + the first k updates; products <x_s, x> of the stored rows with the query rows;
              the updates in order: which stored row, which step; c_0..c_k, the examples each vector survived
    result    votes added in place
    source    Freund & Schapire 1999, fig. 1, in the dual form of their section 4

The weight vectors themselves are never formed: a running sum of products is the score of each in turn.
"""

from __future__ import annotations

from novikoff._jit import kernel, part


@kernel
def binary_votes(products, slots, steps, survived, tie_sign, scores, votes):
    """votes[q] += sum_k survived[k] * sign(score of w_k on query q); a score of 0 votes tie_sign.

    `steps` carry the sign of the example; `scores` holds those of w_0 and is used up.
    """
    cast_binary(survived[0], tie_sign, scores, votes)
    for k in range(slots.size):
        scores += steps[k] * products[slots[k]]
        cast_binary(survived[k + 1], tie_sign, scores, votes)


@part
def cast_binary(weight, tie_sign, scores, votes):
    """Let one weight vector vote on every query."""
    for q in range(scores.size):
        if scores[q] > 0.0:
            votes[q] += weight
        elif scores[q] < 0.0:
            votes[q] -= weight
        else:
            votes[q] += weight * tie_sign


@kernel
def multiclass_votes(products, slots, steps, winners, rivals, survived, last_of_ties, scores, votes):
    """votes[c, q] += sum of survived[k] over the vectors k that put query q in class c."""
    cast_multiclass(survived[0], last_of_ties, scores, votes)
    for k in range(slots.size):
        change = steps[k] * products[slots[k]]
        scores[winners[k]] += change
        scores[rivals[k]] -= change
        cast_multiclass(survived[k + 1], last_of_ties, scores, votes)


@part
def cast_multiclass(weight, last_of_ties, scores, votes):
    """Let one set of class weights vote on every query; among equals the last class wins, or the first."""
    for q in range(scores.shape[1]):
        best = 0
        for c in range(1, scores.shape[0]):
            if scores[c, q] > scores[best, q] or (last_of_ties and scores[c, q] == scores[best, q]):
                best = c
        votes[best, q] += weight
