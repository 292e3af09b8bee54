"""Conversion of files to every format and back, and the command novikoff convert."""

import bz2
import csv
import gzip
import itertools
import json
import lzma
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.cli import main
from novikoff.data.formats import NamedBlock, SparseBlock
from novikoff.data.writing import FORMATS, convert
from novikoff.data.writing.outputs import format_of
from novikoff.data.writing.shortest_decimals import format_number
from novikoff.errors import DataError

TABLES = ["csv", "tsv", "parquet", "arrow", "jsonl"]
ALL = [*TABLES, "svm", "vw"]


def read(path, **options):
    """Return (label, {name: value}) of every row in any format, without missing values."""
    found = []
    for block in nk.open_stream(path, **options):
        labels = [None] * len(block) if block.labels is None else block.labels.tolist()
        found += zip(labels, dicts_of(block), strict=True)
    return found


def dicts_of(block):
    if isinstance(block, NamedBlock):
        return block.dicts()
    if isinstance(block, SparseBlock):
        parts = [(row.indices.tolist(), row.data.tolist()) for row in (block.rows[[i]] for i in range(len(block)))]
        return [dict(zip(map(str, indices), values, strict=True)) for indices, values in parts]
    rows = zip(*(column.tolist() for column in block.columns.values()), strict=True)
    rows = [dict(zip(block.columns, row, strict=True)) for row in rows]
    return [{name: cell for name, cell in row.items() if cell is not None and cell == cell} for row in rows]


def write_csv(path, names, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])
    return path


@pytest.fixture
def days(tmp_path):
    rows = [("3", "sun", "go"), ("", "rain", "stay"), ("0.1", "", "go"), ("-0.0", 'a, "b"', "go"), ("0", "sun", "stay")]
    return write_csv(tmp_path / "days.csv", ["age", "sky", "label"], rows)


@pytest.fixture
def sparse(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:0.5 4:2\n-1\n2.5 2:1e-300 3:-7\n")
    return path


# -- numbers


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_back(value):
    text = format_number(value)
    assert math.copysign(1.0, float(text)) == math.copysign(1.0, value)
    assert float(text) == value == json.loads(text)
    assert not text.endswith(".0") or text == "-0.0"


# -- each pair


def test_table_to_svmlight(days, tmp_path):
    convert(days, tmp_path / "out.svm")
    assert (tmp_path / "out.svm").read_text() == "0 1:3 2:1\n1 3:1 4:1\n0 1:0.1 5:1\n0 6:1\n1 2:1\n"
    names = (tmp_path / "out.svm.names").read_text().splitlines()
    assert names == ["1\tage", "2\tsky=sun", "3\tage is missing", "4\tsky=rain", "5\tsky=?", '6\tsky=a, "b"']
    assert (tmp_path / "out.svm.labels").read_text() == "0\tgo\n1\tstay\n"


def test_numbering_does_not_depend_on_blocks(tmp_path):
    """Rows in one file and in many, as one block and as many, give the same numbers."""
    rng = np.random.default_rng(0)
    names = ["a", "x", "b", "y", "label"]
    rows = [
        (
            rng.choice(["1", "2.5", "", "0"]),
            f"w{rng.integers(40)}",
            rng.choice(["3", ""]),
            f"v{rng.integers(40)}",
            rng.choice(["p", "q", "r"]),
        )
        for _ in range(200)
    ]
    rows[::10] = [("1", "w1", "3", "v1", "p")] * 20  # every file has numbers in a and b
    write_csv(tmp_path / "whole.csv", names, rows)
    parts = [write_csv(tmp_path / f"{at}.csv", names, rows[at : at + 10]) for at in range(0, 200, 10)]
    for extension in ("svm", "vw"):
        whole, joined = tmp_path / f"whole.{extension}", tmp_path / f"joined.{extension}"
        convert(tmp_path / "whole.csv", whole)
        convert(parts, joined)
        assert whole.read_bytes() == joined.read_bytes()


def test_table_to_vw(tmp_path):
    rows = [("3", "sun", "call: now | or never", "go"), ("", "", "", "stay"), ("0", "a:b|c d", "lunch", "go")]
    path = write_csv(tmp_path / "days.csv", ["the age", "sky", "sms", "label"], rows)
    convert(path, tmp_path / "out.vw", types={"sms": "text", "sky": "word"})
    assert (tmp_path / "out.vw").read_text().splitlines() == [
        "0 | the_age:3 sky=sun |sms call_ now _ or never",
        "1 | the_age_is_missing sky=?",
        "0 | sky=a_b_c_d |sms lunch",
    ]
    assert (tmp_path / "out.vw.labels").read_text() == "0\tgo\n1\tstay\n"


def test_numeric_labels_stay(tmp_path):
    path = write_csv(tmp_path / "a.csv", ["x", "label"], [("1", "-1"), ("2", "2.5"), ("3", "1")])
    for extension, lines in (("svm", ["-1 1:1", "2.5 1:2", "1 1:3"]), ("vw", ["-1 | x:1", "2.5 | x:2", "1 | x:3"])):
        convert(path, output := tmp_path / f"out.{extension}")
        assert output.read_text().splitlines() == lines
        assert not (tmp_path / f"out.{extension}.labels").exists()


def test_table_to_json_lines(days, tmp_path):
    convert(days, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text().splitlines() == [
        '{"age": 3, "sky": "sun", "label": "go"}',
        '{"age": null, "sky": "rain", "label": "stay"}',
        '{"age": 0.1, "sky": null, "label": "go"}',
        '{"age": -0.0, "sky": "a, \\"b\\"", "label": "go"}',
        '{"age": 0, "sky": "sun", "label": "stay"}',
    ]


def test_svmlight_to_table(sparse, tmp_path):
    convert(sparse, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "1,2,3,4,label\n0.5,0,0,2,1\n0,0,0,0,-1\n0,1e-300,-7,0,2.5\n"
    sparse.write_text("1 0:1\n2 2:5\n")
    convert(sparse, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "0,1,2,label\n1,0,0,1\n0,0,5,2\n"


def test_svmlight_keeps_only_stored_values(sparse, tmp_path):
    convert(sparse, tmp_path / "out.jsonl")
    objects = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert objects == [{"1": 0.5, "4": 2, "label": 1}, {"label": -1}, {"2": 1e-300, "3": -7, "label": 2.5}]
    convert(sparse, tmp_path / "out.vw")
    assert (tmp_path / "out.vw").read_text() == "1 | 1:0.5 4:2\n-1 |\n2.5 | 2:1e-300 3:-7\n"


def test_vw_to_others(tmp_path):
    path = tmp_path / "ads.vw"
    path.write_text("1 |user old:0.5 |ad shoes price:3\n-1 'tag | shoes shoes\n1 |ad price:4\n")
    convert(path, tmp_path / "out.svm")
    assert (tmp_path / "out.svm").read_text() == "1 1:0.5 2:1 3:3\n-1 4:2\n1 3:4\n"
    assert (tmp_path / "out.svm.names").read_text() == "1\tuser^old\n2\tad^shoes\n3\tad^price\n4\tshoes\n"
    convert(path, tmp_path / "out.jsonl")
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first == {"user^old": 0.5, "ad^shoes": 1, "ad^price": 3, "label": 1}
    convert(path, tmp_path / "out.vw")
    assert (tmp_path / "out.vw").read_text() == "1 |user old:0.5 |ad shoes price:3\n-1 | shoes shoes\n1 |ad price:4\n"
    with pytest.raises(DataError, match="have no columns"):
        convert(path, tmp_path / "out.csv")
    with pytest.raises(DataError, match="one column of text"):
        convert(path, tmp_path / "out.txt")
    path.write_text("1 | label:2\n")
    with pytest.raises(DataError, match=r"another name \(label\)"):
        convert(path, tmp_path / "no.jsonl")
    convert(path, tmp_path / "out.jsonl", label="y")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"label": 2, "y": 1}


def test_label_and_text(tmp_path):
    path = write_csv(
        tmp_path / "sms.csv", ["sms", "label"], [("call\nnow", "spam"), ("lunch\tat 1", "ham"), ("", "ham")]
    )
    convert(path, tmp_path / "out.txt", types={"sms": "text"})
    assert (tmp_path / "out.txt").read_text() == "spam\tcall now\nham\tlunch at 1\nham\t\n"


def test_text_does_not_become_svmlight(tmp_path):
    path = write_csv(tmp_path / "sms.csv", ["sms", "label"], [("call now", "spam"), ("lunch", "ham")])
    with pytest.raises(DataError, match=r"'sms' is text.*vw or jsonl"):
        convert(path, tmp_path / "out.svm", types={"sms": "text"})


def test_json_lines_to_others(tmp_path):
    """All names become columns; what a row does not name is missing, or 0 in formats without missing values."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1, "label": "p"}\n{"b": "x", "label": "q"}\n{"a": 2, "c": 3, "label": "p"}\n')
    convert(path, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b,c,label\n1,,,p\n,x,,q\n2,,3,p\n"
    convert(path, tmp_path / "out.svm")
    assert (tmp_path / "out.svm").read_text() == "0 1:1\n1 2:1\n0 1:2 3:3\n"
    assert (tmp_path / "out.svm.names").read_text() == "1\ta\n2\tb=x\n3\tc\n"
    convert(path, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == path.read_bytes()


# -- round trips

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6).filter(
    lambda name: not name.isdecimal()
)
WORDS = st.from_regex(r"[a-z][a-z ,;|'\"\t\n_é=:]{0,6}[a-z]", fullmatch=True).filter(
    lambda word: word not in ("na", "nan", "null")
)
NUMBERS = st.floats(-1e100, 1e100) | st.integers(-5, 5).map(float)


@st.composite
def tables(draw):
    """Names, kinds and rows of a table; no cell of the first row is missing, so that the types are clear."""
    names = draw(st.lists(NAMES.filter(lambda name: name != "label"), min_size=1, max_size=4, unique=True))
    kinds = [draw(st.sampled_from(["number", "word"])) for _ in names]
    cells = [NUMBERS if kind == "number" else WORDS for kind in kinds]
    label = draw(st.sampled_from([NUMBERS, WORDS]))
    first = draw(st.tuples(*cells, label))
    rest = draw(st.lists(st.tuples(*(st.none() | cell for cell in cells), label), max_size=5))
    return names, kinds, [first, *rest], "number" if label is NUMBERS else "word"


def as_read(names, rows):
    found = []
    for row in rows:
        cells = zip(names, row, strict=False)
        found.append((row[-1], {name: cell for name, cell in cells if cell is not None}))
    return found


def cells_of(rows):
    return [
        ["" if cell is None else format_number(cell) if isinstance(cell, float) else cell for cell in row]
        for row in rows
    ]


@pytest.mark.parametrize("by", TABLES)
@given(table=tables())
def test_round_trip_of_tables(by, table, tmp_path_factory):
    names, kinds, rows, label = table
    folder = tmp_path_factory.mktemp("there")
    types = {**dict(zip(names, kinds, strict=True)), "label": label}
    path = write_csv(folder / "a.csv", [*names, "label"], cells_of(rows))
    how = {"header": True, "delimiter": ",", "types": types}
    expected = as_read(names, rows)
    assert read(path, **how) == expected
    convert(path, middle := folder / f"b.{by}", **how)
    options = {**how, "delimiter": "\t"} if by == "tsv" else how if by == "csv" else {"types": types}
    assert read(middle, target="label", **options) == expected
    convert(middle, folder / "c.csv", target="label", **options)
    assert read(folder / "c.csv", **how) == expected


@st.composite
def sparse_rows(draw):
    row = st.dictionaries(st.integers(0, 30), NUMBERS.filter(bool), max_size=5)
    return draw(st.lists(st.tuples(NUMBERS, row), min_size=1, max_size=6))


@pytest.mark.parametrize("by", ["svm", "svm.gz", "csv", "parquet", "vw", "jsonl"])
@given(rows=sparse_rows())
def test_round_trip_of_svmlight(by, rows, tmp_path_factory):
    """Where features have been numbered anew, OUTPUT.names has their names."""
    folder = tmp_path_factory.mktemp("there")
    rows = [(label, row or {1: 1.0}) for label, row in rows]  # a table without columns is none
    lines = (" ".join([format_number(label), *(f"{j}:{v!r}" for j, v in row.items())]) for label, row in rows)
    (folder / "a.svm").write_text("\n".join(lines) + "\n")
    expected = [(label, {str(j): v for j, v in row.items()}) for label, row in rows]
    convert(folder / "a.svm", folder / f"b.{by}")
    convert(folder / f"b.{by}", folder / "c.svm")
    found = read(folder / "c.svm")
    if (folder / "c.svm.names").exists():
        names = dict(line.split("\t") for line in (folder / "c.svm.names").read_text().splitlines())
        found = [(label, {names[index]: value for index, value in row.items()}) for label, row in found]
    assert found == expected


@pytest.mark.parametrize("by", ["vw", "jsonl", "svm"])
def test_round_trip_of_vw(by, tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 | a b:2.5 c:-1e-7\n-1 |\n3 | b\n")
    convert(path, tmp_path / f"b.{by}")
    convert(tmp_path / f"b.{by}", tmp_path / "c.vw")
    names = {}
    if by == "svm":
        names = dict(line.split("\t") for line in (tmp_path / "b.svm.names").read_text().splitlines())
    found = [(label, {names.get(name, name): v for name, v in row.items()}) for label, row in read(tmp_path / "c.vw")]
    assert found == read(path)


def test_round_trip_of_label_and_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text('spam\tcall "now"\nham\tsee you, at one\n')
    convert(path, tmp_path / "b.csv", format="text")
    convert(tmp_path / "b.csv", tmp_path / "c.txt")
    assert (tmp_path / "c.txt").read_bytes() == path.read_bytes()


# -- outputs


@pytest.mark.parametrize(
    ("packing", "unpack"), [("gz", gzip.decompress), ("bz2", bz2.decompress), ("xz", lzma.decompress)]
)
def test_compressed(packing, unpack, days, tmp_path):
    convert(days, tmp_path / "plain.csv")
    convert(days, tmp_path / f"out.csv.{packing}")
    assert unpack((tmp_path / f"out.csv.{packing}").read_bytes()) == (tmp_path / "plain.csv").read_bytes()


def test_compressed_with_zstandard(days, tmp_path):
    convert(days, tmp_path / "out.csv.zst")
    assert (tmp_path / "out.csv.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert read(tmp_path / "out.csv.zst") == read(days)


@pytest.mark.parametrize("extension", ALL)
def test_an_error_leaves_the_output_as_it_was(extension, tmp_path):
    rows = [("1", "p")] * 70_000 + [("oops", "p")]
    path = write_csv(tmp_path / "a.csv", ["x", "label"], rows)
    output = tmp_path / f"out.{extension}"
    with pytest.raises(DataError, match="oops"):
        convert(path, output)
    assert {file.name for file in tmp_path.iterdir()} == {"a.csv"}
    output.write_bytes(b"old")
    with pytest.raises(DataError, match="oops"):
        convert(path, output)
    assert output.read_bytes() == b"old"
    assert convert(path, output, bad_rows="skip").rows == 70_000
    assert len(read(output)) == 70_000


def test_a_file_onto_itself(days):
    before = read(days)
    convert(days, days)
    assert read(days) == before


def test_many_blocks(tmp_path):
    """More rows than a block has are converted to every format and back."""
    rng = np.random.default_rng(0)
    numbers, words = rng.normal(size=150_000).round(2).tolist(), rng.choice(["u", "v"], 150_000).tolist()
    rows = [(format_number(a), w, "p" if a > 0 else "q") for a, w in zip(numbers, words, strict=True)]
    path = write_csv(tmp_path / "a.csv", ["x", "w", "label"], rows)
    expected = read(path)
    for extension in ("parquet", "arrow", "jsonl"):
        convert(path, tmp_path / f"b.{extension}")
        convert(tmp_path / f"b.{extension}", tmp_path / "c.csv")
        assert read(tmp_path / "c.csv") == expected


@pytest.mark.parametrize("name", [*FORMATS, "days.csv.GZ", "x.ndjson", "x.feather"])
def test_formats(name):
    assert format_of(name if "." in name else "-", None if "." in name else name) in FORMATS


# -- errors


def test_files_that_do_not_go_together(days, sparse, tmp_path):
    other = write_csv(tmp_path / "other.csv", ["age", "wind", "label"], [("1", "2", "go"), ("2", "3", "go")])
    numbers = write_csv(tmp_path / "numbers.csv", ["age", "sky", "label"], [("1", "2", "7"), ("2", "3", "8")])
    for wrong, output, message in [
        ([days, other], "out.csv", "'wind'"),
        ([other, days], "out.parquet", "'sky'"),
        ([days, sparse], "out.csv", "another kind"),
        ([sparse, days], "out.svm", "another kind"),
        ([days, numbers], "out.svm", "labels are numbers"),
        ([days, numbers], "out.parquet", "'sky'"),
        ([days], "out.txt", "one column"),
    ]:
        with pytest.raises(DataError, match=message):
            convert(wrong, tmp_path / output)
        assert not (tmp_path / output).exists()


def test_too_wide_for_a_table(sparse, tmp_path):
    sparse.write_text("1 999999999:1\n")
    with pytest.raises(DataError, match="jsonl or vw"):
        convert(sparse, tmp_path / "out.csv")
    convert(sparse, tmp_path / "out.vw")
    assert (tmp_path / "out.vw").read_text() == "1 | 999999999:1\n"


# -- the command


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def test_command(days, tmp_path):
    said = run("convert", days, tmp_path / "out.svm").stderr
    assert "out.svm.names" in said
    assert "out.svm.labels" in said
    result = run("convert", "-", "-", "--to", "svmlight", stdin=days.read_bytes())
    assert result.stdout_bytes == (tmp_path / "out.svm").read_bytes()
    assert "0 is go, 1 is stay" in result.stderr
    assert run("convert", days, "-", "--to", "csv", "--drop", "age").stdout.splitlines()[:2] == ["sky,label", "sun,go"]


def test_the_target_is_the_last_column(days, tmp_path):
    run("convert", days, tmp_path / "out.csv", "--target", "sky", "--bad-rows", "skip")
    assert (tmp_path / "out.csv").read_text().splitlines()[:2] == ["age,label,sky", "3,go,sun"]
    assert (tmp_path / "out.csv.rejects").read_text().count("\n") == 1  # the row without sky
    run("convert", days, tmp_path / "out.csv", "--no-labels")
    assert len(read(tmp_path / "out.csv")) == 5


def test_without_labels(tmp_path):
    path = write_csv(tmp_path / "a.csv", ["x", "y"], [("1", "2"), ("3", "")])
    for extension, text in {
        "svm": "0 1:1 2:2\n0 1:3 3:1\n",
        "vw": "| x:1 y:2\n| x:3 y_is_missing\n",
        "jsonl": '{"x": 1, "y": 2}\n{"x": 3, "y": null}\n',
        "csv": "x,y\n1,2\n3,\n",
    }.items():
        run("convert", path, tmp_path / f"out.{extension}", "--no-labels")
        assert (tmp_path / f"out.{extension}").read_text() == text


def test_wrong_calls(days, sparse, tmp_path):
    assert "--to" in run("convert", days, "-", code=2).output
    assert "--to" in run("convert", days, tmp_path / "out.doc", code=2).output
    assert "compresses" in run("convert", days, tmp_path / "out.parquet.gz", code=2).output
    assert "--no-labels" in run("convert", days, "out.csv", "--target", "sky", "--no-labels", code=2).output
    assert "nowhere.csv" in run("convert", "nowhere.csv", tmp_path / "out.svm", code=1).output
    assert "folder" in run("convert", days, tmp_path, "--to", "csv", code=1).output
    assert "nowhere" in run("convert", days, tmp_path / "nowhere" / "out.svm", code=1).output
    said = run("convert", "-", tmp_path / "out.csv", code=1, stdin=sparse.read_bytes()).output
    assert "pipe" in said


def test_help_has_examples():
    said = run("convert", "--help").output
    for word in itertools.chain(FORMATS, ["OUTPUT.names", "OUTPUT.labels", "read twice", "NA"]):
        assert word in said
