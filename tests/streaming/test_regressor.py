"""StreamRegressor and nk.learn(loss="squared"): targets, blocks, resuming, interrupts and files."""

import copy
import pickle
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import novikoff as nk
from novikoff.data.formats.block import CategoricalColumn, TableBlock
from novikoff.errors import DataError, LossError, ModelFileError
from novikoff.model_files import read, write
from novikoff.streaming.model import StreamModel
from novikoff.streaming.regressor import StreamRegressor, numbers_of


def houses(path, n=3000, seed=0):
    """Prices by rooms, area and town, with noise; some areas are missing."""
    rng = np.random.default_rng(seed)
    rooms, area = rng.integers(1, 8, n), rng.normal(80.0, 25.0, n)
    towns = rng.choice(["Bern", "Basel", "Genf"], n)
    price = 1e5 * rooms + 3e3 * area + np.where(towns == "Genf", 2e5, 0.0) + rng.normal(0.0, 2e4, n)
    cells = [f"{a:.1f}" if k % 40 else "" for k, a in enumerate(area)]
    rows = zip(rooms, cells, towns, price, strict=True)
    path.write_text("rooms,area,town,price\n" + "".join(f"{r},{a},{t},{p:.0f}\n" for r, a, t, p in rows))
    return path


@pytest.fixture
def data(tmp_path):
    return houses(tmp_path / "houses.csv")


def saved(model, path):
    model.save(path)
    return path.read_bytes()


def test_it_learns_prices(data, tmp_path):
    model = nk.learn(data, target="price", loss="squared")
    assert isinstance(model, nk.StreamRegressor)
    assert (model.target, model.labels, model.ledger.examples) == ("price", [], 3000)
    assert model.ledger.r2 > 0.85
    later = houses(tmp_path / "later.csv", 1000, seed=1)
    errors = model.measure_errors(nk.open_stream(later, target="price"))
    (block,) = nk.open_stream(later, target="price")
    predicted = model.predict(block)
    assert errors.rmse == pytest.approx(root_mean_squared_error(block.labels, predicted))
    assert errors.mae == pytest.approx(mean_absolute_error(block.labels, predicted))
    assert errors.r2 == pytest.approx(r2_score(block.labels, predicted))
    assert errors.rmse_of_mean == pytest.approx(block.labels.std())
    # Least squares in hindsight, on the same features of the same rows, is hardly better.
    (rows,) = nk.open_stream(data, target="price")
    X, Z = (model.rows_of(each).matrix.toarray() for each in (rows, block))
    best = root_mean_squared_error(block.labels, Ridge(1e-3).fit(X, rows.labels).predict(Z))
    assert best < errors.rmse < 1.2 * best
    ((name, weights),) = model.heaviest(2)
    assert name == "price"
    assert [feature for feature, _ in weights] == ["rooms", "town=Genf"]


def test_the_figures_are_those_of_predictions_before_learning(data):
    model, predicted, true = StreamRegressor(), [], []
    for block in nk.open_stream(data, target="price"):
        for i in range(300):
            if i:
                predicted += model.predict(block[i : i + 1]).tolist()
                true += block.labels[i : i + 1].tolist()
            # Moments take a row in before it is scaled, so that the prediction is that of the next moments.
            model.learn(block[i : i + 1])
        break
    own = (np.array(predicted) - true) ** 2
    assert model.ledger.squared_error == pytest.approx(own.sum(), rel=0.05)
    means = np.cumsum(block.labels[:299]) / np.arange(1, 300)
    assert model.ledger.squared_error_of_mean == pytest.approx(((means - true) ** 2).sum())


@pytest.mark.parametrize("size", [1, 7, 500])
def test_blocks_do_not_matter(data, tmp_path, size):
    (block,) = nk.open_stream(data, target="price")
    block = block[:900]
    whole, many = StreamRegressor(), StreamRegressor()
    whole.learn(block)
    for start, stop in pairwise([*range(0, 900, size), 900]):
        many.learn(block[start:stop])
    assert saved(whole, tmp_path / "whole.nk") == saved(many, tmp_path / "many.nk")
    paused = StreamRegressor()
    assert list(paused.learn_until(block, [1, 2, 64, 256])) == [1, 2, 64, 256, 900]
    assert saved(paused, tmp_path / "paused.nk") == saved(whole, tmp_path / "whole.nk")


def test_a_run_that_resumes_equals_one_that_was_never_stopped(data, tmp_path):
    options = {"target": "price", "loss": "squared", "passes": 2}
    whole = nk.learn(data, checkpoint=tmp_path / "whole.nk", **options)
    rows = data.read_text().splitlines(keepends=True)
    data.write_text("".join(rows[:1200]))
    nk.learn(data, checkpoint=tmp_path / "part.nk", **(options | {"passes": 1}))
    data.write_text("".join(rows))
    resumed = nk.learn(data, checkpoint=tmp_path / "part.nk", resume=True, **options)
    assert resumed.ledger == whole.ledger
    assert (tmp_path / "part.nk").read_bytes() == (tmp_path / "whole.nk").read_bytes()
    with pytest.raises(DataError, match="loss=squared and cannot be continued with loss=mistakes"):
        nk.learn(data, target="price", checkpoint=tmp_path / "part.nk", resume=True)
    with pytest.raises(DataError, match="hash_bits=20 and cannot be continued with hash_bits=9"):
        nk.learn(data, checkpoint=tmp_path / "part.nk", resume=True, hash_bits=9, **options)


def test_a_file_goes_on_as_if_it_had_never_been_written(data, tmp_path):
    model = nk.learn(data, target="price", loss="squared")
    model.save(tmp_path / "m.nk")
    (block,) = nk.open_stream(data, target="price")
    others = [nk.load(tmp_path / "m.nk"), StreamModel.load(tmp_path / "m.nk"), StreamRegressor.load(tmp_path / "m.nk")]
    others += [copy.copy(model), pickle.loads(pickle.dumps(model))]
    model.learn(block)
    for other in others:
        assert type(other) is StreamRegressor
        other.learn(block)
        assert saved(other, tmp_path / "other.nk") == saved(model, tmp_path / "model.nk")


def test_files_of_other_kinds_are_told_apart(data, tmp_path):
    nk.learn(data, target="town", checkpoint=tmp_path / "labels.nk")
    with pytest.raises(ModelFileError, match="of kind 'stream'"):
        StreamRegressor.load(tmp_path / "labels.nk")
    nk.learn(data, target="price", loss="squared", checkpoint=tmp_path / "numbers.nk")
    kind, root = read(tmp_path / "numbers.nk")
    assert kind == "stream-regressor"
    root.tensors["regression.coordinates"] = root.tensors["regression.coordinates"][:-1].copy()
    root.tensors["regression.counts"][1] -= 1
    write(tmp_path / "numbers.nk", kind, root, lambda found: None)
    with pytest.raises(ModelFileError, match=r"holds no valid model: .* features and .* weights"):
        nk.load(tmp_path / "numbers.nk")


def test_targets_that_are_no_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,2\n" * 5 + "1,two\n" * 5)
    with pytest.raises(DataError, match=r"t\.csv:7: the target is 'two'; the squared loss needs a number"):
        nk.learn(path, target="y", loss="squared", types={"y": "word"})
    block = TableBlock("t.csv", np.arange(2, 5), np.array(["1", "2.5", "1e3"], object), {"x": np.arange(3.0)})
    assert numbers_of(block).tolist() == [1.0, 2.5, 1000.0]
    for label in (np.nan, np.inf, 1e101, "", "nan", None):
        bad = TableBlock("t.csv", np.arange(2, 5), np.array([1, 2, label], object), {"x": np.arange(3.0)})
        model = StreamRegressor()
        limit = " up to 1e\\+100" if label == 1e101 else r"\."
        with pytest.raises(DataError, match=rf"t\.csv:4: the target is .*; the squared loss needs a number{limit}"):
            model.learn(bad)
        assert (model.encoding, model.ledger.examples) == (None, 0)


def test_a_target_that_only_looks_like_words_later_is_a_bad_row(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x,y\n1,2\n2,3\n")
    second.write_text("x,y\n1,low\n2,high\n")
    with pytest.raises(DataError, match=r"b\.csv:2"):
        nk.learn([first, second], target="y", loss="squared")


def test_what_does_not_go_with_the_squared_loss(data):
    with pytest.raises(LossError, match="knows the losses 'mistakes' and 'squared'; found 'hinge'"):
        nk.learn(data, target="price", loss="hinge")
    for option in ({"rule": "margin"}, {"hypothesis": "last"}, {"fit_intercept": False}, {"ties": "positive"}):
        with pytest.raises(LossError, match=f"{next(iter(option))} is for loss='mistakes'"):
            nk.learn(data, target="price", loss="squared", **option)
    model = nk.learn(data, target="price", loss="squared")
    (block,) = nk.open_stream(data, target="price")
    with pytest.raises(DataError, match="numbers, which have no probabilities"):
        model.predict_proba(block)
    with pytest.raises(DataError, match="predicts numbers, which have no probabilities to calibrate"):
        nk.calibrate(model, [block])


def test_svmlight_and_texts(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X @ [2.0, -1.0, 0.5] + 4.0
    path = tmp_path / "t.svm"
    rows = zip(y, X.tolist(), strict=True)
    path.write_text("".join(f"{v} {' '.join(f'{j + 1}:{x}' for j, x in enumerate(row))}\n" for v, row in rows))
    assert nk.learn(path, loss="squared").ledger.r2 > 0.8
    path = tmp_path / "t.csv"
    words = rng.choice(["good", "bad", "fine"], size=(500, 12))
    stars = (words == "good").sum(axis=1) - (words == "bad").sum(axis=1)
    path.write_text("note,stars\n" + "".join(f"{' '.join(w)},{s}\n" for w, s in zip(words, stars, strict=True)))
    model = nk.learn(path, target="stars", loss="squared", types={"note": "text"}, passes=3)
    assert model.ledger.r2 > 0.5


def test_an_interrupt_leaves_a_block_learned_or_not(tmp_path):
    """Signals arrive at any moment; afterwards the model equals one that has learned some whole blocks."""
    rng = np.random.default_rng(3)
    block = TableBlock(
        "t.csv",
        np.arange(2, 402),
        rng.normal(size=400),
        {"x": rng.normal(size=400), "w": CategoricalColumn.from_cells(rng.choice(["a", "b", None], 400).tolist())},
    )
    expected = {0: None}
    alone = StreamRegressor()
    for k in range(1, 400):
        alone.learn(block)
        expected[400 * k] = alone.model.weights().tolist()
    model, handler = StreamRegressor(), signal.signal(signal.SIGALRM, _interrupt)
    model.learn(block)
    try:
        for delay in rng.uniform(1e-5, 3e-3, 40):
            signal.setitimer(signal.ITIMER_REAL, delay)
            try:
                until = time.monotonic() + 0.01
                while time.monotonic() < until:
                    model.learn(block)
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            if model.ledger.examples >= 400 * 399:
                break
            model.save(tmp_path / "m.nk")  # recovers first
            assert model.model.weights().tolist() == expected[model.ledger.examples]
            assert model.rows_read == {"t.csv": model.ledger.examples}
    finally:
        signal.signal(signal.SIGALRM, handler)


def _interrupt(number, frame):
    raise KeyboardInterrupt


def test_threads_may_share_it(data):
    (block,) = nk.open_stream(data, target="price")
    model = StreamRegressor()
    model.learn(block[:100])
    threads = [threading.Thread(target=lambda: [model.learn(block[:50]) for _ in range(20)]) for _ in range(3)]
    threads += [threading.Thread(target=lambda: [model.predict(block[:50]) for _ in range(20)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.ledger.examples == 100 + 3 * 20 * 50
