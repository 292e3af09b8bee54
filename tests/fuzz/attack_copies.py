"""Copies of estimators that learn, fail and are interrupted: no call on one changes the other."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from tests.support.bytecode_interrupts import Interrupt, count_bytecodes

COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]


def attack(rng: np.random.Generator) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sum(_round(rng) for _ in range(6))


def _round(rng: np.random.Generator) -> int:
    estimator, is_regression = _draw_estimator(rng)
    form: Callable[[np.ndarray], Any] = [np.array, sp.csr_array, _as_dicts][rng.integers(3 if not is_regression else 2)]
    if form is _as_dicts and not isinstance(estimator, nk.Perceptron):
        form = np.array
    X = rng.integers(-4, 5, (24, 3)).astype(float)
    y = X @ [1.0, -2.0, 0.5] if is_regression else np.array(["a", "b", "c"])[rng.permutation(np.arange(24) % 3)]
    one = estimator.fit(form(X[:12]), y[:12])
    other = COPIES[rng.integers(3)](one)
    for _ in range(4):
        actor, witness = (one, other) if rng.random() < 0.5 else (other, one)
        before, unchanged = _visible_state(witness, form(X)), _visible_state(actor, form(X))
        verbs = ["fit", "partial_fit"] if hasattr(actor, "partial_fit") else ["fit"]
        act = getattr(actor, str(rng.choice(verbs)))
        match rng.integers(3):
            case 0:
                act(form(X[6:]), y[6:])
            case 1:
                bad = X[6:].copy()
                bad[rng.integers(18), rng.integers(3)] = rng.choice([np.nan, np.inf])
                _require_rejection(act, form(bad), y[6:])
                assert _visible_state(actor, form(X)) == unchanged
            case 2:
                verb = "fit" if isinstance(actor, nk.Perceptron) else act.__name__
                _interrupt(rng, actor, verb, form(X[6:]), y[6:], form(X))
        assert _visible_state(witness, form(X)) == before
    return 4


def _interrupt(rng: np.random.Generator, actor: Any, verb: str, X: Any, y: Any, queries: Any) -> None:
    done, trial = copy.deepcopy(actor), copy.deepcopy(actor)
    getattr(done, verb)(X, y)
    either = [_visible_state(actor, queries), _visible_state(done, queries)]
    n = count_bytecodes(lambda: getattr(trial, verb)(X, y))
    Interrupt(int(rng.integers(n)))(lambda: getattr(actor, verb)(X, y))
    assert _visible_state(actor, queries) in either


def _require_rejection(act: Callable[..., object], *data: Any) -> None:
    try:
        act(*data)
    except ValueError:
        return
    raise AssertionError("It has learned from NaN or infinity.")


def _draw_estimator(rng: np.random.Generator) -> tuple[Any, bool]:
    seed = int(rng.integers(100))
    makers: list[Callable[[], Any]] = [
        lambda: nk.Perceptron(
            str(rng.choice(["perceptron", "margin", "passive-aggressive-I"])),
            str(rng.choice(["last", "averaged", "voted", "pocket"])),
            order=str(rng.choice(["given", "shuffled", "worst"])),
            max_iter=2,
            random_state=seed,
        ),
        lambda: nk.LinearClassifier(max_iter=2, random_state=seed),
        lambda: nk.KernelPerceptron(
            str(rng.choice(["rbf", "linear", "poly"])),
            max_iter=2,
            random_state=seed,
            multi_class=str(rng.choice(["ovr", "direct"])),
        ),
        lambda: nk.KernelPerceptron("rbf", hypothesis="last", multi_class="direct", budget=5, max_iter=2),
        lambda: nk.LinearRegressor(solver=str(rng.choice(["newton", "sgd"])), max_iter=2, random_state=seed),
        lambda: nk.KernelRegressor(step=0.01, max_iter=2, random_state=seed),
    ]
    at = int(rng.integers(len(makers)))
    return makers[at](), at >= 4


def _as_dicts(rows: np.ndarray) -> list[dict[str, float]]:
    return [dict(zip("abc", row, strict=True)) for row in rows.tolist()]


def _visible_state(estimator: Any, X: Any) -> str:
    """Return the attributes and predictions of an estimator as text."""
    names = (
        "coef_",
        "intercept_",
        "raw_coef_",
        "dual_coef_",
        "support_",
        "classes_",
        "n_iter_",
        "converged_",
        "n_features_in_",
        "ledger_",
    )
    found = {name: getattr(estimator, name, None) for name in names}
    found["predictions"] = estimator.predict(X)
    return "".join(f"{name} {np.asarray(value).tolist()}\n" for name, value in found.items())
