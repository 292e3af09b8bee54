"""Data in memory that cannot be learned from or predicted: what is wrong, where, and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.data.in_memory import open_data
from novikoff.errors import DataError
from tests.streaming.test_in_memory import content, records


def days():
    return pd.DataFrame({"sky": ["sun", "rain"], "wind": [3.0, 9.0], "sail": ["yes", "no"]})


WRONG_TO_LEARN = {
    "lists": (lambda: nk.learn(days().assign(t=[[1], [2]]), target="sail"), '"t" .* holds list'),
    "mixed": (lambda: nk.learn(days().assign(t=[1, "a"]), target="sail"), '"t" .number 4. .* not all numbers .* types'),
    "target": (lambda: nk.learn(days(), target="Sail"), "no column 'Sail' .* Did you mean 'sail'"),
    "label": (lambda: nk.learn(days().assign(sail=["a", None]), target="sail"), "DataFrame:2:3: the label .* missing"),
    "twice": (lambda: nk.learn(days(), days()["sail"]), "y is the column 'sail', which is also in the data"),
    "length": (lambda: nk.learn(days(), ["a"]), "y has 1 label, and the DataFrame 2 rows"),
    "missing y": (lambda: nk.learn(days(), ["a", None]), "y:2: the label is missing"),
    "name as y": (lambda: nk.learn(days(), "sail"), "found str.* name it as target"),
    "shape of y": (lambda: nk.learn(days(), np.eye(2)), r"found ndarray of shape \(2, 2\)"),
    "kind of y": (
        lambda: nk.learn(days(), pd.to_datetime(["2024-01-01"] * 2)),
        "y:1: expected a number or a string, found Timestamp",
    ),
    "columns": (lambda: nk.learn(pd.DataFrame([[1, 2]], columns=["a", "a"]), [1]), "columns 1 and 2 are both called"),
    "no target": (lambda: nk.learn([{"a": 1}]), "which key holds the labels"),
    "kinds of keys": (
        lambda: nk.learn([{"a": 1}, {"a": "x"}], [1, 2]),
        'list of dicts:2.*number for "a", found a string',
    ),
    "value of a key": (lambda: nk.learn([{"a": object()}], [1]), 'list of dicts:1: "a" holds a object'),
    "infinite": (lambda: nk.learn([{"a": float("inf")}], [1]), 'list of dicts:1: "a" is infinite'),
    "key": (lambda: nk.learn([{1: 1}], [1]), "the key 1 is no string"),
    "no dict": (lambda: nk.learn([{"a": 1}, 3], [1, 2]), "list of dicts:2: expected a dict"),
    "large": (lambda: nk.learn(np.array([[1.0], [np.inf]]), [1, 2]), 'array:2:1: "inf" .* not a finite number'),
    "ragged": (lambda: nk.learn([[1, 2], [1]], [1, 2]), "rows have different numbers of values"),
    "complex": (lambda: nk.learn(np.array([[1j]]), [1]), "holds complex128"),
    "sparse": (lambda: nk.learn(sp.csr_array(np.eye(2))), "no column of labels: pass them as y"),
    "dropped": (lambda: nk.learn(sp.csr_array(np.eye(2)), [1, 2], drop=[1]), "takes no drop"),
    "series": (lambda: nk.learn(pd.Series([1, 2]), [1, 2]), "texts:1: expected a string, found 1.*to_frame"),
    "rows": (lambda: nk.learn(days()[:0], target="sail"), "no rows"),
    "nothing": (lambda: nk.learn(3, [1]), "Expected a DataFrame.*found int"),
}


@pytest.mark.parametrize("case", WRONG_TO_LEARN)
def test_what_cannot_be_learned(case):
    call, message = WRONG_TO_LEARN[case]
    with pytest.raises(DataError, match=message):
        call()


WRONG_TO_PREDICT = {
    "no column": (days().drop(columns="wind"), "no column 'wind', which the model has learned from"),
    "another name": (days().rename(columns={"wind": "Wind"}), "Did you mean 'Wind'"),
    "words for numbers": (
        days().assign(wind=["a", "b"]),
        'DataFrame:1:2: expected a number in column "wind", found "a"',
    ),
    "unknown keys": ([{"skye": "sun"}], "knows none of the columns 'skye'.*'sky', 'wind'"),
    "strings for numbers": ([{"wind": "x"}], 'expected a number for "wind", found a string, "x"'),
    "width": ([[1.0, 2.0, 3.0]], "found 3 columns; the model has learned from 2: 'sky', 'wind'"),
    "dimensions": (np.zeros(2), "expected two dimensions.*predict_one"),
    "dict": ({"sky": "sun"}, "found dict. For one example use predict_one"),
    "no rows": ([], "no rows"),
    "sparse": (sp.csr_array(np.eye(2)), "has learned from a table with named columns"),
    "texts": (["sun"], "no column 'sky'"),
    "path": ("no/such.csv", "there is no such file"),
}


@pytest.mark.parametrize("case", WRONG_TO_PREDICT)
def test_what_cannot_be_predicted(case):
    data, message = WRONG_TO_PREDICT[case]
    model = nk.learn(days(), target="sail")
    for ask in (model.predict, model.decision_function):
        with pytest.raises(DataError, match=message):
            ask(data)


@pytest.mark.parametrize("convert", [lambda df: df, pl.from_pandas])
def test_columns_that_are_not_used_may_hold_anything_and_keep_their_numbers(convert):
    frame = pd.DataFrame({"when": pd.Timestamp("2024-01-01"), "name": ["x", "y"], "a": [1.0, np.inf], "y": [1, 2]})
    with pytest.raises(DataError, match=r'DataFrame:2:3: "inf" in column "a"'):
        nk.learn(convert(frame), target="y", drop=["when", 2])
    model = nk.learn(convert(frame[:1]), target="y", drop=["when", 2])
    with pytest.raises(DataError, match=r'DataFrame:2:3: "inf" in column "a"'):
        model.predict(convert(frame))
    mixed = frame[:1].assign(name=pd.Series([object()]))
    assert nk.learn(mixed, target="y", drop=["when", "name"]).kinds == {"a": "number"}
    assert model.predict(mixed).tolist() == [1.0]


def test_labels_that_are_not_there():
    with pytest.raises(DataError, match=r"does not know which column holds the labels.*pass y"):
        nk.learn(days()[["wind"]], days()["sail"]).score(days())
    with pytest.raises(DataError, match=r"no column 'sail' .target"):
        nk.learn(days(), target="sail").score(days()[["sky", "wind"]])
    [block] = nk.StreamModel(nk.Learner()).ahead_of(open_data(days()[["sky", "wind"]], target=False).blocks)
    with pytest.raises(DataError, match="rows without labels have no score"):
        nk.learn(days(), target="sail").score(block)
    with pytest.raises(DataError, match="y is for data in memory"):
        nk.learn(days(), target="sail").score("days.csv", ["yes"])


@pytest.mark.parametrize("data", [[[1.0]], [{"a": 1}], pd.DataFrame({"a": [1]})])
def test_a_model_of_sparse_rows_says_what_it_takes(data):
    model = nk.learn(sp.csr_array(np.eye(3)), [0, 1, 0])
    with pytest.raises(DataError, match=r"features 0 to 2.*sparse matrix.*array of 3 columns"):
        model.predict(data)


def test_a_model_of_named_features_says_what_it_takes(tmp_path):
    (tmp_path / "t.vw").write_text("1 |a b:2\n-1 |a c\n")
    with pytest.raises(DataError, match=r"Vowpal Wabbit's text.*open_stream"):
        nk.learn(tmp_path / "t.vw").predict_one({"b": 2})


@pytest.mark.parametrize(
    ("options", "message"), [({"header": True}, "says how to read a file"), ({"y": [1, 2], "target": "sail"}, "twice")]
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(TypeError, match=message):
        nk.learn(days(), **options)


def test_wrong_data_change_nothing(tmp_path):
    frame = pd.DataFrame({"a": np.arange(30_000.0), "y": ["p", "n"] * 15_000})
    model = nk.learn(frame[:10], target="y")
    before = content(model, tmp_path)
    frame.loc[29_999, "a"] = np.inf  # in the second block
    for data in (frame, records(frame)):
        with pytest.raises(DataError):
            model.learn(data)
    assert content(model, tmp_path) == before


def test_bad_rows_are_left_out():
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0], "y": ["p", "n", "n"]})
    assert nk.learn(frame, target="y", bad_rows="skip").ledger.examples == 2
    assert nk.learn(frame[["a"]], frame["y"], bad_rows="skip").labels == ["n", "p"]
    assert nk.learn(np.array([[1.0], [np.inf], [2.0]]), ["p", "n", "q"], bad_rows="skip").labels == ["p", "q"]
