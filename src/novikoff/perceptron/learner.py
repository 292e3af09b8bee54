"""Learner: an immutable description of how to learn, and the four verbs that carry everything.

    init(n_features)              -> State     nothing learned yet
    update(state, rows, codes)    -> State     go through the rows once; may reuse the arrays of `state`
    score(state, rows)            -> scores    what the hypothesis says
    merge(states)                 -> State     one state for learners that ran apart

Estimators, commands and services are thin callers of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from novikoff import hypotheses, rules
from novikoff._compiled import compile_here, rebuild
from novikoff._compiled.llvm import call_at
from novikoff._compiled.loops import additive
from novikoff._compiled.loops.additive import (
    BEST_RUN,
    EXAMPLES,
    MISTAKES_SO_FAR,
    POSITION,
    PROGRESS,
    RIVAL,
    RUN,
    SEEN_MARGIN,
    SQUARED_NORM,
    SQUARED_NORM_AFTER,
    SQUARED_RADIUS,
    STEP,
    STEP_SUM,
    UPDATES,
)
from novikoff._compiled.user_functions import Compilations, Pointers
from novikoff.errors import DataError, MergeError, RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.history import Chain, History
from novikoff.perceptron.ledger import Ledger, Trace
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["BlockUpdate", "Learner", "State"]

TIES = {"negative": additive.TIE_NEGATIVE, "mistake": additive.TIE_MISTAKE, "positive": additive.TIE_POSITIVE}


_CHUNK = 1 << 18  # examples per compiled call: bounds the log to 10 MB, and leaves room for Ctrl-C


@dataclass(frozen=True, eq=False)
class Learner:
    """One additive rule, read through one hypothesis.

    Parameters
    ----------
    rule : a value of `novikoff.rules`, its name, or a function of (margin, squared norm)
    hypothesis : a value of `novikoff.hypotheses`, or its name
    ties : {"mistake", "positive", "negative"}
        What a score of exactly 0 means: always a mistake, the label +1, or the label -1.
    fit_intercept : bool
        Whether every row has a constant coordinate 1.
    separator : Weights, optional
        A known separator u, scaled to length 1. It changes nothing but the account: the ledger then follows
        <w, u> and the margin of u on the rows seen.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Learner, Rows
    >>> learner = Learner(fit_intercept=False)
    >>> rows = Rows.of([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    >>> state = learner.update(learner.init(2), rows, np.array([0, 1, 1, 0, 0, 1]))
    >>> state.raw.coef
    array([[3., 1.]])
    """

    rule: rules.Rule = rules.Perceptron()  # noqa: RUF009 - frozen
    hypothesis: hypotheses.Hypothesis = hypotheses.Last()  # noqa: RUF009 - frozen
    ties: str = "mistake"
    fit_intercept: bool = True
    separator: Weights | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", rules.resolve(self.rule))
        object.__setattr__(self, "hypothesis", hypotheses.resolve(self.hypothesis))
        if self.ties not in TIES:
            raise RuleError(f"ties must be one of {', '.join(map(repr, TIES))}, found {self.ties!r}.")

    @property
    def constant(self) -> float:
        return 1.0 if self.fit_intercept else 0.0

    @property
    def tie(self) -> int:
        return TIES[self.ties]

    def init(self, n_features: int, n_classes: int = 2) -> State:
        """A state that has seen nothing. Two classes share one weight vector; more have one each."""
        n_vectors = 1 if n_classes == 2 else n_classes

        def memory(wanted: bool) -> Weights:
            return Weights.zeros(n_vectors, n_features) if wanted else Weights.none()

        return State(
            raw=memory(True),
            sums=memory(self.hypothesis.averages),
            pocket=memory(self.hypothesis.pockets),
            history=History() if self.hypothesis.remembers else None,
        )

    def update(
        self,
        state: State,
        rows: Rows,
        codes: np.ndarray,
        order: np.ndarray | None = None,
        start: int = 0,
        stop: int | None = None,
    ) -> State:
        """Learn from rows one by one: predict, suffer, update.

        Parameters
        ----------
        state : State
            Its arrays are reused. If a row turns out not to hold numbers, a DataError is raised and the rows before
            it have been learned; call `rows.require_numbers()` first where that matters.
        rows : Rows
        codes : array of int64
            The class of each row: 0 or 1, or 0..K-1.
        order : array of int64, optional
            Which rows to visit, in order; repeats allowed. None: all as they stand.
        start, stop : int, optional
            Visit only positions start..stop-1 of that order.
        """
        codes, end = self.checked(state, rows, codes), len(rows)
        if order is not None:
            order = _integers("order", order)
            _require_within("order", order, len(rows))
            end = order.size
        stop = end if stop is None else stop
        if not 0 <= start <= stop <= end:
            raise DataError(f"Positions {start} to {stop} are not within 0 to {end}.")
        return self.update_checked(state, rows, codes, order, start, stop)

    def checked(self, state: State, rows: Rows, codes: np.ndarray) -> np.ndarray:
        """The codes as the kernels take them; a DataError if state, rows and codes do not go together."""
        _require_width(rows, state)
        codes = _integers("codes", codes)
        _require_within("codes", codes, state.n_classes, len(rows))
        self.require_separator_fits(*state.raw.coef.shape)
        return codes

    def update_checked(
        self, state: State, rows: Rows, codes: np.ndarray, order: np.ndarray | None, start: int, stop: int
    ) -> State:
        """`update`, for who has called `checked` before the first of many passes, and makes the order itself."""
        state = state.laid_out(sparse=rows.is_sparse)
        size = min(_CHUNK, stop - start)
        log = np.empty((size, 3), np.int64), np.empty((size, 2))
        for begin in range(start, stop, _CHUNK):
            self._learn_chunk(state, rows, codes, order, begin, min(begin + _CHUNK, stop), log)
        return state

    def block(self, state: State, rows: Rows, codes: np.ndarray) -> BlockUpdate | None:
        """An update that survives interrupts, for rows that are all numbers and one compiled call; None if they need
        several calls, or the rule is a function, which may fail on the way."""
        if len(rows) > _CHUNK or isinstance(self.rule, rules.Custom):
            return None
        codes = self.checked(state, rows, codes)
        return BlockUpdate(self, state.laid_out(sparse=rows.is_sparse), rows, codes)

    def require_separator_fits(self, n_vectors: int, n_features: int) -> None:
        """A separator must have as many weight vectors as the state, and the same features."""
        if self.separator is not None and self.separator.coef.shape != (n_vectors, n_features):
            raise DataError(
                f"The separator has weights of shape {self.separator.coef.shape}; "
                f"classes and features need {(n_vectors, n_features)}."
            )

    def _learn_chunk(
        self,
        state: State,
        rows: Rows,
        codes: np.ndarray,
        order: np.ndarray | None,
        begin: int,
        end: int,
        log: tuple[np.ndarray, np.ndarray],
    ) -> None:
        examples_before = int(state.counts[EXAMPLES])
        logged, reached = self._learn_in_place(state, rows, codes, order, begin, end, log)
        self._account(state, rows, codes, order, begin, reached, examples_before, log, logged)
        if reached < end:
            raise self._trouble(state, rows, codes, reached if order is None else int(order[reached]))

    def _learn_in_place(
        self,
        state: State,
        rows: Rows,
        codes: np.ndarray,
        order: np.ndarray | None,
        begin: int,
        end: int,
        log: tuple[np.ndarray, np.ndarray],
    ) -> tuple[int, int]:
        """Learn weights, counts and measures, in one compiled call; return how many updates the log has, and the first
        position that was not visited."""
        code, knob, loops = _compiled(self.rule)
        learn = loops[len(state.raw.bias) > 1]
        return learn(
            rows.data,
            rows.indices,
            rows.indptr,
            rows.n_features,
            rows.squared_norms,
            codes,
            order,
            begin,
            end,
            self.constant,
            self.tie,
            code,
            knob,
            *_planes(state, rows.is_sparse),
            state.counts,
            state.measures,
            *log,
        )

    def _account(
        self,
        state: State,
        rows: Rows,
        codes: np.ndarray,
        order: np.ndarray | None,
        begin: int,
        reached: int,
        examples_before: int,
        log: tuple[np.ndarray, np.ndarray],
        logged: int,
    ) -> None:
        """Pass on to trace, history and separator what `_learn_in_place` found."""
        if logged:
            at = log[0][:logged, POSITION]
            born = at + (examples_before + 1 - begin)
            self._account_for_updates(
                state, rows, codes, at if order is None else order[at], born, log[0][:logged], log[1][:logged]
            )
        if self.separator is not None and reached > begin:
            self._measure_separator(state, rows, codes, order, begin, reached)

    def _account_for_updates(
        self,
        state: State,
        rows: Rows,
        codes: np.ndarray,
        visited: np.ndarray,
        born: np.ndarray,
        log: np.ndarray,
        values: np.ndarray,
    ) -> None:
        """Pass the logged updates on to the trace and the history."""
        progress = None
        if self.separator is not None or state.history is not None:
            steps = values[:, STEP].copy()
            classes = np.column_stack([codes[visited], log[:, RIVAL]])
        if self.separator is not None:
            gained = steps * margins(self.separator, Rows.of(rows.take(visited)), classes, self.constant)
            progress = state.measures[PROGRESS] + np.cumsum(gained)
            state.measures[PROGRESS] = progress[-1]
        if state.history is not None:
            state.history.add(rows, visited.copy(), steps, classes, born)
        first = int(state.counts[UPDATES]) - len(log) + 1
        state.trace.add(first, born, log[:, MISTAKES_SO_FAR], values[:, SQUARED_NORM_AFTER], progress)

    def _measure_separator(
        self, state: State, rows: Rows, codes: np.ndarray, order: np.ndarray | None, begin: int, end: int
    ) -> None:
        assert self.separator is not None
        seen = np.arange(begin, end) if order is None else order[begin:end]
        found = margins(self.separator, Rows.of(rows.take(seen)), codes[seen], self.constant)
        state.measures[SEEN_MARGIN] = min(state.measures[SEEN_MARGIN], found.min())

    def _trouble(self, state: State, rows: Rows, codes: np.ndarray, row: int) -> Exception:
        """Why a pass stopped at a row: it is not made of numbers, or the rule's step is not one."""
        if rows.squared_norms[row] < 0.0:
            return rows.trouble_in(row)
        one = Rows.of(rows.take(np.array([row])))
        margin = float(margins(state.raw.laid_out(sparse=one.is_sparse), one, codes[[row]], self.constant)[0])
        squared_norm = (rows.squared_norms[row] + self.constant) * (2.0 if len(state.raw.bias) > 1 else 1.0)
        assert isinstance(self.rule, rules.Custom)
        where = f"At row {row}, example {int(state.counts[EXAMPLES]) + 1:,} of the run: "
        try:
            self.rule.step(margin, float(squared_norm), margin <= 0.0)
        except RuleError as error:
            found = RuleError(where + str(error))
            found.__cause__ = error.__cause__
            return found
        return RuleError(
            f"{where}the rule {self.rule.name}, compiled, finds no step for margin {margin!r} and squared "
            f"norm {float(squared_norm)!r}, and in Python it does; write it without branches that "
            "rounding can tip."
        )

    def score(self, state: State, rows: Rows) -> np.ndarray:
        """What the hypothesis says: (rows,) for two classes, positive for class 1; (rows, classes) for many."""
        _require_width(rows, state)
        return self.hypothesis.scores(state, rows, constant=self.constant, tie=self.tie)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The classes that scores stand for. Equal scores go to the last class, or the first if ties are negative."""
        first = self.tie == additive.TIE_NEGATIVE
        if scores.ndim == 1:
            return (scores > 0.0 if first else scores >= 0.0).astype(np.int64)
        if first:
            return scores.argmax(axis=1)
        return scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)

    def errors(self, weights: Weights, rows: Rows, codes: np.ndarray) -> int:
        """How many rows these weights would count as mistakes."""
        scores = weights.scores(rows, self.constant)
        wrong = self.decide(scores) != codes
        if self.tie == additive.TIE_MISTAKE:
            wrong |= margins_of_scores(scores, codes) == 0.0
        return int(wrong.sum())

    def merge(self, states: Sequence[State]) -> State:
        """Mix the states of learners that ran apart on shards of the data, each weighing as many examples as it saw.

        The raw weights are the weighted mean (iterative parameter mixing: McDonald, Hall & Mann 2010), and the
        averaged ones come out as the weighted mean of the averages. Voters all keep their vote. The state of one
        learner alone comes back as it is.
        """
        if not states:
            raise MergeError("There is nothing to merge: pass at least one state.")
        if len({(state.n_features, len(state.raw.bias)) for state in states}) > 1:
            raise MergeError(
                "States of different shapes cannot be merged: give all learners the same features "
                "and classes before they start."
            )
        if len({(bool(state.sums), bool(state.pocket), state.history is None) for state in states}) > 1:
            raise MergeError("States of learners with different hypotheses cannot be merged.")
        if len(states) == 1:
            return states[0].copy()
        seen = np.array([state.counts[EXAMPLES] for state in states], float)
        shares = seen / seen.sum() if seen.sum() else np.full(len(states), 1.0 / len(states))
        raw = _mix([state.raw for state in states], shares)
        counts = np.sum([state.counts for state in states], axis=0)
        counts[RUN] = 0
        longest = max(states, key=lambda state: max(state.counts[BEST_RUN], state.counts[RUN]))
        counts[BEST_RUN] = max(longest.counts[BEST_RUN], longest.counts[RUN])
        return State(
            raw=raw,
            sums=_mix([state.sums for state in states], np.ones(len(states))),
            pocket=hypotheses.Pocket().weights(longest).copy() if longest.pocket else Weights.none(),
            history=_joined(states, raw, int(counts[EXAMPLES])),
            counts=counts,
            measures=_mixed_measures(states, shares, raw),
            trace=Trace(),
            passes=max(state.passes for state in states),
            is_bounded=False,
        )

    def ledger(self, state: State) -> Ledger:
        """The account of how this state came to be."""
        counts, measures = state.counts.tolist(), state.measures
        known = self.separator is not None and counts[EXAMPLES] > 0
        return Ledger(
            examples=counts[EXAMPLES],
            mistakes=counts[additive.MISTAKES],
            updates=counts[UPDATES],
            passes=state.passes,
            radius=float(np.sqrt(measures[SQUARED_RADIUS])),
            norm=state.raw.norm,
            step_sum=float(measures[STEP_SUM]),
            trace=state.trace.copy(),
            rule=self.rule,
            n_weights=state.raw.coef.size + state.raw.bias.size,
            margin=float(measures[SEEN_MARGIN]) if known else None,
            is_bounded=state.is_bounded,
        )


class BlockUpdate:
    """One update of a state that can be finished after an interrupt, wherever that strikes.

    `learn` is one compiled call, which no interrupt stops; it changes weights, counts and measures in place. `finished`
    changes nothing. It may be called again, and by whoever comes after an interrupt.
    """

    def __init__(self, learner: Learner, state: State, rows: Rows, codes: np.ndarray) -> None:
        self._learner, self._state, self._rows, self._codes = learner, state, rows, codes
        self._examples, self._updates = int(state.counts[EXAMPLES]), int(state.counts[UPDATES])
        self._log = np.empty((len(rows), 3), np.int64), np.empty((len(rows), 2))

    def learn(self) -> None:
        """Learn from all rows."""
        self._learner._learn_in_place(self._state, self._rows, self._codes, None, 0, len(self._rows), self._log)

    @property
    def is_learned(self) -> bool:
        return int(self._state.counts[EXAMPLES]) > self._examples

    def finished(self) -> State:
        """The state with everything accounted for; its weights are those that were learned in place."""
        history = self._state.history
        state = replace(
            self._state,
            measures=self._state.measures.copy(),
            trace=self._state.trace.copy(),
            history=history.copy() if history is not None else None,
        )
        n, logged = len(self._rows), int(state.counts[UPDATES]) - self._updates
        self._learner._account(state, self._rows, self._codes, None, 0, n, self._examples, self._log, logged)
        if state.history is not None:
            state.history.release()
        return state


def _require_width(rows: Rows, state: State) -> None:
    if rows.n_features != state.n_features:
        raise DataError(f"X has {rows.n_features} features, but the state is expecting {state.n_features} features.")


def _integers(name: str, values: np.ndarray) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind not in "iub":
        raise DataError(f"{name} must be integers, found dtype {values.dtype}.")
    return np.ascontiguousarray(values, np.int64)


def _require_within(name: str, values: np.ndarray, limit: int, length: int | None = None) -> None:
    """Compiled code does not check its indices."""
    if length is not None and len(values) != length:
        raise DataError(f"There are {len(values)} {name} for {length} rows.")
    if values.size and not (values.min() >= 0 and values.max() < limit):
        raise DataError(f"{name} must be from 0 to {limit - 1}, found {values.min()} to {values.max()}.")


def margins(weights: Weights, rows: Rows, codes: np.ndarray, constant: float) -> np.ndarray:
    """<w, v> for the vectors v that the proofs speak of: y*x for two classes; for many, phi(x, y) - phi(x, z) with z
    the strongest rival, or the one given beside y where codes are pairs."""
    scores = weights.scores(rows, constant)
    return margins_of_scores(scores, codes)


def margins_of_scores(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    true = codes if codes.ndim == 1 else codes[:, 0]
    if scores.ndim == 1:
        return scores * (2 * true - 1)
    each = np.arange(len(scores))
    if codes.ndim == 2:
        return scores[each, true] - scores[each, codes[:, 1]]
    others = scores.copy()
    others[each, true] = -np.inf
    return scores[each, true] - others.max(axis=1)


def _planes(state: State, sparse: bool) -> list[np.ndarray]:
    """The weights in use, as the kernels take them: one vector flat, many as (class, feature) or its transpose."""
    found: list[np.ndarray] = []
    for weights in (state.raw, state.sums, state.pocket):
        many = weights.coef.T if sparse else weights.coef
        found += [weights.coef.reshape(-1) if len(state.raw.bias) == 1 else many, weights.bias]
    return found


_Loops = tuple[Callable[..., Any], Callable[..., Any]]  # for two classes and for many
_LOOPS: _Loops = (additive.binary_pass, additive.multiclass_pass)
_of_users: Compilations[_Loops] = Compilations()


def _compiled(rule: rules.Rule) -> tuple[int, float, _Loops]:
    """A rule as the kernels take it: code, parameter, and the loops for two and for many classes."""
    if not isinstance(rule, rules.Custom):
        return *coded(rule), _LOOPS
    loops = _of_users.find([rule.function], lambda: _loops_for(rule.function))
    if loops is not None:
        return -1, 0.0, loops
    pointers = Pointers([rule.function])
    binary, multiclass = _loops_for_pointers()
    return pointers.address, 0.0, (pointers.within(binary, but=Exception), pointers.within(multiclass, but=Exception))


def _loops_for(function: Callable[[float, float], float]) -> _Loops:
    """The loops with a user's function in them. What it raises, and steps that are too long, become NaN: the loop stops
    there, and `Learner._trouble` finds out why."""
    users = _compiled_function(function)

    def step_size(rule, knob, margin, squared_norm, mistake):  # type: ignore[no-untyped-def]
        try:
            tau = float(users(margin, squared_norm))
        except Exception:
            return math.nan
        return tau if tau == 0.0 or tau * tau * squared_norm <= rules.LONGEST else math.nan

    return rebuild(_LOOPS[0], step_size=step_size), rebuild(_LOOPS[1], step_size=step_size)


@cache
def _loops_for_pointers() -> _Loops:
    """The loops that call a function by its address, which takes the place of the code of a rule."""

    def step_size(rule, knob, margin, squared_norm, mistake):  # type: ignore[no-untyped-def]
        tau = call_at(rule, 0, margin, squared_norm)
        return tau if tau == 0.0 or tau * tau * squared_norm <= rules.LONGEST else math.nan

    return rebuild(_LOOPS[0], step_size=step_size), rebuild(_LOOPS[1], step_size=step_size)


def coded(rule: rules.Perceptron | rules.Margin | rules.PassiveAggressive) -> tuple[int, float]:
    """A rule of ours as the kernels take it: code and parameter."""
    if isinstance(rule, rules.Perceptron):
        return additive.PERCEPTRON, rule.learning_rate
    if isinstance(rule, rules.Margin):
        return additive.MARGIN, rule.beta
    return additive.PASSIVE_AGGRESSIVE_1 if rule.variant == "I" else additive.PASSIVE_AGGRESSIVE_2, rule.C


def _compiled_function(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """A user's rule, compiled and tried; numba's pages of trouble become one sentence."""
    try:
        compiled = compile_here(function)
        is_number = isinstance(compiled(0.0, 1.0), (int, float))
    except Exception as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise RuleError(
            f"The rule {function!r} cannot be compiled ({reason}). It must be a plain function of "
            "(margin, squared_norm) that keeps to arithmetic and math."
        ) from error
    if not is_number:
        raise RuleError(f"The rule {function!r} must return a number for every margin and squared norm.")
    return compiled


def _mix(all_weights: list[Weights], shares: np.ndarray) -> Weights:
    if not all_weights[0]:
        return Weights.none()
    coef = sum(share * weights.coef for share, weights in zip(shares, all_weights, strict=True))
    bias = sum(share * weights.bias for share, weights in zip(shares, all_weights, strict=True))
    return Weights(np.asarray(coef), np.asarray(bias))


def _mixed_measures(states: Sequence[State], shares: np.ndarray, raw: Weights) -> np.ndarray:
    """R is the largest; <w, u> and the sum of steps mix as the weights do, so that |w| / steps still bounds gamma."""
    measures = np.array([state.measures for state in states])
    mixed = shares @ np.where(np.isfinite(measures), measures, 0.0)
    mixed[SQUARED_RADIUS] = measures[:, SQUARED_RADIUS].max()
    mixed[SQUARED_NORM] = raw.norm**2
    mixed[SEEN_MARGIN] = measures[:, SEEN_MARGIN].min()
    return mixed


def _joined(states: Sequence[State], raw: Weights, examples: int) -> History | None:
    """All chains, ended where they are, and a new one that starts from the mixed weights."""
    chains: list[Chain] = []
    for state in states:
        if state.history is None:
            return None
        for chain in state.history.copy().chains:
            end = chain.ended if chain.ended is not None else int(state.counts[EXAMPLES])
            chains.append(replace(chain, ended=end))
    return History([*chains, Chain(born=examples, base=raw.copy())])
