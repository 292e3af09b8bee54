"""Model: a learner and its state, with the user's own labels and feature names around them.

It learns from one example (a dict or a 1-D array) or a block of rows, in any mixture, and may meet new labels at any
time, and new names in dicts. Whatever the mixture, the result is that of one example at a time.

It may be shared by threads, and interrupted anywhere (system/exclusive.py): an example or a block is learned whole or
not at all, and one after the other. What belongs together is in one object, `_now`, which is replaced by another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import TIE_NEGATIVE
from novikoff.errors import ReentryError
from novikoff.inputs.labels import Labels, encode
from novikoff.inputs.rows import Rows
from novikoff.inputs.sparse import dense_example
from novikoff.perceptron.dict_fast_path import Quick
from novikoff.perceptron.learned import Learned
from novikoff.perceptron.learner import BlockUpdate, Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.one_at_a_time import PointLearner, check
from novikoff.perceptron.state import State
from novikoff.system.copying import copied_deeply
from novikoff.system.exclusive import Exclusive, learning, lock_for, reading, refuse_to_learn

__all__ = ["Model"]

_ARRAY = np.ndarray


class Model(Exclusive):
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
    >>> from novikoff.perceptron.learner import Learner
    >>> from novikoff.perceptron.model import Model
    >>> model = Model(Learner())
    >>> model.learn_one({"free": 1, "money": 2}, "spam")
    >>> model.learn_one({"lunch": 1}, "ham")
    >>> model.predict_one({"money": 1}), model.predict_one({"lunch": 3})
    ('spam', 'ham')
    """

    __copy__ = copied_deeply
    quick: Quick | None = None  # a short way for what comes one at a time, for who asks it first
    _open: PointLearner | None = None  # that of `_now`, if it may be read without the lock

    def __init__(
        self,
        learner: Learner,
        labels: Iterable[Any] | Labels = (),
        state: State | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        labels = labels if isinstance(labels, Labels) else Labels(labels)
        vocabulary = {name: at for at, name in enumerate(names)} if names is not None else None
        self._begin(Learned(learner, labels, vocabulary, state))

    def _begin(self, learned: Learned) -> None:
        self._lock = lock_for(self)
        self._block: tuple[BlockUpdate, Learned] | None = None  # learned from now, in place
        self._blocks_begun = 0
        self._is_torn = False
        self._now = learned

    # -- one call at a time

    def _carry_out(self) -> None:
        if self._block is not None:
            self._finish_block(*self._block)
        now = self._now
        if now.quick is not None:
            now.quick.catch_up()
        elif now.point is not None:
            now.point.carry_out()

    def _recover(self) -> None:
        if self._is_torn:
            raise ReentryError(
                "This process was forked while another thread was learning from a block, and its copy of the model is "
                "of no use: fork between calls, or load the model from a file."
            )
        if self._now.quick is not None:
            self._now.quick.suspend()
        self._carry_out()
        self._block = None

    def _tidy(self) -> None:
        if self._now.point is not None:
            self._now.point.compact()

    def _leave(self) -> None:
        now = self._now
        self.quick = now.quick
        if self.quick is not None:
            self.quick.resume()
        elif not now.learner.hypothesis.remembers:
            self._open = now.point

    def _forked(self) -> None:
        self._is_torn = self._block is not None  # compiled code may have been at work

    def _replace(self, learned: Learned) -> None:
        """Go on from something else. Compiled code for what was before is suspended for good."""
        self._open = None
        if self._now.quick is not None:
            self._now.quick.suspend()
        self._now = learned

    def _finish_block(self, block: BlockUpdate, learned: Learned) -> None:
        """Take over a block if it has been learned; if not, nothing has changed."""
        if block.is_learned:
            self._replace(replace(learned, state=block.finished()))

    # -- what has been learned

    @property
    def learner(self) -> Learner:
        return self._now.learner

    @property
    def labels(self) -> Labels:
        return self._now.labels

    @property
    def vocabulary(self) -> dict[str, int] | None:
        """Features by name, and their places; new ones may be added to it while an example is learned."""
        return self._now.vocabulary

    @property
    def n_features(self) -> int | None:
        """How many features the weights are for; None before the first example."""
        return self._now.n_features

    @property
    def state(self) -> State:
        """The state as arrays, to read; to go on learning, assign the new one. To learn from a block changes it."""
        return self._learned().state  # type: ignore[return-value]

    @state.setter
    def state(self, state: State) -> None:
        self._set_state(state)

    @learning
    def _set_state(self, state: State) -> None:
        self._replace(replace(self._now, state=state, point=None, quick=None))

    @reading
    def _learned(self) -> Learned:
        """Everything learned so far, one at a time or not."""
        return self._now.begun()

    @reading
    def snapshot(self) -> Model:
        """A copy that nothing changes, for who takes his time to read it."""
        learned = self._now.begun()
        if self._now.point is None:
            learned = replace(learned, state=learned.state.copy())  # type: ignore[union-attr]
        vocabulary = None if learned.vocabulary is None else dict(learned.vocabulary)
        return Model(learned.learner, learned.labels, learned.state, vocabulary)

    @reading
    def __getstate__(self) -> Learned:
        """For pickle and deepcopy: what has been learned, apart from this."""
        learned = self._now.begun()
        vocabulary = None if learned.vocabulary is None else dict(learned.vocabulary)
        return replace(learned, vocabulary=vocabulary, state=learned.state.copy())  # type: ignore[union-attr]

    def __setstate__(self, learned: Learned) -> None:
        self._begin(learned)

    @property
    def ledger(self) -> Ledger:
        return self._ledger()

    @reading
    def _ledger(self) -> Ledger:
        return self.learner.ledger(self._now.begun().state)  # type: ignore[arg-type]

    # -- one at a time

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example: whole, or not at all if it is rejected or interrupted."""
        lock = self._lock
        if lock._is_owned():
            raise refuse_to_learn(self)
        point, labels = self._open, self._now.labels
        try:
            code = labels.codes[y]  # which may be Python code of the label's: before the lock
        except (KeyError, TypeError):
            code = None
        kind = type(x)
        if kind is not dict and kind is not _ARRAY:
            x = dense_example(x)
            x = dict(x) if isinstance(x, Mapping) else x
        try:
            lock.acquire()
            if (
                code is not None
                and point is not None
                and point is self._open
                and (kind is dict if point.dicts else point.takes(x))
            ):
                if point.pending is not None:
                    point.carry_out()
                point.learn(x, code)
            else:
                self._recover()
                self._learn_unusual(x, y, code if self._now.labels is labels else None)
                self._leave()
        finally:
            try:  # noqa: SIM105 - one call, and nothing that could be interrupted before it
                lock.release()
            except RuntimeError:  # interrupted while it waited for the lock
                pass

    def _learn_unusual(self, x: Any, y: Any, code: int | None) -> None:
        """Learn from an example of which this is not known: whether its label is new, or the first by itself."""
        learned, x = self._now.taking(x)
        if code is not None and learned.point is not None:
            learned.point.learn(x, code)
        else:
            self._learn_first(learned, x, y)

    def _learn_first(self, learned: Learned, x: Any, y: Any) -> None:
        """Learn from an example with a label never seen before, or the first one that comes by itself: in a copy, which
        is taken over when it has learned."""
        learned = replace(learned.begun(), vocabulary=None if learned.vocabulary is None else dict(learned.vocabulary))
        try:
            is_new = y not in learned.labels.codes
        except TypeError:
            is_new = True
        if is_new:
            assert learned.state is not None
            check(x)
            learned.require_room_for([y], y, learned.state.n_features)
            learned = learned.with_label(y)
        learned = learned.one_at_a_time()
        assert learned.point is not None
        learned.point.learn(x, learned.labels.codes[y])
        self._replace(learned)

    def predict_one(self, x: Any) -> Any:
        """The label of one example; None where the answer is a label not met yet."""
        point = self._open
        if point is not None and (type(x) is dict if point.dicts else point.takes(x)):
            account, labels = point.now, self._now.labels
            code = point.decide(x)
            if point.now is account and point.pending is None and self._open is point:
                return labels.of_code[code]
        return self._predict_one(x)  # something was learned meanwhile, or it is not as usual

    @reading
    def _predict_one(self, x: Any) -> Any:
        learned, x = self._now.taking(x)
        if learned.point is None:
            if self._now.state is None:
                return self._first_answer(x)
            learned = self._now.one_at_a_time()
            self._replace(learned)
        assert learned.point is not None
        return learned.labels.of_code[learned.point.decide(x)]

    def _first_answer(self, x: Any) -> Any:
        """The label of anything before the first example: that of a tie."""
        check(x)
        return self.labels.of_code[0 if self.learner.tie == TIE_NEGATIVE else -1]

    # -- blocks

    def learn_rows(
        self, rows: Rows, y: np.ndarray, names: list[str] | None = None, learner: Learner | None = None
    ) -> None:
        """Learn from a block, in order: whole, or not at all if it is rejected or interrupted.

        `names` are those of all features, the ones known so far first. A `learner` is one to go on by, with another
        rule or convention for ties; the hypothesis and the intercept stay.

        Labels never met before join when the first row that has them is reached, as they would one at a time.
        """
        self.learn_encoded(rows, *encode(y), names, learner)

    @learning
    def learn_encoded(
        self,
        rows: Rows,
        classes: np.ndarray,
        place: np.ndarray,
        names: list[str] | None = None,
        learner: Learner | None = None,
    ) -> None:
        """The same where `encode` has told the labels apart: row i has classes[place[i]]; a class may have no row."""
        rows.require_numbers()
        found = classes.tolist()
        learned = self._now.begun(rows.n_features)
        if learner is not None:
            bounded = replace(learned.state, is_bounded=False)  # type: ignore[type-var]
            learned = replace(learned, learner=learner, state=bounded)
        if names is not None:
            learned, rows = learned.with_names(rows, names)
        unmet = [k for k, name in enumerate(found) if name not in learned.labels.codes]
        new = {int(at[0]): found[k] for k in unmet if (at := np.flatnonzero(place == k)).size}
        learned.require_room_for(list(new.values()), found[place[0]], rows.n_features)
        if not (set(new) <= {0} and self._learn_in_place(learned, rows, found, place, new)):
            self._replace(learned.after_pieces(rows, found, place, new))

    def _learn_in_place(
        self, learned: Learned, rows: Rows, found: list[Any], place: np.ndarray, new: dict[int, Any]
    ) -> bool:
        """Learn from a block in one compiled call, without a copy of the weights; return False if that cannot be."""
        learned = learned.with_label(new[0]) if new else learned
        assert learned.state is not None
        codes = learned.codes_of(found, place)
        block = learned.learner.block(learned.state.widened(rows.n_features), rows, codes)
        if block is None:
            return False
        self._open = None
        self._block = block, learned
        self._blocks_begun += 1
        block.learn()
        self._finish_block(block, learned)
        self._block = None
        return True

    def encoded(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels as `learn_encoded` takes them. An error, before anything changes, if they cannot be told apart, or do
        not sort with those that are known."""
        classes, place = encode(y)
        labels = self.labels
        labels.copy().add(*(name for name in classes.tolist() if name not in labels.codes))
        return classes, place

    def scores(self, rows: Rows) -> np.ndarray:
        """What the hypothesis says of each row."""
        return self._scored(rows)[1]

    def predict(self, rows: Rows) -> np.ndarray:
        """The label of each row."""
        learned, scores = self._scored(rows)
        classes = learned.labels.as_array()
        if len(classes) == 1:
            return np.repeat(classes, len(rows))
        return classes[learned.learner.decide(scores)]

    def _scored(self, rows: Rows) -> tuple[Learned, np.ndarray]:
        """What has been learned, and the scores of rows under it; many threads may read at a time."""
        begun = self._blocks_begun
        learned = self._learned()
        scores = learned.scores(rows)
        if self._blocks_begun == begun:
            return learned, scores
        return self._scored_alone(rows)  # the weights may have changed while they were read

    @reading
    def _scored_alone(self, rows: Rows) -> tuple[Learned, np.ndarray]:
        learned = self._now.begun()
        return learned, learned.scores(rows)
