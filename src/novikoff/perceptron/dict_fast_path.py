"""The usual dict, learned by compiled code that Python calls as its own (_compiled/loops/dicts.py).

A `PointLearner` in plain Python knows every case; `Quick` knows the one that streams are made of, three to five times
as fast, and leaves the others to it. Both use the same dicts of weights. The few numbers beside them are in the slots
of the compiled code or in the point learner: those that count more examples hold.

Compiled code holds the interpreter's lock for a whole call, and so is never interrupted by another thread or a signal.
Python code is. So the compiled code is suspended while Python code, which has the lock of the model
(perceptron/model.py), reads or changes what they share; it then answers NotImplemented. If Python code is interrupted,
it stays suspended until the next call that takes the model's lock has made everything whole again.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np

from novikoff import rules
from novikoff._compiled import pyobjects
from novikoff._compiled.loops import dicts
from novikoff._compiled.loops.additive import EXAMPLES, UPDATES
from novikoff.hypotheses import Averaged, Last
from novikoff.inputs.labels import Labels
from novikoff.perceptron.learner import coded
from novikoff.perceptron.one_at_a_time import PointLearner, account_of, numbers_of

__all__ = ["Quick"]

_OBJECTS = {
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
_DICT = id(dict)


class Quick:
    """A short way for dicts that are usual, beside a `PointLearner`, if it `suits`. It begins suspended.

    Attributes
    ----------
    learn_usual : callable
        Of x and its label: None; or NotImplemented if x is not usual, the label new, or this suspended. Then nothing
        has changed.
    decide_usual : callable
        Of x: its label, or NotImplemented.
    """

    __slots__ = ("_point", "_slots", "_words", "decide_usual", "learn_usual")

    def __init__(self, point: PointLearner, labels: Labels) -> None:
        self._point, self._slots = point, bytearray(8 * dicts.N_SLOTS)
        words: Any = memoryview(self._slots).cast("q")
        reals: Any = memoryview(self._slots).cast("d")
        self._words = words
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

    @staticmethod
    def suits(point: PointLearner, labels: Labels) -> bool:
        """Dicts of two known classes, names that are strings, a rule of ours, weights that answer by themselves or by
        their mean."""
        learner = point.learner
        return (
            pyobjects.AVAILABLE
            and point.dicts
            and len(labels) == 2
            and learner.separator is None
            and isinstance(learner.hypothesis, (Last, Averaged))
            and point.names_are_strings
            and not isinstance(learner.rule, rules.Custom)
        )

    def suspend(self) -> None:
        """Leave everything to the point learner from now on, and bring that up to date."""
        self._words[dicts.DICT] = 0
        self.catch_up()

    def catch_up(self) -> None:
        """Bring the point learner to where this is, if that has learned anything. To be called while suspended."""
        point, words = self._point, self._words
        point.carry_out()
        if words[EXAMPLES] <= point.now[0]:
            return
        *numbers, bias, sums_bias = _NUMBERS.unpack_from(self._slots)
        biases = zip([*point.raw, *point.sums], (bias, sums_bias), strict=False)
        updates, new = numbers[UPDATES], numbers[UPDATES] - numbers_of(point.now)[UPDATES]
        trace = point.trace.thinned(updates)
        points = trace.points_of(updates - new + 1, *self._logged(new), None)
        moves: list[Any] = [(vector, {}, b) for vector, b in biases]
        point.pending = account_of(numbers), {}, moves, (trace, len(trace.points), points), None, None
        point.carry_out()

    def _logged(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Examples and mistakes so far, and |w|^2, after the last n updates."""
        end = self._words[dicts.LOGGED]
        words, reals = (
            np.frombuffer(self._slots, kind)[dicts.LOG :].reshape(-1, 3)[end - n : end]
            for kind in (np.int64, np.float64)
        )
        return words[:, 0], words[:, 1], reals[:, 2]

    def resume(self) -> None:
        """Go on from where the point learner is, which has nothing left to carry out; unless it has met a name that is
        not a string. To compare that may be Python code, which compiled code must not run."""
        point, words = self._point, self._words
        if not point.names_are_strings:
            return
        sums_bias = point.sums[0].bias if point.sums else 0.0
        _NUMBERS.pack_into(self._slots, 0, *numbers_of(point.now), point.raw[0].bias, sums_bias)
        words[dicts.LOGGED] = 0
        words[dicts.DICT] = _DICT
