"""fewest_errors on small integers in any unit: bounds do not depend on the unit, and verify."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import novikoff as nk


def attack(rng: np.random.Generator) -> int:
    """Ten problems, each in three units."""
    for _ in range(10):
        n, d = int(rng.integers(2, 12)), int(rng.integers(1, 4))
        X, y = rng.integers(-3, 4, (n, d)).astype(float), np.append([0, 1], rng.integers(0, 2, n - 2))
        fit_intercept = bool(rng.random() < 0.5)
        expected = nk.fewest_errors(X, y, fit_intercept=fit_intercept, time_limit=30)
        expected.verify(X, y)
        assert expected.is_exact
        for _ in range(3):
            factors = _factors(rng, n, d, fit_intercept)
            Z = X * factors
            found = nk.fewest_errors(
                sp.csr_array(Z) if rng.random() < 0.5 else Z, y, fit_intercept=fit_intercept, time_limit=30
            )
            found.verify(Z, y)
            assert (found.lower, found.upper) == (expected.lower, expected.upper), (X, y, factors, fit_intercept)
        _verify_in_any_unit(rng, X, y, fit_intercept)
    return 40


def _factors(rng: np.random.Generator, n: int, d: int, fit_intercept: bool) -> np.ndarray:
    """Powers of two for the columns; and for the rows, which with a constant coordinate would be other points."""
    if fit_intercept:
        return np.ldexp(1.0, rng.integers(-1000, 450, d))
    reach = int(rng.choice([2, 200, 450]))
    return np.ldexp(1.0, rng.integers(-reach, reach // 2, d)) * np.ldexp(1.0, rng.integers(-reach, reach // 2, (n, 1)))


def _verify_in_any_unit(rng: np.random.Generator, X: np.ndarray, y: np.ndarray, fit_intercept: bool) -> None:
    """Factors that round: the bounds need not be those of X, but they must be proved."""
    Z = X * 10.0 ** rng.integers(-300, 140, (len(X), 1) if rng.random() < 0.5 else X.shape[1])
    nk.fewest_errors(Z, y, fit_intercept=fit_intercept, time_limit=30).verify(Z, y)
