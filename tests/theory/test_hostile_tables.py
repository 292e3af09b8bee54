"""Tables on which solvers fail: the small ones of the benchmark, each decided and verified; time limits and Ctrl-C."""

from itertools import pairwise

import numpy as np
import pytest

import novikoff as nk
from benchmarks.hostile_shapes import SHAPES, SMALL_SHAPES
from novikoff.errors import TimeLimitError
from novikoff.theory import decision
from tests.reference import separability as oracle


@pytest.mark.parametrize("name", SMALL_SHAPES)
def test_small_shapes_are_decided_and_verified(name):
    X, y = SMALL_SHAPES[name]()
    certificate = nk.certify(X, y)
    certificate.verify(X, y)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    if (
        len(y) <= 150 and X.shape[1] <= 12 and (dense == np.rint(dense)).all()
    ):  # the oracle takes long for other numbers
        signs = np.where(y == np.unique(y)[-1], 1, -1)
        assert bool(certificate) == oracle.separable(oracle.points(dense, signs, True))


def test_there_are_enough_shapes():
    assert len(SHAPES) >= 30


@pytest.mark.parametrize("decades", [8, 40])
def test_units_of_rows_and_columns_change_no_verdict(decades):
    rng = np.random.default_rng(0)
    for seed in range(20):
        X = rng.integers(-3, 4, (12, 3)).astype(float)
        y = X @ rng.integers(-2, 3, 3) + rng.integers(-1, 2, 12) * (seed % 2) > 0
        scaled = X * 2.0 ** rng.integers(-decades, decades, (12, 1)) * 2.0 ** rng.integers(-decades, decades, 3)
        plain, other = nk.certify(X, y, fit_intercept=False), nk.certify(scaled, y, fit_intercept=False)
        other.verify(scaled, y)
        assert bool(plain) == bool(other)


def random_labels(n=400, d=180):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.random(n) < 0.5


def test_a_time_limit_that_is_too_short():
    X, y = random_labels()
    with pytest.raises(TimeLimitError, match=r"Undecided after 0 s: True against False, 400 rows"):
        nk.certify(X, y, time_limit=0.0)
    with pytest.raises(ValueError, match="time_limit"):
        nk.certify(X, y, time_limit=-1.0)


def test_a_separator_that_is_proved_is_returned_when_time_is_up(monkeypatch):
    """The clock runs out as soon as the verdict is proved: the margins are apart, and both are true."""
    X, y = SMALL_SHAPES["1,000×30, rows and columns 1e±5, separable"]()
    whole = nk.certify(X, y)
    monkeypatch.setattr(decision, "improve_corral", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    early = nk.certify(X, y)
    early.verify(X, y)
    assert early.margin_lower <= whole.margin_upper <= early.margin_upper * (1 + 1e-9)


def test_progress_reports_bounds_that_only_improve(capsys):
    X, y = SMALL_SHAPES["2,000×20, shifted by 1e6, separable"]()
    seen = []
    certificate = nk.certify(X, y, progress=lambda lower, upper: seen.append((lower, upper)), verbose=True)
    assert seen[-1][0] == pytest.approx(certificate.margin, rel=1e-6)
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(seen))
    assert "separable, margin from" in capsys.readouterr().err


def test_interrupt_before_the_verdict_is_raised():
    def stop(lower, upper):
        raise KeyboardInterrupt

    X, y = random_labels()
    with pytest.raises(KeyboardInterrupt):
        nk.certify(X, y, progress=stop)
