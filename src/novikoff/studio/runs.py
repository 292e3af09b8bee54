"""Runs, one event for each example: what the learner saw and guessed, and its weights afterwards.

The learners of the package learn: these classes only divide a pass into single examples, and note the state after each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff import hypotheses
from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, STEP_SUM, UPDATES
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods import DualLearner, Points
from novikoff.kernel_methods.dual_state import DualState, RowScores
from novikoff.kernel_methods.model import cycle as cycle_kernel
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.passes import cycle
from novikoff.perceptron.state import State
from novikoff.perceptron.visits import Visits
from novikoff.studio.settings import PlanePoints, Settings

__all__ = ["Run", "run_kernel", "run_linear"]

_MOST_EXAMPLES = 40_000  # of a run: a second's work
_MOST_EVENTS = 2_000  # that a record keeps

_COLUMNS = ("t", "pass", "row", "score", "guess", "mistake", "step", "k", "updates", "norm", "margin")
_LINEAR_COLUMNS = (*_COLUMNS, "w", "b", "mean_w", "mean_b", "pocket_w", "pocket_b")


@dataclass(eq=False)
class Run:
    """The events of a run, and how it ended.

    Attributes
    ----------
    columns : dict of lists
        One entry for each event: `t` the number of the example, `pass`, `row`; the `score` before learning, and the
        label guessed from it; whether that was a `mistake`; the `step` tau of the update, or 0; the mistakes `k` and
        `updates` so far; |w| as `norm`; and `margin`, the certified bound of the margin, or None before the first
        update. Of a linear learner also the weights: the last, their mean, and those in the pocket.
    alpha : list of float
        The sum of steps on each row at the end: w = sum alpha_i y_i x_i.
    passes : int
    converged, stalled : bool
    examples, mistakes, updates : int
    radius : float
    """

    columns: dict[str, list[Any]]
    alpha: list[float]
    passes: int = 0
    converged: bool = False
    stalled: bool = False
    examples: int = 0
    mistakes: int = 0
    updates: int = 0
    radius: float = 0.0

    def thinned(self) -> tuple[dict[str, list[Any]], int]:
        """Return the columns of at most `_MOST_EVENTS` events, and the stride: 1 where all mistakes are there.

        Of a long run only the events with updates are kept, then every second one of these, and so on; the last event
        is always kept.
        """
        n = len(self.columns["t"])
        if n <= _MOST_EVENTS:
            return self.columns, 1
        kept = [at for at in range(n) if self.columns["step"][at]]
        stride = -(-len(kept) // _MOST_EVENTS) or 1
        kept = [at for number, at in enumerate(kept, start=1) if number % stride == 0 or number == 1]
        kept += [n - 1] if not kept or kept[-1] != n - 1 else []
        return {name: [values[at] for at in kept] for name, values in self.columns.items()}, stride


@dataclass(frozen=True)
class _AllHypotheses(hypotheses.Pocket):
    """Keeps the mean and the pocket besides the last weights; learning does not depend on it."""

    averages = True


@dataclass(eq=False)
class _Watch:
    """Notes events of the state of a run; other states, such as those of a search for a stall, it does not know."""

    state: Any
    n_rows: int
    linear: bool
    columns: dict[str, list[Any]] = field(init=False)
    alpha: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = {name: [] for name in (_LINEAR_COLUMNS if self.linear else _COLUMNS)}
        self.alpha = [0.0] * self.n_rows

    def note(self, row: int, score: float, guess: int, before: tuple[Any, ...], margin: Callable[[], Any]) -> None:
        """Append the event of one example; `before` are the mistakes, updates and the sum of steps before it."""
        counts, columns = self.state.counts.tolist(), self.columns
        is_update = counts[UPDATES] > before[1]
        step = float(self.state.measures[STEP_SUM]) - before[2] if is_update else 0.0
        self.alpha[row] += step
        values = {
            "t": counts[EXAMPLES],
            "pass": self.state.passes + 1,
            "row": row,
            "score": score,
            "guess": guess,
            "mistake": counts[MISTAKES] - before[0],
            "step": step,
            "k": counts[MISTAKES],
            "updates": counts[UPDATES],
            "margin": margin() if is_update else (columns["margin"][-1] if columns["margin"] else None),
        }
        for name, value in values.items():
            columns[name].append(value)

    def counts_before(self) -> tuple[Any, ...]:
        counts = self.state.counts
        return int(counts[MISTAKES]), int(counts[UPDATES]), float(self.state.measures[STEP_SUM])

    def is_full(self) -> bool:
        """Whether a run of this many examples has to end."""
        return int(self.state.counts[EXAMPLES]) >= _MOST_EXAMPLES

    def finish(self, result: Any, radius: float) -> Run:
        """Return the run, given the result of its cycle of passes."""
        examples, mistakes, updates = (int(self.state.counts[at]) for at in (EXAMPLES, MISTAKES, UPDATES))
        stalled = bool(getattr(result, "stalled", False))
        counts = {"examples": examples, "mistakes": mistakes, "updates": updates}
        return Run(self.columns, self.alpha, result.passes, bool(result.converged), stalled, radius=radius, **counts)


def _make_generator(settings: Settings) -> np.random.Generator:
    """Return the generator that an estimator with `random_state=settings.seed` draws its orders from."""
    if settings.order not in ("shuffled", "random"):
        return np.random.default_rng(0)  # draws nothing
    from novikoff.estimators.online_classifier import make_generator  # loads scikit-learn

    return make_generator(settings.seed)


# -- in the plane itself


@dataclass(frozen=True, eq=False)
class _WatchedLearner(Learner):
    """A learner that learns one example at a time and notes each."""

    watch: _Watch | None = None
    single_rows: tuple[Rows, ...] = ()

    def update_unchecked(self, state: State, visits: Visits) -> State:
        watch = self.watch
        if watch is None or state is not watch.state:
            return super().update_unchecked(state, visits)
        for position in range(visits.start, visits.stop):
            row = int(visits.row_indices(np.array([position]))[0])
            score = float(self.current_scores(state, self.single_rows[row])[0])
            before = watch.counts_before()
            super().update_unchecked(state, visits.between(position, position + 1))
            guess = 2 * int(self.decide(np.array([score]))[0]) - 1
            watch.note(row, score, guess, before, lambda: self.ledger(state).margin_at_most)
            _note_weights(watch.columns, state)
        return state


def _note_weights(columns: dict[str, list[Any]], state: State) -> None:
    mean, pocket = state.mean_weights(), state.longest_run_weights()
    columns["norm"].append(state.raw.norm)
    for prefix, weights in (("", state.raw), ("mean_", mean), ("pocket_", pocket)):
        columns[f"{prefix}w"].append(weights.coef[0].tolist())
        columns[f"{prefix}b"].append(float(weights.bias[0]))


def run_linear(points: PlanePoints, settings: Settings) -> Run:
    """Learn from points of the plane, until a pass makes no mistake or `settings.passes` are over."""
    rows = Rows.of(points.X)
    learner = _WatchedLearner(
        settings.rule_value,
        _AllHypotheses(),
        settings.ties,
        settings.fit_intercept,
        single_rows=tuple(Rows.of(points.X[[row]]) for row in range(len(points.X))),
    )
    state = learner.init(2)
    watch = _Watch(state, len(points.X), linear=True)
    object.__setattr__(learner, "watch", watch)
    state, result = cycle(
        learner,
        state,
        rows,
        points.codes,
        order=settings.order,
        max_iter=settings.passes,
        rng=_make_generator(settings),
        after_pass=lambda number, state: watch.is_full(),
    )
    return watch.finish(result, learner.ledger(state).radius)


# -- in the feature space of a kernel


@dataclass(frozen=True)
class _WatchedDualLearner(DualLearner):
    """A learner with a kernel that learns one example at a time and notes each."""

    watch: _Watch | None = None

    def update(
        self,
        state: DualState,
        points: Points,
        codes: np.ndarray,
        order: np.ndarray | None = None,
        row_scores: RowScores | None = None,
    ) -> DualState:
        watch = self.watch
        assert watch is not None
        assert row_scores is not None
        for row in range(len(points)) if order is None else order.tolist():
            at = np.array([row])
            score = float(self.score(state, points.take(at), "last")[0])
            before = watch.counts_before()
            super().update(state, points, codes, at, row_scores)
            guess = 2 * int(self.decide(np.array([score]))[0]) - 1
            watch.note(row, score, guess, before, lambda: self.ledger(state).margin_at_most)
            watch.columns["norm"].append(self.ledger(state).norm)
        return state


def run_kernel(points: PlanePoints, settings: Settings) -> Run:
    """Learn with a kernel, until a pass makes no mistake or `settings.passes` are over."""
    learner = _WatchedDualLearner(settings.kernel_value, ties=settings.ties)
    state = learner.init()
    watch = _Watch(state, len(points.X), linear=False)
    object.__setattr__(learner, "watch", watch)
    result = cycle_kernel(
        learner,
        state,
        Points.of(Rows.of(points.X)),
        points.codes,
        order=settings.order,
        max_iter=settings.passes,
        rng=_make_generator(settings),
        after_pass=lambda number: watch.is_full(),
    )
    return watch.finish(result, learner.ledger(state).radius)
