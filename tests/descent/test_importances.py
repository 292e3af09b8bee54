"""Weights of rows in every solver: the weighted minimum, repeated rows, and scikit-learn's steps."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier

import novikoff as nk
from tests.reference import descent as reference
from tests.reference.perceptron import folded

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SMOOTH = ("logistic", "squared-hinge", "squared")
ALPHA = 0.05

forms = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def problem(seed=0, n=90, d=4):
    """Return rows of which half the entries are 0, signs, and integer weights from 0 to 4."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    y = np.where(X @ rng.normal(size=d) + 0.5 + rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, y, rng.integers(0, 5, n)


def vector(model):
    return np.append(np.ravel(model.coef_), model.intercept_)


@forms
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("solver", ["newton", "gd"])
def test_integer_weights_are_repeated_rows(solver, loss, form):
    X, y, c = problem()
    model = nk.LinearClassifier(loss, solver, alpha=ALPHA, tol=1e-11, max_iter=5000)
    weighted = vector(model.fit(form(X), y, sample_weight=c))
    repeated = vector(model.fit(form(X.repeat(c, axis=0)), y.repeat(c)))
    np.testing.assert_allclose(weighted, repeated, rtol=0.0, atol=1e-9)
    plain = vector(model.fit(form(X), y))
    assert np.abs(plain - weighted).max() > 1e-3


@pytest.mark.parametrize("loss", SMOOTH)
def test_repeated_rows_by_conjugate_gradients(loss, monkeypatch):
    monkeypatch.setattr("novikoff.descent.batch.DENSE_LIMIT", 2)
    X, y, c = problem(1)
    model = nk.LinearClassifier(loss, "newton", alpha=ALPHA, tol=1e-11)
    weighted = vector(model.fit(X, y, sample_weight=c))
    np.testing.assert_allclose(weighted, vector(model.fit(X.repeat(c, axis=0), y.repeat(c))), rtol=0.0, atol=1e-9)


def test_first_steps_on_a_sample_of_many_rows():
    """Newton's method first minimizes over a tenth of the rows; with weights that end at the same minimum."""
    X, y, _ = problem(2, n=12_000, d=3)
    c = np.random.default_rng(3).exponential(size=len(X))
    exact = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, learning_rate="line-search", tol=1e-11)
    sampled = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1e-11)
    assert vector(sampled.fit(X, y, sample_weight=c)) == pytest.approx(vector(exact.fit(X, y, sample_weight=c)))


def test_minimum_equals_that_of_scikit_learn():
    X, y, c = problem(3)
    ours = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1e-11).fit(X, y, sample_weight=c)
    theirs = LogisticRegression(C=1.0 / (ALPHA * c.sum()), tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=c)
    np.testing.assert_allclose(vector(ours), vector(theirs), atol=1e-5)
    numbers = X @ [1.0, 2.0, -1.0, 0.5] + np.random.default_rng(4).normal(size=len(X))
    ours = nk.LinearRegressor(alpha=ALPHA).fit(X, numbers, sample_weight=c)
    theirs = Ridge(alpha=0.5 * ALPHA * c.sum()).fit(X, numbers, sample_weight=c)
    np.testing.assert_allclose(vector(ours), vector(theirs), atol=1e-9)


@pytest.mark.parametrize("solver", ["sgd", "gd", "newton", "stochastic-newton"])
def test_only_ratios_of_weights_matter(solver):
    X, y, c = problem(4)
    model = nk.LinearClassifier("logistic", solver, alpha=ALPHA, max_iter=20, tol=None, random_state=0)
    one = vector(model.fit(X, y, sample_weight=c))
    np.testing.assert_allclose(vector(model.fit(X, y, sample_weight=1e200 * c)), one, rtol=1e-9)
    np.testing.assert_array_equal(vector(model.fit(X, y, sample_weight=np.full(len(X), 3.0))), vector(model.fit(X, y)))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("solver", ["sgd", "stochastic-newton"])
def test_stochastic_solvers_come_near_the_weighted_minimum(solver, loss):
    X, y, c = problem(5, n=400)
    c = np.where(y > 0, 20.0, 1.0) * (c + 0.5)
    rows, penalty = folded(X, True), reference.penalised(4, True)
    model = nk.LinearClassifier(loss, solver, alpha=ALPHA, max_iter=400, tol=None, random_state=0)
    found = vector(model.fit(X, y, sample_weight=c))
    best = vector(nk.LinearClassifier(loss, "newton", alpha=ALPHA, tol=1e-11).fit(X, y, sample_weight=c))

    def value(v):
        return reference.objective(loss, rows, y, v, ALPHA, penalty, c)

    assert value(best) <= value(found) <= value(best) * 1.01
    assert value(np.zeros(5)) > 1.1 * value(best)


@pytest.mark.parametrize("loss", nk.losses.NAMES)
@pytest.mark.parametrize("schedule", ["auto", "constant", "constant, found", "optimal"])
def test_steps_match_reference(loss, schedule):
    """partial_fit multiplies losses by weights as they are; steps fall with the largest c |x|^2."""
    X, y, c = problem(6)
    X, c, alpha = X / 8.0, c + 0.5, 1e-2
    given, steps = {
        "auto": ({}, reference.fitted(alpha, loss)),
        "constant": ({"eta0": 0.05}, reference.constant(0.05)),
        "constant, found": ({}, reference.longest(loss)),
        "optimal": ({}, reference.optimal(alpha, loss)),
    }[schedule]
    model = nk.LinearClassifier(loss, alpha=alpha, learning_rate=schedule.split(",")[0], average=False, **given)
    for part in np.array_split(np.arange(len(X)), 4):
        model.partial_fit(X[part], y[part], classes=[-1, 1], sample_weight=c[part])
    found = reference.sgd(loss, folded(X, True), y, alpha, steps, [np.arange(len(X))], True, c)[-1]
    np.testing.assert_allclose(vector(model), found, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_steps_equal_those_of_scikit_learn(loss):
    X, y, c = problem(7)
    theirs = SGDClassifier("log_loss" if loss == "logistic" else loss, alpha=ALPHA, shuffle=False)
    ours = nk.LinearClassifier(loss, alpha=ALPHA, learning_rate="optimal", average=False)
    for model in (ours, theirs):
        model.partial_fit(X, y, classes=[-1, 1], sample_weight=c + 0.5)
    np.testing.assert_allclose(vector(ours), vector(theirs), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "squared-hinge"])
def test_a_huge_weight_does_not_diverge(loss):
    X, y, _ = problem(8)
    c = np.where(np.arange(len(X)) == 7, 1e6, 1.0)
    model = nk.LinearClassifier(loss, max_iter=50, tol=None, random_state=0).fit(X, y, sample_weight=c)
    assert np.isfinite(vector(model)).all()
    assert model.predict(X[[7]]).tolist() == [y[7]]


# -- the ledger


def test_a_weighted_run_claims_no_bound():
    """Two weights around 1 whose steps sum up to their number, as those of the perceptron do."""
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), [-1, 1]
    of = {"alpha": 0.0, "learning_rate": "constant", "eta0": 1.0, "average": False}
    model = nk.LinearClassifier("hinge-at-zero", **of).partial_fit(X, y, sample_weight=[0.5, 1.5])
    assert model.ledger_.step_sum == model.ledger_.updates == 2
    assert not model.ledger_.is_bounded
    assert model.ledger_.with_margin(0.1).mistake_bound is None
    assert "weights c" not in str(model.ledger_)
    plain = nk.LinearClassifier("hinge-at-zero", **of).partial_fit(X, y)
    assert plain.ledger_.is_bounded
    perceptron = nk.Perceptron().partial_fit(X, y, sample_weight=[0.5, 1.5])
    np.testing.assert_array_equal(vector(model), vector(perceptron))
    assert model.ledger_.margin_at_most == pytest.approx(perceptron.ledger_.margin_at_most)


def test_files_keep_weighted_runs(tmp_path):
    X, y, c = problem(9)
    model = nk.LinearClassifier("logistic", class_weight={1.0: 2.0}).partial_fit(X, y, sample_weight=c)
    model.save(tmp_path / "m.nk")
    found = nk.load(tmp_path / "m.nk")
    assert found.class_weight == {1.0: 2.0}
    for each in (model, found):
        each.partial_fit(X, y, sample_weight=c)
    np.testing.assert_array_equal(vector(model), vector(found))
