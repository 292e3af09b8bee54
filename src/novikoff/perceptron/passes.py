"""Perceptron training in several passes, until a pass makes no mistake.

While some example is misclassified, update on it; the algorithm does not say on which one, and Novikoff's bound holds
for every choice. Here the order of a pass determines the choice:

    given      the order of the rows
    shuffled   a new permutation for each pass
    random     n draws with replacement
    worst      smallest margin first, under the weights at the start of the pass

In exact arithmetic a pass without mistakes is guaranteed for separable rows. In doubles w + x may equal w if x is far
smaller, and a pass that changes nothing would be repeated forever. Passes 2, 4, 8, ... and the last are checked for
such a stall, so that it is found in at most twice as many passes as it took to arise. Checks are skipped until the
values read outnumber the weights, so that checking never dominates learning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from novikoff._compiled.loops.additive import BEST_RUN, MISTAKES, RUN, UPDATES
from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.orders import draw_order
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits
from novikoff.perceptron.weights import Weights, margins_of_scores

__all__ = ["CycleResult", "cycle"]


@dataclass(frozen=True)
class CycleResult:
    """How `cycle` ended.

    Attributes
    ----------
    passes : int
    converged : bool
    last_pass_mistakes : int
        If the last pass drew rows at random and missed all misclassified ones, their number among all rows instead.
    last_pass_updates : int
    stalled : bool
        Whether rounding absorbs every update, so that no further pass would change the weights.
    """

    passes: int
    converged: bool
    last_pass_mistakes: int
    last_pass_updates: int
    stalled: bool = False


def cycle(
    learner: Learner,
    state: State,
    rows: Rows,
    codes: np.ndarray,
    *,
    order: str,
    max_iter: int,
    rng: np.random.Generator,
    importances: np.ndarray | None = None,
    after_pass: Callable[[int, State], bool | None] | None = None,
) -> tuple[State, CycleResult]:
    """Repeat passes until one makes no mistake (no update, for a rule with a required margin) or training stalls.

    `state` is modified in place where possible; use only the returned state. `importances` are as in `Learner.update`.
    `after_pass(number, state)` is called after each pass; a true result ends the cycle.
    """
    if order == "random":
        rows.require_numbers()  # draws may miss a bad row in every pass
    codes = learner.check_codes(state, rows, codes)
    all_visits = Visits.check(rows, codes, None, 0, None, importances)
    ratchet = _Ratchet(learner, all_visits) if learner.hypothesis.pockets else None
    for number in range(1, max_iter + 1):
        if ratchet is not None:
            ratchet.begin_pass(state)
        before = state.counts.copy()
        weights_before = state.raw.copy() if _is_stall_check_due(number, max_iter, rows, state) else None
        visit_order = _choose_order(order, learner, state, rows, codes, rng)
        state = learner.update_unchecked(state, all_visits._replace(order=visit_order))
        state.passes += 1
        changed = state.counts - before
        if ratchet is not None:
            ratchet.end_pass(state)
        converged = not changed[_count_to_clear(learner)] and (
            _pass_proves_convergence(order, changed) or _are_all_correct(learner, state, rows, codes)
        )
        stalled = (
            not converged and weights_before is not None and _is_stalled(learner, state, all_visits, weights_before)
        )
        stopped = after_pass(number, state) if after_pass is not None else False
        if converged or stalled or stopped:
            break
    if state.history is not None:
        state.history.release()
    mistakes = int(changed[MISTAKES]) or (0 if converged else learner.current_errors(state, rows, codes))
    return state, CycleResult(number, converged, mistakes, int(changed[UPDATES]), stalled)


def _choose_order(
    order: str, learner: Learner, state: State, rows: Rows, codes: np.ndarray, rng: np.random.Generator
) -> np.ndarray | None:
    """Return the indices of the rows to visit in the next pass; None: all rows, in their own order."""

    def margins_now() -> np.ndarray:
        rows.require_numbers()
        return margins_of_scores(learner.current_scores(state, rows), codes)

    return draw_order(order, len(rows), rng, margins_now)


def _pass_proves_convergence(order: str, changed: np.ndarray) -> bool:
    """Return whether a pass without mistakes proves that the final weights classify every row correctly.

    It does if it visited all rows, which random draws may not, and made no update: some rules also update on rows that
    are classified correctly.
    """
    return order != "random" and int(changed[UPDATES]) == 0


def _count_to_clear(learner: Learner) -> int:
    """Return the index of the count that must be 0 in the final pass: updates, for a rule with a required margin."""
    return MISTAKES if learner.rule.required_margin is None else UPDATES


def _are_all_correct(learner: Learner, state: State, rows: Rows, codes: np.ndarray) -> bool:
    """Return whether the weights classify every row correctly, by the required margin if the rule has one."""
    required = learner.rule.required_margin
    if required is not None:
        return bool((margins_of_scores(learner.current_scores(state, rows), codes) > required).all())
    return learner.current_errors(state, rows, codes) == 0


def _is_stall_check_due(number: int, max_iter: int, rows: Rows, state: State) -> bool:
    """Return whether to check this pass for a stall. Pass 1 starts from zero weights, which every update changes.

    A stateful rule changes its slots even where rounding absorbs the steps, so that these may still change.
    """
    if state.memory is not None:
        return False
    is_chosen = number > 1 and (number & (number - 1) == 0 or number == max_iter)
    return is_chosen and number * rows.data.size >= state.raw.coef.size


def _is_stalled(learner: Learner, state: State, all_visits: Visits, before: Weights) -> bool:
    """Return whether a pass did not change the weights, and no update on any row would change them."""
    if not _are_equal(state.raw, before):
        return False
    trial = replace(state, history=None).copy()

    def absorbs(start: int, stop: int) -> bool:
        """Return whether no update on these rows changes the weights.

        Two updates may cancel each other, so a range with several updates is halved until each is tested alone.
        """
        updates_before = int(trial.counts[UPDATES])
        learner.update_unchecked(trial, all_visits.between(start, stop))
        if not _are_equal(trial.raw, before):
            return False
        middle = (start + stop) // 2
        n_updates = int(trial.counts[UPDATES]) - updates_before
        return n_updates <= 1 or (absorbs(start, middle) and absorbs(middle, stop))

    return absorbs(all_visits.start, all_visits.stop)


def _are_equal(one: Weights, other: Weights) -> bool:
    return np.array_equal(one.bias, other.bias) and np.array_equal(one.coef, other.coef)


class _Ratchet:
    """Gallant's ratchet for the pocket hypothesis.

    After each pass, the weights with the longest run of correct predictions in that pass replace the best weights so
    far if they make fewer errors on all rows. If rows have importances, those of the errors are summed instead.
    """

    def __init__(self, learner: Learner, all_visits: Visits) -> None:
        self.learner, self.visits = learner, all_visits
        self.fewest_errors = np.inf
        self.best: Weights | None = None
        self.best_run = 0

    def begin_pass(self, state: State) -> None:
        """Reset the longest run, so that runs of earlier passes do not count in this one."""
        state.counts[BEST_RUN] = 0

    def end_pass(self, state: State) -> None:
        """Store the better of this pass's weights and the best weights so far in the pocket."""
        candidate = self.learner.hypothesis.weights(state)
        assert candidate is not None
        is_wrong = self.learner.find_errors(candidate, self.visits.rows, self.visits.codes)
        importances = self.visits.importances
        errors = float(is_wrong.sum() if importances is None else importances[is_wrong].sum())
        if errors < self.fewest_errors:
            self.fewest_errors, self.best = errors, candidate.copy()
            self.best_run = int(max(state.counts[RUN], state.counts[BEST_RUN]))
        assert self.best is not None
        state.pocket.coef[:] = self.best.coef
        state.pocket.bias[:] = self.best.bias
        state.counts[BEST_RUN] = max(self.best_run, state.counts[RUN])
