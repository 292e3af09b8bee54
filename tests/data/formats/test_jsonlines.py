"""JSON lines against Python's json module, parsed by pyarrow and line by line."""

import json
import math
import os
import random
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.formats import CategoricalColumn, JsonLinesReader, TextColumn, jsonlines, open_stream
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from tests.reference.formats import lines as literal_lines

SENTENCES = ["call me when you can", "we sail at noon today", "no wind on the lake", "see you in the harbour"]


@pytest.fixture(params=["pyarrow", "line by line"], autouse=True)
def parser(request, monkeypatch):
    """Both ways to parse a chunk, for every test."""
    monkeypatch.setattr(jsonlines, "_FEW", 0 if request.param == "pyarrow" else sys.maxsize)
    return request.param


def source_of(text, chunk=1 << 20, is_steady=True):
    offsets = iter(range(0, len(text), chunk))
    return Source("t.jsonl", lambda n: next((text[at : at + chunk] for at in offsets), b""), is_steady=is_steady)


def rows_of(blocks):
    """Rows (line, label, cells that are there), and rejects (line, text)."""
    rows, rejects = [], []
    for block in blocks:
        assert block.is_loose
        assert len(block) or block.rejects
        labels = [None] * len(block) if block.labels is None else block.labels.tolist()
        columns = {name: column.tolist() for name, column in block.columns.items()}
        for n, (line, label) in enumerate(zip(block.lines.tolist(), labels, strict=True)):
            cells = {name: column[n] for name, column in columns.items()}
            rows.append((line, label, {k: cell for k, cell in cells.items() if cell is not None and cell == cell}))
        rejects += [(reject.line, reject.text) for reject in block.rejects]
    return rows, rejects


def read(text, chunk=1 << 20, *, is_steady=True, **options):
    return rows_of(JsonLinesReader(source_of(text, chunk, is_steady), **options))


def flat(value, prefix=""):
    """The cells of a row, by Python's json module."""
    cells = {}
    for key, cell in value.items():
        if isinstance(cell, dict):
            cells |= flat(cell, f"{prefix}{key}.")
        elif cell is not None:
            cells[prefix + key] = str(cell).lower() if isinstance(cell, bool) else cell
    return cells


def error_of(text, **options):
    with pytest.raises(DataError) as caught:
        read(text, **options)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    return str(caught.value)


LOG = (
    b'{"user": {"age": 30, "city": "Ulm"}, "note": "call me when you can", "new": true, "y": 1}\n'
    b'{"user": {"age": null}, "note": "we sail at noon today", "y": 0.5}\n'
    b"\n"
    b'{"user": null, "later": "2020-01-01", "big": 12345678901234567890, "y": -1e-3}\r\n'
    b'  {"user": {"city": "gr\\u00f6\xc3\x9fer"}, "new": false, "y": 2, "empty": {}}  \n'
    b'{"y": 3}'
)
ROWS = [
    (1, 1.0, {"user.age": 30.0, "user.city": "Ulm", "note": "call me when you can", "new": "true"}),
    (2, 0.5, {"note": "we sail at noon today"}),
    (4, -1e-3, {"later": "2020-01-01", "big": 12345678901234567890.0}),
    (5, 2.0, {"user.city": "größer", "new": "false"}),
    (6, 3.0, {}),
]


@pytest.mark.parametrize("chunk", [*range(1, 40), 100, 1 << 20])
@pytest.mark.parametrize("is_steady", [True, False])
def test_rows(chunk, is_steady):
    reader = JsonLinesReader(source_of(LOG, chunk, is_steady))
    assert reader.target_name == "y"
    assert rows_of(reader) == (ROWS, [])
    kinds = dict(zip(reader.names, reader.kinds, strict=True))
    expected = {
        "user.age": "number",
        "user.city": "word",
        "note": "text",
        "new": "word",
        "y": "number",
        "later": "word",
        "big": "number",
    }
    assert kinds == expected


def test_every_split_in_two():
    for at in range(len(LOG) + 1):
        chunks = iter([part for part in (LOG[:at], LOG[at:]) if part])
        assert rows_of(JsonLinesReader(Source("t", lambda n, chunks=chunks: next(chunks, b"")))) == (ROWS, [])


def test_columns():
    [block] = JsonLinesReader(source_of(LOG))
    assert isinstance(block.columns["user.city"], CategoricalColumn)
    assert isinstance(block.columns["note"], TextColumn)
    assert block.labels.dtype == np.float64
    assert block.columns["note"].memory.flags.writeable


LEAF = {
    "number": st.floats(-1e100, 1e100) | st.integers(-(2**53), 2**53),
    "word": st.text(st.characters(codec="utf-8"), max_size=6),
    "bool": st.booleans(),
}
KEYS = st.text("abc.", min_size=1, max_size=2)


@st.composite
def objects(draw):
    """Objects whose keys hold values of one kind wherever they are: the kind is in the key."""

    def value(depth):
        cells = {}
        for kind in draw(st.lists(st.sampled_from(sorted(LEAF)), max_size=3)):
            cells[f"{kind} {draw(KEYS)}"] = draw(st.none() | LEAF[kind])
        if depth and draw(st.booleans()):
            cells[f"object {depth}"] = draw(st.none()) if draw(st.booleans()) else value(depth - 1)
        return cells

    return [value(2) | {"y": draw(LEAF["word"])} for _ in range(draw(st.integers(1, 8)))]


@given(objects(), st.integers(1, 60), st.booleans(), st.booleans())
def test_any_objects_in_any_chunks(rows, chunk, is_steady, is_ascii):
    text = "\n".join(json.dumps(row, ensure_ascii=is_ascii) for row in rows).encode()
    found, rejects = read(text, chunk, is_steady=is_steady)
    assert rejects == []
    for n, (row, (line, label, cells)) in enumerate(zip(rows, found, strict=True), start=1):
        assert (line, label) == (n, row["y"])
        expected = flat({key: cell for key, cell in row.items() if key != "y"})
        assert cells == {key: float(cell) if isinstance(cell, int) else cell for key, cell in expected.items()}


def test_many_rows(parser, monkeypatch):
    rng = random.Random(1)
    rows = [{"a": rng.gauss(0, 1), "w": rng.choice("uvw"), "y": rng.random() < 0.5} for _ in range(3000)]
    monkeypatch.setattr(jsonlines, "_ROWS", 100)
    monkeypatch.setattr(
        JsonLinesReader, "_parse_line_by_line" if parser == "pyarrow" else "_parse_with_pyarrow", None
    )  # not called
    blocks = list(JsonLinesReader(source_of("\n".join(map(json.dumps, rows)).encode() + b"\n", 10_000)))
    assert max(map(len, blocks)) <= 100
    assert np.concatenate([block.columns["a"] for block in blocks]).tolist() == [row["a"] for row in rows]
    assert [word for block in blocks for word in block.columns["w"].tolist()] == [row["w"] for row in rows]
    assert np.concatenate([block.lines for block in blocks]).tolist() == list(range(1, 3001))
    assert np.concatenate([block.labels for block in blocks]).tolist() == [str(row["y"]).lower() for row in rows]


def rows_with_new_keys(n_rows, n_keys, make_row):
    return [
        {**make_row([f"k{row * n_keys + key}" for key in range(n_keys)]), "y": "ab"[row % 2]} for row in range(n_rows)
    ]


@pytest.mark.parametrize(
    "make_row",
    [
        pytest.param(lambda names: dict.fromkeys(names, 0.5), id="numbers"),
        pytest.param(lambda names: dict.fromkeys(names, "red"), id="words"),
        pytest.param(lambda names: {names[0]: dict.fromkeys(names[1:], 0.5)}, id="objects"),
        pytest.param(lambda names: {f'{name}\\"': None for name in names} | {names[0]: 1.0}, id="nulls"),
    ],
)
def test_new_keys_on_every_line_end_blocks(make_row):
    """As one table, 1,200 rows of 30 new keys each would have 43 million cells."""
    rows = rows_with_new_keys(1200, 30, make_row)
    text = "\n".join(map(json.dumps, rows)).encode() + b"\n"
    n_read = 0
    for block in JsonLinesReader(source_of(text)):
        assert len(block) * len(block.columns) <= 1 << 22
        for n in (0, len(block) - 1):
            cells = {name: column[n : n + 1].tolist()[0] for name, column in block.columns.items()}
            there = {name: cell for name, cell in cells.items() if cell is not None and cell == cell}
            expected = flat({key: cell for key, cell in rows[n_read + n].items() if key != "y"})
            assert there == {key: cell for key, cell in expected.items() if cell is not None}
        n_read += len(block)
    assert n_read == len(rows)


CELLS = {"number": lambda: 1.5, "word": lambda: "red", "note": lambda: random.choice(SENTENCES)}


@pytest.mark.parametrize("cells", [1, 7, 100, 1000])
@pytest.mark.parametrize("chunk", [100, 1 << 20])
def test_results_do_not_depend_on_the_largest_number_of_cells(monkeypatch, cells, chunk):
    rng = random.Random(3)
    rows = [
        {f"{kind}{rng.randrange(20)}": make() for kind, make in CELLS.items() for _ in range(3)}
        | {"y": rng.random() < 0.5}
        for _ in range(200)
    ]
    lines = [json.dumps(row) for row in rows]
    lines[50:50] = ["", "{"]
    text = "\n".join(lines).encode()

    def read_everything():
        reader = JsonLinesReader(source_of(text, chunk), bad_rows="skip")
        blocks = list(reader)
        return rows_of(blocks), reader.names, reader.kinds, blocks

    *expected, _ = read_everything()
    monkeypatch.setattr(jsonlines, "_CELLS", cells)
    *found, blocks = read_everything()
    assert found == expected
    assert all(len(block) <= 1 or len(block) * len(block.columns) <= cells for block in blocks)


WRONG = {
    "a number, then a string": (b'{"a": "x", "y": 1}', ':2: expected a number for "a", found a string, "x".'),
    "true": (b'{"a": true, "y": 1}', ':2: expected a number for "a", found true or false. '),
    "an object": (b'{"a": {"b": 1}, "y": 1}', ':2: expected a number for "a", found an object. '),
    "no object": (b'{"o": 1, "y": 1}', ':2: expected an object for "o", found a number. '),
    "a string, then a number": (b'{"w": 3, "y": 1}', ':2: expected a string for "w", found a number. '),
    "a list": (b'{"w": "x", "l": [1], "y": 1}', ':12: "l" holds a list, which is no number, word or text. '),
    "a key twice": (b'{"a": 1, "a": 2, "y": 1}', ':10: the key "a" is there twice. Keep one, or pass over such rows.'),
    "a dotted key twice": (b'{"o": {"b": 1}, "o.b": 2, "y": 1}', ':17: "o.b" is there twice, once within '),
    "NaN": (b'{"a": NaN, "y": 1}', ":7: NaN is no number in JSON. Write null, or leave the key out"),
    "infinity": (b'{"a": -Infinity, "y": 1}', ":7: -Infinity is no number in JSON. "),
    "too large": (b'{"a": 1e150, "y": 1}', ':2: "a" is not a finite number below 1e+150. Scale it, leave it out, or'),
    "far too large": (b'{"a": 1e999, "y": 1}', ':2: "a" is not a finite number below 1e+150. '),
    "many digits": (b'{"a": ' + b"9" * 5000 + b', "y": 1}', ':2: "a" is not a finite number'),
    "a list of numbers": (b"[1, 2]", ':1: expected an object, such as {"age": 30}, found a list. Write one on '),
    "a number": (b"3", ':1: expected an object, such as {"age": 30}, found a number. '),
    "a null": (b"null", ':1: expected an object, such as {"age": 30}, found null. '),
    "not text": (b'{"w": "\xff", "y": 1}', ":8: byte 0xff is not UTF-8. "),
    "zero bytes": (b'{"w": "\0", "y": 1}', ":8: not a text file, it contains zero bytes. "),
    "half a pair": (b'{"w": "\\ud800", "y": 1}', ":8: one half of a surrogate pair, which is no character. "),
    "two rows": (b'{"a": 1, "y": 1} {"a": 2, "y": 1}', ":18: this row cannot be read as JSON: extra data. "),
    "two rows, tight": (b'{"a": 1, "y": 1}{"a": 2, "y": 1}', ":17: this row cannot be read as JSON: extra data. "),
    "a comma": (b'{"a": 1, "y": 1},', ":17: this row cannot be read as JSON: extra data. "),
    "no JSON": (b"{'a': 1}", ":2: this row cannot be read as JSON: expecting property name enclosed in"),
    "a control character": (b'{"w": "\t", "y": 1}', ":8: this row cannot be read as JSON: invalid control character. "),
    "an open list": (
        b"[",
        ":2: this row cannot be read as JSON: expecting value. A row is one object on one line; jq -c '.[]' makes",
    ),
    "no label": (b'{"a": 1}', ': the label in column "y" is missing. Fill it in'),
    "a null label": (b'{"a": 1, "y": null}', ': the label in column "y" is missing. '),
    "depth": (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, ": objects within objects, too deep to read. Flatten them."),
    "deep lists": (b'{"l": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ": objects within objects, too deep to read. "),
}
GOOD = b'{"a": 1, "w": "u", "o": {"b": 2}, "y": 1}\n'


@pytest.mark.parametrize("what", WRONG)
def test_wrong_rows(what):
    row, said = WRONG[what]
    text = GOOD * 2 + row + b"\n" + GOOD
    assert error_of(text).startswith("t.jsonl:3" + said)
    expected = {"a": 1.0, "w": "u", "o.b": 2.0}
    blocks = JsonLinesReader(source_of(text))._blocks()
    assert rows_of([next(blocks)]) == ([(1, 1.0, expected), (2, 1.0, expected)], [])
    for chunk in (10, 1 << 20):
        found = read(text, chunk, bad_rows="skip")
        assert found == ([(line, 1.0, expected) for line in (1, 2, 4)], [(3, row + b"\n")])


CODES = {
    "a number, then a string": "kind",
    "a list": "kind",
    "a list of numbers": "kind",
    "a key twice": "duplicate",
    "a dotted key twice": "duplicate",
    "NaN": "syntax",
    "too large": "too-large",
    "not text": "encoding",
    "zero bytes": "encoding",
    "half a pair": "encoding",
    "two rows": "syntax",
    "no label": "missing-label",
    "a null label": "missing-label",
    "depth": "nesting",
}


@pytest.mark.parametrize("what", CODES)
def test_reject_codes(what):
    reader = JsonLinesReader(source_of(GOOD + WRONG[what][0] + b"\n" + GOOD), bad_rows="skip")
    assert [reject.code for block in reader for reject in block.rejects] == [CODES[what]]


def test_a_row_on_several_lines():
    assert error_of(b'{"a":\n1, "y": 2}\n').startswith(
        "t.jsonl:1:6: this row cannot be read as JSON: expecting value. A row"
    )
    # As many objects as lines, and yet not one on each.
    text = b'{"a": 1, "y": 1}{"a": 2, "y": 1}\n{"a":\n3, "y": 1}\n'
    assert error_of(text).startswith("t.jsonl:1:17: ")
    assert error_of(GOOD + b'{"a": 1, "y": {}\n}\n').startswith("t.jsonl:2:")


def test_a_wrong_row_does_not_decide_kinds():
    rows, rejects = read(GOOD + b'{"new": 1, "l": [], "y": 1}\n{"new": "word", "y": 1}\n', bad_rows="skip")
    assert rows[1] == (3, 1.0, {"new": "word"})
    assert len(rejects) == 1


def test_kinds_last_from_block_to_block():
    text = GOOD + b'{"late": 1, "y": 1}\n' + GOOD * 20 + b'{"late": "x", "y": 1}\n'
    for chunk in (20, 1 << 20):
        for is_steady in (True, False):
            assert error_of(text, chunk=chunk, is_steady=is_steady).startswith(
                't.jsonl:23:2: expected a number for "late"'
            )
    assert read(GOOD + b'{"w": true, "y": 1}\n', 20)[0][1] == (2, 1.0, {"w": "true"})


def test_keys_left_out():
    text = b'{"l": [1], "o": {"l": [], "b": 1}, "m": 1, "y": 1}\n{"l": 3, "m": "x", "n": [], "o": {"l": 1}, "y": 0}\n'
    expected = [(1, 1.0, {"o.b": 1.0}), (2, 0.0, {})]
    for chunk in (10, 1 << 20):
        assert read(text, chunk, drop=["l", "o.l", "m", "n", "never"]) == (expected, [])
    assert read(text, drop=["l", "o", "m", "n"])[0][0] == (1, 1.0, {})
    reader = JsonLinesReader(source_of(text), drop=["l", "o.l", "m", "n"])
    assert (reader.names, reader.kinds) == (("o.b", "y"), ("number", "number"))


def test_declared_types():
    text = (
        b'{"id": 12345678901234567890, "zip": 123, "n": "1.5", "t": "u v", "y": 1}\n'
        b'{"id": 12345678901234567891, "zip": "12a", "n": " NA ", "t": 1.50, "y": "z"}\n'
        b'{"id": 7, "zip": true, "n": 2, "t": null, "y": 1.0}\n'
    )
    types = {"id": "word", "zip": "word", "n": "number", "t": "text", "y": "word"}
    expected = [
        (1, "1", {"id": "12345678901234567890", "zip": "123", "n": 1.5, "t": "u v"}),
        (2, "z", {"id": "12345678901234567891", "zip": "12a", "t": "1.50"}),
        (3, "1.0", {"id": "7", "zip": "true", "n": 2.0}),
    ]
    for chunk in (10, 1 << 20):
        reader = JsonLinesReader(source_of(text, chunk), types=types)
        assert rows_of(reader) == (expected, [])
        assert dict(zip(reader.names, reader.kinds, strict=True)) == types
    assert read(b'{"z": 5, "y": 1}\n{"z": -6, "y": 1}\n', types={"z": "word"})[0][1][2] == {"z": "-6"}
    wrong = b'{"n": "1", "y": 1}\n{"n": "one", "y": 1}\n'
    assert error_of(wrong, types={"n": "number"}).startswith(
        't.jsonl:2:2: expected a number for "n", found a string, "one"'
    )
    assert read(b'{"n": true, "y": 1}\n{"n": false, "y": 1}\n', types={"n": "number"})[0][1][2] == {"n": 0.0}
    assert "one of 'number', 'word', 'text'; found 'int'" in error_of(GOOD, types={"n": "int"})


def test_targets():
    assert read(b'{"label": "u", "a": 1}\n')[0] == [(1, "u", {"a": 1.0})]
    assert read(b'{"class": true, "a": 1}\n', target=True)[0] == [(1, "true", {"a": 1.0})]
    assert read(b'{"a": {"b": 1}, "y": 2}\n', target="a.b")[0] == [(1, 1.0, {"y": 2.0})]
    assert read(b'{"a": 1, "y": 2}\n', target=False)[0] == [(1, None, {"a": 1.0, "y": 2.0})]
    reader = JsonLinesReader(source_of(b'{"a": 1, "title": "a long story about nothing"}\n'), target="title")
    assert reader.kinds == ("number", "word")
    assert next(iter(reader)).labels.tolist() == ["a long story about nothing"]
    question = "t.jsonl: which key holds the labels? Name it as target; the keys are "
    assert error_of(b'{"a": 1, "b": 2}\n') == question + "'a', 'b'."
    assert error_of(b'{"y": 1, "label": 2}\n') == question + "'y', 'label'."
    with pytest.raises(DataError, match=r"there is no column 'lable' \(target\). Did you mean 'label'\?"):
        read(b'{"label": "u", "a": 1}\n', target="lable")


def test_a_pipe_whose_first_row_has_no_label():
    text = b'{"a": 1}\n{"a": 2, "z": 1}\n'
    found = read(text, 9, is_steady=False, target="z", bad_rows="skip")
    assert found == ([(2, 1.0, {"a": 2.0})], [(1, b'{"a": 1}\n')])
    assert 't.jsonl:1: the label in column "z" is missing' in error_of(text, chunk=9, is_steady=False, target="z")


def test_nothing_to_read():
    assert error_of(b"") == "t.jsonl: the file is empty."
    assert error_of(b"\n  \n\r\n") == "t.jsonl: found no rows, only blank lines."
    assert error_of(b"[1]\n[2]\n", bad_rows="skip").startswith(
        "t.jsonl: none of its 2 rows can be read. The first: t.jsonl:1:1: "
    )
    assert error_of(b"nonsense\n").startswith("t.jsonl:1:1: this row cannot be read as JSON: expecting value")
    assert read(b"nonsense\n" + GOOD, 5, is_steady=False, bad_rows="skip")[1] == [(1, b"nonsense\n")]


def test_every_truncation():
    whole = LOG.replace(b"\r", b"")
    for size in range(len(whole)):
        line = whole[:size].rpartition(b"\n")[2].strip()
        is_whole = not line or whole[size:].partition(b"\n")[0].strip() == b""
        if is_whole and whole[:size].strip():
            rows, rejects = read(whole[:size])
            assert rows == ROWS[: len(rows)]
            assert len(rows) == len(whole[:size].split(b"\n")) - whole[:size].count(b"\n\n") - (not line)
            assert not rejects
        elif whole[:size].strip():
            number = whole[:size].count(b"\n") + 1
            assert re.match(
                rf"t\.jsonl:{number}:\d+: (this row cannot be read as JSON: .* The file may be cut short|byte 0xc3 is)",
                error_of(whole[:size]),
            )


def mutate(rng, text):
    text = bytearray(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(text) + 1)
        new = rng.choice(
            [bytes([rng.randrange(256)]), *(b"%c" % c for c in b'{}[]",:\\0-e.nut \n\r\t'), b"", b"NaN", b"null"]
        )
        text[at : at + rng.randint(0, 2)] = new
    return bytes(text)


def test_both_parsers_agree_on_mutated_files(monkeypatch, parser):
    """Neither accepts what the other does not, and rows and rejects together are all lines that are not blank."""
    rng = random.Random(parser)
    n_rows = 0
    for _ in range(600):
        text = mutate(rng, LOG)
        found = []
        for few, chunk in ((0, 1 << 20), (sys.maxsize, 1 << 20), (rng.choice([0, sys.maxsize]), rng.choice([7, 60]))):
            monkeypatch.setattr(jsonlines, "_FEW", few)
            try:
                found.append(read(text, chunk, target="y", bad_rows="skip"))
            except DataError as error:
                found.append(str(error))
        assert found[0] == found[1] == found[2]
        if isinstance(found[0], str):
            continue
        rows, rejects = found[0]
        lines = [line for line, _, _ in rows] + [line for line, _ in rejects]
        assert sorted(lines) == [n for n, row in enumerate(literal_lines(text), start=1) if row.strip(b" \t")]
        n_rows += len(rows)
        for line, label, cells in rows:
            row = flat(json.loads(literal_lines(text)[line - 1]))
            assert {**cells, "y": label} == {
                key: float(cell) if isinstance(cell, int) else cell for key, cell in row.items()
            }
    assert n_rows > 1000


def test_random_bytes():
    rng = random.Random(4)
    for _ in range(300):
        text = b"{" + rng.randbytes(rng.randrange(1, 80)) + b"}\n"
        assert error_of(text * 2, target=False).startswith("t.jsonl:")


def test_a_pipe_delivers_rows_line_by_line(monkeypatch):
    out, into = os.pipe()
    with open(out) as stdin, open(into, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        pipe.write(b'{"a": 1, "y": 2}\n')
        blocks = iter(open_stream("-"))
        for n in (3, 4):
            assert rows_of([next(blocks)])[0][0][2] == {"a": n - 2.0}
            pipe.write(b'{"a": %d, "y": 2}\n' % (n - 1))
        pipe.close()
        assert rows_of(blocks)[0] == [(3, 2.0, {"a": 3.0})]


def test_numbers_are_the_nearest_doubles():
    rng = random.Random(3)
    numbers = [repr(math.ldexp(rng.random(), rng.randint(-1070, 490))) for _ in range(2000)]
    numbers += [f"{rng.randint(1, 10**30)}e{rng.randint(-320, 100)}" for _ in range(2000)]
    text = "".join(f'{{"a": {number}, "y": 1}}\n' for number in numbers).encode()
    assert [cells["a"] for _, _, cells in read(text)[0]] == [float(number) for number in numbers]
