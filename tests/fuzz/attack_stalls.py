"""Fits on rows of very different lengths: a warning that no update changes the weights any more must be right."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk
from novikoff import rules

_RULES = ("perceptron", rules.Margin(beta=1.0), rules.Perceptron(0.3), "passive-aggressive", "passive-aggressive-I")


def attack(rng: np.random.Generator) -> int:
    """Fit, and learn from each row alone: after a stall none changes the weights; if none does, there is a stall."""
    cases = 20
    for _ in range(cases):
        n, d, n_classes = int(rng.integers(2, 12)), int(rng.integers(1, 5)), int(rng.integers(2, 5))
        X = rng.normal(size=(n, d)) * 2.0 ** rng.choice([-60, -30, 0, 30, 60], (n, 1))
        y = np.arange(n) % min(n, n_classes)
        model = nk.Perceptron(
            rule=_RULES[int(rng.integers(len(_RULES)))],
            hypothesis=str(rng.choice(["last", "averaged", "pocket"])),
            order=str(rng.choice(["given", "shuffled", "random", "worst"])),
            ties=str(rng.choice(["mistake", "positive", "negative"])),
            fit_intercept=bool(rng.random() < 0.5),
            max_iter=int(rng.integers(2, 40)),
            random_state=int(rng.integers(99)),
        )
        rows = sp.csr_array(X) if rng.random() < 0.5 else X
        is_stalled = _stalls(model, rows, y)
        # In the same format: dense and sparse rows are added up in another order, and margins differ by rounding.
        changes = sum(_changes(model, rows[[k]], y[[k]]) for k in range(n))
        case = X.tolist(), y.tolist(), model
        assert not (is_stalled and (changes or model.converged_)), case
        if not (is_stalled or changes or model.converged_):  # the last pass has brought it about
            assert _stalls(model.set_params(max_iter=2 * model.max_iter + 2), rows, y) or model.converged_, case
    return cases


def _stalls(model: nk.Perceptron, rows: Any, y: np.ndarray) -> bool:
    """Whether the fit says so."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(rows, y)
    return any("no further pass would change the weights" in str(warning.message) for warning in said)


def _changes(model: nk.Perceptron, X: Any, y: np.ndarray) -> bool:
    after = copy.deepcopy(model).partial_fit(X, y)
    return not (
        np.array_equal(after.raw_coef_, model.raw_coef_) and np.array_equal(after.raw_intercept_, model.raw_intercept_)
    )
