"""Learning from dicts of named features, one at a time, without leaving Python.

A dict of nine features is scored here in half a microsecond; to turn it into arrays and call compiled code would take
five times as long. The weights therefore live in dicts while such examples come, and move back into the arrays of a
`State` (`NamedLearner.state`) whenever somebody asks for those. It is the algorithm of kernels/additive.py to the
letter, and a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import mul
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.hypotheses import Averaged, Last, Pocket
from novikoff.kernels.additive import LARGEST, TIE_NEGATIVE
from novikoff.learner import Learner
from novikoff.rows import Rows, is_number, not_a_number, rows_of_dicts
from novikoff.state import State
from novikoff.weights import Weights

__all__ = ["NamedLearner"]

Features = Mapping[str, float]
_NOT_NUMBERS = (TypeError, ValueError, OverflowError)


class NamedWeights:
    """Weights as dicts from name to number, one for each weight vector, and their biases."""

    def __init__(self, weights: Weights, names: list[str]) -> None:
        self.by_name = [dict(zip(names, row, strict=True)) for row in weights.coef.tolist()]
        self.bias: list[float] = weights.bias.tolist()

    def score(self, k: int, x: Features, constant: float) -> float:
        """<w_k, x> + constant * bias_k; a name without a weight counts as zero."""
        w = self.by_name[k]
        try:
            return sum(map(mul, map(w.__getitem__, x), x.values())) + constant * self.bias[k]
        except KeyError:
            return sum(w.get(name, 0.0) * value for name, value in x.items()) + constant * self.bias[k]

    def scores(self, x: Features, constant: float) -> list[float]:
        return [self.score(k, x, constant) for k in range(len(self.bias))]

    def add(self, k: int, x: Features, tau: float, constant: float) -> None:
        """w_k += tau * x."""
        w = self.by_name[k]
        for name, value in x.items():
            w[name] = w.get(name, 0.0) + tau * value
        self.bias[k] += tau * constant

    def become(self, other: NamedWeights) -> None:
        self.by_name = [dict(w) for w in other.by_name]
        self.bias = list(other.bias)

    def write_to(self, weights: Weights, vocabulary: Mapping[str, int]) -> None:
        for k, w in enumerate(self.by_name):
            for name, value in w.items():
                weights.coef[k, vocabulary[name]] = value
        weights.bias[:] = self.bias


class NamedLearner:
    """A state being learned from dicts. `learn` and `scores` take a dict; `state()` gives the arrays back."""

    def __init__(self, learner: Learner, state: State, vocabulary: dict[str, int]) -> None:
        names = list(vocabulary)
        self.learner, self.vocabulary = learner, vocabulary
        self._state = state
        self._raw = NamedWeights(state.raw, names)
        self._sums = NamedWeights(state.sums, names) if state.sums else None
        self._pocket = NamedWeights(state.pocket, names) if state.pocket else None
        self._constant, self._tie = learner.constant, learner.tie
        self._examples, self._mistakes, self._updates, self._run, self._best_run = state.counts.tolist()
        self._squared_radius, self._squared_norm, self._step_sum = state.measures[:3].tolist()
        self._many = len(state.raw.bias) > 1

    def learn(self, x: Features, code: int) -> None:
        """Predict, suffer, update: one example of class `code`."""
        constant = self._constant
        squared_norm = self.check(x)
        if self._many:
            scores = self._raw.scores(x, constant)
            rival = self._strongest_rival(scores, code)
            margin = scores[code] - scores[rival]
            q = 2.0 * (squared_norm + constant)
            mistake = margin < 0.0 or (margin == 0.0 and (rival - code) * self._tie >= 0)
        else:
            rival = 1 - code
            y = code - rival
            margin = y * self._raw.score(0, x, constant)
            q = squared_norm + constant
            mistake = margin < 0.0 or (margin == 0.0 and y != self._tie)
        tau = self.learner.rule.step(margin, q, mistake)

        self._examples += 1
        if q > self._squared_radius:
            self._squared_radius = q
        if mistake:
            self._mistakes += 1
        if mistake or tau:
            self._end_run()
        else:
            self._run += 1
        if tau:
            self._update(x, code, rival, tau, margin, q)

    def _update(self, x: Features, code: int, rival: int, tau: float, margin: float, q: float) -> None:
        for name in x:
            self.vocabulary.setdefault(name, len(self.vocabulary))
        self._move(self._raw, x, code, rival, tau)
        if self._sums is not None:
            self._move(self._sums, x, code, rival, tau * (self._examples - 1))
        self._updates += 1
        self._step_sum += tau
        self._squared_norm += tau * (2.0 * margin + tau * q)
        trace, history = self._state.trace, self._state.history
        if self._updates % trace.stride == 0:
            norm = math.sqrt(max(self._squared_norm, 0.0))
            trace.add(*(np.array([v]) for v in (self._updates, self._examples, self._mistakes, norm)))
        if history is not None:
            row, at = rows_of_dicts([x], self.vocabulary), np.zeros(1, np.int64)
            history.add(row, at, np.array([tau]), np.array([[code, rival]]), np.array([self._examples]))

    def _move(self, weights: NamedWeights, x: Features, code: int, rival: int, tau: float) -> None:
        if self._many:
            weights.add(code, x, tau, self._constant)
            weights.add(rival, x, -tau, self._constant)
        else:
            weights.add(0, x, tau * (code - rival), self._constant)

    def _end_run(self) -> None:
        if self._pocket is not None and self._run > self._best_run:
            self._best_run = self._run
            self._pocket.become(self._raw)
        self._run = 0

    def _strongest_rival(self, scores: list[float], code: int) -> int:
        others = [k for k in range(len(scores)) if k != code]
        if self._tie != TIE_NEGATIVE:
            others.reverse()  # max keeps the first of equals
        return max(others, key=scores.__getitem__)

    def scores(self, x: Features) -> list[float]:
        """What the hypothesis says of x: one score for two classes, positive for class 1; one each for many."""
        try:
            found = self._scores(x)
        except _NOT_NUMBERS:
            raise _trouble_in(x) from None
        if not all(map(math.isfinite, found)):
            raise _trouble_in(x)
        return found

    def _scores(self, x: Features) -> list[float]:
        hypothesis, constant = self.learner.hypothesis, self._constant
        if isinstance(hypothesis, Last):
            return self._raw.scores(x, constant)
        if isinstance(hypothesis, Averaged):
            assert self._sums is not None
            n = max(1, self._examples)
            sums = self._sums.scores(x, constant)
            return [raw - total / n for raw, total in zip(self._raw.scores(x, constant), sums, strict=True)]
        if isinstance(hypothesis, Pocket):
            assert self._pocket is not None
            answering = self._raw if self._run > self._best_run else self._pocket
            return answering.scores(x, constant)
        rows: Rows = rows_of_dicts([x], self.vocabulary)
        rows.require_numbers()
        return np.ravel(self.learner.score(self.state(), rows)).tolist()  # type: ignore[no-any-return]

    @staticmethod
    def check(x: Features) -> float:
        """The squared norm of x, if it is made of numbers."""
        values = x.values()
        try:
            squared_norm = sum(map(mul, values, values))
            if squared_norm <= LARGEST:
                return squared_norm
        except _NOT_NUMBERS:
            pass
        raise _trouble_in(x)

    def state(self) -> State:
        """Everything learned, as arrays over the vocabulary in order."""
        state = self._state = self._state.widened(len(self.vocabulary))
        for named, weights in ((self._raw, state.raw), (self._sums, state.sums), (self._pocket, state.pocket)):
            if named is not None:
                named.write_to(weights, self.vocabulary)
        state.counts[:] = self._examples, self._mistakes, self._updates, self._run, self._best_run
        state.measures[:3] = self._squared_radius, self._squared_norm, self._step_sum
        return state


def _trouble_in(x: Any) -> DataError:
    for name, value in x.items():
        if not is_number(value) or not value * value <= LARGEST:
            return not_a_number(name, value)
    return DataError("Input X contains values too large for dtype('float64') once squared and added up.")
