"""ExampleLearner: learn_one in plain Python; an interrupted example is learned whole or not at all.

For a single example a compiled call would cost more than the work: a dict of nine named features is scored here in
under a microsecond; converting it to arrays and calling compiled code takes several, as it does for a short array.
(Ordinary dicts of two classes have a faster path still: perceptron/dict_fast_path.py.) This is the algorithm of
_compiled/loops/additive.py, step by step, over weights that are dicts or arrays; tests compare the two.

An example is learned whole or not at all, wherever a KeyboardInterrupt occurs. First everything that it changes is
computed. Then the change is assigned to the attribute `pending`: from then on the example counts as learned. Then the
change is applied, which may be repeated without harm. Callers hold a lock (perceptron/model.py) and call
`apply_pending` first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from novikoff import rules
from novikoff._compiled.loops.additive import EXAMPLES, TIE_NEGATIVE
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM
from novikoff.hypotheses import Averaged, Last, Pocket
from novikoff.inputs.examples import CONVERSION_ERRORS, check_example, explain_bad_example
from novikoff.inputs.rows import Rows, rows_from_dicts
from novikoff.perceptron.importances import join_ranges, weigh_step
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.state import State
from novikoff.perceptron.weight_vectors import ArrayWeightVector, DictWeightVector, WeightVector
from novikoff.perceptron.weights import Weights

__all__ = ["ExampleLearner", "account_from_numbers", "account_to_numbers"]

# Both types are plain tuples: one is made per example or update, and making a named tuple takes ten times as long.

# Counts and measures of _compiled/loops/additive.py; first those that every example may change: examples, run, squared
# radius, seen margin, (mistakes, updates, best run, squared norm, sum of steps, progress).
Account: TypeAlias = tuple[int, int, float, float, tuple[int, int, int, float, float, float]]

# Everything that an example changes, as it is to be afterwards.
PendingChange: TypeAlias = tuple[
    Account,
    dict[str, int],  # new names, with their indices
    list[tuple[WeightVector, Any, float]],  # vectors, what `compute_update` returned for them, and their biases
    tuple[LedgerTrace, int, list[tuple[float, ...]]] | None,  # the trace, and its points from an index on
    list[tuple[Any, float]] | None,  # weights and biases for the pocket
    Callable[[], None] | None,  # adds to the history
]

_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)
_N_COUNTS = 5
_UNIT = (1.0, 1.0)  # the range of importances of examples that have none


class ExampleLearner:
    """A state that learns from one example at a time.

    Parameters
    ----------
    learner : Learner
    state : State
    vocabulary : dict, optional
        From the names of features to their indices. With it examples are dicts, and new names are added to it; without
        it they are 1-D float64 arrays.
    """

    def __init__(self, learner: Learner, state: State, vocabulary: dict[str, int] | None = None) -> None:
        self.learner, self.vocabulary = learner, vocabulary
        self.dicts = vocabulary is not None
        self._state = state = state.to_layout(sparse=False)
        self.raw, self.sums, self._pocket = map(self._make_vectors, (state.raw, state.sums, state.pocket))
        self._constant, self._tie = learner.constant, learner.tie
        assert not isinstance(learner.rule, rules.StatefulRule)  # it has a learner of its own
        self._formula, self._parameter = learner.rule.formula
        self.trace = state.trace.copy()
        self._history = state.history.copy() if state.history is not None else None
        self.now = account_from_numbers([*state.counts.tolist(), *state.measures.tolist()])
        self.pending: PendingChange | None = None
        self._shape = state.raw.coef.shape[1:]
        self._cached_state: tuple[Account, State] | None = None
        self._importance_range, self._n_weighted = state.importance_range, 0
        self.names_are_strings = _are_strings(vocabulary or ())
        learner.require_separator_fits(*state.raw.coef.shape)
        self._separator = self._make_vectors(learner.separator) if learner.separator is not None else []
        # Two classes and the last hypothesis: one vector both changes and predicts.
        self._only = self.raw[0] if len(self.raw) == 1 and isinstance(learner.hypothesis, Last) else None

    def _make_vectors(self, weights: Weights) -> list[WeightVector]:
        biases = weights.bias.tolist()
        if self.vocabulary is None:
            return [ArrayWeightVector(w, bias) for w, bias in zip(weights.coef, biases, strict=True)]
        names = list(self.vocabulary)
        return [
            DictWeightVector(dict(zip(names, w, strict=True)), bias)
            for w, bias in zip(weights.coef.tolist(), biases, strict=True)
        ]

    def accepts(self, x: Any) -> bool:
        """Return whether x is a float64 array with as many features as the state."""
        return type(x) is _ARRAY and (x.dtype is _DOUBLE or x.dtype.char == "d") and x.shape == self._shape

    # -- learning

    def learn(self, x: Any, code: int, importance: float | None = None) -> None:
        """Learn from one example of class `code`: predict, count the mistake if it is one, update.

        The step is multiplied by the importance, if there is one.
        """
        raw, constant = self.raw, self._constant
        has_new_names = False
        try:
            s, q = raw[0].score_and_squared_norm(x)
            if not q <= LARGEST_SQUARED_NORM:
                raise OverflowError
        except KeyError:
            has_new_names = True
            q, s = check_example(x), raw[0].score(x)
        except CONVERSION_ERRORS:
            raise explain_bad_example(x) from None
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
        tau = self._formula(margin, q, mistake, self._parameter)
        if importance is not None:
            tau = weigh_step(tau, importance, q)
            # Widened before the example is learned: after an interrupt the range may be too wide, never too narrow.
            before = self._joined_importance_range() or (_UNIT if self.now[0] else None)
            self._importance_range = join_ranges(before, (importance, importance))

        examples, run, squared_radius, seen_margin, rest = self.now
        if q > squared_radius:
            squared_radius = q
        if self._separator:
            along = self._scores_of(self._separator, x)
            strongest = self._strongest_rival(along, code) if len(along) > 1 else rival
            seen_margin = min(seen_margin, _margin_of(along, code, strongest))
        if mistake or tau or has_new_names:
            new_names = self._index_new_names(x) if has_new_names else {}
            account = examples + 1, run, squared_radius, seen_margin, rest
            self.pending = self._compute_change(x, code, rival, margin, q, mistake, tau, new_names, account)
            self.apply_pending()
        else:
            self.now = examples + 1, run + 1, squared_radius, seen_margin, rest
        if importance is not None:
            self._n_weighted += 1

    def _joined_importance_range(self) -> tuple[float, float] | None:
        """Return the range of importances, with 1 if some examples had none; None if no example has had one."""
        if self._importance_range is None:
            return None
        n_learned = self.now[0] - int(self._state.counts[EXAMPLES])
        return self._importance_range if n_learned == self._n_weighted else join_ranges(self._importance_range, _UNIT)

    def _compute_change(
        self,
        x: Any,
        code: int,
        rival: int,
        margin: float,
        q: float,
        mistake: bool,
        tau: float,
        new_names: dict[str, int],
        account: Account,
    ) -> PendingChange:
        """Return what an example changes, given the account with its first numbers already counted."""
        examples, run, squared_radius, seen_margin, rest = account
        if not (mistake or tau):
            account = examples, run + 1, squared_radius, seen_margin, rest
            return account, new_names, [], None, None, None
        mistakes, n_updates, best_run, squared_norm, step_sum, progress = rest
        mistakes += mistake
        pocket = trace_points = add_to_history = None
        updates: list[tuple[WeightVector, Any, float]] = []
        if self._pocket and run > best_run:
            best_run = run
            pocket = [(vector.copy_weights(), vector.bias) for vector in self.raw]
        if tau:
            n_updates += 1
            step_sum += tau
            squared_norm += tau * (2.0 * margin + tau * q)
            known_progress = math.nan
            if self._separator:
                progress += tau * _margin_of(self._scores_of(self._separator, x), code, rival)
                known_progress = progress
            updates = self._compute_updates(self.raw, x, code, rival, tau)
            if self.sums:
                updates += self._compute_updates(self.sums, x, code, rival, tau * (examples - 1))
            trace = self.trace
            if n_updates > trace.capacity * trace.stride:
                trace = trace.thin(n_updates)
            norm = math.sqrt(max(squared_norm, 0.0))
            point: tuple[float, ...] = (n_updates, examples, mistakes, norm, known_progress)
            trace_points = trace, len(trace.points), [point] if n_updates % trace.stride == 0 else []
            if self._history is not None:
                row = self._row_of(x, new_names)
                add_to_history = self._history.prepare_update(row, tau, (code, rival), examples)
        rest = mistakes, n_updates, best_run, squared_norm, step_sum, progress
        account = examples, 0, squared_radius, seen_margin, rest
        return account, new_names, updates, trace_points, pocket, add_to_history

    def _compute_updates(
        self, vectors: list[WeightVector], x: Any, code: int, rival: int, tau: float
    ) -> list[tuple[WeightVector, Any, float]]:
        """Return the vectors that an update changes, their new weights and their new biases."""
        constant = self._constant
        if len(vectors) == 1:
            (vector,), step = vectors, tau * (code - rival)
            return [(vector, vector.compute_update(x, step), vector.bias + step * constant)]
        up, down = vectors[code], vectors[rival]
        return [
            (up, up.compute_update(x, tau), up.bias + tau * constant),
            (down, down.compute_update(x, -tau), down.bias - tau * constant),
        ]

    def _index_new_names(self, x: Any) -> dict[str, int]:
        """Return the names of x that the vocabulary does not have, with the indices that they will have."""
        known = self.vocabulary
        assert known is not None
        new = [name for name in x if name not in known]
        self.names_are_strings = self.names_are_strings and _are_strings(new)
        return {name: index for index, name in enumerate(new, len(known))}

    def apply_pending(self) -> None:
        """Apply the pending change, if there is one. No step has a further effect when it is repeated."""
        change = self.pending
        if change is None:
            return
        account, new_names, updates, trace_points, pocket, add_to_history = change
        if pocket is not None:
            for kept, (w, bias) in zip(self._pocket, pocket, strict=True):
                kept.w, kept.bias = w, bias
        if new_names:
            assert self.vocabulary is not None
            self.vocabulary.update(new_names)
            zeros = dict.fromkeys(new_names, 0.0)
            for vector in (*self.raw, *self.sums, *self._pocket):
                vector.apply_update(zeros)
        for vector, weights, bias in updates:
            vector.apply_update(weights)
            vector.bias = bias
        if trace_points is not None:
            trace, length, points = trace_points
            trace.points[length:] = points
            self.trace = trace
        if add_to_history is not None:
            add_to_history()
        self.now = account
        self.pending = None

    # -- predicting

    def decide(self, x: Any) -> int:
        """Return the class code of x under the hypothesis."""
        try:
            if self._only is not None:
                s = self._only.score(x) + self._constant * self._only.bias
                if 0.0 < s < math.inf:
                    return 1
                if -math.inf < s < 0.0:
                    return 0
                scores = [s]
            else:
                scores = self._hypothesis_scores(x)
            are_finite = all(map(math.isfinite, scores))
        except CONVERSION_ERRORS:
            are_finite = False
        if not are_finite:
            raise explain_bad_example(x)
        return int(self.learner.decide(np.array(scores) if len(scores) == 1 else np.array([scores]))[0])

    def _hypothesis_scores(self, x: Any) -> list[float]:
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

    def _scores_of(self, vectors: list[WeightVector], x: Any) -> list[float]:
        constant = self._constant
        return [vector.score(x) + constant * vector.bias for vector in vectors]

    def _strongest_rival(self, scores: list[float], code: int) -> int:
        others = [k for k in range(len(scores)) if k != code]
        if self._tie != TIE_NEGATIVE:
            others.reverse()  # max returns the first of equals
        return max(others, key=scores.__getitem__)

    def _row_of(self, x: Any, new_names: dict[str, int]) -> Rows:
        if self.vocabulary is None:
            return Rows.of(x.reshape(1, -1))
        return rows_from_dicts([x], self.vocabulary | new_names if new_names else self.vocabulary)

    # -- the state in arrays

    def state(self) -> State:
        """Return everything learned so far in arrays that will not change; features in the order of the vocabulary."""
        if self._cached_state is None or self._cached_state[0] is not self.now:
            numbers = account_to_numbers(self.now)
            state = replace(
                self._state,
                raw=self._stack_vectors(self.raw),
                sums=self._stack_vectors(self.sums),
                pocket=self._stack_vectors(self._pocket),
                history=self._history.copy() if self._history is not None else None,
                counts=np.array(numbers[:_N_COUNTS], np.int64),
                measures=np.array(numbers[_N_COUNTS:]),
                trace=self.trace.copy(),
                importance_range=self._joined_importance_range(),
            )
            self._cached_state = self.now, state
        return self._cached_state[1]

    def _stack_vectors(self, vectors: list[WeightVector]) -> Weights:
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
        """Concatenate the many small arrays of the history; not while a change is pending."""
        if self._history is not None:
            self._history.compact()


def account_from_numbers(numbers: Sequence[Any]) -> Account:
    """Arrange counts and measures, in the order of _compiled/loops/additive.py, as an `Account`."""
    examples, mistakes, updates, run, best_run, radius, norm, step_sum, progress, seen_margin = numbers
    return examples, run, radius, seen_margin, (mistakes, updates, best_run, norm, step_sum, progress)


def account_to_numbers(account: Account) -> list[Any]:
    """Return counts and measures in the order of _compiled/loops/additive.py."""
    examples, run, radius, seen_margin, (mistakes, updates, best_run, norm, step_sum, progress) = account
    return [examples, mistakes, updates, run, best_run, radius, norm, step_sum, progress, seen_margin]


def _are_strings(names: Iterable[Any]) -> bool:
    """Return whether all names are of type str. A subclass may compare its values in Python code."""
    return all(type(name) is str for name in names)


def _margin_of(scores: list[float], code: int, rival: int) -> float:
    """Return y * score for two classes; for more, the score of the true class less that of its rival."""
    return scores[0] * (code - rival) if len(scores) == 1 else scores[code] - scores[rival]
