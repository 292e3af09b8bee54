"""Processes forked while threads learn: the child's model is whole, and nobody waits for a lock for ever."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

import novikoff as nk
from novikoff import rules
from novikoff.errors import ReentryError
from tests.support.forks import call_in_fork


def attack(rng: np.random.Generator) -> int:
    """Thirty forks while two threads learn."""
    hypothesis = str(rng.choice(["last", "averaged", "pocket"]))
    model = nk.Perceptron(rules.Margin(beta=1e18), hypothesis, fit_intercept=False, ties="positive")
    model.learn_one({"one": 1.0, "other": -1.0}, 1).learn_one({"one": 1.0, "other": -1.0}, -1)
    in_blocks, done = bool(rng.random() < 0.3), threading.Event()
    seeds = rng.integers(0, 2**32, 2)
    threads = [
        threading.Thread(target=_learn, args=(model, np.random.default_rng(seed), in_blocks, done)) for seed in seeds
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            time.sleep(float(rng.uniform(0.0, 1e-3)))
            ended = call_in_fork(lambda: _use(model, in_blocks))
            assert ended == 0, f"the child ended with {ended}"
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return 30


def _use(model: nk.Perceptron, in_blocks: bool) -> None:
    """What the child does: it reads, and goes on to learn."""
    try:
        assert model.predict_one({"one": 1.0, "other": 1.0}) == 1
    except ReentryError:
        assert in_blocks  # compiled code was changing the weights of the parent
        return
    before = model.ledger_
    assert before.updates == before.examples
    names = dict(zip(model._model.vocabulary, model.raw_coef_[0].tolist(), strict=True))
    assert names["one"] == -names["other"]
    model.learn_one({"one": 1.0, "other": -1.0, "a new name": 1.0}, 1)
    assert model.ledger_.examples == before.examples + 1


def _learn(model: nk.Perceptron, rng: np.random.Generator, in_blocks: bool, done: threading.Event) -> None:
    while not done.is_set():
        X: list[dict[str, Any]] = [{"one": 2.0, "other": -2.0, f"name {rng.integers(1000)}": 1.0} for _ in range(50)]
        y = rng.choice([-1, 1], 50)
        if in_blocks:
            model.partial_fit(X, y)
        else:
            for x, label in zip(X, y.tolist(), strict=True):
                model.learn_one(x, label)
