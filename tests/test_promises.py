"""Promises of the documentation that no single theorem or equivalence covers."""

import functools
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import novikoff as nk
from novikoff import rules
from novikoff.errors import DataError, MergeError, RuleError
from novikoff.inputs.labels import Labels
from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import LedgerTrace

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], float)
y = np.array([-1, 1, 1, -1, -1, 1])


def separable(seed, n=20, d=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (n, d)).astype(float)
    labels = X @ rng.normal(size=d) > 0
    return (X, labels) if 0 < labels.sum() < n else separable(seed + 1000, n, d)


@pytest.mark.parametrize("order", ["given", "shuffled", "random", "worst"])
@pytest.mark.parametrize("rule", [*rules.NAMES, pytest.param(lambda m, q: 0.3 if m <= 0.7 else 0.0, id="own")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_converged_means_that_every_training_row_is_correct(rule, order):
    is_stateful = isinstance(rules.resolve(rule), rules.StatefulRule)  # it need not converge
    for seed in range(25):
        rows, labels = separable(seed)
        max_iter = 50 if is_stateful else 100_000
        clf = nk.Perceptron(rule, order=order, random_state=seed, max_iter=max_iter).fit(rows, labels)
        assert clf.converged_ or is_stateful
        assert not clf.converged_ or (clf.predict(rows) == labels).all()


def test_the_warning_counts_the_remaining_mistakes():
    with pytest.warns(ConvergenceWarning, match=r"still made [1-9]\d* updates"):
        nk.Perceptron(rules.Margin(1e4), max_iter=5).fit(X, y)
    clash = np.vstack([X, X[:1]]), np.append(y, -y[0])
    with pytest.warns(ConvergenceWarning, match=r"still made [1-9]\d* mistakes"):
        nk.Perceptron(order="random", random_state=0, max_iter=30).fit(*clash)


def test_numpy_numbers_in_dicts_count_as_numbers():
    for kind in (np.uint8, np.int8, np.float32, np.float64, np.float16):
        rows = np.array([[100, 2], [3, 120], [90, 110], [7, 1]], kind)
        for rule in ("perceptron", "passive-aggressive"):
            named, array = nk.Perceptron(rule), nk.Perceptron(rule)
            for row, label in zip(rows, [1, 0, 1, 0], strict=True):
                example = dict(zip("ab", row, strict=True))
                assert named.predict_one(example) == array.predict_one(row)
                named.learn_one(example, label)
                array.learn_one(row, label)
            np.testing.assert_allclose(named.coef_, array.coef_)
            assert named.ledger_.radius == pytest.approx(array.ledger_.radius)
            assert {type(w) for w in named._model._now.example_learner.raw[0].w.values()} == {float}


def test_a_separator_needs_to_know_the_classes():
    rows, labels = [[1, 0], [-1, 0], [2, 1], [-2, 1]], ["a", "b", "a", "b"]
    with_classes = nk.Perceptron(separator=[0, -1, 0], classes=["a", "b"]).partial_fit(rows, labels)
    assert with_classes.ledger_.margin == 1.0
    model = nk.Perceptron(separator=[0, -1, 0])
    with pytest.raises(DataError, match=r"classes=\['a', 'b'\]"):
        model.partial_fit(rows, labels)
    model = nk.Perceptron(separator=[0, -1, 0]).learn_one([1.0, 0.0], "a")
    with pytest.raises(DataError, match=r"classes=\['a', 'b'\]"):
        model.learn_one([-1.0, 0.0], "b")
    assert model.classes_.tolist() == ["a"]


def test_no_bound_is_claimed_that_is_not_proved():
    learner, rows, codes = Learner(fit_intercept=False), Rows.of(X), (y + 1) // 2
    states = [learner.update(learner.init(2), rows, codes) for _ in range(20)]
    assert learner.ledger(states[0]).with_margin(0.7).mistake_bound is not None
    assert learner.ledger(learner.merge(states)).with_margin(0.7).mistake_bound is None
    late = nk.Perceptron(rules.Margin(1.0)).partial_fit(X, y).partial_fit(X[:1], [7])
    assert late.ledger_.with_margin(0.7).mistake_bound is None
    own = nk.Perceptron(lambda m, q: 1.0 if m <= 0 else 0.0).fit(X, y)
    assert own.ledger_.with_margin(0.7).mistake_bound is None


@pytest.mark.parametrize("rule", rules.NAMES)
def test_a_very_small_margin(rule):
    ledger = nk.Perceptron(rule).partial_fit(X, y).ledger_.with_margin(1e-200)
    if isinstance(rules.resolve(rule), (rules.AdaGrad, rules.Arow, rules.CoinBetting)):
        assert ledger.mistake_bound is ledger.mistakes_left is None
        return
    assert ledger.mistake_bound == np.inf
    assert ledger.mistakes_left is None
    assert "inf" in repr(ledger)


def test_names_may_be_added_to_a_table():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = nk.Perceptron().partial_fit(frame, y).learn_one({"a": 1.0, "new": 3.0}, -1)
    records = frame.to_dict("records")
    assert model.predict(frame).tolist() == model.predict(records).tolist()
    other = nk.Perceptron().partial_fit(records, y).learn_one({"a": 1.0, "new": 3.0}, -1).partial_fit(records, y)
    np.testing.assert_array_equal(model.partial_fit(frame, y).coef_, other.coef_)
    with pytest.raises(DataError, match="same name"):
        other.predict(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))


def test_set_params_between_blocks():
    model = nk.Perceptron().partial_fit(X, y)
    model.set_params(rule=rules.Margin(1000.0)).partial_fit(X, y)
    assert model.ledger_.updates == nk.Perceptron().partial_fit(X, y).ledger_.updates + len(X)
    with pytest.raises(DataError, match="hypothesis"):
        model.set_params(hypothesis="averaged").partial_fit(X, y)


def test_only_a_model_that_has_learned_is_fitted():
    check_is_fitted(nk.Perceptron().learn_one({"a": 1.0}, "yes"))
    refused = nk.Perceptron()
    with pytest.raises(DataError):
        refused.partial_fit([[np.nan]], [1])
    with pytest.raises(NotFittedError):
        check_is_fitted(refused)
    check_is_fitted(clone(refused).fit(X, y))


class ScoreRecorder:
    """A callback that scores the model after every pass."""

    def __init__(self, X, y):
        self.X, self.y, self.scores = X, y, []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is not None:
            self.scores.append(fitted_estimator.score(self.X, self.y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_pocket_never_gets_worse():
    pytest.importorskip("sklearn.callback")
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    seen = ScoreRecorder(rows, labels)
    model = nk.Perceptron(hypothesis="pocket", max_iter=12).set_callbacks(seen).fit(rows, labels)
    assert seen.scores == sorted(seen.scores)
    assert seen.scores[-1] == model.score(rows, labels)


def test_many_labels():
    """800 labels used to take twenty seconds. Nothing is timed here, but a relapse would be noticed."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(1500)
    model = nk.Perceptron().partial_fit(rng.normal(size=(1500, 2)), labels)
    assert model.classes_.tolist() == list(range(1500))
    assert Labels(range(100_000)).codes[99_999] == 99_999


def returns_nothing(margin, squared_norm):
    if margin > 1e9:
        return 1.0


@pytest.mark.parametrize(
    "rule",
    [returns_nothing, lambda m: 1.0, lambda m, q: "1", functools.partial(max, 0.0), lambda m, q: {m: q}.popitem],
    ids=["nothing", "one argument", "a string", "partial", "a method"],
)
def test_invalid_rules(rule):
    with pytest.raises(RuleError, match="rule"):
        nk.Perceptron(rule).fit(X, y)


def test_a_learner_accepts_names_and_checks_them():
    assert Learner("margin", "averaged").rule == rules.Margin()
    for wrong in ({"rule": "newton"}, {"hypothesis": "best"}, {"ties": "maybe"}):
        with pytest.raises(RuleError):
            Learner(**wrong)
    with pytest.raises(MergeError, match="hypotheses"):
        Learner().merge([Learner().init(2), Learner(hypothesis="voted").init(2)])


def test_invalid_rules_one_at_a_time():
    for rule in (lambda m: 1.0, returns_nothing):
        with pytest.raises(RuleError, match=r"must take .* return a number"):
            nk.Perceptron(rule).learn_one({"a": 1.0}, 1)


def test_the_printed_bound_is_rounded_up():
    rng = np.random.default_rng(0)
    for seed in range(50):
        rows, labels = separable(seed)
        ledger = nk.Perceptron().partial_fit(rows * rng.uniform(0.1, 1000.0), labels).ledger_
        printed = float(repr(ledger).split("at most ")[1].split()[0])
        assert ledger.margin_at_most <= printed <= ledger.margin_at_most * (1.0 + 1e-5)


@pytest.mark.parametrize("positions", [(0, 7), (-1, 6), (4, 3)])
def test_positions_outside_the_rows(positions):
    learner = Learner()
    with pytest.raises(DataError, match="Positions"):
        learner.update(learner.init(2), Rows.of(X), (y + 1) // 2, start=positions[0], stop=positions[1])
    with pytest.raises(DataError, match="integers"):
        learner.update(learner.init(2), Rows.of(X), np.full(6, 0.9))


def test_read_only_rows_share_memory_and_compile_nothing_new():
    from novikoff._compiled.loops import additive

    nk.Perceptron().fit(X, y)
    locked = X.copy()
    locked.flags.writeable = False
    assert np.shares_memory(Rows.of(locked).data, locked)
    before = len(getattr(additive.learn_binary, "signatures", ()))
    nk.Perceptron().fit(locked, y)
    assert len(getattr(additive.learn_binary, "signatures", ())) == before


@pytest.mark.parametrize("updates", [511, 512, 513, 1024, 1025, 2049, 5000])
def test_the_trace_is_equal_one_by_one_and_in_blocks(updates):
    one, block = LedgerTrace(), LedgerTrace()
    for k in range(1, updates + 1):
        one.append(k, k, k, float(k))
    numbers = np.arange(1, updates + 1)
    block.extend(1, numbers, numbers, numbers.astype(float) ** 2, None)
    assert one.stride == block.stride
    assert one.updates.tolist() == block.updates.tolist()
    assert one.norm.tolist() == block.norm.tolist()
    assert updates // one.stride == len(one) <= one.capacity


def test_threads_may_predict_at_once():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(500, 5)), rng.integers(0, 3, 500)
    model = nk.Perceptron(hypothesis="voted").partial_fit(rows, labels)
    expected = model.predict(rows).tolist()
    found = []
    threads = [threading.Thread(target=lambda: found.append(model.predict(rows).tolist())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_subclasses_may_have_parameters_and_defaults_of_their_own():
    class WithOption(nk.Perceptron):
        def __init__(self, **others):
            super().__init__(**others)

    class Wrong(nk.Perceptron):
        def __init__(self, max_iter=0):
            super().__init__(max_iter=max_iter)

    assert WithOption().fit(X, y).converged_
    with pytest.raises(ValueError, match="max_iter"):
        Wrong().fit(X, y)
