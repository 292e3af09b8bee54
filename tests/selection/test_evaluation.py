"""Evaluation: counts against scikit-learn, and the average that is computed from the history of a voted model."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from novikoff import Learner, Rows
from novikoff.perceptron.model import Model
from novikoff.selection.evaluation import Evaluation, Evaluator, average_of_history


@pytest.fixture
def rows():
    return Rows.of(np.random.default_rng(0).normal(size=(120, 3)))


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted", "pocket"])
def test_counts_equal_those_of_scikit_learn(rows, hypothesis):
    labels = np.random.default_rng(1).choice(["a", "b", "c"], size=120)
    model = Model(Learner(hypothesis=hypothesis))
    model.learn_rows(rows, labels)
    evaluator = Evaluator(model)
    evaluator.add(rows, labels.tolist())
    found, predicted = evaluator.evaluation, model.predict(rows)
    assert found.rows == 120
    assert found.errors[hypothesis] == (predicted != labels).sum()
    matrix = confusion_matrix(labels, predicted, labels=["a", "b", "c"])
    assert [[found.counts[true, guess] for guess in "abc"] for true in "abc"] == matrix.tolist()
    expected = precision_recall_fscore_support(labels, predicted, labels=["a", "b", "c"], zero_division=0)
    for name, values in zip(("precision", "recall", "f1", "support"), expected, strict=True):
        np.testing.assert_allclose([scores[name] or 0.0 for scores in found.per_label()], values, rtol=1e-12)


def test_labels_and_confusions():
    found = Evaluation("last", known=[1, "a"])
    found.counts.update({(1, "a"): 2, ("a", "a"): 5, ("b", "a"): 3, ("b", 1): 3})
    assert found.labels == [1, "a", "b"]
    assert found.unknown == ["b"]
    assert found.confusions() == [("b", "a", 3), ("b", 1, 3), (1, "a", 2)]


def test_the_average_of_merged_runs():
    """The average from the history of a voted model equals the sums of an averaged one, also after a merge."""
    rng = np.random.default_rng(0)
    parts = [(Rows.of(rng.normal(size=(40, 3))), rng.integers(3, size=40)) for _ in range(3)]
    means = []
    for hypothesis in ("averaged", "voted"):
        learner = Learner(hypothesis=hypothesis)
        states = [learner.update(learner.init(3, 3), *part) for part in parts[:2]]
        state = learner.update(learner.merge(states), *parts[2])
        means.append(learner.hypothesis.weights(state) or average_of_history(state, learner.constant))
    np.testing.assert_allclose(means[0].coef, means[1].coef, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(means[0].bias, means[1].bias, rtol=1e-12, atol=1e-12)
