"""StructuredPerceptron: Collins' algorithm for any problem whose best structure can be found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np

from novikoff.errors import DataError
from novikoff.ledger import Trace
from novikoff.structured.account import StructuredLedger
from novikoff.structured.parameters import one_of, whole
from novikoff.structured.vectors import Vector, vector_for

__all__ = ["Problem", "StructuredPerceptron"]


class Problem(Protocol):
    """What the learner must know of a structure, and all it needs to know.

    `features(x, y)` counts what is in the structure y: a dict of names and numbers; an array of numbers, always of the
    same shape; or, if the problem says in `size` how many weights there are, an array of whole numbers, the places that
    count one each. `best(weights, x)` is the structure with the highest <weights, features(x, y)>, where weights are a
    dict, in which names never met have weight 0, or an array. Structures are compared by ==, or as arrays.
    """

    def features(self, x: Any, y: Any) -> Any:
        """phi(x, y)."""

    def best(self, weights: Any, x: Any) -> Any:
        """argmax_y <weights, phi(x, y)>."""


class StructuredPerceptron:
    """Learns to find structures: whatever can be said in features and searched for the best.

        y^ = problem.best(w, x)
        if y^ != y:   w <- w + phi(x, y) - phi(x, y^)

    If some unit vector u has <u, phi(x, y) - phi(x, z)> >= gamma for all examples and all other structures z, there are
    at most (R / gamma)^2 mistakes, with R the longest phi(x, y) - phi(x, y^), however many structures there are.

    Parameters
    ----------
    problem : object with `features(x, y)` and `best(weights, x)`; see `Problem`
    max_iter : int
        Most passes. `fit` ends early if a pass makes no mistake.
    hypothesis : {"averaged", "last"}
        Which weights answer: the mean of those after every example, or the last ones.
    order : {"given", "shuffled"}
    random_state : int
        Seed of the shuffling.

    Attributes
    ----------
    weights_ : dict or ndarray
        Those that answer.
    ledger_ : StructuredLedger

    References
    ----------
    M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002.

    Examples
    --------
    Put words into the order of a telephone book, and learn the order from examples:

    >>> from itertools import permutations
    >>> import novikoff as nk
    >>> class Ordering:
    ...     def features(self, x, y):
    ...         return {first + "<" + second: 1 for first, second in zip(y, y[1:])}
    ...     def best(self, weights, x):
    ...         return max(permutations(x), key=lambda y: sum(weights[name] for name in self.features(x, y)))
    >>> model = nk.StructuredPerceptron(Ordering()).fit([("b", "a"), ("c", "b"), ("b", "c", "a")],
    ...                                                 [("a", "b"), ("b", "c"), ("a", "b", "c")])
    >>> model.predict([("c", "a", "b")]), model.ledger_.mistakes
    ([('a', 'b', 'c')], 2)
    """

    def __init__(
        self, problem: Problem, *, max_iter: int = 10, hypothesis: str = "averaged", order: str = "given",
        random_state: int = 0,
    ) -> None:  # fmt: skip
        for verb in ("features", "best"):
            if not callable(getattr(problem, verb, None)):
                raise DataError(f"A problem has features(x, y) and best(weights, x); {type(problem).__name__} has no "
                                f"{verb}.")  # fmt: skip
        self.problem = problem
        self.max_iter = whole("max_iter", max_iter, 1, 2**31)
        self.hypothesis = one_of("hypothesis", hypothesis, ("averaged", "last"))
        self.order = one_of("order", order, ("given", "shuffled"))
        self.random_state = whole("random_state", random_state, 0, 2**32 - 1)
        self._forget()

    def _forget(self) -> None:
        self._vector: Vector | None = None
        self._examples = self._mistakes = self._passes = 0
        self._squared_radius = 0.0
        self._trace = Trace()

    def fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Learn from nothing: `max_iter` passes, or until one makes no mistake."""
        for _ in self.passes(X, Y):
            pass
        return self

    def passes(self, X: Sequence[Any], Y: Sequence[Any]) -> Iterator[int]:
        """The same, pass by pass: yields the mistakes of each."""
        _require_pairs(X, Y)
        self._forget()
        rng = np.random.default_rng(self.random_state)
        for _ in range(self.max_iter):
            order = rng.permutation(len(X)) if self.order == "shuffled" else np.arange(len(X))
            before = self._mistakes
            self._learn((X[i], Y[i]) for i in order.tolist())
            yield self._mistakes - before
            if self._mistakes == before:
                break

    def partial_fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Go on: once through these examples, in this order."""
        _require_pairs(X, Y)
        self._learn(zip(X, Y, strict=True))
        return self

    def _learn(self, examples: Iterable[tuple[Any, Any]]) -> None:
        for x, y in examples:
            self._learn_one(x, y)
        self._passes += 1

    def _learn_one(self, x: Any, y: Any) -> None:
        vector = self._vector
        if vector is None:
            vector = self._vector = vector_for(self.problem, x, y)
        guess = self.problem.best(vector.now, x)
        self._examples += 1
        if not _same(guess, y):
            right, wrong = self.problem.features(x, y), self.problem.features(x, guess)
            squared = vector.add_difference(right, wrong, self._examples - 1)
            self._mistakes += 1
            self._squared_radius = max(self._squared_radius, squared)
            self._trace.add_one(self._mistakes, self._examples, self._mistakes, vector.norm)

    def predict(self, X: Iterable[Any]) -> list[Any]:
        """The best structure for each x."""
        weights = self.weights_
        return [self.problem.best(weights, x) for x in X]

    def score(self, X: Sequence[Any], Y: Sequence[Any]) -> float:
        """The share of structures that are right as a whole."""
        _require_pairs(X, Y)
        return sum(map(_same, self.predict(X), Y)) / len(X)

    @property
    def weights_(self) -> Any:
        """The weights that answer."""
        if self._vector is None:
            raise DataError("This perceptron has not learned yet: call fit or partial_fit first.")
        return self._vector.now if self.hypothesis == "last" else self._vector.mean(self._examples)

    @property
    def ledger_(self) -> StructuredLedger:
        """The account of mistakes."""
        vector = self._vector
        return StructuredLedger(
            examples=self._examples,
            mistakes=self._mistakes,
            updates=self._mistakes,
            passes=self._passes,
            radius=float(np.sqrt(self._squared_radius)),
            norm=0.0 if vector is None else vector.norm,
            step_sum=float(self._mistakes),
            trace=self._trace.copy(),
            n_weights=0 if vector is None else len(vector),
        )


def _require_pairs(X: Sequence[Any], Y: Sequence[Any]) -> None:
    if len(X) != len(Y):
        raise DataError(f"There are {len(X):,} examples, but {len(Y):,} structures for them.")
    if not len(X):
        raise DataError("There are no examples.")


def _same(one: Any, other: Any) -> bool:
    found = one == other
    return bool(np.array_equal(one, other)) if isinstance(found, np.ndarray) else bool(found)
