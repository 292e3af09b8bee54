"""Ends of lines, zero bytes and blanks are treated alike in every text format, wherever chunks end."""

import random
from itertools import product

import numpy as np
import pytest

from novikoff.data.formats import open_stream
from novikoff.data.formats.lines import read_text_chunks
from novikoff.data.formats.sniffing import looks_like_labelled_text, looks_like_svmlight, looks_like_vw
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from novikoff.structured.sentence_files import SentenceFile
from tests.reference.formats import lines

ROWS = {
    "csv": ["age,sky,y", "1,red,no", "2,blue,yes", "3,green,no"],
    "tsv": ["age\tsky\ty", "1\tred\tno", "2\tblue\tyes", "3\tgreen\tno"],
    "text": ["ham\tsee you at the lake", "spam\tcall now and win", "ham\tno wind on the lake"],
    "svmlight": ["1 1:0.5 3:2", "-1 2:1", "1 3:.25"],
    "vw": ["1 |user old:0.5 new", "-1 |ad shoes", "1 | a b:2"],
    "jsonl": ['{"a": 1, "y": "no"}', '{"a": 2, "y": "yes"}', '{"a": 3, "b": "x", "y": "no"}'],
}
CHUNKS = [1, 2, 3, 7, 1 << 20]


def source_of(text, chunk=1 << 20, *, is_steady=True):
    offsets = iter(range(0, len(text), chunk))
    return Source("t.rows", lambda n: next((text[at : at + chunk] for at in offsets), b""), is_steady=is_steady)


def read(text, format, chunk=1 << 20, *, is_steady=True, **options):
    """(line, label, cells) of every row."""
    found = []
    for block in open_stream(source_of(text, chunk, is_steady=is_steady), format=format, **options):
        if format == "svmlight":
            cells = [{j: x for j, x in enumerate(row) if x} for row in block.rows.toarray().tolist()]
        elif format == "vw":
            cells = block.dicts()
        else:
            columns = {name: column.tolist() for name, column in block.columns.items()}
            cells = [
                {name: cell[n] for name, cell in columns.items() if cell[n] is not None and cell[n] == cell[n]}
                for n in range(len(block))
            ]
        found += zip(block.lines.tolist(), block.labels.tolist(), cells, strict=True)
    return found


@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
@pytest.mark.parametrize("format", ROWS)
def test_rows_end_with_any_end_of_line(format, end):
    rows = [row.encode() for row in ROWS[format]]
    expected = read(b"\n".join(rows), format)
    assert len(expected) == 3
    for chunk, last, is_steady in product(CHUNKS, (b"", end), (True, False)):
        assert read(end.join(rows) + last, format, chunk, is_steady=is_steady) == expected


@pytest.mark.parametrize("format", ROWS)
def test_ends_of_lines_may_be_mixed(format):
    rng = random.Random(format)
    rows = [row.encode() for row in ROWS[format]]
    for _ in range(60):
        ends = [rng.choice([b"\n", b"\r", b"\r\n", b"\r\r", b"\n\r", b"\r\r\n", b"\n\n"]) for _ in rows]
        text = b"".join(row + end for row, end in zip(rows, ends, strict=True))
        expected, numbers = read(b"\n".join(rows), format), [n for n, row in enumerate(lines(text), 1) if row]
        found = read(text, format, rng.choice(CHUNKS))
        assert [row[1:] for row in found] == [row[1:] for row in expected]
        assert [row[0] for row in found] == numbers[-3:]


@pytest.mark.parametrize("format", ROWS)
def test_zero_bytes_are_located(format):
    rows = [row.encode() for row in ROWS[format]]
    for row in range(len(rows) - 2, len(rows)):  # the first decide what the columns are
        for at in range(len(rows[row]) + 1):
            text = b"\n".join([*rows[:row], rows[row][:at] + b"\0" + rows[row][at:], *rows[row + 1 :]])
            with pytest.raises(DataError, match=rf"^t\.rows:{row + 1}:{at + 1}: not a text file, it contains zero"):
                read(text, format, **({"types": {"age": "number"}} if format in ("csv", "tsv") else {}))
            if format in ("csv", "tsv"):
                reader = open_stream(source_of(text), format=format, types={"age": "number"}, bad_rows="skip")
                assert [reject.line for block in reader for reject in block.rejects] == [row + 1]


def test_zero_bytes_do_not_act_as_quotes():
    """Between tabs cells need no quotes; a zero byte is not one either, which would take a tab into a cell."""
    text = b'a\tb\ty\n1\tsay "no" to it\tno\n2\tx\tyes\n3\t\0c\td\0\tno\n'
    [block] = open_stream(source_of(text), format="tsv", bad_rows="skip")
    assert block.columns["b"].tolist() == ['say "no" to it', "x"]
    assert block.rejects[0].reason.startswith("t.rows:4:3: not a text file, it contains zero bytes")


@pytest.mark.parametrize(
    "label", ["\u00a0", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u3000", "\x0b", "\x0c"]
)
def test_only_blanks_and_tabs_are_stripped(label):
    """Python counts these characters as blanks, some even as ends of lines."""
    sentence = "see you at the lake"
    text = f"{label}\t{sentence}\nx{label}\t{sentence} too\n  y \t{sentence}{label}again\n".encode()
    found = read(text, "text")
    assert [row[1] for row in found] == [label, f"x{label}", "y"]
    assert [row[2]["text"] for row in found] == [sentence, f"{sentence} too", f"{sentence}{label}again"]
    for delimiter, format in ((",", "csv"), ("\t", "tsv")):
        cells = [["a", "y"], ["1", label], ["2", f"x{label}"], ["3", "  y "]]
        text = "\n".join(delimiter.join(row) for row in cells).encode()
        found = read(text, format, types={"y": "word"}, header=True)
        assert [row[1] for row in found] == [label, f"x{label}", "y"]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_formats_are_sniffed_with_any_end_of_line(end):
    strange = "\x85\u2028\x1c"
    texts = [f"{label}\tsee you{strange} at the lake {n}" for n, label in enumerate("aba")]
    assert looks_like_labelled_text(end.join(texts))
    assert looks_like_svmlight(end.join(ROWS["svmlight"]))
    assert looks_like_vw(end.join(ROWS["vw"]))
    for format, rows in ROWS.items():
        if format not in ("tsv", "csv"):
            with open_stream(source_of(end.join([*rows, ""]).encode())) as reader:
                assert sum(map(len, reader)) == 3
                assert type(reader) is type(open_stream(source_of("\n".join(rows).encode()), format=format))


def test_carriage_returns_within_quotes_are_kept():
    for chunk in CHUNKS:
        found = read(b'a,y\r"1\r2",no\r"3\r\n4",yes\r"5\n6",no\r', "csv", chunk)
        assert [row[0] for row in found] == [2, 4, 6]
        assert [row[2]["a"] for row in found] == ["1\r2", "3\r\n4", "5\n6"]


def test_messages_of_the_csv_module_are_not_shown():
    long = b'a,b\n1,2\n"' + b'""' * (1 << 18) + b'",4\n'
    texts = [b'a,b\r1,"2"x\r3,4\r', b'a,b\n1,2\n"3,4\n', long, b"a,b\r1,2\r3,4\r\r5\n"]
    for text in texts:
        with pytest.raises(DataError) as caught:
            list(open_stream(source_of(text), format="csv", header=False))
        assert "newline=" not in str(caught.value)
        assert "field limit" not in str(caught.value)
        assert "unexpected end" not in str(caught.value)


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("keep_returns", [True, False])
def test_chunks_are_whole_lines(chunk, keep_returns):
    rng = np.random.default_rng(chunk)
    for _ in range(100):
        text = bytes(rng.choice(list(b"ab\r\n"), rng.integers(1, 30)).tolist())
        chunks = list(read_text_chunks(source_of(text, chunk), keep_returns=keep_returns))
        joined = b"".join(one.text for one in chunks)
        assert lines(joined) == lines(text)
        assert joined == text or not keep_returns
        line = 1
        for n, one in enumerate(chunks):
            assert one.line == line
            assert n == len(chunks) - 1 or one.text.endswith((b"\n", b"\r"))
            line += len(lines(one.text)) - 1


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_sentences_end_with_any_end_of_line(tmp_path, end):
    path = tmp_path / "chunks.txt"
    path.write_bytes(end.join(["He PRP \u00a0", "New\u00a0York NNP \x1c", "", "Stop VB X", ""]).encode())
    with SentenceFile(path) as file:
        sentences = [(sentence.line, sentence.rows) for sentence in file]
    first = [("He", "PRP", "\u00a0"), ("New\u00a0York", "NNP", "\x1c")]
    assert sentences == [(1, first), (4, [("Stop", "VB", "X")])]
