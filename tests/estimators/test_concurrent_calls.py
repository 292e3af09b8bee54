"""Calls that come in the middle of another call on the same estimator, from a thread or a signal handler."""

import builtins
import contextlib
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff import Rows
from novikoff.errors import DataError
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.model import Model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
NARROW = RNG.normal(size=(20, 4))
WIDE = RNG.normal(size=(20, 9))
SIGNS = np.where(NARROW[:, 0] > 0.0, 1, -1)

CLASSIFIERS = [nk.Perceptron(max_iter=3), nk.LinearClassifier(max_iter=3), nk.KernelPerceptron("linear", max_iter=3)]
REGRESSORS = [
    nk.LinearRegressor(),
    nk.LinearRegressor(solver="sgd", max_iter=3),
    nk.KernelRegressor("linear", step=0.01, max_iter=3),
]
ONLINE = [each for each in (*CLASSIFIERS, *REGRESSORS) if hasattr(each, "partial_fit")]
each_estimator = pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS], ids=str)
each_online_estimator = pytest.mark.parametrize("estimator", ONLINE, ids=str)
each_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)


def new(estimator):
    return type(estimator)(**estimator.get_params())


class Interposed:
    """Array-like data that runs an action while it is converted to an array, in the middle of the call that got it."""

    def __init__(self, data, action):
        self.data, self.action, self.__len__ = np.asarray(data), action, np.asarray(data).__len__
        self.shape = self.data.shape

    def __array__(self, *args, **kwargs):
        action, self.action = self.action, None
        if action is not None:
            thread = threading.Thread(target=action)
            thread.start()
            thread.join()
        return self.data


# -- rows of another width


def test_predict_while_a_fit_reports(monkeypatch):
    """`n_features_in_` of a fit that is under way must not be visible beside the weights of the last one."""
    model = nk.LinearClassifier(max_iter=3, verbose=1).fit(NARROW, SIGNS)
    expected, seen = model.predict(NARROW), []

    def read(line):
        assert model.n_features_in_ == 4
        np.testing.assert_array_equal(model.predict(NARROW), expected)
        with pytest.raises(ValueError, match="9 features"):
            model.predict(WIDE)
        seen.append(line)

    monkeypatch.setattr(builtins, "print", read)
    model.fit(WIDE, SIGNS)
    assert seen
    assert model.n_features_in_ == 9


def test_predict_beside_fits_of_very_different_widths():
    """The weights of 4 columns were read at column 2,000,000, which crashed the interpreter."""
    model = nk.LinearClassifier(max_iter=3).fit(NARROW, SIGNS)
    wide = sp.csr_array((np.ones(20), (np.arange(20), np.full(20, 1_999_999))), shape=(20, 2_000_000))
    stop = threading.Event()

    def refit():
        while not stop.is_set():
            model.fit(wide, SIGNS)
            model.fit(NARROW, SIGNS)

    thread = threading.Thread(target=refit)
    thread.start()
    try:
        for _ in range(60):
            with contextlib.suppress(DataError, ValueError):  # of another number of features
                assert len(model.predict(wide)) == 20
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_models_refuse_rows_of_another_width(form):
    linear = nk.LinearClassifier(max_iter=3).fit(form(NARROW), SIGNS)._model
    kernel = nk.KernelPerceptron("linear", max_iter=3).fit(form(NARROW), SIGNS)._model
    regression = nk.KernelRegressor("linear", step=0.01, max_iter=3).fit(form(NARROW), NARROW[:, 0])._model
    loss, options = nk.LinearClassifier()._regularized_loss(), nk.LinearClassifier()._options()
    rows, points = Rows.of(form(WIDE)), nk.kernel_methods.Points.of(Rows.of(form(WIDE)))
    for call in (
        lambda: linear.scores(rows),
        lambda: linear.learn(loss, rows, SIGNS[None].astype(float), options),
        lambda: kernel.predict(points, "last"),
        lambda: kernel.learn(points, SIGNS),
        lambda: regression.scores(points, "last"),
        lambda: regression.learn_numbers(points, NARROW[:, 0]),
    ):
        with pytest.raises(DataError, match="9 features"):
            call()


def test_a_perceptron_model_refuses_rows_of_another_width():
    model = Model(Learner())
    model.learn_rows(Rows.of(NARROW), SIGNS)
    for rows in (Rows.of(WIDE), Rows.of(NARROW[:, :2]), Rows.of(sp.csr_array(WIDE))):
        with pytest.raises(DataError, match="expecting 4 features"):
            model.learn_rows(rows, SIGNS)
    assert model.ledger.examples == 20


# -- what other threads learn meanwhile


@each_online_estimator
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_a_rejected_call_keeps_what_another_thread_has_learned(estimator, verb):
    """A call that fails used to restore all attributes as they were before it, without what others had learned."""
    model, bad = new(estimator), NARROW.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        getattr(model, verb)(Interposed(bad, lambda: model.partial_fit(NARROW, SIGNS)), SIGNS)
    reference = new(estimator).partial_fit(NARROW, SIGNS)
    np.testing.assert_array_equal(model.predict(NARROW), reference.predict(NARROW))
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("estimator", [nk.Perceptron(), nk.KernelPerceptron(), nk.KernelRegressor()], ids=str)
def test_a_rejected_example_keeps_what_another_thread_has_learned(estimator):
    model = new(estimator)
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one(Interposed(np.full(4, np.nan), lambda: model.learn_one(NARROW[0], 1)), 1)
    assert model.ledger_.examples == 1


@each_estimator
def test_a_rejected_fit_keeps_parameters_set_meanwhile(estimator):
    model = new(estimator)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(Interposed(np.full((20, 4), np.nan), lambda: model.set_params(max_iter=7)), SIGNS)
    assert model.max_iter == 7


# -- two first blocks


@each_online_estimator
def test_two_first_blocks_of_different_widths(estimator):
    """The second to end finds a model of other columns, and is rejected; they used to be mixed."""
    model = new(estimator)
    with pytest.raises(ValueError, match="9 features"):
        model.partial_fit(Interposed(WIDE, lambda: model.partial_fit(NARROW, SIGNS)), SIGNS)
    reference = new(estimator).partial_fit(NARROW, SIGNS)
    np.testing.assert_array_equal(model.predict(NARROW), reference.predict(NARROW))


@each_classifier
def test_two_first_blocks_with_different_labels(estimator):
    model, words = new(estimator), np.where(SIGNS > 0, "yes", "no")
    learn = Interposed(NARROW, lambda: model.partial_fit(NARROW, words))
    if isinstance(estimator, nk.LinearClassifier):
        with pytest.raises(ValueError, match="is not one of the classes"):
            model.partial_fit(learn, np.where(SIGNS > 0, "yes", "perhaps"))
        assert model.classes_.tolist() == ["no", "yes"]
    else:
        model.partial_fit(learn, np.where(SIGNS > 0, "yes", "perhaps"))
        assert model.classes_.tolist() == ["no", "perhaps", "yes"]
        assert model.ledger_.examples == 40


@each_online_estimator
def test_two_first_blocks_are_both_learned(estimator):
    model = new(estimator)
    model.partial_fit(Interposed(NARROW[10:], lambda: model.partial_fit(NARROW[:10], SIGNS[:10])), SIGNS[10:])
    reference = new(estimator).partial_fit(NARROW[:10], SIGNS[:10]).partial_fit(NARROW[10:], SIGNS[10:])
    np.testing.assert_array_equal(model.predict(WIDE[:, :4]), reference.predict(WIDE[:, :4]))


# -- reading beside a fit


@each_estimator
def test_predict_uses_one_model(estimator):
    """Rows that were validated for one model are not scored by its successor, which has other columns."""
    model = new(estimator).fit(NARROW, SIGNS)
    expected = model.predict(NARROW)
    found = model.predict(Interposed(NARROW, lambda: model.fit(WIDE, SIGNS)))
    np.testing.assert_array_equal(found, expected)
    assert model.n_features_in_ == 9


@each_classifier
def test_labels_belong_to_the_model_that_scored(estimator):
    model = new(estimator).fit(NARROW, SIGNS)
    expected = model.predict(NARROW)
    words = np.where(SIGNS > 0, "a", "b")
    found = model.predict(Interposed(NARROW, lambda: model.fit(NARROW, words)))
    np.testing.assert_array_equal(found, expected)
    assert model.classes_.tolist() == ["a", "b"]


class DictsWithAction(dict):
    """A dict of named features that runs an action when its items are read."""

    def __init__(self, features, action):
        super().__init__(features)
        self.action = action

    def items(self):
        action, self.action = self.action, None
        if action is not None:
            action()
        return super().items()


@pytest.mark.parametrize("estimator", [nk.Perceptron(max_iter=3), nk.KernelPerceptron("linear", max_iter=3)], ids=str)
def test_names_belong_to_the_model_that_scored(estimator):
    """A refit that numbers the same names in another order gave wrong labels without an error."""
    rows, y = [{"a": 1.0}, {"b": 1.0}, {"a": 2.0}, {"b": 2.0}], [0, 1, 0, 1]
    model = new(estimator).fit(rows, y)
    turned = [{"b": 1.0}, {"a": 1.0}, {"b": 2.0}, {"a": 2.0}]
    found = model.predict([DictsWithAction({"a": 1.0}, lambda: model.fit(turned, y)), {"b": 1.0}])
    assert found.tolist() == [0, 1]
    assert model.predict([{"a": 1.0}, {"b": 1.0}]).tolist() == [1, 0]


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_a_kernel_perceptron_refuses_other_columns_one_at_a_time(form):
    model = nk.KernelPerceptron("linear", max_iter=3).fit(form(NARROW), SIGNS)
    for call in (model.predict_one, lambda x: model.learn_one(x, 1)):
        with pytest.raises(DataError, match="9 features"):
            call(WIDE[0])
    assert model.ledger_.examples % 20 == 0


# -- what a rejected first block leaves behind


@each_online_estimator
def test_a_rejected_first_block_leaves_no_columns(estimator):
    model, bad = new(estimator), pd.DataFrame(NARROW.copy(), columns=list("abcd"))
    bad.iloc[3, 2] = np.inf
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(bad, SIGNS)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("estimator", [nk.Perceptron(), nk.KernelPerceptron("linear")], ids=str)
def test_dicts_after_a_rejected_first_block(estimator, tmp_path):
    """The names of the rejected block were taken for those of the model: wrong labels, and a file that did not load."""
    model = new(estimator)
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(pd.DataFrame({"a": [1.0, np.inf], "b": [2.0, 3.0]}), [0, 1])
    for _ in range(3):
        model.learn_one({"b": 1.0}, "b").learn_one({"a": 1.0}, "a")
    frame = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    assert model.predict(frame).tolist() == ["a", "b"]
    model.save(tmp_path / "model.nk")
    assert nk.load(tmp_path / "model.nk").predict(frame).tolist() == ["a", "b"]


@each_estimator
def test_a_fit_to_other_columns_forgets_the_names(estimator):
    model = new(estimator).fit(pd.DataFrame(NARROW, columns=list("abcd")), SIGNS)
    assert model.feature_names_in_.tolist() == list("abcd")
    model.fit(WIDE, SIGNS)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 9
