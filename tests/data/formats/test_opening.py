"""Opening files with the reader for their format."""

import gzip
import io
import os
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novikoff.data.formats import (
    FORMATS,
    ArrowReader,
    JsonLinesReader,
    ParquetReader,
    SvmlightReader,
    TableReader,
    open_stream,
)
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

SPARSE = b"1 1:0.5 3:1\n-1 2:1\n"
TABLE = b"a,b,y\n1,2,no\n3,4,yes\n"
OBJECTS = b'{"a": 1, "y": 2}\n{"a": 3, "y": 4}\n'


def columnar(kind):
    table, sink = pa.table({"a": [1.5, 2.5], "y": ["u", "v"]}), io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, sink)
    else:
        with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


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
        ("rows.jsonl", OBJECTS, JsonLinesReader),
        ("rows.ndjson.gz", gzip.compress(OBJECTS, mtime=0), JsonLinesReader),
        ("rows.json", OBJECTS, JsonLinesReader),
        ("rows", b"\xef\xbb\xbf\n " + OBJECTS, JsonLinesReader),
        ("rows.log", gzip.compress(OBJECTS, mtime=0), JsonLinesReader),
        pytest.param("rows.parquet", columnar("parquet"), ParquetReader, id="parquet"),
        pytest.param("rows.dat", columnar("parquet"), ParquetReader, id="parquet by content"),
        pytest.param("rows.arrow", columnar("file"), ArrowReader, id="arrow"),
        pytest.param("rows.feather", columnar("file"), ArrowReader, id="feather"),
        pytest.param("rows.arrow", columnar("stream"), ArrowReader, id="arrow stream"),
        pytest.param("rows", columnar("stream"), ArrowReader, id="arrow stream by content"),
        pytest.param("rows.dat", gzip.compress(columnar("file"), mtime=0), ArrowReader, id="arrow packed by content"),
    ],
)
def test_format_from_name_and_content(tmp_path, name, content, reader):
    path = tmp_path / name
    path.write_bytes(content)
    found = open_stream(path)
    assert type(found) is reader
    assert sum(map(len, found)) >= 1


def test_given_format(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(SPARSE)
    with open_stream(path, format="svmlight", bad_rows="skip", target=None, drop=()) as reader:
        assert [len(block) for block in reader] == [2]
    with pytest.raises(DataError, match=r"format must be one of 'csv', 'tsv', 'text', 'svmlight', .*; found 'arff'"):
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


@pytest.mark.parametrize("format", ["parquet", "arrow", "jsonl"])
def test_options_of_other_formats_are_refused(tmp_path, format):
    assert format in FORMATS
    path = tmp_path / "rows"
    path.write_bytes(OBJECTS if format == "jsonl" else columnar("file" if format == "arrow" else format))
    with open_stream(path, format=format, header=None, delimiter=None, target="y", drop=(), types=None) as reader:
        assert reader.target_name == "y"
    with pytest.raises(DataError, match=r"rows: .* takes no header or delimiter. If it is a table"):
        open_stream(path, header=False, delimiter=",")


def test_damaged_and_empty(tmp_path):
    for name in ("rows.parquet", "rows.arrow", "rows.jsonl"):
        path = tmp_path / name
        path.write_bytes(b"")
        with pytest.raises(DataError, match=f"{name}: the file is empty"):
            open_stream(path)
    path = tmp_path / "rows.parquet"
    path.write_bytes(TABLE)
    with pytest.raises(DataError, match=r"rows\.parquet: is no Parquet file, or damaged or cut short"):
        open_stream(path)
    path = tmp_path / "rows.parquet.gz"
    path.write_bytes(gzip.compress(columnar("parquet")))
    with pytest.raises(DataError, match=r"is itself compressed\. Decompress it first"):
        open_stream(path)


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_pipes(chunk):
    def piped(content):
        offsets = iter(range(0, len(content), chunk))
        return Source("pipe", lambda n: next((content[at : at + chunk] for at in offsets), b""), is_steady=False)

    for kind in ("file", "stream"):
        [block] = open_stream(piped(columnar(kind)))
        assert block.labels.tolist() == ["u", "v"]
    assert sum(map(len, open_stream(piped(OBJECTS)))) == 2
    with pytest.raises(DataError, match=r"pipe: Parquet is read from its end, so pipes are not supported\. Save "):
        open_stream(piped(columnar("parquet")))


def test_a_named_pipe(tmp_path):
    path = tmp_path / "rows"
    os.mkfifo(path)
    for content, reader in ((columnar("stream"), ArrowReader), (OBJECTS, JsonLinesReader), (TABLE, TableReader)):
        thread = threading.Thread(target=path.write_bytes, args=[content])
        thread.start()
        found = open_stream(path)
        assert type(found) is reader
        assert sum(map(len, found)) == 2
        thread.join()


def test_tables_do_not_load_pyarrow():
    code = """
import sys, novikoff.data.formats as streams
chunks = iter([b"a,y\\n1,2\\n", b""])
list(streams.open_stream(streams.Source("t", lambda n: next(chunks))))
assert "pyarrow" not in sys.modules
chunks = iter([b'{"a": 1, "w": "u", "y": 2}\\n' * 1000, b""])
list(streams.open_stream(streams.Source("t", lambda n: next(chunks))))
assert "pyarrow" in sys.modules and "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
