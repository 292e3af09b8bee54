"""DescentDisplay: lines are compared with the traces they stand for."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

import novikoff as nk
from novikoff.errors import DataError

figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture
def axes():
    return figure.Figure().subplots(1, 2)


@pytest.fixture(scope="module")
def models():
    X, y = make_classification(200, 6, random_state=0)
    settings = {"alpha": 1e-2, "random_state": 0}
    return {
        "newton": nk.LinearClassifier("logistic", "newton", tol=1e-10, **settings).fit(X, y),
        "sgd": nk.LinearClassifier("logistic", "sgd", tol=None, max_iter=20, **settings).fit(X, y),
    }


def test_lines_are_the_traces(models, axes):
    display = nk.DescentDisplay.from_estimators(models, ax=axes)
    lowest = min(model.trace_.objective.min() for model in models.values())
    assert set(display.optimum.values()) == {lowest}
    for name, model in models.items():
        for line, column in zip(display.lines_[name], ("passes", "seconds"), strict=True):
            x, above = getattr(model.trace_, column), model.trace_.objective - lowest
            is_positive = (x > 0) & (above > 0)
            np.testing.assert_array_equal(line.get_xdata(), x[is_positive])
            np.testing.assert_array_equal(line.get_ydata(), above[is_positive])
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["newton", "sgd"]
    assert {ax.get_xscale() for ax in axes} == {ax.get_yscale() for ax in axes} == {"log"}


def test_gaps_are_those_of_the_traces(axes):
    X, y = make_classification(200, 6, random_state=0)
    model = nk.LinearClassifier("logistic", "sgd", alpha=1e-2, max_iter=4, tol=0.1, random_state=0).fit(X, y)
    display = nk.DescentDisplay({"sgd": model.trace_}).plot(axes)
    trace = model.trace_
    for line, column in zip(display.gaps_["sgd"], ("passes", "seconds"), strict=True):
        known = (getattr(trace, column) > 0) & (trace.gap > 0)
        assert known.any()
        np.testing.assert_array_equal(line.get_ydata(), trace.gap[known])
        np.testing.assert_array_equal(line.get_xdata(), getattr(trace, column)[known])


def test_a_given_optimum_is_used(models, axes):
    display = nk.DescentDisplay.from_estimators(models, optimum=0.0, ax=axes)
    assert min(display.lines_["newton"][0].get_ydata()) == models["newton"].trace_.objective.min()


def test_one_model_and_many_classes(models):
    one = nk.DescentDisplay.from_estimator(models["sgd"], ax=figure.Figure().subplots(1, 2))
    assert list(one.lines_) == ["sgd"]
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    many = nk.LinearClassifier("squared-hinge", "newton").fit(X, y)
    display = nk.DescentDisplay.from_estimator(many, ax=figure.Figure().subplots(1, 2))
    assert list(display.lines_) == ["0", "1", "2"]
    for trace, (line, _) in zip(many.trace_, display.lines_.values(), strict=True):  # each above its own minimum
        above = trace.objective - trace.objective.min()
        np.testing.assert_array_equal(line.get_ydata(), above[(trace.passes > 0) & (above > 0)])


def test_one_step_to_the_minimum_leaves_nothing_to_draw(axes):
    """A logarithmic axis without data would be an error."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    display = nk.DescentDisplay.from_estimators({"newton": nk.LinearRegressor().fit(X, y)}, ax=axes)
    display.figure_.draw_without_rendering()
    assert "one step" in axes[0].texts[0].get_text()


def test_many_classes_side_by_side():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    many = {
        "exact": nk.LinearClassifier("squared-hinge", "newton", tol=1e-9).fit(X, y),
        "rough": nk.LinearClassifier("squared-hinge", "gd").fit(X, y),
    }
    display = nk.DescentDisplay.from_estimators(many, ax=figure.Figure().subplots(1, 2))
    assert list(display.lines_) == [f"{name}: {label}" for name in many for label in range(3)]
    for label in range(3):
        lowest = min(model.trace_[label].objective.min() for model in many.values())
        assert {display.optimum[f"{name}: {label}"] for name in many} == {lowest}


def test_bad_input(models):
    with pytest.raises(DataError, match="from traces"):
        nk.DescentDisplay.from_estimators({"no trace": nk.Perceptron()})
    with pytest.raises(DataError, match="two panels"):
        nk.DescentDisplay.from_estimators(models, ax=[figure.Figure().subplots()])
    with pytest.raises(DataError, match="from traces"):
        nk.DescentDisplay({})
