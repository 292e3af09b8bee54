"""Data in memory: the model of a DataFrame, of dicts or of an array is that of a file with the same rows."""

import copy
import json
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import novikoff as nk
from novikoff.errors import DataError

N = 300


@pytest.fixture(scope="module")
def frame():
    """A number, an integer, a category, a text and a label; some cells are missing."""
    rng = np.random.default_rng(0)
    texts = rng.choice(["ship", "sea", "wind", "sail", "rope"], size=(N, 6))
    found = pd.DataFrame(
        {
            "size": rng.normal(size=N),
            "count": rng.integers(0, 9, N),
            "sky": rng.choice(["red", "green", "blue"], N),
            "note": [" ".join(words) for words in texts.tolist()],
            "y": rng.choice(["yes", "no"], N),
        }
    )
    found.loc[5, "size"] = np.nan
    found.loc[[7, 9], "sky"] = None
    return found


def records(frame):
    """Return the rows of a DataFrame as dicts without the cells that are missing."""
    return [{key: value for key, value in row.items() if value == value} for row in frame.to_dict("records")]


def content(model, folder):
    """Return the model file, in which what the rows came from, and how it was written, are left out."""
    model = copy.copy(model)
    model.rows_read, model.rows_of_run, model.run_order, model.form = {}, {}, None, None
    path = pathlib.Path(folder, "content.nk")
    model.save(path)
    return path.read_bytes()


# -- what is learned is what a file leads to


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("convert", [lambda df: df, pl.from_pandas, pa.Table.from_pandas])
def test_a_frame_leads_to_the_model_of_a_file(frame, convert, passes, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    expected = content(nk.learn(tmp_path / "t.csv", target="y", passes=passes), tmp_path)
    assert content(nk.learn(tmp_path / "t.parquet", target="y", passes=passes), tmp_path) == expected
    assert content(nk.learn(convert(frame), target="y", passes=passes), tmp_path) == expected


def test_labels_in_the_frame_or_beside_it(frame, tmp_path):
    inside = nk.learn(frame, target="y")
    X = frame.drop(columns="y")
    for y in (frame["y"], frame["y"].tolist(), frame["y"].to_numpy(), pl.Series(frame["y"].tolist())):
        beside = nk.learn(X, y)
        assert beside.target is None
        beside.target = "y"
        assert content(beside, tmp_path) == content(inside, tmp_path)


def test_dicts_lead_to_the_model_of_json_lines(frame, tmp_path):
    rows = records(frame)
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    expected = content(nk.learn(tmp_path / "t.jsonl", target="y"), tmp_path)
    assert content(nk.learn(rows, target="y"), tmp_path) == expected


def test_one_dict_at_a_time_leads_to_the_model_of_json_lines(frame, tmp_path):
    rows = records(frame.drop(columns="note"))
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    expected = nk.learn(tmp_path / "t.jsonl", target="y", hypothesis="averaged")
    model = nk.StreamModel(nk.Learner(hypothesis="averaged"))
    for row in rows:
        model.learn_one({key: value for key, value in row.items() if key != "y"}, row["y"])
    model.target = "y"
    assert content(model, tmp_path) == content(expected, tmp_path)


def test_dicts_with_all_numbers_keep_a_model_of_numbers_dense(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.where(X[:, 0] > 0, "p", "n")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    frame = pd.read_csv(tmp_path / "t.csv")
    model = nk.learn(frame[:20], target="y")
    for row in frame[20:].to_dict("records"):
        model.learn_one(row, row["y"])  # the label among the columns is known to be one
    assert content(model, tmp_path) == content(nk.learn(tmp_path / "t.csv", target="y"), tmp_path)


@pytest.mark.parametrize(
    "convert", [np.asarray, lambda X: X.astype(np.float32), np.asfortranarray, lambda X: X.tolist()]
)
def test_an_array_leads_to_the_model_of_a_file_without_a_header(convert, tmp_path):
    X = np.random.default_rng(0).integers(-5, 6, size=(60, 4)) / 2  # exact also in float32
    y = np.where(X @ [1, -1, 2, 0] > 0, 1.0, -1.0)
    np.savetxt(tmp_path / "t.csv", np.c_[X, y], delimiter=",")
    expected = nk.learn(tmp_path / "t.csv", header=False)
    assert expected.target == "column 5"
    assert content(nk.learn(convert(np.c_[X, y])), tmp_path) == content(expected, tmp_path)
    beside = nk.learn(convert(X), y)
    beside.target = "column 5"
    assert content(beside, tmp_path) == content(expected, tmp_path)
    assert (expected.predict(convert(X)) == expected.predict(tmp_path / "t.csv")).all()
    assert (expected.predict(convert(np.c_[X, y])) == expected.predict(X)).all()


def test_an_array_of_objects_has_columns_of_all_kinds(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False, header=False)
    expected = nk.learn(tmp_path / "t.csv", header=False)
    assert content(nk.learn(frame.to_numpy(object)), tmp_path) == content(expected, tmp_path)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_a_sparse_matrix_leads_to_the_model_of_svmlight(kind, tmp_path):
    X = sp.random_array((80, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    X.data = np.ceil(8 * X.data) / 8  # so that the digits in the file are exact
    y = np.where(X.sum(axis=1) > X.sum() / 80, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=True)
    expected = nk.learn(tmp_path / "t.svm")
    assert content(nk.learn(kind(X), y), tmp_path) == content(expected, tmp_path)
    assert (expected.predict(kind(X)) == expected.predict(tmp_path / "t.svm")).all()
    assert (expected.predict(X.toarray()) == expected.predict(X)).all()
    assert expected.score(X, y) == (expected.predict(X) == y).mean()


def test_texts_lead_to_the_model_of_labelled_text(tmp_path):
    texts = ["See you at lunch", "Win a FREE prize now", "Lunch is free today", "now or never, win it"]
    labels = ["ham", "spam", "ham", "spam"]
    (tmp_path / "t.txt").write_text("".join(f"{y}\t{x}\n" for x, y in zip(texts, labels, strict=True)))
    expected = nk.learn(tmp_path / "t.txt")
    for data in (texts, tuple(texts), np.array(texts), pd.Series(texts), pl.Series(texts), pa.array(texts)):
        found = nk.learn(data, labels)
        found.target = expected.target
        assert content(found, tmp_path) == content(expected, tmp_path)
        assert expected.predict(data).tolist() == labels
    assert [expected.predict_one(text) for text in texts] == labels


def test_many_blocks(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60_000), "y": rng.choice(["p", "n"], 60_000)})
    frame.to_parquet(tmp_path / "t.parquet")
    model = nk.learn(tmp_path / "t.parquet")
    assert content(nk.learn(frame), tmp_path) == content(model, tmp_path)
    predicted = model.predict(frame)
    assert len(predicted) == 60_000
    assert (predicted == model.predict(tmp_path / "t.parquet")).all()
    assert (model.predict(frame[["a"]].to_numpy()) == predicted).all()
    assert model.score(frame) == (predicted == frame["y"]).mean()


@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": "always", "seed": 3},
        {"shuffle": "never", "passes": 2},
        {"class_weight": "balanced", "rule": "margin", "hypothesis": "last"},
        {"scale": False, "hash_bits": 4, "ngrams": (1, 1)},
    ],
)
def test_options_mean_what_they_mean_for_files(frame, options, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = nk.learn(tmp_path / "t.csv", target="y", **options)
    assert content(nk.learn(frame, target="y", **options), tmp_path) == content(expected, tmp_path)


def test_rows_sorted_by_label_are_shuffled_as_those_of_files(frame, tmp_path):
    ordered = frame.sort_values("y", kind="stable")
    ordered.to_csv(tmp_path / "t.csv", index=False)
    expected = nk.learn(tmp_path / "t.csv", target="y", seed=5)
    found = nk.learn(ordered, target="y", seed=5)
    assert found.run_order.is_first_shuffled
    assert content(found, tmp_path) == content(expected, tmp_path)
    with pytest.warns(UserWarning, match="sorted by label"):
        nk.learn(ordered, target="y", shuffle="never")


def test_regression_on_a_frame(frame, tmp_path):
    rows = frame.drop(columns="y").dropna().assign(price=lambda df: 3.0 * df["size"] + df["count"])
    rows.to_csv(tmp_path / "t.csv", index=False)
    expected = nk.learn(tmp_path / "t.csv", target="price", loss="squared", passes=2)
    found = nk.learn(rows, target="price", loss="squared", passes=2)
    assert content(found, tmp_path) == content(expected, tmp_path)
    predicted, price = found.predict(rows), rows["price"]
    r2 = 1.0 - ((predicted - price) ** 2).sum() / ((price - price.mean()) ** 2).sum()
    assert found.score(rows) == pytest.approx(r2)
    assert found.score(rows.drop(columns="price"), price) == found.score(rows)
    assert found.score(rows.astype({"price": str})) == found.score(rows)
    for ask in (found.decision_function, found.predict_proba):
        with pytest.raises(DataError, match="predicts numbers"):
            ask(rows)


def test_a_shuffled_run_on_data_is_resumed(frame, tmp_path):
    options = {"target": "y", "passes": 3, "shuffle": "always", "checkpoint": tmp_path / "m.nk"}
    whole = nk.learn(frame, **options)
    expected = content(whole, tmp_path)
    stopped = nk.StreamModel.load(tmp_path / "m.nk")
    part = nk.learn(frame, target="y", shuffle="always")  # the first pass of the same run
    part.save(tmp_path / "m.nk")
    assert part.run_order == stopped.run_order
    assert content(nk.learn(frame, **options, resume=True), tmp_path) == expected
    part.save(tmp_path / "m.nk")
    with pytest.raises(DataError, match="shuffles with seed 0, not 1"):
        nk.learn(frame, **options, resume=True, seed=1)
    with pytest.raises(DataError, match="has 299 rows; it had 300"):
        nk.learn(frame[1:], **options, resume=True)


def test_a_run_on_data_is_resumed(frame, tmp_path):
    whole = nk.learn(frame, target="y")
    nk.learn(frame[:100], target="y", checkpoint=tmp_path / "m.nk")
    resumed = nk.learn(frame, target="y", checkpoint=tmp_path / "m.nk", resume=True)
    assert resumed.ledger.examples == N
    assert content(resumed, tmp_path) == content(whole, tmp_path)


# -- answers


@pytest.fixture(scope="module")
def model(frame, tmp_path_factory):
    """What the command line would have learned and written."""
    folder = tmp_path_factory.mktemp("model")
    frame.to_csv(folder / "t.csv", index=False)
    nk.learn(folder / "t.csv", target="y").save(folder / "m.nk")
    return nk.load(folder / "m.nk")


def test_answers_do_not_depend_on_the_form_of_the_data(model, frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = np.concatenate([model.predict(block) for block in nk.open_stream(tmp_path / "t.csv", target="y")])
    X = frame.drop(columns="y")
    forms = {
        "pandas": frame,
        "without labels": X,
        "in another order": X[["note", "sky", "count", "size"]],
        "with a column more": X.assign(when=pd.Timestamp("2024-01-01")),
        "categories": X.astype({"sky": "category"}),
        "other dtypes": X.astype({"count": "Int64", "sky": "object", "note": "string"}),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(X),
        "dicts": records(frame),
        "array": X.to_numpy(object),
        "path": tmp_path / "t.csv",
        "reader": nk.open_stream(tmp_path / "t.csv", target="y"),
    }
    for name, data in forms.items():
        found = model.predict(data)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == expected.tolist(), name
    assert [model.predict_one(row) for row in records(X)] == expected.tolist()
    assert model.predict_one(X.iloc[0]) == expected[0]
    share = (expected == frame["y"]).mean()
    for data in (frame, pl.from_pandas(frame), records(frame), tmp_path / "t.csv"):
        assert model.score(data) == share
    assert model.score(X, frame["y"]) == share


def test_scores_decide(model, frame):
    scores = model.decision_function(frame)
    assert (np.where(scores > 0, "yes", "no") == model.predict(frame)).all()
    three = nk.learn([[0.0], [1.0], [2.0]] * 20, ["a", "b", "c"] * 20)
    scores = three.decision_function([[0.0], [2.0]])
    assert scores.shape == (2, 3)
    assert [three.labels[k] for k in scores.argmax(axis=1)] == three.predict([[0.0], [2.0]]).tolist()


def test_a_loaded_model_goes_on_learning(model, frame, tmp_path):
    own = copy.copy(model)
    before = own.ledger.examples
    assert own.learn_one({"sky": "violet", "size": 2.0, "note": "to the sea"}, "yes") is own
    own.learn(frame)
    assert own.ledger.examples == before + 1 + N
    assert "sky=violet" in own.names


def test_before_the_first_example():
    model = nk.StreamModel(nk.Learner())
    assert model.predict_one({"a": 1}) is None
    with pytest.raises(DataError, match="learned nothing yet"):
        model.predict([{"a": 1}])


# -- kinds of columns


def test_booleans_are_numbers_and_predictions_compare_with_them():
    frame = pd.DataFrame({"wet": [True, False, True, None], "go": [False, True, False, True]}).astype(
        {"wet": "boolean"}
    )
    model = nk.learn(frame, target="go", passes=5)
    assert model.kinds == {"wet": "number"}
    assert "wet is missing" in model.names
    assert (model.predict(frame) == frame["go"]).all()
    assert model.score(frame) == 1.0
    assert model.predict_one({"wet": True}) == False  # noqa: E712 - a double that equals it


@pytest.mark.parametrize("spelling", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_booleans_are_spelled_as_in_the_file_that_was_learned(spelling, tmp_path):
    true, false = spelling
    lines = f"wet,go\n{true},{false}\n{false},{true}\n" + f"{true},{false}\n" * 3
    (tmp_path / "t.csv").write_text(lines)
    model = nk.learn(tmp_path / "t.csv", target="go", types={"wet": "word", "go": "word"}, passes=3)
    frame = pd.DataFrame({"wet": [True, False], "go": [False, True]})
    assert model.predict(frame).tolist() == [false, true]
    assert model.predict([{"wet": True}, {"wet": False}]).tolist() == [false, true]
    assert model.score(frame) == 1.0
    assert model.score([{"wet": True, "go": False}]) == 1.0


def test_categories_of_numbers_are_words(tmp_path):
    frame = pd.DataFrame({"zip": pd.Categorical([7, 8, 7, None]), "y": [1, 2, 1, 2]})
    model = nk.learn(frame, target="y")
    assert model.kinds == {"zip": "word"}
    assert set(model.names) == {"zip=7", "zip=8", "zip=?"}
    assert (
        model.predict(pd.DataFrame({"zip": [7, 8]})).tolist() == model.predict(frame[:2]).tolist()
    )  # as it knows them
    assert model.predict_one({"zip": 7}) == model.predict(frame[:1])[0]


def test_types_decide():
    frame = pd.DataFrame({"zip": [7, 8], "mix": [1, "a"], "when": pd.to_datetime(["2024-01-01", "2024-01-02"])})
    types = {"zip": "word", "mix": "word", "when": "number"}
    model = nk.learn(frame, ["p", "n"], types=types)
    assert model.kinds == types
    assert model.encoding.moments[1].tolist() == [np.mean([1704067200.0, 1704153600.0])]  # seconds


def test_labels_that_are_numbers_in_strings():
    model = nk.learn([[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1], passes=5)
    assert model.score([[0.0], [1.0]], ["0", "1"]) == 1.0
    model = nk.learn(pd.DataFrame({"a": [0.0, 1.0, 0.1, 0.9], "y": [0, 1, 0, 1]}), target="y", passes=5)
    assert model.score(pd.DataFrame({"a": [0.0, 1.0], "y": ["0", "1"]})) == 1.0


def test_sparse_columns_of_pandas():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 0.0, 1.0])})
    assert nk.learn(frame, [0, 0, 1]).encoding.moments[1].tolist() == [pytest.approx(1 / 3)]


def test_dicts_may_lack_keys_and_hold_numpy_values():
    rows = [{"a": np.float32(1.5), "b": {"c": np.int64(2)}, "d": np.str_("x")}, {"a": None}, {"a": np.nan, "d": pd.NA}]
    model = nk.learn(rows, [1, 0, 1])
    assert model.kinds == {"a": "number", "b.c": "number", "d": "word"}
