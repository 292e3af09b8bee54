"""Custom losses are compiled into the loops of the built-in ones, and give the results of the reference."""

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff import losses
from novikoff.errors import LossError, ModelFileError
from tests.reference import descent as reference
from tests.reference.perceptron import folded


def value(s, y):
    return 0.5 * (s - y) ** 2 if abs(s - y) <= 1.0 else abs(s - y) - 0.5


def slope(s, y):
    return min(1.0, max(-1.0, s - y))


def curvature(s, y):
    return 1.0 if abs(s - y) <= 1.0 else 0.0


HUBER = losses.Custom(value, slope, curvature)


def problem(n=100):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.3 + rng.standard_t(2, n)


def vector(model):
    return np.append(model.coef_, model.intercept_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["newton", "gd"])
def test_minimum_of_hubers_loss_equals_that_of_scipy(solver, form):
    X, y = problem()
    alpha, penalty = 0.01, reference.penalised(3, True)
    model = nk.LinearRegressor(HUBER, solver, alpha=alpha, tol=1e-11).fit(form(X), y)
    assert model.converged_
    expected = reference.minimum("huber", folded(X, True), y, alpha, penalty)
    np.testing.assert_allclose(vector(model), expected, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("average", [True, False])
def test_steps_on_hubers_loss_equal_the_reference(average):
    X, y = problem()
    alpha = 0.01
    model = nk.LinearRegressor(HUBER, "sgd", alpha=alpha, average=average, shuffle=False, max_iter=3, tol=None)
    found = reference.sgd("huber", folded(X, True), y, alpha, reference.fitted(alpha, "huber"), [range(100)] * 3, True)
    expected = reference.rising_average(found) if average else found[-1]
    np.testing.assert_allclose(vector(model.fit(X, y)), expected, rtol=1e-9)


def test_stochastic_newton_with_a_custom_loss():
    X, y = problem()
    model = nk.LinearRegressor(HUBER, "stochastic-newton", alpha=0.01, max_iter=200, tol=None, random_state=0)
    expected = reference.minimum("huber", folded(X, True), y, 0.01, reference.penalised(3, True))
    np.testing.assert_allclose(vector(model.fit(X, y)), expected, atol=0.02)


@pytest.mark.parametrize("name", ["hinge", "logistic"])
def test_custom_copy_of_a_loss_learns_the_same(name):
    """Results are equal to the last bit, since the loop is the same."""
    written = {
        "hinge": losses.Custom(lambda s, y: max(0.0, 1.0 - y * s), lambda s, y: -y if y * s < 1.0 else 0.0),
        "logistic": losses.Custom(
            lambda s, y: max(0.0, -y * s) + np.log1p(np.exp(-abs(y * s))),
            lambda s, y: -y * (np.exp(-abs(y * s)) if y * s > 0.0 else 1.0) / (1.0 + np.exp(-abs(y * s))),
            steepness=0.25,
        ),
    }[name]
    X, y = problem()
    given = {"max_iter": 4, "tol": None, "random_state": 0}
    one, other = (nk.LinearClassifier(loss, **given).fit(X, y > 0) for loss in (name, written))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.trace_.objective.tolist() == other.trace_.objective.tolist()


def test_load_asks_for_a_custom_loss(tmp_path):
    X, y = problem()
    path = tmp_path / "huber.nk"
    model = nk.LinearRegressor(HUBER, "sgd", random_state=0, max_iter=2, tol=None).fit(X, y)
    model.save(path)
    with pytest.raises(ModelFileError, match=r"pass it, nk\.load"):
        nk.load(path)
    again = nk.load(path, loss=HUBER)
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    nk.LinearRegressor().fit(X, y).save(path)
    with pytest.raises(ModelFileError, match="knows its loss"):
        nk.load(path, loss=HUBER)


def test_message_for_a_loss_that_cannot_be_compiled():
    X, y = problem()
    for own, message in (
        (losses.Custom(lambda s, y: np.linalg.qr(s), lambda s, y: 0.0), "cannot be compiled"),
        (losses.Custom(lambda s, y: "x", lambda s, y: 0.0), "must return a number, found 'x'"),
        (losses.Custom(lambda s: s, lambda s, y: 0.0), "cannot be compiled"),
    ):
        with pytest.raises(LossError, match=message):
            nk.LinearRegressor(own, "sgd").fit(X, y)
