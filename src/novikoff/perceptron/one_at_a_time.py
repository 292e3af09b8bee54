"""One example at a time, in plain Python: the additive algorithm where a compiled call would cost more than the work.

A dict of nine named features is scored here in under a microsecond; to turn it into arrays and call compiled code
takes several. So does a short array. (The usual dict of two classes has a shorter way still:
perceptron/dict_fast_path.py.) This is the algorithm of _compiled/loops/additive.py to the letter, over weights that are
dicts or arrays, and tests hold the two together.

An example is learned whole or not at all, wherever a KeyboardInterrupt strikes. What an example changes is computed
first; then it is written down in one attribute, and the example is learned; then it is carried out, which may be done
again without harm. Who uses a `PointLearner` holds a lock (perceptron/model.py), and calls `carry_out` first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.linalg.blas import ddot

from novikoff._compiled.loops.additive import TIE_NEGATIVE
from novikoff._compiled.loops.rows import LARGEST
from novikoff.errors import DataError
from novikoff.hypotheses import Averaged, Last, Pocket
from novikoff.inputs.rows import Rows, is_number, not_a_number, rows_of_dicts
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import Trace
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["PointLearner", "account_of", "check", "numbers_of"]

# Counts and measures, see _compiled/loops/additive.py, those first that every example changes: examples, run, squared
# radius, seen margin, (mistakes, updates, best run, squared norm, sum of steps, progress).
Account: TypeAlias = tuple[int, int, float, float, tuple[int, int, int, float, float, float]]
# What is to be: the account; new names and their places; vectors, their weights that move, and their biases; the trace,
# and the points that it has from a place on; weights for the pocket, and biases; what adds to the history.
Change: TypeAlias = tuple[
    Account,
    dict[str, int],
    list[tuple["Vector", Any, float]],
    tuple[Trace, int, list[tuple[float, ...]]] | None,
    list[tuple[Any, float]] | None,
    Callable[[], None] | None,
]

_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)
_N_COUNTS = 5
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

    def moved(self, x: Any, tau: float) -> Any:
        """w + tau * x, or the part of it that differs from w."""
        ...

    def move(self, moved: Any) -> None:
        """Take over what `moved` returned; doing it twice does no harm."""
        ...

    def copied(self) -> Any:
        """Weights equal to w that stay as they are when w moves."""
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

    def moved(self, x: Mapping[str, float], tau: float) -> dict[str, float]:
        w = self.w
        try:
            return {name: w[name] + tau * float(value) for name, value in x.items()}
        except KeyError:
            return {name: w.get(name, 0.0) + tau * float(value) for name, value in x.items()}

    def move(self, moved: dict[str, float]) -> None:
        self.w.update(moved)

    def copied(self) -> dict[str, float]:
        return self.w.copy()


class ArrayVector:
    """Weights in an array, which is replaced by another when they move. BLAS is called directly: three times as fast as
    numpy's dot, and it leaves it to us to notice an overflow."""

    def __init__(self, w: np.ndarray, bias: float) -> None:
        self.w, self.bias = w, bias

    def look(self, x: np.ndarray) -> tuple[float, float]:
        return ddot(x, self.w), ddot(x, x)

    def score(self, x: np.ndarray) -> float:
        return ddot(x, self.w)

    def moved(self, x: np.ndarray, tau: float) -> np.ndarray:
        moved: np.ndarray = tau * x
        moved += self.w
        return moved

    def move(self, moved: np.ndarray) -> None:
        self.w = moved

    def copied(self) -> np.ndarray:
        return self.w


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

    def __init__(self, learner: Learner, state: State, vocabulary: dict[str, int] | None = None) -> None:
        self.learner, self.vocabulary = learner, vocabulary
        self.dicts = vocabulary is not None
        self._state = state = state.laid_out(sparse=False)
        self.raw, self.sums, self._pocket = map(self._vectors, (state.raw, state.sums, state.pocket))
        self._constant, self._tie, self._step = learner.constant, learner.tie, learner.rule.step
        self.trace = state.trace.copy()
        self._history = state.history.copy() if state.history is not None else None
        self.now = account_of([*state.counts.tolist(), *state.measures.tolist()])
        self.pending: Change | None = None
        self._shape = state.raw.coef.shape[1:]
        self._made: tuple[Account, State] | None = None
        self.names_are_strings = _are_strings(vocabulary or ())
        learner.require_separator_fits(*state.raw.coef.shape)
        self._separator = self._vectors(learner.separator) if learner.separator is not None else []
        # Two classes and the last hypothesis: one vector both learns and answers.
        self._only = self.raw[0] if len(self.raw) == 1 and isinstance(learner.hypothesis, Last) else None

    def _vectors(self, weights: Weights) -> list[Vector]:
        bias = weights.bias.tolist()
        if self.vocabulary is None:
            return [ArrayVector(w, b) for w, b in zip(weights.coef, bias, strict=True)]
        names = list(self.vocabulary)
        return [
            NamedVector(dict(zip(names, w, strict=True)), b) for w, b in zip(weights.coef.tolist(), bias, strict=True)
        ]

    def takes(self, x: Any) -> bool:
        """Whether x is an example as it needs them: a float64 array of the width of the state."""
        return type(x) is _ARRAY and (x.dtype is _DOUBLE or x.dtype.char == "d") and x.shape == self._shape

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

        examples, run, radius, seen_margin, rest = self.now
        if q > radius:
            radius = q
        if self._separator:
            found = self._scores_of(self._separator, x)
            strongest = self._strongest_rival(found, code) if len(found) > 1 else rival
            seen_margin = min(seen_margin, _margin(found, code, strongest))
        if mistake or tau or new_names:
            names = self._names_in(x) if new_names else {}
            begun = examples + 1, run, radius, seen_margin, rest
            self.pending = self._change(x, code, rival, margin, q, mistake, tau, names, begun)
            self.carry_out()
        else:
            self.now = examples + 1, run + 1, radius, seen_margin, rest

    def _change(
        self,
        x: Any,
        code: int,
        rival: int,
        margin: float,
        q: float,
        mistake: bool,
        tau: float,
        names: dict[str, int],
        begun: Account,
    ) -> Change:
        """What an example changes besides the first counts and measures, which `begun` has: everything as it is to be,
        so that it can be carried out twice."""
        examples, run, radius, seen_margin, rest = begun
        if not (mistake or tau):
            return (examples, run + 1, radius, seen_margin, rest), names, [], None, None, None
        mistakes, updates, best_run, norm, step_sum, progress = rest
        mistakes += mistake
        pocket = recorded = remember = None
        moves: list[tuple[Vector, Any, float]] = []
        if self._pocket and run > best_run:
            best_run = run
            pocket = [(vector.copied(), vector.bias) for vector in self.raw]
        if tau:
            updates += 1
            step_sum += tau
            norm += tau * (2.0 * margin + tau * q)
            shown = math.nan
            if self._separator:
                shown = progress = progress + tau * _margin(self._scores_of(self._separator, x), code, rival)
            moves = self._moves(self.raw, x, code, rival, tau)
            if self.sums:
                moves += self._moves(self.sums, x, code, rival, tau * (examples - 1))
            point: tuple[float, ...] = (updates, examples, mistakes, math.sqrt(max(norm, 0.0)), shown)
            trace = self.trace
            if updates > trace.capacity * trace.stride:
                trace = trace.thinned(updates)
            recorded = trace, len(trace.points), [point] if updates % trace.stride == 0 else []
            if self._history is not None:
                remember = self._history.one_more(self._row_of(x, names), tau, (code, rival), examples)
        rest = mistakes, updates, best_run, norm, step_sum, progress
        return (examples, 0, radius, seen_margin, rest), names, moves, recorded, pocket, remember

    def carry_out(self) -> None:
        """Carry out what is written down, if anything is: no step of it does more when it is done a second time."""
        change = self.pending
        if change is None:
            return
        now, names, moves, recorded, pocket, remember = change
        if pocket is not None:
            for kept, (w, bias) in zip(self._pocket, pocket, strict=True):
                kept.w, kept.bias = w, bias
        if names:
            assert self.vocabulary is not None
            self.vocabulary.update(names)
            zeros = dict.fromkeys(names, 0.0)
            for vector in (*self.raw, *self.sums, *self._pocket):
                vector.move(zeros)
        for vector, moved, bias in moves:
            vector.move(moved)
            vector.bias = bias
        if recorded is not None:
            trace, at, points = recorded
            trace.points[at:] = points
            self.trace = trace
        if remember is not None:
            remember()
        self.now = now
        self.pending = None

    def _names_in(self, x: Any) -> dict[str, int]:
        """The places of the names that x brings."""
        known = self.vocabulary
        assert known is not None
        new = [name for name in x if name not in known]
        self.names_are_strings = self.names_are_strings and _are_strings(new)
        return {name: at for at, name in enumerate(new, len(known))}

    def _moves(
        self, vectors: list[Vector], x: Any, code: int, rival: int, tau: float
    ) -> list[tuple[Vector, Any, float]]:
        """What is to become of vectors: the weights that move, and the bias."""
        constant = self._constant
        if len(vectors) == 1:
            (vector,), step = vectors, tau * (code - rival)
            return [(vector, vector.moved(x, step), vector.bias + step * constant)]
        up, down = vectors[code], vectors[rival]
        return [
            (up, up.moved(x, tau), up.bias + tau * constant),
            (down, down.moved(x, -tau), down.bias - tau * constant),
        ]

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
            n = max(1, self.now[0])
            sums = self._scores_of(self.sums, x)
            return [raw - total / n for raw, total in zip(self._scores_of(self.raw, x), sums, strict=True)]
        if isinstance(hypothesis, Pocket):
            _, run, _, _, (_, _, best_run, *_) = self.now
            return self._scores_of(self.raw if run > best_run else self._pocket, x)
        row = self._row_of(x, {})
        row.require_numbers()
        return np.ravel(self.learner.score(self.state(), row)).tolist()

    def _scores_of(self, vectors: list[Vector], x: Any) -> list[float]:
        constant = self._constant
        return [vector.score(x) + constant * vector.bias for vector in vectors]

    def _row_of(self, x: Any, new_names: dict[str, int]) -> Rows:
        if self.vocabulary is None:
            return Rows.of(x.reshape(1, -1))
        return rows_of_dicts([x], self.vocabulary | new_names if new_names else self.vocabulary)

    def state(self) -> State:
        """Everything learned so far, in arrays that will not change; names in the order of the vocabulary."""
        if self._made is None or self._made[0] is not self.now:
            numbers = numbers_of(self.now)
            made = replace(
                self._state,
                raw=self._weights(self.raw),
                sums=self._weights(self.sums),
                pocket=self._weights(self._pocket),
                history=self._history.copy() if self._history is not None else None,
                counts=np.array(numbers[:_N_COUNTS], np.int64),
                measures=np.array(numbers[_N_COUNTS:]),
                trace=self.trace.copy(),
            )
            self._made = self.now, made
        return self._made[1]

    def _weights(self, vectors: list[Vector]) -> Weights:
        if not vectors:
            return Weights.none()
        if self.vocabulary is None:
            coef = np.array([vector.w for vector in vectors])
        else:
            names = list(self.vocabulary)
            coef = np.empty((len(vectors), len(names)))
            for row, vector in zip(coef, vectors, strict=True):
                row[:] = np.fromiter(map(vector.w.__getitem__, names), np.float64, len(names))
        return Weights(coef, np.array([vector.bias for vector in vectors]))

    def compact(self) -> None:
        """Join what the history has in many small arrays; not while something is written down."""
        if self._history is not None:
            self._history.compact()


def account_of(numbers: Sequence[Any]) -> Account:
    """Counts and measures in the order of _compiled/loops/additive.py -> in the order of an `Account`."""
    examples, mistakes, updates, run, best_run, radius, norm, step_sum, progress, seen_margin = numbers
    return examples, run, radius, seen_margin, (mistakes, updates, best_run, norm, step_sum, progress)


def numbers_of(account: Account) -> list[Any]:
    """What `account_of` was given."""
    examples, run, radius, seen_margin, (mistakes, updates, best_run, norm, step_sum, progress) = account
    return [examples, mistakes, updates, run, best_run, radius, norm, step_sum, progress, seen_margin]


def _are_strings(names: Iterable[Any]) -> bool:
    """Whether these names are strings, and not of a subclass, whose comparison might be Python code."""
    return all(type(name) is str for name in names)


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
