"""Several threads learn and read one perceptron: no example is lost, and every answer is that of some moment."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from typing import Any

import numpy as np

import novikoff as nk
from novikoff import rules

ALWAYS = rules.Margin(beta=1e18)  # one step for every example: the weights are a sum, whatever the order


def attack(rng: np.random.Generator) -> int:
    """Threads that learn dicts with new names, one at a time and in blocks, and threads that read."""
    hypothesis = str(rng.choice(["last", "averaged", "pocket", "voted"]))
    model = nk.Perceptron(ALWAYS, hypothesis, fit_intercept=False, ties="positive")
    if rng.random() < 0.5:
        model.learn_one({"one": 1.0, "other": -1.0}, 1)
    n_threads, n_each = int(rng.integers(2, 6)), 30 if hypothesis == "voted" else int(rng.integers(50, 400))
    streams = [_stream(np.random.default_rng(seed), n_each) for seed in rng.integers(0, 2**32, n_threads)]
    first = model.ledger_.examples if hasattr(model, "_model") else 0
    blocks = [bool(rng.random() < 0.3) for _ in streams]
    failures: list[BaseException] = []
    running = [
        threading.Thread(target=_guarded, args=(failures, _learn, model, *each))
        for each in zip(streams, blocks, strict=True)
    ]
    done = threading.Event()
    readers = [threading.Thread(target=_guarded, args=(failures, _read, model, done)) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(float(rng.choice([1e-6, 1e-5, 5e-3])))
    try:
        for thread in (*running, *readers):
            thread.start()
        for thread in running:
            thread.join()
        done.set()
        for thread in readers:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if failures:
        raise failures[0]
    _check(model, streams, first)
    return n_threads * n_each


def _stream(rng: np.random.Generator, n: int) -> list[tuple[dict[str, float], int]]:
    """Integers under names of which some are new, and two that are always opposite."""
    found = []
    for _ in range(n):
        names = [f"name {k}" for k in rng.integers(0, 3000, int(rng.integers(0, 6)))]
        values = dict(zip(names, rng.integers(-3, 4, len(names)).tolist(), strict=True))
        if rng.random() < 0.1:
            values = {name: np.float32(value) for name, value in values.items()}
        size = float(rng.integers(1, 5))
        found.append((values | {"one": size, "other": -size}, int(rng.choice([-1, 1]))))
    return found


def _learn(model: nk.Perceptron, stream: list[tuple[dict[str, float], int]], in_blocks: bool) -> None:
    step = 7 if in_blocks else 1
    for start in range(0, len(stream), step):
        part = stream[start : start + step]
        if in_blocks:
            model.partial_fit([x for x, _ in part], [y for _, y in part])
        else:
            model.learn_one(*part[0])


def _read(model: nk.Perceptron, done: threading.Event) -> None:
    """A row of two ones scores 0 after any number of examples, and only between them."""
    while not done.is_set():
        if not hasattr(model, "_model"):
            continue
        assert model.predict_one({"one": 1.0, "other": 1.0}) in (1, None)
        scores = model.decision_function([{"one": 1.0, "other": 1.0}, {"one": 2.0, "other": 2.0}])
        if model.hypothesis != "voted":
            assert not scores.any(), scores
        for made in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model):
            ledger = made.ledger_
            assert ledger.updates == ledger.examples


def _check(model: nk.Perceptron, streams: list[Any], first: int) -> None:
    expected = {"one": float(first), "other": -float(first)}
    for x, y in (each for stream in streams for each in stream):
        for name, value in x.items():
            expected[name] = expected.get(name, 0.0) + y * float(value)
    assert model.ledger_.examples == first + sum(map(len, streams))
    found = dict(zip(model._model.vocabulary, model.raw_coef_[0].tolist(), strict=True))
    assert found == expected


def _guarded(failures: list[BaseException], function: Any, *args: Any) -> None:
    try:
        function(*args)
    except BaseException as error:
        failures.append(error)
