"""Model: a learner and its state, with the user's own labels and feature names around them.

It learns from one example (a dict or a 1-D array) or a block of rows, in any mixture, and may meet new labels at any
time, and new names in dicts. Whatever the mixture, the result is that of one example at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff import rules
from novikoff.errors import DataError
from novikoff.kernels.additive import TIE_NEGATIVE
from novikoff.labels import Labels, encode
from novikoff.learner import Learner
from novikoff.ledger import Ledger
from novikoff.pointwise import PointLearner, check
from novikoff.quick import Quick
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

    quick: Quick | None = None  # a short way for what comes one at a time, for who asks it first

    def __init__(
        self, learner: Learner, labels: Iterable[Any] | Labels = (), state: State | None = None,
        names: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.labels = labels if isinstance(labels, Labels) else Labels(labels)
        self.vocabulary = {name: at for at, name in enumerate(names)} if names is not None else None
        self._state = state
        self._point: PointLearner | None = None  # ahead of the state while examples come one at a time

    # -- what has been learned

    @property
    def n_features(self) -> int | None:
        """How many features the weights are for; None before the first example."""
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return self._state.n_features if self._state is not None else None

    @property
    def state(self) -> State:
        """The state as arrays, to read; to go on learning, assign the new one."""
        if self._point is not None:
            self._state = (self.quick or self._point).state()
        if self._state is None:
            self._state = self.learner.init(self.n_features or 0, max(2, len(self.labels)))
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state, self._point, self.quick = state, None, None

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy: what has been learned, and nothing that is ahead of it."""
        return {**self.__dict__, "_state": self.state, "_point": None, "quick": None}

    @property
    def ledger(self) -> Ledger:
        return self.learner.ledger(self.state)

    # -- one at a time

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example. If it is rejected, nothing has changed."""
        try:
            code = self.labels.codes[y]
        except (KeyError, TypeError):
            return self._learn_new(x, y)
        point = self._point
        if point is None or not (type(x) is dict if point.dicts else point.takes(x)):
            x, point = self._turn_to(x)
        (self.quick or point).learn(x, code)

    def _learn_new(self, x: Any, y: Any) -> None:
        """Learn from one example with a label never seen before."""
        x = self._as_example(x)
        before = self.labels, self.state
        check(x)
        self._require_room_for([y], y, self.state.n_features)
        code = self._meet(y)
        x, point = self._turn_to(x)
        try:
            (self.quick or point).learn(x, code)
        except Exception:
            self.labels, self.state = before
            raise

    def predict_one(self, x: Any) -> Any:
        """The label of one example; None where the answer is a label not met yet."""
        point = self._point
        if point is None or not (type(x) is dict if point.dicts else point.takes(x)):
            if self._state is None:
                return self._first_answer(x)
            x, point = self._turn_to(x)
        return self.labels.of_code[(self.quick or point).decide(x)]

    def _first_answer(self, x: Any) -> Any:
        """The label of anything before the first example: that of a tie."""
        check(self._as_example(x))
        return self.labels.of_code[0 if self.learner.tie == TIE_NEGATIVE else -1]

    def _turn_to(self, x: Any) -> tuple[Any, PointLearner]:
        """Get ready to go on one at a time, in dicts or arrays as x says."""
        x = self._as_example(x)
        if self._point is None:
            point = PointLearner(self.learner, self.state, self.vocabulary)
            self.quick = Quick(point, self.labels) if Quick.suits(point, self.labels) else None
            self._point = point
        return x, self._point

    def _as_example(self, x: Any) -> Any:
        """x as a dict or an array, whichever this model learns from; the first one says."""
        if isinstance(x, Mapping):
            if self.vocabulary is None and self.n_features:
                raise DataError("This model has learned from rows without names; pass arrays, not dicts.")
            self.vocabulary = {} if self.vocabulary is None else self.vocabulary
            return dict(x)
        array = self._one_array(x)
        if self._state is None:
            self._state = self.learner.init(len(array), max(2, len(self.labels)))
        return array

    def _one_array(self, x: Any) -> np.ndarray:
        if self.vocabulary is not None:
            raise DataError("This model knows its features by name; pass a dict.")
        if sp.issparse(x):
            Rows.of(x).require_numbers()  # its indices are checked before they are followed
            x = x.toarray()
        x = np.asarray(x)
        if x.ndim != 1 and x.shape[:-1] != (1,):
            raise DataError(f"One example is a dict or a 1-D array, found an array of shape {x.shape}.")
        array = Rows.of(x.reshape(1, -1)).data.astype(np.float64)[0]
        if self._state is not None and len(array) != self._state.n_features:
            raise DataError(f"X has {len(array)} features, but this model is expecting {self._state.n_features} "
                            "features as input.")  # fmt: skip
        return array

    # -- blocks

    def learn_rows(self, rows: Rows, y: np.ndarray, names: list[str] | None = None) -> None:
        """Learn from a block, in order. If it is rejected, nothing has changed.

        `names` are those of all features, the ones known so far first.

        Labels never met before join when the first row that has them is reached, as they would one at a time.
        """
        self.learn_encoded(rows, *encode(y), names)

    def learn_encoded(self, rows: Rows, classes: np.ndarray, place: np.ndarray, names: list[str] | None = None) -> None:
        """The same where `encode` has told the labels apart: row i has classes[place[i]]; a class may have no row."""
        rows.require_numbers()
        found = classes.tolist()
        unmet = [k for k, name in enumerate(found) if name not in self.labels.codes]
        new = {int(at[0]): found[k] for k in unmet if (at := np.flatnonzero(place == k)).size}
        self._require_room_for(list(new.values()), found[place[0]], rows.n_features)
        before = self._array_state(rows.n_features), self.labels
        if isinstance(self.learner.rule, rules.Custom):
            self.state = self.state.copy()  # the user's function may fail half-way
        codes = np.zeros(len(place), np.int64)
        try:
            for start, stop in pairwise([*sorted({0, *new}), len(place)]):
                if start in new:
                    self._meet(new[start])
                known = np.array([self.labels.codes.get(name, 0) for name in found])
                codes[start:stop] = known[place[start:stop]]
                self.state = self.learner.update(self.state.widened(rows.n_features), rows, codes, None, start, stop)
        except Exception:
            self.state, self.labels = before
            raise
        if names is not None:
            self.vocabulary = {name: at for at, name in enumerate(names)}
        if self.state.history is not None:
            self.state.history.release()

    def encoded(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels as `learn_encoded` takes them. An error, before anything changes, if they cannot be told apart, or do
        not sort with those that are known."""
        classes, place = encode(y)
        self.labels.copy().add(*(name for name in classes.tolist() if name not in self.labels.codes))
        return classes, place

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

    def _meet(self, y: Any) -> int:
        """Make room for a label never seen before; return its class."""
        labels = self.labels.copy()
        labels.add(y)
        if len(labels) == 2:
            (other,) = self.labels.known
            if self.labels.codes[other] != labels.codes[other]:
                self.state = self.state.flipped()
        elif len(labels) > 2:
            # The perceptron's two classes become two vectors just as if they had always been; rules that know a
            # unit of margin keep every margin as it is.
            scale = 1.0 if isinstance(self.learner.rule, rules.Perceptron) else 0.5
            self.state = self.state.with_class(labels.codes[y], scale=scale)
        self.labels, self.state = labels, self.state  # whatever is ahead of the state knew other labels
        return labels.codes[y]

    def _require_room_for(self, new: list[Any], first: Any, n_features: int) -> None:
        """Raise, before anything changes, if new labels do not sort with the others or a separator cannot follow."""
        trial = self.labels.copy()
        trial.add(*new)
        self.learner.require_separator_fits(len(trial) if len(trial) > 2 else 1, n_features)
        if self.learner.separator is not None and len(self.labels) < 2 <= len(trial):
            lone = self.labels if self.labels else Labels([first])
            if lone.codes[lone.known[0]] != trial.codes[lone.known[0]]:
                raise DataError(f"A separator must know which label is which: pass classes={trial.known!r} in advance.")

    def follow(self, learner: Learner) -> None:
        """Go on by another rule or convention for ties; the hypothesis and the intercept stay."""
        self.state = replace(self.state, is_bounded=False)
        self.learner = learner

    def _array_state(self, n_features: int) -> State:
        if self._state is None:
            self._state = self.learner.init(n_features, max(2, len(self.labels)))
        return self.state
