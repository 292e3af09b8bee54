"""Interrupts at random times while a perceptron learns and is read: an example is learned whole or not at all."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import novikoff as nk
from novikoff import rules
from tests.support.interrupts import everything

RULES = ["perceptron", rules.Margin(beta=5.0), rules.PassiveAggressive(C=0.7)]


class Alarm:
    """Raises KeyboardInterrupt some time after it was set, while a call runs; several times if that takes long."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self.is_set, self.rang = rng, False, 0

    def __enter__(self) -> Alarm:
        self._before = signal.signal(signal.SIGALRM, self._ring)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, self._before)

    def _ring(self, *_: object) -> None:
        if self.is_set:
            self.rang += 1
            raise KeyboardInterrupt

    def during(self, call: Callable[[], Any]) -> None:
        """Call it, and come back when it has ended or was interrupted."""
        delay = float(10 ** self._rng.uniform(-5.5, -3.0))
        try:
            try:
                self.is_set = True
                signal.setitimer(signal.ITIMER_REAL, delay, max(delay, 1e-3))
                call()
            finally:
                self.is_set = False
        except KeyboardInterrupt:
            self.is_set = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def attack(rng: np.random.Generator) -> int:
    """One model, and about a hundred calls, each with an alarm."""
    hypothesis = str(rng.choice(["last", "averaged", "pocket", "voted"]))
    labels = ["ham", "spam", "eggs"][: int(rng.integers(2, 4))]
    arrays = bool(rng.random() < 0.3)
    model = nk.Perceptron(RULES[rng.integers(len(RULES))], hypothesis)
    model.learn_one(_example(rng, arrays), labels[0])
    reference = copy.deepcopy(model)
    with Alarm(rng) as alarm, tempfile.TemporaryDirectory() as folder:
        for _ in range(100):
            if rng.random() < 0.3:
                alarm.during(_reading(rng, model, _example(rng, arrays), os.path.join(folder, "model")))
            n = 1 if rng.random() < 0.8 else int(rng.integers(1, 20))
            X = [_example(rng, arrays) for _ in range(n)]
            y = [labels[k] for k in rng.integers(0, len(labels), n)]
            learn = _learning(X, y)
            alarm.during(lambda learn=learn: learn(model))
            after = copy.deepcopy(reference)
            learn(after)
            found = everything(model)
            if found == everything(after):
                reference = after
            else:
                assert found == everything(reference), "an example was learned in part"
        path = os.path.join(folder, "saved")
        model.save(path)
        assert everything(nk.load(path)) == everything(model)
    return 100


def _example(rng: np.random.Generator, is_array: bool) -> Any:
    if is_array:
        return rng.standard_normal(5)
    names = [f"name {k}" for k in rng.integers(0, 200, int(rng.integers(1, 8)))]
    values = rng.standard_normal(len(names))
    return dict(zip(names, values if rng.random() < 0.1 else values.tolist(), strict=True))


def _learning(X: list[Any], y: list[str]) -> Callable[[nk.Perceptron], Any]:
    if len(X) == 1:
        return lambda model: model.learn_one(X[0], y[0])
    return lambda model: model.partial_fit(X if isinstance(X[0], dict) else np.array(X), y)


def _reading(rng: np.random.Generator, model: nk.Perceptron, x: Any, path: str) -> Callable[[], Any]:
    calls: list[Callable[[], Any]] = [
        lambda: model.predict_one(x),
        lambda: model.ledger_,
        lambda: model.raw_coef_,
        lambda: pickle.dumps(model),
        lambda: model.save(path),
        lambda: model.predict([x] if isinstance(x, dict) else x.reshape(1, -1)),
    ]
    return calls[rng.integers(len(calls))]
