"""Arrays of JSON objects are read as JSON lines are."""

import json
import random
import subprocess
import sys
import tracemalloc

import pytest

from novikoff.data.formats import JsonLinesReader, open_stream
from novikoff.data.formats.json_arrays import ArrayAsLines
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

ROWS = [
    {"a": 1.5, "b": 'quote " and \\', "c": {"d": "],[}{"}, "y": "u"},
    {"a": None, "b": "größer, \n schöner", "c": {"d": "\\\\"}, "y": "v"},
    {"a": -3, "b": "", "c": {"d": "x"}, "y": "u"},
]
LAYOUTS = {"compact": {"separators": (",", ":")}, "indented": {"indent": 2}, "escaped": {"ensure_ascii": True}}


def source_of(content, chunk=1 << 20):
    offsets = iter(range(0, len(content), chunk))
    return Source("t.json", lambda n: next((content[at : at + chunk] for at in offsets), b""))


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_become_lines(layout, chunk):
    content = json.dumps(ROWS, **LAYOUTS[layout]).encode()
    lines = ArrayAsLines(source_of(content, chunk))
    text = b"".join(iter(lines.read, b""))
    assert [json.loads(line) for line in text.split(b"\n")] == ROWS


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\n \r\n"])
def test_an_array_is_read_like_lines(tmp_path, before):
    array, lines = tmp_path / "array.data", tmp_path / "lines.jsonl"
    array.write_bytes(before + json.dumps(ROWS, indent=1).encode() + b"\n")
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    found = []
    for path in (array, lines):
        with open_stream(path) as reader:
            assert type(reader) is JsonLinesReader
            [block] = reader
        assert reader.target_name == "y"
        found.append(
            (block.lines.tolist(), block.labels.tolist(), {n: repr(c.tolist()) for n, c in block.columns.items()})
        )
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1, "y": 2}, {"a": 2, "y": 3}', "the JSON array is not closed"),
        ('[{"a": 1, "y": 2}] {"a": 2}', "something follows the end of the JSON array"),
        ('[{"a": 1, "y": 2}, {"a": 2, "y": }]', "t.json:2:"),
        ('[{"a": 1, "y": 2}, {"a": 2}]', 't.json:2: the label in column "y" is missing'),
        ("[[1, 2], [3, 4]]", "expected an object"),
        ("[]", "found no rows"),
    ],
)
def test_wrong_arrays(text, message):
    def read_all():
        list(JsonLinesReader(source_of(text.encode()), target="y"))

    with pytest.raises(DataError, match=message):
        read_all()


def test_random_cuts():
    rng = random.Random(3)
    content = json.dumps(ROWS * 20, indent=1).encode()
    for _ in range(200):
        cut = rng.randrange(1, len(content))
        parts = iter([content[:cut], content[cut:], b""])
        lines = ArrayAsLines(Source("t.json", lambda n, parts=parts: next(parts)))
        text = b"".join(iter(lines.read, b""))
        assert [json.loads(line) for line in text.split(b"\n")] == ROWS * 20, cut


def test_an_array_from_a_pipe():
    code = "import novikoff as nk; print(nk.learn('-').ledger.examples)"
    array = json.dumps(ROWS, indent=1)
    done = subprocess.run([sys.executable, "-c", code], input=array, capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"


def test_memory_does_not_grow_with_the_array():
    element = b'{"a": 1, "y": 2},\n' * 5000

    def peak(n):
        parts = iter([b"[", *[element] * n, b'{"a": 1, "y": 2}]', b""])
        tracemalloc.start()
        rows = sum(len(block) for block in JsonLinesReader(Source("t.json", lambda n: next(parts), is_steady=False)))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return rows, found

    (few, small), (many, large) = peak(20), peak(200)
    assert (few, many) == (100_001, 1_000_001)
    assert large < 2 * small
