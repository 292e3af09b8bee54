"""novikoff on a stream: what `nk.learn` does by default, and each of its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk
from benchmarks.mistakes.features import examples_of, has_hats
from novikoff import hypotheses
from novikoff.data.formats.block import Block, SparseBlock
from novikoff.errors import RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.model import Model

__all__ = ["LEARNERS", "default_error", "error_of"]

# Heading: rule, and whether numbers have interpolation weights.
LEARNERS: dict[str, tuple[str, bool]] = {
    "perceptron": ("perceptron", False),
    "averaged": ("averaged", False),
    "PA-II": ("passive-aggressive-II", False),
    "AROW": ("arow", False),
    "AdaGrad": ("adagrad", False),
    "coin": ("coin", False),
    "auto": ("auto", False),
    "auto, hats": ("auto", True),
}


def default_error(orders: list[Block]) -> float:
    """The share of mistakes of `nk.learn` with its defaults, the mean over the orders."""
    return float(np.mean([nk.learn([block]).ledger.error_rate for block in orders]))


def error_of(learner: str, orders: list[Block]) -> float | None:
    """The share of mistakes of one of `LEARNERS`, the mean over the orders; None if this version has no such rule."""
    rule, hats = LEARNERS[learner]
    if rule == "averaged":
        return float(np.mean([_averaged_error(block) for block in orders]))
    try:
        return float(np.mean([_error(rule, block, hats) for block in orders]))
    except RuleError:
        return None


def _error(rule: Any, block: Block, hats: bool) -> float:
    if hats and not has_hats:  # the benchmark's own, as numbers that need no encoding
        rows = SparseBlock(block.source, block.lines, block.labels, examples_of(block, "hats").X)
        return nk.learn([rows], rule=rule, scale=False).ledger.error_rate
    options = {"hats": hats} if has_hats else {}
    return nk.learn([block], rule=rule, **options).ledger.error_rate


def _averaged_error(block: Block) -> float:
    """How often the average of the perceptron's weights errs on the next row; the ledger counts its last weights."""
    examples, wrong = examples_of(block, "encoded"), 0
    model = Model(nk.Learner(hypothesis=hypotheses.Averaged()))
    classes, every_row = np.arange(examples.n_classes), Rows.of(sp.csr_array(examples.X))
    for i, label in enumerate(examples.y):
        row = every_row[i : i + 1]
        if i:
            wrong += model.count_errors(row, classes, examples.y[i : i + 1])
        else:
            wrong += int(label != 0)
        model.learn_encoded(row, classes, examples.y[i : i + 1])
    return wrong / len(block)
