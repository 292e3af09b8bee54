"""KernelModel: a dual learner and its state, with the user's own labels and feature names around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import MISTAKES
from novikoff.inputs.labels import Labels, encode
from novikoff.inputs.rows import joined_names
from novikoff.kernel_methods.budget import BudgetState
from novikoff.kernel_methods.dual import DualLearner, DualState, Standing
from novikoff.kernel_methods.points import Points
from novikoff.perceptron.ledger import Ledger
from novikoff.system.copying import copied_deeply
from novikoff.system.exclusive import Exclusive, learning, lock_for

__all__ = ["KernelModel", "Passes", "cycle"]


class KernelModel(Exclusive):
    """What stands behind `KernelPerceptron`.

    Threads may share it: one learns at a time, and what has been learned is read without waiting.

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
    >>> from novikoff.kernel_methods import DualLearner, KernelModel, Points, UsersPotential
    >>> shared = lambda x, z: len(set(x) & set(z))
    >>> model = KernelModel(DualLearner(UsersPotential(shared)))
    >>> model.learn(Points.of_objects(["aab", "xyz", "abc"]), np.array(["low", "high", "low"]))
    >>> model.predict(Points.of_objects(["cba", "zz"]), "last").tolist()
    ['low', 'high']
    """

    __copy__ = copied_deeply

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
        self.__setstate__(_Learned(learner, labels, state, vocabulary, n_features))

    def __getstate__(self) -> _Learned:
        """For pickle and deepcopy: what has been learned, apart from this."""
        now = self._now
        return replace(now, state=now.state.copy())

    def __setstate__(self, learned: _Learned) -> None:
        self._lock, self._now = lock_for(self), learned

    # -- what has been learned

    @property
    def learner(self) -> DualLearner:
        return self._now.learner

    @property
    def labels(self) -> Labels:
        return self._now.labels

    @property
    def state(self) -> Any:
        """To read; what is learned afterwards is in another one."""
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
        """A model that stays as this one is now."""
        now = self._now
        return KernelModel(now.learner, now.labels, now.state, now.n_features, now.vocabulary)

    # -- learning

    @learning
    def learn(
        self, points: Points, y: np.ndarray, names: list[str] | None = None, learner: DualLearner | None = None
    ) -> None:
        """Learn from a block, in order: whole, or not at all if it is rejected or interrupted.

        `names` are those of all features, the ones known so far first. A `learner` is one to go on by, with another
        convention for ties.

        Labels never met before join when the first row that has them is reached, as they would one at a time.
        """
        now = self._now if learner is None else replace(self._now, learner=learner)
        if names is not None:
            now, points = now.with_names(points, names)
        points = now.like_kept(points)
        classes, place = encode(y)
        found = classes.tolist()
        new = {int(np.argmax(place == k)): name for k, name in enumerate(found) if name not in now.labels.codes}
        now.labels.copy().add(*new.values())  # may find that they do not sort
        now = replace(now, state=now.state.branch())
        for start, stop in pairwise([*sorted({0, *new}), len(y)]):
            now = now.with_label(new[start]) if start in new else now
            known = np.array([now.labels.codes.get(name, 0) for name in found])
            codes = known[place[start:stop]].astype(np.int64)
            now.learner.update(now.state, points.take(np.arange(start, stop)), codes)
        self._now = now

    @learning
    def learn_numbers(self, points: Points, y: np.ndarray) -> None:
        """The same for a regression."""
        now = replace(self._now, state=self._now.state.branch())
        now.learner.update(now.state, now.like_kept(points), y)
        self._now = now

    # -- reading

    def scores(self, points: Points, hypothesis: str) -> np.ndarray:
        """What the hypothesis says of each row."""
        return self._now.scores(points, hypothesis)

    def predict(self, points: Points, hypothesis: str) -> np.ndarray:
        """The label of each row."""
        now = self._now
        classes = now.labels.as_array()
        if len(classes) == 1:
            return np.repeat(classes, len(points))
        return classes[now.learner.decide(now.scores(points, hypothesis))]

    def predict_one(self, point: Points, hypothesis: str) -> Any:
        """The label of one row; None where the answer is a label not met yet."""
        now = self._now
        return now.labels.of_code[int(now.learner.decide(now.scores(point, hypothesis))[0])]


@dataclass(frozen=True, eq=False)
class _Learned:
    """What a model has learned: replaced by another whenever it learns, never changed."""

    learner: DualLearner
    labels: Labels
    state: Any
    vocabulary: dict[str, int] | None
    n_features: int | None

    @property
    def n_columns(self) -> int | None:
        return len(self.vocabulary) if self.vocabulary is not None else self.n_features

    def like_kept(self, points: Points) -> Points:
        """Rows as dense or sparse ones, as those are that were kept."""
        return points.like(self.state.support.kind) if self.state.support.kind is not None else points

    def with_names(self, points: Points, names: list[str]) -> tuple[_Learned, Points]:
        """With these names of features, and rows whose columns are in their places."""
        vocabulary, moved = joined_names(names, self.vocabulary or {}, points.data)
        return replace(self, vocabulary=vocabulary), points if moved is None else Points(moved)

    def with_label(self, y: Any) -> _Learned:
        """With room for a label never seen before."""
        labels, state = self.labels.copy(), self.state
        labels.add(y)
        if len(labels) == 2:
            (other,) = self.labels.known
            if self.labels.codes[other] != labels.codes[other]:
                state = state.flipped()
        elif len(labels) > 2:
            state = state.with_class(labels.codes[y], direct=self.learner.multi_class == "direct")
        return replace(self, labels=labels, state=state)

    def scores(self, points: Points, hypothesis: str) -> np.ndarray:
        return self.learner.score(self.state, self.like_kept(points), hypothesis)


@dataclass(frozen=True)
class Passes:
    """How the cycling ended."""

    passes: int
    converged: bool
    mistakes_left: int  # of the last pass, or of all rows if its draws missed those that are wrong


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
) -> Passes:
    """Pass after pass, until one makes no mistake or `max_iter` passes are over; the last may be a part of one.

    `after_pass` is called with the number of each, and ends the cycling by answering true.
    """
    standing = learner.stand(state, len(points))
    left = max(1, round(max_iter * len(points)))
    for number in range(1, math.ceil(max_iter) + 1):
        visits = _order_of_pass(order, learner, state, points, codes, rng, standing)[:left]
        left -= len(visits)
        before = int(state.counts[MISTAKES])
        learner.update(state, points, codes, visits, standing)
        state.passes += 1
        mistakes = int(state.counts[MISTAKES]) - before
        whole = len(visits) == len(points)
        if mistakes == 0 and whole and order == "random":  # draws may have missed those that are wrong
            mistakes = learner.errors(learner.standing_scores(state, points, standing), codes)
        is_stopped = after_pass is not None and after_pass(number)
        if mistakes == 0 and whole:
            return Passes(number, True, 0)
        if is_stopped or not left:
            break
    return Passes(number, False, mistakes)


def _order_of_pass(
    order: str,
    learner: DualLearner,
    state: DualState,
    points: Points,
    codes: np.ndarray,
    rng: np.random.Generator,
    standing: Standing,
) -> np.ndarray:
    n = len(points)
    if order == "shuffled":
        return rng.permutation(n)
    if order == "random":
        return rng.integers(0, n, size=n)
    if order == "worst":
        scores = learner.standing_scores(state, points, standing)
        return np.argsort(learner.margins(scores, codes), kind="stable")
    return np.arange(n)
