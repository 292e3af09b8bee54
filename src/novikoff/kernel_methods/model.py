"""KernelModel: a dual learner and its state, with the user's labels and feature names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import MISTAKES
from novikoff.inputs.labels import Labels, encode_labels
from novikoff.inputs.rows import merge_names
from novikoff.kernel_methods.budget import BudgetState
from novikoff.kernel_methods.dual import DualLearner
from novikoff.kernel_methods.dual_state import DualState
from novikoff.kernel_methods.points import Points, require_width
from novikoff.perceptron.labelling import add_label, find_new_labels, split_at
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.orders import draw_order
from novikoff.system.copying import deep_copy
from novikoff.system.exclusive import ExclusiveAccess, exclusive_write, make_lock

__all__ = ["KernelCycleResult", "KernelModel", "cycle"]


class KernelModel(ExclusiveAccess):
    """The model of a `KernelPerceptron` or `KernelRegressor`.

    Threads may share it: one learns at a time, and readers do not wait for it.

    Parameters
    ----------
    learner : DualLearner
    labels : iterable or Labels, optional
        Labels known in advance.
    state : DualState, optional
        What has been learned so far.
    n_features : int, optional
        Columns of the rows; None for objects, and before the first row.
    names : iterable of str, optional
        The names of its features, if they have any.

    Examples
    --------
    >>> from novikoff.kernel_methods import CustomKernel, DualLearner, KernelModel, Points
    >>> shared = lambda x, z: len(set(x) & set(z))
    >>> model = KernelModel(DualLearner(CustomKernel(shared)))
    >>> model.learn(Points.of_objects(["aab", "xyz", "abc"]), np.array(["low", "high", "low"]))
    >>> model.predict(Points.of_objects(["cba", "zz"]), "last").tolist()
    ['low', 'high']
    """

    __copy__ = deep_copy

    def __init__(
        self,
        learner: DualLearner,
        labels: Iterable[Any] | Labels = (),
        state: DualState | BudgetState | None = None,
        n_features: int | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        labels = labels if isinstance(labels, Labels) else Labels(labels)
        state = state if state is not None else learner.init(max(2, len(labels)))
        vocabulary = {name: at for at, name in enumerate(names)} if names is not None else None
        self.__setstate__(KernelModelState(learner, labels, state, vocabulary, n_features))

    def __getstate__(self) -> KernelModelState:
        """Return a copy of what has been learned, for pickle and deepcopy."""
        now = self._now
        return replace(now, state=now.state.copy())

    def __setstate__(self, learned: KernelModelState) -> None:
        self._lock, self._now = make_lock(self), learned

    # -- what has been learned

    @property
    def learner(self) -> DualLearner:
        return self._now.learner

    @property
    def labels(self) -> Labels:
        return self._now.labels

    @property
    def state(self) -> Any:
        """The state to read; learning replaces it by another."""
        return self._now.state

    @property
    def vocabulary(self) -> dict[str, int] | None:
        return self._now.vocabulary

    @property
    def n_features(self) -> int | None:
        return self._now.n_columns

    @property
    def ledger(self) -> Ledger:
        now = self._now
        return now.learner.ledger(now.state)

    def snapshot(self) -> KernelModel:
        """Return a model that does not change when this one learns."""
        now = self._now
        return KernelModel(now.learner, now.labels, now.state, now.n_features, now.vocabulary)

    # -- learning

    @exclusive_write
    def learn(
        self, points: Points, y: np.ndarray, names: list[str] | None = None, learner: DualLearner | None = None
    ) -> None:
        """Learn from a block, in order: whole, or not at all if it is rejected or interrupted.

        A new label is added when the first row that has it is reached, as if rows came one at a time.

        Parameters
        ----------
        points : Points
        y : array
            The label of each point.
        names : list of str, optional
            The names of all features, the known ones first.
        learner : DualLearner, optional
            The learner to go on with, which may differ in its convention for ties.
        """
        now = self._now if learner is None else replace(self._now, learner=learner)
        if names is not None:
            now, points = now.with_names(points, names)
        require_width(points.n_columns, now.n_columns)
        points = now.like_support(points)
        classes, class_indices = encode_labels(y)
        class_list = classes.tolist()
        new_labels = find_new_labels(now.labels, class_list, class_indices)
        now.labels.copy().add(*new_labels.values())  # raises an error if they do not sort
        now = replace(now, state=now.state.derive())
        for start, stop in split_at(new_labels, len(y)):
            now = now.with_label(new_labels[start]) if start in new_labels else now
            class_codes = np.array([now.labels.codes.get(label, 0) for label in class_list])
            codes = class_codes[class_indices[start:stop]].astype(np.int64)
            now.learner.update(now.state, points.take(np.arange(start, stop)), codes)
        self._now = now

    @exclusive_write
    def learn_numbers(self, points: Points, y: np.ndarray) -> None:
        """Learn from a block of a regression, in order: whole, or not at all if it is rejected or interrupted."""
        require_width(points.n_columns, self._now.n_columns)
        now = replace(self._now, state=self._now.state.derive())
        now.learner.update(now.state, now.like_support(points), y)
        self._now = now

    # -- reading

    def scores(self, points: Points, hypothesis: str) -> np.ndarray:
        """Return the score of each row under the hypothesis."""
        return self._now.scores(points, hypothesis)

    def predict(self, points: Points, hypothesis: str) -> np.ndarray:
        """Return the label of each row."""
        now = self._now
        classes = now.labels.as_array()
        if len(classes) == 1:
            return np.repeat(classes, len(points))
        return classes[now.learner.decide(now.scores(points, hypothesis))]

    def predict_one(self, point: Points, hypothesis: str) -> Any:
        """Return the label of one row; None where the answer is a class whose label is not known yet."""
        now = self._now
        return now.labels.of_code[int(now.learner.decide(now.scores(point, hypothesis))[0])]


@dataclass(frozen=True, eq=False)
class KernelModelState:
    """What a model has learned; learning replaces it by another, and never changes it."""

    learner: DualLearner
    labels: Labels
    state: Any
    vocabulary: dict[str, int] | None
    n_features: int | None

    @property
    def n_columns(self) -> int | None:
        return len(self.vocabulary) if self.vocabulary is not None else self.n_features

    def like_support(self, points: Points) -> Points:
        """Return points as dense or sparse rows, whichever the support is."""
        return points.as_kind(self.state.support.kind) if self.state.support.kind is not None else points

    def with_names(self, points: Points, names: list[str]) -> tuple[KernelModelState, Points]:
        """Return a state with these names added, and points with columns in the order of its names."""
        vocabulary, moved = merge_names(names, self.vocabulary or {}, points.data)
        return replace(self, vocabulary=vocabulary), points if moved is None else Points(moved)

    def with_label(self, label: Any) -> KernelModelState:
        """Return a state with one more label."""
        direct = self.learner.multi_class == "direct"
        labels, state = add_label(
            self.labels, self.state, label, lambda state, code: state.insert_class(code, direct=direct)
        )
        return replace(self, labels=labels, state=state)

    def scores(self, points: Points, hypothesis: str) -> np.ndarray:
        """Return the score of each row under the hypothesis."""
        is_older = self.vocabulary is not None and (points.n_columns or 0) < len(self.vocabulary)
        if not is_older:  # rows of dicts that were made before the latest names came have fewer columns
            require_width(points.n_columns, self.n_columns)
        return self.learner.score(self.state, self.like_support(points), hypothesis)


@dataclass(frozen=True)
class KernelCycleResult:
    """How passes over a training set ended."""

    passes: int
    converged: bool
    mistakes_left: int  # in the last pass, or on all rows if that drew rows at random and missed the wrong ones


def cycle(
    learner: DualLearner,
    state: DualState,
    points: Points,
    codes: np.ndarray,
    *,
    order: str,
    max_iter: float,
    rng: np.random.Generator,
    after_pass: Callable[[int], bool] | None = None,
) -> KernelCycleResult:
    """Make passes until one has no mistake or `max_iter` passes are over; the last may be a part of a pass.

    `after_pass` is called with the number of each pass, and stops the cycle by returning True.
    """
    row_scores = learner.start_scores(state, len(points))

    def margins() -> np.ndarray:
        return learner.margins(learner.current_scores(state, points, row_scores), codes)

    left = max(1, round(max_iter * len(points)))
    for number in range(1, math.ceil(max_iter) + 1):
        visits = draw_order(order, len(points), rng, margins)
        visits = np.arange(len(points))[:left] if visits is None else visits[:left]
        left -= len(visits)
        before = int(state.counts[MISTAKES])
        learner.update(state, points, codes, visits, row_scores)
        state.passes += 1
        mistakes = int(state.counts[MISTAKES]) - before
        is_complete = len(visits) == len(points)
        if mistakes == 0 and is_complete and order == "random":  # draws may have missed rows that are wrong
            mistakes = learner.errors(learner.current_scores(state, points, row_scores), codes)
        is_stopped = after_pass is not None and after_pass(number)
        if mistakes == 0 and is_complete:
            return KernelCycleResult(number, True, 0)
        if is_stopped or not left:
            break
    return KernelCycleResult(number, False, mistakes)
