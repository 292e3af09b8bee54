"""Model: a learner and its state, with the user's own labels and feature names around them.

It learns from one example (a dict or a 1-D array) or a block of rows, in any mixture, and may meet new labels at any
time, and new names in dicts. Whatever the mixture, the result is that of one example at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff import rules
from novikoff.errors import DataError, RuleError
from novikoff.labels import Labels, encode
from novikoff.learner import GIVEN_ORDER, Learner
from novikoff.ledger import Ledger
from novikoff.named import NamedLearner
from novikoff.rows import Rows
from novikoff.state import State

__all__ = ["Model"]


class Model:
    """What stands behind an estimator.

    Parameters
    ----------
    learner : Learner
    labels : iterable, optional
        Labels known in advance.
    state : State, optional
        What has been learned so far.
    names : iterable of str, optional
        The names of its features, if they have any.

    Examples
    --------
    >>> from novikoff.learner import Learner
    >>> from novikoff.model import Model
    >>> model = Model(Learner())
    >>> model.learn_one({"free": 1, "money": 2}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"money": 1}), model.predict_one({"lunch": 3})
    ('spam', 'ham')
    """

    def __init__(
        self, learner: Learner, labels: Iterable[Any] = (), state: State | None = None,
        names: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.labels = labels if isinstance(labels, Labels) else Labels(labels)
        self.vocabulary = {name: at for at, name in enumerate(names)} if names is not None else None
        self._state = state  # the weights are here,
        self._named: NamedLearner | None = None  # or here while dicts come one at a time

    # -- what has been learned

    @property
    def n_features(self) -> int | None:
        """How many features the weights are for; None before the first example."""
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return self._state.n_features if self._state is not None else None

    @property
    def state(self) -> State:
        """The state as arrays. Learning goes on in them."""
        if self._named is not None:
            self._state, self._named = self._named.state(), None
        if self._state is None:
            self._state = self.learner.init(self.n_features or 0, max(2, len(self.labels)))
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state, self._named = state, None

    @property
    def ledger(self) -> Ledger:
        state = self._named.state() if self._named is not None else self.state
        return self.learner.ledger(state)

    # -- one at a time

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example. If it is rejected, nothing has changed."""
        code = self._code_of(y)
        if isinstance(x, dict) or isinstance(x, Mapping):  # noqa: SIM101 - the first test is ten times as fast
            if code is None:
                NamedLearner.check(x)
                code = self._meet(y)
            self._named_learner().learn(x, code)
            return
        row = self._one_row(x)
        if code is None:
            row.require_numbers()
            code = self._meet(y)
        self.state = self.learner.update(self._array_state(row.n_features), row, np.array([code]))
        if self.learner.hypothesis.remembers:
            self.state.history.release()  # type: ignore[union-attr]

    def predict_one(self, x: Any) -> Any:
        """The label of one example; None where the answer is a label not met yet."""
        if not self.labels:
            return None
        if isinstance(x, dict) or isinstance(x, Mapping):  # noqa: SIM101
            scores = self._named_learner().scores(x)
        else:
            row = self._one_row(x)
            row.require_numbers()
            scores = np.ravel(self.learner.score(self._array_state(row.n_features), row)).tolist()
        return self.labels.of_code(self._decide(scores))

    def _decide(self, scores: list[float]) -> int:
        first_of_ties = self.learner.ties == "negative"
        if len(scores) == 1:
            return int(scores[0] > 0.0 or (scores[0] == 0.0 and not first_of_ties))
        best = max(scores)
        return scores.index(best) if first_of_ties else len(scores) - 1 - scores[::-1].index(best)

    # -- blocks

    def learn_rows(self, rows: Rows, y: np.ndarray, names: list[str] | None = None) -> None:
        """Learn from a block, in order. If it is rejected, nothing has changed.

        `names` are those of all features, the ones known so far first.

        Labels never met before join when the first row that has them is reached, as they would one at a time.
        """
        rows.require_numbers()
        classes, place = encode(y)
        names = classes.tolist()
        new = {int(np.argmax(place == k)): name for k, name in enumerate(names) if name not in self.labels.codes}
        trial = self.labels.copy()
        for name in new.values():
            trial.add(name)
        before = self._array_state(rows.n_features), self.labels
        if isinstance(self.learner.rule, rules.Custom):
            self.state = self.state.copy()  # the user's function may fail half-way
        try:
            for start, stop in pairwise([*sorted({0, *new}), len(y)]):
                if start in new:
                    self._meet(new[start])
                codes = np.array([self.labels.codes.get(name, -1) for name in names])[place]
                self.state = self.learner.update(
                    self.state.widened(rows.n_features), rows, codes, GIVEN_ORDER, start, stop
                )
        except RuleError:
            self.state, self.labels = before
            raise
        if names is not None:
            self.vocabulary = {name: at for at, name in enumerate(names)}
        if self.state.history is not None:
            self.state.history.release()

    def scores(self, rows: Rows) -> np.ndarray:
        """What the hypothesis says of each row."""
        return self.learner.score(self.state, rows)

    def predict(self, rows: Rows) -> np.ndarray:
        """The label of each row."""
        classes = self.labels.as_array()
        if len(classes) == 1:
            return np.repeat(classes, len(rows))
        return classes[self.learner.decide(self.scores(rows))]

    # -- labels and names

    def _code_of(self, y: Any) -> int | None:
        try:
            return self.labels.codes.get(y)
        except TypeError:
            raise DataError(f"A label must be a single value, found {y!r}.") from None

    def _meet(self, y: Any) -> int:
        """Make room for a label never seen before; return its class."""
        labels = self.labels.copy()
        at = labels.add(y)
        if len(labels) == 2:
            (other,) = self.labels.known
            if self.labels.codes[other] != labels.codes[other]:
                self.state = self.state.flipped()
        elif len(labels) > 2:
            # The perceptron's two classes become two vectors just as if they had always been; rules that know a
            # unit of margin keep every margin as it is.
            scale = 1.0 if isinstance(self.learner.rule, rules.Perceptron) else 0.5
            self.state = self.state.with_class(at, scale=scale)
        self.labels = labels
        return labels.codes[y]

    def _named_learner(self) -> NamedLearner:
        if self._named is None:
            if self.vocabulary is None:
                if self._state is not None and self._state.n_features:
                    raise DataError("This model has learned from rows without names; pass arrays, not dicts.")
                self.vocabulary = {}
            self._named = NamedLearner(self.learner, self.state, self.vocabulary)
        return self._named

    def _array_state(self, n_features: int) -> State:
        if self._state is None or self._named is not None:
            if self._state is None:
                self._state = self.learner.init(n_features, max(2, len(self.labels)))
            return self.state
        return self._state

    def _one_row(self, x: Any) -> Rows:
        if sp.issparse(x):
            row = Rows.of(x if x.ndim == 2 else x.reshape(1, -1))
        else:
            x = np.asarray(x)
            if x.ndim != 1:
                raise DataError(f"One example is a dict or a 1-D array, found {x.ndim} dimension(s).")
            row = Rows.of(x.reshape(1, -1))
        expected = self.n_features
        if len(row) != 1 or (expected is not None and row.n_features != expected):
            raise DataError(f"X has {row.n_features} features, but this model is expecting {expected} features.")
        return row
