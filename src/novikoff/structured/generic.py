"""StructuredPerceptron: Collins' algorithm for any structure that can be searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self

import numpy as np

from novikoff.errors import DataError
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.structured.ledger import StructuredLedger
from novikoff.structured.parameters import check_choice, check_integer
from novikoff.structured.vectors import AveragedVector, make_vector
from novikoff.system.exclusive import refuse_reentry
from novikoff.system.threads import Lock

__all__ = ["Problem", "StructuredPerceptron"]


class Problem(Protocol):
    """What `StructuredPerceptron` needs to know about a structure.

    `features(x, y)` returns the features of the structure y: a dict from names to numbers; an array of numbers, always
    of the same shape; or, if the problem has an attribute `size`, the number of weights, an array of integers, the
    indices of features that count one each. `best(weights, x)` returns the structure with the highest
    <weights, features(x, y)>, where weights are an array, or a dict in which names never seen have weight 0. Structures
    are compared by ==, or as arrays.
    """

    def features(self, x: Any, y: Any) -> Any:
        """Return phi(x, y)."""

    def best(self, weights: Any, x: Any) -> Any:
        """Return argmax_y <weights, phi(x, y)>."""


class StructuredPerceptron:
    """Collins' perceptron for any structure that has features and can be searched for the best.

        y^ = problem.best(w, x)
        if y^ != y:   w <- w + phi(x, y) - phi(x, y^)

    If some unit vector u has <u, phi(x, y) - phi(x, z)> >= gamma for all examples and all other structures z, there are
    at most (R / gamma)^2 mistakes, with R the longest phi(x, y) - phi(x, y^), however many structures there are.

    Threads may share a perceptron, if they may share the problem: calls that learn wait for one another, and calls that
    predict meanwhile use the weights from before. Learning that fails or is interrupted changes nothing.

    Parameters
    ----------
    problem : object with `features(x, y)` and `best(weights, x)`; see `Problem`
    max_iter : int
        The maximal number of passes. `fit` ends early if a pass makes no mistake.
    hypothesis : {"averaged", "last"}
        Which weights predict: the mean of those after every example, or the last ones.
    order : {"given", "shuffled"}
        Of the examples in each pass of `fit`.
    random_state : int
        Seed of the shuffling.

    Attributes
    ----------
    weights_ : dict or ndarray
        Those that predict.
    ledger_ : StructuredLedger
        Mistakes, R, |w| and the bounds that follow.

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
        hypothesis: Literal["averaged", "last"] = "averaged",
        order: Literal["given", "shuffled"] = "given",
        random_state: int = 0,
    ) -> None:
        for method in ("features", "best"):
            if not callable(getattr(problem, method, None)):
                raise DataError(
                    f"A problem has features(x, y) and best(weights, x); {type(problem).__name__} has no {method}."
                )
        self.problem = problem
        self.max_iter = check_integer("max_iter", max_iter, 1, 2**31)
        self.hypothesis = check_choice("hypothesis", hypothesis, ("averaged", "last"))
        self.order = check_choice("order", order, ("given", "shuffled"))
        self.random_state = check_integer("random_state", random_state, 0, 2**32 - 1)
        self._state, self._learning_lock = _PerceptronState(), Lock()

    def fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Learn from zero weights: `max_iter` passes, or until one makes no mistake."""
        _require_pairs(X, Y)
        refuse_reentry(self._learning_lock, self)
        with self._learning_lock:
            state = _PerceptronState()
            for order in self._orders(len(X)):
                if not state.learn(self.problem, ((X[i], Y[i]) for i in order)):
                    break
            self._state = state
        return self

    def passes(self, X: Sequence[Any], Y: Sequence[Any]) -> Iterator[int]:
        """Learn from zero weights, pass by pass; yield the mistakes of each. Between passes it can predict."""
        _require_pairs(X, Y)
        is_first = True
        for order in self._orders(len(X)):
            refuse_reentry(self._learning_lock, self)
            with self._learning_lock:
                state = _PerceptronState() if is_first else self._state.copy()
                mistakes = state.learn(self.problem, ((X[i], Y[i]) for i in order))
                self._state, is_first = state, False
            yield mistakes
            if not mistakes:
                break

    def _orders(self, n: int) -> Iterator[list[int]]:
        """Yield the order of n examples in each pass."""
        rng = np.random.default_rng(self.random_state)
        for _ in range(self.max_iter):
            yield (rng.permutation(n) if self.order == "shuffled" else np.arange(n)).tolist()

    def partial_fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Continue learning: once through these examples, in this order.

        Several threads may call this: each call waits for the one before it. A call that fails or is interrupted
        changes nothing.
        """
        _require_pairs(X, Y)
        refuse_reentry(self._learning_lock, self)
        with self._learning_lock:
            state = self._state.copy()
            state.learn(self.problem, zip(X, Y, strict=True))
            self._state = state
        return self

    def predict(self, X: Iterable[Any]) -> list[Any]:
        """Return the best structure for each x."""
        weights = self.weights_
        return [self.problem.best(weights, x) for x in X]

    def score(self, X: Sequence[Any], Y: Sequence[Any]) -> float:
        """Return the share of structures that are right as a whole."""
        _require_pairs(X, Y)
        return sum(map(_are_equal, self.predict(X), Y)) / len(X)

    @property
    def weights_(self) -> Any:
        """The weights that predict."""
        state = self._state
        if state.vector is None:
            raise DataError("This perceptron has not learned yet: call fit or partial_fit first.")
        return state.vector.current if self.hypothesis == "last" else state.vector.mean(state.examples)

    @property
    def ledger_(self) -> StructuredLedger:
        """Mistakes, R, |w| and the bounds that follow."""
        state = self._state
        return StructuredLedger(
            examples=state.examples,
            mistakes=state.mistakes,
            updates=state.mistakes,
            passes=state.passes,
            radius=float(np.sqrt(state.squared_radius)),
            norm=0.0 if state.vector is None else state.vector.norm,
            step_sum=float(state.mistakes),
            trace=state.trace.copy(),
            n_weights=0 if state.vector is None else len(state.vector),
        )

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle. Copies, deep or not, learn independently, because a state that a perceptron has is
        never changed."""
        return {**self.__dict__, "_learning_lock": Lock()}


@dataclass(eq=False)
class _PerceptronState:
    """Weights and counters. Learning changes a copy, which then replaces the original, so that other threads never see
    a state that is half changed."""

    vector: AveragedVector | None = None
    examples: int = 0
    mistakes: int = 0
    passes: int = 0
    squared_radius: float = 0.0
    trace: LedgerTrace = field(default_factory=LedgerTrace)

    def copy(self) -> _PerceptronState:
        return replace(self, vector=None if self.vector is None else self.vector.copy(), trace=self.trace.copy())

    def learn(self, problem: Problem, examples: Iterable[tuple[Any, Any]]) -> int:
        """Learn from each example in turn. Return the number of mistakes."""
        before = self.mistakes
        for x, y in examples:
            self._learn_one(problem, x, y)
        self.passes += 1
        return self.mistakes - before

    def _learn_one(self, problem: Problem, x: Any, y: Any) -> None:
        """y^ = argmax_z <w, phi(x, z)>; if y^ != y: w <- w + phi(x, y) - phi(x, y^)."""
        vector = self.vector
        if vector is None:
            vector = self.vector = make_vector(problem, x, y)
        guess = problem.best(vector.current, x)
        self.examples += 1
        if not _are_equal(guess, y):
            right, wrong = problem.features(x, y), problem.features(x, guess)
            squared = vector.add_difference(right, wrong, self.examples - 1)
            self.mistakes += 1
            self.squared_radius = max(self.squared_radius, squared)
            self.trace.append(self.mistakes, self.examples, self.mistakes, vector.norm)


def _require_pairs(X: Sequence[Any], Y: Sequence[Any]) -> None:
    if len(X) != len(Y):
        raise DataError(f"There are {len(X):,} examples, but {len(Y):,} structures for them.")
    if not len(X):
        raise DataError("There are no examples.")


def _are_equal(one: Any, other: Any) -> bool:
    comparison = one == other
    return bool(np.array_equal(one, other)) if isinstance(comparison, np.ndarray) else bool(comparison)
