"""One example at a time, in plain Python: the additive algorithm where a compiled call would cost more than the work.

A dict of nine named features is scored here in under a microsecond; to turn it into arrays and call compiled code
takes several. So does a short array. (The usual dict of two classes has a shorter way still: quick.py.) This is the
algorithm of kernels/additive.py to the letter, over weights that are dicts or arrays, and tests hold the two together.
Everything but the weights stays in the `State` and is brought up to date by `PointLearner.state`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import ddot

from novikoff.errors import DataError
from novikoff.hypotheses import Averaged, Last, Pocket
from novikoff.kernels.additive import TIE_NEGATIVE
from novikoff.kernels.rows import LARGEST
from novikoff.learner import Learner
from novikoff.ledger import Trace
from novikoff.rows import Rows, is_number, not_a_number, rows_of_dicts
from novikoff.state import State
from novikoff.weights import Weights

__all__ = ["PointLearner", "check"]

_NOT_NUMBERS = (TypeError, ValueError, OverflowError)


class Vector(Protocol):
    """A weight vector w with its bias, apart."""

    w: Any
    bias: float

    def look(self, x: Any) -> tuple[float, float]:
        """(<w, x>, |x|^2); KeyError if x brings a new name."""
        ...

    def score(self, x: Any) -> float:
        """<w, x>; a name without a weight counts for nothing."""
        ...

    def add(self, x: Any, tau: float) -> None:
        """w += tau * x."""
        ...


class NamedVector:
    """Weights by name."""

    def __init__(self, named: dict[str, float], bias: float) -> None:
        self.w, self.bias = named, bias

    def look(self, x: Mapping[str, float]) -> tuple[float, float]:
        w = self.w
        s = q = 0.0
        for name, value in x.items():
            s += w[name] * value
            if type(s) is not float:
                return self.look(_plain(x))
            q += value * value
        return s, q

    def score(self, x: Mapping[str, float]) -> float:
        w = self.w
        s = 0.0
        try:
            for name, value in x.items():
                s += w[name] * value
        except KeyError:
            s = 0.0
            for name, value in x.items():
                s += w.get(name, 0.0) * float(value * 1.0)
        return s if type(s) is float else self.score(_plain(x))

    def add(self, x: Mapping[str, float], tau: float) -> None:
        w = self.w
        for name, value in x.items():
            w[name] += tau * float(value)


class ArrayVector:
    """Weights in an array of the state, changed in place. BLAS is called directly: three times as fast as numpy's
    dot, and it leaves it to us to notice an overflow."""

    def __init__(self, w: np.ndarray, bias: float) -> None:
        self.w, self.bias = w, bias

    def look(self, x: np.ndarray) -> tuple[float, float]:
        return ddot(x, self.w), ddot(x, x)

    def score(self, x: np.ndarray) -> float:
        return ddot(x, self.w)

    def add(self, x: np.ndarray, tau: float) -> None:
        self.w += tau * x


class PointLearner:
    """A state being learned one example at a time.

    Parameters
    ----------
    learner : Learner
    state : State
    vocabulary : dict, optional
        From the names of features to their places. With it examples are dicts, and new names are added to it;
        without it they are 1-D float64 arrays.
    """

    _examples: int
    _mistakes: int
    _updates: int
    _run: int
    _best_run: int
    _squared_radius: float
    _squared_norm: float
    _step_sum: float
    _progress: float
    _seen_margin: float

    def __init__(self, learner: Learner, state: State, vocabulary: dict[str, int] | None = None) -> None:
        self.learner, self.vocabulary = learner, vocabulary
        self.dicts = vocabulary is not None
        self._state = state = state.laid_out(sparse=False)
        self.raw, self.sums, self._pocket = map(self._vectors, (state.raw, state.sums, state.pocket))
        self._constant, self._tie, self._step = learner.constant, learner.tie, learner.rule.step
        self.counts, self.measures = state.counts.tolist(), state.measures.tolist()
        learner.require_separator_fits(*state.raw.coef.shape)
        self._separator = self._vectors(learner.separator) if learner.separator is not None else []
        # Two classes and the last hypothesis: one vector both learns and answers.
        self._only = self.raw[0] if len(self.raw) == 1 and isinstance(learner.hypothesis, Last) else None

    def _vectors(self, weights: Weights) -> list[Vector]:
        bias = weights.bias.tolist()
        if self.vocabulary is None:
            return [ArrayVector(w, b) for w, b in zip(weights.coef, bias, strict=True)]
        names = list(self.vocabulary)
        return [NamedVector(dict(zip(names, w, strict=True)), b)
                for w, b in zip(weights.coef.tolist(), bias, strict=True)]  # fmt: skip

    def takes(self, x: Any) -> bool:
        """Whether x is an example as it needs them: a float64 array of the width of the state."""
        return type(x) is np.ndarray and x.dtype.char == "d" and x.shape == self.raw[0].w.shape

    def learn(self, x: Any, code: int) -> None:
        """Predict, suffer, update: one example of class `code`."""
        raw, constant = self.raw, self._constant
        new_names = False
        try:
            s, q = raw[0].look(x)
            if not q <= LARGEST:
                raise OverflowError
        except KeyError:
            new_names = True
            q, s = check(x), raw[0].score(x)
        except _NOT_NUMBERS:
            raise trouble_in(x) from None
        q += constant
        if len(raw) == 1:
            rival = 1 - code
            y = code - rival
            margin = y * (s + constant * raw[0].bias)
            mistake = margin < 0.0 or (margin == 0.0 and y != self._tie)
        else:
            q *= 2.0
            scores = self._scores_of(raw, x)
            rival = self._strongest_rival(scores, code)
            margin = scores[code] - scores[rival]
            mistake = margin < 0.0 or (margin == 0.0 and (rival - code) * self._tie >= 0)
        tau = self._step(margin, q, mistake)

        if new_names:
            self._admit(x)
        if self._separator:
            found = self._scores_of(self._separator, x)
            strongest = self._strongest_rival(found, code) if len(found) > 1 else rival
            self._seen_margin = min(self._seen_margin, _margin(found, code, strongest))
        self._examples += 1
        if q > self._squared_radius:
            self._squared_radius = q
        if mistake or tau:
            self._mistakes += mistake
            self._end_run()
            if tau:
                self._update(x, code, rival, tau, margin, q)
        else:
            self._run += 1

    def _admit(self, x: Any) -> None:
        """Give new names a weight of zero."""
        assert self.vocabulary is not None
        for name in x:
            self.vocabulary.setdefault(name, len(self.vocabulary))
            for vector in (*self.raw, *self.sums, *self._pocket):
                vector.w.setdefault(name, 0.0)

    def _update(self, x: Any, code: int, rival: int, tau: float, margin: float, q: float) -> None:
        self._move(self.raw, x, code, rival, tau)
        if self.sums:
            self._move(self.sums, x, code, rival, tau * (self._examples - 1))
        self._updates += 1
        self._step_sum += tau
        self._squared_norm += tau * (2.0 * margin + tau * q)
        progress = math.nan
        if self._separator:
            progress = self._progress = self._progress + tau * _margin(self._scores_of(self._separator, x), code, rival)
        norm = math.sqrt(max(self._squared_norm, 0.0))
        self._state.trace.add_one(self._updates, self._examples, self._mistakes, norm, progress)
        if self._state.history is not None:
            at, classes = np.zeros(1, np.int64), np.array([[code, rival]])
            self._state.history.add(self._row_of(x), at, np.array([tau]), classes, np.array([self._examples]))

    def _move(self, vectors: list[Vector], x: Any, code: int, rival: int, tau: float) -> None:
        if len(vectors) == 1:
            moves = [(vectors[0], tau * (code - rival))]
        else:
            moves = [(vectors[code], tau), (vectors[rival], -tau)]
        for vector, step in moves:
            vector.add(x, step)
            vector.bias += step * self._constant

    def _end_run(self) -> None:
        if self._pocket and self._run > self._best_run:
            self._best_run = self._run
            for kept, vector in zip(self._pocket, self.raw, strict=True):
                kept.w, kept.bias = vector.w.copy(), vector.bias
        self._run = 0

    def _strongest_rival(self, scores: list[float], code: int) -> int:
        others = [k for k in range(len(scores)) if k != code]
        if self._tie != TIE_NEGATIVE:
            others.reverse()  # max keeps the first of equals
        return max(others, key=scores.__getitem__)

    def decide(self, x: Any) -> int:
        """The class of x under the hypothesis."""
        try:
            if self._only is not None:
                s = self._only.score(x) + self._constant * self._only.bias
                if 0.0 < s < math.inf:
                    return 1
                if -math.inf < s < 0.0:
                    return 0
                scores = [s]
            else:
                scores = self._answers(x)
            sound = all(map(math.isfinite, scores))
        except _NOT_NUMBERS:
            sound = False
        if not sound:
            raise trouble_in(x)
        return int(self.learner.decide(np.array(scores) if len(scores) == 1 else np.array([scores]))[0])

    def _answers(self, x: Any) -> list[float]:
        hypothesis = self.learner.hypothesis
        if isinstance(hypothesis, Last):
            return self._scores_of(self.raw, x)
        if isinstance(hypothesis, Averaged):
            n = max(1, self._examples)
            sums = self._scores_of(self.sums, x)
            return [raw - total / n for raw, total in zip(self._scores_of(self.raw, x), sums, strict=True)]
        if isinstance(hypothesis, Pocket):
            return self._scores_of(self.raw if self._run > self._best_run else self._pocket, x)
        row = self._row_of(x)
        row.require_numbers()
        return np.ravel(self.learner.score(self.state(), row)).tolist()

    def _scores_of(self, vectors: list[Vector], x: Any) -> list[float]:
        constant = self._constant
        return [vector.score(x) + constant * vector.bias for vector in vectors]

    def _row_of(self, x: Any) -> Rows:
        if self.vocabulary is None:
            return Rows.of(x.reshape(1, -1))
        return rows_of_dicts([x], self.vocabulary)

    def state(self) -> State:
        """Everything learned so far, as arrays; names in the order of the vocabulary."""
        if self.vocabulary is not None:
            self._state = self._state.widened(len(self.vocabulary))
        state = self._state
        for vectors, weights in ((self.raw, state.raw), (self.sums, state.sums), (self._pocket, state.pocket)):
            for k, vector in enumerate(vectors):
                weights.bias[k] = vector.bias
                weights.coef[k] = vector.w if self.vocabulary is None else list(vector.w.values())
        state.counts[:], state.measures[:] = self.counts, self.measures
        return state

    # -- what the ledger is made of

    @property
    def counts(self) -> list[int]:
        return [self._examples, self._mistakes, self._updates, self._run, self._best_run]

    @counts.setter
    def counts(self, counts: list[int]) -> None:
        self._examples, self._mistakes, self._updates, self._run, self._best_run = counts

    @property
    def measures(self) -> list[float]:
        return [self._squared_radius, self._squared_norm, self._step_sum, self._progress, self._seen_margin]

    @measures.setter
    def measures(self, measures: list[float]) -> None:
        self._squared_radius, self._squared_norm, self._step_sum, self._progress, self._seen_margin = measures

    @property
    def trace(self) -> Trace:
        return self._state.trace


def _plain(x: Mapping[str, float]) -> dict[str, float]:
    """The same features as Python's own numbers: numpy's count in a type of their own, where 200 * 200 may be 64."""
    return {name: float(value) for name, value in x.items()}


def _margin(scores: list[float], code: int, rival: int) -> float:
    """y * score for two classes; the true class's score less its rival's for many."""
    return scores[0] * (code - rival) if len(scores) == 1 else scores[code] - scores[rival]


def check(x: Any) -> float:
    """|x|^2; a DataError if x is not made of numbers."""
    try:
        values = list(x.values()) if isinstance(x, dict) else x.tolist()
        squared_norm = sum(value * value for value in map(float, values))
        if squared_norm <= LARGEST and all(map(is_number, values)):
            return float(squared_norm)
    except _NOT_NUMBERS:
        pass
    raise trouble_in(x)


def trouble_in(x: Any) -> DataError:
    """What is wrong with an example that is not made of numbers."""
    if not isinstance(x, Mapping):
        return Rows.of(x.reshape(1, -1)).trouble_in(0)
    for name, value in x.items():
        if not is_number(value) or not value * value <= LARGEST:
            return not_a_number(name, value)
    return DataError("Input X contains values too large for dtype('float64') once squared and added up.")
