"""Perceptron with the rest of scikit-learn: pipelines, searches, workers, callbacks, data frames, pickles, plots."""

import pickle
import tracemalloc
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nk
from novikoff import Rows, estimators, rules
from tests.support.strategies import HYPOTHESES, ORDERS, assert_same, csr, integers

ignore_limits = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


# -- meta-estimators


@ignore_limits
def test_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), nk.Perceptron(hypothesis="averaged", max_iter=20)).fit(X, y)
    assert pipe.score(X, y) > 0.97


def test_pipeline_with_text():
    texts = ["free money now", "lunch at noon", "money money free", "see you at lunch"]
    pipe = make_pipeline(CountVectorizer(), nk.Perceptron()).fit(texts, ["spam", "ham", "spam", "ham"])
    assert pipe.predict(["free money", "lunch?"]).tolist() == ["spam", "ham"]


@ignore_limits
def test_grid_search(iris):
    grid = {"hypothesis": HYPOTHESES, "rule": ["perceptron", rules.PassiveAggressive(C=0.1)]}
    search = GridSearchCV(nk.Perceptron(order="shuffled", random_state=0, max_iter=10), grid, cv=3).fit(*iris)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_score_ > 0.9


@ignore_limits
def test_joblib_workers(iris):
    model = nk.Perceptron(order="shuffled", random_state=0, max_iter=5)
    alone, together = (cross_val_score(model, *iris, cv=4, n_jobs=jobs) for jobs in (1, 2))
    assert alone.tolist() == together.tolist()


def test_one_vs_rest(iris):
    X, y = iris
    # setosa against the rest is separable, the others are not
    with pytest.warns(ConvergenceWarning):
        model = OneVsRestClassifier(nk.Perceptron(max_iter=20)).fit(X, y)
    assert model.estimators_[0].converged_


def test_clone():
    model = nk.Perceptron(rules.Margin(beta=3.0), "pocket", ties="negative", classes=[0, 1], max_iter=7).fit(
        np.eye(2), [0, 1]
    )
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")


def test_decision_boundary_display():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = integers(1, 30, 2, 2)
    model = nk.Perceptron(hypothesis="averaged").partial_fit(X, y)
    picture = DecisionBoundaryDisplay.from_estimator(model, X, response_method="decision_function")
    height = model.coef_[0, 0] * picture.xx0 + model.coef_[0, 1] * picture.xx1 + model.intercept_[0]
    np.testing.assert_allclose(picture.response, height, atol=1e-9)


# -- data as it comes


def test_data_frames():
    X, y = integers(2, 40, 3, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = nk.Perceptron().partial_fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_same(model, nk.Perceptron().partial_fit(X, y), frame, X)
    assert model.predict_one({"c": 1.0, "a": 2.0}) == model.predict(pd.DataFrame([[2.0, 0, 1.0]], columns=[*"abc"]))[0]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix, sp.lil_array])
def test_sparse_matrices_and_arrays(kind):
    X, y = integers(3, 40, 4, 3)
    assert_same(nk.Perceptron().partial_fit(kind(X), y), nk.Perceptron().partial_fit(X, y), kind(X), X)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, bool, ">f8", object])
def test_dtypes(dtype):
    X, y = integers(4, 40, 4, 3, low=0, high=1)
    assert_same(nk.Perceptron().partial_fit(X.astype(dtype), y), nk.Perceptron().partial_fit(X, y), X)


ROWS_NOT_COPIED = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr float64": csr,
    "csr float32": lambda X: csr(X).astype(np.float32),
    "csr int64": lambda X: csr(X, np.int64),
    "csr matrix": sp.csr_matrix,
}


@ignore_limits
@pytest.mark.parametrize("form", ROWS_NOT_COPIED)
def test_rows_are_not_copied(form):
    X = ROWS_NOT_COPIED[form](np.random.default_rng(0).normal(size=(40, 5)))
    module = estimators.perceptron
    with mock.patch.object(module, "cycle", wraps=module.cycle) as spy:
        nk.Perceptron(max_iter=1).fit(X, np.arange(40) % 2)
    for rows in (Rows.of(X), spy.call_args.args[2]):
        pairs = (
            [(rows.data, X)]
            if form.startswith("float")
            else [(rows.data, X.data), (rows.indices, X.indices), (rows.indptr, X.indptr)]
        )
        assert all(np.shares_memory(ours, theirs) for ours, theirs in pairs)


@ignore_limits
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket"])
def test_memory_of_a_fit(hypothesis):
    """Fitting 4 MB of rows allocates nothing as large as they are."""
    X = np.random.default_rng(0).normal(size=(500, 1000))
    model, y = nk.Perceptron(hypothesis=hypothesis, max_iter=2), np.arange(500) % 2
    model.fit(X, y)  # whatever the first call costs
    tracemalloc.start()
    model.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 10


# -- labels

LABELS = {
    "words": ["ham", "spam"],
    "numbers": [3, -7],
    "signs": [-1, 1],
    "booleans": [True, False],
    "many words": ["a", "c", "b"],
    "many numbers": [5, 1, 3],
    "wholes as floats": [1.0, 2.0],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_keep_their_types(labels):
    """Orthogonal rows without an intercept are classified correctly after one pass."""
    X, y = np.eye(3), [labels[i % len(labels)] for i in range(3)]
    online = nk.Perceptron(fit_intercept=False)
    for x, label in zip(X, y, strict=True):
        online.learn_one(x, label)
    forms = [np.array(y), np.array(y, object)] if isinstance(y[0], str) else [np.array(y)]  # scikit-learn's limits
    fitted = [(nk.Perceptron(fit_intercept=False).fit(X, form), form.dtype) for form in forms]
    for model, dtype in [(online, np.array(y).dtype), *fitted]:
        guesses = [model.predict_one(x) for x in X]
        assert guesses == y
        assert {type(guess) for guess in guesses} == {type(labels[0])}
        assert model.classes_.tolist() == sorted(labels)
        assert model.predict(X).tolist() == y
        assert model.predict(X).dtype == dtype


@pytest.mark.parametrize("x", [{"a": 1.0}, [1.0, 2.0], np.zeros(3)], ids=["dict", "list", "array"])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_predict_one_before_the_first_example(x, hypothesis):
    """The answer is None or, if the classes are known, the label of a tie."""
    assert nk.Perceptron(hypothesis=hypothesis).predict_one(x) is None
    for ties, label in {"mistake": "yes", "positive": "yes", "negative": "no"}.items():
        model = nk.Perceptron(hypothesis=hypothesis, ties=ties, classes=["yes", "no"])
        assert model.predict_one(x) == label
        assert nk.Perceptron(hypothesis=hypothesis, ties=ties, classes=["no", "perhaps", "yes"]).predict_one(x) == label
        assert not hasattr(model, "classes_")  # asking is not learning
        assert model.learn_one({"b": 1.0}, "yes").classes_.tolist() == ["no", "yes"]


def test_predict_one_with_one_known_label():
    model = nk.Perceptron().learn_one([1.0, 0.0], "spam")
    assert model.predict_one([1.0, 0.0]) == "spam"
    assert model.predict_one([-5.0, 0.0]) is None  # not spam, whatever that will be called


# -- fitting


@ignore_limits
def test_convergence_warning_has_the_mistakes_of_the_last_pass():
    X, y = integers(5, 60, 3, 2)
    online = nk.Perceptron().partial_fit(X, y).partial_fit(X, y)
    before = online.ledger_.mistakes
    last = online.partial_fit(X, y).ledger_.mistakes - before
    with pytest.warns(ConvergenceWarning, match=rf"(?s)pass 3,.*\b{last} mistakes on 60 rows.*max_iter") as caught:
        clf = nk.Perceptron(max_iter=3).fit(X, y)
    assert caught[0].filename == __file__
    assert (clf.converged_, clf.n_iter_) == (False, 3)


@ignore_limits
@pytest.mark.parametrize("order", ORDERS)
def test_random_state(order):
    X, y = integers(6, 50, 4, 2)

    def fitted(seed):
        return nk.Perceptron(order=order, max_iter=3, random_state=seed).fit(X, y)

    assert_same(fitted(1), fitted(1), X)
    assert_same(fitted(1), fitted(np.random.RandomState(1)), X)
    differ = fitted(1).raw_coef_.tolist() != fitted(2).raw_coef_.tolist()
    assert differ == (order in ("shuffled", "random"))


def test_each_pass_has_a_new_permutation():
    """With two contradicting rows, a fixed order would repeat itself."""
    pytest.importorskip("sklearn.callback")
    X, y = integers(7, 50, 4, 2)
    model = nk.Perceptron(order="shuffled", max_iter=8, random_state=0)
    passes = PassRecorder()
    with pytest.warns(ConvergenceWarning):
        model.set_callbacks(passes).fit(X, y)
    assert len(set(np.diff([0, *passes.mistakes]))) > 1


@ignore_limits
def test_pickle(iris):
    for hypothesis in HYPOTHESES:
        model = nk.Perceptron("margin", hypothesis, max_iter=3).fit(*iris)
        assert_same(model, pickle.loads(pickle.dumps(model)), iris[0])


# -- callbacks


class PassRecorder:
    """A callback that records the passes of a fit, and the score of the model after each."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.mistakes, self.scores = [], []
        self.begun = self.ended = 0

    def setup(self, estimator, context):
        assert context.max_subtasks == estimator.max_iter

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.ended += 1
        if context.parent is None:
            return False
        self.mistakes.append(fitted_estimator.ledger_.mistakes)
        self.scores.append(fitted_estimator.score(X, y))
        return self.stop_after is not None and len(self.mistakes) >= self.stop_after

    def teardown(self, estimator, context):
        self.torn_down = True


def test_callbacks_are_called_after_every_pass(iris):
    pytest.importorskip("sklearn.callback")
    X, y = iris[0], iris[1] == 0
    passes = PassRecorder()
    clf = nk.Perceptron().set_callbacks(passes).fit(X, y)
    assert len(passes.mistakes) == clf.n_iter_
    assert passes.begun == passes.ended == clf.n_iter_ + 1  # the passes, and the fit itself
    assert passes.mistakes == sorted(passes.mistakes)
    assert passes.mistakes[-1] == clf.ledger_.mistakes
    assert passes.scores[-1] == clf.score(X, y) == 1.0
    assert passes.torn_down
    assert_same(clf, nk.Perceptron().fit(X, y), X)


def test_callback_can_stop_the_fit():
    """A stopped fit gives no convergence warning, which would be an error here."""
    pytest.importorskip("sklearn.callback")
    X, y = integers(8, 60, 3, 3)
    stopped = nk.Perceptron(max_iter=100).set_callbacks(PassRecorder(stop_after=4)).fit(X, y)
    assert (stopped.n_iter_, stopped.converged_) == (4, False)
    with pytest.warns(ConvergenceWarning):
        assert_same(stopped, nk.Perceptron(max_iter=4).fit(X, y), X)
