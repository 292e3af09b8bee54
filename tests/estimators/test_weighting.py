"""sample_weight and class_weight as users give them: meaning, errors, and nothing half done."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight

import novikoff as nk
from novikoff.errors import DataError
from tests.support import strategies

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CLASSIFIERS = {
    "perceptron": lambda **given: nk.Perceptron(max_iter=5, **given),
    "sgd": lambda **given: nk.LinearClassifier("logistic", max_iter=5, tol=None, random_state=0, **given),
    "newton": lambda **given: nk.LinearClassifier("logistic", "newton", **given),
}
many_classifiers = pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=CLASSIFIERS)


def imbalanced(n=200, share=0.1):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < share, "rare", "common")
    return rng.normal(size=(n, 3)) + (y == "rare")[:, None], y


def weights_of(model):
    return np.column_stack([model.coef_, model.intercept_])


@quiet
@many_classifiers
def test_balanced_is_what_scikit_learn_computes(make):
    X, y = imbalanced()
    labels = np.unique(y)
    weights = dict(zip(labels.tolist(), compute_class_weight("balanced", classes=labels, y=y).tolist(), strict=True))
    balanced, given = make(class_weight="balanced").fit(X, y), make(class_weight=weights).fit(X, y)
    np.testing.assert_allclose(weights_of(balanced), weights_of(given), rtol=1e-12)
    sampled = make().fit(X, y, sample_weight=np.array([weights[label] for label in y]))
    np.testing.assert_allclose(weights_of(balanced), weights_of(sampled), rtol=1e-12)
    recall = [np.mean(model.predict(X)[y == "rare"] == "rare") for model in (make().fit(X, y), balanced)]
    assert recall[1] > recall[0]


@quiet
def test_class_weights_find_the_rare_class():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = nk.LinearClassifier("logistic", "newton", alpha=1e-2, class_weight="balanced", tol=1e-8).fit(X, y)
    theirs = LogisticRegression(C=1.0 / (1e-2 * len(X)), class_weight="balanced", tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@quiet
@many_classifiers
@pytest.mark.parametrize("kind", [list, tuple, np.asarray, pd.Series, lambda c: np.asarray(c, np.float32)])
def test_weights_may_come_in_many_containers(make, kind):
    X, y = imbalanced(40, 0.5)
    c = [0.5, 1.0, 2.0, 1.0] * 10
    expected = weights_of(make().fit(X, y, sample_weight=np.array(c)))
    np.testing.assert_array_equal(weights_of(make().fit(X, y, sample_weight=kind(c))), expected)


@quiet
@many_classifiers
def test_one_number_weighs_all_rows_alike(make):
    X, y = imbalanced(40, 0.5)
    expected = weights_of(make().fit(X, y, sample_weight=np.full(40, 2.0)))
    np.testing.assert_array_equal(weights_of(make().fit(X, y, sample_weight=2)), expected)


@many_classifiers
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "one number for each of 4 rows"),
        ([[1.0], [1.0], [1.0], [1.0]], "one number for each of 4 rows"),
        ([1.0, -2.0, 1.0, 1.0], r"must not be negative; row 1 has -2"),
        ([1.0, np.nan, 1.0, 1.0], "sample_weight contains NaN"),
        ([1.0, np.inf, 1.0, 1.0], "sample_weight contains infinity"),
        ([0.0] * 4, "zero for every row"),
        ([1.0, 1.0, 0.0, 0.0], r"greater than one; all rows with a sample_weight .* one class: 'a'"),
        (-1.0, "sample_weight must be a number >= 0, found -1.0"),
    ],
)
def test_bad_sample_weights_are_refused_before_anything_changes(make, weights, message):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    model = make()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)
    assert not hasattr(model, "classes_")


@many_classifiers
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"a": -1.0}, "class_weight must be a number >= 0, found -1.0"),
        ({"a": "much"}, "class_weight must be a number >= 0, found 'much'"),
        ({"c": 2.0}, "has a weight for 'c', which is no label in y, and none for 'a'"),
        ({"a": 0.0}, "one class: 'b'"),
        ("unbalanced", "class_weight"),
        (3.0, "class_weight"),
    ],
)
def test_bad_class_weights_are_refused(make, class_weight, message):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=message):
        make(class_weight=class_weight).fit(X, y)


@quiet
@many_classifiers
def test_labels_of_rows_without_weight_are_classes(make):
    X, y = strategies.integers(0, 30, 3, 3)
    model = make().fit(X, y, sample_weight=(y != 2).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]


@many_classifiers
def test_a_bad_number_in_a_row_without_weight_is_still_an_error(make):
    X, y = np.array([[0.0], [1.0], [np.nan], [3.0]]), ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"row 2|index 2"):
        make().fit(X, y, sample_weight=[1, 1, 0, 1])


# -- streams


@pytest.mark.parametrize("make", [nk.Perceptron, nk.LinearClassifier])
def test_streams_refuse_balanced(make):
    with pytest.raises(DataError, match=r"needs the labels of all rows.*compute_class_weight"):
        make(class_weight="balanced").partial_fit([[0.0], [1.0]], [0, 1])


def test_one_example_refuses_balanced_and_bad_weights():
    with pytest.raises(DataError, match="needs the labels of all rows"):
        nk.Perceptron(class_weight="balanced").learn_one([1.0], 1)
    for weight in (-1.0, np.nan, "much"):
        with pytest.raises(DataError, match="sample_weight must be a number >= 0"):
            nk.Perceptron().learn_one([1.0], 1, sample_weight=weight)


@pytest.mark.parametrize("make", [nk.Perceptron, nk.LinearClassifier])
def test_a_block_without_weight_changes_nothing(make):
    X, y = strategies.integers(0, 30, 3, 2)
    model = make()
    with pytest.raises(DataError, match="first block have a weight of zero"):
        model.partial_fit(X, y, classes=[0, 1], sample_weight=np.zeros(30))
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, classes=[0, 1])
    before, examples = weights_of(model), model.ledger_.examples
    model.partial_fit(X, y, sample_weight=np.zeros(30))
    np.testing.assert_array_equal(weights_of(model), before)
    assert model.ledger_.examples == examples


def test_an_example_without_weight_changes_nothing():
    model = nk.Perceptron()
    assert model.learn_one({"a": 1.0}, "x", sample_weight=0.0) is model
    assert not hasattr(model, "ledger_")
    model.learn_one({"a": 1.0}, "x").learn_one({"b": 1.0}, "new", sample_weight=0.0)
    assert model.classes_.tolist() == ["x"]
    assert model.ledger_.examples == 1


def test_class_weights_may_change_along_a_stream():
    X, y = strategies.integers(0, 30, 3, 2)
    model = nk.Perceptron(classes=[0, 1]).partial_fit(X, y)
    model.set_params(class_weight={1: 3.0}).partial_fit(X, y)
    c = np.concatenate([np.ones(30), np.where(y == 1, 3.0, 1.0)])
    whole = nk.Perceptron(classes=[0, 1]).partial_fit(np.vstack([X, X]), np.append(y, y), sample_weight=c)
    strategies.assert_same(model, whole, X)


# -- other estimators that pass weights on


@quiet
def test_ensembles_and_searches_pass_weights_on():
    X, y = imbalanced()
    for ensemble in (AdaBoostClassifier, BaggingClassifier):
        model = ensemble(nk.Perceptron(max_iter=5), n_estimators=3, random_state=0).fit(X, y)
        assert set(model.predict(X)) <= {"rare", "common"}
    search = GridSearchCV(nk.Perceptron(max_iter=5), {"class_weight": [None, "balanced", {"rare": 4.0}]}, cv=3)
    assert "class_weight" in search.fit(X, y).best_params_
