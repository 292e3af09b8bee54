"""test and predict of many files say what the model itself says of each."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError


@pytest.fixture
def model(tables):
    return nk.learn(tables, target="y", rule="perceptron", hypothesis="averaged")


def test_errors_are_those_of_all_files_together(tables, model, cluster):
    wrong = sum(int((model.predict(path) != labels_of(path)).sum()) for path in tables)
    done = []
    for where in (None, cluster):
        evaluation = nk.distributed.test(model, tables, cluster=where, progress=lambda *n: done.append(n), target="y")
        assert evaluation.errors["averaged"] == wrong
        assert evaluation.rows == sum(len(labels_of(path)) for path in tables)
        assert set(evaluation.errors) == {"last", "averaged"}
    assert done == 2 * [(k, len(tables)) for k in range(1, len(tables) + 1)]


def labels_of(path):
    with nk.open_stream(path, target="y") as reader:
        return np.concatenate([block.labels for block in reader])


def test_predictions_are_written_file_by_file(tmp_path, tables, model):
    model.save(tmp_path / "m.nk")
    folder = tmp_path / "deep" / "labels"
    written = nk.distributed.predict(tmp_path / "m.nk", tables, folder)
    assert [path.name for path in written] == [f"part{k}.csv.txt" for k in range(5)]
    for path, labels in zip(tables, written, strict=True):
        assert labels.read_text().splitlines() == model.predict(path).tolist()


def test_a_row_that_is_left_out_has_an_empty_line(tmp_path, model):
    (tmp_path / "new.csv").write_text("u,v,word\n1,2,a\n1,what,a\n2,-1,b\n")
    (written,) = nk.distributed.predict(model, tmp_path / "new.csv", tmp_path / "labels", bad_rows="skip")
    lines = written.read_text().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False]


def test_numbers_are_predicted_and_not_tested(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{x},{2 * x}\n" for x in range(50)))
    model = nk.learn(tmp_path / "a.csv", target="y", loss="squared")
    (written,) = nk.distributed.predict(model, tmp_path / "a.csv", tmp_path / "numbers")
    assert len(list(map(float, written.read_text().split()))) == 50
    with pytest.raises(DataError, match="predicts numbers"):
        nk.distributed.test(model, tmp_path / "a.csv")


def test_what_would_be_overwritten_is_refused(tmp_path, tables, model):
    other = tmp_path / "other"
    other.mkdir()
    (other / "part0.csv").write_text("u,v,word\n1,2,a\n")
    with pytest.raises(DataError, match=r"Several files are called 'part0\.csv'"):
        nk.distributed.predict(model, [*tables, other / "part0.csv"], tmp_path / "labels")
    with pytest.raises(DataError, match="is a file: name a folder"):
        nk.distributed.predict(model, tables, tables[0])
    assert not (tmp_path / "labels").exists()
