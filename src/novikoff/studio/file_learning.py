"""Learning from a file in the studio: a ledger that moves, and what the model gets wrong in the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from novikoff import rules
from novikoff.data.encoding import Features
from novikoff.errors import DataError
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.streaming.data_checks import require_repeated_labels
from novikoff.streaming.defaults import choose_rule_and_hypothesis
from novikoff.streaming.model import StreamModel
from novikoff.streaming.opening import read_for_model
from novikoff.streaming.passes import FilePasses
from novikoff.streaming.row_order import ShufflePolicy
from novikoff.streaming.session import LearningSession
from novikoff.studio.file_columns import MOST_REJECTS, list_rejects
from novikoff.studio.jobs import Cancelled, Job

__all__ = ["learn_file"]

_POINTS = 256  # of the ledger; every second one is left out when there are twice as many
_TEST_ROWS = 20_000  # rows that are predicted in the end
_LINES = 20  # of each cell of the confusion matrix
_HEAVIEST = 12


def learn_file(
    path: Path, options: dict[str, Any], given: dict[str, Any], model_path: Path, job: Job
) -> dict[str, Any]:
    """Learn from a file, and return what came of it as a JSON object; save the model to `model_path`.

    A job that is cancelled returns what was learned until then.
    """
    rule, passes = _read_choice(given)
    model = StreamModel(Learner(*choose_rule_and_hypothesis(rule, None)), Features(), None)
    blocks = FilePasses(
        model,
        [str(path)],
        passes=passes,
        options=options | {"bad_rows": "skip"},
        policy=ShufflePolicy("sorted", 0),
        check=require_repeated_labels,
    )
    rejects: list[Any] = []
    trace = _Trace(job)
    session = LearningSession(
        model, _collect_rejects(blocks, rejects, job), on_block=trace.add, on_power_of_two=trace.add
    )
    try:
        session.learn()
    except Cancelled:
        if model.encoding is None:
            raise
    if model.encoding is None:
        raise DataError(f"{path.name}: there was nothing to learn from.")
    model.save(model_path)
    ledger = model.ledger
    trace.add_last(ledger)
    return {
        "rule": rule,
        "passes": passes,
        "points": trace.points,
        **_describe_ledger(ledger),
        "heaviest": [
            {"label": str(label), "features": [[name, weight] for name, weight in features]}
            for label, features in model.heaviest(_HEAVIEST)
        ],
        "confusion": _confusion(model, path, options),
        **list_rejects(rejects, path),
        **_reproduce(path, options, rule, passes),
    }


def _read_choice(given: dict[str, Any]) -> tuple[Any, int]:
    rule, passes = given.get("rule", "auto"), given.get("passes", 1)
    if rule not in rules.NAMES:
        raise DataError(f"rule must be one of {', '.join(map(repr, rules.NAMES))}, found {rule!r}.")
    if isinstance(passes, bool) or not isinstance(passes, int) or not 1 <= passes <= 100:
        raise DataError(f"passes must be an integer from 1 to 100, found {passes!r}.")
    return rule, passes


def _collect_rejects(blocks: Any, rejects: list[Any], job: Job) -> Iterator[Any]:
    for block in blocks:
        rejects += block.rejects
        job.report(n_rejects=len(rejects), last_rejects=[reject.line for reject in rejects[:MOST_REJECTS]][-5:])
        yield block


class _Trace:
    """Reports (examples, mistakes, certified margin) of a ledger, at points that stay a few hundred."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.points: list[list[Any]] = []

    def add(self, ledger: Ledger) -> None:
        if not self.points or self.points[-1][0] < ledger.examples:
            self.points.append([ledger.examples, ledger.mistakes, ledger.margin_at_most])
        if len(self.points) >= 2 * _POINTS:
            self.points = self.points[1::2]
        self.job.report(points=list(self.points))

    def add_last(self, ledger: Ledger) -> None:
        """Add the end of the run, whether or not the job was cancelled."""
        if not self.points or self.points[-1][0] < ledger.examples:
            self.points.append([ledger.examples, ledger.mistakes, ledger.margin_at_most])


def _describe_ledger(ledger: Ledger) -> dict[str, Any]:
    best = ledger.best_candidate
    return {
        "examples": ledger.examples,
        "mistakes": ledger.mistakes,
        "updates": ledger.updates,
        "radius": ledger.radius,
        "norm": ledger.norm,
        "margin_at_most": ledger.margin_at_most,
        "vote_bound": ledger.vote_bound,
        "best_candidate": None if best is None else best.name,
    }


def _confusion(model: StreamModel, path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Predict the first rows again, and return for each pair (label, prediction) how many and on which lines."""
    cells: dict[tuple[str, str], list[int]] = {}
    counts: dict[tuple[str, str], int] = {}
    rows = 0
    for block in read_for_model(model, [str(path)], options | {"bad_rows": "skip"}):
        if not len(block):
            continue
        assert block.labels is not None
        pairs = zip(block.labels.tolist(), np.asarray(model.predict(block)).tolist(), block.lines.tolist(), strict=True)
        for label, prediction, line in pairs:
            pair = str(label), str(prediction)
            counts[pair] = counts.get(pair, 0) + 1
            if counts[pair] <= _LINES:
                cells.setdefault(pair, []).append(line)
        rows += len(block)
        if rows >= _TEST_ROWS:
            break
    labels = sorted({name for pair in counts for name in pair})
    listed = [{"label": a, "prediction": b, "rows": n, "lines": cells[a, b]} for (a, b), n in counts.items()]
    return {"labels": labels, "cells": listed, "rows": rows, "is_whole": rows < _TEST_ROWS}


def _reproduce(path: Path, options: dict[str, Any], rule: str, passes: int) -> dict[str, str]:
    """Return the Python and the command line that do what the page has done."""
    arguments: dict[str, Any] = {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}
    arguments |= {"rule": rule, "bad_rows": "skip"} | ({"passes": passes} if passes > 1 else {})
    listed = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    file, words = path.name, []
    if "target" in options:
        words += ["--target", shlex.quote(options["target"])]
    for name, kind in options.get("types", {}).items():
        words += ["--types", shlex.quote(f"{name}={kind}")]
    for name in options.get("drop", ()):
        words += ["--drop", shlex.quote(name)]
    reading = " ".join(["", *words])
    certify = " ".join(word for word in reading.split(" --types ")[0].split())
    return {
        "python": f"import novikoff as nk\n\nmodel = nk.learn({file!r}, {listed})\nprint(model.ledger)\n"
        f"model.save({path.stem + '.nk'!r})\n",
        "command": f"novikoff learn {shlex.quote(file)}{reading} --rule {rule} --bad-rows skip"
        + (f" --passes {passes}" if passes > 1 else "")
        + f" -o {shlex.quote(path.stem + '.nk')}\n"
        + f"novikoff certify {shlex.quote(file)} {certify} --drop-missing".replace("  ", " "),
    }
