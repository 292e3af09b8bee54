"""Hypotheses: which of the weight vectors along a run answers when it is asked.

    last       the one that is left                       f(x) = <w, x>
    averaged   their mean, weighted by survival           f(x) = sum_k c_k <w_k, x> / n     memory: two vectors
    voted      all of them vote                           f(x) = sum_k c_k sign <w_k, x> / n
    pocket     the one with the longest run of right answers (Gallant 1990)

c_k is the number of examples that w_k survived. None of them changes how learning goes on: that is always from the
raw weights. Voting and averaging turn an online learner into a batch one with a guarantee: Freund & Schapire 1999,
theorem 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from novikoff.errors import RuleError

if TYPE_CHECKING:
    import numpy as np

    from novikoff.inputs.rows import Rows
    from novikoff.perceptron.state import State
    from novikoff.perceptron.weights import Weights

__all__ = ["Averaged", "Hypothesis", "Last", "Pocket", "Voted", "resolve"]


class Hypothesis(Protocol):
    """What a learner asks of a hypothesis."""

    averages: bool  # needs State.sums
    pockets: bool  # needs State.pocket
    remembers: bool  # needs State.history

    def weights(self, state: State) -> Weights | None:
        """The weight vector that answers, or None if there is no single one."""
        ...

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        """(rows,) for two classes, positive for the second; (rows, classes) for many."""
        ...


class _Linear(ABC):
    """A hypothesis that is one weight vector."""

    averages = pockets = remembers = False

    @abstractmethod
    def weights(self, state: State) -> Weights: ...

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        return self.weights(state).scores(rows, constant)


@dataclass(frozen=True)
class Last(_Linear):
    """The weights as the last update left them."""

    def weights(self, state: State) -> Weights:
        return state.raw


@dataclass(frozen=True)
class Averaged(_Linear):
    """The mean of the weights after each example (Freund & Schapire 1999; lazily, as in Daume 2006)."""

    averages = True

    def weights(self, state: State) -> Weights:
        return state.mean_weights()


@dataclass(frozen=True)
class Pocket(_Linear):
    """The weights with the longest run of right answers so far (Gallant 1990).

    While `fit` cycles through a data set, each pass puts forward its longest runner, and the one with the fewest
    errors on the whole set stays in the pocket: his ratchet, checked once a pass.
    """

    pockets = True

    def weights(self, state: State) -> Weights:
        return state.longest_runner()


@dataclass(frozen=True)
class Voted:
    """Every weight vector votes, as often as it survived an example (Freund & Schapire 1999, fig. 1).

    Memory grows with the mistakes: it keeps the rows they were made on.
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
    """The hypothesis of this name; a value is itself."""
    if not isinstance(hypothesis, str):
        return hypothesis
    if hypothesis not in _BY_NAME:
        raise RuleError(f"Unknown hypothesis {hypothesis!r}. The names are {', '.join(map(repr, NAMES))}.")
    return _BY_NAME[hypothesis]
