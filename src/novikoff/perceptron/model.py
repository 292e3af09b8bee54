"""Model: a learner and its state, with the user's own labels and feature names.

It learns from one example (a dict or a 1-D array) or from a block of rows, in any mixture, and may meet new labels at
any time, and new names in dicts. Whatever the mixture, the result is that of one example at a time.

Threads may share it, and it may be interrupted anywhere (system/exclusive.py): calls run one after the other, and an
example or a block is learned whole or not at all. Everything that must change together is in one object, `_now`, which
is replaced by another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, TIE_NEGATIVE
from novikoff.errors import ReentryError
from novikoff.inputs.examples import check_example
from novikoff.inputs.labels import Labels, encode_labels
from novikoff.inputs.rows import Rows
from novikoff.inputs.sparse import dense_example
from novikoff.perceptron.blending import linear_state
from novikoff.perceptron.block_update import BlockUpdate
from novikoff.perceptron.dict_fast_path import DictFastPath
from novikoff.perceptron.labelling import find_new_labels
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model_state import ModelState
from novikoff.perceptron.one_at_a_time import ExampleLearner
from novikoff.perceptron.state import State
from novikoff.perceptron.stateful_examples import StatefulExampleLearner
from novikoff.perceptron.visits import as_importances
from novikoff.system.copying import deep_copy
from novikoff.system.exclusive import ExclusiveAccess, exclusive_read, exclusive_write, make_lock, reentry_error

__all__ = ["Model"]

_ARRAY = np.ndarray


class Model(ExclusiveAccess):
    """The model behind `nk.Perceptron` and `StreamModel`.

    Parameters
    ----------
    learner : Learner
    labels : iterable, optional
        Labels known in advance.
    state : State, optional
        What has been learned so far.
    names : iterable of str, optional
        The names of the features, if they have any.

    Attributes
    ----------
    fast_path : DictFastPath or None
        Learns from and predicts ordinary dicts without the lock; callers try it first.

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

    __copy__ = deep_copy
    fast_path: DictFastPath | None = None
    _open_learner: ExampleLearner | StatefulExampleLearner | None = (
        None  # that of `_now`, if predictions may read it without the lock
    )

    def __init__(
        self,
        learner: Learner,
        labels: Iterable[Any] | Labels = (),
        state: State | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        labels = labels if isinstance(labels, Labels) else Labels(labels)
        vocabulary = {name: index for index, name in enumerate(names)} if names is not None else None
        self._start_from(ModelState(learner, labels, vocabulary, state))

    def _start_from(self, learned: ModelState) -> None:
        self._lock = make_lock(self)
        self._block: tuple[BlockUpdate, ModelState] | None = None  # the block being learned in place
        self._n_blocks = 0  # how many blocks have begun to change weights in place
        self._is_torn = False
        self._now = learned

    # -- one call at a time

    def _apply_pending(self) -> None:
        if self._block is not None:
            self._finish_block(*self._block)
        now = self._now
        if now.fast_path is not None:
            # Not only brought up to date: between `_before_release` and the release of the lock it is running again,
            # and another thread may learn by it. The next call that takes the lock resumes it.
            now.fast_path.suspend()
        elif now.example_learner is not None:
            now.example_learner.apply_pending()

    def _recover(self) -> None:
        if self._is_torn:
            raise ReentryError(
                "This process was forked while another thread was learning from a block, and its copy of the model is "
                "of no use: fork between calls, or load the model from a file."
            )
        self._apply_pending()
        self._block = None

    def _compact(self) -> None:
        if self._now.example_learner is not None:
            self._now.example_learner.compact()

    def _before_release(self) -> None:
        now = self._now
        self.fast_path = now.fast_path
        if self.fast_path is not None:
            self.fast_path.resume()
        elif not now.learner.hypothesis.remembers:
            self._open_learner = now.example_learner

    def _on_fork(self) -> None:
        # A compiled loop may have been half-way through the weights.
        one_by_one = self._now.example_learner
        is_in_example = isinstance(one_by_one, StatefulExampleLearner) and one_by_one.pending is not None
        self._is_torn = self._block is not None or is_in_example

    def _replace(self, learned: ModelState) -> None:
        """Go on from another model state. The fast path of the old one is suspended for good."""
        self._open_learner = None
        if self._now.fast_path is not None:
            self._now.fast_path.suspend()
        self._now = learned

    def _finish_block(self, block: BlockUpdate, learned: ModelState) -> None:
        """Go on from the state after a block if it has been learned; if not, nothing has changed."""
        if block.is_learned:
            self._replace(replace(learned, state=block.complete_state()))

    # -- what has been learned

    @property
    def learner(self) -> Learner:
        return self._now.learner

    @property
    def labels(self) -> Labels:
        return self._now.labels

    @property
    def vocabulary(self) -> dict[str, int] | None:
        """The index of each feature name; names may be added to it while an example is learned."""
        return self._now.vocabulary

    @property
    def n_features(self) -> int | None:
        """The number of features; None before the first example."""
        return self._now.n_features

    @property
    def n_examples(self) -> int:
        """The number of examples learned from."""
        return int(self.state.counts[EXAMPLES])

    @property
    def state(self) -> State:
        """The state in arrays, to be read only: learning from a block changes it. Assign a state to go on from it."""
        return self._read_now().state  # type: ignore[return-value]

    @state.setter
    def state(self, state: State) -> None:
        self._set_state(state)

    @exclusive_write
    def _set_state(self, state: State) -> None:
        self._replace(replace(self._now, state=state, example_learner=None, fast_path=None))

    @exclusive_read
    def _read_now(self) -> ModelState:
        """Return everything learned so far, with the state in arrays."""
        return self._now.with_state()

    @exclusive_read
    def snapshot(self) -> Model:
        """Return a copy that later learning does not change."""
        learned = self._now.with_state()
        if self._now.example_learner is None:
            learned = replace(learned, state=learned.state.copy())  # type: ignore[union-attr]
        vocabulary = None if learned.vocabulary is None else dict(learned.vocabulary)
        return Model(learned.learner, learned.labels, learned.state, vocabulary)

    def to_linear(self) -> Model:
        """Return a linear model with the blended weights of the rule "auto", by which its log mixer scores rows.

        The ledger of the result has the mistakes that the mixer has made, to be compared with those of the vote.
        """
        learned = self.snapshot()._read_now()
        learner = learned.learner.to_linear()
        state = None if learned.state is None else linear_state(learned.state)
        return Model(learner, learned.labels, state, learned.vocabulary)

    @exclusive_read
    def __getstate__(self) -> ModelState:
        """Return a copy of everything learned, for pickle and deepcopy."""
        learned = self._now.with_state()
        vocabulary = None if learned.vocabulary is None else dict(learned.vocabulary)
        return replace(learned, vocabulary=vocabulary, state=learned.state.copy())  # type: ignore[union-attr]

    def __setstate__(self, learned: ModelState) -> None:
        self._start_from(learned)

    @property
    def ledger(self) -> Ledger:
        return self._ledger()

    @exclusive_read
    def _ledger(self) -> Ledger:
        return self.learner.ledger(self._now.with_state().state)  # type: ignore[arg-type]

    # -- one at a time

    def learn_one(self, x: Any, y: Any, importance: float | None = None) -> None:
        """Learn from one example: whole, or not at all if it is rejected or interrupted.

        The step is multiplied by the importance, a number > 0, if there is one.
        """
        lock = self._lock
        if lock._is_owned():
            raise reentry_error(self)
        learner, labels = self._open_learner, self._now.labels
        try:
            code = labels.codes[y]  # may run Python code of the label's class, so before the lock
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
                and learner is not None
                and learner is self._open_learner
                and (kind is dict if learner.dicts else learner.accepts(x))
            ):
                if learner.pending is not None:
                    learner.apply_pending()
                learner.learn(x, code, importance)
            else:
                self._recover()
                self._learn_any(x, y, code if self._now.labels is labels else None, importance)
                self._before_release()
        finally:
            try:  # noqa: SIM105 - one call, and nothing that could be interrupted before it
                lock.release()
            except RuntimeError:  # interrupted while it waited for the lock
                pass

    def _learn_any(self, x: Any, y: Any, code: int | None, importance: float | None) -> None:
        """Learn from any example; `code` is None if its label may be new."""
        learned, x = self._now.prepare_for(x)
        if code is not None and learned.example_learner is not None:
            learned.example_learner.learn(x, code, importance)
        else:
            self._learn_in_copy(learned, x, y, importance)

    def _learn_in_copy(self, learned: ModelState, x: Any, y: Any, importance: float | None) -> None:
        """Learn from an example with a new label, or the first example after a block, in a copy; then go on from it."""
        vocabulary = None if learned.vocabulary is None else dict(learned.vocabulary)
        learned = replace(learned.with_state(), vocabulary=vocabulary)
        try:
            is_new = y not in learned.labels.codes
        except TypeError:
            is_new = True
        if is_new:
            assert learned.state is not None
            check_example(x)
            learned.require_labels_fit([y], y, learned.state.n_features)
            learned = learned.with_label(y)
        learned = learned.with_example_learner()
        assert learned.example_learner is not None
        learned.example_learner.learn(x, learned.labels.codes[y], importance)
        self._replace(learned)

    def predict_one(self, x: Any) -> Any:
        """Return the label of one example; None where the answer is a class whose label is not known yet."""
        learner = self._open_learner
        if learner is not None and (type(x) is dict if learner.dicts else learner.accepts(x)):
            account, labels = learner.now, self._now.labels
            code = learner.decide(x)
            if learner.now is account and learner.pending is None and self._open_learner is learner:
                return labels.of_code[code]
        return self._predict_any(x)  # another thread has learned meanwhile, or x is not ordinary

    @exclusive_read
    def _predict_any(self, x: Any) -> Any:
        learned, x = self._now.prepare_for(x)
        if learned.example_learner is None:
            if self._now.state is None:
                return self._predict_before_learning(x)
            learned = self._now.with_example_learner()
            self._replace(learned)
        assert learned.example_learner is not None
        return learned.labels.of_code[learned.example_learner.decide(x)]

    def _predict_before_learning(self, x: Any) -> Any:
        """Return the label of a tie: before the first example every score is 0."""
        check_example(x)
        return self.labels.of_code[0 if self.learner.tie == TIE_NEGATIVE else -1]

    # -- blocks

    def learn_rows(
        self,
        rows: Rows,
        y: np.ndarray,
        names: list[str] | None = None,
        learner: Learner | None = None,
        importances: np.ndarray | None = None,
    ) -> None:
        """Learn from a block, in order: whole, or not at all if it is rejected or interrupted.

        A new label is added when the first row that has it is reached, as if rows came one at a time.

        Parameters
        ----------
        rows : Rows
        y : array
            The label of each row.
        names : list of str, optional
            The names of all features, the known ones first.
        learner : Learner, optional
            The learner to go on with, which may differ in its rule and its ties, not in hypothesis and intercept.
        importances : array, optional
            A number > 0 for each row, by which its step is multiplied.
        """
        self.learn_encoded(rows, *encode_labels(y), names, learner, importances, may_widen=False)

    @exclusive_write
    def learn_encoded(
        self,
        rows: Rows,
        classes: np.ndarray,
        class_indices: np.ndarray,
        names: list[str] | None = None,
        learner: Learner | None = None,
        importances: np.ndarray | None = None,
        *,
        may_widen: bool = True,
    ) -> None:
        """Learn from a block as `learn_rows` does, where row i has the label classes[class_indices[i]].

        A class may have no row. Rows without names must be as wide as the weights unless `may_widen`, as in svmlight
        files, where a later block may have larger indices.
        """
        rows.require_numbers()
        if importances is not None:
            importances = as_importances(importances, len(rows))
        class_list = classes.tolist()
        learned = self._now.with_state(rows.n_features)
        if not may_widen and names is None:
            learned.require_width(rows)
        if learner is not None:
            state = replace(learned.state, is_bounded=False)  # type: ignore[type-var]
            learned = replace(learned, learner=learner, state=state)
        if names is not None:
            learned, rows = learned.with_names(rows, names)
        new_labels = find_new_labels(learned.labels, class_list, class_indices)
        learned.require_labels_fit(list(new_labels.values()), class_list[class_indices[0]], rows.n_features)
        is_one_piece = set(new_labels) <= {0}
        block = rows, class_list, class_indices, new_labels, importances
        if not (is_one_piece and self._learn_in_place(learned, *block)):
            self._replace(learned.learn_pieces(*block))

    def _learn_in_place(
        self,
        learned: ModelState,
        rows: Rows,
        classes: list[Any],
        class_indices: np.ndarray,
        new_labels: dict[int, Any],
        importances: np.ndarray | None,
    ) -> bool:
        """Learn from a block in one compiled call without copying the weights; return False if that is impossible."""
        learned = learned.with_label(new_labels[0]) if new_labels else learned
        assert learned.state is not None
        codes = learned.codes_of(classes, class_indices)
        block = BlockUpdate.prepare(learned.learner, learned.state.widen(rows.n_features), rows, codes, importances)
        if block is None:
            return False
        self._open_learner = None
        self._block = block, learned
        self._n_blocks += 1
        block.learn()
        self._finish_block(block, learned)
        self._block = None
        return True

    def require_sortable(self, classes: np.ndarray) -> None:
        """Raise a DataError if some classes do not sort with the known labels."""
        labels = self.labels
        labels.copy().add(*(label for label in classes.tolist() if label not in labels.codes))

    # -- answering

    def scores(self, rows: Rows) -> np.ndarray:
        """Return the hypothesis's scores of rows."""
        return self._score(rows)[1]

    def predict(self, rows: Rows) -> np.ndarray:
        """Return the label of each row."""
        learned, scores = self._score(rows)
        classes = learned.labels.as_array()
        if len(classes) == 1:
            return np.repeat(classes, len(rows))
        return classes[learned.learner.decide(scores)]

    def count_errors(self, rows: Rows, classes: np.ndarray, class_indices: np.ndarray) -> int:
        """Count the rows that are predicted wrongly, where row i has the label classes[class_indices[i]].

        Rows may have more columns than the weights, which score nothing there; an unknown label is an error.
        """
        learned = self._read_now()
        known, state, learner = learned.labels.as_array(), learned.state, learned.learner
        if state is None or not len(known):
            return len(rows)
        rows = rows.narrow(state.n_features)
        scores = state.mean_scores(rows, learner.constant) if learner.hypothesis.averages else learned.scores(rows)
        predictions = known[learner.decide(scores)] if len(known) > 1 else np.repeat(known, len(rows))
        return int((predictions != classes[class_indices]).sum())

    def _score(self, rows: Rows) -> tuple[ModelState, np.ndarray]:
        """Return a model state and the scores of rows under it; several threads may do so at a time."""
        n_blocks = self._n_blocks
        learned = self._read_now()
        scores = learned.scores(rows)
        if self._n_blocks == n_blocks:
            return learned, scores
        return self._score_with_lock(rows)  # a block may have changed the weights while they were read

    @exclusive_read
    def _score_with_lock(self, rows: Rows) -> tuple[ModelState, np.ndarray]:
        learned = self._now.with_state()
        return learned, learned.scores(rows)
