"""Progressive error on real streams: novikoff learn against the perceptrons of Vowpal Wabbit and river.

Each row is predicted before it is learned, and the share of wrong predictions counts. Ours is what `novikoff learn
FILE` prints by default. The peers get the same rows as names and values: numbers as they are, one name for each
categorical cell, and for a text one for each of its words. The perceptron of Vowpal Wabbit is plain stochastic gradient
descent on the hinge loss with a constant step; that of river is linear_model.Perceptron. Without a target: the adaptive
and normalised steps of Vowpal Wabbit, and river's perceptron after a StandardScaler.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, at_most, no_target

Example = tuple[dict[str, float], str]

_FILES = (
    "streams/phishing.csv.gz",
    "streams/elec.csv.gz",
    "text/sms_spam.tsv.gz",
    "uci/adult-train.csv.gz",
    "uci/spambase.data",
)
_HAS_HEADER = ("phishing", "elec")
_VW_PERCEPTRON = "--sgd --loss_function hinge -l 1 --power_t 0"


def progressive(options: Options) -> list[Line]:
    lines = []
    for file in _FILES:
        name = file.split("/")[1].split(".")[0]
        path = data.real_file(file)
        if path is None:
            lines.append(Line(f"mistakes on {name}", "all", at_most(1.0), note="set NOVIKOFF_DATA to measure this"))
            continue
        examples = list(_examples(path, name))[: options.size(1_000_000, 2_000)]
        ours = nk.learn(nk.open_stream(path)).ledger
        lines += [_line(name, peer, ours.error_rate, work, examples) for peer, work in _PEERS.items()]
    return lines


def _line(name: str, peer: str, ours: float, work: Callable[[list[Example]], float], examples: list[Example]) -> Line:
    target = at_most(1.0) if peer.endswith("perceptron") else no_target()
    package = "vowpalwabbit" if peer.startswith("Vowpal") else "river"
    if importlib.util.find_spec(package) is None:
        return Line(f"mistakes on {name}", peer, target, note=f"pip install {package} to measure this")
    theirs = work(examples)
    return Line(f"mistakes on {name}, {len(examples):,} rows", peer, target, ours / theirs, scores=(theirs, ours))


def _vowpal_wabbit(arguments: str) -> Callable[[list[Example]], float]:
    def run(examples: list[Example]) -> float:
        import vowpalwabbit

        model, wrong = vowpalwabbit.Workspace(f"--quiet {arguments}"), 0
        for x, is_positive in _signed(examples):
            words = (f"{re.sub('[ :|]', '_', name)}:{value}" for name, value in x.items())
            example = model.parse(f"{1 if is_positive else -1} | {' '.join(words)}")
            wrong += (model.predict(example) > 0.0) != is_positive
            model.learn(example)
            model.finish_example(example)
        model.finish()
        return wrong / len(examples)

    return run


def _river(scaled: bool) -> Callable[[list[Example]], float]:
    def run(examples: list[Example]) -> float:
        from river import linear_model, preprocessing

        model: Any = linear_model.Perceptron()
        model, wrong = preprocessing.StandardScaler() | model if scaled else model, 0
        for x, is_positive in _signed(examples):
            wrong += bool(model.predict_one(x)) != is_positive
            model.learn_one(x, is_positive)
        return wrong / len(examples)

    return run


_PEERS = {
    "Vowpal Wabbit's perceptron": _vowpal_wabbit(_VW_PERCEPTRON),
    "river's perceptron": _river(scaled=False),
    "Vowpal Wabbit, adaptive": _vowpal_wabbit("--loss_function hinge"),
    "river, after StandardScaler": _river(scaled=True),
}


def _signed(examples: list[Example]) -> Iterator[tuple[dict[str, float], bool]]:
    last = max(label for _, label in examples)
    return ((x, label == last) for x, label in examples)


def _examples(path: Path, name: str) -> Iterator[Example]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        yield from _texts(lines) if path.name.startswith("sms") else _rows(lines, name in _HAS_HEADER)


def _texts(lines: Any) -> Iterator[Example]:
    for line in lines:
        label, _, text = line.rstrip("\n").partition("\t")
        x: dict[str, float] = {}
        for word in re.findall(r"\w+", text.lower()):
            x[word] = x.get(word, 0.0) + 1.0
        yield x, label


def _rows(lines: Any, has_header: bool) -> Iterator[Example]:
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if row]
    names = rows.pop(0) if has_header else [f"column {k}" for k in range(1, len(rows[0]) + 1)]
    for row in rows:
        x = {}
        for name, cell in zip(names[:-1], row[:-1], strict=True):
            try:
                x[name] = float(cell)
            except ValueError:
                x[f"{name}={cell}"] = 1.0
        yield x, row[-1]


BENCHMARKS: dict[str, Benchmark] = {"progressive": progressive}
