"""The compiled reader of svmlight files against a literal one."""

import gc
import os
import random
import sys
import threading
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from novikoff import Rows
from novikoff.data.formats import svmlight
from novikoff.data.formats.sources import Source, open_source
from novikoff.data.formats.svmlight import SvmlightReader
from novikoff.errors import DataError
from tests.reference.formats import svmlight as literal

CHUNKS = [1, 2, 3, 5, 17, 64, 1000, 1 << 20]


def source_of(text, chunk=1 << 20):
    offsets = iter(range(0, len(text), chunk))
    return Source("rows.svm", lambda n: next((text[at : at + chunk] for at in offsets), b""))


def rows_of(block):
    for n in range(len(block)):
        begin, end = block.rows.indptr[n : n + 2]
        pairs = dict(zip(block.rows.indices[begin:end].tolist(), block.rows.data[begin:end].tolist(), strict=True))
        assert list(pairs) == sorted(pairs)
        yield int(block.lines[n]), float(block.labels[n]), pairs


def read(text, chunk=1 << 20, bad_rows="skip"):
    """All rows, rejects [(line, text)], and the error, if any, that ended it."""
    rows, rejects = [], []
    try:
        for block in SvmlightReader(source_of(text, chunk), bad_rows=bad_rows):
            rows += rows_of(block)
            rejects += [(reject.line, reject.text.rstrip(b"\r\n")) for reject in block.rejects]
    except DataError as error:
        return rows, rejects, error
    return rows, rejects, None


def require_literal(text, chunk=1 << 20):
    """Skipping, it is what the literal reader finds; stopping, the rows before the first wrong line."""
    rows, wrong = literal(text)
    found, rejects, error = read(text, chunk)
    assert (found, rejects) == (rows, wrong)
    assert (error is None) == bool(rows or wrong)
    found, rejects, error = read(text, chunk, "stop")
    if wrong:
        assert found == [row for row in rows if row[0] < wrong[0][0]]
        assert str(error).startswith(f"rows.svm:{wrong[0][0]}:")
        assert len(str(error)) < 200
    else:
        assert found == rows


def random_file(rng, n):
    """A file with everything that is allowed."""
    out = []
    for _ in range(n):
        kind = rng.random()
        if kind < 0.1:
            out.append(rng.choice(["", "  ", "# remark", " # 1 2:3", "# größer"]))
            continue
        indices = rng.sample(range(300), rng.randint(0, 12))
        if rng.random() < 0.8:
            indices.sort()
        numbers = [
            rng.choice(
                [
                    repr(rng.gauss(0, 1)),
                    f"{rng.gauss(0, 9):.3g}",
                    str(rng.randint(-9, 9)),
                    "1e-320",
                    ".5",
                    f"{rng.random():.25f}",
                    f"{rng.getrandbits(80)}",
                    "4.",
                    "-0",
                ]
            )
            for _ in indices
        ]
        label = rng.choice(["1", "-1", "+1", "0", "2.5", "1e-1"])
        query = [f"qid:{rng.randint(1, 9)}"] if rng.random() < 0.2 else []
        words = [label, *query, *(f"{index}:{number}" for index, number in zip(indices, numbers, strict=True))]
        row = rng.choice([" ", " ", " ", "  ", "\t"]).join(words)
        out.append(rng.choice(["", "", " "]) + row + rng.choice(["", "", " ", " # a remark", "#1:2", "\r"]))
    return "\n".join(out + rng.choice([[], [""]])).encode()


@pytest.mark.parametrize("chunk", CHUNKS)
def test_files_in_chunks_of_any_size(chunk):
    rng = random.Random(chunk)
    for _ in range(30 if chunk > 3 else 8):
        require_literal(random_file(rng, rng.randint(1, 40)), chunk)


VALID = b"1 qid:3 1:0.5 20:1e-3 # no\r\n\n-1 3:2 1:.25\n+1\n0 7:12345678901234567890123"


def test_every_truncation():
    for size in range(len(VALID) + 1):
        require_literal(VALID[:size])
        require_literal(VALID[:size], 7)


def test_random_mutations():
    rng = random.Random(6)
    for _ in range(1500):
        text = bytearray(VALID if rng.random() < 0.5 else random_file(rng, 5))
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(len(text) + 1)
            if rng.random() < 0.3:
                del text[at : at + rng.randint(1, 3)]
            else:
                new = rng.choice(
                    [bytes([rng.randrange(256)]), b":", b" ", b"\n", b"#", b"-", b"e", b"9", b"qid:", b"\0"]
                )
                text[at : at + rng.randint(0, 1)] = new
        require_literal(bytes(text), rng.choice([5, 1 << 20]))


def test_short_pairs_with_one_byte_changed():
    """Pairs that fit a window are read by other code than long ones: also just before the end, and when wrong."""
    rng = random.Random(7)
    for _ in range(1500):
        indices = sorted(rng.sample(range(10 ** rng.randint(1, 9)), 9))
        numbers = [f"{rng.uniform(-1, 1) * 10 ** rng.randint(0, 8):.{rng.randint(0, 8)}f}" for _ in indices]
        pairs = (f"{index}:{number}" for index, number in zip(indices, numbers, strict=True))
        text = bytearray(f"1 {' '.join(pairs)}\n".encode() * 2)
        if rng.random() < 0.8:
            text[rng.randrange(len(text))] = rng.choice(b"0123456789 :.-+e#\n\t\r\x0b\x00\xc3|/;")
        require_literal(bytes(text[: rng.choice([len(text), len(text) - 1, rng.randrange(1, len(text))])]))


def test_squared_norms_are_computed_while_reading():
    rng = random.Random(8)
    for text in (random_file(rng, 40), b"1 1:1e148 2:1e148\n1 1:1e145\n1\n"):
        for block in SvmlightReader(source_of(text)):
            known = block.squared_norms >= 0
            rows = Rows.of(block.rows[known])
            rows.require_numbers()
            assert known.any()
            assert np.array_equal(block.squared_norms[known], rows.squared_norms)
            assert block[1:].squared_norms is replace(block, rows=2.0 * block.rows).squared_norms is None
            if text.startswith(b"1 1:1e148"):  # its square is too large
                assert known.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 1:2\nspam 1:2\n", "rows.svm:2:1: expected a number as label, found 'spam'"),
        (b"1:2 3:4\n", "rows.svm:1:1: expected a number as label, found '1:2'"),
        (b"nan 3:4\n", "rows.svm:1:1: expected a number as label, found 'nan'"),
        (b"1 1:2 3\n", "rows.svm:1:3: expected index:value, such as 3:0.5, found '3'"),
        (b"1 1:2 -3:1\n", "rows.svm:1:3: expected index:value, such as 3:0.5, found '-3:1'"),
        (b"1 1:2 3:x" + b"y" * 100 + b"\n", "found '3:x" + "y" * 37 + "'. Correct it"),
        (b"1 1:2 3:4 1:5\n", "rows.svm:1:4: feature 1 is there twice in this row"),
        (b"1 qid:1 3:nan\n", "rows.svm:1:3: feature 3 is nan, not a finite number"),
        (b"1 3:-inf\n", "rows.svm:1:2: feature 3 is -inf, not a finite number"),
        (b"1 3:1e150\n", "rows.svm:1:2: the value 1e150 of feature 3 is not a finite number below 1e+150"),
        (b"1 3:1e999\n", "rows.svm:1:2: the value 1e999 of feature 3"),
        (b"1 2147483647:1\n", "rows.svm:1:2: the index 2147483647 is larger than 2147483646"),
        (b"1 1:2\n1 \xff:1\n", "rows.svm:2:3: byte 0xff is not UTF-8"),
        (b"1 1:2 # caf\xe9\n", "rows.svm:1:12: byte 0xe9 is not UTF-8"),
        (b"1 1:2\n\0\1\n", "rows.svm:2:1: not a text file, it contains zero bytes"),
        (b"\n# nothing\n", "rows.svm: found no rows"),
    ],
)
def test_messages(text, message):
    error = read(text, bad_rows="stop")[2]
    assert message in str(error)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"spam 1:2", "bad-label"),
        (b"1 1:2 3", "syntax"),
        (b"1 1:2 1:5", "duplicate"),
        (b"1 3:1e150", "too-large"),
        (b"1 2147483647:1", "too-large"),
        (b"1 \xff:1", "encoding"),
    ],
)
def test_reject_codes(row, code):
    [block] = SvmlightReader(source_of(b"1 1:1\n" + row + b"\n"), bad_rows="skip")
    assert [reject.code for reject in block.rejects] == [code]


def test_largest_index_and_width():
    [block] = SvmlightReader(source_of(b"1 2147483646:1\n"))
    assert block.rows.shape == (1, 2**31 - 1)
    widths = [block.rows.shape[1] for block in SvmlightReader(source_of(b"1 5:1\n1 2:1\n1\n1 9:1\n", 6))]
    assert widths == sorted(widths)
    assert (widths[0], widths[-1]) == (6, 10)


def test_dtypes():
    [block] = SvmlightReader(source_of(b"1 5:1 2:0\n"))
    assert (block.labels.dtype, block.lines.dtype) == (np.float64, np.int64)
    assert (block.rows.dtype, block.rows.indices.dtype, block.rows.indptr.dtype) == (np.float64, np.int32, np.int32)
    assert block.source == "rows.svm"


def test_long_unsorted_rows():
    rng = random.Random(7)
    rows = [" ".join(["1", *(f"{j}:{j}" for j in rng.sample(range(10**6), 3000))]) for _ in range(3)]
    require_literal("\n".join(rows).encode())


def test_more_rows_than_a_block(monkeypatch):
    monkeypatch.setattr(svmlight, "_ROWS", 10)
    text = b"".join(b"%d 1:2\n" % n for n in range(95)) + b"x\n" * 30 + b"5 1:2 # \xc3\xa4\n" * 15
    require_literal(text)
    assert max(map(len, SvmlightReader(source_of(text), bad_rows="skip"))) == 10


def test_a_reader_is_for_one_pass(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:1\n")
    with SvmlightReader(path) as reader:
        assert len(list(reader)) == 1
        with pytest.raises(DataError, match="Open another"):
            iter(reader)
    with pytest.raises(DataError, match="bad_rows must be one of 'stop', 'skip'"):
        SvmlightReader(path, bad_rows="ignore")


def test_a_pipe_delivers_rows_as_they_come(monkeypatch):
    """Rows arrive while the writer still has the pipe open."""
    out, into = os.pipe()
    with open(out) as stdin, open(into, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        blocks = iter(SvmlightReader("-"))
        for n in range(3):
            pipe.write(b"%d 1:1\n-1 " % n)
            assert next(blocks).labels.tolist() == [n]
            pipe.write(b"2:1\n")
            assert next(blocks).labels.tolist() == [-1]
        pipe.close()
        assert list(blocks) == []


def test_leaving_early_ends_the_thread(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:1\n" * 10_000)
    before = set(threading.enumerate())
    for block in SvmlightReader(open_source(path, chunk=100)):
        assert len(block)
        break
    del block
    gc.collect()
    assert set(threading.enumerate()) <= before


def test_a_reader_that_was_not_iterated_over_is_closed(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:1\n")
    closed = []
    for go in (lambda reader: None, iter):
        with SvmlightReader(Source("rows.svm", lambda n: b"", close=lambda: closed.append(1))) as reader:
            running = go(reader)
        del running
    assert len(closed) == 2


def test_memory_does_not_grow():
    """Memory depends on the size of a chunk, not on the length of the file."""

    def peak(chunks):
        left = iter(range(chunks))
        source = Source("rows.svm", lambda n: next((b"1 1:0.5 2:0.25 3:1\n" * 1000 for _ in left), b""))
        tracemalloc.start()
        n = sum(map(len, SvmlightReader(source)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert n == 1000 * chunks
        return most

    peak(2)
    assert peak(500) < 2 * peak(10)
