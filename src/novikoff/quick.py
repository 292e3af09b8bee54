"""The usual dict, learned by compiled code that Python calls as its own (kernels/dicts.py).

A `PointLearner` in plain Python knows every case; `Quick` knows the one that streams are made of, several times as
fast, and leaves the others to it. Both use the same dicts of weights; the few numbers beside them are handed over and
back.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Any

import numpy as np

from novikoff import rules
from novikoff._jit import objects
from novikoff.hypotheses import Averaged, Last
from novikoff.kernels import dicts
from novikoff.kernels.additive import EXAMPLES, UPDATES
from novikoff.labels import Labels
from novikoff.learner import coded
from novikoff.pointwise import PointLearner
from novikoff.state import State

__all__ = ["Quick"]

_OBJECTS = {
    dicts.DICT: dict,
    dicts.STR: str,
    dicts.FLOAT: float,
    dicts.FLOAT64: np.float64,
    dicts.INT: int,
    dicts.BOOL: bool,
    dicts.NOT_IMPLEMENTED: NotImplemented,
    dicts.NONE: None,
    dicts.TYPE_ERROR: TypeError,
}
_NUMBERS = Struct("=5q7d")  # how the slots begin: counts, measures, biases


class Quick:
    """A `PointLearner` for examples that are dicts, with a short way for those that are usual, if it `suits`.

    Attributes
    ----------
    learn_usual : callable
        Of x and its label: None; or NotImplemented if x is not usual, or the label new. Then nothing has changed.
    decide_usual : callable
        Of x: its label, or NotImplemented.
    """

    dicts = True
    __slots__ = ("_point", "_reals", "_slots", "_words", "decide_usual", "learn_usual")

    def __init__(self, point: PointLearner, labels: Labels) -> None:
        self._point, self._slots = point, bytearray(8 * dicts.N_SLOTS)
        words: Any = memoryview(self._slots).cast("q")
        reals: Any = memoryview(self._slots).cast("d")
        self._words, self._reals = words, reals
        learner = point.learner
        assert not isinstance(learner.rule, rules.Custom)  # or it would not suit
        words[dicts.RULE], reals[dicts.KNOB] = coded(learner.rule)
        words[dicts.TIE], reals[dicts.CONSTANT] = learner.tie, learner.constant
        own = {dicts.RAW: point.raw[0].w, dicts.CODES: labels.codes, **_OBJECTS}
        if point.sums:
            own[dicts.SUMS] = point.sums[0].w
        own |= {dicts.LABELS + code: label for code, label in enumerate(labels.of_code)}
        for slot, value in own.items():
            words[slot] = id(value)
        kept = self._slots, *own.values()
        self.learn_usual, self.decide_usual = dicts.learn.bound_to(kept), dicts.decide.bound_to(kept)
        self._hand_over()

    @staticmethod
    def suits(point: PointLearner, labels: Labels) -> bool:
        """Dicts of two known classes, names that are strings, a rule of ours, weights that answer by themselves or by
        their mean."""
        learner = point.learner
        return (objects.AVAILABLE and point.dicts and len(labels) == 2 and learner.separator is None
                and isinstance(learner.hypothesis, (Last, Averaged)) and _are_strings(point.vocabulary or ())
                and not isinstance(learner.rule, rules.Custom))  # fmt: skip

    def learn(self, x: Any, code: int) -> None:
        """Predict, suffer, update: one example of class `code`, usual or not."""
        self._take_back()
        try:
            self._point.learn(x, code)
        finally:
            if not _are_strings(x):
                self._words[dicts.DICT] = 0
            self._hand_over()

    def decide(self, x: Any) -> int:
        """The class of x, usual or not, under the hypothesis."""
        self._take_back()
        return self._point.decide(x)

    def state(self) -> State:
        """Everything learned so far, as arrays."""
        self._take_back()
        return self._point.state()

    def _hand_over(self) -> None:
        """Go on from where the point learner is."""
        point = self._point
        sums_bias = point.sums[0].bias if point.sums else 0.0
        _NUMBERS.pack_into(self._slots, 0, *point.counts, *point.measures, point.raw[0].bias, sums_bias)

    def _take_back(self) -> None:
        """Bring the point learner to where this is, if that has learned anything."""
        point, words = self._point, self._words
        if words[EXAMPLES] == point.counts[EXAMPLES]:
            return
        *counts_and_measures, bias, sums_bias = _NUMBERS.unpack_from(self._slots)
        point.counts, point.measures = counts_and_measures[: dicts.MEASURES], counts_and_measures[dicts.MEASURES :]
        point.raw[0].bias = bias
        if point.sums:
            point.sums[0].bias = sums_bias
        if words[dicts.LOGGED]:
            point.trace.add(point.counts[UPDATES] - words[dicts.LOGGED] + 1, *self._log(), None)
            words[dicts.LOGGED] = 0

    def _log(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Examples and mistakes so far, and |w|^2, after the updates since it was taken back."""
        words, reals = (np.frombuffer(self._slots, kind)[dicts.LOG :].reshape(-1, 3)[: self._words[dicts.LOGGED]]
                        for kind in (np.int64, np.float64))  # fmt: skip
        return words[:, 0], words[:, 1], reals[:, 2]


def _are_strings(names: Iterable[Any]) -> bool:
    """Whether these names are strings, and not of a subclass, whose comparison might be Python code."""
    return all(type(name) is str for name in names)
