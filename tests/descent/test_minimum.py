"""All solvers find the minimum that scipy, or a linear system, gives."""

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
    """Return rows of which half the entries are 0 and the others are exact in single precision."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-12, 13, (n, d)) / 8.0 * (rng.random((n, d)) < 0.5)
    return X, np.where(X @ rng.normal(size=d) + 0.5 + rng.normal(size=n) > 0.0, 1.0, -1.0)


def vector(model):
    return np.append(np.ravel(model.coef_), model.intercept_ if model.fit_intercept else [])


def reference_minimum(loss, X, y, intercept):
    given = folded(X, intercept), y, ALPHA, reference.penalised(X.shape[1], intercept)
    return reference.ridge(*given) if loss == "squared" else reference.minimum(loss, *given)


@many_losses
@forms
@with_and_without_intercept
@pytest.mark.parametrize("solver", ["newton", "gd"])
def test_minimum_equals_the_reference(solver, loss, form, intercept):
    X, y = problem()
    model = nk.LinearClassifier(loss, solver, alpha=ALPHA, fit_intercept=intercept, tol=1e-11, max_iter=5000)
    model.fit(form(X), y)
    assert model.converged_
    np.testing.assert_allclose(vector(model), reference_minimum(loss, X, y, intercept), rtol=0.0, atol=1e-8)


@many_losses
@forms
@with_and_without_intercept
def test_minimum_by_conjugate_gradients(loss, form, intercept, monkeypatch):
    monkeypatch.setattr(batch, "DENSE_LIMIT", 2)
    monkeypatch.setattr(batch, "_newton_direction", None)  # any call of it fails
    X, y = problem(1)
    model = nk.LinearClassifier(loss, "newton", alpha=ALPHA, fit_intercept=intercept, tol=1e-11).fit(form(X), y)
    assert model.converged_
    np.testing.assert_allclose(vector(model), reference_minimum(loss, X, y, intercept), rtol=0.0, atol=1e-8)


@many_losses
@forms
@with_and_without_intercept
def test_stochastic_newton_converges(loss, form, intercept):
    """The error falls like 1/t: it is small after 1000 passes of 120 rows, and a quarter after four times as many."""
    X, y = problem(2)
    model = nk.LinearClassifier(
        loss, "stochastic-newton", alpha=ALPHA, fit_intercept=intercept, tol=None, max_iter=300, random_state=0
    ).fit(form(X), y)
    given = folded(X, intercept), y
    more = ALPHA, reference.penalised(X.shape[1], intercept)
    least = reference.objective(loss, *given, reference_minimum(loss, X, y, intercept), *more)
    assert least <= reference.objective(loss, *given, vector(model), *more) <= least * (1.0 + 1e-4)


@forms
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_newton_starts_from_a_sample_of_many_rows(loss, form):
    X, y = problem(12, n=10_000)
    given = {"alpha": ALPHA, "tol": 1e-11}
    begun = nk.LinearClassifier(loss, "newton", **given).fit(form(X), y)
    whole = nk.LinearClassifier(loss, "newton", learning_rate="line-search", **given).fit(form(X), y)
    for model in (begun, whole):
        np.testing.assert_allclose(vector(model), reference_minimum(loss, X, y, intercept=True), rtol=0.0, atol=1e-8)
    assert begun.trace_.objective[1] <= 1.01 * begun.trace_.objective[-1]


def test_misleading_sample_is_not_used():
    """Every tenth row has the opposite label: at the minimum of the sample F is higher than at zero weights."""
    X = np.tile([[1.0, 0.5], [0.5, 1.0]], (4000, 1)) + np.random.default_rng(0).normal(size=(8000, 2))
    y = np.where(np.arange(8000) % 10 == 0, -1.0, 1.0) * np.where(X.sum(axis=1) > 1.5, 1.0, -1.0)
    model = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(vector(model), reference_minimum("logistic", X, y, intercept=True), rtol=0.0, atol=1e-8)


def test_newton_solves_least_squares_in_one_step():
    X, y = problem(3)
    model = nk.LinearRegressor(tol=1e-12).fit(X, y)
    assert model.n_iter_ == 1
    expected = np.linalg.lstsq(folded(X, True), y, rcond=None)[0]
    np.testing.assert_allclose(vector(model), expected, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("limit", [2000, 1])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_duplicate_columns_have_the_same_minimum_value(form, limit, monkeypatch):
    """The Hessian is singular; F at the minimum is as low as without the duplicates."""
    monkeypatch.setattr(batch, "DENSE_LIMIT", limit)
    X, y = problem(4)
    doubled = nk.LinearRegressor(tol=1e-10).fit(form(np.hstack([X, X, np.zeros((len(y), 1))])), y)
    assert doubled.converged_
    expected = np.linalg.lstsq(folded(X, True), y, rcond=None)[0]
    found = doubled.coef_[:4] + doubled.coef_[4:8]
    np.testing.assert_allclose(np.append(found, doubled.intercept_), expected, rtol=0.0, atol=1e-8)


def test_stochastic_newton_with_a_singular_hessian():
    X, y = problem(5)
    model = nk.LinearRegressor(solver="stochastic-newton", max_iter=200, tol=None, random_state=0)
    model.fit(np.hstack([X, X]), y)
    expected = np.linalg.lstsq(folded(X, True), y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[:4] + model.coef_[4:], expected[:4], atol=1e-2)


def test_stochastic_newton_rejects_many_columns(monkeypatch):
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
            curvatures = objective.curvatures(objective.at(v))
            matrix = objective.hessian(curvatures)
            for j in range(4 + intercept):
                e = np.eye(5)[j]
                ahead, behind = objective.at(v + 1e-5 * e).gradient, objective.at(v - 1e-5 * e).gradient
                np.testing.assert_allclose(matrix[j], (ahead - behind) / 2e-5, atol=1e-8)
                np.testing.assert_allclose(objective.hessian_product(curvatures, e), matrix[j], atol=1e-12)


def test_gradient_descent_on_a_loss_with_kinks_returns_its_best_point():
    X, y = problem(8)
    model = nk.LinearClassifier("hinge", "gd", alpha=ALPHA, max_iter=300, tol=None).fit(X, y)
    assert model.trace_.objective.min() == reference.objective(
        "hinge", folded(X, True), y, vector(model), ALPHA, reference.penalised(4, True)
    )


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared-hinge"])
def test_sgd_converges(loss):
    X, y = problem(9, n=400)
    model = nk.LinearClassifier(loss, alpha=ALPHA, tol=None, max_iter=100, random_state=0).fit(X, y)
    exact = nk.LinearClassifier(
        loss, "gd" if loss == "hinge" else "newton", alpha=ALPHA, tol=1e-9, max_iter=3000 if loss == "hinge" else 50
    )
    least = exact.set_params(tol=None if loss == "hinge" else 1e-9).fit(X, y).trace_.objective.min()
    assert model.trace_.objective[-1] <= 1.002 * least


def test_many_classes_are_minimized_one_by_one():
    X, _ = problem(10)
    y = np.random.default_rng(0).integers(0, 3, len(X))
    model = nk.LinearClassifier("logistic", "newton", alpha=ALPHA, tol=1e-11).fit(X, y)
    assert len(model.trace_) == 3
    for k in range(3):
        expected = reference_minimum("logistic", X, np.where(y == k, 1.0, -1.0), intercept=True)
        np.testing.assert_allclose(np.append(model.coef_[k], model.intercept_[k]), expected, atol=1e-8)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert model.predict(X).tolist() == model.predict_proba(X).argmax(axis=1).tolist()


def test_saved_model_predicts_the_same(tmp_path):
    X, y = problem(11)
    for model in (nk.LinearClassifier("logistic", "newton"), nk.LinearRegressor(), nk.LinearRegressor(solver="gd")):
        model.fit(X, y).save(tmp_path / "model.nk")
        again = nk.load(tmp_path / "model.nk")
        assert type(again) is type(model)
        np.testing.assert_array_equal(vector(again), vector(model))
        np.testing.assert_array_equal(again.trace_.objective, model.trace_.objective)
        assert (again.n_iter_, again.converged_) == (model.n_iter_, model.converged_)
