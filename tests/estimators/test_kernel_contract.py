"""scikit-learn's checks for kernel estimators, and messages for bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import novikoff as nk
from novikoff.errors import DataError, ModelFileError, RuleError
from tests.support import strategies

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    *(nk.KernelPerceptron(hypothesis=name) for name in ("voted", "averaged", "last")),
    *(nk.KernelPerceptron(name, max_iter=3) for name in ("linear", "poly", "laplacian", "precomputed")),
    *(nk.KernelPerceptron(order=order, random_state=0) for order in ("shuffled", "random", "worst")),
    nk.KernelPerceptron("linear", fit_intercept=True, multi_class="direct"),
    nk.KernelPerceptron(hypothesis="last", multi_class="direct", budget=100),
    nk.KernelPerceptron(cache_size=0, max_iter=3),
]


def expected_failures_of_kernel_matrices(estimator):
    if estimator.kernel != "precomputed":
        return {}
    return {"check_estimators_nan_inf": "it reads rows of 3 columns after fitting a matrix of 10"}


@quiet
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures_of_kernel_matrices)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@quiet
@pytest.mark.parametrize("check", [check_dataframe_column_names_consistency, check_param_validation])
def test_checks_outside_the_common_suite(check):
    check("KernelPerceptron", nk.KernelPerceptron())


@quiet
def test_model_selection():
    X, y = strategies.integers(0, 60, 3, 3)
    assert len(cross_val_score(nk.KernelPerceptron("precomputed"), X @ X.T, y, cv=3)) == 3
    search = GridSearchCV(nk.KernelPerceptron(), {"gamma": [0.1, 1.0], "hypothesis": ["voted", "last"]}, cv=3)
    assert search.fit(X, y).best_params_["gamma"] in (0.1, 1.0)


X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
Y = np.array([0, 1, 1, 0])


def only_nan(x, z):
    return np.nan


def asymmetric(x, z):
    return float(x[0] + 2 * z[1])


BAD = {
    "nan": (only_nan, X, DataError, r"NaN or infinite at row 0.*kernel of your own"),
    "overflow": ("poly", X * 1e120, DataError, r"NaN or infinite at row \d.*scale the columns"),
    "not symmetric": (asymmetric, X, DataError, r"not symmetric: K\(x, z\) = .* for rows \d and \d"),
    "text": (lambda x, z: "much", ["a", "b", "c", "d"], RuleError, r"must return a number.*found 'much'"),
    "blocks": (lambda A, B: np.ones((2, 3)), X, RuleError, r"returned shape \(2, 3\) for blocks of 4 and 4 rows"),
    "wide": ("precomputed", np.ones((4, 3)), DataError, r"square matrix.*found shape \(4, 3\)"),
    "skew": ("precomputed", np.triu(np.ones((4, 4))), DataError, r"not symmetric: 1.0 in row 0, column 1, but 0.0"),
    "sparse": (
        "precomputed",
        sp.eye_array(4, format="csr"),
        DataError,
        r"Sparse input is not supported.*a dense array",
    ),
    "missing": ("rbf", np.where(X == 1.0, np.nan, X), DataError, r"contains NaN in row 0, column 1"),
    "dicts": ("rbf", strategies.dicts(X), DataError, r"dicts of named features the kernel 'rbf' needs gamma="),
}


@pytest.mark.parametrize("name", BAD)
def test_messages_for_bad_input(name):
    kernel, rows, error, message = BAD[name]
    clf = nk.KernelPerceptron(kernel)
    with pytest.raises(error, match=message):
        clf.fit(rows, Y)
    with pytest.raises(NotFittedError):
        clf.predict(rows)


@pytest.mark.parametrize(
    "given",
    [
        {"kernel": "cosine"},
        {"degree": 0},
        {"gamma": -1.0},
        {"max_iter": 0},
        {"hypothesis": "pocket"},
        {"budget": 0},
        {"cache_size": -1},
    ],
)
def test_bad_parameters(given):
    with pytest.raises(ValueError, match=f"The '{next(iter(given))}' parameter of KernelPerceptron must be"):
        nk.KernelPerceptron(**given).fit(X, Y)


def test_rejected_rows_change_nothing():
    def fragile(A, B):
        return np.where((A.max(axis=1) > 8)[:, None] | (B.max(axis=1) > 8), np.nan, A @ B.T + 1.0)

    rows, codes = strategies.integers(1, 1200, 3, 2)
    clf = nk.KernelPerceptron(fragile, hypothesis="last").partial_fit(rows[:100], codes[:100])
    before = clf.decision_function(X[:, [0, 1, 0]]), clf.support_, strategies.account(clf.ledger_)
    bad = rows.copy()
    bad[1100, 0] = 9.0  # in the third block
    with pytest.raises(DataError, match="NaN"):
        clf.partial_fit(bad, np.where(np.arange(1200) > 300, 2, codes))
    np.testing.assert_array_equal(clf.decision_function(X[:, [0, 1, 0]]), before[0])
    np.testing.assert_array_equal(clf.support_, before[1])
    assert strategies.account(clf.ledger_) == before[2]
    assert clf.classes_.tolist() == [0, 1]
    other = nk.KernelPerceptron(fragile, hypothesis="last").partial_fit(rows[:100], codes[:100])
    for each in (clf, other):
        each.partial_fit(rows, codes)
    np.testing.assert_array_equal(clf.raw_dual_coef_, other.raw_dual_coef_)
    np.testing.assert_array_equal(clf.support_, other.support_)


def test_parameters_that_cannot_change_between_blocks():
    clf = nk.KernelPerceptron().partial_fit(X, Y)
    with pytest.raises(DataError, match="cannot change once learning has begun"):
        clf.set_params(kernel="linear").partial_fit(X, Y)
    clf.set_params(kernel="rbf", ties="positive", hypothesis="last").partial_fit(X, Y)
    assert not hasattr(nk.KernelPerceptron("precomputed"), "partial_fit")
    with pytest.raises(AttributeError, match="precomputed kernel has no new rows"):
        nk.KernelPerceptron("precomputed").learn_one([1.0], 1)
    with pytest.raises(DataError, match="X has 3 features, but this model is expecting 2"):
        clf.learn_one([1.0, 2.0, 3.0], 1)
    with pytest.raises(DataError, match="One example is a dict or a 1-D array"):
        clf.learn_one(X, 1)
    with pytest.raises(DataError, match="without names; pass arrays"):
        clf.learn_one({"a": 1.0}, 1)


class PassRecorder:
    """A callback that records the score of the model after each pass."""

    def __init__(self, stop_after=None):
        self.stop_after, self.right = stop_after, []

    def setup(self, estimator, context):
        assert context.max_subtasks == 40

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        if context.parent is None:
            return False
        self.right.append(fitted_estimator.score(X, y))
        return len(self.right) == self.stop_after

    def teardown(self, estimator, context):
        pass


def test_callbacks_are_called_after_every_pass():
    pytest.importorskip("sklearn.callback")
    rows, codes = strategies.integers(3, 30, 3, 2)
    rows[:, 0] = np.arange(30)  # no two alike: a Gaussian separates them
    given = {"gamma": 1.0, "hypothesis": "last", "max_iter": 40}
    seen, few = PassRecorder(), PassRecorder(stop_after=1)
    clf = nk.KernelPerceptron(**given).set_callbacks(seen).fit(rows, codes)
    assert (len(seen.right), seen.right[-1]) == (clf.n_iter_, 1.0)
    np.testing.assert_array_equal(clf.raw_dual_coef_, nk.KernelPerceptron(**given).fit(rows, codes).raw_dual_coef_)
    stopped = nk.KernelPerceptron(**given).set_callbacks(few).fit(rows, codes)
    assert (stopped.n_iter_, stopped.converged_) == (1, False)


def test_predict_one_before_the_first_example():
    assert nk.KernelPerceptron().predict_one([1.0, 2.0]) is None
    assert nk.KernelPerceptron(classes=["no", "yes"]).predict_one([1.0, 2.0]) == "yes"
    with pytest.raises(AttributeError, match="no support_ before it has learned"):
        nk.KernelPerceptron().support_  # noqa: B018
    with pytest.raises(AttributeError, match="A voted perceptron has no single weight"):
        nk.KernelPerceptron().partial_fit(X, Y).dual_coef_  # noqa: B018


def test_convergence_warning():
    rows = np.zeros((2, 1))
    with pytest.warns(ConvergenceWarning, match="pass 7, the last that max_iter allows, still made 2 mistakes on 2"):
        nk.KernelPerceptron(max_iter=7).fit(rows, [0, 1])
    assert not nk.KernelPerceptron(max_iter=0.5).fit(rows, [0, 1]).converged_  # who asks for half a pass knows


def test_load_asks_for_a_custom_kernel(tmp_path):
    path = tmp_path / "m.nk"
    nk.KernelPerceptron(only_letters).partial_fit(["ab", "xy"], [0, 1]).save(path)
    with pytest.raises(ModelFileError, match=r"as kernel, 'only_letters'.*kernel=only_letters\)"):
        nk.load(path)
    with pytest.raises(ModelFileError, match="needs no rule="):
        nk.load(path, rule=lambda margin, squared_norm: 0.0)
    assert nk.load(path, kernel=only_letters).predict_one("xyz") == 1
    nk.KernelPerceptron().partial_fit(X, Y).save(path)
    with pytest.raises(ModelFileError, match="knows its kernel"):
        nk.load(path, kernel=only_letters)
    nk.Perceptron().partial_fit(X, Y).save(path)
    with pytest.raises(ModelFileError, match="needs no kernel="):
        nk.load(path, kernel=only_letters)
    sets = nk.KernelPerceptron(lambda x, z: len(x & z)).partial_fit([{1, 2}, {3}], [0, 1])
    with pytest.raises(ModelFileError, match="which a file cannot keep"):
        sets.save(path)


def only_letters(x, z):
    return float(len(set(x) & set(z)))
