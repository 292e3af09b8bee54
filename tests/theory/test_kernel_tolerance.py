"""certify meets its tolerance in feature spaces with exact kernel values."""

from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk

_ROUNDING = 2.0**-51  # both bounds are rounded to doubles


def clustered_integers(seed):
    """Integers far from 0 and near to one another: weights that are rounded to doubles lose much of the margin."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 25)), int(rng.integers(1, 4))
    X = 1000.0 * rng.integers(-5, 6, (n, d)) + rng.integers(-3, 4, (n, d))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    return X, y


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0])
@pytest.mark.parametrize("kernel", ["precomputed", "linear", "poly"])
def test_both_margins_are_within_the_tolerance(kernel, tol):
    separable = 0
    for seed in range(40):
        X, y = clustered_integers(seed)
        data = (X @ X.T + 1.0) ** 2 if kernel == "precomputed" else X
        found = nk.certify(data, y, kernel=kernel, degree=3, gamma=1.0, tol=tol)
        found.verify(data, y)
        if found:
            separable += 1
            assert 1 - Fraction(found.margin_lower) / Fraction(found.margin_upper) <= tol + _ROUNDING
    assert separable or kernel == "linear"
