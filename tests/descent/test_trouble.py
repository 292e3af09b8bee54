"""Bad data, parameters and losses are reported, and change nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from novikoff import losses
from novikoff.errors import DataError, DivergenceError, LossError

RNG = np.random.default_rng(0)
X = 3.0 * RNG.normal(size=(80, 4))
y = np.where(X[:, 0] + RNG.normal(size=80) > 0.0, 1, -1)
NUMBERS = X @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=80)

both_forms = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


@both_forms
@pytest.mark.parametrize(
    "given",
    [
        {"solver": "sgd", "learning_rate": "constant", "eta0": 10.0},
        {"solver": "sgd", "learning_rate": "invscaling", "eta0": 10.0},
        {"solver": "sgd", "learning_rate": "constant", "eta0": 10.0, "average": False},
        {"solver": "gd", "learning_rate": "constant", "eta0": 10.0},
        {"solver": "gd", "learning_rate": "invscaling", "eta0": 1e4},
        {"solver": "newton", "learning_rate": "constant", "eta0": 10.0},
    ],
    ids=lambda given: "-".join(map(str, given.values())),
)
def test_too_long_a_step_is_named_in_the_error(given, form):
    for loss in ("squared", losses.Squared()):
        with pytest.raises(DivergenceError, match=rf"eta0={given['eta0']:g} is too long a step"):
            nk.LinearRegressor(loss, **given, max_iter=2000).fit(form(X), NUMBERS)


def test_automatic_steps_do_not_diverge():
    for scale in (1e-8, 1.0, 1e8):
        for solver in ("sgd", "gd", "newton", "stochastic-newton"):
            with np.errstate(all="raise"):
                model = nk.LinearRegressor(solver=solver, max_iter=8, tol=None, random_state=0).fit(scale * X, NUMBERS)
            assert model.trace_.objective[-1] < model.trace_.objective[0]


def test_separable_rows_without_a_penalty():
    labels = X[:, 0] > 0
    for solver in ("newton", "stochastic-newton", "sgd", "gd"):
        model = nk.LinearClassifier("logistic", solver, alpha=0.0, max_iter=64, tol=None, random_state=0)
        assert np.isfinite(model.fit(X, labels).coef_).all()
        assert model.score(X, labels) > 0.95


def test_rejected_block_changes_nothing():
    model = nk.LinearRegressor(solver="sgd", learning_rate="constant", eta0=1e-3).partial_fit(X, NUMBERS)
    coef, intercept = model.coef_, model.intercept_
    for rows, targets in (
        (1e150 * X, NUMBERS),
        (X[:, :3], NUMBERS),
        (np.where(X > 5, np.nan, X), NUMBERS),
        (X, np.where(NUMBERS > 0, np.inf, 0.0)),
        (1e140 * X, 1e140 * NUMBERS),
    ):
        with pytest.raises((ValueError, DivergenceError)):
            model.partial_fit(rows, targets)
        np.testing.assert_array_equal(model.coef_, coef)
        np.testing.assert_array_equal(model.intercept_, intercept)
    twin = nk.LinearRegressor(solver="sgd", learning_rate="constant", eta0=1e-3).partial_fit(X, NUMBERS)
    np.testing.assert_array_equal(model.partial_fit(X, NUMBERS).coef_, twin.partial_fit(X, NUMBERS).coef_)


def test_rejected_fit_keeps_the_last_one():
    model = nk.LinearRegressor(solver="sgd", random_state=0, max_iter=4, tol=None).fit(X, NUMBERS)
    coef = model.coef_
    with pytest.raises(DivergenceError):
        model.set_params(learning_rate="constant", eta0=1e9).fit(X, NUMBERS)
    np.testing.assert_array_equal(model.coef_, coef)


@pytest.mark.parametrize("solver", ["newton", "stochastic-newton"])
@pytest.mark.parametrize("loss", ["hinge", "hinge-at-zero", losses.Custom(lambda s, y: s, lambda s, y: 1.0)])
def test_newton_needs_a_second_derivative(solver, loss):
    with pytest.raises(LossError, match=r"with a curvature, and (Custom has none: pass|Hinge\w* has none: use)"):
        nk.LinearClassifier(loss, solver).fit(X, y)


def test_hinge_at_zero_is_only_for_sgd():
    with pytest.raises(LossError, match="smallest where all weights are 0"):
        nk.LinearClassifier("hinge-at-zero", "gd").fit(X, y)


def test_optimal_steps_need_a_penalty():
    with pytest.raises(LossError, match="alpha is 0; use 'auto' or 'invscaling'"):
        nk.LinearClassifier(learning_rate="optimal", alpha=0.0).fit(X, y)


def test_sgd_has_no_line_search():
    with pytest.raises(LossError, match="learning_rate='line-search' is not supported by solver='sgd'"):
        nk.LinearClassifier(learning_rate="line-search").fit(X, y)


@both_forms
@pytest.mark.parametrize(("bad", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("solver", ["sgd", "gd", "newton", "dual", "stochastic-newton"])
def test_rows_with_nan_are_named(solver, bad, name, form):
    rows = X.copy()
    rows[7, 2] = bad
    models = [(nk.LinearClassifier("logistic", solver), y), (nk.LinearRegressor(solver=solver), NUMBERS)]
    for model, targets in models[:1] if solver == "dual" else models:
        with pytest.raises(DataError, match=rf"{name} in row 7, column 2"):
            model.fit(form(rows), targets)
        assert not hasattr(model, "coef_")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_targets_with_nan(bad):
    targets = NUMBERS.copy()
    targets[3] = bad
    for model in (nk.LinearRegressor(), nk.LinearRegressor(solver="sgd")):
        with pytest.raises(ValueError, match="Input y contains"):
            model.fit(X, targets)


def test_bad_labels():
    model = nk.LinearClassifier()
    with pytest.raises(DataError, match="greater than one; the data contains only one class: 1"):
        model.fit(X, np.ones(80, int))
    with pytest.raises(DataError, match="only one class: pass classes="):
        model.partial_fit(X, np.ones(80, int))
    model.partial_fit(X, y)
    with pytest.raises(DataError, match=r"2\)? in y is not one of the classes \[-1, 1\]"):
        model.partial_fit(X, y + 1)
    with pytest.raises(DataError, match="for numbers use LinearRegressor"):
        model.fit(X, NUMBERS)


def test_only_sgd_has_partial_fit():
    model = nk.LinearClassifier("logistic", "newton").fit(X, y)
    with pytest.raises(AttributeError):
        model.partial_fit(X, y)
    with pytest.raises(DataError, match=r"fitted by another\. Fit it anew"):
        model.set_params(solver="sgd").partial_fit(X, y)
    with pytest.raises(AttributeError, match="ledger_ counts the mistakes of solver='sgd'"):
        model.ledger_  # noqa: B018
    with pytest.raises(AttributeError, match="trace_ is of fit"):
        nk.LinearClassifier().partial_fit(X, y).trace_  # noqa: B018
    with pytest.raises(AttributeError, match="no coef_ before it has learned"):
        nk.LinearClassifier().coef_  # noqa: B018


def test_probabilities_are_those_of_logistic_regression():
    with pytest.raises(AttributeError):
        nk.LinearClassifier("hinge", alpha=0.1).fit(X, y).predict_proba  # noqa: B018
    model = nk.LinearClassifier("logistic", "newton").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-model.decision_function(X))))


@pytest.mark.parametrize("solver", ["sgd", "gd", "newton"])
def test_convergence_warning(solver):
    with pytest.warns(ConvergenceWarning, match=r"after 1 passes, all that max_iter allows, tol=1e-12"):
        model = nk.LinearClassifier("logistic", solver, max_iter=1, tol=1e-12).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize(
    ("solver", "given"),
    [
        ("sgd", {"learning_rate": "constant", "eta0": 1e100, "tol": None, "max_iter": 5}),
        ("gd", {"learning_rate": "constant", "eta0": 1e6, "tol": None, "max_iter": 20}),
    ],
)
def test_losses_with_kinks_diverge_too(solver, given):
    with pytest.raises(DivergenceError, match="is too long a step"):
        nk.LinearClassifier("hinge", solver, random_state=0, **given).fit(X, y)


def test_too_small_a_steepness_is_named():
    steep = losses.Custom(lambda s, y: 100.0 * (s - y) ** 2, lambda s, y: 200.0 * (s - y))
    with pytest.raises(DivergenceError, match=r"losses.Custom\(steepness=1\)"):
        nk.LinearRegressor(steep, "gd", max_iter=100).fit(X, NUMBERS)


@pytest.mark.parametrize("solver", ["gd", "newton"])
def test_wrong_derivative_is_detected(solver):
    wrong = losses.Custom(lambda s, y: (s - y) ** 2, lambda s, y: -2.0 * (s - y), lambda s, y: 2.0)
    with pytest.raises(
        DivergenceError, match=r"No step down the gradient lowers .* is the derivative of the loss function"
    ):
        nk.LinearRegressor(wrong, solver).fit(X, NUMBERS)


def test_tol_where_zero_weights_cost_nothing():
    model = nk.LinearClassifier("hinge-at-zero", tol=0.5, random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 1000


def test_warning_points_to_the_call_of_fit():
    for model, targets in (
        (nk.LinearClassifier(max_iter=1), y),
        (nk.LinearRegressor("squared", "gd", max_iter=1), NUMBERS),
    ):
        with pytest.warns(ConvergenceWarning) as said:
            model.fit(X, targets)
        assert said[0].filename == __file__


def test_no_margin_bound_unless_weights_are_a_sum_of_examples():
    separable = np.where(X[:, 0] > 0.0, 1, -1)
    hinge = {"loss": "hinge", "alpha": 0.0, "average": False}
    assert nk.LinearClassifier(**hinge).partial_fit(X, separable).ledger_.margin_at_most is not None
    for other in ({"loss": "squared"}, {"alpha": 0.1}):
        model = nk.LinearClassifier(**{**hinge, **other}).partial_fit(X, separable)
        assert model.ledger_.margin_at_most is None
        model.set_params(**hinge)
        assert model.ledger_.margin_at_most is None
        assert model.partial_fit(X[:1], separable[:1]).ledger_.margin_at_most is None


def test_no_mistake_bound_unless_the_run_was_a_perceptron():
    step = {"learning_rate": "constant", "alpha": 0.0, "average": False}
    model = nk.LinearClassifier("hinge-at-zero", eta0=2.0, **step).partial_fit(X, y)
    assert model.ledger_.with_margin(0.1).mistake_bound is not None
    assert model.set_params(eta0=1.0).ledger_.with_margin(0.1).mistake_bound is None
    assert model.partial_fit(X, y).ledger_.with_margin(0.1).mistake_bound is None
    model = nk.LinearClassifier("hinge", eta0=1.0, **step).partial_fit(X, y).set_params(loss="hinge-at-zero")
    assert model.ledger_.with_margin(0.1).mistake_bound is None


@pytest.mark.parametrize("changed", [{"fit_intercept": False}, {"average": False}])
def test_parameters_that_cannot_change_between_blocks(changed):
    model = nk.LinearClassifier(alpha=0.1).partial_fit(X, y).set_params(**changed)
    with pytest.raises(DataError, match="cannot change once learning has begun"):
        model.partial_fit(X, y)
    model.fit(X, y).partial_fit(X, y)


def test_custom_loss_with_a_perfect_fit_or_a_kink():
    own = losses.Custom(lambda s, y: (s - y) ** 2, lambda s, y: 2.0 * (s - y), lambda s, y: 2.0, steepness=2.0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(20, 3))
        for solver in ("gd", "newton"):
            model = nk.LinearRegressor(own, solver, alpha=0.0, tol=None, max_iter=200).fit(rows, rows @ [1.0, 2.0, 3.0])
            np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], atol=1e-3)


def test_best_point_of_a_descent_over_kinks_is_kept():
    """The last point may be far worse than zero weights."""
    rows, labels = load_breast_cancer(return_X_y=True)
    model = nk.LinearClassifier("hinge", "gd", learning_rate="constant", eta0=1e-4, max_iter=50, tol=None)
    model.fit(rows, labels)
    assert model.trace_.objective[-1] > 10.0 * model.trace_.objective[0]
    losses_now = np.maximum(0.0, 1.0 - (2 * labels - 1) * model.decision_function(rows))
    found = losses_now.mean() + 0.5 * model.alpha * (model.coef_**2).sum()
    assert found == pytest.approx(model.trace_.objective.min())
    assert found < 0.5


def test_no_margin_certificate_with_a_penalty():
    model = nk.LinearClassifier("hinge", alpha=0.0, average=False).partial_fit(X, y)
    assert model.set_params(alpha=0.1).ledger_.margin_at_most is None
