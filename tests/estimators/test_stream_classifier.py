"""StreamClassifier: the model of nk.learn inside scikit-learn."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import novikoff as nk
from novikoff.errors import DataError
from novikoff.estimators.online_classifier import make_generator
from tests.streaming.test_in_memory import content

N = 240


@pytest.fixture(scope="module")
def frame():
    """Columns of all kinds; the label is decided by two of them."""
    rng = np.random.default_rng(1)
    wind, sky = rng.normal(size=N), rng.choice(["sun", "rain", "fog"], N)
    texts = rng.choice(["ship", "sea", "wind", "sail", "rope"], size=(N, 5))
    found = pd.DataFrame({"wind": wind, "sky": sky, "wet": sky != "sun", "note": [" ".join(t) for t in texts.tolist()]})
    found["go"] = np.where((wind > 0) & (sky != "fog"), "yes", "no")
    return found


@pytest.fixture(scope="module")
def X(frame):
    return frame.drop(columns="go")


@pytest.fixture(scope="module")
def y(frame):
    return frame["go"]


def test_fit_in_the_given_order_is_what_learn_does(frame, X, y, tmp_path):
    expected = nk.learn(frame, target="go", passes=3, shuffle="never", ngrams=(1, 1))
    found = nk.StreamClassifier(order="given", passes=3, ngrams=(1, 1)).fit(X, y).model_
    found.target = "go"
    assert content(found, tmp_path) == content(expected, tmp_path)


def test_partial_fit_is_what_learn_does(frame, X, y, tmp_path):
    clf = nk.StreamClassifier()
    for start in range(0, N, 50):
        clf.partial_fit(X[start : start + 50], y[start : start + 50])
    clf.model_.target = "go"
    assert content(clf.model_, tmp_path) == content(nk.learn(frame, target="go"), tmp_path)


def test_fit_shuffles_every_pass(X, y, tmp_path):
    clf = nk.StreamClassifier(passes=2, random_state=7).fit(X, y)
    rng = make_generator(7)
    order = np.concatenate([rng.permutation(N) for _ in range(2)])
    expected = nk.learn(X.iloc[order], y.iloc[order], types={"note": "text"})  # half of them are repeated
    assert content(clf.model_, tmp_path) == content(expected, tmp_path)


def test_rows_sorted_by_class_are_no_trap():
    X, y = load_iris(return_X_y=True)
    assert (np.diff(y) >= 0).all()
    given, shuffled = (
        nk.StreamClassifier(order=order, passes=3).fit(X, y).score(X, y) for order in ("given", "shuffled")
    )
    assert shuffled > max(given, 0.9)


@pytest.mark.parametrize("convert", [lambda df: df, pl.from_pandas], ids=["pandas", "polars"])
def test_frames_with_words_and_texts_in_cross_validation(X, y, convert):
    scores = cross_val_score(nk.StreamClassifier(passes=3), convert(X), y, cv=3)
    assert scores.min() > max((y == label).mean() for label in ("yes", "no"))


def test_pipelines_and_searches(X, y):
    keep = make_column_transformer(("passthrough", ["wind", "sky"]), verbose_feature_names_out=False)
    pipe = make_pipeline(keep.set_output(transform="pandas"), nk.StreamClassifier(passes=5)).fit(X, y)
    assert list(pipe[-1].feature_names_in_) == ["wind", "sky"]
    assert pipe[-1].model_.kinds == {"wind": "number", "sky": "word"}
    plain = make_pipeline(FunctionTransformer(lambda df: df[["wind"]].to_numpy()), nk.StreamClassifier()).fit(X, y)
    assert plain.predict(X).shape == (N,)
    grid = {"passes": [1, 3], "hypothesis": ["last", "averaged"], "char_ngrams": [(0, 0), (3, 4)]}
    found = GridSearchCV(nk.StreamClassifier(), grid, cv=2, n_jobs=2).fit(X, y)
    assert found.best_estimator_.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"], [False, True], [-1.0, 1.0]])
def test_labels_stay_what_they_are(labels):
    y = np.array(labels)[np.arange(30) % len(labels)]
    X = (np.arange(30) % len(labels))[:, None]
    for clf in (nk.StreamClassifier(passes=9).fit(X, y), nk.StreamClassifier().partial_fit(X, y)):
        assert clf.classes_.tolist() == labels
        assert clf.predict(X).dtype.kind == y.dtype.kind
    assert nk.StreamClassifier(passes=9).fit(X, y).score(X, y) > 0.6


def test_classes_may_be_known_or_come_later():
    clf = nk.StreamClassifier().partial_fit([[0.0], [1.0]], ["a", "a"], classes=["a", "b", "c"])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert clf.decision_function([[0.0]]).shape == (1, 3)
    clf.partial_fit([[2.0]], ["d"])
    assert clf.classes_.tolist() == ["a", "b", "c", "d"]


def test_dicts_and_sparse_matrices():
    rows = [{"sky": "sun", "wind": 3}, {"sky": "rain"}] * 5
    clf = nk.StreamClassifier(passes=3).fit(rows, ["go", "stay"] * 5)
    assert clf.predict([{"sky": "rain", "depth": 2}, {"sky": "sun"}]).tolist() == ["stay", "go"]
    X = sp.random_array((40, 12), density=0.3, rng=np.random.default_rng(0), format="csc")
    y = np.asarray(X.sum(axis=1) > 1.8).astype(int)
    clf = nk.StreamClassifier(order="given").fit(X, y)
    assert (clf.predict(X) == nk.learn(X, y).predict(X)).all()
    assert (clf.predict(X.toarray()) == clf.predict(X)).all()


def test_missing_numbers_are_allowed():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]] * 4)
    clf = nk.StreamClassifier(passes=3, hats=False).fit(X, [0, 1, 1] * 4)
    assert set(clf.model_.names) == {"column 1", "column 2", "column 1 is missing", "column 2 is missing"}


def test_parameters(X, y):
    clf = nk.StreamClassifier(rule="margin", passes=2, types={"sky": "word"}, ngrams=(1, 3))
    assert clone(clf).get_params() == clf.get_params()
    clf.set_params(passes=1, scale=False).fit(X, y)
    assert not clf.model_.features.scale
    with pytest.raises(DataError, match="rule cannot change once learning has begun; fit starts anew"):
        clf.set_params(rule="perceptron").partial_fit(X, y)
    with pytest.raises(DataError, match="ngrams cannot change"):
        clf.set_params(rule="margin", ngrams=(1, 1)).partial_fit(X, y)
    with pytest.raises(DataError, match="ngrams must be two integers"):
        nk.StreamClassifier(ngrams=(3, 1)).fit(X, y)
    clf = nk.StreamClassifier(types={"wind": "word"}).fit(X, y)
    assert clf.model_.kinds["wind"] == "word"


def test_copies_go_on_alike_and_apart(X, y, tmp_path):
    clf = nk.StreamClassifier().partial_fit(X[:100], y[:100])
    before = content(clf.model_, tmp_path)
    for other in (pickle.loads(pickle.dumps(clf)), copy.copy(clf), copy.deepcopy(clf)):
        other.partial_fit(X[100:], y[100:])
        assert content(clf.model_, tmp_path) == before
        straight = nk.StreamClassifier().partial_fit(X, y)
        assert content(other.model_, tmp_path) == content(straight.model_, tmp_path)


def test_files(X, y, tmp_path):
    clf = nk.StreamClassifier(rule="passive-aggressive-I", hypothesis="last", ngrams=(1, 1)).fit(X, y)
    clf.save(tmp_path / "m.nk")
    model = nk.load(tmp_path / "m.nk")
    assert isinstance(model, nk.StreamModel)
    assert (model.predict(X) == clf.predict(X)).all()
    again = nk.StreamClassifier.from_model(model)
    assert list(again.feature_names_in_) == list(X.columns)
    assert (again.predict(X) == clf.predict(X)).all()
    again.partial_fit(X, y)
    clf.partial_fit(X, y)
    assert content(again.model_, tmp_path) == content(clf.model_, tmp_path)
    unnamed = nk.StreamClassifier.from_model(nk.learn([[1.0, 2.0], [2.0, 1.0]], [0, 1]))
    assert unnamed.n_features_in_ == 2
    assert not hasattr(unnamed, "feature_names_in_")


def test_models_that_are_no_classifiers_of_rows(tmp_path):
    (tmp_path / "t.vw").write_text("1 |a b:2\n-1 |a c\n")
    for model, message in (
        (nk.learn([[0.0], [1.0]], [0.5, 1.5], loss="squared"), "predicts numbers"),
        (nk.learn(tmp_path / "t.vw"), "Vowpal Wabbit's text"),
    ):
        with pytest.raises(DataError, match=message):
            nk.StreamClassifier.from_model(model)


def test_threads_share_an_estimator(X, y):
    clf, errors = nk.StreamClassifier(), []

    def work(k):
        try:
            for _ in range(5):
                clf.partial_fit(X[k::4], y[k::4])
                clf.predict(X)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert clf.ledger_.examples == 5 * N


def test_numbers_in_strings_are_read_alike_in_every_pass(y):
    cells = [f"{k % 7},{k % 10}" for k in range(N)]  # decimal commas
    X = pd.DataFrame({"a": cells})
    clf = nk.StreamClassifier(passes=3, types={"a": "number"}).fit(X, y)
    numbers = pd.DataFrame({"a": [k % 7 + k % 10 / 10 for k in range(N)]})
    plain = nk.StreamClassifier(passes=3).fit(numbers, y)
    assert (clf.decision_function(X) == plain.decision_function(numbers)).all()


def test_what_is_wrong_changes_nothing(X, y, tmp_path):
    clf = nk.StreamClassifier().partial_fit(X, y)
    before = content(clf.model_, tmp_path)
    for bad in (X.assign(wind=np.inf), X.assign(wind="x"), X[["sky", "wind"]]):
        with pytest.raises(ValueError):  # noqa: PT011 - some are scikit-learn's own, others ours
            clf.partial_fit(bad, y)
        with pytest.raises(ValueError):  # noqa: PT011
            clf.fit(bad.assign(wind=np.inf), y)
    assert content(clf.model_, tmp_path) == before
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(X.rename(columns={"sky": "clouds"}))
