"""certify in feature spaces with exact values: results verify, and are within the tolerance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import novikoff as nk

_ROUNDING = 2.0**-51  # both bounds are rounded to doubles


def attack(rng: np.random.Generator) -> int:
    """Run thirty problems of integers, many of them with small margins."""
    for _ in range(30):
        n, d = int(rng.integers(2, 25)), int(rng.integers(1, 5))
        X = rng.integers(-5, 6, (n, d)).astype(float)
        if rng.random() < 0.4:
            X = 1000.0 * X + rng.integers(-3, 4, (n, d))
        y = rng.integers(0, 2, n) if rng.random() < 0.5 else (X @ rng.standard_normal(d) > 0.0).astype(int)
        y[0], y[-1] = 0, 1
        tol = float(rng.choice([0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1]))
        given, data = _choose_kernel(rng, X)
        found = nk.certify(data, y, tol=tol, **given)
        found.verify(data, y)
        if found:
            gap = 1 - Fraction(found.margin_lower) / Fraction(found.margin_upper)
            assert gap <= tol + _ROUNDING, (float(gap), tol, given, X, y)
    return 30


def _choose_kernel(rng: np.random.Generator, X: np.ndarray) -> tuple[dict[str, object], np.ndarray]:
    """A kernel that is exact for these rows, and the data to pass to certify."""
    name = str(rng.choice(["linear", "poly", "precomputed"]))
    if name == "precomputed":
        return {"kernel": name}, X @ X.T + 1.0
    if name == "linear":
        return {"kernel": name, "fit_intercept": bool(rng.random() < 0.5)}, X
    parameters = {"degree": int(rng.integers(1, 6)), "gamma": float(rng.choice([1.0, 0.1])), "coef0": 1.0}
    return {"kernel": name, **parameters}, X
