"""Candidates: the learners that vote under the rule "auto", and their record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Candidate", "CandidateTrace"]


class Candidate(NamedTuple):
    """One of the learners that vote under the rule "auto".

    Attributes
    ----------
    name : str
    mistakes : int
        How often it has been wrong, on examples that it had not learned from yet.
    weight : float
        Its share of the vote on the next example; all shares together are 1.
    """

    name: str
    mistakes: int
    weight: float


class CandidateTrace(NamedTuple):
    """Candidates along a run, after every so many examples.

    Attributes
    ----------
    examples : ndarray of shape (n_points,)
        The number of examples so far.
    weights, mistakes : ndarray of shape (n_points, n_candidates)
        Of each candidate, after them.
    mistakes_of_vote : ndarray of shape (n_points,)
    """

    examples: np.ndarray
    weights: np.ndarray
    mistakes: np.ndarray
    mistakes_of_vote: np.ndarray
