"""LedgerDisplay: artists are compared with the numbers they stand for."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError
from novikoff.plots import LedgerDisplay
from tests.plots.artists import X, Y, blobs, line_of, offsets


def fit_worked_example(**options):
    return nk.Perceptron(fit_intercept=False, **options).fit(X, Y)


def test_proof_of_the_worked_example():
    display = LedgerDisplay.from_estimator(fit_worked_example(), margin=1.0)
    assert np.allclose(line_of(display.norm_), [[1, 5**0.5], [2, 5**0.5], [3, 10**0.5]])
    k, ceiling = display.ceiling_.get_data()
    assert np.allclose(ceiling, np.sqrt(k * 5.0))
    k, floor = display.floor_.get_data()
    assert np.allclose(floor, k)
    assert np.allclose(offsets(display.meeting_), [[5.0, 5.0]])  # (R / gamma)^2
    assert display.mistakes_.get_data()[1].tolist() == [0, 1, 2, 3, 3]
    assert display.mistakes_.get_data()[0].tolist() == [0, 1, 3, 5, 12]
    assert np.allclose(display.bound_.get_ydata(), 5.0)
    assert np.allclose(display.certified_.get_ydata(), [5**0.5, 5**0.5 / 2, 10**0.5 / 3])
    assert np.allclose(display.margin_.get_ydata(), 1.0)
    assert display.figure_ is display.ax_[0].figure


def test_the_learning_rate_changes_only_the_unit():
    plain, scaled = (
        LedgerDisplay.from_estimator(fit_worked_example(rule=nk.rules.Perceptron(eta))) for eta in (1.0, 8.0)
    )
    assert np.allclose(plain.norm, scaled.norm)
    assert np.allclose(plain.certified, scaled.certified)
    assert "eta" in scaled.ax_[0].get_ylabel()


def test_unknown_margin():
    display = LedgerDisplay.from_ledger(fit_worked_example().ledger_)
    assert display.floor_ is None
    assert display.bound_ is None
    assert display.margin_ is None
    assert display.ceiling_ is not None


def test_progress_along_a_separator():
    display = LedgerDisplay.from_estimator(fit_worked_example(separator=[1.0, 0.0]))
    assert np.allclose(display.progress_.get_ydata(), [1.0, 2.0, 3.0])
    assert np.allclose(display.floor_.get_data()[1], display.floor_.get_data()[0])


@pytest.mark.parametrize("margin", [1e-1, 1e-3, 1e-160])
def test_bounds_far_above_the_run(margin):
    display = LedgerDisplay.from_estimator(fit_worked_example(), margin=margin)
    if margin == 1e-1:
        assert display.ax_[0].get_xscale() == display.ax_[1].get_yscale() == "log"
    else:
        assert display.bound_ is None  # written as text, if it is finite
        assert bool(display.ax_[1].texts) == (margin > 1e-150)


def test_margins_that_the_run_disproves_are_refused():
    with pytest.raises(DataError, match=r"at most 1\.05"):
        LedgerDisplay.from_estimator(fit_worked_example(), margin=1.2)


def test_rules_without_equal_steps_have_no_ceiling():
    x, y = blobs()
    display = LedgerDisplay.from_estimator(nk.Perceptron("passive-aggressive").fit(x, y), margin=1e-3)
    assert display.ceiling_ is None
    assert display.floor_ is None
    ledger = display.ledger
    assert np.allclose(display.certified_.get_ydata(), ledger.norm / ledger.step_sum)
    assert "updates" in display.ax_[0].get_xlabel()
    display = LedgerDisplay.from_estimator(nk.Perceptron(nk.rules.Margin(beta=2.0)).fit(x, y), margin=1e-3)
    k, ceiling = display.ceiling_.get_data()
    assert np.allclose(ceiling, np.sqrt(k * (display.ledger.radius**2 + 4.0)))
    assert (display.norm <= np.sqrt(display.k) * display.growth).all()


def test_a_thinned_trace_ends_with_the_last_state():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 2)), rng.integers(0, 2, 3000)
    clf = nk.Perceptron().partial_fit(x, y)
    display = LedgerDisplay.from_estimator(clf)
    assert len(clf.ledger_.trace) < clf.ledger_.updates
    assert display.k[-1] == clf.ledger_.updates
    assert display.norm[-1] == clf.ledger_.norm


def test_nothing_to_draw():
    without_mistakes = nk.Perceptron(ties="positive", fit_intercept=False, classes=[0, 1]).partial_fit([[1.0]], [1])
    assert without_mistakes.ledger_.updates == 0
    display = LedgerDisplay.from_estimator(without_mistakes, margin=1.0)
    assert [ax.texts[0].get_text() for ax in display.ax_] == ["no mistakes"] * 3
    assert display.norm_ is None


def test_ledger_needs_three_axes():
    with pytest.raises(DataError, match="three panels"):
        LedgerDisplay.from_estimator(fit_worked_example(), ax=plt.figure().subplots(1, 2))


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'Install the extra "plot"'):
        LedgerDisplay.from_estimator(fit_worked_example())
