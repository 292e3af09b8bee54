"""Iterative parameter mixing as McDonald, Hall and Mann (2010, fig. 3) print it, with every weight vector kept.

A round: each of S learners starts from the same weights and goes once through its own rows; the new weights are the
mean of theirs, weighted by mu. Rows are folded, labels are the signs -1 and +1.
"""

from dataclasses import dataclass, field

import numpy as np

from tests.reference.perceptron import is_mistake


@dataclass
class Rounds:
    """The weights after the last round, and what happened on the way."""

    w: np.ndarray
    vectors: list[np.ndarray] = field(default_factory=list)  # after each example of each learner
    mistakes: int = 0
    weighted_mistakes: float = 0.0


def run_rounds(shards, shares_of_rounds, n_features, ties="mistake"):
    """Learn from shards [(rows, signs), ...]; each round has its own shares, one for each shard."""
    rounds = Rounds(np.zeros(n_features))
    for shares in shares_of_rounds:
        ends = []
        for (rows, signs), share in zip(shards, shares, strict=True):
            w = rounds.w.copy()
            for x, y in zip(rows, signs, strict=True):
                if is_mistake(float(w @ x), y, ties):
                    w = w + y * x
                    rounds.mistakes += 1
                    rounds.weighted_mistakes += share
                rounds.vectors.append(w.copy())
            ends.append(w)
        rounds.w = sum(share * w for share, w in zip(shares, ends, strict=True))
    return rounds


def mean_vector(rounds):
    """The mean of the weights after every example: what the averaged hypothesis answers with."""
    return np.mean(rounds.vectors, axis=0)
