"""Objectives without a minimum are recognized, and a descent that is stuck does not claim to have converged."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from novikoff.descent import batch
from novikoff.estimators.missing_minimum import find_endless_direction

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SEPARABLE = np.where(X @ [1.0, -1.0, 0.5] > 0.2, 1, -1)
NOISY = np.where(X @ [1.0, -1.0, 0.5] + RNG.normal(size=60) > 0.0, 1, -1)

forms = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def fit(model, rows, labels):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(rows, labels)
    return model, [str(each.message) for each in said]


@forms
@pytest.mark.parametrize("solver", ["sgd", "gd", "newton", "stochastic-newton"])
def test_logistic_loss_on_separable_rows(solver, form, tmp_path):
    model, said = fit(nk.LinearClassifier("logistic", solver, alpha=0.0, random_state=0), form(X), SEPARABLE)
    assert not model.converged_
    assert model.lacks_minimum_
    assert len(said) == 1
    assert said[0].startswith("The objective has no minimum: ")
    assert "separate" in said[0]
    assert "Use alpha > 0" in said[0]
    model.save(tmp_path / "model.nk")
    again = nk.load(tmp_path / "model.nk")
    assert again.lacks_minimum_
    assert not again.converged_


def test_where_there_is_a_minimum():
    for model, labels in (
        (nk.LinearClassifier("logistic", "newton", alpha=0.0), NOISY),
        (nk.LinearClassifier("logistic", "newton", alpha=1e-3), SEPARABLE),
        (nk.LinearClassifier("squared-hinge", "newton", alpha=0.0), SEPARABLE),
        (nk.LinearClassifier("squared", "newton", alpha=0.0), SEPARABLE),
    ):
        model, said = fit(model, X, labels)
        assert not said
        assert model.converged_
        assert not model.lacks_minimum_


def test_one_of_three_classes_can_be_separated():
    labels = np.where(X[:, 0] > 1.0, 2, (NOISY > 0).astype(int))
    rows = X + 100.0 * (labels == 2)[:, None]
    model, said = fit(nk.LinearClassifier("logistic", "newton", alpha=0.0, max_iter=50), rows, labels)
    assert model.lacks_minimum_
    assert "no minimum" in said[0]


@forms
def test_a_category_of_one_class(form):
    """The rows cannot be separated, and yet the weight of the category grows for ever."""
    rows = np.column_stack([X, (NOISY > 0) & (np.arange(60) % 7 == 0)])
    given = nk.Rows.of(form(rows))
    given.require_numbers()
    signs = NOISY.astype(float)
    assert not isinstance(nk.certify(rows, NOISY), nk.Separable)
    found = find_endless_direction(given, signs, np.zeros(5), 1.0)
    assert found == "column 3 is never negative in one class, and never positive in the other"
    model, said = fit(nk.LinearClassifier("logistic", "newton", alpha=0.0), form(rows), NOISY)
    assert model.lacks_minimum_
    assert "column 3 is never negative" in said[0]
    assert find_endless_direction(nk.Rows.of(form(X)), signs, np.zeros(4), 1.0) is None


@forms
def test_a_separator_is_found_where_the_weights_are_none(form):
    given = nk.Rows.of(form(X))
    given.require_numbers()
    found = find_endless_direction(given, SEPARABLE.astype(float), np.zeros(4), 1.0)
    assert found == "a half-space separates the classes"


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
@pytest.mark.parametrize("alpha", [0.0, 1e-4])
def test_gd_on_columns_that_span_decades(loss, alpha):
    """Either the gradient is as short as tol says, or fit says that it is not."""
    scales = 10.0 ** np.arange(-6, 7, 2.0)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(200, len(scales)))
        labels = np.where(rows.sum(axis=1) + rng.normal(size=200) > 0.0, 1, -1)
        model, said = fit(nk.LinearClassifier(loss, "gd", alpha=alpha, max_iter=300), rows * scales, labels)
        trace = model.trace_
        if model.converged_:
            assert trace.gradient_norm[-1] <= 1e-3 * trace.gradient_norm[0]
            assert not said
        else:
            assert len(said) == 1
            assert "tol=0.001 is not reached" in said[0]
            assert "scale the columns" in said[0]


def test_a_descent_that_is_stuck_says_so(monkeypatch):
    """As if rounding left no step that leads down."""
    monkeypatch.setattr(batch._Steps, "next", lambda *arguments: None)
    model, said = fit(nk.LinearClassifier("logistic", "gd", alpha=0.1), X, NOISY)
    assert not model.converged_
    assert "after 1 passes no step lowers the objective any further in double precision, and tol=0.001" in said[0]
    assert "F is proved to be at most" in said[0]


def test_warning_points_to_the_call_of_fit():
    with pytest.warns(ConvergenceWarning) as said:
        nk.LinearClassifier("logistic", "newton", alpha=0.0).fit(X, SEPARABLE)
    assert said[0].filename == __file__
