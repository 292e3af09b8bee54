"""Certificates, against a linear program (SciPy's HiGHS) and a hard-margin support vector machine (LIBLINEAR).

The linear program is that of textbooks: find w with y <w, x> >= 1. Its result holds up to a tolerance and has no proof,
so it is timed for the verdict alone; ours includes the margin or the witness, in exact arithmetic. Solvers that take
seconds run once; faster ones have as many turns as ours, and the best counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.svm import LinearSVC

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, Times, at_least, at_most, best_of, seconds
from novikoff._compiled.loops.additive import score_binary

_SHORT, _TURNS = 2.0, 5  # work that takes fewer seconds has this many turns
_TIME_LIMIT = 300.0  # seconds of HiGHS


@dataclass(frozen=True)
class LinearProgramResult:
    """The answer of the linear program."""

    seconds: float
    separable: bool | None  # None: undecided within the time limit
    message: str


def decide(options: Options) -> list[Line]:
    lines = []
    for kind, rows in (("separable", _separable(options.quick)), ("inseparable", _inseparable(options.quick))):
        X, y = rows
        theirs = _by_linear_program(X, y)
        ours = _timed(partial(nk.certify, X, y), options)
        certificate = nk.certify(X, y)
        certificate.verify(X, y)
        lines.append(
            Line(
                f"decide {_shape(X)}, {kind}",
                "SciPy HiGHS",
                at_least(50.0),
                theirs.seconds / ours.ours,
                Times(theirs.seconds, ours.ours, ours.first_call),
                None,
                *_agreement(theirs, certificate),
                note=f"HiGHS: {theirs.message}",
            )
        )
    return lines


def margin(options: Options) -> list[Line]:
    """LIBLINEAR counts the bias as one more weight, as we do; C = 1e10 makes the margin hard."""
    X, y = _separable(options.quick)
    svm = LinearSVC(loss="hinge", C=1e10, tol=1e-6, intercept_scaling=1.0, max_iter=1_000_000, random_state=0)
    theirs = seconds(lambda: svm.fit(X, y))
    ours = _timed(partial(nk.certify, X, y), options)
    certificate = nk.certify(X, y)
    certificate.verify(X, y)
    reached = nk.margin(svm.coef_, X, y, intercept=float(svm.intercept_[0]))
    gaps = [1.0 - m / certificate.margin_upper for m in (reached, certificate.margin_lower)]
    return [
        Line(
            f"exact margin of {_shape(X)}",
            "LIBLINEAR, C = 1e10, tol 1e-6",
            at_least(20.0),
            theirs / ours.ours,
            Times(theirs, ours.ours, ours.first_call),
            None,
            f"relative gap {gaps[0]:.0e} / {gaps[1]:.0e}",
            gaps[1] <= max(gaps[0], 0.0) or gaps[1] < 1e-12,
        )
    ]


def million(options: Options) -> list[Line]:
    """How many times X could be read in the time of a decision; reading is a compiled dot product with every row."""
    lines = []
    for kind, noise in (("separable", 0.0), ("inseparable", 1.0)):
        X, y = _gaussian(options.size(1_000_000, 50_000), 100, np.float32, noise)
        one_pass = best_of(partial(score_binary, X, None, None, 1.0, np.ones(100), np.zeros(1), np.empty(len(X))), 3)
        ours = _timed(partial(nk.certify, X, y), options)
        certificate = nk.certify(X, y)
        certificate.verify(X, y)
        lines.append(
            Line(
                f"decide {_shape(X)} float32, {kind}",
                "reading X once",
                at_most(60.0, " passes"),
                ours.ours / one_pass,
                Times(one_pass, ours.ours, ours.first_call),
                None,
                f"verified, {'separable' if certificate else 'inseparable'}",
            )
        )
    return lines


def real(options: Options) -> list[Line]:
    """Real files, each decided and verified; the target is for the sum of the times."""
    tables = [] if options.quick else list(data.certified_files())
    if not tables:
        return [Line("real files", "SciPy HiGHS", at_least(20.0), note="set NOVIKOFF_DATA to measure this")]
    theirs = ours = 0.0
    notes, agrees = [], True
    for name, X, y in tables:
        verdict = _by_linear_program(X, y)
        times = _timed(partial(nk.certify, X, y), options)
        certificate = nk.certify(X, y)
        certificate.verify(X, y)
        theirs, ours = theirs + verdict.seconds, ours + times.ours
        said, sound = _agreement(verdict, certificate)
        agrees &= sound
        notes.append(
            f"{name}: {'separable' if certificate else 'inseparable'}, {times.ours * 1e3:.1f} ms, "
            f"HiGHS {verdict.seconds:.2f} s ({said})"
        )
    work = ", ".join(name for name, _, _ in tables)
    return [
        Line(
            work,
            "SciPy HiGHS",
            at_least(20.0),
            theirs / ours,
            Times(theirs, ours),
            None,
            "all decided and verified",
            agrees,
            "; ".join(notes),
        )
    ]


def verify(options: Options) -> list[Line]:
    """The time of `verify` relative to that of `certify`, the largest of all cases above."""
    cases = [
        ("separable", *_separable(options.quick)),
        ("inseparable", *_inseparable(options.quick)),
        ("a million rows, separable", *_gaussian(options.size(1_000_000, 50_000), 100, np.float32, 0.0)),
        ("a million rows, inseparable", *_gaussian(options.size(1_000_000, 50_000), 100, np.float32, 1.0)),
        *([] if options.quick else data.certified_files()),
    ]
    slowest: tuple[float, str, Times] | None = None
    for name, X, y in cases:
        certificate = nk.certify(X, y)
        found = best_of(partial(nk.certify, X, y), options.repeats)
        checked = best_of(partial(certificate.verify, X, y), options.repeats)
        if slowest is None or checked / found > slowest[0]:
            slowest = checked / found, name, Times(found, checked)
    assert slowest is not None
    return [Line(f"verify: the slowest of {len(cases)}, {slowest[1]}", "certify", at_most(1.0), slowest[0], slowest[2])]


def _by_linear_program(X: Any, y: np.ndarray) -> LinearProgramResult:
    signs = np.where(y == np.unique(y)[-1], 1.0, -1.0)[:, None]
    A = sp.hstack([X.multiply(-signs), -signs], format="csr") if sp.issparse(X) else np.hstack([-signs * X, -signs])
    took, turns = math.inf, 0
    while turns == 0 or (took < _SHORT and turns < _TURNS):
        start = time.perf_counter()
        answer = linprog(
            np.zeros(A.shape[1]),
            A_ub=A,
            b_ub=np.full(len(y), -1.0),
            bounds=(None, None),
            method="highs",
            options={"time_limit": _TIME_LIMIT},
        )
        took, turns = min(took, time.perf_counter() - start), turns + 1
    return LinearProgramResult(took, {0: True, 2: False}.get(answer.status), answer.message.split("\n")[0][:100])


def _agreement(theirs: LinearProgramResult, ours: Any) -> tuple[str, bool]:
    if theirs.separable is None:
        return "HiGHS undecided, ours verified", True
    return ("same verdict, ours verified", True) if theirs.separable == bool(ours) else ("verdicts differ", False)


def _timed(work: Callable[[], Any], options: Options) -> Times:
    first = seconds(work)
    best = best_of(work, options.repeats)
    return Times(first, best, max(0.0, first - best))


@lru_cache(maxsize=1)
def _separable(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows moved apart by 0.1 along the target."""
    X, y = _gaussian(10_000 if quick else 100_000, 50, np.float64, 0.0)
    u = np.random.default_rng(1).standard_normal(50)
    return X + 0.1 * np.where(y, 1.0, -1.0)[:, None] * u / np.linalg.norm(u), y


@lru_cache(maxsize=1)
def _inseparable(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    return _gaussian(10_000 if quick else 100_000, 50, np.float64, 0.5)


def _gaussian(n: int, d: int, dtype: type, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows, labelled by a linear function plus noise."""
    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype)
    rng.standard_normal(dtype=dtype, out=X)
    u = np.random.default_rng(1).standard_normal(d)
    clean = X @ (u / np.linalg.norm(u)).astype(dtype)
    return X, clean + noise * rng.standard_normal(n) > 0.0


def _shape(X: Any) -> str:
    return f"{X.shape[0]:,}×{X.shape[1]}"


BENCHMARKS: dict[str, Benchmark] = {
    "certify": decide,
    "margin": margin,
    "certify-million": million,
    "certify-files": real,
    "verify": verify,
}
