"""Candidates of a selection: stream models by their parameters, tried on held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff._compiled import working_time
from novikoff.data.encoding import Features
from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner
from novikoff.selection.choosing import Trial, size_of, spread_of
from novikoff.selection.evaluation import Evaluation, Evaluator, plain_labels
from novikoff.streaming.defaults import choose_rule_and_hypothesis
from novikoff.streaming.encodings import encoding_for
from novikoff.streaming.model import StreamModel
from novikoff.streaming.row_order import ShufflePolicy, visit_in_memory

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block

__all__ = ["Candidate", "count_errors", "encode_split", "evaluate", "fit_candidate", "try_candidate"]

# rule, hypothesis, intercept, passes, scale, hats, hash_bits, ngrams, char_ngrams; all optional
Candidate = dict[str, Any]
_FEATURES = ("scale", "hats", "hash_bits", "ngrams", "char_ngrams")


def new_model(candidate: Candidate) -> StreamModel:
    """Return a model that has learned nothing, with the parameters of a candidate."""
    rule, hypothesis = choose_rule_and_hypothesis(candidate.get("rule"), candidate.get("hypothesis"))
    learner = Learner(rule, hypothesis, fit_intercept=candidate.get("intercept", True))
    return StreamModel(learner, Features(**{name: candidate[name] for name in _FEATURES if name in candidate}))


def fit_candidate(candidate: Candidate, blocks: Sequence[Block]) -> StreamModel:
    """Return a model with the parameters of a candidate that has learned from all blocks, as it would from files."""
    model = new_model(candidate)
    for block in visit_in_memory(blocks, candidate.get("passes", 1), ShufflePolicy()):
        model.learn(block)
    return model


def try_candidate(
    candidate: Candidate, splits: Sequence[tuple[Sequence[Block], Sequence[Block]]], parameters: Candidate | None = None
) -> Trial:
    """Fit a candidate on the first part of each split, and count its errors on both parts.

    The trial has the `parameters`, if the caller has other names for them than those of the candidate.
    """
    shares, train_wrong, train_rows, seconds, size, rows = [], 0, 0, 0.0, 0, 0
    for train, held_out in splits:
        began = working_time()
        model = fit_candidate(candidate, train)
        seconds += working_time() - began
        wrong, rows = count_errors(model, held_out)
        shares.append(wrong / rows)
        own = count_errors(model, train)
        train_wrong, train_rows = train_wrong + own[0], train_rows + own[1]
        size = max(size, size_of(model.model))
    error = float(np.mean(shares))
    return Trial(parameters or candidate, error, spread_of(shares, rows), train_wrong / train_rows, seconds, size)


def count_errors(model: StreamModel, blocks: Iterable[Block]) -> tuple[int, int]:
    """Return the number of rows that a model predicts wrongly, and the number of rows."""
    wrong = rows = 0
    for block in blocks:
        assert block.labels is not None
        wrong += int((model.predict(block) != block.labels).sum())
        rows += len(block)
    return wrong, rows


def evaluate(model: StreamModel, blocks: Iterable[Block]) -> Evaluation:
    """Evaluate a model, by every hypothesis that it can answer by, on labelled blocks."""
    evaluator = Evaluator(model.model)
    for block in blocks:
        if len(block):
            assert block.labels is not None
            evaluator.add(model.rows_of(block), block.labels.tolist())
    return evaluator.evaluation


def encode_split(
    train: Sequence[Block], test: Sequence[Block], features: Features
) -> tuple[tuple[Rows, np.ndarray], tuple[Rows, np.ndarray]]:
    """Rows and labels of both parts of a split, for methods that take all rows at once.

    Feature names, and the moments of columns, are those of the rows to learn from. Labels are strings, since
    scikit-learn takes numbers such as 0.5 for the targets of a regression.
    """
    encoding = encoding_for(train[0], features)
    for block in train:
        encoding.require(block)
        for _ in encoding.learn(block):
            pass

    def encode(blocks: Sequence[Block]) -> tuple[Rows, np.ndarray]:
        rows = Rows.concatenate([encoding.encode(block) for block in blocks])
        rows.require_numbers()
        labels = [str(label) for block in blocks for label in plain_labels(np.asarray(block.labels).tolist())]
        return rows, np.array(labels)

    return encode(train), encode(test)
