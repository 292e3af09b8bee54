"""solver="dual" against independent solvers, and duality gaps of all solvers against the true minimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from novikoff import losses
from novikoff.descent.duality import DualBound
from novikoff.descent.model import RegularizedLoss
from novikoff.errors import LossError
from tests.reference import descent as reference
from tests.reference.perceptron import folded

LOSSES = ("hinge", "squared-hinge", "logistic")
ALPHA = 0.02

many_losses = pytest.mark.parametrize("loss", LOSSES)
with_and_without_intercept = pytest.mark.parametrize("intercept", [True, False])
forms = pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)], ids=["dense", "sparse", "float32"]
)


def problem(seed=0, n=60, d=4, share=0.5):
    """Return rows of which half the entries are 0 and the others are exact in single precision."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-12, 13, (n, d)) / 8.0 * (rng.random((n, d)) < 0.5)
    scores = X @ rng.normal(size=d) + 0.5 + rng.normal(size=n)
    return X, np.where(scores > np.quantile(scores, share), 1.0, -1.0)


def least_value(loss, X, y, intercept, alpha=ALPHA, c=None):
    """Return the minimum of F by a general solver."""
    rows, penalty = folded(X, intercept), reference.penalised(X.shape[1], intercept)
    if loss == "hinge":
        return reference.hinge_minimum(rows, y, alpha, penalty, c)
    v = reference.minimum(loss, rows, y, alpha, penalty, c)
    return reference.objective(loss, rows, y, v, alpha, penalty, c)


def value(model, loss, X, y, c=None):
    v = np.append(np.ravel(model.coef_), model.intercept_ if model.fit_intercept else [])
    penalty = reference.penalised(X.shape[1], model.fit_intercept)
    return reference.objective(loss, folded(X, model.fit_intercept), y, v, model.alpha, penalty, c)


# -- the minimum


@many_losses
@forms
@with_and_without_intercept
def test_the_minimum_is_that_of_an_independent_solver(loss, form, intercept):
    for seed, share in ((0, 0.5), (1, 0.85)):
        X, y = problem(seed, share=share)
        model = nk.LinearClassifier(loss, "dual", alpha=ALPHA, fit_intercept=intercept, tol=3e-9, max_iter=20_000)
        model.set_params(random_state=0).fit(form(X), y)
        found, least = value(model, loss, X, y), least_value(loss, X, y, intercept)
        assert model.converged_
        assert found == pytest.approx(least, abs=1e-8)
        gap = model.trace_.gap[-1]
        assert model.trace_.objective[-1] == pytest.approx(found, abs=1e-12)
        assert found - least - 1e-10 <= gap <= 3e-9 * model.trace_.objective[0]


@many_losses
@with_and_without_intercept
def test_weights_of_rows(loss, intercept):
    X, y = problem(2)
    c = np.random.default_rng(2).integers(0, 5, len(y))
    model = nk.LinearClassifier(loss, "dual", alpha=ALPHA, fit_intercept=intercept, tol=3e-9, max_iter=20_000)
    weighted = model.set_params(random_state=0).fit(X, y, sample_weight=c)
    least = least_value(loss, X, y, intercept, c=c.astype(float))
    assert value(weighted, loss, X, y, c) == pytest.approx(least, abs=1e-8)
    repeated = nk.LinearClassifier(**model.get_params()).fit(X.repeat(c, axis=0), y.repeat(c))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0.0, atol=2e-3)
    balanced = nk.LinearClassifier(**{**model.get_params(), "class_weight": "balanced"}).fit(X, y)
    by_class = np.where(y > 0.0, len(y) / (2.0 * (y > 0.0).sum()), len(y) / (2.0 * (y < 0.0).sum()))
    assert value(balanced, loss, X, y, by_class) == pytest.approx(
        least_value(loss, X, y, intercept, c=by_class), abs=1e-8
    )


@many_losses
def test_rows_of_zeros_and_equal_rows(loss):
    X, y = problem(3)
    X[::5] = 0.0
    X[1::5] = X[1]
    for intercept in (True, False):
        model = nk.LinearClassifier(loss, "dual", alpha=ALPHA, fit_intercept=intercept, tol=3e-9, max_iter=20_000)
        assert value(model.fit(X, y), loss, X, y) == pytest.approx(least_value(loss, X, y, intercept), abs=1e-8)
    nothing = nk.LinearClassifier(loss, "dual", fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 1, 1])
    assert not nothing.coef_.any()
    assert nothing.converged_


@many_losses
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(loss, scale):
    X, y = problem(4)
    X = X.astype(float)
    given = {"tol": 1e-7, "max_iter": 20_000, "fit_intercept": False, "random_state": 0}
    plain = nk.LinearClassifier(loss, "dual", alpha=ALPHA, **given).fit(X, y)
    scaled = nk.LinearClassifier(loss, "dual", alpha=ALPHA * scale**2, **given).fit(scale * X, y)
    assert scaled.converged_
    assert scaled.trace_.objective[-1] == pytest.approx(plain.trace_.objective[-1], abs=1e-7)


def test_many_classes_are_minimized_one_by_one():
    X, _ = problem(5)
    y = np.random.default_rng(0).integers(0, 3, len(X))
    model = nk.LinearClassifier("hinge", "dual", alpha=ALPHA, tol=1e-8, max_iter=20_000, random_state=0).fit(X, y)
    assert len(model.trace_) == 3
    for k, trace in enumerate(model.trace_):
        assert trace.objective[-1] == pytest.approx(
            least_value("hinge", X, np.where(y == k, 1.0, -1.0), True), abs=1e-7
        )
        assert trace.gap[-1] <= 1e-8


def test_seeds_and_files(tmp_path):
    X, y = problem(6)
    model = nk.LinearClassifier("hinge", "dual", alpha=ALPHA, random_state=3).fit(X, y)
    again = nk.LinearClassifier("hinge", "dual", alpha=ALPHA, random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    model.save(tmp_path / "model.nk")
    found = nk.load(tmp_path / "model.nk")
    assert found.get_params() == model.get_params()
    np.testing.assert_array_equal(found.trace_.gap, model.trace_.gap)
    np.testing.assert_array_equal(found.coef_, model.coef_)
    assert found.converged_


def test_what_dual_ascent_cannot_solve():
    X, y = problem(7)
    with pytest.raises(LossError, match=r"needs a penalty, since .* and alpha is 0: use a small alpha"):
        nk.LinearClassifier("hinge", "dual", alpha=0.0).fit(X, y)
    for loss in ("squared", "hinge-at-zero", losses.Custom(lambda s, y: (s - y) ** 2, lambda s, y: 2.0 * (s - y))):
        with pytest.raises(LossError, match=r"is for the losses 'hinge', 'squared-hinge' and 'logistic'; \w+ has no"):
            nk.LinearClassifier(loss, "dual").fit(X, y)
    with pytest.raises(LossError, match="Squared has no dual problem here: use solver='newton'"):
        nk.LinearRegressor(solver="dual", alpha=1.0).fit(X, y)
    with pytest.raises(LossError, match="learning_rate='constant' is not supported by solver='dual'"):
        nk.LinearClassifier("hinge", "dual", learning_rate="constant").fit(X, y)
    with pytest.raises(AttributeError):
        nk.LinearClassifier("hinge", "dual").partial_fit(X, y)


def test_too_few_passes_are_reported_with_the_gap():
    X, y = problem(8)
    with pytest.warns(ConvergenceWarning, match=r"tol=1e-09 is not reached\. F is proved to be at most .* above"):
        model = nk.LinearClassifier("hinge", "dual", alpha=1e-3, tol=1e-9, max_iter=2).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 2
    assert nk.LinearClassifier("hinge", "dual", tol=None, max_iter=7).fit(X, y).trace_.passes.tolist() == [0, 7]


# -- gaps


@given(seed=st.integers(0, 1000), loss=st.sampled_from(LOSSES), intercept=st.booleans(), weighted=st.booleans())
def test_no_point_is_below_the_bound_of_any_dual_variables(seed, loss, intercept, weighted):
    """Weak duality, and the value of the bound against the formula of the reference."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 3)), np.where(np.arange(12) % 3, 1.0, -1.0)
    c = rng.exponential(size=12) if weighted else None
    rows = nk.Rows.of(X)
    objective = RegularizedLoss(losses.resolve(loss), ALPHA, intercept).for_rows(
        rows, y, None if c is None else c / c.mean()
    )
    a = rng.random(12) ** rng.integers(1, 5) * (3.0 if loss == "squared-hinge" else 1.0)
    if loss != "logistic":
        a *= rng.random(12) < 0.7
    bound = DualBound(objective)
    found = bound.include(y * a)
    for _ in range(10):
        v = rng.normal(size=4) * rng.exponential() * [1.0, 1.0, 1.0, intercept]
        assert found <= objective.at(v).value * (1.0 + 1e-12)
    if not intercept:
        assert found == pytest.approx(reference.dual_value(loss, X, y, a, ALPHA, c), rel=1e-9, abs=1e-12)
    assert bound.gap(found) == max(0.0, found - bound.value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@many_losses
@pytest.mark.parametrize("solver", ["sgd", "gd", "newton", "stochastic-newton", "dual"])
@with_and_without_intercept
def test_gaps_are_no_less_than_the_distance_from_the_minimum(solver, loss, intercept):
    if loss == "hinge" and "newton" in solver:
        return
    X, y = problem(9, n=40)
    model = nk.LinearClassifier(loss, solver, alpha=ALPHA, fit_intercept=intercept, max_iter=64, random_state=0)
    model.fit(X, y)
    least, trace = least_value(loss, X, y, intercept), model.trace_
    known = ~np.isnan(trace.gap)
    assert known[0]
    assert known[-1]
    lowest = np.minimum.accumulate(trace.objective) if (solver, loss) == ("gd", "hinge") else trace.objective
    assert (trace.gap[known] >= lowest[known] - least - 1e-9).all()
    assert model.converged_ == (trace.gap[-1] <= 1e-3 * trace.objective[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(seed=st.integers(0, 200), solver=st.sampled_from(["sgd", "gd", "newton", "dual"]))
def test_whoever_says_converged_is_near_the_minimum(seed, solver):
    """Columns of any scale, labels of any share: converged_ is believed only if an exact minimum agrees."""
    rng = np.random.default_rng(seed)
    X, y = problem(seed, n=30, d=3, share=rng.uniform(0.2, 0.8))
    X = X * 10.0 ** rng.integers(-3, 4, 3)
    loss = "logistic"
    model = nk.LinearClassifier(loss, solver, alpha=ALPHA, tol=1e-3, max_iter=200, random_state=0).fit(X, y)
    if model.converged_:
        exact = nk.LinearClassifier(loss, "newton", alpha=ALPHA, tol=1e-9, max_iter=500).fit(X, y)
        least = exact.trace_.objective[-1]
        assert value(model, loss, X, y) - least <= 1e-3 * np.log(2.0) + 1e-9


def test_gap_without_a_penalty_and_for_own_losses():
    X, y = problem(10)
    model = nk.LinearClassifier("hinge", alpha=0.0, max_iter=4, tol=1.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.trace_.gap, model.trace_.objective)  # no loss is negative
    own = losses.Custom(lambda s, y: (s - y) ** 2, lambda s, y: 2.0 * (s - y), lambda s, y: 2.0, steepness=2.0)
    assert np.isnan(nk.LinearRegressor(own, alpha=0.1).fit(X, y).trace_.gap).all()
    squared = nk.LinearRegressor(alpha=0.1, tol=1e-9).fit(X, y)
    assert squared.trace_.gap[-1] <= 1e-9 * squared.trace_.objective[0]
