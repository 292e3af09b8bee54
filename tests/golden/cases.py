"""Small learners of every kind of model file: how each learns, continues to learn, and predicts.

The data are short formulas of integers, so that nothing depends on a random generator.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk

N_ROWS, N_FEATURES = 24, 4


@dataclass(frozen=True)
class Case:
    """A learner for one golden file.

    learn : () -> model
    learn_more : model -> None; learns from more examples
    answers : model -> list of labels, scores and counts
    load_options : further arguments of `nk.load`
    """

    learn: Callable[[], Any]
    learn_more: Callable[[Any], Any]
    answers: Callable[[Any], list[Any]]
    load_options: dict[str, Any] = field(default_factory=dict)


def numbers(start: int = 0, n: int = N_ROWS) -> np.ndarray:
    """Rows of small integers without an obvious pattern: X[i, j] from -6 to 6."""
    i, j = np.arange(start, start + n)[:, None], np.arange(N_FEATURES)[None, :]
    return ((i * i * 7 + i * (j + 3) * 5 + j * j * 11 + i * j) % 13 - 6).astype(float)


def classes(X: np.ndarray, n_classes: int) -> np.ndarray:
    """Labels that a linear model predicts in part: which of n_classes bands a sum is in."""
    return ((2 * X[:, 0] - X[:, 1] + X[:, 3]).astype(int) // 5 + (X[:, 2] > 4)) % n_classes


def named(X: np.ndarray) -> list[dict[str, float]]:
    return [{f"feature {j}": v for j, v in enumerate(row.tolist()) if v != 0.0} for row in X]


def half_step(margin: float, squared_norm: float) -> float:
    """A user's rule."""
    return 0.5 if margin <= 0 else 0.0


X, MORE, QUERIES = numbers(), numbers(100), numbers(200, 8)


def _classifier(
    make: Callable[[], Any], n_classes: int = 2, change: Callable[[np.ndarray], Any] = np.asarray, **load_options: Any
) -> Case:
    def learn() -> Any:
        return make().partial_fit(change(X), classes(X, n_classes))

    def learn_more(model: Any) -> None:
        model.partial_fit(change(MORE), classes(MORE, n_classes))

    def answers(model: Any) -> list[Any]:
        scores = np.asarray(model.decision_function(change(QUERIES)), float)
        counts = [model.ledger_.examples, model.ledger_.mistakes] if hasattr(model, "ledger_") else []
        return [*model.predict(change(QUERIES)).tolist(), *scores.ravel().tolist(), *counts]

    return Case(learn, learn_more, answers, load_options)


def _one_at_a_time() -> Case:
    labels = ("ham", "spam")

    def teach(model: Any, rows: np.ndarray) -> Any:
        for x, code in zip(named(rows), classes(rows, 2).tolist(), strict=True):
            model.learn_one(x, labels[code])
        return model

    def answers(model: Any) -> list[Any]:
        return [*(model.predict_one(x) for x in named(QUERIES)), model.ledger_.mistakes]

    return Case(lambda: teach(nk.Perceptron(hypothesis="averaged"), X), lambda model: teach(model, MORE), answers)


def _fitted(make: Callable[[], Any], target: Callable[[np.ndarray], np.ndarray]) -> Case:
    """A model that is fitted to the rows, and then to more of them."""

    def answers(model: Any) -> list[Any]:
        scores = np.asarray(model.decision_function(QUERIES), float) if hasattr(model, "decision_function") else []
        return [*model.predict(QUERIES).tolist(), *np.ravel(scores).tolist()]

    return Case(lambda: make().fit(X, target(X)), lambda model: model.fit(MORE, target(MORE)), answers)


def _sum(rows: np.ndarray) -> np.ndarray:
    return rows @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0


def _kernel_regressor() -> Case:
    return Case(
        lambda: nk.KernelRegressor(gamma=0.1).partial_fit(X, _sum(X)),
        lambda model: model.partial_fit(MORE, _sum(MORE)),
        lambda model: model.predict(QUERIES).tolist(),
    )


SENTENCES = [
    ("the dog sees a cat", "D N V D N"),
    ("a cat runs", "D N V"),
    ("dogs see cats", "N V N"),
    ("the old dog runs home", "D A N V N"),
    ("she sees the old home", "P V D A N"),
]
MORE_SENTENCES = [("he runs", "P V"), ("the cat sees her", "D N V P")]
ASKED_SENTENCES = ["the home runs", "she sees a dog", "old cats run", "he sees"]


def _tagger(**options: Any) -> Case:
    def teach(tagger: Any, sentences: list[tuple[str, str]]) -> Any:
        return tagger.partial_fit(*zip(*((words.split(), tags.split()) for words, tags in sentences), strict=True))

    def answers(tagger: Any) -> list[Any]:
        tags = tagger.predict([sentence.split() for sentence in ASKED_SENTENCES])
        return [*(tag for sentence in tags for tag in sentence), tagger.ledger_.mistakes]

    return Case(
        lambda: teach(nk.SequenceTagger(**options), SENTENCES),
        lambda tagger: teach(tagger, MORE_SENTENCES),
        answers,
    )


def _stream(
    suffix: str, text_of: Callable[[np.ndarray], str], how: dict[str, Any] | None = None, **options: Any
) -> Case:
    def blocks(rows: np.ndarray) -> Any:
        # By a relative path, for a model file keeps the names of its sources.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path(f"rows.{suffix}").write_text(text_of(rows))
            yield from nk.open_stream(f"rows.{suffix}", **(how or {}))

    def learn_more(model: Any) -> None:
        for block in blocks(MORE):
            model.learn(block)

    def answers(model: Any) -> list[Any]:
        return [*(label for block in blocks(QUERIES) for label in model.predict(block).tolist()), model.ledger.mistakes]

    return Case(lambda: nk.learn(blocks(X), **options), learn_more, answers)


def _stream_regressor() -> Case:
    def blocks(rows: np.ndarray) -> Any:
        lines = [f"{a:g},{WORDS[int(b) % 7]},{c:g},{y:g}" for (a, b, c, _), y in zip(rows, _sum(rows), strict=True)]
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path("rows.csv").write_text("a,sky,c,y\n" + "\n".join(lines) + "\n")
            yield from nk.open_stream("rows.csv", target="y", types={"sky": "word"})

    def learn_more(model: Any) -> None:
        for block in blocks(MORE):
            model.learn(block)

    def answers(model: Any) -> list[Any]:
        found = [value for block in blocks(QUERIES) for value in model.predict(block).tolist()]
        return [*found, model.ledger.rmse, model.ledger.examples]

    return Case(lambda: nk.learn(blocks(X), loss="squared"), learn_more, answers)


TABLE_OPTIONS = {"target": "again", "types": {"note": "text", "sky": "word"}}
WORDS = ("sun", "rain", "snow", "wind", "fog", "hail", "storm")


def _table(rows: np.ndarray) -> str:
    lines = ["age,sky,note,again"]
    for (a, b, c, d), label in zip(rows.astype(int).tolist(), classes(rows, 3).tolist(), strict=True):
        note = f"{WORDS[c % 7]} and {WORDS[d % 7]} with {WORDS[(c + d) % 7]}"
        lines.append(f"{'' if a == 5 else a / 4},{WORDS[b % 7]},{note} over the long grey day,{'abc'[label]}")
    return "\n".join(lines) + "\n"


def _text(rows: np.ndarray) -> str:
    label_of = ("ham", "spam")
    return "".join(
        f"{label_of[label]}\t{' '.join(WORDS[v % 7] for v in row)}\n"
        for row, label in zip(rows.astype(int).tolist(), classes(rows, 2).tolist(), strict=True)
    )


def _svmlight(rows: np.ndarray) -> str:
    return "".join(
        f"{2 * label - 1} {' '.join(f'{j + 1}:{v:g}' for j, v in enumerate(row) if v)}\n"
        for row, label in zip(rows.tolist(), classes(rows, 2).tolist(), strict=True)
    )


def _vw(rows: np.ndarray) -> str:
    return "".join(
        f"{2 * label - 1} |numbers {' '.join(f'a_rather_long_name_{j}:{v:g}' for j, v in enumerate(row) if v)}"
        f" |words {WORDS[int(row[0]) % 7]} {WORDS[int(row[1]) % 7]}_{WORDS[int(row[2]) % 7]}\n"
        for row, label in zip(rows.tolist(), classes(rows, 2).tolist(), strict=True)
    )


def _json(rows: np.ndarray) -> str:
    return "".join(
        f'{{"a number with a name": {row[0]:g}, "sky": "{WORDS[int(row[1]) % 7]}", "y": "{["no", "yes"][label]}"}}\n'
        for row, label in zip(rows.tolist(), classes(rows, 2).tolist(), strict=True)
    )


CASES = {
    "perceptron-last": _classifier(lambda: nk.Perceptron()),
    "perceptron-averaged-classes": _classifier(lambda: nk.Perceptron("margin", "averaged"), 3),
    "perceptron-voted-sparse": _classifier(lambda: nk.Perceptron(hypothesis="voted"), 2, sp.csr_array),
    "perceptron-voted-classes": _classifier(lambda: nk.Perceptron(hypothesis="voted"), 3),
    "perceptron-pocket-dicts": _classifier(lambda: nk.Perceptron("passive-aggressive", "pocket"), 2, named),
    "perceptron-own-rule": _classifier(lambda: nk.Perceptron(half_step), 2, rule=half_step),
    "perceptron-one-at-a-time": _one_at_a_time(),
    "perceptron-arow": _classifier(lambda: nk.Perceptron("arow")),
    "perceptron-adagrad-dicts-averaged": _classifier(lambda: nk.Perceptron("adagrad", "averaged"), 2, named),
    "perceptron-coin-classes-sparse": _classifier(lambda: nk.Perceptron("coin"), 3, sp.csr_array),
    "linear-classifier": _fitted(lambda: nk.LinearClassifier("logistic", "newton", alpha=0.1), lambda X: classes(X, 2)),
    "linear-classifier-classes": _fitted(
        lambda: nk.LinearClassifier("squared-hinge", "newton", alpha=0.1), lambda X: classes(X, 3)
    ),
    "linear-classifier-dual": _fitted(
        lambda: nk.LinearClassifier("hinge", "dual", alpha=0.1, random_state=0), lambda X: classes(X, 2)
    ),
    "linear-regressor": _fitted(lambda: nk.LinearRegressor(alpha=0.1), _sum),
    "kernel-voted": _classifier(lambda: nk.KernelPerceptron(gamma=0.1)),
    "kernel-averaged-classes": _classifier(lambda: nk.KernelPerceptron("poly", degree=2, hypothesis="averaged"), 3),
    "kernel-budget": _classifier(lambda: nk.KernelPerceptron(gamma=0.1, hypothesis="last", budget=5)),
    "kernel-regressor": _kernel_regressor(),
    "tagger": _tagger(),
    "tagger-second-order-hashed": _tagger(markov_order=2, hash_bits=8),
    "stream-table": _stream("csv", _table, TABLE_OPTIONS),
    "stream-table-arow": _stream("csv", _table, TABLE_OPTIONS, rule="arow"),
    "stream-table-voted": _stream("csv", _table, TABLE_OPTIONS, hypothesis="voted", scale=False),
    "stream-text": _stream("tsv", _text, {"format": "text"}),
    "stream-text-hashed": _stream("tsv", _text, {"format": "text"}, hash_bits=5),
    "stream-svmlight": _stream("svm", _svmlight),
    "stream-svmlight-scaled": _stream("svm", _svmlight),
    "stream-vw": _stream("vw", _vw),
    "stream-vw-scaled": _stream("vw", _vw),
    "stream-vw-hashed": _stream("vw", _vw, hash_bits=4),
    "stream-regressor": _stream_regressor(),
    "stream-table-hats": _stream("csv", _table, TABLE_OPTIONS, hats=True),
    "stream-svmlight-hats": _stream("svm", _svmlight, hats=True),
    "stream-vw-hats": _stream("vw", _vw, hats=True),
    "stream-json": _stream("jsonl", _json, {"target": "y", "types": {"sky": "word"}}),
}
