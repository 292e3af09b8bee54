"""Files with a scheme: the file systems of pyarrow, here the one of this machine behind file://."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from novikoff.data.formats.remote import expand_remote, is_remote
from novikoff.errors import DataError

TABLE = pa.table({"u": [0.5, 1.5, -2.0, 3.0], "w": ["a", "b", "a", "b"], "y": ["no", "yes", "no", "yes"]})
TEXT = "u,w,y\n0.5,a,no\n1.5,b,yes\n-2.0,a,no\n3.0,b,yes\n"


def write_arrow(path):
    with pyarrow.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


WRITE = {
    "csv": lambda path: path.write_text(TEXT),
    "csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "parquet": lambda path: pyarrow.parquet.write_table(TABLE, path),
    "arrow": write_arrow,
}


@pytest.mark.parametrize("suffix", WRITE)
def test_a_remote_file_is_read_as_a_local_one(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    WRITE[suffix](path)
    blocks = []
    for name in (str(path), path.as_uri()):
        with nk.open_stream(name, target="y") as reader:
            [block] = reader
            assert (reader.name, block.source) == (name, name)
            blocks.append(block)
    local, remote = blocks
    assert remote.labels.tolist() == local.labels.tolist()
    np.testing.assert_array_equal(remote.columns["u"], local.columns["u"])
    assert remote.columns["w"].tolist() == local.columns["w"].tolist()


def test_svmlight(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:0.5\n-1 2:1\n")
    assert nk.learn(path.as_uri(), rule="perceptron").ledger.examples == 2


def test_what_cannot_be_opened_is_named(tmp_path):
    for name, message in (
        ((tmp_path / "gone.csv").as_uri(), r"gone\.csv: there is no such file"),
        (tmp_path.as_uri(), "is a folder"),
        ("nowhere://host/rows.csv", r"nowhere://host/rows\.csv: cannot be opened"),
    ):
        with pytest.raises(DataError, match=message):
            nk.open_stream(name)


def test_patterns(tmp_path):
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "folder.csv").mkdir()
    folder = tmp_path.as_uri()
    assert expand_remote(f"{folder}/*.csv") == [f"{folder}/a.csv", f"{folder}/b.csv"]
    assert expand_remote(f"{folder}/a.csv") == [f"{folder}/a.csv"]
    with pytest.raises(DataError, match="not in that of their folder"):
        expand_remote("s3://bucket/*/a.csv")
    assert not is_remote("a:b")


def test_commands_take_remote_files_and_patterns(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(TEXT)
    model = str(tmp_path / "m.nk")
    learned = CliRunner().invoke(main, ["learn", f"{tmp_path.as_uri()}/*.csv", "--target", "y", "-o", model])
    assert learned.exit_code == 0, learned.output
    assert nk.load(model).ledger.examples == 8
    tested = CliRunner().invoke(main, ["test", model, f"{tmp_path.as_uri()}/a.csv", "--json"])
    assert '"rows": 4' in tested.output


def test_distributed_learning_takes_remote_files(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(TEXT)
    model = nk.distributed.learn(f"{tmp_path.as_uri()}/*.csv", target="y")
    assert model.ledger.examples == 8
