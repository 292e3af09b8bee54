"""Calls from within calls: labels, names, numbers, rules, finalizers and signal handlers that use the same model."""

from __future__ import annotations

import gc
import signal
from collections import UserDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import novikoff as nk
from novikoff.errors import ReentryError

Act = Callable[[], None]


class Label(str):
    """Does something when it is looked up."""

    act: Act | None = None

    def __hash__(self) -> int:
        if self.act is not None:
            self.act()
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        if self.act is not None:
            self.act()
        return str.__eq__(self, other)


class Name(Label):
    """A feature's name that does the same."""


class Number(float):
    """Does something when it is used."""

    act: Act | None = None

    def __float__(self) -> float:
        if self.act is not None:
            self.act()
        return float.__float__(self)

    def __mul__(self, other: Any) -> float:
        return float(self) * other

    __rmul__ = __mul__


class Loud(UserDict[str, float]):
    """A mapping that does something when it is gone through."""

    act: Act | None = None

    def __iter__(self) -> Iterator[str]:
        if self.act is not None:
            self.act()
        return super().__iter__()


class Finalized:
    """In a cycle, and does something when it is collected."""

    def __init__(self, act: Act) -> None:
        self.act, self.me = act, self

    def __del__(self) -> None:
        self.act()


class Nested:
    """Uses a model from within: once in a while, and not from within itself. Counts what was learned."""

    def __init__(self, rng: np.random.Generator, model: nk.Perceptron) -> None:
        self.rng, self.model, self.learned, self.is_inside = rng, model, 0, False

    def __call__(self) -> None:
        if self.is_inside or self.rng.random() < 0.5:
            return
        self.is_inside = True
        try:
            kind = self.rng.integers(4)
            if kind == 0:
                self.model.predict_one({"a": 1.0, "unknown": np.float32(2.0)})
            elif kind == 1:
                assert self.model.ledger_.examples >= 0
            else:
                try:
                    self.model.learn_one({f"new {self.rng.integers(50)}": 1.0, "a": -1.0}, "ham")
                    self.learned += 1
                except ReentryError:
                    pass
        finally:
            self.is_inside = False


def attack(rng: np.random.Generator) -> int:
    """One model, and two hundred examples that call it."""
    hypothesis = str(rng.choice(["last", "averaged", "pocket", "voted"]))
    nested: list[Nested] = []

    def rule(margin: float, squared_norm: float) -> float:
        if nested and rng.random() < 0.2:
            nested[0]()
        return 1.0 if margin <= 0 else 0.0

    model = nk.Perceptron(rule if rng.random() < 0.2 else "perceptron", hypothesis)
    for label in ("ham", "spam", "eggs")[: int(rng.integers(2, 4))]:
        model.learn_one({"a": 1.0, label: 2.0}, label)
    act = Nested(rng, model)
    nested.append(act)
    labels, learned = model.classes_.tolist(), model.ledger_.examples
    thresholds = gc.get_threshold()
    before = signal.signal(signal.SIGALRM, lambda *_: act())
    gc.set_threshold(int(rng.integers(1, 50)))
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        for _ in range(200):
            x, y = _example(rng, act, str(rng.choice(labels)))
            try:
                model.learn_one(x, y)
                learned += 1
            except ReentryError:  # of a call within this one, which it did not catch
                assert type(x) is not dict or not all(type(name) is str for name in x)
            except RuntimeError as error:  # of a dict that changed while it was gone through
                if "changed" not in str(error):
                    raise
            if rng.random() < 0.3:
                Finalized(act)
            model.predict_one(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        gc.set_threshold(*thresholds)
    gc.collect()
    found = model.ledger_
    assert found.examples == learned + act.learned, (found.examples, learned, act.learned)
    assert len(model._model.vocabulary) == model.raw_coef_.shape[1]
    return 200


def _example(rng: np.random.Generator, act: Act, label: str) -> tuple[Any, Any]:
    x: Any = {str(name): float(value) for name, value in zip("abc", rng.integers(-3, 4, 3), strict=True)}
    kind = rng.integers(6)
    if kind == 0:
        loud = Label(label)
        loud.act = act
        return x, loud
    if kind == 1:
        number = Number(2.0)
        number.act = act
        return x | {"b": number}, label
    if kind == 2:
        x = Loud(x)
        x.act = act
    elif kind == 3:
        name = Name(f"name {rng.integers(5)}")
        x[name] = 1.0
        name.act = act
    elif kind == 4:
        x[f"new {rng.integers(100)}"] = 1.0
    return x, label
