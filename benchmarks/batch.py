"""Five passes over dense and sparse rows, two classes and ten, against scikit-learn's perceptrons.

Both sides get the same rows in the same order and type, without shuffling or early stopping (tol=None), on one thread;
validation of the input is included. scikit-learn's perceptron is the same algorithm, so in double precision its weights
must be equal to the last bit; in single precision it rounds its weights to float32 and we do not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier

import novikoff as nk
from benchmarks import data
from benchmarks.limits import share_of_scoring
from benchmarks.measure import Benchmark, Line, Options, Target, Times, alternate, at_least, best_of, no_target

PASSES = 5
_SAME_ORDER: dict[str, Any] = {"shuffle": False, "tol": None, "max_iter": PASSES}
_TOLERANCE = 0.02  # by which accuracy may be lower where the algorithms differ


def own_rule(margin: float, squared_norm: float) -> float:
    """The perceptron rule as a user would write it."""
    return 1.0 if margin <= 0.0 else 0.0


def dense_single(options: Options) -> list[Line]:
    return [_dense(np.float32, 4.0, options)]


def dense_double(options: Options) -> list[Line]:
    return [_dense(np.float64, 2.2, options)]


def _dense(dtype: type, target: float, options: Options) -> Line:
    rows = _gaussian(dtype, options.quick)
    peer, ours = Perceptron(**_SAME_ORDER), nk.Perceptron(max_iter=PASSES)
    return _side_by_side(
        f"dense {np.dtype(dtype)} {_shape(rows.X)}, {PASSES} passes",
        "sklearn Perceptron",
        peer,
        ours,
        rows,
        at_least(target),
        options,
        exact=dtype is np.float64,
    )


def bandwidth(options: Options) -> list[Line]:
    """Bytes per second against a sum of X, and speed against scoring the rows, which also converts them to doubles."""
    return [line for dtype in (np.float32, np.float64) for line in _share_of_bandwidth(dtype, options)]


def _share_of_bandwidth(dtype: type, options: Options) -> list[Line]:
    rows = _gaussian(dtype, options.quick)
    model = nk.Perceptron(max_iter=PASSES)
    times = alternate(lambda: _read(rows.X.reshape(-1)), lambda: model.fit(rows.X, rows.y), options.repeats)
    summed, learned = (PASSES * rows.X.nbytes / time / 1e9 for time in (times.theirs, times.ours))
    work = f"dense {np.dtype(dtype)} {_shape(rows.X)}, {PASSES} passes"
    of_bandwidth = Line(
        f"{work}: share of read bandwidth",
        f"a compiled sum of X, {PASSES} times",
        no_target("%"),
        learned / summed,
        Times(times.theirs, times.ours),
        note=f"{summed:.1f} GB/s summed, {learned:.1f} GB/s learned",
    )
    return [of_bandwidth, share_of_scoring(work, rows.X, times.ours, PASSES, options)]


def _read(values: np.ndarray) -> None:
    for _ in range(PASSES):
        _sum(values)


@numba.njit(fastmath={"reassoc", "contract"})  # in any order, or each addition would wait for the one before
def _sum(values: np.ndarray) -> float:
    total = 0.0
    for i in range(values.size):  # by index: numba compiles a loop over the values without SIMD
        total += values[i]
    return total


def sparse(options: Options) -> list[Line]:
    # scikit-learn damps the intercept of sparse rows; without one the two algorithms are the same.
    peer = Perceptron(fit_intercept=False, **_SAME_ORDER)
    ours = nk.Perceptron(fit_intercept=False, max_iter=PASSES)
    rows = _text(options.quick)
    work = f"sparse float64, {rows.X.nnz / 1e6:.1f}M non-zeros, d = {rows.X.shape[1]:,}, {PASSES} passes"
    line = _side_by_side(work, "sklearn Perceptron", peer, ours, rows, no_target(), options, exact=True)
    assert line.times is not None
    read = best_of(lambda: (_read(rows.X.data), _read(rows.X.indices)), options.repeats)
    note = f"reading X {PASSES} times takes {read * 1e3:.0f} ms"
    return [line, share_of_scoring(work, rows.X, line.times.ours, PASSES, options, note)]


def averaged(options: Options) -> list[Line]:
    peer = SGDClassifier(
        loss="perceptron",
        penalty=None,
        alpha=0.0,
        learning_rate="constant",
        eta0=1.0,
        average=True,
        fit_intercept=False,
        **_SAME_ORDER,
    )
    ours = nk.Perceptron(hypothesis="averaged", fit_intercept=False, max_iter=PASSES)
    work, rows = "averaged, the same sparse rows", _text(options.quick)
    line = _side_by_side(
        work,
        "sklearn SGDClassifier(average=True)",
        peer,
        ours,
        rows,
        no_target(),
        options,
        exact=False,
        tolerance=1e-9,
    )
    assert line.times is not None
    return [line, share_of_scoring(work, rows.X, line.times.ours, PASSES, options)]


def multiclass(options: Options) -> list[Line]:
    rows = data.digits(np.float32, options.quick)
    peer, ours = Perceptron(**_SAME_ORDER), nk.Perceptron(max_iter=PASSES)
    times = alternate(lambda: peer.fit(rows.X, rows.y), lambda: ours.fit(rows.X, rows.y), options.repeats)
    scores = peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)
    work = f"ten classes, dense float32 {_shape(rows.X)}, {PASSES} passes"
    return [
        Line(
            work,
            "sklearn Perceptron, one-vs-rest",
            at_least(4.0),
            times.ratio,
            times,
            scores,
            "another algorithm (Collins), weights not comparable",
            bool(scores[1] >= scores[0] - _TOLERANCE),
            note=f"{rows.source}; {_mistakes(ours)}",
        )
    ]


def users_rule(options: Options) -> list[Line]:
    lines = []
    for kind, rows in (("dense float64", _gaussian(np.float64, options.quick)), ("sparse", _text(options.quick))):
        built_in = nk.Perceptron(fit_intercept=False, max_iter=PASSES)
        ours = nk.Perceptron(own_rule, fit_intercept=False, max_iter=PASSES)
        line = _side_by_side(
            f"a rule of the user, {kind}",
            "novikoff's built-in perceptron",
            built_in,
            ours,
            rows,
            at_least(0.9),
            options,
            exact=True,
        )
        lines.append(line)
    return lines


def _side_by_side(
    work: str,
    name: str,
    peer: Any,
    ours: Any,
    rows: data.Split,
    target: Target,
    options: Options,
    *,
    exact: bool,
    tolerance: float | None = None,
) -> Line:
    """Fit both in turns; compare their weights to the last bit, within a tolerance, or by their angle only."""
    times = alternate(lambda: peer.fit(rows.X, rows.y), lambda: ours.fit(rows.X, rows.y), options.repeats)
    scores = peer.score(rows.X_test, rows.y_test), ours.score(rows.X_test, rows.y_test)
    theirs, mine = _weights(peer), _weights(ours)
    apart = np.abs(mine - theirs).max() / np.abs(theirs).max()
    if exact:
        agreement, is_sound = ("weights equal", True) if apart == 0.0 else (f"weights differ by {apart:.1e}", False)
    elif tolerance is not None:
        agreement, is_sound = f"weights within {apart:.0e}", bool(apart <= tolerance)
    else:
        cosine = mine @ theirs / np.linalg.norm(mine) / np.linalg.norm(theirs)
        agreement, is_sound = f"cosine {cosine:.4f} (theirs is float32)", bool(scores[1] >= scores[0] - _TOLERANCE)
    note = f"{rows.source}; {_mistakes(ours)}"
    return Line(work, name, target, times.ratio, times, scores, agreement, is_sound, note)


def _weights(model: Any) -> np.ndarray:
    return np.concatenate([model.coef_.ravel(), model.intercept_.ravel()]).astype(np.float64)


def _mistakes(model: nk.Perceptron) -> str:
    ledger = model.ledger_
    return f"mistakes on {ledger.error_rate:.1%} of {ledger.examples:,} examples"


def _shape(X: Any) -> str:
    return f"{X.shape[0]:,}×{X.shape[1]}"


@lru_cache(maxsize=2)
def _gaussian(dtype: type, quick: bool) -> data.Split:
    return data.noisy_linear(40_000 if quick else 200_000, 100, dtype)


@lru_cache(maxsize=1)
def _text(quick: bool) -> data.Split:
    return data.text_like(40_000 if quick else 200_000, 50_000, 86)


BENCHMARKS: dict[str, Benchmark] = {
    "dense32": dense_single,
    "dense64": dense_double,
    "bandwidth": bandwidth,
    "sparse": sparse,
    "averaged": averaged,
    "multiclass": multiclass,
    "own-rule": users_rule,
}
