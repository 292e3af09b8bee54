"""Signs of margins near the hyperplane, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

import novikoff as nk

_ROWS = 200


def attack(rng: np.random.Generator) -> int:
    """Run rows on a plane up to their last bits, of any scale, dense and sparse, with and without an intercept."""
    d = int(rng.integers(2, 8))
    scale = int(rng.integers(0, 60))
    w = rng.normal(size=d) * 2.0 ** rng.integers(-scale, scale + 1, d)
    X = rng.normal(size=(_ROWS, d)) * 2.0 ** rng.integers(-scale, scale + 1, (_ROWS, d))
    b = float(rng.normal()) if rng.random() < 0.5 else None
    if rng.random() < 0.5:
        w, X, b = np.rint(w), np.rint(X), None if b is None else float(np.rint(b))
        w[-1] = w[-1] or 1.0
    X[:, -1] = -(X[:, :-1] @ w[:-1] + (b or 0.0)) / w[-1]
    X[:, -1] += rng.integers(-2, 3, _ROWS) * np.spacing(X[:, -1])
    exponents = rng.integers(-150, 150, (_ROWS, 1)) if b is None else 0
    X, w = np.ldexp(X, exponents), np.ldexp(w, k := int(rng.integers(-900, 900)))
    b = None if b is None else float(np.ldexp(b, k))
    y = rng.choice([-1, 1], _ROWS)
    y[:2] = -1, 1
    found = nk.margins(w, sp.csr_array(X) if rng.random() < 0.5 else X, y, intercept=b)
    exact = [Fraction(v) for v in w.tolist()]
    for margin, x, sign in zip(found.tolist(), X.tolist(), y.tolist(), strict=True):
        product = sign * (sum(v * Fraction(u) for v, u in zip(exact, x, strict=True)) + Fraction(b or 0.0))
        assert (margin > 0, margin < 0) == (product > 0, product < 0), (margin, float(product), x, w.tolist(), b)
    return _ROWS
