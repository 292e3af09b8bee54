"""Candidate: one of the learners that vote under the rule "auto", and its record."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Candidate"]


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
