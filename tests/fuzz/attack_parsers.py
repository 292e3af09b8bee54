"""Attack the readers of text: mutated files of every format, in chunks of any size, against literal readers."""

from __future__ import annotations

import sys
from typing import Any
from unittest.mock import patch

import numpy as np

from novikoff.data.formats import jsonlines, open_stream
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError
from tests.reference import formats as literal

VALID = {
    "svmlight": b"1 qid:3 1:0.5 20:1e-3 # no\r\n\n-1 3:2 1:.25\r+1\n0 7:12345678901234567890123\r\n2 4:1 5:2 6:3 7:4",
    "vw": b"1 'a |user old:0.5 x|ad:2 shoes price:1e-3\r\n\n-1 | a a b:12345678901234567890123\r2 1.0 tag|x yy\n1 | z",
    "text": 'ham\tSee "you", é\r\n\nspam\tCall\tNOW\r  \n 1 \tx\nham\t\n\u00a0\ty\n\x1c\tz\n'.encode(),
    "csv": b'1,red,2\n3, green ,-4.5\nNA,"a ""b""",1\r\n\n5,"c\nd",1e3\r6,"e\rf",7\r8,?,9\n10,\xc3\xa9,11\n"12",x,13\n',
    "jsonl": b'{"a": 1, "y": "no"}\r\n{"a": 2.5, "b": "red", "y": "yes"}\r\n\n{"c": {"d": 1}, "y": "\\u0000"}\n',
    "tsv": b'1\tred\t2\n3\t green \t-4.5\nNA\ta "b"\t1\r\n\n5\tc d\t1e3\r6\te\t7\r8\t?\t9\n',
}
_KINDS = ("number", "word", "number")
_FRAGMENTS = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b'"',
    b'""',
    b"'",
    b" ",
    b"\t",
    b",",
    b"|",
    b":",
    b"#",
    b"-",
    b"9",
    b"e",
    b".",
    b"\xc2\xa0",
    b"\x1c",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xff",
    b"\xef\xbb\xbf",
    b"",
]


def attack(rng: np.random.Generator) -> int:
    """Read some hundred mutated texts."""
    cases = 0
    for _ in range(60):
        for format, valid in VALID.items():
            text = _mutate(rng, valid)
            chunk, is_steady = int(rng.choice([1, 2, 3, 5, 17, 1 << 20])), bool(rng.random() < 0.5)
            cases += _CHECKS.get(format, _check_lines)(format, text, chunk, is_steady)
    return cases


def _mutate(rng: np.random.Generator, text: bytes) -> bytes:
    out = bytearray(text * int(rng.choice([1, 1, 1, 5])))
    if rng.random() < 0.2:
        out = bytearray(bytes(out).replace(b"\n", b"\r"))
    for _ in range(rng.choice([0, 1, 1, 2, 5, 12])):
        at = int(rng.integers(len(out) + 1))
        fragment = _FRAGMENTS[rng.integers(len(_FRAGMENTS))] if rng.random() < 0.8 else rng.bytes(1)
        out[at : at + int(rng.integers(3))] = fragment
    return bytes(out[: rng.integers(len(out) + 1)]) if rng.random() < 0.2 else bytes(out)


def _blocks(text: bytes, chunk: int, is_steady: bool, **options: Any) -> tuple[list[Any], str | None]:
    """All blocks, and the error that ended them."""
    offsets = iter(range(0, len(text), chunk))
    source = Source("rows", lambda n: next((text[at : at + chunk] for at in offsets), b""), is_steady=is_steady)
    blocks = []
    try:
        blocks.extend(open_stream(source, **options))  # those before an error too
    except DataError as error:
        return blocks, str(error)
    return blocks, None


def _check_lines(format: str, text: bytes, chunk: int, is_steady: bool) -> int:
    expected, wrong = {"svmlight": literal.svmlight, "vw": literal.vw, "text": literal.labelled_text}[format](text)
    if format == "vw":
        lines = literal.lines(text)
        wrong = sorted([*wrong, *((n, lines[n - 1]) for n, label, _ in expected if label is None)])
        expected = [row for row in expected if row[1] is not None]
    blocks, error = _blocks(text, chunk, is_steady, format=format, bad_rows="skip")
    rejects = [(reject.line, reject.text.rstrip(b"\r\n")) for block in blocks for reject in block.rejects]
    found = [row for block in blocks for row in _ROWS[format](block)]
    assert (found, rejects) == (expected, [(n, line.rstrip(b"\r\n")) for n, line in wrong]), (format, text, chunk)
    assert (error is None) == bool(expected or wrong), (format, text, error)
    blocks, error = _blocks(text, chunk, is_steady, format=format)
    found = [row for block in blocks for row in _ROWS[format](block)]
    assert found == [row for row in expected if not wrong or row[0] < wrong[0][0]], (format, text, chunk)
    assert not wrong or str(error).startswith(f"rows:{wrong[0][0]}:"), (format, text, error)
    return 2


def _svmlight_rows(block: Any) -> Any:
    for n in range(len(block)):
        begin, end = block.rows.indptr[n : n + 2]
        pairs = zip(block.rows.indices[begin:end].tolist(), block.rows.data[begin:end].tolist(), strict=True)
        yield int(block.lines[n]), float(block.labels[n]), dict(pairs)


def _vw_rows(block: Any) -> Any:
    text = block.memory.tobytes()
    for n in range(len(block)):
        row: dict[tuple[bytes, bytes], float] = {}
        for p in range(block.indptr[n], block.indptr[n + 1]):
            space, name = (text[begin:end] for begin, end in (block.namespaces[block.namespace_of[p]], block.names[p]))
            row[space, name] = row.get((space, name), 0.0) + float(block.values[p])
        yield int(block.lines[n]), float(block.labels[n]), row


def _text_rows(block: Any) -> Any:
    yield from zip(block.lines.tolist(), block.labels.tolist(), block.columns["text"].tolist(), strict=True)


_ROWS = {"svmlight": _svmlight_rows, "vw": _vw_rows, "text": _text_rows}


def _check_table(format: str, text: bytes, chunk: int, is_steady: bool) -> int:
    """Compare if the first row has three cells; the quotes are sniffed from all of the sample, so any may be right."""
    delimiter = {"csv": ",", "tsv": "\t"}[format]
    options = {
        "types": {str(k): kind for k, kind in enumerate(_KINDS, start=1)},
        "header": False,
        "delimiter": delimiter,
    }
    blocks, error = _blocks(text, chunk, is_steady, format=format, bad_rows="skip", **options)
    if error is not None or not blocks or len(blocks[0].columns) != 2:
        return 1
    found = [
        (line, *(None if cell != cell else cell for cell in cells), label)
        for block in blocks
        for line, label, *cells in zip(
            block.lines.tolist(),
            block.labels.tolist(),
            *(column.tolist() for column in block.columns.values()),
            strict=True,
        )
    ]
    rejects = [(reject.line, reject.text) for block in blocks for reject in block.rejects]
    readings = [literal.table(text, delimiter, quote, _KINDS) for quote in ('"', "'", None)]
    assert (found, rejects) in readings, (format, text, chunk)
    return 1


def _check_json(format: str, text: bytes, chunk: int, is_steady: bool) -> int:
    """Both parsers agree, and every line that is not blank is a row or a reject."""
    found = []
    for few, size in ((0, 1 << 20), (sys.maxsize, chunk)):
        with patch.object(jsonlines, "_FEW", few):
            blocks, error = _blocks(text, size, is_steady and few == 0, format=format, bad_rows="skip", target="y")
        rejects = [(reject.line, reject.text.rstrip(b"\r\n")) for block in blocks for reject in block.rejects]
        rows = [(int(line), label) for block in blocks for line, label in zip(block.lines, block.labels, strict=True)]
        found.append((sorted(rows), sorted(rejects), error))
    if found[0][2] is not None or found[1][2] is not None:
        return 1  # of a pipe the first line decides, of a file all
    assert found[0] == found[1], (text, chunk)
    lines = [n for n, line in enumerate(literal.lines(text), 1) if line.strip(b" \t")]
    assert sorted(line for rows in found[0][:2] for line, _ in rows) == lines, text
    return 1


_CHECKS = {"csv": _check_table, "tsv": _check_table, "jsonl": _check_json}
