"""PoolEngine: what a Learner does for the rule "auto"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, UpdateLog
from novikoff._compiled.loops.pool import (
    EXAMPLES_SO_FAR,
    LOG_COST,
    MISTAKES_OF_VOTE,
    WEIGHT,
    WRONG,
    learn_pool,
    score_pool,
)
from novikoff._compiled.loops.pool_vote import N_CANDIDATES
from novikoff.auto_rule import CANDIDATES
from novikoff.errors import RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.blending import blend_weights
from novikoff.perceptron.candidates import Candidate, CandidateTrace
from novikoff.perceptron.engines import StatefulEngine
from novikoff.perceptron.pool_merging import merge_pools
from novikoff.perceptron.pool_slots import PoolSlots, pool_of
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits
from novikoff.perceptron.weights import Weights
from novikoff.stateful_rules import StatefulRule

__all__ = ["PoolEngine"]

_NO_HATS = np.zeros(0, np.uint8)


class PoolEngine(StatefulEngine):
    """The engine of the rule "auto". `State.raw` is theta, the sum of y * x over the vote's own mistakes."""

    hypotheses: ClassVar[tuple[str, ...]] = ("Last",)
    split_scale: ClassVar[float] = 1.0  # theta becomes -theta and theta

    def __init__(self, rule: StatefulRule) -> None:
        self.rule = rule

    def require_hypothesis(self, hypothesis: object) -> None:
        """Raise a RuleError unless the hypothesis is the last one."""
        name = type(hypothesis).__name__.lower()
        if name != "last":
            raise RuleError(
                f"The rule 'auto' has no hypothesis {name!r}: its answers are a vote of eight learners, averages among "
                "them, as it is now. Use hypothesis='last', or another rule."
            )

    def new_slots(self, n_vectors: int, n_features: int) -> Slots:
        """Return the slots of a state before the first example."""
        return PoolSlots.untrained(n_vectors, n_features)

    def learn_in_place(
        self, state: State, visits: Visits, log: UpdateLog, *, constant: float, tie: int
    ) -> tuple[int, int]:
        """Update everything in one compiled call.

        Return the number of mistakes in the log, and the first position that was not visited.
        """
        slots, rows = pool_of(state), visits.rows
        is_hat = getattr(rows, "is_hat", None)
        if is_hat is not None:
            slots.mark_hats(is_hat)
        arrays = rows.data, rows.indices, rows.indptr, rows.n_features, rows.squared_norms
        where = visits.order, visits.start, visits.stop
        theta, n_vectors = state.raw.coef.T if rows.is_sparse else state.raw.coef, len(state.raw.bias)
        return learn_pool(
            arrays,
            visits.codes,
            *where,
            (constant, tie, slots.is_hat),
            tuple(slots.pool),
            (theta, state.raw.bias),
            (state.counts, state.measures),
            tuple(log),
            visits.importances,
            None if n_vectors == 1 else np.empty((3, n_vectors)),
        )

    def scores(self, state: State, rows: Rows, *, constant: float, tie: int) -> np.ndarray:
        """Return the votes on rows: of two classes the difference of the weights behind them, (rows,); of more the
        weight behind each class, (rows, classes)."""
        slots = pool_of(state)
        out = np.empty((len(rows), len(state.raw.bias)))
        n_examples = int(state.counts[EXAMPLES])
        arrays = rows.data, rows.indices, rows.indptr
        score_pool(*arrays, (constant, tie, slots.is_hat), n_examples, tuple(slots.pool), out)
        return out[:, 0] if out.shape[1] == 1 else out

    def theta(self, state: State) -> Weights:
        """Return the sum of y * x over the vote's mistakes."""
        return state.raw

    def linear_weights(self, state: State) -> Weights:
        """Return the weights of the blended score; see `blending.blend_weights`."""
        return blend_weights(state)

    def candidates(self, state: State) -> tuple[Candidate, ...]:
        """Return the candidates with their mistakes and weights."""
        votes = pool_of(state).shared["votes"]
        return tuple(
            Candidate(name, int(wrong), float(weight))
            for name, wrong, weight in zip(CANDIDATES, votes[WRONG], votes[WEIGHT], strict=True)
        )

    def candidate_trace(self, state: State) -> CandidateTrace:
        """Return the candidates along the run, or since the last merge."""
        points, n = pool_of(state).trace.copy(), N_CANDIDATES
        return CandidateTrace(
            points[:, EXAMPLES_SO_FAR], points[:, :n], points[:, n : 2 * n], points[:, MISTAKES_OF_VOTE]
        )

    def vote_cost(self, state: State) -> float:
        """Return what the theorem on the vote has for ln K: more after a merge."""
        return float(pool_of(state).shared["numbers"][LOG_COST])

    def merge(self, states: Sequence[State]) -> State:
        """Return one state for learners that ran apart; see `pool_merging.merge_pools`."""
        return merge_pools(states)

    def fork(self, state: State) -> State:
        """Refuse: no theorem is known about the vote of pools that are mixed again and again."""
        raise RuleError(
            "The rule 'auto' cannot be forked and joined: its vote weighs eight learners by their mistakes on one "
            "stream, and its bound would not survive rounds of mixing. Choose another rule, such as 'perceptron'."
        )

    def join(self, before: State, states: Sequence[State], shares: Sequence[float] | None) -> State:
        """Refuse, as `fork` does."""
        return self.fork(before)

    # -- model files

    def slot_shapes(self, n_vectors: int, n_features: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of `PoolSlots.arrays`, all of them float64."""
        return PoolSlots.shapes(n_vectors, n_features)

    def slots_of_arrays(self, arrays: Mapping[str, np.ndarray]) -> Slots:
        """Return slots of arrays that have these shapes and hold finite numbers."""
        return PoolSlots.of_arrays(dict(arrays))
