"""DictFastPath: learns from ordinary dicts in compiled code (_compiled/loops/dicts.py).

`ExampleLearner` handles every case in plain Python. `DictFastPath` handles the common case of a stream 3 to 5 times
faster and delegates everything else to `ExampleLearner`. Both share the weight dicts; biases and counters are stored in
both, and the copy with the higher example count is current.

Compiled code holds the interpreter's lock for a whole call, so neither another thread nor a signal interrupts it.
Python code can be interrupted. The fast path is therefore suspended (returns NotImplemented) while Python code reads or
modifies the shared data under the model's lock (perceptron/model.py). If that code is interrupted, it stays suspended
until the next call under the lock has restored a consistent state.
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
from novikoff.perceptron.compiled_rules import encode_rule
from novikoff.perceptron.one_at_a_time import ExampleLearner, account_from_numbers, account_to_numbers

__all__ = ["DictFastPath"]

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
_HEADER = Struct("=5q7d")  # the first slots: counts, measures, biases
_DICT = id(dict)


class DictFastPath:
    """Compiled `learn_one` and `predict_one` for ordinary dicts, paired with an `ExampleLearner`. Initially suspended.

    Attributes
    ----------
    try_learn : callable
        ``try_learn(x, label)`` learns from an example and returns None. It returns NotImplemented, and changes nothing,
        if x is not an ordinary dict, the label is new, or the fast path is suspended.
    try_predict : callable
        ``try_predict(x)`` returns the predicted label, or NotImplemented.
    """

    __slots__ = ("_int_slots", "_learner", "_slots", "try_learn", "try_predict")

    def __init__(self, learner: ExampleLearner, labels: Labels) -> None:
        self._learner, self._slots = learner, bytearray(8 * dicts.N_SLOTS)
        integers: Any = memoryview(self._slots).cast("q")
        floats: Any = memoryview(self._slots).cast("d")
        self._int_slots = integers
        rule, ties = learner.learner.rule, learner.learner.tie
        assert not isinstance(rule, rules.Custom | rules.StatefulRule)  # checked by `supports`
        integers[dicts.RULE], floats[dicts.PARAMETER] = encode_rule(rule)
        integers[dicts.TIE], floats[dicts.CONSTANT] = ties, learner.learner.constant
        objects = {dicts.RAW: learner.raw[0].w, dicts.CODES: labels.codes, **_OBJECTS}
        if learner.sums:
            objects[dicts.SUMS] = learner.sums[0].w
        objects |= {dicts.LABELS + code: label for code, label in enumerate(labels.of_code)}
        for slot, value in objects.items():
            integers[slot] = id(value)
        referenced = self._slots, *objects.values()
        self.try_learn, self.try_predict = dicts.learn.bound_to(referenced), dicts.decide.bound_to(referenced)

    @classmethod
    def create_if_supported(cls, learner: ExampleLearner, labels: Labels) -> DictFastPath | None:
        """Return a fast path for this learner; None if it is not supported, or if it cannot be compiled here."""
        if not cls.supports(learner, labels):
            return None
        try:
            return cls(learner, labels)
        except Exception as error:  # anything that the compiler, the linker or another Python version may raise
            pyobjects.turn_off(error)
            return None

    @staticmethod
    def supports(learner: ExampleLearner, labels: Labels) -> bool:
        """Return whether the fast path can be used for this learner.

        It needs dicts whose names are strings, two known classes, a built-in rule, no separator, and the last or the
        averaged hypothesis.
        """
        return (
            pyobjects.is_available()
            and learner.dicts
            and len(labels) == 2
            and learner.learner.separator is None
            and isinstance(learner.learner.hypothesis, (Last, Averaged))
            and learner.names_are_strings
            and not isinstance(learner.learner.rule, rules.Custom | rules.StatefulRule)
        )

    def suspend(self) -> None:
        """Decline every example from now on, and bring the example learner up to date."""
        self._int_slots[dicts.DICT] = 0  # no type has address 0, so every example is declined
        self.catch_up()

    def catch_up(self) -> None:
        """Bring the example learner up to date with what was learned here. Call only while suspended."""
        learner, integers = self._learner, self._int_slots
        learner.apply_pending()
        if integers[EXAMPLES] <= learner.now[0]:
            return
        *header, bias, sums_bias = _HEADER.unpack_from(self._slots)
        biases = zip([*learner.raw, *learner.sums], (bias, sums_bias), strict=False)
        updates, new = header[UPDATES], header[UPDATES] - account_to_numbers(learner.now)[UPDATES]
        trace = learner.trace.thin(updates)
        points = trace.select_points(updates - new + 1, *self._read_log(new), None)
        moves: list[Any] = [(vector, {}, b) for vector, b in biases]
        account, trace_points = account_from_numbers(header), (trace, len(trace.points), points)
        learner.pending = account, {}, moves, trace_points, None, None
        learner.apply_pending()

    def _read_log(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return examples so far, mistakes so far and |w|^2, each after the last n updates."""
        end = self._int_slots[dicts.LOGGED]
        integers, floats = (
            np.frombuffer(self._slots, dtype)[dicts.LOG :].reshape(-1, 3)[end - n : end]
            for dtype in (np.int64, np.float64)
        )
        return integers[:, 0], integers[:, 1], floats[:, 2]

    def resume(self) -> None:
        """Copy biases and counters from the example learner, and accept examples again.

        The example learner must have no pending change. If it has seen a name that is not a string, the fast path stays
        suspended: comparing such a name may run Python code, which compiled code must not do.
        """
        learner, integers = self._learner, self._int_slots
        if not learner.names_are_strings:
            return
        sums_bias = learner.sums[0].bias if learner.sums else 0.0
        _HEADER.pack_into(self._slots, 0, *account_to_numbers(learner.now), learner.raw[0].bias, sums_bias)
        integers[dicts.LOGGED] = 0
        integers[dicts.DICT] = _DICT
