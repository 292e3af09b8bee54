"""EnsembleDisplay: artists are compared with the numbers they stand for."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError
from tests.reference import pool as reference


def noisy(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0.0, 1, -1)


def test_every_point_is_what_the_reference_says():
    X, y = noisy(200)
    display = nk.EnsembleDisplay.from_model(nk.Perceptron("auto").partial_fit(X, y))
    pool = reference.Pool(4)
    weights, mistakes, of_vote = [], [], []
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        pool.learn([1.0, *x], label)
        weights.append(list(pool.h))
        mistakes.append(list(pool.wrong))
        of_vote.append(pool.mistakes)
    examples = np.arange(1, 201)
    for k in range(8):
        np.testing.assert_array_equal(display.weights_[k].get_ydata(), np.array(weights)[:, k])
        np.testing.assert_array_equal(display.rates_[k].get_ydata(), np.array(mistakes)[:, k] / examples)
    np.testing.assert_array_equal(display.vote_.get_ydata(), np.array(of_vote) / examples)
    assert display.figure_ is display.ax_[0].figure


def test_a_long_run_is_thinned_the_same_whatever_the_blocks():
    X, y = noisy(3000)
    whole, parts = nk.Perceptron("auto").partial_fit(X, y), nk.Perceptron("auto")
    for start in range(0, 3000, 119):
        parts.partial_fit(X[start : start + 119], y[start : start + 119])
    traces = [model.ledger_.candidate_trace for model in (whole, parts)]
    for one, other in zip(*traces, strict=True):
        np.testing.assert_array_equal(one, other)
    assert traces[0].examples.tolist() == list(range(16, 3001, 16))


def test_other_rules_have_no_candidates():
    X, y = noisy(10)
    with pytest.raises(DataError, match="auto"):
        nk.EnsembleDisplay.from_model(nk.Perceptron().partial_fit(X, y))
    with pytest.raises(DataError, match="nothing to draw"):
        nk.EnsembleDisplay(nk.Learner("auto").ledger(nk.Learner("auto").init(2)))
