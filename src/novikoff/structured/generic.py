"""StructuredPerceptron: Collins' algorithm for any problem whose best structure can be found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from novikoff.errors import DataError
from novikoff.perceptron.ledger import Trace
from novikoff.structured.ledger import StructuredLedger
from novikoff.structured.parameters import one_of, whole
from novikoff.structured.reentry import require_free
from novikoff.structured.vectors import Vector, vector_for
from novikoff.system.threads import Lock

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

    Threads may share a perceptron, if they may share the problem: those that learn wait for one another, and those that
    ask meanwhile are answered by what was known before. Learning that fails or is interrupted changes nothing.

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
        self,
        problem: Problem,
        *,
        max_iter: int = 10,
        hypothesis: str = "averaged",
        order: str = "given",
        random_state: int = 0,
    ) -> None:
        for verb in ("features", "best"):
            if not callable(getattr(problem, verb, None)):
                raise DataError(
                    f"A problem has features(x, y) and best(weights, x); {type(problem).__name__} has no {verb}."
                )
        self.problem = problem
        self.max_iter = whole("max_iter", max_iter, 1, 2**31)
        self.hypothesis = one_of("hypothesis", hypothesis, ("averaged", "last"))
        self.order = one_of("order", order, ("given", "shuffled"))
        self.random_state = whole("random_state", random_state, 0, 2**32 - 1)
        self._run, self._learning = _Run(), Lock()

    def fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Learn from nothing: `max_iter` passes, or until one makes no mistake."""
        _require_pairs(X, Y)
        require_free(self._learning, self)
        with self._learning:
            run = _Run()
            for order in self._orders(len(X)):
                if not run.learn(self.problem, ((X[i], Y[i]) for i in order)):
                    break
            self._run = run
        return self

    def passes(self, X: Sequence[Any], Y: Sequence[Any]) -> Iterator[int]:
        """Learn from nothing, pass by pass: yields the mistakes of each. In between the perceptron can be tried out."""
        _require_pairs(X, Y)
        is_first = True
        for order in self._orders(len(X)):
            require_free(self._learning, self)
            with self._learning:
                run = _Run() if is_first else self._run.copy()
                mistakes = run.learn(self.problem, ((X[i], Y[i]) for i in order))
                self._run, is_first = run, False
            yield mistakes
            if not mistakes:
                break

    def _orders(self, n: int) -> Iterator[list[int]]:
        """In which order each pass takes n examples."""
        rng = np.random.default_rng(self.random_state)
        for _ in range(self.max_iter):
            yield (rng.permutation(n) if self.order == "shuffled" else np.arange(n)).tolist()

    def partial_fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Go on: once through these examples, in this order.

        Several threads may learn: each call waits for the one before it. If it fails or is interrupted, nothing has
        been learned.
        """
        _require_pairs(X, Y)
        require_free(self._learning, self)
        with self._learning:
            run = self._run.copy()
            run.learn(self.problem, zip(X, Y, strict=True))
            self._run = run
        return self

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
        run = self._run
        if run.vector is None:
            raise DataError("This perceptron has not learned yet: call fit or partial_fit first.")
        return run.vector.now if self.hypothesis == "last" else run.vector.mean(run.examples)

    @property
    def ledger_(self) -> StructuredLedger:
        """The account of mistakes."""
        run = self._run
        return StructuredLedger(
            examples=run.examples,
            mistakes=run.mistakes,
            updates=run.mistakes,
            passes=run.passes,
            radius=float(np.sqrt(run.squared_radius)),
            norm=0.0 if run.vector is None else run.vector.norm,
            step_sum=float(run.mistakes),
            trace=run.trace.copy(),
            n_weights=0 if run.vector is None else len(run.vector),
        )

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle. A copy, deep or not, learns by itself: no run is changed once it is that of a
        perceptron."""
        return {**self.__dict__, "_learning": Lock()}


@dataclass(eq=False)
class _Run:
    """What a perceptron has learned. A copy learns on, and then takes the place of the first, so that threads that read
    one see it whole."""

    vector: Vector | None = None
    examples: int = 0
    mistakes: int = 0
    passes: int = 0
    squared_radius: float = 0.0
    trace: Trace = field(default_factory=Trace)

    def copy(self) -> _Run:
        return replace(self, vector=None if self.vector is None else self.vector.copy(), trace=self.trace.copy())

    def learn(self, problem: Problem, examples: Iterable[tuple[Any, Any]]) -> int:
        """Learn from each in turn; return the mistakes made."""
        before = self.mistakes
        for x, y in examples:
            self._learn_one(problem, x, y)
        self.passes += 1
        return self.mistakes - before

    def _learn_one(self, problem: Problem, x: Any, y: Any) -> None:
        vector = self.vector
        if vector is None:
            vector = self.vector = vector_for(problem, x, y)
        guess = problem.best(vector.now, x)
        self.examples += 1
        if not _same(guess, y):
            right, wrong = problem.features(x, y), problem.features(x, guess)
            squared = vector.add_difference(right, wrong, self.examples - 1)
            self.mistakes += 1
            self.squared_radius = max(self.squared_radius, squared)
            self.trace.add_one(self.mistakes, self.examples, self.mistakes, vector.norm)


def _require_pairs(X: Sequence[Any], Y: Sequence[Any]) -> None:
    if len(X) != len(Y):
        raise DataError(f"There are {len(X):,} examples, but {len(Y):,} structures for them.")
    if not len(X):
        raise DataError("There are no examples.")


def _same(one: Any, other: Any) -> bool:
    found = one == other
    return bool(np.array_equal(one, other)) if isinstance(found, np.ndarray) else bool(found)
