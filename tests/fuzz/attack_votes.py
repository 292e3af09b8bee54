"""Voted perceptrons on small integers, asked at fractions: each vote is decided again in rational arithmetic."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import novikoff as nk
from tests.reference import kernel_methods as kernel_reference
from tests.reference import perceptron as reference
from tests.reference import votes as exact_votes

_TIES = ("mistake", "positive", "negative")


def attack(rng: np.random.Generator) -> int:
    """Six linear runs and two with a kernel, ten queries each."""
    for _ in range(6):
        _linear(rng)
    for _ in range(2):
        _polynomial(rng)
    return 80


def _problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    n, d, n_classes = int(rng.integers(1, 40)), int(rng.integers(1, 5)), int(rng.choice([2, 2, 3, 5]))
    X = rng.integers(-2, 3, (n, d)) * float(rng.choice([1.0, 2.0**-400, 2.0**200]))
    queries = rng.integers(-3, 4, (10, d)) / float(rng.choice([1.0, 3.0, 7.0, 10.0]))
    return X, rng.integers(0, n_classes, n), n_classes, queries


def _form(rng: np.random.Generator, X: np.ndarray) -> np.ndarray | sp.csr_array:
    return sp.csr_array(X) if rng.random() < 0.5 else X


def _linear(rng: np.random.Generator) -> None:
    X, codes, n_classes, queries = _problem(rng)
    ties, fit_intercept = str(rng.choice(_TIES)), bool(rng.random() < 0.5) and abs(X).max(initial=0.0) in (1.0, 2.0)
    model = nk.Perceptron(hypothesis="voted", fit_intercept=fit_intercept, ties=ties)
    for rows in np.array_split(np.arange(len(X)), rng.integers(1, 4)):
        if len(rows):
            model.partial_fit(_form(rng, X[rows]), codes[rows], classes=list(range(n_classes)))
    run = reference.start(X.shape[1] + fit_intercept, n_classes)
    y = 2 * codes - 1 if n_classes == 2 else codes
    reference.learn(run, reference.folded(X, fit_intercept), y, reference.perceptron, ties)
    expected = [exact_votes.linear_votes(run, x, ties) for x in reference.folded(queries, fit_intercept)]
    found = model.decision_function(_form(rng, queries))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=repr((X, codes, ties, queries)))


def _polynomial(rng: np.random.Generator) -> None:
    X, codes, n_classes, queries = _problem(rng)
    X = np.sign(X)
    ties, way, degree = str(rng.choice(_TIES)), str(rng.choice(["ovr", "direct"])), int(rng.integers(1, 4))
    gamma, coef0 = float(rng.choice([1.0, 0.25])), float(rng.choice([0.0, 1.0]))
    if degree > 1:
        # a power of what rounding left of gamma <x, z> + coef0 is less than a unit in twice the precision: a tie
        base = exact_votes.polynomial(1, gamma, coef0)
        queries = queries[[all(not 0 < abs(base(x, q)) < 1e-9 for x in X) for q in queries]]
    if not len(queries):
        return
    model = nk.KernelPerceptron(
        "poly", degree=degree, gamma=gamma, coef0=coef0, hypothesis="voted", multi_class=way, ties=ties
    )
    model.partial_fit(_form(rng, X), codes, classes=list(range(n_classes)))
    run = kernel_reference.start(exact_votes.polynomial(degree, gamma, coef0), ties, n_classes, way)
    y = 2 * codes - 1 if n_classes == 2 else codes
    kernel_reference.cycle(run, X.tolist(), y, list(range(len(X))), len(X))
    expected = np.array([run.score(x, "voted") for x in queries.tolist()], float)
    found = model.decision_function(_form(rng, queries))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=repr((X, codes, ties, queries)))
