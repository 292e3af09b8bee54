"""Gradient descent, Newton's method and its stochastic sister: all find the minimum that others find."""

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.descent import batch, stochastic
from novikoff.errors import DataError
from tests.reference import descent as reference
from tests.reference.perceptron import folded

SMOOTH = ("logistic", "squared-hinge", "squared")
ALPHA = 0.05

many_losses = pytest.mark.parametrize("loss", SMOOTH)
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])
forms = pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)], ids=["dense", "sparse", "float32"]
)


def problem(seed=0, n=120, d=4):
    """Half of the entries are 0, the others have few digits: the same in single precision."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-12, 13, (n, d)) / 8.0 * (rng.random((n, d)) < 0.5)
    return X, np.where(X @ rng.normal(size=d) + 0.5 + rng.normal(size=n) > 0.0, 1.0, -1.0)


def vector(model):
    return np.append(np.ravel(model.coef_), model.intercept_ if model.fit_intercept else [])


def lowest(loss, X, y, intercept):
    given = folded(X, intercept), y, ALPHA, reference.penalised(X.shape[1], intercept)
    return reference.ridge(*given) if loss == "squared" else reference.minimum(loss, *given)


@many_losses
@forms
@with_and_without_intercept
@pytest.mark.parametrize("solver", ["newton", "gd"])
def test_the_minimum_is_that_of_scipy_or_of_algebra(solver, loss, form, intercept):
    X, y = problem()
    model = nk.LinearClassifier(loss, solver, alpha=ALPHA, fit_intercept=intercept, tol=1e-11, max_iter=5000)
    model.fit(form(X), y)
    assert model.converged_
    np.testing.assert_allclose(vector(model), lowest(loss, X, y, intercept), rtol=0.0, atol=1e-8)


@many_losses
@forms
@with_and_without_intercept
def test_conjugate_gradients_find_it_too(loss, form, intercept, monkeypatch):
    monkeypatch.setattr(batch, "DENSE_LIMIT", 2)
    monkeypatch.setattr(batch, "_by_factoring", None)  # and nothing else does
    X, y = problem(1)
    model = nk.LinearClassifier(loss, "newton", alpha=ALPHA, fit_intercept=intercept, tol=1e-11).fit(form(X), y)
    assert model.converged_
    np.testing.assert_allclose(vector(model), lowest(loss, X, y, intercept), rtol=0.0, atol=1e-8)


@many_losses
@forms
@with_and_without_intercept
def test_stochastic_newton_comes_near(loss, form, intercept):
    """Its error falls like 1/t: after 1000 passes of 120 rows it is small, and after four times as many a quarter."""
    X, y = problem(2)
    model = nk.LinearClassifier(
        loss, "stochastic-newton", alpha=ALPHA, fit_intercept=intercept, tol=None, max_iter=300, random_state=0
    ).fit(form(X), y)
    given = folded(X, intercept), y
    more = ALPHA, reference.penalised(X.shape[1], intercept)
    least = reference.objective(loss, *given, lowest(loss, X, y, intercept), *more)
    assert least <= reference.objective(loss, *given, vector(model), *more) <= least * (1.0 + 1e-4)


@forms
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_many_rows_begin_with_a_tenth_of_them(loss, form):
    X, y = problem(12, n=10_000)
    given = {"alpha": ALPHA, "tol": 1e-11}
    begun = nk.LinearClassifier(loss, "newton", **given).fit(form(X), y)
    whole = nk.LinearClassifier(loss, "newton", learning_rate="line-search", **given).fit(form(X), y)
    for model in (begun, whole):
        np.testing.assert_allclose(vector(model), lowest(loss, X, y, intercept=True), rtol=0.0, atol=1e-8)
    assert begun.trace_.objective[1] <= 1.01 * begun.trace_.objective[-1]


def test_a_tenth_that_misleads_is_not_followed():
    """Each tenth row is of the other kind: F there is higher than at zero weights."""
    X = np.tile([[1.0, 0.5], [0.5, 1.0]], (4000, 1)) + np.random.default_rng(0).normal(size=(8000, 2))
    y = np.where(np.arange(8000) % 10 == 0, -1.0, 1.0) * np.where(X.sum(axis=1) > 1.5, 1.0, -1.0)
    model = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(vector(model), lowest("logistic", X, y, intercept=True), rtol=0.0, atol=1e-8)


def test_newton_solves_least_squares_in_one_step():
    X, y = problem(3)
    model = nk.LinearRegressor(tol=1e-12).fit(X, y)
    assert model.n_iter_ == 1
    expected = np.linalg.lstsq(folded(X, True), y, rcond=None)[0]
    np.testing.assert_allclose(vector(model), expected, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("limit", [2000, 1])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_twice_leave_the_minimum_open_but_not_its_value(form, limit, monkeypatch):
    """The Hessian has no inverse; F at the place found is as low as without the copies."""
    monkeypatch.setattr(batch, "DENSE_LIMIT", limit)
    X, y = problem(4)
    doubled = nk.LinearRegressor(tol=1e-10).fit(form(np.hstack([X, X, np.zeros((len(y), 1))])), y)
    assert doubled.converged_
    expected = np.linalg.lstsq(folded(X, True), y, rcond=None)[0]
    found = doubled.coef_[:4] + doubled.coef_[4:8]
    np.testing.assert_allclose(np.append(found, doubled.intercept_), expected, rtol=0.0, atol=1e-8)


def test_stochastic_newton_needs_no_inverse_either():
    X, y = problem(5)
    model = nk.LinearRegressor(solver="stochastic-newton", max_iter=200, tol=None, random_state=0)
    model.fit(np.hstack([X, X]), y)
    expected = np.linalg.lstsq(folded(X, True), y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[:4] + model.coef_[4:], expected[:4], atol=1e-2)


def test_stochastic_newton_says_what_to_use_for_many_columns(monkeypatch):
    monkeypatch.setattr(stochastic, "DENSE_LIMIT", 4)
    X, y = problem(6)
    with pytest.raises(DataError, match=r"5 x 5 numbers; for more than 3 columns use solver='newton'"):
        nk.LinearRegressor(solver="stochastic-newton").fit(X, y)


def test_the_hessian_is_the_derivative_of_the_gradient():
    X, y = problem(7)
    for form in (np.asarray, sp.csr_array):
        for intercept in (True, False):
            rows = nk.Rows.of(form(X))
            rows.require_numbers()
            objective = batch.Objective(rows, y, nk.losses.Logistic(), ALPHA, intercept)
            v = np.random.default_rng(0).normal(size=5) * [1, 1, 1, 1, intercept]
            bends = objective.bends(objective.at(v))
            matrix = objective.hessian(bends)
            for j in range(4 + intercept):
                e = np.eye(5)[j]
                ahead, behind = objective.at(v + 1e-5 * e).gradient, objective.at(v - 1e-5 * e).gradient
                np.testing.assert_allclose(matrix[j], (ahead - behind) / 2e-5, atol=1e-8)
                np.testing.assert_allclose(objective.curve(bends, e), matrix[j], atol=1e-12)


def test_gradient_descent_on_a_loss_with_kinks_answers_with_the_best_it_saw():
    X, y = problem(8)
    model = nk.LinearClassifier("hinge", "gd", alpha=ALPHA, max_iter=300, tol=None).fit(X, y)
    assert model.trace_.objective.min() == reference.objective(
        "hinge", folded(X, True), y, vector(model), ALPHA, reference.penalised(4, True)
    )


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared-hinge"])
def test_sgd_comes_near_the_minimum(loss):
    X, y = problem(9, n=400)
    model = nk.LinearClassifier(loss, alpha=ALPHA, tol=None, max_iter=100, random_state=0).fit(X, y)
    exact = nk.LinearClassifier(
        loss, "gd" if loss == "hinge" else "newton", alpha=ALPHA, tol=1e-9, max_iter=3000 if loss == "hinge" else 50
    )
    least = exact.set_params(tol=None if loss == "hinge" else 1e-9).fit(X, y).trace_.objective.min()
    assert model.trace_.objective[-1] <= 1.002 * least


def test_many_classes_are_one_problem_each():
    X, _ = problem(10)
    y = np.random.default_rng(0).integers(0, 3, len(X))
    model = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1e-11).fit(X, y)
    assert len(model.trace_) == 3
    for k in range(3):
        expected = lowest("logistic", X, np.where(y == k, 1.0, -1.0), intercept=True)
        np.testing.assert_allclose(np.append(model.coef_[k], model.intercept_[k]), expected, atol=1e-8)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert model.predict(X).tolist() == model.predict_proba(X).argmax(axis=1).tolist()


def test_saved_and_loaded_answers_alike(tmp_path):
    X, y = problem(11)
    for model in (nk.LinearClassifier("logistic", "newton"), nk.LinearRegressor(), nk.LinearRegressor(solver="gd")):
        model.fit(X, y).save(tmp_path / "model.nk")
        again = nk.load(tmp_path / "model.nk")
        assert type(again) is type(model)
        np.testing.assert_array_equal(vector(again), vector(model))
        np.testing.assert_array_equal(again.trace_.objective, model.trace_.objective)
        assert (again.n_iter_, again.converged_) == (model.n_iter_, model.converged_)
