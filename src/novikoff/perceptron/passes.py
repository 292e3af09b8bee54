"""The batch perceptron: cycle through a fixed set until a whole pass is clean, or a limit says stop.

While some example is wrong, update on it; which one is left open, and Novikoff's bound holds for every choice. Here a
choice is the order of a pass:

    given      as the rows stand
    shuffled   a new permutation each pass
    random     n draws with replacement
    worst      most violated first: by margin under the weights at the start of the pass

The proof that a clean pass comes is one of exact arithmetic. In doubles w + x may be w, where x is far smaller, and a
pass that changes nothing would be repeated for ever. Such a stall is looked for in passes 2, 4, 8, ... and the last
one, so that it is found in at most twice as many passes as it took to come about; but not before as many numbers have
been read as there are weights, so that looking takes no longer than learning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from novikoff import rules
from novikoff._compiled.loops.additive import BEST_RUN, MISTAKES, RUN, UPDATES
from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner, State, margins
from novikoff.perceptron.weights import Weights

__all__ = ["ORDERS", "Run", "cycle"]

ORDERS = ("given", "shuffled", "random", "worst")


@dataclass(frozen=True)
class Run:
    """How the cycling ended."""

    passes: int
    converged: bool
    mistakes_left: int  # of the last pass, or of all rows if its draws missed those that are wrong
    updates_left: int  # of the last pass
    stalled: bool = False  # whether rounding absorbs every update, so that no further pass would change the weights


def cycle(
    learner: Learner,
    state: State,
    rows: Rows,
    codes: np.ndarray,
    *,
    order: str,
    max_iter: int,
    rng: np.random.Generator,
    after_pass: Callable[[int, State], bool | None] | None = None,
) -> tuple[State, Run]:
    """Pass after pass, until one makes no mistake (no update, for a rule that insists on a margin), or none can change
    the weights.

    `after_pass(number, state)` is called after each; a true answer stops the cycling.
    """
    if order == "random":
        rows.require_numbers()  # draws may miss a bad row in every pass
    codes = learner.checked(state, rows, codes)
    ratchet = _Ratchet(learner, rows, codes) if learner.hypothesis.pockets else None
    for number in range(1, max_iter + 1):
        if ratchet is not None:
            ratchet.open(state)
        before = state.counts.copy()
        known = state.raw.copy() if _is_time_to_look(number, max_iter, rows, state) else None
        visits = _order_of_pass(order, learner, state, rows, codes, rng)
        state = learner.update_checked(state, rows, codes, visits, 0, len(rows))
        state.passes += 1
        changed = state.counts - before
        if ratchet is not None:
            ratchet.click(state)
        converged = not changed[_tally(learner)] and (
            _is_proof(order, changed) or _all_right(learner, state, rows, codes)
        )
        stalled = not converged and known is not None and _is_stalled(learner, state, rows, codes, known)
        stopped = after_pass(number, state) if after_pass is not None else False
        if converged or stalled or stopped:
            break
    if state.history is not None:
        state.history.release()
    mistakes = int(changed[MISTAKES]) or (0 if converged else learner.errors(state.raw, rows, codes))
    return state, Run(number, converged, mistakes, int(changed[UPDATES]), stalled)


def _order_of_pass(
    order: str, learner: Learner, state: State, rows: Rows, codes: np.ndarray, rng: np.random.Generator
) -> np.ndarray | None:
    n = len(rows)
    if order == "shuffled":
        return rng.permutation(n)
    if order == "random":
        return rng.integers(0, n, size=n)
    if order == "worst":
        rows.require_numbers()
        return np.argsort(margins(state.raw, rows, codes, learner.constant), kind="stable")
    return None  # as they stand


def _is_proof(order: str, changed: np.ndarray) -> bool:
    """Whether a clean pass has shown that the weights at its end get every row right: if it saw them all, which
    draws with replacement may not, and left the weights alone, which a rule may not even where it made no mistake."""
    return order != "random" and int(changed[UPDATES]) == 0


def _tally(learner: Learner) -> int:
    """What must not happen in a clean pass. A margin rule goes on until every row has its margin."""
    return UPDATES if isinstance(learner.rule, rules.Margin) else MISTAKES


def _all_right(learner: Learner, state: State, rows: Rows, codes: np.ndarray) -> bool:
    """Look at every row under the weights as they are now."""
    if isinstance(learner.rule, rules.Margin):
        return bool((margins(state.raw, rows, codes, learner.constant) > learner.rule.beta).all())
    return learner.errors(state.raw, rows, codes) == 0


def _is_time_to_look(number: int, max_iter: int, rows: Rows, state: State) -> bool:
    """Whether to look for a stall in this pass. The first begins with weights that every update changes."""
    chosen = number > 1 and (number & (number - 1) == 0 or number == max_iter)
    return chosen and number * rows.data.size >= state.raw.coef.size


def _is_stalled(learner: Learner, state: State, rows: Rows, codes: np.ndarray, known: Weights) -> bool:
    """Whether the weights are those known from before a pass, and no update on any row would change them."""
    if not _are_equal(state.raw, known):
        return False
    trial = replace(state, history=None).copy()

    def absorbs(start: int, stop: int) -> bool:
        """Whether each update on these rows leaves the weights as they are; two might cancel each other."""
        before = int(trial.counts[UPDATES])
        learner.update_checked(trial, rows, codes, None, start, stop)
        if not _are_equal(trial.raw, known):
            return False
        middle = (start + stop) // 2
        return int(trial.counts[UPDATES]) - before <= 1 or (absorbs(start, middle) and absorbs(middle, stop))

    return absorbs(0, len(rows))


def _are_equal(one: Weights, other: Weights) -> bool:
    return np.array_equal(one.bias, other.bias) and np.array_equal(one.coef, other.coef)


class _Ratchet:
    """Each pass puts its longest runner forward; it replaces the best so far only with fewer errors on all rows."""

    def __init__(self, learner: Learner, rows: Rows, codes: np.ndarray) -> None:
        self.learner, self.rows, self.codes = learner, rows, codes
        self.fewest = len(codes) + 1
        self.best: Weights | None = None
        self.run = 0

    def open(self, state: State) -> None:
        """Let any run of the coming pass, however short, be the longest so far."""
        state.counts[BEST_RUN] = 0

    def click(self, state: State) -> None:
        """Put the better of this pass's candidate and the best so far into the pocket."""
        candidate = self.learner.hypothesis.weights(state)
        assert candidate is not None
        errors = self.learner.errors(candidate, self.rows, self.codes)
        if errors < self.fewest:
            self.fewest, self.best = errors, candidate.copy()
            self.run = int(max(state.counts[RUN], state.counts[BEST_RUN]))
        assert self.best is not None
        state.pocket.coef[:] = self.best.coef
        state.pocket.bias[:] = self.best.bias
        state.counts[BEST_RUN] = max(self.run, state.counts[RUN])
