"""Stochastic gradient descent, compared with the reference, the perceptron, and itself in other blocks."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.descent.objective import Objective
from novikoff.descent.options import DescentOptions
from novikoff.descent.stochastic import SgdState
from novikoff.errors import DataError
from tests.reference import descent as reference
from tests.reference.perceptron import folded
from tests.support import strategies

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LOSSES = nk.losses.NAMES
SCHEDULES = {
    "auto": lambda alpha, loss: ({}, reference.fitted(alpha, loss)),
    "constant": lambda alpha, loss: ({"eta0": 0.05}, reference.constant(0.05)),
    "constant, found": lambda alpha, loss: ({}, reference.longest(loss)),
    "invscaling": lambda alpha, loss: ({"eta0": 0.1}, reference.inverse_root(0.1)),
    "invscaling, found": lambda alpha, loss: ({}, reference.longest(loss, falls=True)),
    "optimal": lambda alpha, loss: ({}, reference.optimal(alpha, loss)),
}

many_losses = pytest.mark.parametrize("loss", LOSSES)
many_schedules = pytest.mark.parametrize("schedule", SCHEDULES)
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])
with_and_without_average = pytest.mark.parametrize("average", [True, False])


def noisy_problem(seed=0, n=60, d=4):
    """Return rows that no half-space separates, none of them of a length near 0, and their signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.3
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.0, 1.0, -1.0)


def weights_and_bias(model):
    return np.append(model.coef_[0], model.intercept_ if model.fit_intercept else [])


# -- against the reference


@many_losses
@many_schedules
@with_and_without_average
def test_steps_match_reference(loss, schedule, average):
    X, y = noisy_problem()
    X /= 4.0  # Bottou's first step does not depend on the rows, and is too long for longer ones
    alpha, passes = 1e-2, 3
    given, steps = SCHEDULES[schedule](alpha, loss)
    model = nk.LinearClassifier(
        loss,
        alpha=alpha,
        learning_rate=schedule.split(",")[0],
        **given,
        average=average,
        shuffle=False,
        max_iter=passes,
        tol=None,
    ).fit(X, y)
    found = reference.sgd(loss, folded(X, True), y, alpha, steps, [range(len(y))] * passes, intercept=True)
    expected = reference.rising_average(found) if average else found[-1]
    np.testing.assert_allclose(weights_and_bias(model), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("alpha", [0.0, 2.0, 50.0, 1e4])
@with_and_without_average
@with_and_without_intercept
def test_strong_penalties_lose_no_precision(loss, alpha, average, intercept):
    """Such penalties multiply the weights by almost 0 at each step, so that the scale is folded into them often."""
    X, y = noisy_problem(1)
    eta = 0.02
    model = nk.LinearClassifier(
        loss, alpha=alpha, learning_rate="constant", eta0=eta, average=average, fit_intercept=intercept
    )
    for _ in range(4):
        model.partial_fit(X, y)
    found = reference.sgd(loss, folded(X, intercept), y, alpha, reference.constant(eta), [range(len(y))] * 4, intercept)
    expected = reference.rising_average(found) if average else found[-1]
    np.testing.assert_allclose(weights_and_bias(model), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("form", strategies.FORMATS)
def test_steps_do_not_depend_on_the_format(form, average):
    X, codes = strategies.integers(0, 50, 6, 2)
    given = {
        "alpha": 0.125,
        "average": average,
        "learning_rate": "constant",
        "eta0": 2.0**-6,
        "max_iter": 3,
        "tol": None,
        "random_state": 0,
    }
    model = nk.LinearClassifier("squared-hinge", **given).fit(X, codes)
    other = nk.LinearClassifier("squared-hinge", **given).fit(strategies.FORMATS[form](X), codes)
    np.testing.assert_allclose(weights_and_bias(other), weights_and_bias(model), rtol=1e-9, atol=1e-12)
    assert strategies.account(other.ledger_)[:3] == strategies.account(model.ledger_)[:3]


def test_rows_of_zeros_change_no_weights():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [-1.0, 1.0]])
    for alpha in (0.0, 0.1):
        model = nk.LinearClassifier("logistic", alpha=alpha, fit_intercept=False, shuffle=False, max_iter=1, tol=None)
        model.fit(X[1:], [1, 0, 0])
        again = nk.LinearClassifier(**model.get_params()).fit(X, [1, 1, 0, 0])
        assert np.isfinite(again.coef_).all()
        nothing = nk.LinearClassifier("logistic", alpha=alpha, fit_intercept=False, max_iter=1, tol=None)
        assert not nothing.fit(np.zeros((3, 2)), [0, 1, 1]).coef_.any()


# -- the perceptron


def perceptron_by_sgd(**given):
    return nk.LinearClassifier(
        "hinge-at-zero",
        "sgd",
        alpha=0.0,
        learning_rate="constant",
        eta0=1.0,
        average=False,
        shuffle=False,
        tol=None,
        **given,
    )


def assert_equal_to_perceptron(model, perceptron):
    np.testing.assert_array_equal(model.coef_, perceptron.coef_)
    np.testing.assert_array_equal(model.intercept_, perceptron.intercept_)
    one, other = model.ledger_, perceptron.ledger_
    assert strategies.account(one)[:4] == strategies.account(other)[:4]
    assert one.step_sum == other.step_sum
    assert one.norm == pytest.approx(other.norm, rel=1e-12)  # the perceptron updates its norm along the way
    assert one.is_bounded
    assert one.rule == other.rule


@pytest.mark.parametrize("form", strategies.FORMATS)
@given(problem=strategies.streams(labels=(-1, 1)), passes=st.integers(1, 4), intercept=st.booleans())
def test_hinge_at_zero_with_steps_of_1_is_the_perceptron(form, problem, passes, intercept):
    X, y = problem
    X = strategies.FORMATS[form](np.vstack([X, X[:1]]))
    y = np.append(y, -y[0])  # so that each pass has a mistake; the perceptron stops after one without
    model = perceptron_by_sgd(fit_intercept=intercept, max_iter=passes).fit(X, y)
    perceptron = nk.Perceptron(fit_intercept=intercept, max_iter=passes).fit(X, y)
    assume(perceptron.n_iter_ == passes)  # it also stops where no pass can change the weights: mistakes on zeros only
    assert_equal_to_perceptron(model, perceptron)


@pytest.mark.parametrize("form", strategies.FORMATS)
def test_hinge_at_zero_is_the_perceptron_on_floats(form):
    X, y = noisy_problem(2, n=400, d=17)
    X = strategies.FORMATS[form](X)
    model = perceptron_by_sgd(max_iter=5).fit(X, y)
    assert_equal_to_perceptron(model, nk.Perceptron(max_iter=5).fit(X, y))
    assert_equal_to_perceptron(perceptron_by_sgd().partial_fit(X, y), nk.Perceptron().partial_fit(X, y))


# -- blocks, files, seeds


@many_schedules
@with_and_without_average
@given(cuts=st.lists(st.integers(1, 59), max_size=5, unique=True))
def test_weights_do_not_depend_on_the_blocks(schedule, average, cuts):
    X, y = noisy_problem(3)
    given, _ = SCHEDULES[schedule](1e-2, "logistic")
    given |= {"alpha": 1e-2, "learning_rate": schedule.split(",")[0], "average": average}
    whole = nk.LinearClassifier("logistic", **given).partial_fit(X, y)
    parts = nk.LinearClassifier("logistic", **given)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(y)], strict=True):
        parts.partial_fit(X[start:stop], y[start:stop], classes=[-1.0, 1.0])
    np.testing.assert_array_equal(weights_and_bias(parts), weights_and_bias(whole))
    assert strategies.account(parts.ledger_) == strategies.account(whole.ledger_)


@pytest.mark.parametrize("n_classes", [2, 3])
@with_and_without_average
def test_resumed_run_equals_an_uninterrupted_one(n_classes, average, tmp_path):
    X, codes = strategies.integers(4, 90, 5, n_classes)
    labels = np.array(["no", "perhaps", "yes"])[codes]
    model = nk.LinearClassifier("logistic", alpha=1e-3, average=average, max_iter=3, tol=None, random_state=0)
    model.fit(X[:40], labels[:40])
    model.save(tmp_path / "model.nk")
    again = nk.load(tmp_path / "model.nk")
    assert again.get_params() == model.get_params()
    for one in (model, again):
        one.partial_fit(X[40:], labels[40:])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_random_state_makes_runs_repeatable():
    X, y = noisy_problem(5)

    def weights(seed):
        return weights_and_bias(nk.LinearClassifier(max_iter=2, tol=None, random_state=seed).fit(X, y)).tolist()

    assert weights(0) == weights(0)
    assert weights(0) != weights(1)


def test_average_has_a_lower_objective_than_the_last_weights():
    X, y = noisy_problem(6, n=2000, d=10)
    values = {}
    for average in (True, False):
        model = nk.LinearClassifier("hinge", alpha=1e-2, average=average, max_iter=8, tol=None, random_state=0)
        values[average] = model.fit(X, y).trace_.objective[-1]
    assert values[True] < values[False]


def test_reports_come_after_1_2_4_8_passes_and_the_last():
    X, y = noisy_problem(7)
    model = nk.LinearClassifier("hinge", max_iter=10, tol=0.0, random_state=0).fit(X, y)
    assert model.trace_.passes.tolist() == [0, 1, 2, 4, 8, 10]
    assert not model.converged_
    without_tol = nk.LinearClassifier("hinge", max_iter=10, tol=None, random_state=0).fit(X, y)
    assert without_tol.trace_.passes.tolist() == [0, 10]
    np.testing.assert_array_equal(weights_and_bias(without_tol), weights_and_bias(model))


def test_reported_objective_is_that_of_the_fitted_weights():
    X, y = noisy_problem(8)
    model = nk.LinearClassifier("logistic", alpha=0.1, max_iter=5, tol=None, random_state=0).fit(X, y)
    given = "logistic", folded(X, True), y, weights_and_bias(model), 0.1, reference.penalised(4, True)
    assert model.trace_.objective[-1] == pytest.approx(reference.objective(*given), rel=1e-12)
    assert model.trace_.gradient_norm[-1] == pytest.approx(np.linalg.norm(reference.gradient(*given)), rel=1e-9)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 3], [-1, 1, 2], [[0, 1, 2]], [0.0, 1.0, 2.0]])
def test_an_order_that_does_not_fit_the_rows_is_refused(order):
    """Compiled loops would read past its end, or rows where there are none."""
    rows = nk.Rows.of(np.arange(6.0).reshape(3, 2))
    objective = Objective(rows, np.array([1.0, -1.0, 1.0]), nk.losses.resolve("hinge"), 0.0, fit_intercept=False)
    state = SgdState.start(2, average=False)
    with pytest.raises(DataError, match="order must hold 3 indices of rows, from 0 to 2"):
        state.learn(objective, DescentOptions(), np.array(order))
    assert not state.w.any()
