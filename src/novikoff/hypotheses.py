"""Hypotheses: which of the weight vectors along a run gives the answers.

    last       the last one                                           f(x) = <w, x>
    averaged   their mean, weighted by survival counts                f(x) = sum_k c_k <w_k, x> / n
    voted      all of them vote                                       f(x) = sum_k c_k sign <w_k, x> / n
    pocket     the one with the longest run of correct answers        (Gallant 1990)

c_k is the survival count of w_k: the number of examples for which it was in force. A hypothesis does not change how
learning goes on, which is always from the last weights. Averaging needs the memory of two vectors, voting that of all
rows updated on. Both turn an online learner into a batch learner with a guarantee: Freund & Schapire 1999, theorem 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from novikoff.errors import RuleError

if TYPE_CHECKING:
    import numpy as np

    from novikoff.inputs.rows import Rows
    from novikoff.perceptron.state import State
    from novikoff.perceptron.weights import Weights

__all__ = ["Averaged", "Hypothesis", "HypothesisName", "Last", "Pocket", "Voted", "resolve"]

HypothesisName: TypeAlias = Literal["last", "averaged", "voted", "pocket"]


class Hypothesis(Protocol):
    """What a learner needs of a hypothesis."""

    averages: bool  # needs State.sums
    pockets: bool  # needs State.pocket
    remembers: bool  # needs State.history

    def weights(self, state: State) -> Weights | None:
        """Return the weight vector that answers, or None if there is no single one."""
        ...

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        """Return scores (rows,) for two classes, positive for the second; (rows, classes) for more."""
        ...


class _LinearHypothesis(ABC):
    """A hypothesis that answers by one weight vector."""

    averages = pockets = remembers = False

    @abstractmethod
    def weights(self, state: State) -> Weights: ...

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        return self.weights(state).scores(rows, constant)


@dataclass(frozen=True)
class Last(_LinearHypothesis):
    """The weights after the last update."""

    def weights(self, state: State) -> Weights:
        return state.raw


@dataclass(frozen=True)
class Averaged(_LinearHypothesis):
    """The mean of the weights after each example (Freund & Schapire 1999; computed lazily, as in Daume 2006)."""

    averages = True

    def weights(self, state: State) -> Weights:
        return state.mean_weights()


@dataclass(frozen=True)
class Pocket(_LinearHypothesis):
    """The weights with the longest run of correct answers so far (Gallant 1990).

    `fit` makes passes over a data set. After each, the weights with its longest run are tried on the whole set, and
    they replace those in the pocket only if they make fewer errors: Gallant's ratchet, checked once a pass.
    """

    pockets = True

    def weights(self, state: State) -> Weights:
        return state.longest_run_weights()


@dataclass(frozen=True)
class Voted:
    """All weight vectors vote, each with its survival count as weight (Freund & Schapire 1999, fig. 1).

    Memory grows with the updates: it keeps the rows they were made on.
    """

    averages = pockets = False
    remembers = True

    def weights(self, state: State) -> None:
        return None

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        return state.votes(rows, constant=constant, tie=tie)


_BY_NAME: dict[str, Hypothesis] = {
    "last": Last(),
    "averaged": Averaged(),
    "voted": Voted(),
    "pocket": Pocket(),
}

NAMES = tuple(_BY_NAME)


def resolve(hypothesis: str | Hypothesis) -> Hypothesis:
    """Return the hypothesis with this name; a hypothesis is returned as it is."""
    if not isinstance(hypothesis, str):
        return hypothesis
    if hypothesis not in _BY_NAME:
        raise RuleError(f"Unknown hypothesis {hypothesis!r}. The names are {', '.join(map(repr, NAMES))}.")
    return _BY_NAME[hypothesis]
