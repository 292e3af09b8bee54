"""KernelModel: a dual learner and its state, with the user's own labels and feature names around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.gram.points import Points
from novikoff.kernels.additive import MISTAKES
from novikoff.labels import Labels, encode
from novikoff.ledger import Ledger
from novikoff.potential.budget import BudgetState
from novikoff.potential.dual import DualLearner, DualState, Standing

__all__ = ["KernelModel", "Passes", "cycle"]


class KernelModel:
    """What stands behind `KernelPerceptron`.

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
    >>> from novikoff.potential import DualLearner, KernelModel, Points, UsersPotential
    >>> shared = lambda x, z: len(set(x) & set(z))
    >>> model = KernelModel(DualLearner(UsersPotential(shared)))
    >>> model.learn(Points.of_objects(["aab", "xyz", "abc"]), np.array(["low", "high", "low"]))
    >>> model.predict(Points.of_objects(["cba", "zz"]), "last").tolist()
    ['low', 'high']
    """

    def __init__(
        self, learner: DualLearner, labels: Iterable[Any] | Labels = (), state: DualState | BudgetState | None = None,
        n_features: int | None = None, names: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.labels = labels if isinstance(labels, Labels) else Labels(labels)
        self.state: Any = state if state is not None else learner.init(max(2, len(self.labels)))
        self.vocabulary = {name: at for at, name in enumerate(names)} if names is not None else None
        self._n_features = n_features

    @property
    def n_features(self) -> int | None:
        return len(self.vocabulary) if self.vocabulary is not None else self._n_features

    @property
    def ledger(self) -> Ledger:
        return self.learner.ledger(self.state)

    def follow(self, learner: DualLearner) -> None:
        """Go on by another convention for ties."""
        self.learner = learner

    def learn(self, points: Points, y: np.ndarray, names: list[str] | None = None) -> None:
        """Learn from a block, in order. If it is rejected, nothing has changed.

        Labels never met before join when the first row that has them is reached, as they would one at a time.
        """
        if self.state.support.kind is not None:
            points = points.like(self.state.support.kind)
        classes, place = encode(y)
        found = classes.tolist()
        new = {int(np.argmax(place == k)): name for k, name in enumerate(found) if name not in self.labels.codes}
        with self._all_or_nothing():
            self.labels.copy().add(*new.values())  # may find that they do not sort
            for start, stop in pairwise([*sorted({0, *new}), len(y)]):
                if start in new:
                    self._meet(new[start])
                known = np.array([self.labels.codes.get(name, 0) for name in found])
                codes = known[place[start:stop]].astype(np.int64)
                self.learner.update(self.state, points.take(np.arange(start, stop)), codes)
        if names is not None:
            self.vocabulary = {name: at for at, name in enumerate(names)}

    def learn_numbers(self, points: Points, y: np.ndarray) -> None:
        """The same for a regression."""
        if self.state.support.kind is not None:
            points = points.like(self.state.support.kind)
        with self._all_or_nothing():
            self.learner.update(self.state, points, y)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """If learning fails on the way, be as before it."""
        before, kept = (self.labels, self.state.mark()), len(self.state.support)
        try:
            yield
        except Exception:
            self.labels, self.state = before
            self.state.support = self.state.support.first(kept)
            raise

    def scores(self, points: Points, hypothesis: str) -> np.ndarray:
        """What the hypothesis says of each row."""
        if self.state.support.kind is not None:
            points = points.like(self.state.support.kind)
        return self.learner.score(self.state, points, hypothesis)

    def predict(self, points: Points, hypothesis: str) -> np.ndarray:
        """The label of each row."""
        classes = self.labels.as_array()
        if len(classes) == 1:
            return np.repeat(classes, len(points))
        return classes[self.learner.decide(self.scores(points, hypothesis))]

    def predict_one(self, point: Points, hypothesis: str) -> Any:
        """The label of one row; None where the answer is a label not met yet."""
        return self.labels.of_code[int(self.learner.decide(self.scores(point, hypothesis))[0])]

    def _meet(self, y: Any) -> None:
        """Make room for a label never seen before."""
        labels = self.labels.copy()
        labels.add(y)
        if len(labels) == 2:
            (other,) = self.labels.known
            if self.labels.codes[other] != labels.codes[other]:
                self.state = self.state.flipped()
        elif len(labels) > 2:
            self.state = self.state.with_class(labels.codes[y], direct=self.learner.multi_class == "direct")
        self.labels = labels


@dataclass(frozen=True)
class Passes:
    """How the cycling ended."""

    passes: int
    converged: bool
    mistakes_left: int  # of the last pass, or of all rows if its draws missed those that are wrong


def cycle(
    learner: DualLearner, state: DualState, points: Points, codes: np.ndarray, *, order: str, max_iter: float,
    rng: np.random.Generator, after_pass: Callable[[int], bool] | None = None,
) -> Passes:  # fmt: skip
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
    order: str, learner: DualLearner, state: DualState, points: Points, codes: np.ndarray, rng: np.random.Generator,
    standing: Standing,
) -> np.ndarray:  # fmt: skip
    n = len(points)
    if order == "shuffled":
        return rng.permutation(n)
    if order == "random":
        return rng.integers(0, n, size=n)
    if order == "worst":
        scores = learner.standing_scores(state, points, standing)
        return np.argsort(learner.margins(scores, codes), kind="stable")
    return np.arange(n)
