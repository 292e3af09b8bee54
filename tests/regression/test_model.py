"""RegressionModel: against ScInOL2 as printed, invariances, the theorem of its ledger, blocks, copies and threads."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import Rows
from novikoff.errors import DataError, ModelFileError
from novikoff.model_files import Section
from novikoff.regression.model import RegressionModel
from tests.reference.regression import Regression

seeds = st.integers(0, 10_000)


def problem(seed, n=60, d=4, sparse=0.3):
    """Rows of numbers on various scales, some of them 0, and targets with noise; sometimes with a jump."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d) * (rng.random((n, d)) > sparse)
    y = 100.0 + X @ (rng.normal(size=d) / np.abs(X).max(axis=0, initial=1e-9)) + 0.1 * rng.normal(size=n)
    if seed % 3 == 0:
        y[n // 2 :] += 5.0 * rng.normal()
    return X, y


def learned(X, y, cuts=()):
    model = RegressionModel()
    for part in np.split(np.arange(len(y)), sorted(set(cuts))):
        if len(part):
            model.learn_rows(Rows.of(X[part]), y[part])
    return model


def progressive(X, y):
    """The prediction for each row from the rows before it, and the model in the end."""
    model, predictions = RegressionModel(), []
    for i in range(len(y)):
        row = Rows.of(X[[i]])
        predictions.append(model.predict(row)[0] if i else np.nan)
        model.learn_rows(row, y[[i]])
    return np.array(predictions), model


@settings(max_examples=30)
@given(seeds)
def test_predictions_are_those_of_the_paper(seed):
    X, y = problem(seed, n=30)
    reference, expected = Regression(), []
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        named = {"constant": 1.0, **{str(j): v for j, v in enumerate(x)}}
        expected.append(reference.predict(named))
        reference.learn(named, target)
    found, model = progressive(X, y)
    assert found[1:] == pytest.approx(expected[1:], rel=1e-9)
    weights = {name: each.weight(reference.L) for name, each in reference.coordinates.items()}
    assert model.weights()[1:] == pytest.approx([weights.get(str(j), 0.0) for j in range(4)], rel=1e-6, abs=1e-9)
    # The ledger counts exactly these errors.
    assert model.ledger.squared_error == pytest.approx(((found - y)[1:] ** 2).sum(), rel=1e-9)
    means = np.cumsum(y)[:-1] / np.arange(1, len(y))
    assert model.ledger.squared_error_of_mean == pytest.approx(((means - y[1:]) ** 2).sum(), rel=1e-9)


@given(seeds, st.lists(st.integers(1, 59), max_size=5))
def test_blocks_do_not_matter(seed, cuts):
    X, y = problem(seed)
    for rows in (X, sp.csr_array(X)):
        one, many = learned(rows, y), learned(rows, y, cuts)
        for a, b in zip(one.__getstate__(), many.__getstate__(), strict=True):
            assert (a == b).all()


@given(seeds)
def test_dense_equals_sparse(seed):
    X, y = problem(seed)
    dense, sparse = learned(X, y), learned(sp.csr_array(X), y)
    for a, b in zip(dense.__getstate__(), sparse.__getstate__(), strict=True):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12)
    assert dense.predict(Rows.of(X)) == pytest.approx(sparse.predict(Rows.of(sp.csr_array(X))), rel=1e-9)


@given(seeds, st.sampled_from([1e-9, 0.37, 5.0, 1e8]), st.sampled_from([1e-6, 3.0, 1e6]), st.floats(-1e3, 1e3))
def test_scales_do_not_matter(seed, of_feature, of_target, shift):
    X, y = problem(seed)
    before = learned(X, y).predict(Rows.of(X))
    scaled = X * [of_feature, 1.0, 1.0, 1.0]
    assert learned(scaled, y).predict(Rows.of(scaled)) == pytest.approx(before, rel=1e-7)
    after = learned(X, of_target * (y + shift)).predict(Rows.of(X))
    assert after == pytest.approx(of_target * (before + shift), rel=1e-6, abs=1e-6 * of_target * (1.0 + abs(shift)))


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.lists(st.integers(-3, 3), min_size=2, max_size=2), st.integers(-50, 50) | st.integers(-3, 3)),
        min_size=2,
        max_size=40,
    ),
    st.floats(0.1, 10.0),
)
def test_no_rows_exceed_the_bound(examples, growth):
    """The theorem of RegressionLedger, on rows and targets that Hypothesis chooses, also with growing targets."""
    X = np.array([x for x, _ in examples], float)
    y = np.array([target for _, target in examples], float) * growth ** np.arange(len(examples))
    ledger = learned(X, y).ledger
    assert ledger.squared_error <= ledger.squared_error_bound * (1.0 + 1e-9)
    span = y.max() - y.min()
    assert span <= ledger.unit <= 2.0 * span
    assert ledger.wealth <= 2.0 * len(np.unique(X != 0.0, axis=0)) + 1e-9


def test_the_worst_targets_lose_no_more_than_the_bound():
    """Each target is the end of the range farther from the prediction."""
    rng = np.random.default_rng(0)
    model = RegressionModel()
    model.learn_rows(Rows.of(np.ones((2, 3))), np.array([0.0, 1.0]))
    for _ in range(400):
        row = Rows.of(rng.choice([-1.0, 1.0], size=(1, 3)))
        model.learn_rows(row, np.round(model.predict(row) < 0.5))
    ledger = model.ledger
    assert ledger.squared_error_of_mean < ledger.squared_error <= ledger.squared_error_bound
    assert ledger.wealth == pytest.approx(2.0)


def test_it_finds_the_line():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 5))
    y = X @ [3.0, -2.0, 0.0, 1.0, 0.5] + 7.0 + 0.1 * rng.normal(size=5000)
    model = learned(X[:4000], y[:4000])
    errors = model.predict(Rows.of(X[4000:])) - y[4000:]
    assert np.sqrt((errors**2).mean()) < 0.2  # the noise is 0.1, the deviation of the targets 3.8
    assert model.ledger.r2 > 0.9


def test_predictions_stay_within_the_targets():
    X, y = problem(1)
    model = learned(X, y)
    predictions = model.predict(Rows.of(1e6 * X))
    assert predictions.min() >= y.min()
    assert predictions.max() <= y.max()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_targets(n):
    model = learned(np.arange(n)[:, None] + 1.0, np.full(n, 3.5))
    assert model.predict(Rows.of([[9.0]])).tolist() == [3.5]
    assert np.isnan(model.ledger.r2)
    assert (model.ledger.examples, model.ledger.squared_error, model.ledger.mean) == (n, 0.0, 3.5)
    assert "3.5 to 3.5" in repr(model.ledger)


def test_new_features_may_come_at_any_time():
    X, y = problem(4)
    model = RegressionModel()
    model.learn_rows(Rows.of(sp.csr_array(X[:20, :2])), y[:20])
    model.learn_rows(Rows.of(sp.csr_array(X[20:])), y[20:])
    zeros = X.copy()
    zeros[:20, 2:] = 0.0
    for a, b in zip(model.__getstate__(), learned(sp.csr_array(zeros), y).__getstate__(), strict=True):
        assert (a == b).all()
    with pytest.raises(DataError, match="X has 2 features, but the model has 4"):
        model.learn_rows(Rows.of(X[:, :2]), y)
    with pytest.raises(DataError, match="X has 2 features, but the model has 4"):
        model.predict(Rows.of(X[:, :2]))


def test_bad_input_changes_nothing():
    X, y = problem(2)
    model = learned(X, y)
    before = model.__getstate__()
    for targets, message in [
        (np.where(np.arange(60) == 7, np.nan, y), "target of row 7 is .*nan"),
        (np.where(np.arange(60) == 7, np.inf, y), "target of row 7 is .*inf"),
        (np.where(np.arange(60) == 7, 1e101, y), "target of row 7 is .*1e"),
        (y[:-1], "59 targets for 60 rows"),
    ]:
        with pytest.raises(DataError, match=message):
            model.learn_rows(Rows.of(X), targets)
    with pytest.raises(DataError, match="NaN"):
        model.learn_rows(Rows.of(np.where(np.arange(60)[:, None] == 3, np.nan, X)), y)
    assert all((a == b).all() for a, b in zip(before, model.__getstate__(), strict=True))


def test_copies_are_independent():
    X, y = problem(3)
    model = learned(X, y)
    before = model.predict(Rows.of(X))
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (other.predict(Rows.of(X)) == before).all()
        other.learn_rows(Rows.of(X), y + 3.0)
        assert (model.predict(Rows.of(X)) == before).all()


def test_threads_may_share_a_model():
    X, y = problem(5)
    model = RegressionModel()
    threads = [threading.Thread(target=lambda: [model.learn_rows(Rows.of(X), y) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.n_examples == 4 * 50 * 60
    alone = RegressionModel()
    for _ in range(200):
        alone.learn_rows(Rows.of(X), y)
    assert (model.weights() == alone.weights()).all()


def test_files():
    X, y = problem(6)
    model = learned(X, y)
    root = Section("m.nk holds no valid model")
    model.write_to(root.add_part("regression"))
    again = RegressionModel.read_from(root.part("regression"))
    model.learn_rows(Rows.of(X), y)
    again.learn_rows(Rows.of(X), y)
    assert all((a == b).all() for a, b in zip(again.__getstate__(), model.__getstate__(), strict=True))


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("coordinates", (1, 0), np.nan),
        ("coordinates", (1, 1), -1.0),
        ("coordinates", (2, 2), -1.0),
        ("coordinates", (0, 3), -9.0),
        ("counts", 0, -1),
        ("counts", 1, 7),
        ("measures", 0, np.inf),
        ("measures", 1, 1e9),
        ("measures", 3, -1.0),
        ("measures", 4, -1.0),
        ("measures", 2, 1e200),
    ],
)
def test_a_damaged_file_is_refused(name, at, value):
    X, y = problem(6)
    root = Section("m.nk holds no valid model")
    learned(X, y).write_to(root.add_part("regression"))
    root.tensors[f"regression.{name}"][at] = value
    with pytest.raises(ModelFileError, match=r"m\.nk holds no valid model: regression"):
        RegressionModel.read_from(root.part("regression"))
