"""Learner: the immutable configuration of an online learner, with its operations on a state.

    init(n_features)              -> State     before the first example
    update(state, rows, codes)    -> State     learn from each row once; modifies `state` in place where possible
    score(state, rows)            -> scores    of the hypothesis
    merge(states)                 -> State     one state for learners trained independently
    fork(state), join(before, states)          iterative parameter mixing: rounds of learners that begin alike

Estimators and commands call these operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from novikoff import hypotheses, rules
from novikoff._compiled.loops import additive
from novikoff._compiled.loops.additive import EXAMPLES, UPDATES, UpdateLog
from novikoff.errors import DataError, RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.accounting import allocate_log, explain_stop, record_pass
from novikoff.perceptron.compiled_rules import BUILT_IN_LOOPS, compile_rule, encode_rule
from novikoff.perceptron.engines import StatefulEngine
from novikoff.perceptron.find_engine import find_engine
from novikoff.perceptron.history import History
from novikoff.perceptron.labelling import decide
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.merging import fork_state, join_states, merge_states
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits, as_integers, require_range
from novikoff.perceptron.weights import Weights, margins_of_scores

__all__ = ["CHUNK", "TIES", "Learner", "Ties"]

Ties: TypeAlias = Literal["mistake", "positive", "negative"]
TIES: dict[str, int] = {
    "negative": additive.TIE_NEGATIVE,
    "mistake": additive.TIE_MISTAKE,
    "positive": additive.TIE_POSITIVE,
}

CHUNK = 1 << 18  # examples per compiled call: limits the log to 10 MB; Ctrl-C takes effect between calls


@dataclass(frozen=True, eq=False)
class Learner:
    """Immutable configuration of an online learner: update rule, hypothesis, ties and intercept.

    Parameters
    ----------
    rule : a value of `novikoff.rules`, its name, or a function of (margin, squared norm)
    hypothesis : a value of `novikoff.hypotheses`, or its name
    ties : {"mistake", "positive", "negative"}
        How a score of exactly 0 is treated: as a mistake, as the label +1, or as the label -1.
    fit_intercept : bool
        Whether every row has a constant coordinate 1, whose weight is the bias.
    separator : Weights, optional
        A known separator u; must have unit length (it is not normalized here). It does not change what is learned:
        the ledger then also records <w, u> and the margin of u on the rows seen.

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
        if self.engine is not None:
            self.engine.require_hypothesis(self.hypothesis)

    @cached_property
    def engine(self) -> StatefulEngine | None:
        """What learns and scores for a stateful rule; None for other rules."""
        return find_engine(self.rule)

    @cached_property
    def _formula_code(self) -> tuple[int, float] | None:
        """The code and the parameter of a built-in rule; None for a stateful rule and for a user's function."""
        return None if isinstance(self.rule, rules.StatefulRule | rules.Custom) else encode_rule(self.rule)

    @property
    def split_scale(self) -> float:
        """With the third class, the weights w of two classes become -split_scale * w and split_scale * w.

        For a rule that depends only on mistakes, -w and w are exactly what a model would have that had two vectors from
        the start; other rules depend on the size of the margin, and -w/2 and w/2 preserve all margins.
        """
        if self.engine is not None:
            return self.engine.split_scale
        return 1.0 if self.rule.depends_only_on_mistakes else 0.5

    @property
    def constant(self) -> float:
        """The coordinate that every row has besides its features: 1 with an intercept, 0 without."""
        return 1.0 if self.fit_intercept else 0.0

    @property
    def tie(self) -> int:
        """The integer that stands for `ties` in compiled loops."""
        return TIES[self.ties]

    def init(self, n_features: int, n_classes: int = 2) -> State:
        """Return the state before the first example. Two classes share one weight vector; more have one each."""
        n_vectors = 1 if n_classes == 2 else n_classes

        def allocate(is_needed: bool) -> Weights:
            return Weights.zeros(n_vectors, n_features) if is_needed else Weights.none()

        return State(
            raw=allocate(True),
            sums=allocate(self.hypothesis.averages),
            pocket=allocate(self.hypothesis.pockets),
            history=History() if self.hypothesis.remembers else None,
            memory=self.engine.new_slots(n_vectors, n_features) if self.engine is not None else None,
        )

    # -- learning

    def update(
        self,
        state: State,
        rows: Rows,
        codes: np.ndarray,
        order: np.ndarray | None = None,
        start: int = 0,
        stop: int | None = None,
        importances: np.ndarray | None = None,
    ) -> State:
        """Learn from rows one by one: predict, count a mistake if the prediction is wrong, and update.

        Parameters
        ----------
        state : State
            Modified in place where possible; use only the returned state. If a row contains NaN or infinity, a
            DataError is raised after the preceding rows have been learned; call `rows.require_numbers()` first where
            that matters.
        rows : Rows
        codes : array of int64
            The class of each row: 0 or 1, or 0..K-1.
        order : array of int64, optional
            Indices of the rows to visit, in this order; repeats are allowed. None: all rows, in their own order.
        start, stop : int, optional
            Visit only positions start..stop-1 of that order.
        importances : array of float64, optional
            A number c > 0 for each row: its update is w <- w + c * tau * y * x. None: all are 1. Only the step depends
            on it; every example counts once in the ledger, in averages and in votes.
        """
        codes = self.check_codes(state, rows, codes)
        return self.update_unchecked(state, Visits.check(rows, codes, order, start, stop, importances))

    def check_codes(self, state: State, rows: Rows, codes: np.ndarray) -> np.ndarray:
        """Return the codes as int64. Raise a DataError if state, rows and codes do not match."""
        _require_width(rows, state)
        codes = as_integers("codes", codes)
        if len(codes) != len(rows):
            raise DataError(f"There are {len(codes)} codes for {len(rows)} rows.")
        require_range("codes", codes, state.n_classes)
        self.require_separator_fits(*state.raw.coef.shape)
        return codes

    def require_separator_fits(self, n_vectors: int, n_features: int) -> None:
        """Raise a DataError if the separator does not have weights of this shape."""
        if self.separator is not None and self.separator.coef.shape != (n_vectors, n_features):
            raise DataError(
                f"The separator has weights of shape {self.separator.coef.shape}; "
                f"these classes and features need {(n_vectors, n_features)}."
            )

    def update_unchecked(self, state: State, visits: Visits) -> State:
        """Learn as `update` does, from visits whose indices have been checked.

        The state is modified in place where possible; use only the returned state.
        """
        state = state.to_layout(sparse=visits.rows.is_sparse)
        log = allocate_log(min(CHUNK, visits.stop - visits.start))
        for start in range(visits.start, visits.stop, CHUNK):
            self._learn_chunk(state, visits.between(start, min(start + CHUNK, visits.stop)), log)
        return state

    def _learn_chunk(self, state: State, visits: Visits, log: UpdateLog) -> None:
        examples_before = int(state.counts[EXAMPLES])
        n_logged, reached = self.learn_in_place(state, visits, log)
        self.record(state, visits.between(visits.start, reached), examples_before, log, n_logged)
        if reached < visits.stop:
            raise explain_stop(state, visits, reached, self.rule, self.constant)

    def learn_in_place(self, state: State, visits: Visits, log: UpdateLog) -> tuple[int, int]:
        """Update weights, counts and measures in one compiled call.

        Return the number of updates in the log, and the first position that was not visited.
        """
        if self.engine is not None:
            return self.engine.learn_in_place(state, visits, log, constant=self.constant, tie=self.tie)
        if self._formula_code is not None:
            (code, parameter), loops = self._formula_code, BUILT_IN_LOOPS
        else:
            code, parameter, loops = compile_rule(self.rule)  # type: ignore[arg-type]  # no engine: no stateful rule
        learn = loops.multiclass if len(state.raw.bias) > 1 else loops.binary
        # RowArrays, PassSettings, PassWeights, Counters and UpdateLog are passed as plain tuples: numba unboxes a tuple
        # 0.4 us faster than a NamedTuple, which matters for blocks of one row.
        rows, settings = visits.rows, (self.constant, self.tie, code, parameter)
        arrays = rows.data, rows.indices, rows.indptr, rows.n_features, rows.squared_norms
        weights, counters = _pass_weights(state, rows.is_sparse), (state.counts, state.measures)
        where = visits.order, visits.start, visits.stop
        return learn(arrays, visits.codes, *where, settings, weights, counters, tuple(log), visits.importances)

    def record(self, state: State, visits: Visits, examples_before: int, log: UpdateLog, n_logged: int) -> None:
        """Update trace and history after `learn_in_place`, given the number of examples before it."""
        logged = UpdateLog(log.integers[:n_logged], log.floats[:n_logged])
        record_pass(state, visits, examples_before, logged, self.separator, self.constant)

    # -- prediction

    def score(self, state: State, rows: Rows) -> np.ndarray:
        """Return the hypothesis's scores: (rows,) for two classes, positive for class 1; (rows, classes) for more."""
        _require_width(rows, state)
        if self.engine is not None and isinstance(self.hypothesis, hypotheses.Last):
            return self.engine.scores(state, rows, constant=self.constant, tie=self.tie)
        return self.hypothesis.scores(state, rows, constant=self.constant, tie=self.tie)

    def current_scores(self, state: State, rows: Rows) -> np.ndarray:
        """Return the scores that learning goes on from, as `score` does for the hypothesis "last"."""
        if self.engine is not None:
            return self.engine.scores(state, rows, constant=self.constant, tie=self.tie)
        return state.raw.scores(rows, self.constant)

    def linear_weights(self, state: State) -> Weights | None:
        """Return the weight vector that answers, or for the rule "auto" the one that comes nearest; None if there is
        no single one."""
        of_engine = None if self.engine is None else self.engine.linear_weights(state)
        return self.hypothesis.weights(state) if of_engine is None else of_engine

    @property
    def weights_of(self) -> str:
        """What `linear_weights` are: the name of the hypothesis, or "blended" for the rule "auto"."""
        return "blended" if isinstance(self.rule, rules.Auto) else type(self.hypothesis).__name__.lower()

    def to_linear(self) -> Learner:
        """Return a learner for the blended weights of the rule "auto"; see `Model.to_linear`."""
        if not isinstance(self.rule, rules.Auto):
            raise RuleError(
                f"to_linear is for the rule 'auto', and the rule of this model is {type(self.rule).__name__}: it is "
                "linear already, or, with the hypothesis voted, a vote of many vectors."
            )
        return Learner(rules.Perceptron(), hypotheses.Last(), self.ties, self.fit_intercept)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return the class codes for scores. Ties go to the last class, or to the first if `ties="negative"`."""
        return decide(scores, self.tie)

    def current_errors(self, state: State, rows: Rows, codes: np.ndarray) -> int:
        """Count the rows that would be a mistake if they came next (including ties if ties="mistake")."""
        return int(self._are_wrong(self.current_scores(state, rows), codes).sum())

    def find_errors(self, weights: Weights, rows: Rows, codes: np.ndarray) -> np.ndarray:
        """Return for each row whether these weights misclassify it (including ties if ties="mistake")."""
        return self._are_wrong(weights.scores(rows, self.constant), codes)

    def _are_wrong(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        is_wrong = self.decide(scores) != codes
        if self.tie == additive.TIE_MISTAKE:
            is_wrong |= margins_of_scores(scores, codes) == 0.0
        return is_wrong

    def merge(self, states: Sequence[State]) -> State:
        """Merge the states of learners trained independently on shards of the data; see `merging.merge_states`, and
        `stateful_merging.merge_stateful` for stateful rules. States that go on from a common one are refused: see
        `join`."""
        return merge_states(states) if self.engine is None else self.engine.merge(states)

    def fork(self, state: State) -> State:
        """Return a state that goes on from the weights of this one and counts only what it learns itself; for `join`.

        The state stays as it is, and must not learn until its forks are joined. Not for the hypothesis "voted" and the
        rule "auto".
        """
        return fork_state(state) if self.engine is None else self.engine.fork(state)

    def join(self, before: State, states: Sequence[State], shares: Sequence[float] | None = None) -> State:
        """Return the state after a round in which several forks of one state have learned, each from its own rows.

        This is iterative parameter mixing (McDonald, Hall & Mann 2010): fork, learn, join, and again.

        Parameters
        ----------
        before : State
            The state before the round.
        states : sequence of State
            What became of the forks of `before`.
        shares : sequence of float, optional
            Of each fork in the new weights: numbers >= 0 that sum to 1. By default proportional to their examples.

        Returns
        -------
        State
            Its weights are the mean of those of the forks; its counts, and the averaged weights, are of all examples
            so far. See `merging.join_states`, and for stateful rules `stateful_merging.join_stateful`.

        Notes
        -----
        Theorem. If the perceptron learns so from rows of length at most R that a half-space separates by the margin
        gamma, then the mistakes k of the forks, each times its share mu, satisfy sum over all rounds and forks of
        mu k <= (R / gamma)^2, whatever the shares are. `ledger(state).weighted_mistakes` is that sum.

        Examples
        --------
        >>> import numpy as np
        >>> from novikoff import Learner, Rows
        >>> learner, state = Learner(hypothesis="averaged"), Learner(hypothesis="averaged").init(1)
        >>> shards = [(Rows.of([[1.0], [-2.0]]), np.array([1, 0])), (Rows.of([[3.0], [-1.0]]), np.array([1, 0]))]
        >>> for _ in range(2):
        ...     forks = [learner.update(learner.fork(state), rows, codes) for rows, codes in shards]
        ...     state = learner.join(state, forks)
        >>> state.raw.coef.tolist(), learner.ledger(state).examples, learner.ledger(state).weighted_mistakes
        ([[2.0]], 8, 1.0)
        """
        return join_states(before, states, shares) if self.engine is None else self.engine.join(before, states, shares)

    def ledger(self, state: State) -> Ledger:
        """Return the ledger of the run that led to a state."""
        counts, measures = state.counts.tolist(), state.measures
        has_margin = self.separator is not None and counts[EXAMPLES] > 0
        return Ledger(
            examples=counts[EXAMPLES],
            mistakes=counts[additive.MISTAKES],
            updates=counts[UPDATES],
            passes=state.passes,
            radius=float(np.sqrt(measures[additive.SQUARED_RADIUS])),
            norm=state.raw.norm,
            mistake_norm=None if self.engine is None else self.engine.theta(state).norm,
            candidates=() if self.engine is None else self.engine.candidates(state),
            candidate_trace=None if self.engine is None else self.engine.candidate_trace(state),
            vote_cost=0.0 if self.engine is None else self.engine.vote_cost(state),
            step_sum=float(measures[additive.STEP_SUM]),
            trace=state.trace.copy(),
            rule=self.rule,
            n_weights=state.raw.coef.size + state.raw.bias.size,
            margin=float(measures[additive.SEEN_MARGIN]) if has_margin else None,
            is_bounded=state.is_bounded,
            importance_range=state.importance_range or (1.0, 1.0),
        )


def _require_width(rows: Rows, state: State) -> None:
    if rows.n_features != state.n_features:
        raise DataError(f"X has {rows.n_features} features, but the state is expecting {state.n_features} features.")


def _pass_weights(state: State, sparse: bool) -> tuple[np.ndarray, ...]:
    """Return the fields of `additive.PassWeights`.

    The weights are 1-D if there is one vector; otherwise (class, feature) for dense rows, transposed for sparse rows.
    """
    raw, sums, pocket = state.raw, state.sums, state.pocket
    if len(raw.bias) == 1:
        return raw.coef.reshape(-1), raw.bias, sums.coef.reshape(-1), sums.bias, pocket.coef.reshape(-1), pocket.bias
    if sparse:
        return raw.coef.T, raw.bias, sums.coef.T, sums.bias, pocket.coef.T, pocket.bias
    return raw.coef, raw.bias, sums.coef, sums.bias, pocket.coef, pocket.bias
