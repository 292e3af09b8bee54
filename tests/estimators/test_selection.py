"""nk.select: which rows each step of the protocol uses, recorded by a stub estimator."""

import sys
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import novikoff as nk
from novikoff import losses
from novikoff.errors import DataError
from novikoff.selection.choosing import Trial, ranking, size_of


class Spy(ClassifierMixin, BaseEstimator):
    """A stub that makes a given number of errors, and records the rows that it is passed; a row holds its index."""

    calls: ClassVar[list[tuple[str, list[int]]]] = []

    def __init__(self, wrong=0, weights=1, fails=False):
        self.wrong = wrong
        self.weights = weights
        self.fails = fails

    def fit(self, X, y):
        Spy.calls.append(("fit", X[:, 0].astype(int).tolist()))
        if self.fails:
            raise ValueError("told to fail")
        self.weights_ = np.zeros(self.weights)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        Spy.calls.append(("predict", X[:, 0].astype(int).tolist()))
        answers = X[:, 1].astype(int)
        answers[: self.wrong] = 1 - answers[: self.wrong]
        return answers


@pytest.fixture
def calls():
    Spy.calls.clear()
    return Spy.calls


def rows_with_labels(start, n):
    """Return rows (index, label)."""
    y = np.arange(n) % 2
    return np.column_stack([np.arange(start, start + n), y]).astype(float), y


def noisy_labels(seed=0, n=200):
    """Return two informative features and labels of which a fifth are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + X[:, 1] > 0.0
    return X, np.where(rng.random(n) < 0.2, ~y, y).astype(int)


# -- the protocol


def test_training_error_does_not_decide():
    """One nearest neighbour fits all training rows, wrong labels included; fifteen generalize better."""
    X, y = noisy_labels()
    found = nk.select(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, X, y, validation=0.3)
    one, fifteen = found.trials
    assert one.train_error == 0.0 < fifteen.train_error
    assert fifteen.error < one.error
    assert found.best_params_ == {"n_neighbors": 15}
    assert found.best_error_ == fifteen.error


def test_candidates_see_training_rows_and_the_winner_all_rows(calls):
    X, y = rows_with_labels(0, 40)
    found = nk.select(Spy(), {"wrong": [3, 0, 2]}, X, y, validation=0.25)
    fits = [rows for verb, rows in calls if verb == "fit"]
    assert [len(rows) for rows in fits] == [30, 30, 30, 40]
    assert fits[0] == fits[1] == fits[2]
    assert fits[3] == list(range(40))
    tried = [rows for verb, rows in calls if verb == "predict" and len(rows) == 10]
    assert all(sorted(fits[0] + rows) == list(range(40)) for rows in tried)
    assert found.best_params_ == {"wrong": 0}
    assert [trial.error for trial in found.trials] == [0.3, 0.0, 0.2]


@pytest.mark.parametrize("protocol", [{"validation": 0.25}, {"cv": 4}])
def test_test_rows_are_used_once_and_last(protocol, calls):
    X, y = rows_with_labels(0, 40)
    X_test, y_test = rows_with_labels(1000, 20)
    found = nk.select(Spy(), {"wrong": [3, 2]}, X, y, test=(X_test, y_test), **protocol)
    touched = [place for place, (_, rows) in enumerate(calls) if max(rows) >= 1000]
    assert touched == [len(calls) - 1]
    assert calls[-2] == ("fit", list(range(40)))
    assert calls[-1] == ("predict", list(range(1000, 1020)))
    assert found.test_error_ == 0.1
    assert found.best_params_ == {"wrong": 2}


def test_without_test_rows_there_is_no_test_error():
    found = nk.select(Spy(), {"wrong": [0]}, *rows_with_labels(0, 40))
    assert found.test_error_ is None
    assert "test" not in str(found)


# -- the same as others


@pytest.mark.parametrize("cv", [3, StratifiedKFold(4, shuffle=True, random_state=1)])
def test_grid_search_finds_the_same(cv):
    X, y = load_iris(return_X_y=True)
    grid = {"loss": ["logistic", "squared-hinge"], "alpha": [1e-4, 1e-2, 1.0, 100.0]}
    model = nk.LinearClassifier(solver="newton")
    found = nk.select(model, grid, X, y, cv=cv)
    search = GridSearchCV(model, grid, cv=cv, return_train_score=True).fit(X, y)
    table = search.cv_results_
    assert [trial.parameters for trial in found.trials] == table["params"]
    assert [trial.error for trial in found.trials] == pytest.approx(1.0 - table["mean_test_score"])
    assert [trial.train_error for trial in found.trials] == pytest.approx(1.0 - table["mean_train_score"])
    splits = search.n_splits_
    spreads = table["std_test_score"] * np.sqrt(splits / (splits - 1)) / np.sqrt(splits)
    assert [trial.spread for trial in found.trials] == pytest.approx(spreads)
    assert found.best_params_ == search.best_params_
    np.testing.assert_array_equal(found.best_estimator_.coef_, search.best_estimator_.coef_)


def test_custom_splits():
    X, y = noisy_labels()
    splits = [(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))]
    grid = {"n_neighbors": [1, 5, 25]}
    found = nk.select(KNeighborsClassifier(), grid, X, y, cv=splits)
    assert found.best_params_ == GridSearchCV(KNeighborsClassifier(), grid, cv=splits).fit(X, y).best_params_


def test_regressors_are_chosen_by_squared_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=60)
    grid = {"alpha": [1e-3, 1.0, 1e3]}
    found = nk.select(Ridge(), grid, X, y, cv=5, test=(X, y))
    search = GridSearchCV(Ridge(), grid, cv=5, scoring="neg_mean_squared_error").fit(X, y)
    assert found.best_params_ == search.best_params_
    assert found.best_error_ == pytest.approx(-search.best_score_)
    assert found.test_error_ == pytest.approx(np.mean((search.predict(X) - y) ** 2))


def test_custom_error():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    worst = nk.select(Ridge(), {"alpha": [1e-3, 1e3]}, X, y, error=lambda true, found: -np.mean((true - found) ** 2))
    best = nk.select(Ridge(), {"alpha": [1e-3, 1e3]}, X, y)
    assert worst.best_params_ != best.best_params_


def test_pipelines():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), nk.LinearClassifier("logistic", max_iter=16, tol=None))
    grid = [
        {"linearclassifier__alpha": [1e-4, 1e2]},
        {"standardscaler": ["passthrough"], "linearclassifier__alpha": [1e3]},
    ]
    found = nk.select(pipe, grid, X, y, cv=3)
    assert len(found.trials) == 3
    assert found.best_params_ == {"linearclassifier__alpha": 1e-4}
    assert pipe.get_params()["linearclassifier__alpha"] == 1e-4  # as it was
    assert not hasattr(pipe[-1], "coef_")


# -- ties, determinism, trouble


def test_ties_go_to_the_smaller_model_then_to_the_first():
    X, y = rows_with_labels(0, 40)
    grid = [
        {"wrong": [1], "weights": [1]},
        {"wrong": [0], "weights": [500]},
        {"wrong": [0], "weights": [20]},
        {"wrong": [0], "weights": [20], "fails": [False]},
    ]
    found = nk.select(Spy(), grid, X, y)
    assert found.best_index_ == 2
    assert ranking(found.trials) == [2, 3, 1, 0]
    assert ranking([Trial({}, 0.5, size=9), Trial({}, trouble="bad"), Trial({}, 0.5, size=9)]) == [0, 2, 1]


def test_size_counts_arrays_only():
    model = nk.LinearRegressor(losses.Custom(lambda s, y: (s - y) ** 2, lambda s, y: 2.0 * (s - y)), "gd")
    model.fit(np.eye(3), [1.0, 2.0, 3.0])
    assert size_of(model) == 4 * 8
    assert size_of({"a": np.zeros(5), "f": lambda: None}) == 40


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_results_do_not_depend_on_n_jobs(n_jobs):
    X, y = noisy_labels(1)
    grid = {"loss": ["hinge", "logistic"], "alpha": [1e-3, 1e-1], "average": [True, False]}
    model = nk.LinearClassifier(max_iter=4, tol=None)

    def outcome(n_jobs):
        found = nk.select(model, grid, X, y, cv=3, n_jobs=n_jobs, test=(X, y))
        errors = [(trial.error, trial.train_error, trial.size) for trial in found.trials]
        return errors, found.best_params_, found.test_error_, found.best_estimator_.coef_.tolist()

    assert outcome(n_jobs) == outcome(None)


def test_seed_of_the_split_and_of_unseeded_estimators():
    X, y = noisy_labels(2)
    grid = {"max_features": [1], "splitter": ["random"]}

    def error(**given):
        return nk.select(DecisionTreeClassifier(), grid, X, y, **given).best_error_

    assert error() == error()
    assert len({error(random_state=seed) for seed in range(6)}) > 1
    fixed = nk.select(DecisionTreeClassifier(random_state=5), grid, X, y)
    assert fixed.best_estimator_.random_state == 5


def test_failing_candidate_is_reported_and_not_chosen():
    found = nk.select(Spy(), {"fails": [True, False]}, *rows_with_labels(0, 40))
    assert found.best_params_ == {"fails": False}
    assert found.trials[0].trouble == "told to fail"
    assert np.isnan(found.trials[0].error)
    assert found.results_["trouble"].tolist() == ["", "told to fail"]


def test_diverging_descent_is_a_failing_candidate():
    X, y = rows_with_labels(0, 40)
    model = nk.LinearRegressor(solver="sgd", learning_rate="constant", max_iter=20, tol=None)
    found = nk.select(model, {"eta0": [1e-4, 1e6]}, X, y.astype(float))
    assert found.best_params_ == {"eta0": 1e-4}
    assert "eta0=1e+06 is too long a step" in found.trials[1].trouble


def test_if_all_candidates_fail_the_first_error_is_raised():
    with pytest.raises(DataError, match=r"No candidate could be tried\. The first, fails=True, wrong=1: told to fail"):
        nk.select(Spy(), {"wrong": [1, 2], "fails": [True]}, *rows_with_labels(0, 40))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"validation": 0.2, "cv": 3}, "give one of them"),
        ({"validation": 1.5}, "above 0 and below 1; found 1.5"),
        ({"test": np.zeros((3, 2))}, r"must be a pair, \(X, y\)"),
    ],
)
def test_contradictory_arguments(given, message, calls):
    with pytest.raises(DataError, match=message):
        nk.select(Spy(), {"wrong": [0]}, *rows_with_labels(0, 40), **given)
    assert not calls


def test_an_empty_grid():
    with pytest.raises(DataError, match="nothing to choose from"):
        nk.select(Spy(), [], *rows_with_labels(0, 40))


def test_class_with_one_row():
    X, y = rows_with_labels(0, 40)
    y[7] = 5
    assert len(nk.select(Spy(), {"wrong": [0]}, X, y).trials) == 1


# -- the table


def test_results_are_sorted_by_error():
    found = nk.select(Spy(), {"wrong": [3, 0, 2]}, *rows_with_labels(0, 50), test=rows_with_labels(0, 50))
    table = found.results_
    assert isinstance(table, pd.DataFrame)
    assert table["wrong"].tolist() == [0, 2, 3]
    assert table["error"].tolist() == [0.0, 0.2, 0.3]
    assert table["spread"].tolist() == pytest.approx([0.0, np.sqrt(0.2 * 0.8 / 10), np.sqrt(0.3 * 0.7 / 10)])
    assert table.index.tolist() == [1, 2, 3]
    assert " ".join(str(found).split()) == "Selection candidates 3 best wrong=0 validation 0 ± 0 test 0"


def test_results_without_pandas_are_a_dict(monkeypatch):
    found = nk.select(Spy(), {"wrong": [3, 0]}, *rows_with_labels(0, 50))
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert found.results_["wrong"] == [0, 3]
    assert found.results_["error"] == [0.0, 0.3]


def test_verbose_prints_each_candidate(capsys):
    nk.select(Spy(), [{"wrong": [3]}, {"fails": [True]}], *rows_with_labels(0, 50), verbose=1)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("[1/2] wrong=3: error 0.3, ")
    assert second == "[2/2] fails=True: told to fail"


def test_failed_trials_are_in_the_table():
    X, y = noisy_labels(0)
    found = nk.select(nk.LinearClassifier(solver="newton"), {"loss": ["hinge", "squared"]}, X, y)
    assert "left out" in repr(found)
    assert "curvature" in repr(found)
    assert [trial.converged for trial in found.trials] == [False, True]


def test_n_jobs_of_zero_is_an_error():
    X, y = noisy_labels(0)
    with pytest.raises(DataError, match="n_jobs must be"):
        nk.select(nk.LinearClassifier(), {"alpha": [1e-3]}, X, y, n_jobs=0)


def test_convergence_is_reported_for_all_kinds_of_estimators():
    X, y = load_digits(return_X_y=True)
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    for model, name in ((piped, "logisticregression__max_iter"), (LogisticRegression(), "max_iter")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of the winner
            trials = nk.select(model, {name: [3, 2000]}, X / 16.0, y).trials
        assert [trial.converged for trial in trials] == [False, True]


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (lambda X, y: (X[:, :5], y), "test has rows of 5 columns, and X of 64"),
        (lambda X, y: (X, y.astype(str)), "No label of test is one of y: '0', for example"),
        (lambda X, y: [X, y], "test must be a pair"),
        (lambda X, y: (X[:0], y[:0]), "There are no rows to test on"),
    ],
)
def test_bad_test_set_is_rejected_before_fitting(test, message):
    X, y = load_digits(return_X_y=True)

    class Never(nk.Perceptron):
        def fit(self, X, y):
            raise AssertionError("too late")

    with pytest.raises(DataError, match=message):
        nk.select(Never(), {"rule": ["perceptron"]}, X, y, test=test(X, y))


def test_valid_test_sets():
    X, y = load_iris(return_X_y=True, as_frame=True)
    chosen = make_pipeline(ColumnTransformer([("some", "passthrough", list(X.columns[:2]))]), nk.Perceptron(max_iter=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = nk.select(chosen, {"perceptron__ties": ["positive"]}, X, y, test=(X.assign(id=range(len(X))), y))
        assert found.test_error_ is not None
        several = np.column_stack([y == 0, y == 1])
        forest = DecisionTreeClassifier(random_state=0)
        found = nk.select(forest, {"max_depth": [2]}, X, several, test=(X, several), error=lambda a, b: np.mean(a != b))
        assert found.test_error_ < 0.2


def test_convergence_of_trees_and_of_tol_none():
    X, y = load_iris(return_X_y=True)
    for model in (HistGradientBoostingClassifier(max_iter=3), SGDClassifier(tol=None, max_iter=5)):
        assert nk.select(model, {"random_state": [0]}, X, y).trials[0].converged
