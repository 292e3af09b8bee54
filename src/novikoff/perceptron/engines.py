"""Engines: what a Learner does for a stateful rule.

A rule whose step is one number needs none: `Learner`, `State` and the additive loops are all there is to it. For a
stateful rule they leave to its engine, found by `find_engine`, what depends on what it keeps:

    new_slots         the slots of a state before the first example       Learner.init
    learn_in_place    one compiled call over some visits                  Learner.learn_in_place
    scores            of the weights that learning goes on from           Learner.score, for the hypothesis "last"
    theta             sum of y * x over the mistakes                      Learner.ledger, `margin_at_most`
    merge             one state of several                                Learner.merge
    fork, join        the state before a round, and after it              Learner.fork, Learner.join
    slot_shapes, slots_of_arrays                                          model files, which write `Slots.arrays`

New features, new classes and copies are operations of `Slots`, which `State` calls; one example at a time is a row of
one call to `learn_in_place` (stateful_examples.py). So a rule that keeps more than slots, such as several learners that
vote, adds a subclass of `StatefulEngine`, one of `Slots` if it needs other arrays, and a line in `_ENGINES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from novikoff._compiled.loops.additive import UpdateLog
from novikoff._compiled.loops.stateful import learn_stateful, score_stateful
from novikoff.errors import RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.candidates import Candidate, CandidateTrace
from novikoff.perceptron.merging import fork_state
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.state import State
from novikoff.perceptron.stateful_merging import join_stateful, merge_stateful
from novikoff.perceptron.visits import Visits
from novikoff.perceptron.weights import Weights
from novikoff.stateful_rules import KINDS, THETA, StatefulRule

__all__ = ["StatefulEngine"]


class StatefulEngine:
    """The engine of a rule that has one vector of weights, `State.raw`, and slots beside it.

    Attributes
    ----------
    hypotheses : tuple of str
        The hypotheses that it goes with, by their class.
    split_scale : float
        With the third class, the weights w of two classes become -split_scale * w and split_scale * w.
    """

    hypotheses: ClassVar[tuple[str, ...]] = ("Last", "Averaged", "Pocket")
    split_scale: ClassVar[float] = 0.5

    def __init__(self, rule: StatefulRule) -> None:
        self.rule = rule
        self.code = KINDS.index(type(rule))

    def require_hypothesis(self, hypothesis: object) -> None:
        """Raise a RuleError unless the rule goes with this hypothesis."""
        name = type(hypothesis).__name__
        if name not in self.hypotheses:
            possible = ", ".join(repr(each.lower()) for each in self.hypotheses)
            raise RuleError(
                f"The rule {type(self.rule).__name__} has no hypothesis {name.lower()!r}: its weights are no sum of "
                f"rows. Use {possible}, or rule='perceptron'."
            )

    def new_slots(self, n_vectors: int, n_features: int) -> Slots:
        """Return the slots of a state before the first example."""
        return Slots.initial(self.rule.slots, self.rule.n_totals, n_vectors, n_features)

    def learn_in_place(
        self, state: State, visits: Visits, log: UpdateLog, *, constant: float, tie: int
    ) -> tuple[int, int]:
        """Update weights, slots, counts and measures in one compiled call.

        Return the number of updates in the log, and the first position that was not visited.
        """
        assert state.memory is not None
        rows = visits.rows
        arrays = rows.data, rows.indices, rows.indptr, rows.n_features, rows.squared_norms
        where = visits.order, visits.start, visits.stop
        settings = constant, tie, self.code, self.rule.parameter
        raw, sums, pocket = state.raw, state.sums, state.pocket
        weights = raw.coef, raw.bias, sums.coef, sums.bias, pocket.coef, pocket.bias
        memory, counters = (state.memory.values, state.memory.totals), (state.counts, state.measures)
        return learn_stateful(
            arrays, visits.codes, *where, settings, weights, memory, counters, tuple(log), visits.importances
        )

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        """Return the scores by which the next mistake is counted: (rows,) for two classes, (rows, classes) for more."""
        weights = state.raw.to_layout(sparse=rows.is_sparse)
        out = np.empty((len(rows), len(weights.bias)))
        arrays = rows.data, rows.indices, rows.indptr, rows.n_features, rows.squared_norms
        score_stateful(arrays, constant, weights.coef, weights.bias, out)
        return out[:, 0] if out.shape[1] == 1 else out

    def theta(self, state: State) -> Weights:
        """Return the sum of y * x over the mistakes, whose length certifies the margin."""
        return Weights(state.slots[1:, :, THETA].T, state.slots[0, :, THETA])

    def linear_weights(self, state: State) -> Weights | None:
        """Return the one weight vector that comes nearest to the answers; None if the hypothesis says which."""
        return None

    def candidates(self, state: State) -> tuple[Candidate, ...]:
        """Return the learners that vote; none if there is only one."""
        return ()

    def candidate_trace(self, state: State) -> CandidateTrace | None:
        """Return the candidates along the run."""
        return None

    def vote_cost(self, state: State) -> float:
        """Return what the theorem on the vote has for ln K."""
        return 0.0

    def merge(self, states: Sequence[State]) -> State:
        """Return one state for learners that ran apart; see `stateful_merging.merge_stateful`."""
        untrained = self.new_slots(*states[0].raw.coef.shape) if states else Slots((), np.zeros(0), np.zeros(0))
        return merge_stateful(self.rule, untrained, states, self.theta)

    def fork(self, state: State) -> State:
        """Return a state that goes on from this one and counts only what it learns itself; see `merging.fork_state`."""
        return fork_state(state)

    def join(self, before: State, states: Sequence[State], shares: Sequence[float] | None) -> State:
        """Return the state after a round of forks; see `stateful_merging.join_stateful`."""
        return join_stateful(self.rule, before, states, shares, self.theta)

    # -- model files

    def slot_shapes(self, n_vectors: int, n_features: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of `Slots.arrays`, all of them float64."""
        return {
            "values": (n_features + 1, n_vectors, len(self.rule.slots)),
            "totals": (self.rule.n_totals,),
        }

    def slots_of_arrays(self, arrays: Mapping[str, np.ndarray]) -> Slots:
        """Return slots of arrays that have these shapes and hold finite numbers."""
        return Slots(self.rule.slots, arrays["values"], arrays["totals"])
