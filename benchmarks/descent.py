"""Losses minimised by descent, against scikit-learn and against LIBLINEAR, which is part of scikit-learn.

All of them minimise the same function, F = mean loss + alpha/2 |w|^2, where LIBLINEAR's C is 1 / (alpha n); F of both
sides is computed by one formula here. LIBLINEAR penalises the intercept too. Where objectives are compared, neither
side has an intercept, which is LIBLINEAR's default; where only accuracy counts, each side has its default.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

import novikoff as nk
from benchmarks import data
from benchmarks.limits import share_of_adding
from benchmarks.measure import (
    Benchmark,
    Line,
    Options,
    Times,
    alternate,
    at_least,
    at_most,
    best_of,
    no_target,
    seconds,
)

PASSES = 5
ALPHA = 1e-4
_POINT = 1e-3  # a tenth of a percentage point of accuracy
_REAL = ("a9a", "reuters")
_THEIR_NAMES = {"hinge": "hinge", "logistic": "log_loss"}
_LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "squared-hinge": lambda m: np.maximum(0.0, 1.0 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0.0, -m),
}


def objective(model: Any, rows: data.Split, loss: str, alpha: float) -> float:
    """F in double precision, also for weights in single precision."""
    w, b = np.ravel(model.coef_).astype(np.float64), float(np.ravel(model.intercept_)[0])
    margins = np.where(rows.y == rows.y.max(), 1.0, -1.0) * (rows.X @ w + b)
    return float(_LOSSES[loss](margins).mean() + 0.5 * alpha * w @ w)


def gradient_norm(model: Any, rows: data.Split, alpha: float) -> float:
    """The norm of the gradient of F with the logistic loss."""
    w, b = np.ravel(model.coef_), float(model.intercept_[0])
    y = np.where(rows.y == rows.y.max(), 1.0, -1.0)
    slopes = -y / (1.0 + np.exp(y * (rows.X @ w + b)))
    return float(np.linalg.norm(np.append(rows.X.T @ slopes / len(y) + alpha * w, slopes.mean())))


# -- the same number of passes


def sgd(options: Options) -> list[Line]:
    """Five passes in the given order with scikit-learn's steps, where both must find the same weights; and five that
    are shuffled, with the default steps and averages of each library. Shuffled rows cause cache misses."""
    kinds = {
        "dense float64": partial(_gaussian, np.float64),
        "dense float32": partial(_gaussian, np.float32),
        "sparse float64": _text,
    }
    return [
        line
        for kind, make in kinds.items()
        for shuffle in (False, True)
        for loss in _THEIR_NAMES
        for line in _sgd(kind, make(options.quick), loss, shuffle, options)
    ]


def _sgd(kind: str, rows: data.Split, loss: str, shuffle: bool, options: Options) -> list[Line]:
    # scikit-learn damps the intercept of sparse rows; without one the two algorithms are the same.
    given: dict[str, Any] = {
        "alpha": ALPHA,
        "average": shuffle,
        "shuffle": shuffle,
        "max_iter": PASSES,
        "tol": None,
        "random_state": 0,
        "fit_intercept": not kind.startswith("sparse"),
    }
    peer = SGDClassifier(_THEIR_NAMES[loss], **given)
    ours = nk.LinearClassifier(loss, **given, learning_rate="auto" if shuffle else "optimal")
    times = alternate(lambda: peer.fit(rows.X, rows.y), lambda: ours.fit(rows.X, rows.y), options.repeats)
    theirs, mine = (objective(model, rows, loss, ALPHA) for model in (peer, ours))
    scores = peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)
    how = "shuffled, averaged" if shuffle else "in order, last weights"
    work = f"sgd, {loss}, {how}, {kind} {rows.X.shape[0]:,}×{rows.X.shape[1]:,}"
    is_sparse = kind.startswith("sparse")
    # In single precision scikit-learn rounds its weights to float32, and we do not.
    line = Line(
        work,
        "sklearn SGDClassifier",
        no_target() if is_sparse else at_least(3.0),
        times.ratio,
        times,
        scores,
        f"F {theirs:.5f} / {mine:.5f}",
        mine <= theirs * (1.0 + 1e-3),
        f"{PASSES} passes; {rows.source}",
    )
    if not is_sparse:
        return [line]
    return [line, share_of_adding(work, rows.X, times.ours, PASSES, options, is_shuffled=shuffle, is_averaged=shuffle)]


# -- the same accuracy


def liblinear(options: Options) -> list[Line]:
    """Time to LIBLINEAR's accuracy on test rows, less a tenth of a percentage point, from the same CSR matrix.

    sgd makes the fewest passes of 1, 2, 4, ... with which most of five seeds reach it, which are found before timing;
    the median seed is timed. newton with its default tol has no target. LIBLINEAR is timed with its defaults; the note
    has the time of the fewest steps that suffice.
    """
    peers = {"squared-hinge": LinearSVC(dual=True, random_state=0), "logistic": LogisticRegression(solver="liblinear")}
    lines = []
    for name in _REAL:
        rows = _real(name)
        if rows is None:
            lines.append(Line(f"{name}, to LIBLINEAR's accuracy", "LIBLINEAR", at_least(1.0), note=_UNSET))
            continue
        for loss, peer in peers.items():
            lines += _to_accuracy(name, rows, loss, peer, options)
    return lines


def _to_accuracy(name: str, rows: data.Split, loss: str, peer: Any, options: Options) -> list[Line]:
    wanted = peer.fit(rows.X, rows.y).score(rows.X_test, rows.y_test) - _POINT
    title = {"squared-hinge": "LIBLINEAR L2-SVM, dual", "logistic": "LIBLINEAR LR"}[loss]
    make = partial(nk.LinearClassifier, loss, alpha=1.0 / len(rows.y))
    contenders = {"sgd": _fewest_passes(make, rows, wanted), "newton": make(solver="newton")}
    note = _fewest_steps(type(peer)(**{**peer.get_params(), "max_iter": 1}), rows, wanted, options)
    lines = []
    for how, ours in contenders.items():
        times = alternate(lambda: peer.fit(rows.X, rows.y), partial(ours.fit, rows.X, rows.y), options.repeats)
        scores = wanted + _POINT, ours.score(rows.X_test, rows.y_test)
        lines.append(
            Line(
                f"{name}, {loss}, {how}, to LIBLINEAR's accuracy - 0.1",
                title,
                at_least(1.0) if how == "sgd" else no_target(),
                times.ratio,
                times,
                scores,
                f"{ours.n_iter_} passes",
                scores[1] >= wanted,
                note,
            )
        )
    return lines


def _fewest_passes(make: Callable[..., Any], rows: data.Split, wanted: float) -> nk.LinearClassifier:
    """The median of five seeds with the fewest passes that reach the accuracy, or with 64 passes."""
    for passes in (1, 2, 4, 8, 16, 32, 64):
        models = [make(max_iter=passes, tol=None, random_state=seed).fit(rows.X, rows.y) for seed in range(5)]
        middle = sorted(models, key=lambda model: model.score(rows.X_test, rows.y_test))[2]
        if middle.score(rows.X_test, rows.y_test) >= wanted:
            break
    return middle


def _fewest_steps(peer: Any, rows: data.Split, wanted: float, options: Options) -> str:
    """The time of LIBLINEAR if it is stopped as early as the accuracy allows."""
    for most in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        if peer.set_params(max_iter=most).fit(rows.X, rows.y).score(rows.X_test, rows.y_test) >= wanted:
            took = best_of(lambda: peer.fit(rows.X, rows.y), options.repeats)
            return f"LIBLINEAR stopped after {most} steps, which suffice: {took * 1e3:.0f} ms"
    return "LIBLINEAR needs all its steps"


# -- the same gradient


def newton(options: Options) -> list[Line]:
    """Logistic regression until the gradient is as short as the peer's."""
    rows = data.noisy_linear(options.size(200_000, 40_000), 50, np.float64)
    n = len(rows.y)
    zero = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, max_iter=1, tol=None).fit(rows.X, rows.y).trace_
    lines = []
    for solver in ("newton-cholesky", "lbfgs"):
        peer = LogisticRegression(C=1.0 / (ALPHA * n), solver=solver, tol=1e-6, max_iter=1000).fit(rows.X, rows.y)
        theirs = gradient_norm(peer, rows, ALPHA)
        ours = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1.01 * theirs / zero.gradient_norm[0])
        times = alternate(partial(peer.fit, rows.X, rows.y), partial(ours.fit, rows.X, rows.y), options.repeats)
        mine = gradient_norm(ours, rows, ALPHA)
        scores = peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)
        lines.append(
            Line(
                f"newton, logistic, {n:,}×50, to the same gradient",
                f"sklearn LogisticRegression({solver})",
                at_least(1.0),
                times.ratio,
                times,
                scores,
                f"|gradient| {theirs:.1e} / {mine:.1e}",
                mine <= 1.02 * theirs,
                f"{peer.n_iter_[0]} steps / {ours.n_iter_}",
            )
        )
    return lines


# -- the same minimum


def sgd_optimum(options: Options) -> list[Line]:
    """How far above the minimum of LIBLINEAR's or scikit-learn's objective sgd ends. Its tol is relative to F at zero
    weights, which on reuters is twenty times the minimum: 1e-4 of it is 0.2 % of the minimum."""
    lines = []
    for name in _REAL:
        rows = _real(name)
        if rows is None:
            lines.append(Line(f"sgd on {name}, above the minimum", "LIBLINEAR", at_most(0.01, "%"), note=_UNSET))
            continue
        exact = {"tol": 1e-10, "fit_intercept": False, "max_iter": 100_000}
        peers = {
            ("LIBLINEAR L1-SVM", "hinge"): LinearSVC(loss="hinge", dual=True, random_state=0, **{**exact, "tol": 1e-4}),
            ("LIBLINEAR L2-SVM", "squared-hinge"): LinearSVC(dual=False, **exact),
            ("LIBLINEAR LR", "logistic"): LogisticRegression(solver="liblinear", **exact),
            ("sklearn LogisticRegression", "logistic"): LogisticRegression(tol=1e-8, max_iter=10_000),
        }
        lines += [_above(name, rows, loss, title, peer) for (title, loss), peer in peers.items()]
    return lines


def _above(name: str, rows: data.Split, loss: str, title: str, peer: Any) -> Line:
    alpha = 1.0 / len(rows.y)
    theirs = seconds(lambda: peer.fit(rows.X, rows.y))
    ours = nk.LinearClassifier(loss, alpha=alpha, fit_intercept=peer.fit_intercept, tol=1e-4, random_state=0)
    ours.fit(rows.X, rows.y)
    times = Times(theirs, seconds(lambda: ours.fit(rows.X, rows.y)))
    least, mine = objective(peer, rows, loss, alpha), objective(ours, rows, loss, alpha)
    scores = peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)
    above = mine / least - 1.0
    return Line(
        f"sgd on {name}, {loss}: above the minimum",
        title,
        at_most(0.01, "%"),
        above,
        times,
        scores,
        f"F {least:.5f} / {mine:.5f}",
        note=f"{above:.2%} in {ours.n_iter_} passes; C = 1",
    )


# -- the same gap


def dual(options: Options) -> list[Line]:
    """Time until F is within 1e-3 and 1e-4 of F(0) of the minimum, C = 1, without an intercept.

    Ours ends when its duality gap proves that. LIBLINEAR proves nothing; its tolerance is the largest of 10, 3, 1, ...
    with which its F is that near to a lower bound of the minimum, which is found before timing.
    """
    rows_by_name = {name: _real(name) for name in _REAL} | {
        "unequal binary": data.unequal_binary(options.size(49_749, 10_000), 300)
    }
    lines = []
    for name, rows in rows_by_name.items():
        for loss in _LOSSES:
            for tol in (1e-3, 1e-4):
                work = f"dual on {name}, {loss}, to {tol:g} of F(0)"
                if rows is None:
                    lines.append(Line(work, "LIBLINEAR", at_least(1.0), note=_UNSET))
                else:
                    lines.append(_to_gap(work, rows, loss, tol, options))
    return lines


def _to_gap(work: str, rows: data.Split, loss: str, tol: float, options: Options) -> Line:
    alpha, first = 1.0 / len(rows.y), float(_LOSSES[loss](np.zeros(1))[0])
    make = partial(
        nk.LinearClassifier, loss, "dual", alpha=alpha, fit_intercept=False, max_iter=100_000, random_state=0
    )
    exact = make(tol=0.01 * tol).fit(rows.X, rows.y).trace_
    least = exact.objective[-1] - exact.gap[-1]
    for accuracy in (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4):
        given: dict[str, Any] = {"tol": accuracy, "fit_intercept": False, "max_iter": 100_000, "random_state": 0}
        peer = (
            LogisticRegression(solver="liblinear", dual=True, **given)
            if loss == "logistic"
            else LinearSVC(loss=loss.replace("-", "_"), dual=True, **given)
        )
        if objective(peer.fit(rows.X, rows.y), rows, loss, alpha) - least <= tol * first:
            break
    ours = make(tol=tol)
    times = alternate(lambda: peer.fit(rows.X, rows.y), lambda: ours.fit(rows.X, rows.y), options.repeats)
    above = [objective(model, rows, loss, alpha) - least for model in (peer, ours)]
    scores = peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)
    return Line(
        work,
        "LIBLINEAR",
        at_least(1.0),
        times.ratio,
        times,
        scores,
        f"F above its minimum {above[0]:.1e} / {above[1]:.1e}",
        above[1] <= tol * first,
        f"gap {ours.trace_.gap[-1]:.1e} proved in {ours.n_iter_} passes; LIBLINEAR's tol {accuracy:g}; {rows.source}",
    )


# -- rows of very different lengths


def sgd_unequal(options: Options) -> list[Line]:
    """Five shuffled passes with the default steps and averages of each library, and SGDClassifier's last weights."""
    rows = data.unequal_binary(options.size(49_749, 10_000), 300)
    given: dict[str, Any] = {"alpha": ALPHA, "max_iter": PASSES, "tol": None, "random_state": 0}
    lines = []
    for loss, theirs in _THEIR_NAMES.items():
        for average in (True, False):
            peer = SGDClassifier(theirs, average=average, **given)
            ours = nk.LinearClassifier(loss, **given)
            times = alternate(partial(peer.fit, rows.X, rows.y), partial(ours.fit, rows.X, rows.y), options.repeats)
            values = [objective(model, rows, loss, ALPHA) for model in (peer, ours)]
            lines.append(
                Line(
                    f"sgd, {loss}, rows of very different lengths",
                    f"sklearn SGDClassifier(average={average})",
                    at_least(1.0),
                    times.ratio,
                    times,
                    (peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)),
                    f"F {values[0]:.5f} / {values[1]:.5f}",
                    values[1] <= values[0],
                    f"{PASSES} passes; {rows.source}",
                )
            )
    return lines


@lru_cache(maxsize=1)
def _gaussian(dtype: type, quick: bool) -> data.Split:
    return data.noisy_linear(40_000 if quick else 200_000, 100, dtype)


@lru_cache(maxsize=1)
def _text(quick: bool) -> data.Split:
    return data.text_like(40_000 if quick else 200_000, 50_000, 86)


@lru_cache(maxsize=2)
def _real(name: str) -> data.Split | None:
    return data.libsvm(*{"a9a": ("a9a.gz", "a9a.t.gz"), "reuters": ("reuters.trn.bz2", "reuters.tst.bz2")}[name])


_UNSET = "set NOVIKOFF_DATA to measure this"

BENCHMARKS: dict[str, Benchmark] = {
    "sgd": sgd,
    "liblinear": liblinear,
    "newton": newton,
    "sgd-optimum": sgd_optimum,
    "dual": dual,
    "sgd-unequal": sgd_unequal,
}
