"""The reader that fits a file."""

import gzip

import pytest

from novikoff.errors import DataError
from novikoff.streams import SvmlightReader, TableReader, open_stream

SPARSE = b"1 1:0.5 3:1\n-1 2:1\n"
TABLE = b"a,b,y\n1,2,no\n3,4,yes\n"


@pytest.mark.parametrize(
    ("name", "content", "reader"),
    [
        ("rows.svm", SPARSE, SvmlightReader),
        ("rows.LIBSVM", SPARSE, SvmlightReader),
        ("rows.svmlight.gz", gzip.compress(SPARSE, mtime=0), SvmlightReader),
        ("rows.csv", TABLE, TableReader),
        ("rows.csv.gz", gzip.compress(TABLE, mtime=0), TableReader),
        ("rows.tsv", TABLE.replace(b",", b"\t"), TableReader),
        ("rows.txt", SPARSE, SvmlightReader),
        ("rows", gzip.compress(SPARSE, mtime=0), SvmlightReader),
        ("rows.data", TABLE, TableReader),
        ("rows.dat", b"\n\n# remark\n1 qid:3 1:2", SvmlightReader),
        pytest.param("a9a", SPARSE * 20_000, SvmlightReader, id="long"),
    ],
)
def test_by_name_and_content(tmp_path, name, content, reader):
    path = tmp_path / name
    path.write_bytes(content)
    found = open_stream(path)
    assert type(found) is reader
    assert sum(map(len, found)) >= 1


def test_by_request(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(SPARSE)
    with open_stream(path, format="svmlight", bad_rows="skip", target=None, drop=()) as reader:
        assert [len(block) for block in reader] == [2]
    with pytest.raises(DataError, match="format must be one of 'csv', 'tsv', 'svmlight'; found 'arff'"):
        open_stream(path, format="arff")
    with pytest.raises(DataError, match=r"rows\.csv: an svmlight file .* takes no target or header"):
        open_stream(path, format="svmlight", target="y", header=True)


def test_options_reach_the_reader(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_bytes(b"a\tb c\ty\n1\t2\tx\n")
    with open_stream(path, target="a") as reader:
        assert reader.names == ("a", "b c", "y")
        assert reader.target_name == "a"


def test_empty(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"")
    with pytest.raises(DataError, match="rows: the file is empty"):
        open_stream(path)
