"""Numbers in disguise: a model of a file that has them takes floats and times, and strings written as there."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import novikoff as nk
from novikoff.errors import DataError
from tests.streaming.test_in_memory import content

N = 200


@pytest.fixture(scope="module")
def numbers():
    """The numbers and times themselves."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), unit="D")
    return pd.DataFrame(
        {
            "price": rng.integers(-999_999, 999_999, N) / 100,
            "share": rng.integers(0, 100, N).astype(float),
            "day": days,
            "wet": rng.random(N) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def strings(numbers):
    """The same as people write them."""
    return pd.DataFrame(
        {
            "price": [f"{price:,.2f}".translate(str.maketrans(",.", ".,")) for price in numbers["price"]],
            "share": [f"{share:.0f} %" for share in numbers["share"]],
            "day": [f"{day:%d.%m.%Y}" for day in numbers["day"]],
            "wet": [str(wet).lower() for wet in numbers["wet"]],
        }
    )


@pytest.fixture(scope="module")
def labels(numbers):
    return np.where(numbers["price"] + 100 * numbers["share"] > 5000, "yes", "no")


@pytest.fixture(scope="module")
def path(strings, labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("notations") / "t.csv"
    strings.assign(go=labels).to_csv(path, sep=";", index=False)
    return path


@pytest.fixture(scope="module")
def model(path):
    nk.learn(path).save(path.with_suffix(".nk"))
    return nk.load(path.with_suffix(".nk"))


FORMS = {
    "pandas": lambda df: df,
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "categories": lambda df: df.astype("category") if df["day"].dtype.kind != "M" else df,
    "dicts": lambda df: df.to_dict("records"),
    "array": lambda df: df.to_numpy(object),
    "rows": lambda df: df.to_numpy(object).tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_numbers_or_strings(form, model, path, numbers, strings):
    expected = np.concatenate([model.decision_function(block) for block in nk.open_stream(path)])
    for frame in (numbers, strings):
        assert (model.decision_function(FORMS[form](frame)) == expected).all()


def test_other_types_of_times(model, numbers):
    expected = model.decision_function(numbers)
    for day in (numbers["day"].dt.tz_localize("UTC"), numbers["day"].dt.date, numbers["day"].astype("datetime64[s]")):
        frame = numbers.assign(day=day)
        assert (model.decision_function(frame) == expected).all()
        assert (model.decision_function(frame.to_dict("records")) == expected).all()
    row = numbers.iloc[0].to_dict() | {"day": numbers["day"].to_numpy()[0], "share": np.int8(numbers["share"][0])}
    assert model.decision_function([row]) == expected[:1]


def test_numbers_lead_to_the_model_of_the_file(numbers, strings, labels, path, tmp_path):
    expected = content(nk.learn(path, passes=2), tmp_path)
    assert content(nk.learn(numbers.assign(go=labels), target="go", passes=2), tmp_path) == expected
    types = dict.fromkeys(strings, "number")
    found = nk.learn(strings.assign(go=labels), target="go", passes=2, types=types)
    assert content(found, tmp_path) == expected
    found.save(tmp_path / "m.nk")
    loaded = nk.load(tmp_path / "m.nk")
    assert (loaded.predict(strings) == loaded.predict(numbers)).all()
    assert (loaded.predict(path) == loaded.predict(numbers)).all()
    assert nk.learn(strings, labels).kinds == dict.fromkeys(strings, "word")  # unless they are declared


def test_missing_cells(model, strings):
    expected = model.decision_function(strings[:1].assign(price=None))
    for cell in ("", "unknown", "NA", "-"):
        frame = strings[:1].assign(price=cell)
        assert model.decision_function(frame) == model.decision_function(frame.to_dict("records")) == expected


@pytest.mark.parametrize(("column", "cell"), [("price", "1.5"), ("price", "a"), ("day", "2024-01-31"), ("wet", "ja")])
def test_what_is_written_in_another_way_is_refused(column, cell, model, strings):
    k = list(strings).index(column) + 1
    frame = strings.assign(**{column: [*strings[column][:2], cell, *strings[column][3:]]})
    with pytest.raises(DataError, match=f'DataFrame:3:{k}: expected a number in column "{column}", found "{cell}"'):
        model.predict(frame)
    with pytest.raises(DataError, match=f"list of dicts:3.* expected a number .*{column}.*{cell}"):
        model.predict(frame.to_dict("records"))


def test_targets_of_regression(numbers, strings, tmp_path):
    rows = strings.drop(columns="day")
    rows.to_csv(tmp_path / "t.csv", sep=";", index=False)
    model = nk.learn(tmp_path / "t.csv", target="price", loss="squared")
    assert model.score(rows) == model.score(numbers) == model.score(rows, numbers["price"])


def test_times_in_memory_are_seconds():
    days = [datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 1, 0, 1), datetime.timedelta(seconds=7)]
    model = nk.learn([{"t": day} for day in days], [0, 1, 0])
    assert model.encoding.moments[1].tolist() == [pytest.approx((86400 + 60 + 7) / 3)]
    frame = pd.DataFrame({"t": pd.to_datetime(["1970-01-02", "1970-01-01"]), "y": ["a", "b"]})
    assert nk.learn(frame, target="y").encoding.moments[1].tolist() == [43200.0]
    words = nk.learn([{"t": datetime.date(2024, 1, 2)}, {"t": datetime.date(2024, 1, 3)}], [0, 1], types={"t": "word"})
    assert words.names == ["t=2024-01-02", "t=2024-01-03"]


def test_columns_without_names_keep_their_places(tmp_path):
    table = np.random.default_rng(0).normal(size=(60, 5))
    table[:, 0] = table[:, 2] > 0
    np.savetxt(tmp_path / "t.csv", table, delimiter=",")
    options = {"target": "column 1", "drop": ["column 5"]}
    model = nk.learn(tmp_path / "t.csv", header=False, **options)
    expected = model.predict(tmp_path / "t.csv")
    for own in (model, nk.learn(table, **options)):
        for columns in ([0, 1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3]):  # all, without the labels, those that are used
            assert (own.predict(table[:, columns]) == expected).all()
        with pytest.raises(DataError, match="found 2 columns; the model has learned from 3"):
            own.predict(table[:, :2])
        np.savetxt(tmp_path / "new.csv", table[:, 1:], delimiter=",")
        assert (own.predict(tmp_path / "new.csv") == expected).all()


def test_whole_numbers_as_words(tmp_path):
    rows = [{"zip": zip_code, "y": zip_code > 2} for zip_code in (1, 2, 3, 4)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    model = nk.learn(tmp_path / "t.jsonl", target="y", types={"zip": "word"}, passes=5)
    expected = model.predict([{"zip": str(row["zip"])} for row in rows]).tolist()
    assert model.predict([{"zip": float(row["zip"])} for row in rows]).tolist() == expected
    assert model.predict(pd.DataFrame({"zip": [1.0, 2.0, 3.0, 4.0]})).tolist() == expected
