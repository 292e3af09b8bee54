"""Warnings of a fit that did not converge do not advise what was already done."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from novikoff.descent.options import DescentOptions, suggest_remedy
from tests.support import strategies


def warning_of(model, X, y):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
    (found,) = said
    assert found.category is ConvergenceWarning
    assert found.filename == __file__
    return str(found.message)


@pytest.fixture
def noise():
    return strategies.integers(5, 60, 3, 2)


def test_perceptron(noise):
    assert "use hypothesis='averaged', 'voted' or 'pocket'" in warning_of(nk.Perceptron(max_iter=3), *noise)
    for name in ("averaged", "voted", "pocket"):
        said = warning_of(nk.Perceptron(hypothesis=name, max_iter=3), *noise)
        assert "use hypothesis" not in said
        assert f"hypothesis={name!r} is meant for that" in said


def test_stalled_perceptron():
    zeros = warning_of(nk.Perceptron(fit_intercept=False), np.zeros((2, 2)), [0, 1])
    assert "All rows are 0: use fit_intercept=True" in zeros
    assert "Scale" not in zeros
    huge = 2.0**60
    small = warning_of(nk.Perceptron(fit_intercept=False), np.array([[huge, -huge], [-1.0, -1.0]]), [1, 0])
    assert "Scale the rows" in small
    assert "rows of zeros" not in small
    one_length = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    said = warning_of(nk.Perceptron(fit_intercept=False), one_length, [0, 1, 0])
    assert said.endswith("Leave out rows of zeros.")


def test_kernel_perceptron(noise):
    said = warning_of(nk.KernelPerceptron("linear", max_iter=1), *noise)  # voted by default
    assert "With hypothesis='voted' that need not matter" in said
    assert "'averaged'" not in said
    assert "gamma" not in said
    last = warning_of(nk.KernelPerceptron(hypothesis="last", gamma=1e-9, max_iter=1), *noise)
    assert "With hypothesis='voted' or 'averaged'" in last
    assert "(a larger gamma)" in last


def noisy(scale=(1.0, 1.0, 1.0), shift=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X * scale + shift, np.where(X[:, 0] + rng.normal(size=80) > 0.0, 1, 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_descent_advises_to_scale_only_columns_that_are_not(form):
    model = nk.LinearClassifier("logistic", "gd", alpha=0.0, max_iter=1, tol=1e-12)
    X, y = noisy()
    X = X / np.abs(X).max(axis=0) if form is sp.csr_array else X
    assert "scale" not in warning_of(model, form(X), y)
    X, y = noisy(scale=(1.0, 1.0, 100.0))
    assert "scale the columns" in warning_of(model, form(X), y)


def test_descent_advises_to_shift_columns():
    model = nk.LinearClassifier("logistic", "gd", alpha=0.0, max_iter=1, tol=1e-12)
    X, y = noisy(shift=50.0)
    assert "StandardScaler" in warning_of(model, X, y)


@pytest.mark.parametrize(
    ("loss", "solver", "is_advised"),
    [
        ("logistic", "newton", False),
        ("logistic", "gd", True),
        ("logistic", "sgd", True),
        ("hinge", "sgd", False),
        ("hinge", "gd", False),
    ],
)
def test_descent_advises_newton_only_where_it_helps(loss, solver, is_advised):
    X, y = noisy()
    model = nk.LinearClassifier(loss, solver, max_iter=1, tol=0.0, random_state=0)
    assert ("'newton'" in warning_of(model, X, y)) == is_advised


def test_divergence_does_not_advise_the_learning_rate_in_use():
    loss = nk.losses.Squared()
    for options in (DescentOptions(), DescentOptions(eta0=3.0)):
        assert "learning_rate='auto'" not in suggest_remedy(loss, options)
    for options in (DescentOptions("constant"), DescentOptions("constant", eta0=3.0)):
        assert "learning_rate='auto'" in suggest_remedy(loss, options)
