"""Certificates of tables that are hard for some solver (hostile_shapes.py), against a linear program by SciPy's HiGHS.

The linear program finds some w with y <w, x> >= 1, up to its tolerances and without a proof; ours is verified. Both are
measured in processor time on one thread, in turns, and the best counts.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

import novikoff as nk
from benchmarks.hostile_shapes import SHAPES, SMALL_SHAPES, Table
from benchmarks.measure import Benchmark, Line, Options, Times, at_least
from novikoff.errors import TimeLimitError

_TIME_LIMIT = 60.0  # seconds, for either side
_ENOUGH = 3.0  # seconds on one side, after which it has no further turn


def hostile(options: Options) -> list[Line]:
    """Decide about each table; never slower than twice the time of HiGHS."""
    _compile()
    shapes = SMALL_SHAPES if options.quick else SHAPES
    return [_measure(name, make(), options) for name, make in shapes.items()]


def _compile() -> None:
    """Compile the loops for each kind of rows, once, outside of the times."""
    for X in (np.eye(4), np.eye(4, dtype=np.float32), sp.eye_array(4, format="csr")):
        for y in ([0, 1, 0, 1], [0, 0, 1, 1]):
            nk.certify(X, y).verify(X, y)


def _measure(name: str, table: Table, options: Options) -> Line:
    X, y = table
    theirs = ours = math.inf
    spent_by_them = spent_by_us = 0.0
    verdict, certificate = None, None
    for turn in range(options.repeats):
        if not turn or spent_by_them < _ENOUGH:
            took, verdict = _by_linear_program(X, y)
            theirs, spent_by_them = min(theirs, took), spent_by_them + took
        if not turn or spent_by_us < _ENOUGH:
            took, certificate = _by_certify(X, y)
            ours, spent_by_us = min(ours, took), spent_by_us + took
    agreement, is_sound = _compare(verdict, certificate, table)
    ratio = 0.0 if certificate is None else theirs / ours
    return Line(name, "SciPy HiGHS", at_least(0.5), ratio, Times(theirs, ours), None, agreement, is_sound)


def _by_linear_program(X: Any, y: np.ndarray) -> tuple[float, bool | None]:
    signs = np.where(y == np.unique(y)[-1], 1.0, -1.0)[:, None]
    A = sp.hstack([X.multiply(-signs), -signs], format="csr") if sp.issparse(X) else np.hstack([-signs * X, -signs])
    began = time.process_time()
    answer = linprog(
        np.zeros(A.shape[1]),
        A_ub=A,
        b_ub=np.full(len(y), -1.0),
        bounds=(None, None),
        method="highs",
        options={"time_limit": _TIME_LIMIT},
    )
    return time.process_time() - began, {0: True, 2: False}.get(answer.status)


def _by_certify(X: Any, y: np.ndarray) -> tuple[float, Any]:
    """Return the processor time, and the certificate; None if there was none in time."""
    began = time.process_time()
    try:
        certificate = nk.certify(X, y, time_limit=_TIME_LIMIT)
    except TimeLimitError:
        certificate = None
    return time.process_time() - began, certificate


def _compare(theirs: bool | None, ours: Any, table: Table) -> tuple[str, bool]:
    """Return how far the verdicts agree, and False if ours is missing or differs from one that HiGHS gave."""
    if ours is None:
        return "undecided", False
    ours.verify(*table)
    gap = f", gap {1.0 - float(ours.margin_lower) / ours.margin_upper:.0e}" if ours else f", {len(ours.rows)} rows"
    if theirs is None:
        return "HiGHS undecided, ours verified" + gap, True
    return ("same verdict, ours verified" if theirs == bool(ours) else "verdicts differ, ours verified") + gap, True


BENCHMARKS: dict[str, Benchmark] = {"certify-hostile": hostile}
