"""Parquet and Arrow files against pyarrow's and pandas' own reading of them."""

import copy
import datetime
import decimal
import gzip
import io
import itertools
import json
import math
import pickle
import random
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import learn
from novikoff.data.formats import (
    ArrowReader,
    CategoricalColumn,
    ParquetReader,
    TableBlock,
    TextColumn,
    arrow_arrays,
    columnar,
    open_stream,
)
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

FORMATS = ["parquet", "arrow", "stream"]
SENTENCES = ["call me when you can", "we sail at noon today", "no wind on the lake", "see you in the harbour"]


def as_bytes(table, kind, rows=None, **options):
    """A file of a kind, in groups of so many rows."""
    sink = io.BytesIO()
    rows = rows or max(table.num_rows, 1)
    if kind == "parquet":
        pq.write_table(table, sink, row_group_size=rows, **options)
        return sink.getvalue()
    make = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
    with make(sink, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def save(folder, table, kind, **options):
    path = folder / f"t.{kind}"
    path.write_bytes(as_bytes(table, kind, **options))
    return path


def open_file(path, **options):
    return (ParquetReader if path.suffix == ".parquet" else ArrowReader)(path, **options)


def source_of(content, chunk=1 << 20, is_steady=True):
    offsets = iter(range(0, len(content), chunk))
    return Source("t.arrow", lambda n: next((content[at : at + chunk] for at in offsets), b""), is_steady=is_steady)


def cells_of(blocks):
    """Columns by name, with the rows as "row" and the labels as "label", missing cells as None; and rejects."""
    found, rejects = {}, []
    for block in blocks:
        assert not block.is_loose
        labels = [None] * len(block) if block.labels is None else block.labels.tolist()
        columns = {name: column.tolist() for name, column in block.columns.items()}
        for name, cells in {"row": block.lines.tolist(), "label": labels, **columns}.items():
            found.setdefault(name, []).extend(None if cell != cell else cell for cell in cells)
        rejects += block.rejects
    return found, rejects


def read(path, **options):
    return cells_of(open_file(path, **options))[0]


TABLE = pa.table(
    {
        "n": pa.array([1, None, 3, 4, 5], pa.int32()),
        "x": pa.array([0.5, math.nan, None, -0.0, 1e-320]),
        "w": pa.array(["red", None, "", "größer", "red"]),
        "b": pa.array([True, False, None, True, True]),
        "t": pa.array([*SENTENCES, None]),
        "d": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, None], pa.int8()), pa.array(["a", "b", "a"])),
        "y": pa.array(["no", "yes", "no", "no", "yes"]),
    }
)
CELLS = {
    "row": [1, 2, 3, 4, 5],
    "label": ["no", "yes", "no", "no", "yes"],
    "n": [1, None, 3, 4, 5],
    "x": [0.5, None, None, 0.0, 1e-320],
    "w": ["red", None, "", "größer", "red"],
    "b": ["true", "false", None, "true", "true"],
    "t": [*SENTENCES, None],
    "d": ["a", "b", "a", None, None],
}
KINDS = ("number", "number", "word", "word", "text", "word", "word")


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_columns(tmp_path, kind, rows):
    with open_file(save(tmp_path, TABLE, kind, rows=rows)) as reader:
        assert (reader.names, reader.target_name) == (tuple(TABLE.schema.names), "y")
        if rows == 5:
            assert reader.kinds == KINDS
        blocks = list(reader)
    assert cells_of(blocks) == (CELLS, [])
    for block in blocks:
        column = block.columns["d"]
        assert len(set(column.values)) == len(column.values)
        assert None not in column.values
        assert column.codes.dtype == np.int32
        assert block.columns["t"].memory.flags.writeable


@pytest.mark.parametrize("kind", FORMATS)
def test_large_files_in_blocks(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(columnar, "_ROWS", 1000)
    rng = np.random.default_rng(3)
    n = 12_345
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(-(2**62), 2**62, n),
            "c": rng.choice(["u", "v", "w"], n),
            "d": pd.Categorical(rng.choice(["p", "q"], n)),
            "f": rng.normal(size=n).astype("f4"),
            "y": rng.integers(0, 3, n),
        }
    )
    frame.loc[::7, "a"] = np.nan
    blocks = list(open_file(save(tmp_path, pa.Table.from_pandas(frame), kind, rows=5000)))
    assert all(len(block) <= 1000 for block in blocks)
    for name in "abf":
        found = np.concatenate([block.columns[name] for block in blocks])
        np.testing.assert_array_equal(found, frame[name].to_numpy().astype(float))
    for name in "cd":
        assert [word for block in blocks for word in block.columns[name].tolist()] == frame[name].tolist()
    assert np.concatenate([block.labels for block in blocks]).tolist() == frame["y"].tolist()
    assert np.concatenate([block.lines for block in blocks]).tolist() == list(range(1, n + 1))


CELL = {
    "number": st.none() | st.floats(-1e100, 1e100) | st.integers(-(2**53), 2**53).map(float),
    "word": st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
    "bool": st.none() | st.booleans(),
}


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(CELL)), min_size=1, max_size=4))
    n = draw(st.integers(1, 12))
    types = {"number": pa.float64(), "word": pa.string(), "bool": pa.bool_()}
    columns = {
        f"{k}": pa.array(draw(st.lists(CELL[kind], min_size=n, max_size=n)), types[kind])
        for k, kind in enumerate(kinds)
    }
    return pa.table(columns)


@given(tables(), st.sampled_from(FORMATS), st.integers(1, 12), st.sampled_from([1, 7, 1 << 20]))
def test_any_table_in_any_chunks(tmp_path_factory, table, kind, rows, chunk):
    content = as_bytes(table, kind, rows)
    folder = tmp_path_factory.getbasetemp()
    if kind == "parquet":
        path = folder / "any.parquet"
        path.write_bytes(content)
        found = read(path, target=False)
    else:
        found, _ = cells_of(ArrowReader(source_of(content, chunk), target=False))
    for name, cells in table.to_pydict().items():
        cells = [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
        assert found[name] == cells


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("as_kind", ["word", "text"])
def test_strings_of_every_type_and_slice(kind, as_kind):
    cells = ["eins", None, "zwei", "", "größer als zwölf Zeichen", "zwei", None, "drei"] * 3
    array = pa.array(cells, kind)
    for begin in range(10):
        for size in range(12):
            column = arrow_arrays.column_of(array.slice(begin, size), as_kind)
            assert isinstance(column, TextColumn if as_kind == "text" else CategoricalColumn)
            assert column.tolist() == cells[begin : begin + size]


@pytest.mark.parametrize("kind", ["arrow", "stream"])
def test_views(tmp_path, kind):
    """The form of strings that polars writes, which many functions of pyarrow do not accept."""
    words = pa.array(["eins", None, "mehr als zwölf Zeichen", "eins"], pa.string_view())
    table = pa.table(
        {
            "v": words,
            "d": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.uint32()), words[2:]),
            "t": pa.array(SENTENCES, pa.string_view()),
            "y": pa.array(["p", "q", None, "q"], pa.string_view()),
        }
    )
    found, rejects = cells_of(open_file(save(tmp_path, table, kind), bad_rows="skip"))
    assert found == {
        "row": [1, 2, 4],
        "label": ["p", "q", "q"],
        "v": ["eins", None, "eins"],
        "d": ["mehr als zwölf Zeichen", "eins", None],
        "t": [SENTENCES[0], SENTENCES[1], SENTENCES[3]],
    }
    assert len(rejects) == 1


def test_null_string_views():
    """A null may be a view of anything; pyarrow 26 follows it when it casts, and crashes."""
    views = np.frombuffer(b"\x80" * 16 + b"\x01\0\0\0c" + b"\0" * 11, np.uint8)
    buffers = [pa.py_buffer(b"\x02"), pa.py_buffer(views), pa.py_buffer(b"nothing here")]
    array = pa.Array.from_buffers(pa.string_view(), 2, buffers)
    for kind in ("word", "text"):
        assert arrow_arrays.column_of(array, kind).tolist() == [None, "c"]
    [column] = arrow_arrays.without_views(pa.record_batch([array], ["v"])).columns
    assert column.to_pylist() == [None, "c"]


def test_files_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2, None], "w": ["x", "y", None], "y": [True, False, True]})
    frame = frame.with_columns(c=polars.Series(["p", "q", "p"], dtype=polars.Categorical))
    path = tmp_path / "t.arrow"
    for write, packing in (
        (frame.write_ipc, "uncompressed"),
        (frame.write_ipc, "zstd"),
        (frame.write_ipc_stream, "lz4"),
    ):
        write(path, compression=packing)
        assert read(path, target="y") == {
            "row": [1, 2, 3],
            "label": ["true", "false", "true"],
            "a": [1, 2, None],
            "w": ["x", "y", None],
            "c": ["p", "q", "p"],
        }
    frame.write_ipc(path)
    with pytest.raises(
        DataError, match=r"t\.arrow: is an Arrow file that can only be read from its end, as polars writes"
    ):
        ArrowReader(source_of(path.read_bytes()))


@pytest.mark.parametrize("indices", [pa.int8(), pa.uint16(), pa.int64()])
def test_dictionaries(indices):
    codes = [0, 1, None, 2, 3, 0]
    array = pa.DictionaryArray.from_arrays(pa.array(codes, indices), pa.array(["a", "b", "a", None]))
    for column in (array, array.slice(1), array.slice(0, 2)):
        words = arrow_arrays.column_of(column, "word")
        assert words.tolist() == column.to_pylist()
        assert sorted(words.values) in (["a", "b"], ["a"], ["b"])
    assert arrow_arrays.column_of(array, "text").tolist() == array.to_pylist()


def test_numbers_of_every_type(tmp_path):
    rng = random.Random(2)
    decimals = [decimal.Decimal(rng.randint(-(10**k), 10**k)).scaleb(-6) for k in range(1, 25) for _ in range(50)]
    table = pa.table(
        {
            "decimal": pa.array(decimals, pa.decimal128(30, 6)),
            "int64": pa.array([rng.randint(-(2**63), 2**63 - 1) for _ in decimals]),
            "uint64": pa.array([rng.randint(0, 2**64 - 1) for _ in decimals], pa.uint64()),
            "float16": pa.array(np.array([0.5, 1.5] * (len(decimals) // 2), np.float16)),
            "category": pa.array([rng.randint(0, 9) for _ in decimals]).dictionary_encode(),
        }
    )
    for kind in FORMATS:
        found = read(save(tmp_path, table, kind), target=False)
        for name, cells in table.to_pydict().items():
            assert found[name] == [float(cell) for cell in cells], name


TIMES = pa.table(
    {
        "day": pa.array([datetime.date(1970, 1, 2), None], pa.date32()),
        "when": pa.array([1500, None], pa.timestamp("ms", "UTC")),
        "clock": pa.array([datetime.time(0, 1), None], pa.time32("s")),
        "span": pa.array([2_500_000, None], pa.duration("us")),
        "y": [0, 1],
    }
)


@pytest.mark.parametrize("kind", FORMATS)
def test_times(tmp_path, kind):
    path = save(tmp_path, TIMES, kind)
    for options in ({}, {"types": dict.fromkeys(["day", "when", "clock", "span"], "number")}):
        found = read(path, **options)
        assert [found[name][0] for name in ("day", "when", "clock", "span")] == [86400.0, 1.5, 60.0, 2.5]
        assert [found[name][1] for name in ("day", "when", "clock", "span")] == [None] * 4
    assert read(path, dates="word")["day"] == ["1970-01-02", None]
    with pytest.raises(DataError, match="none is left besides the target"):
        open_file(path, dates="drop")
    assert read(path, drop=["when", "clock", "span"], types={"day": "word"})["day"] == ["1970-01-02", None]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "odd", [pa.array([[1], [2]]), pa.array([{"a": 1}, {"a": 2}]), pa.array([b"1", b"2"]), pa.array([{"": 1}] * 2)]
)
def test_columns_of_unusable_types(tmp_path, kind, odd):
    path = save(tmp_path, pa.table({"a": [1, 2], "odd": odd, "y": [0, 1]}), kind)
    with pytest.raises(
        DataError, match=r'column "odd" \(number 2\) holds .*, which is no number, word or text. Leave it'
    ):
        open_file(path)
    with pytest.raises(DataError, match="no number, word or text"):
        open_file(path, types={"odd": "text"})
    assert read(path, drop=["odd"])["a"] == [1, 2]
    with open_file(path, drop=[2]) as reader:
        assert reader.kinds == ("number", str(odd.type), "number") or kind == "parquet"


def test_declared_types(tmp_path):
    table = pa.table({"zip": [12345, None, 7], "n": ["1", " 2.5 ", "NA"], "w": SENTENCES[:3], "y": [1.0, 2.0, 1.5]})
    found = read(save(tmp_path, table, "parquet"), types={"zip": "word", "n": "number", "w": "word", "y": "word"})
    assert found == {
        "row": [1, 2, 3],
        "label": ["1", "2", "1.5"],
        "zip": ["12345", None, "7"],
        "n": [1, 2.5, None],
        "w": SENTENCES[:3],
    }
    with pytest.raises(DataError, match=r"one of 'number', 'word', 'text'; found 'int'"):
        read(tmp_path / "t.parquet", types={"n": "int"})


def test_targets_and_columns_left_out(tmp_path):
    path = save(tmp_path, TABLE, "parquet")
    assert read(path, target="w", drop=["y"], bad_rows="skip")["label"] == ["red", "", "größer", "red"]
    assert "label" in (found := read(path, target=False))
    assert found["label"] == [None] * 5
    assert found["y"] == CELLS["label"]
    assert read(path, target=4, bad_rows="skip")["label"] == ["true", "false", "true", "true"]
    with pytest.raises(DataError, match=r"there is no column 'yy' \(target\)"):
        read(path, target="yy")
    with pytest.raises(DataError, match=r"no column 'z' \(drop\)"):
        read(path, drop=["z"])
    with pytest.raises(DataError, match="found 7 columns, and none is left besides the target"):
        read(path, drop=list("nxwbtd"))
    with pytest.raises(DataError, match="bad_rows must be"):
        read(path, bad_rows="ignore")


def test_pandas_index_is_left_out(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "y": ["u", "v"]}, index=[7, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet") == {"row": [1, 2], "label": ["u", "v"], "a": [1, 2]}


WRONG = pa.table(
    {"a": [1.0, math.inf, 3.0, 1e150, 5.0, -1e151], "w": list("uvwxyz"), "y": ["p", "q", "p", "q", None, None]}
)


@pytest.mark.parametrize("kind", FORMATS)
def test_wrong_rows(tmp_path, kind):
    path = save(tmp_path, WRONG, kind)
    blocks = []
    with pytest.raises(DataError, match=rf't\.{kind}:2:1: "inf" in column "a" is not a finite number below 1e\+150'):
        blocks.extend(block for block in open_file(path))
    blocks = iter(open_file(path))
    assert cells_of([next(blocks)])[0] == {"row": [1], "label": ["p"], "a": [1], "w": ["u"]}
    found, rejects = cells_of(open_file(path, bad_rows="skip"))
    assert found == {"row": [1, 3], "label": ["p", "p"], "a": [1, 3], "w": ["u", "w"]}
    assert [reject.line for reject in rejects] == [2, 4, 5, 6]
    assert [reject.code for reject in rejects] == ["too-large", "too-large", "missing-label", "too-large"]
    assert "t." + kind + ':5:3: the label in column "y" is missing' in rejects[2].reason
    assert json.loads(rejects[1].text) == {"a": 1e150, "w": "x", "y": "q"}


def test_a_file_of_wrong_rows(tmp_path):
    path = save(tmp_path, WRONG[3:], "parquet")
    found, rejects = cells_of(open_file(path, bad_rows="skip"))
    assert (found["row"], len(rejects)) == ([], 3)
    with pytest.raises(DataError, match="parquet:1:1"):
        read(path)
    texts = pa.table(
        {"n": ["1", "one"], "t": SENTENCES[:2], "when": pa.array([1, 2], pa.timestamp("ns")), "y": [None, 1]}
    )
    path = save(tmp_path, texts, "parquet")
    types = {"n": "number", "when": "number"}
    found, rejects = cells_of(open_file(path, bad_rows="skip", types=types))
    assert found["row"] == []
    assert [reject.reason for reject in rejects] == [
        f'{path}:1:4: the label in column "y" is missing. Fill it in, pass over such rows, or name another target.',
        f'{path}:2:1: expected a number in column "n", found "one". Correct it, pass over such rows, or read the '
        "column as words.",
    ]
    assert [reject.code for reject in rejects] == ["missing-label", "not-a-number"]
    assert json.loads(rejects[0].text)["when"].startswith("1970-01-01")


@pytest.mark.parametrize("kind", FORMATS)
def test_empty_files(tmp_path, kind):
    path = save(tmp_path, TABLE[:0], kind)
    with pytest.raises(DataError, match=r"found 7 columns, but no rows"):
        open_file(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"the file is empty"):
        open_file(path)
    with pytest.raises(DataError, match="there is no such file"):
        open_file(tmp_path / f"none.{path.suffix[1:]}")
    with pytest.raises(DataError, match="is a folder"):
        open_file(tmp_path)
    twins = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    path.write_bytes(as_bytes(twins, kind))
    with pytest.raises(DataError, match="columns 1 and 2 are both called 'a'"):
        open_file(path)


def is_one_sentence(error, path):
    return str(error).startswith(f"{path}:") and str(error).endswith(".") and "\n" not in str(error)


SMALL = pa.table({"a": [1.5, 2.5, None, 4.0], "w": ["u", None, "v", "u"], "y": ["p", "q", "p", "q"]})


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("options", [{}, {"compression": "zstd"}], ids=["plain", "packed"])
def test_every_truncation(tmp_path, kind, options):
    if kind != "parquet" and options:
        options = {"options": pa.ipc.IpcWriteOptions(**options)}
    whole = as_bytes(SMALL, kind, 2, **options)
    path = tmp_path / f"t.{kind}"
    path.write_bytes(whole)
    expected = read(path)
    n_read = 0
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        try:
            found = read(path)
        except DataError as error:
            assert is_one_sentence(error, path)  # noqa: PT017 (either way will do)
        else:
            # A stream may end after any batch: its end mark is optional.
            assert kind == "stream"
            assert found == {name: cells[: len(found["row"])] for name, cells in expected.items()}
            n_read += 1
    assert n_read <= 2 + 8


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_bytes(tmp_path, kind):
    rng = random.Random(5)
    path = tmp_path / f"t.{kind}"
    whole = as_bytes(TABLE, kind, 2)
    for _ in range(800):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 8])):
            content[rng.randrange(len(content))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        path.write_bytes(content)
        try:
            for bad_rows in ("stop", "skip"):
                read(path, bad_rows=bad_rows)
        except DataError as error:
            assert is_one_sentence(error, path)  # noqa: PT017 (either way will do)


@pytest.mark.parametrize("kind", FORMATS)
def test_random_bytes(tmp_path, kind):
    rng = random.Random(6)
    start = {"parquet": b"PAR1", "arrow": b"ARROW1\0\0", "stream": b"\xff\xff\xff\xff"}[kind]
    path = tmp_path / f"t.{kind}"
    for size in range(200):
        path.write_bytes(start + rng.randbytes(size) + start)
        with pytest.raises(DataError, match=r"t\." + kind):
            read(path)


def test_rows_before_damage_are_delivered(tmp_path):
    table = pa.table({"a": np.random.default_rng(1).normal(size=120_000), "y": np.zeros(120_000)})
    path = save(tmp_path, table, "parquet", rows=40_000, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    at = len(content) * 3 // 4
    content[at : at + 3000] = b"\xff" * 3000
    path.write_bytes(content)
    blocks = []
    with pytest.raises(
        DataError, match=r"t\.parquet: is no Parquet file, or damaged or cut short \(.*\)\. Fetch or write"
    ):
        blocks.extend(open_file(path))
    blocks = iter(open_file(path))
    assert next(blocks).columns["a"].tolist() == table["a"].to_pylist()[: columnar._ROWS]


@pytest.mark.parametrize("write_statistics", [True, False])
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 1e150])
def test_too_large_numbers_are_found_with_and_without_statistics(tmp_path, write_statistics, wrong):
    numbers = np.arange(12.0)
    numbers[7] = wrong
    for name, group in {"a": numbers, "y": numbers[::-1].copy()}.items():
        table = pa.table({"a": np.arange(12.0), "y": np.arange(12.0)} | {name: group})
        path = save(tmp_path, table, "parquet", rows=3, write_statistics=write_statistics)
        row = 8 if name == "a" else 5
        with pytest.raises(DataError, match=rf"t\.parquet:{row}:{1 + (name == 'y')}: "):
            list(open_file(path))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 1e150, -1e300])
def test_statistics_in_the_footer_are_not_trusted(tmp_path, wrong, missing):
    """The minimum and maximum in the footer of a Parquet file may be wrong: every number is checked."""
    column = [1.0, 777.25, None if missing else 3.0, 1000.0]
    table = pa.table({"a": column, "y": [0.0, 1.0, 0.0, 1.0]})
    path = save(tmp_path, table, "parquet", use_dictionary=False, compression="none")
    content, true = path.read_bytes(), struct.pack("<d", 777.25)
    assert content.count(true) == 1
    path.write_bytes(content.replace(true, struct.pack("<d", wrong)))
    statistics = pq.ParquetFile(path).metadata.row_group(0).column(0).statistics
    assert (statistics.min, statistics.max) == (1.0, 1000.0)
    with pytest.raises(DataError, match=r"t\.parquet:2:1: "):
        list(open_file(path))
    [block] = open_file(path, bad_rows="skip")
    assert block.lines.tolist() == [1, 3, 4]


def test_invalid_text(tmp_path):
    path = save(tmp_path, pa.table({"w": ["qqqq", "rrrr"], "y": [0, 1]}), "arrow")
    path.write_bytes(path.read_bytes().replace(b"rrrr", b"r\xffrr"))
    with pytest.raises(DataError, match=r"t\.arrow: is no Arrow file, or damaged"):
        read(path)


@pytest.mark.parametrize("kind", ["arrow", "stream"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_arrow_through_a_pipe(kind, pack):
    content = pack(as_bytes(TABLE, kind, 5))
    for chunk in (1, 100, 1 << 20):
        reader = ArrowReader(source_of(content, chunk, is_steady=False))
        assert reader.kinds == KINDS
        assert cells_of(reader) == (CELLS, [])


def test_a_batch_of_a_pipe_is_delivered_when_it_has_come():
    sink, offsets = io.BytesIO(), [0]
    with pa.ipc.new_stream(sink, SMALL.schema) as writer:
        for batch in SMALL.to_batches(max_chunksize=1):
            writer.write_batch(batch)
            offsets.append(sink.tell())
    parts = [sink.getvalue()[begin:end] for begin, end in itertools.pairwise([*offsets, None])]
    calls = []

    def read_some(n):
        calls.append(n)
        return parts[len(calls) - 1] if len(calls) <= len(parts) else b""

    reader = ArrowReader(Source("pipe", read_some, is_steady=False))
    assert len(calls) == 1  # the first batch, and nothing of what follows
    blocks = reader._blocks()
    assert next(blocks).labels.tolist() == ["p"]
    assert len(calls) == 1
    assert next(blocks).labels.tolist() == ["q"]
    assert len(calls) == 2
    assert [block.labels.tolist() for block in blocks] == [["p"], ["q"]]


def test_parquet_needs_a_file(tmp_path):
    content = as_bytes(SMALL, "parquet")
    with pytest.raises(DataError, match=r"t\.arrow: Parquet is read from its end, so pipes are not supported"):
        ParquetReader(source_of(content))
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match=r"gz: the Parquet file is itself compressed. Decompress it first"):
        ParquetReader(path)
    path.write_bytes(b"PARE" + content[4:-4] + b"PARE")
    with pytest.raises(DataError, match="is an encrypted Parquet file"):
        ParquetReader(path)


@pytest.mark.parametrize("kind", FORMATS)
def test_bytes_read(tmp_path, kind):
    path = save(tmp_path, pa.table({"a": np.arange(4e5), "y": np.arange(4e5) % 2}), kind, rows=10_000)
    with open_file(path) as reader:
        assert reader.source.size == path.stat().st_size
        counts = [reader.source.bytes_read for _ in reader]
    assert sorted(counts) == counts
    assert counts[0] < 0.5 * reader.source.size < counts[-1] <= reader.source.size


def test_closing_early(tmp_path):
    path = save(tmp_path, pa.table({"a": np.arange(1e5), "y": np.arange(1e5) % 2}), "parquet")
    with open_stream(path) as reader:
        for block in reader:
            assert len(block)
            break
    path.unlink()
    with pytest.raises(DataError, match="goes through its source once"):
        iter(reader)


@pytest.mark.parametrize("kind", FORMATS)
def test_number_matrix(tmp_path, kind):
    """Numeric columns are also there row-major, until other columns replace them; a part of the block has its own."""
    table = pa.table({"a": [1.0, 2.0, None], "sky": ["sun", "rain", "sun"], "b": [3, 4, 5], "y": [0, 1, 0]})
    [block] = open_file(save(tmp_path, table, kind))
    np.testing.assert_array_equal(block.numbers.values, [[1.0, 3.0], [2.0, 4.0], [np.nan, 5.0]])
    assert np.isnan(block.numbers.sum_of_squares)
    assert block.numbers.matches(["a", "b"], block.columns)
    assert not block.numbers.matches(["b", "a"], block.columns)
    part = block[:2]
    np.testing.assert_array_equal(part.numbers.values, [[1.0, 3.0], [2.0, 4.0]])
    assert part.numbers.matches(["a", "b"], part.columns)
    with pytest.raises(ValueError, match="read-only"):
        block.columns["b"][0] = 1.0
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
        block.columns["b"].setflags(write=True)
    for copied in (copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        assert not copied.numbers.matches(["a", "b"], copied.columns)
    block.columns["a"], block.columns["b"] = block.columns["b"], block.columns["a"]
    assert not block.numbers.matches(["a", "b"], block.columns)


def test_replaced_columns_are_learned_from(tmp_path):
    path = save(tmp_path, pa.table({"a": np.arange(9.0), "b": np.arange(9.0) ** 2, "y": np.arange(9) % 2}), "parquet")
    found = []
    for change in (
        lambda columns: {"a": columns["b"], "b": columns["a"]},
        lambda columns: {"b": np.log1p(columns["b"])},
    ):
        [read] = open_file(path)
        by_hand = TableBlock(read.source, read.lines, read.labels, read.columns | change(read.columns))
        read.columns.update(change(read.columns))
        one, other = (learn([block], scale=False) for block in (read, by_hand))
        np.testing.assert_array_equal(one.model.state.raw.coef, other.model.state.raw.coef)
        found.append(one.model.state.raw.coef)
    assert (found[0] != found[1]).any()


def test_columns_of_another_length_are_refused(tmp_path):
    [block] = open_file(
        save(tmp_path, pa.table({"a": np.arange(9.0), "b": np.arange(9.0), "y": [0, 1, 0] * 3}), "parquet")
    )
    block.columns.update({name: column[:5] for name, column in block.columns.items()})
    with pytest.raises(ValueError, match=r"Columns of \[5\] numbers do not make 9 rows"):
        learn([block])


def test_numbers_beside_texts_are_made_row_major_once(tmp_path, monkeypatch):
    prose = ["call me when you are there, or now", "see you tomorrow at the station then"] * 50
    path = save(tmp_path, pa.table({"a": np.arange(100.0), "t": prose, "y": [0, 1] * 50}), "parquet")
    calls, inner = [], NumberMatrix.from_columns
    monkeypatch.setattr(NumberMatrix, "from_columns", lambda *given: calls.append(given) or inner(*given))
    model = learn(open_stream(path, types={"t": "text"}))
    assert len(calls) == 1
    assert model.names[0] == "a"
    assert len(model.names) > 20
