"""The batch perceptron: cycle through a fixed set until a whole pass is clean, or a limit says stop.

While some example is wrong, update on it; which one is left open, and Novikoff's bound holds for every choice. Here a
choice is the order of a pass:

    given      as the rows stand
    shuffled   a new permutation each pass
    random     n draws with replacement
    worst      most violated first: by margin under the weights at the start of the pass
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from novikoff import rules
from novikoff.kernels.additive import BEST_RUN, MISTAKES, RUN, UPDATES
from novikoff.learner import GIVEN_ORDER, Learner, State, margins
from novikoff.rows import Rows
from novikoff.weights import Weights

__all__ = ["ORDERS", "Run", "cycle"]

ORDERS = ("given", "shuffled", "random", "worst")


@dataclass(frozen=True)
class Run:
    """How the cycling ended."""

    passes: int
    converged: bool
    last_mistakes: int


def cycle(
    learner: Learner, state: State, rows: Rows, codes: np.ndarray, *, order: str, max_iter: int,
    rng: np.random.Generator, after_pass: Callable[[int, State], bool | None] | None = None,
) -> tuple[State, Run]:  # fmt: skip
    """Pass after pass, until one makes no mistake (no update, for a rule that insists on a margin).

    `after_pass(number, state)` is called after each; a true answer stops the cycling.
    """
    if order == "random":
        rows.require_numbers()  # draws may miss a bad row in every pass
    ratchet = _Ratchet(learner, rows, codes) if learner.hypothesis.pockets else None
    for number in range(1, max_iter + 1):
        before = state.counts.copy()
        state = learner.update(state, rows, codes, _order_of_pass(order, learner, state, rows, codes, rng))
        state.passes += 1
        changed = state.counts - before
        if ratchet is not None:
            ratchet.check(state)
        converged = _is_clean(learner, changed) and (order != "random" or _all_right(learner, state, rows, codes))
        stopped = after_pass(number, state) if after_pass is not None else False
        if converged or stopped:
            break
    if ratchet is not None:
        ratchet.settle(state)
    if state.history is not None:
        state.history.release()
    return state, Run(number, converged, int(changed[MISTAKES]))


def _order_of_pass(
    order: str, learner: Learner, state: State, rows: Rows, codes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    n = len(rows)
    if order == "shuffled":
        return rng.permutation(n)
    if order == "random":
        return rng.integers(0, n, size=n)
    if order == "worst":
        rows.require_numbers()
        return np.argsort(margins(state.raw, rows, codes, learner.constant), kind="stable")
    return GIVEN_ORDER


def _is_clean(learner: Learner, changed: np.ndarray) -> bool:
    return bool(changed[_tally(learner)] == 0)


def _tally(learner: Learner) -> int:
    """What must not happen in a clean pass. A margin rule goes on until every row has its margin."""
    return UPDATES if isinstance(learner.rule, rules.Margin) else MISTAKES


def _all_right(learner: Learner, state: State, rows: Rows, codes: np.ndarray) -> bool:
    """Draws with replacement skip rows: only a look at all of them proves that none is wrong."""
    if isinstance(learner.rule, rules.Margin):
        return bool((margins(state.raw, rows, codes, learner.constant) > learner.rule.beta).all())
    return learner.errors(state.raw, rows, codes) == 0


class _Ratchet:
    """Each pass puts its longest runner forward; it replaces the best so far only with fewer errors on all rows."""

    def __init__(self, learner: Learner, rows: Rows, codes: np.ndarray) -> None:
        self.learner, self.rows, self.codes = learner, rows, codes
        self.fewest = len(codes) + 1
        self.best: Weights | None = None
        self.run = 0

    def check(self, state: State) -> None:
        candidate = self.learner.hypothesis.weights(state)
        assert candidate is not None
        errors = self.learner.errors(candidate, self.rows, self.codes)
        if errors < self.fewest:
            self.fewest, self.best = errors, candidate.copy()
            self.run = int(max(state.counts[RUN], state.counts[BEST_RUN]))
        state.counts[BEST_RUN] = 0

    def settle(self, state: State) -> None:
        assert self.best is not None
        state.pocket.coef[:] = self.best.coef
        state.pocket.bias[:] = self.best.bias
        state.counts[BEST_RUN] = max(self.run, state.counts[RUN])
