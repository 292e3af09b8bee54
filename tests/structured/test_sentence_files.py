"""Sentence files in columns, CoNLL-U and text; spans of tags."""

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from novikoff.structured.sentence_files import SentenceFile
from novikoff.structured.spans import SpanCounts, are_spans, find_spans

CONLLU = """# sent_id = 1
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\t_
2.1\tnada\t_\t_\t_\t_\t_\t_\t_\t_
3\tal\ta\tADP\tA\t_\t4\tcase\t_\t_
4\tmar azul\tmar\tNOUN\tN\t_\t1\tobl\t_\t_

1\tSí\tsí\tINTJ\tI\t_\t0\troot\t_\t_
"""


def read_sentences(tmp_path, content, name="x.txt", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with SentenceFile(path, **options) as file:
        return list(file)


@pytest.mark.parametrize("name", ["x.conllu", "x.txt", "x.conllu.gz"])
def test_conllu(tmp_path, name):
    content = gzip.compress(CONLLU.encode()) if name.endswith("gz") else CONLLU
    first, second = read_sentences(tmp_path, content, name)
    assert [(row[1], row[3]) for row in first.rows] == [
        ("Vamos", "VERB"),
        ("nos", "PRON"),
        ("al", "ADP"),
        ("mar azul", "NOUN"),
    ]
    assert [token for _, token in first.lines] == [None, None, None, 0, 1, None, 2, 3]
    assert "\n".join(line for line, _ in first.lines) == CONLLU.split("\n\n")[0]
    assert (first.line, second.line) == (1, 10)


@pytest.mark.parametrize(
    "content",
    [
        "a N X\nb V Y\n\nc N X\n",
        "\n\na N X\nb V Y\n\n\n\nc N X",
        "a\tN\tX\r\nb\tV\tY\r\n\r\nc\tN\tX\r\n",
        "\ufeffa N X\nb V Y\n \nc N X\n\n",
        "-DOCSTART- -X- O\n\na N X\nb V Y\n\nc N X\n",
    ],
)
def test_columns(tmp_path, content):
    found = read_sentences(tmp_path, content)
    assert [sentence.rows for sentence in found] == [[("a", "N", "X"), ("b", "V", "Y")], [("c", "N", "X")]]


def test_text(tmp_path):
    found = read_sentences(tmp_path, "a b\n\nc", format="text")
    assert [sentence.rows for sentence in found] == [[("a",), ("b",)], [], [("c",)]]


def test_empty_files(tmp_path):
    assert read_sentences(tmp_path, "") == []
    assert read_sentences(tmp_path, "\n\n") == []


@pytest.mark.parametrize(
    ("chunks", "format", "expected"),
    [
        ([b"a X\n", b"b", b" Y\n\n", b"c X\n\nd Y\n\ne X"], "columns", [[["a", "b"]], [["c"], ["d"]], [["e"]]]),
        ([b"a b\nc", b" d\n", b"e\n\nf"], "text", [[["a", "b"]], [["c", "d"]], [["e"], []], [["f"]]]),
    ],
)
def test_pipe_is_read_as_it_is_written(monkeypatch, chunks, format, expected):
    """After each read, all sentences that are complete are yielded together."""
    remaining = iter([*chunks, b""])
    monkeypatch.setattr(
        "novikoff.structured.sentence_files.open_source", lambda path: Source("pipe", lambda n: next(remaining))
    )
    with SentenceFile("-", format=format) as file:
        assert [[[row[0] for row in one.rows] for one in block] for block in file.blocks()] == expected


def test_long_files_are_read_in_chunks(tmp_path):
    content = "".join(f"w{k} T{k % 7}\n" + "\n" * (k % 5 == 0) for k in range(300_000))
    found = read_sentences(tmp_path, content)
    assert [row[0] for sentence in found for row in sentence.rows] == [f"w{k}" for k in range(300_000)]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("a N X\nb V\n", "x.txt", "x.txt:2: 2 columns, but 3 in line 1"),
        ("a N X\n\nb\n", "x.txt", "x.txt:3: 1 column, but 3 in line 1"),
        ("1\ta\tb\n", "x.conllu", "x.conllu:1: 3 cells separated by tabs; CoNLL-U has 10"),
        (CONLLU.replace("\n3\t", "\nthree\t"), "x.conllu", "x.conllu:7: 'three' is not the number of a token"),
        (b"a N\n\xff\xfe N\n", "x.txt", "x.txt:2:1: byte 0xff is not UTF-8"),
        (b"a N\nb\0c N\n", "x.txt", "x.txt:2:2: not a text file"),
        (gzip.compress(b"a N\n" * 1000, mtime=0)[:-20], "x.gz", "cut short"),
    ],
)
def test_errors_name_file_and_line(tmp_path, content, name, message):
    with pytest.raises(DataError, match=re.escape(message)):
        read_sentences(tmp_path, content, name)


def test_missing_file_and_unknown_format(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        SentenceFile(tmp_path / "none.txt")
    with pytest.raises(DataError, match="format must be one of"):
        SentenceFile(tmp_path / "none.txt", format="xml")


# -- spans


def conlleval(tags):
    """The two tables of conlleval.pl (Tjong Kim Sang & Buchholz 2000), line by line, without its tags [ and ]."""
    found, start = [], None
    before, kind_before = "O", ""
    for i, tag in enumerate([*tags, "O"]):
        letter, _, kind = tag.partition("-")
        end = (
            (before == "B" and letter == "B")
            or (before == "B" and letter == "O")
            or (before == "I" and letter == "B")
            or (before == "I" and letter == "O")
            or (before == "E" and letter == "E")
            or (before == "E" and letter == "I")
            or (before == "E" and letter == "O")
            or (before not in ("O", ".") and kind_before != kind)
            or (before == "E" and letter == "B")  # missing in the script, where E and B never meet in one scheme
        )
        begin = (
            (before == "B" and letter == "B")
            or (before == "I" and letter == "B")
            or (before == "O" and letter == "B")
            or (before == "O" and letter == "I")
            or (before == "E" and letter == "E")
            or (before == "E" and letter == "I")
            or (before == "O" and letter == "E")
            or (letter not in ("O", ".") and kind_before != kind)
            or (before == "E" and letter == "B")
        )
        if end:
            found.append((kind_before, start, i))
        if begin:
            start = i
        before, kind_before = letter, kind
    return found


@given(st.lists(st.sampled_from(["O", *(f"{letter}-{kind}" for letter in "BIE" for kind in "XY")]), max_size=12))
def test_spans_equal_conlleval(tags):
    assert find_spans(tags) == conlleval(tags)


@st.composite
def span_lists(draw):
    """Draw spans without overlap, and a number of tokens."""
    at, found = 0, []
    for kind, gap, length in draw(st.lists(st.tuples(st.sampled_from("XY"), st.integers(0, 2), st.integers(1, 3)))):
        found.append((kind, at + gap, at + gap + length))
        at += gap + length
    return found, at + draw(st.integers(0, 2))


def encode_spans(found, n, scheme):
    tags = ["O"] * n
    for k, (kind, begin, end) in enumerate(found):
        touches = k > 0 and found[k - 1][2] == begin and found[k - 1][0] == kind
        followed = k + 1 < len(found) and found[k + 1][1] == end and found[k + 1][0] == kind
        for i in range(begin, end):
            first, last = i == begin, i == end - 1
            tags[i] = {
                "BIO": "B" if first else "I",
                "IOB1": "B" if first and touches else "I",
                "IOE1": "E" if last and followed else "I",
                "IOE2": "E" if last else "I",
                "BILOU": "U" if first and last else "B" if first else "L" if last else "I",
                "IOBES": "S" if first and last else "B" if first else "E" if last else "I",
            }[scheme] + f"-{kind}"
    return tags


@given(span_lists(), st.sampled_from(["BIO", "IOB1", "IOE1", "IOE2", "BILOU", "IOBES"]))
def test_spans_survive_encoding(drawn, scheme):
    found, n = drawn
    assert find_spans(encode_spans(found, n, scheme)) == found


def test_span_counts():
    counts = SpanCounts()
    counts.add(["B-X", "I-X", "O", "B-Y"], ["B-X", "I-X", "B-X", "B-Y"])
    counts.add(["B-X", "I-X"], ["B-X", "O"])
    assert counts.scores() == (2 / 4, 2 / 3, 4 / 7)
    assert counts.scores("Y") == (1.0, 1.0, 1.0)
    assert SpanCounts().scores() == (None, None, None)


def test_are_spans():
    assert are_spans({"B-X", "O"})
    assert not are_spans({"B-X", "NN"})
    assert not are_spans({1, "O"})
