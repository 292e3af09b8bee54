"""One example at a time, predicted and then learned, against river (dicts) and scikit-learn (arrays).

Every run starts with a new model, so that all runs see the same stream from its beginning. The score is the share of
right predictions, each made before its label was seen. A stream of a thousand dicts takes a millisecond, too short for
a processor to warm up after the garbage collection before each turn: there a turn is ten runs.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, alternate, at_least

_RUNS_PER_TURN = 10


def dicts(options: Options) -> list[Line]:
    work, name, target = "one dict at a time, 9 names, predict + learn", "river Perceptron", at_least(5.0)
    if importlib.util.find_spec("river") is None:
        return [Line(work, name, target, note="make bench installs it")]
    from river import linear_model  # slow to import, and optional

    stream = data.phishing()
    theirs, ours = _StreamRun(linear_model.Perceptron, stream.examples), _StreamRun(nk.Perceptron, stream.examples)
    times = alternate(lambda: theirs.several(_RUNS_PER_TURN), lambda: ours.several(_RUNS_PER_TURN), options.repeats)
    same = ours.model.raw_coef_[0].tolist() == [theirs.model.weights[name] for name in stream.examples[0][0]]
    return [_line(work, name, target, times, theirs, ours, same, stream.source, _RUNS_PER_TURN)]


def arrays(options: Options) -> list[Line]:
    rows = data.noisy_linear(options.size(2_000, 500), 30, np.float64)
    examples = list(zip(rows.X, rows.y.tolist(), strict=True))
    theirs = _StreamRun(lambda: Perceptron(shuffle=False), examples)
    ours = _StreamRun(lambda: nk.Perceptron(classes=[0, 1]), examples)
    times = alternate(theirs.by_sklearn_protocol, ours.by_river_protocol, options.repeats)
    same = bool((ours.model.raw_coef_ == theirs.model.coef_).all())
    return [
        _line(
            "one array at a time, d = 30, predict + learn",
            "sklearn predict + partial_fit",
            at_least(200.0),
            times,
            theirs,
            ours,
            same,
            rows.source,
        )
    ]


class _StreamRun:
    """Runs over a stream, each with a new model."""

    def __init__(self, make: Callable[[], Any], examples: list[tuple[Any, Any]]) -> None:
        self.make, self.examples = make, examples
        self.model: Any = None
        self.mistakes = 0

    def by_river_protocol(self) -> None:
        self.model = model = self.make()
        mistakes = 0
        for x, y in self.examples:
            mistakes += model.predict_one(x) != y
            model.learn_one(x, y)
        self.mistakes = mistakes

    def several(self, runs: int) -> None:
        for _ in range(runs):
            self.by_river_protocol()

    def by_sklearn_protocol(self) -> None:
        self.model = model = self.make()
        classes = np.array([0, 1])
        x, y = self.examples[0]
        model.partial_fit([x], [y], classes=classes)
        mistakes = int(y != 1)  # scikit-learn cannot predict before it has learned; we predict 1
        for x, y in self.examples[1:]:
            row = x.reshape(1, -1)
            mistakes += model.predict(row)[0] != y
            model.partial_fit(row, [y])
        self.mistakes = mistakes

    @property
    def score(self) -> float:
        return 1.0 - self.mistakes / len(self.examples)


def _line(
    work: str,
    name: str,
    target: Any,
    times: Any,
    theirs: _StreamRun,
    ours: _StreamRun,
    same: bool,
    source: str,
    runs: int = 1,
) -> Line:
    agreement = f"weights {'equal' if same else 'differ'}, mistakes {theirs.mistakes} / {ours.mistakes}"
    each = [f"{seconds / runs / len(ours.examples) * 1e6:.1f}" for seconds in (times.theirs, times.ours)]
    note = f"{source}, {len(ours.examples):,} examples; {each[0]} / {each[1]} µs each"
    return Line(work, name, target, times.ratio, times, (theirs.score, ours.score), agreement, same, note)


BENCHMARKS: dict[str, Benchmark] = {"dicts": dicts, "arrays": arrays}
