"""The compiled reader of tables against Python's csv module."""

import contextlib
import copy
import csv
import io
import math
import os
import pickle
import random
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from novikoff import learn
from novikoff.data.formats import TableReader, csv_cells, table_builder
from novikoff.data.formats.rejects import RowError
from novikoff.data.formats.sources import Source, open_source
from novikoff.errors import DataError
from novikoff.inputs.labels import encode_labels
from tests.reference.formats import table as literal_table

MISSING = ("", "?", "na", "n/a", "nan", "null")
CHUNKS = [1, 2, 3, 7, 50, 1 << 20]


def source_of(text, chunk=1 << 20, is_steady=True):
    offsets = iter(range(0, len(text), chunk))
    return Source("t.csv", lambda n: next((text[at : at + chunk] for at in offsets), b""), is_steady=is_steady)


def cells_of(blocks):
    """Rows (line, cells..., label), missing cells as None, and rejects (line, text)."""
    rows, rejects = [], []
    for block in blocks:
        labels = [None] * len(block) if block.labels is None else block.labels.tolist()
        columns = [column.tolist() for column in block.columns.values()]
        for n, line in enumerate(block.lines.tolist()):
            cells = [column[n] for column in columns]
            rows.append((line, *(None if cell != cell else cell for cell in cells), labels[n]))
        rejects += [(reject.line, reject.text) for reject in block.rejects]
    return rows, rejects


def read(text, chunk=1 << 20, **options):
    return cells_of(TableReader(source_of(text, chunk), **options))


def literal(text, kinds, **form):
    """Rows by the csv module, in files without wrong rows."""
    reader = csv.reader(io.StringIO(text.decode(), newline=""), skipinitialspace=True, strict=True, **form)
    rows, start = [], 1
    for cells in reader:
        if any(cell.strip() for cell in cells) or len(cells) > 1:
            row = [cell.strip(" \t\r\n") for cell in cells]
            assert len(row) == len(kinds)
            row = [
                None if cell.lower() in MISSING else float(cell) if kind == "number" else cell
                for cell, kind in zip(row, kinds, strict=True)
            ]
            rows.append((start, *row))
        start = reader.line_num + 1
    return rows


def random_table(rng, n, kinds, delimiter):
    """A table with everything that is allowed."""
    words = ["red", "green", "a b", f"a{delimiter}b", 'say "no"', "two\nlines", "größer", "x" * 30, "4", "nullo", "N/"]

    def cell(kind, is_label):
        if not is_label and rng.random() < 0.1:
            return rng.choice(["", "?", "NA", "n/a", "NaN", "null", '"NA"', '""', " "])
        if kind == "number":
            value = rng.choice(
                [repr(rng.gauss(0, 1)), f"{rng.gauss(0, 9):.3g}", str(rng.randint(-9, 9)), "1e-320", ".5"]
            )
        else:
            value = rng.choice(words)
        if any(c in value for c in f'{delimiter}"\n') or rng.random() < 0.2:
            return '"' + value.replace('"', '""') + '"'
        return rng.choice(["", "", " "]) + value + rng.choice(["", "", " "])

    rows = []
    for _ in range(n):
        rows.append(delimiter.join(cell(kind, k == len(kinds) - 1) for k, kind in enumerate(kinds)))
        if rng.random() < 0.05:
            rows.append(rng.choice(["", "  "]))
    end = rng.choice(["\n", "\r\n", "\r"])
    return (end.join(rows) + rng.choice(["", end])).encode()


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_files_in_chunks_of_any_size(chunk, delimiter):
    rng = random.Random(chunk)
    for _ in range(15):
        kinds = [rng.choice(["number", "word"]) for _ in range(rng.randint(2, 6))]
        text = random_table(rng, rng.randint(1, 25), kinds, delimiter)
        types = {str(k): kind for k, kind in enumerate(kinds, start=1)}
        expected = literal(text, kinds, delimiter=delimiter)
        found, rejects = read(text, chunk, types=types, header=False, delimiter=delimiter)
        assert found == expected
        assert not rejects


def test_all_numbers():
    rng = np.random.default_rng(8)
    table = rng.normal(size=(5000, 7))
    text = "\n".join(["a,b,c,d,e,f,y", *(",".join(map(repr, row)) for row in table.tolist())]).encode()
    reader = TableReader(source_of(text, 10_000))
    assert reader.names == tuple("abcdefy")
    assert set(reader.kinds) == {"number"}
    assert (reader.delimiter, reader.has_header, reader.target_name) == (",", True, "y")
    blocks = list(reader)
    found = np.concatenate([np.column_stack([*block.columns.values(), block.labels]) for block in blocks])
    assert (found == table).all()
    assert np.concatenate([block.lines for block in blocks]).tolist() == list(range(2, 5002))


def mutate(rng, text):
    text = bytearray(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(text) + 1)
        new = rng.choice(
            [
                bytes([rng.randrange(256)]),
                b",",
                b'"',
                b"\n",
                b"\r",
                b"-",
                b"9",
                b" ",
                b"\0",
                b"",
                b"x",
                b".",
                b"$",
                b"'",
            ]
        )
        text[at : at + rng.randint(0, 2)] = new
    return bytes(text)


@pytest.mark.parametrize("notation", ["plain", "decimal-point", "decimal-comma"])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_mutated_files_agree_with_a_literal_reader(delimiter, notation):
    """Rows and rejects are those of a literal reader, for chunks of any size and numbers in any notation."""
    rng, n_rows = random.Random(9), 0
    kinds = [notation, "word", notation]
    options = {
        "types": {"1": "number", "2": "word", "3": "number"},
        "notations": {"column 1": notation, "column 3": notation},
        "header": False,
        "delimiter": delimiter,
        "bad_rows": "skip",
    }
    valid = b'1,red,2\n3, green ,-4.5\nNA,"a ""b""",1\r\n\n5,"c\nd",1e3\r6,"e\rf",7\r8,?,9'.replace(
        b",", delimiter.encode()
    )
    if notation != "plain":
        valid = valid.replace(b"-4.5", b'"-1,234.5"' if notation == "decimal-point" else b'"-1.234,5"')
    for _ in range(1500):
        text = mutate(rng, valid)
        try:
            reader = TableReader(source_of(text, rng.choice([1, 5, 11, 1 << 20])), **options)
        except DataError:
            continue  # its first row is wrong, or there is none
        if len(reader.names) != 3:
            continue  # its first row has more cells
        rows, wrong = literal_table(text, delimiter, reader._dialect.quote or None, kinds)
        if rows or wrong:
            assert cells_of(reader) == (rows, wrong), text
            n_rows += len(rows)
    assert n_rows > 4000


def read_all(text, chunk, is_steady, **options):
    """Rows, rejects and the error, if there is one."""
    rows, rejects = [], []
    try:
        for block in TableReader(source_of(text, chunk, is_steady), **options):
            more = cells_of([block])
            rows += more[0]
            rejects += [(reject.line, reject.reason, reject.text) for reject in block.rejects]
    except DataError as error:
        return rows, rejects, str(error)
    return rows, rejects, None


@pytest.mark.parametrize("bad_rows", ["skip", "stop"])
def test_results_do_not_depend_on_threads(bad_rows):
    """Chunks that are parsed in parallel, as if each began with a record, give the same rows as chunks that are parsed
    one after the other, wherever quotes open and whether they close."""
    rng = random.Random(10)
    kinds = ["number", "word", "number", "text", "word"]
    options = {
        "types": {str(k): kind for k, kind in enumerate(kinds, start=1)},
        "header": False,
        "delimiter": ",",
        "bad_rows": bad_rows,
    }
    n_whole = 0
    for _ in range(300):
        text = b"1,red,2,a b,yes\n" + random_table(rng, rng.randint(5, 40), kinds, ",")
        text = rng.choice([b"", b"\xef\xbb\xbf"]) + text
        if rng.random() < 0.7:
            head = text.index(b"\n") + 1
            text = text[:head] + mutate(rng, text[head:])
        chunk = rng.choice([3, 20, 64, 200])
        found = read_all(text, chunk, True, **options)
        assert found == read_all(text, chunk, False, **options)
        assert found == read_all(text, 1 << 20, False, **options)
        n_whole += found[2] is None and not found[1]
    assert n_whole > 50


def test_long_cells_with_line_feeds():
    """Chunks that begin within quotes."""
    cells = ["x" * n + "\n1,2\n" * (n % 7) + '""' * (n % 3) for n in range(300)]
    text = "".join(f'{n},"{cell}",{n % 2}\n' for n, cell in enumerate(cells)).encode()
    for chunk in (100, 1000, 4000):
        rows, rejects = read(text, chunk, header=False, types={"2": "text"})
        assert [row[1:] for row in rows] == [
            (n, cell.replace('""', '"').strip() or None, n % 2) for n, cell in enumerate(cells)
        ]
        assert not rejects


def test_every_truncation():
    text = b'a,b,y\n1,red,2\n3,"gr\neen",-4\n5,x,6\n'
    for size in range(len(text)):
        for chunk in (4, 1 << 20):
            with contextlib.suppress(DataError):
                assert len(read(text[:size], chunk)[0]) <= 3


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"age,y\n" + b"1,0\n" * 20 + b"abc,1\n", {}, 't.csv:22:1: expected a number in column "age", found "abc"'),
        (b"a,y\n" + b"1,0\n" * 20 + b"1\n", {}, "t.csv:22: found 1 cell, line 1 has 2"),
        (b"a,y\n" + b"1,0\n" * 20 + b"1,2,3\n", {}, "t.csv:22: found 3 cells, line 1 has 2"),
        (b"a,y\n1,0\ninf,1\n", {}, 't.csv:3:1: "inf" in column "a" is not a finite number below 1e+150'),
        (b"a,y\n1,0\n1e200,1\n", {}, 't.csv:3:1: "1e200" in column "a" is not'),
        (b"a,y\n1,0\n1,NA\n", {}, 't.csv:3:2: the label in column "y" is missing'),
        (b"a,y\n1,no\n1,\n", {}, 't.csv:3:2: the label in column "y" is missing'),
        (b"a,y\n1,no\n\xff,1\n", {"types": {"a": "word"}}, "t.csv:3:1: byte 0xff is not UTF-8"),
        (b"a,y\n1,no\nx\0,1\n", {}, "t.csv:3:2: not a text file, it contains zero bytes"),
        (
            b'a,y\n1,no\n"2,1\n',
            {},
            "t.csv:3: this row cannot be read as CSV: a quote that begins a cell is never closed",
        ),
        (
            b'a,y\n1,no\n"2"x,1\n',
            {},
            "t.csv:3: this row cannot be read as CSV: something other than a delimiter follows",
        ),
        (b"", {}, "t.csv: the file is empty"),
        (b"\n \n", {}, "t.csv: found no rows"),
        (b"a,y\n", {}, "t.csv: found a header line but no rows"),
        (b"a,a\n1,2\n", {}, "t.csv:1:2: columns 1 and 2 are both called 'a'"),
        (b"a\n1\n", {}, "t.csv: found 1 column, and none is left besides the target"),
        (b"age,y\n1,2\n", {"target": "agee"}, "there is no column 'agee' (target). Did you mean 'age'?"),
        (b"age,y\n1,2\n", {"drop": ["z"]}, "there is no column 'z' (drop). The columns are 'age', 'y'."),
        (b"age,y\n1,2\n", {"types": {"age": "int"}}, "A column holds one of 'number', 'word', 'text'; found 'int'"),
    ],
)
def test_messages(text, options, message):
    with pytest.raises(DataError) as caught:
        read(text, **options)
    assert message in str(caught.value)


def test_rows_before_an_error_are_delivered():
    blocks = iter(TableReader(source_of(b"a,y\n" + b"1,0\n" * 40 + b"x,0\n1,0\n", 37)))
    assert next(blocks).lines.tolist() == list(range(2, 42))
    with pytest.raises(DataError, match=r"t\.csv:42:1"):
        next(blocks)


def test_rejects():
    text = b'a,y\n1,0\nx,0\n"3,0\n4,0,9\n5,1\n"6\n7",1\n\xff,1\n8,1'
    rows, rejects = read(text, bad_rows="skip", types={"a": "number"})
    assert [row[0] for row in rows] == [2, 6, 10]
    codes = ["not-a-number", "quotes", "width", "not-a-number", "encoding"]
    found = [
        reject
        for block in TableReader(source_of(text), bad_rows="skip", types={"a": "number"})
        for reject in block.rejects
    ]
    assert [reject.code for reject in found] == codes
    assert rejects == [(3, b"x,0\n"), (4, b'"3,0\n'), (5, b"4,0,9\n"), (7, b'"6\n7",1\n'), (9, b"\xff,1\n")]


def test_the_first_lines_decide_the_kinds():
    text = b"a,b,c,y\n1,,x,0\n2,?,NA,1\n"
    reader = TableReader(source_of(text), types={"c": "text"})
    assert reader.kinds == ("number", "number", "text", "number")
    [block] = reader
    assert block.columns["b"].dtype == np.float64
    assert np.isnan(block.columns["b"]).all()
    assert block.columns["c"].tolist() == ["x", None]
    assert block.labels.tolist() == [0, 1]


def test_a_typing_error_does_not_make_a_column_categorical():
    text = b"a,y\n" + b"1,0\n" * 50 + b"l,0\n" + b"1,0\n" * 50
    assert TableReader(source_of(text)).kinds == ("number", "number")
    with pytest.raises(DataError, match=r't\.csv:52:1: expected a number in column "a", found "l"'):
        read(text)
    assert TableReader(source_of(text), types={"a": "word"}).kinds == ("word", "number")


def test_labels():
    [block] = TableReader(source_of(b"a,y\n1,0\n2,yes\n"))
    assert block.labels.tolist() == ["0", "yes"]
    assert block.labels.dtype == object
    [block] = TableReader(source_of(b"a,y\n1,0\n2,1.0\n"))
    assert block.labels.tolist() == [0.0, 1.0]
    [block] = TableReader(source_of(b"a,y\n1,0\n2,1\n"), types={"y": "word"})
    assert block.labels.tolist() == ["0", "1"]
    [block] = TableReader(source_of(b"a,y\n1,0\n2,1\n"), target=False)
    assert block.labels is None
    assert list(block.columns) == ["a", "y"]


def test_target_and_drop():
    [block] = TableReader(source_of(b"id,a,y,b\n7,1,0,2\n"), target="y", drop=["id"])
    assert {name: column.tolist() for name, column in block.columns.items()} == {"a": [1.0], "b": [2.0]}
    assert block.labels.tolist() == [0.0]
    [block] = TableReader(source_of(b"id,a,y,b\n7,1,0,2\n"), target=1, drop=[2, "3"])
    assert (list(block.columns), block.labels.tolist()) == (["b"], [7.0])


def test_row_numbers_written_by_pandas_are_left_out():
    [block] = TableReader(source_of(b",a,y\n0,5,1\n1,6,0\n"))
    assert list(block.columns) == ["a"]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [(b"a;y\n1,5;x\n", ";"), (b"a\ty\n1\t2\n", "\t"), (b"a|y\n1|2\n", "|"), (b"a  y\n 1\t2 \n", " ")],
)
def test_delimiters(text, delimiter):
    reader = TableReader(source_of(text))
    assert reader.delimiter == delimiter
    assert [len(block) for block in reader] == [1]


def test_blanks_between_cells():
    rows, _ = read(b"  1   2.5 7\n3\t4 8  \r\n\n 5 6 9", header=False)
    assert rows == [(1, 1.0, 2.5, 7.0), (2, 3.0, 4.0, 8.0), (4, 5.0, 6.0, 9.0)]
    with pytest.raises(DataError, match=r"t\.csv:2: found 1 cell, line 1 has 2"):
        read(b"1 2\n3 \n", header=False)


def test_more_rows_than_a_block(monkeypatch):
    monkeypatch.setattr(table_builder, "_ROWS", 10)
    text = b"a,y\n" + b"".join(b"%d,w%d\n" % (n, n % 3) for n in range(95))
    blocks = list(TableReader(source_of(text)))
    assert [len(block) for block in blocks] == [10] * 9 + [5]
    assert cells_of(blocks)[0] == [(n + 2, float(n), f"w{n % 3}") for n in range(95)]


@pytest.mark.parametrize("at", [1, 50])
def test_a_quote_that_is_never_closed(at):
    rows = [b"%d,x\n" % n for n in range(100_000)]
    rows[at] = b'"' + rows[at]
    with pytest.raises(DataError, match=rf"t\.csv:{at + 1}: this row cannot be read as CSV"):
        read(b"".join(rows), 10_000, header=False)
    kept, rejects = read(b"".join(rows), 10_000, header=False, bad_rows="skip", types={"1": "number"})
    assert (len(kept), len(rejects)) == (99_999, 1)


def test_a_pipe_delivers_rows_as_they_come(monkeypatch):
    """The first row arrives while the writer still has the pipe open."""
    out, into = os.pipe()
    with open(out) as stdin, open(into, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        pipe.write(b"a,y\n1,no\n2,")
        blocks = iter(TableReader(open_source("-")))
        assert next(blocks).labels.tolist() == ["no"]
        pipe.write(b"yes\n")
        assert next(blocks).labels.tolist() == ["yes"]
        pipe.write(b'"3","per\n')
        pipe.write(b'haps"\n')
        assert next(blocks).labels.tolist() == ["per\nhaps"]
        pipe.close()
        assert list(blocks) == []


def test_memory_does_not_grow():
    def peak(chunks):
        left = iter(range(chunks))
        source = Source("t.csv", lambda n: next((b"0.5,red,1\n" * 1000 for _ in left), b""), is_steady=False)
        tracemalloc.start()
        n = sum(map(len, TableReader(source, header=False)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert n == 1000 * chunks
        return most

    peak(2)
    assert peak(300) < 2 * peak(10)


def test_doubles_are_exact():
    values = [math.pi, -1e-300, 5e-324, 1e149, 0.1 + 0.2]
    rows, _ = read("\n".join(f'"{value!r}",{value!r},1' for value in values).encode(), header=False)
    assert [row[1:3] for row in rows] == [(value, value) for value in values]


def test_quotes_between_tabs_are_only_quotes_if_they_enclose_cells(tmp_path):
    (tmp_path / "prose.tsv").write_text('id\tsaid\ty\n1\t"Hi" she said\ta\n2\t"no\tb\n')
    (tmp_path / "excel.tsv").write_text('id\tsaid\ty\n1\t"a\ttab and ""quotes"""\ta\n2\tno\tb\n')
    for name, expected in (("prose", ['"Hi" she said', '"no']), ("excel", ['a\ttab and "quotes"', "no"])):
        [block] = TableReader(tmp_path / f"{name}.tsv", delimiter="\t")
        assert block.columns["said"].tolist() == expected


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"x,1\n", "not-a-number"),
        (b"inf,1\n", "too-large"),
        (b"1,?\n", "missing-label"),
        (b"1\n", "width"),
        (b'"1"x,2\n', "quotes"),
        (b'"' + b"1" * (1 << 18) + b'""",2\n', "cell-size"),
        (b"\xff,2\n", "encoding"),
    ],
)
def test_reject_codes(row, code):
    options = {"types": {"a": "number"}, "header": True}
    [block] = TableReader(source_of(b"a,y\n1,0\n" + row + b"2,1\n"), bad_rows="skip", **options)
    assert (block.lines.tolist(), [reject.code for reject in block.rejects]) == ([2, 4], [code])
    with pytest.raises(RowError) as caught:
        read(b"a,y\n1,0\n" + row + b"2,1\n", **options)
    assert (caught.value.code, str(caught.value)) == (code, block.rejects[0].reason)
    assert pickle.loads(pickle.dumps(caught.value)).code == code


@pytest.mark.parametrize("skip_blanks", [True, False])
def test_faults_are_those_of_the_csv_module(skip_blanks):
    """The csv module has one type of error and says in words what is wrong; `_find_fault` agrees with the words."""
    said = {"expected after": "AFTER_QUOTE", "unexpected end of data": "OPEN_QUOTE", "field larger than": "CELL_SIZE"}
    rng, counts = random.Random(11), Counter()
    limit = csv.field_size_limit(5)
    try:
        for _ in range(20_000):
            text = "".join(rng.choices('",\n\r ab', weights=[5, 3, 1, 1, 2, 4, 4], k=rng.randint(0, 12)))
            form = {"skipinitialspace": skip_blanks, "strict": True}
            try:
                list(csv.reader(io.StringIO(text, newline=""), **form))
            except csv.Error as error:
                [expected] = [name for words, name in said.items() if words in str(error)]
                assert csv_cells._find_fault(text, ",", '"', skip_blanks=skip_blanks).name == expected, repr(text)
                counts[expected] += 1
            else:
                assert csv_cells._find_fault(text, ",", '"', skip_blanks=skip_blanks) is None, repr(text)
    finally:
        csv.field_size_limit(limit)
    assert min(counts.values()) > 100
    assert len(counts) == 3


def test_numbers_are_row_major_and_stay_writable():
    text = b"a,sky,b,y\n1,sun,2,0\n3,rain,?,1\n5,sun,6,0\n"
    [block] = TableReader(source_of(text))
    np.testing.assert_array_equal(block.numbers.values, [[1, 2], [3, np.nan], [5, 6]])
    assert block.numbers.matches(["a", "b"], block.columns)
    assert block.numbers.values.flags.c_contiguous
    assert np.isnan(block.numbers.sum_of_squares)
    assert block[2:].numbers.sum_of_squares == 61.0
    part = block[np.array([0, 2])]
    assert part.numbers.matches(["a", "b"], part.columns)
    np.testing.assert_array_equal(part.numbers.values, [[1, 2], [5, 6]])
    changed, by_hand = (TableReader(source_of(text)) for _ in range(2))
    [changed], [by_hand] = changed, by_hand
    changed.columns["a"] *= 10.0
    by_hand = replace(by_hand, columns=by_hand.columns | {"a": np.array([10.0, 30.0, 50.0])})
    one, other = (learn([each], scale=False) for each in (changed, by_hand))
    np.testing.assert_array_equal(one.model.state.raw.coef, other.model.state.raw.coef)


def test_string_labels_are_coded():
    [block] = TableReader(source_of(b'a,y\n1,no\n2,yes\n3,"y""es"\n4,no\n'))
    assert block.coded_labels.tolist() == block.labels.tolist() == ["no", "yes", 'y"es', "no"]
    for part in (block, block[1:], block[:1], block[np.array([0, 3])], block.after(2), copy.deepcopy(block)):
        classes, codes = part.encode_labels()
        expected, expected_codes = encode_labels(np.array(part.labels.tolist(), object))
        assert (classes.tolist(), codes.tolist()) == (expected.tolist(), expected_codes.tolist())
        assert (classes.dtype, codes.dtype) == (expected.dtype, expected_codes.dtype)
    with pytest.raises(ValueError, match="read-only"):
        block.labels[0] = "yes"
    copied = pickle.loads(pickle.dumps(block))
    copied.labels[:] = "other"
    replaced = replace(block, labels=np.array([1.0, 2.0, 1.0, 2.0]))
    assert [each.encode_labels()[0].tolist() for each in (copied, replaced)] == [["other"], [1.0, 2.0]]
    assert replaced[:1].labels.tolist() == [1.0]
