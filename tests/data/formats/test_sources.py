"""Files, packed files and pipes as chunks and lines."""

import bz2
import gc
import gzip
import io
import lzma
import os
import sys
import threading
import time

import pytest

from novikoff.data.formats import lines
from novikoff.data.formats.lines import pieces_of
from novikoff.data.formats.read_ahead import in_parallel, read_ahead
from novikoff.data.formats.sources import open_source
from novikoff.errors import DataError

TEXT = b"".join(b"%d 1:%d.5 7:-0.25\n" % (n % 3, n) for n in range(20_000))
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def everything(path, chunk):
    with open_source(path, chunk=chunk) as source:
        return b"".join(iter(source.read, b""))


@pytest.mark.parametrize("chunk", [1000, 65_537, 1 << 21])
@pytest.mark.parametrize("kind", ["plain", *PACKERS])
def test_content(tmp_path, kind, chunk):
    path = tmp_path / "rows"
    path.write_bytes(PACKERS.get(kind, bytes)(TEXT))
    assert everything(path, chunk) == TEXT


@pytest.mark.parametrize("kind", PACKERS)
def test_joined_packed_files(tmp_path, kind):
    path = tmp_path / "rows"
    pack = PACKERS[kind]
    path.write_bytes(pack(TEXT[:100]) + pack(b"") + pack(TEXT[100:]) + b"\0" * 512)
    assert everything(path, 1 << 16) == TEXT


@pytest.mark.parametrize("kind", PACKERS)
def test_every_cut_of_a_packed_file(tmp_path, kind):
    packed = PACKERS[kind](TEXT[:2000])
    path = tmp_path / "rows"
    for size in range(12, len(packed)):
        path.write_bytes(packed[:size])
        with pytest.raises(DataError, match=r"cut short|damaged"):
            everything(path, 1 << 16)


@pytest.mark.parametrize("kind", PACKERS)
def test_damaged_packed_file(tmp_path, kind):
    packed = bytearray(PACKERS[kind](TEXT))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "rows"
    path.write_bytes(packed)
    with pytest.raises(DataError, match=r"rows: the compressed file is (damaged|cut short)"):
        everything(path, 1 << 16)


def test_garbage_after_a_packed_file(tmp_path):
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(TEXT) + b"more")
    with pytest.raises(DataError, match="damaged"):
        everything(path, 1 << 16)


def test_zstandard(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    packed = pyarrow.compress(TEXT, codec="zstd", asbytes=True)
    path = tmp_path / "rows.zst"
    path.write_bytes(packed)
    assert everything(path, 1 << 16) == TEXT
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="damaged or cut short"):
        everything(path, 1 << 16)


@pytest.mark.parametrize("start", [b"B", b"BZ", b"BZh9 is a name\n", b"\x1f", b"(", b"BZh91AY", b"x"])
def test_almost_packed(tmp_path, start):
    path = tmp_path / "rows"
    path.write_bytes(start)
    assert everything(path, 1) == start


def test_a_packed_bomb_is_unpacked_piecemeal(tmp_path):
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(b"\n" * (1 << 26)))
    with open_source(path, chunk=1 << 16) as source:
        assert max(map(len, iter(source.read, b""))) <= 1 << 16


def test_no_such_file(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: there is no such file"):
        open_source(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        open_source(tmp_path)
    with pytest.raises(DataError, match="cannot be opened"):
        open_source("zero\0byte")


def test_peek(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"\n\n12\n34\n")
    with open_source(path, chunk=1) as source:
        assert source.peek() == b"\n"
        assert source.peek_line() == b"\n\n12\n"
        assert b"".join(iter(source.read, b"")) == b"\n\n12\n34\n"


def test_standard_input_without_a_handle(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert everything("-", 1000) == TEXT


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("text", [b"a\nbc\n\nd", b"\n\n", b"\xef\xbb\xbfa\nb\n", b"one", b"a\r\nb\r\n"])
def test_pieces(tmp_path, text, chunk):
    path = tmp_path / "rows"
    path.write_bytes(text)
    with open_source(path, chunk=chunk) as source:
        pieces = list(pieces_of(source))
    text = text.removeprefix(b"\xef\xbb\xbf")
    assert b"".join(piece.text for piece in pieces) == text
    assert all(piece.text.endswith(b"\n") for piece in pieces[:-1])
    line = 1
    for piece in pieces:
        assert piece.line == line
        line += piece.text.count(b"\n")


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty(tmp_path, content):
    path = tmp_path / "rows.svm"
    path.write_bytes(content)
    with open_source(path) as source, pytest.raises(DataError, match=r"rows\.svm: the file is empty"):
        list(pieces_of(source))


def test_endless_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "rows"
    path.write_bytes(b"1\n" + b"x" * (1 << 21))
    with (
        open_source(path, chunk=1000) as source,
        pytest.raises(DataError, match="rows:2: this line is longer than 1 MB"),
    ):
        list(pieces_of(source))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_delivers_a_line_once_it_is_there(monkeypatch, pack):
    out, into = os.pipe()
    with open(out) as stdin, open(into, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        source = open_source("-")
        assert not source.is_steady
        pieces = pieces_of(source)
        for line in (b"1 1:2\n", b"-1 3:4\n"):
            pipe.write(pack(line))
            assert next(pieces).text == line
        pipe.close()
        assert list(pieces) == []


def numbers(n, closed):
    try:
        yield from range(n)
    finally:
        closed.set()


@pytest.mark.parametrize("depth", [1, 2])
def test_reading_ahead(depth):
    closed = threading.Event()
    assert list(read_ahead(numbers(100, closed), depth)) == list(range(100))
    assert closed.wait(10)


def test_reading_ahead_ends_when_closed_or_forgotten():
    for leave in (lambda items: items.close(), lambda items: None):
        closed = threading.Event()
        items = read_ahead(numbers(10**9, closed))
        assert [next(items), next(items)] == [0, 1]
        leave(items)
        del items
        assert closed.wait(10)


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_work_in_parallel_keeps_its_order(workers):
    def square(n):
        time.sleep(0.001 * (n % 3))
        return n * n

    assert list(in_parallel(square, iter(range(50)), workers)) == [n * n for n in range(50)]
    assert list(in_parallel(square, iter(()), workers)) == []


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("fails", ["items", "work"])
def test_work_in_parallel_passes_errors_on_in_their_turn(workers, fails):
    def items():
        yield from range(10)
        raise KeyError("no")

    def work(n):
        if n == 7 and fails == "work":
            raise KeyError("no")
        return n

    results = in_parallel(work, items(), workers)
    n = 7 if fails == "work" else 10
    assert [next(results) for _ in range(n)] == list(range(n))
    with pytest.raises(KeyError):
        next(results)


def test_work_in_parallel_is_bounded_and_ends_when_closed_or_forgotten():
    before = set(threading.enumerate())
    for leave in (lambda results: results.close(), lambda results: None):
        made = []

        def items(made=made):
            for n in range(10**9):
                made.append(n)
                yield n

        results = in_parallel(str, items(), 2)
        assert [next(results), next(results)] == ["0", "1"]
        time.sleep(0.05)
        assert len(made) <= 6
        leave(results)
        del results
        gc.collect()
        assert set(threading.enumerate()) <= before


def test_work_in_parallel_ends_where_a_worker_collects_it_as_garbage():
    forgotten = threading.Event()

    def items():
        for n in range(10**6):
            if forgotten.is_set():
                gc.collect()
            yield n

    before = set(threading.enumerate())
    circle = [in_parallel(str, items(), 2)]
    circle.append(circle)
    assert [next(circle[0]) for _ in range(3)] == ["0", "1", "2"]
    gc.disable()
    try:
        workers = [thread for thread in threading.enumerate() if thread.name == "novikoff-worker"]
        next(circle[0])
        del circle
        forgotten.set()
        for thread in workers:
            thread.join(0.5)
    finally:
        gc.enable()
    gc.collect()
    for thread in workers:
        thread.join(10)
    assert set(threading.enumerate()) <= before


def test_reading_ahead_passes_errors_on():
    def failing():
        yield 1
        raise KeyError("no")

    items = read_ahead(failing())
    assert next(items) == 1
    with pytest.raises(KeyError):
        next(items)


def test_reading_ahead_is_bounded():
    made, enough = [], threading.Event()

    def counting():
        for n in range(1000):
            made.append(n)
            if n == 3:
                enough.set()
            yield n

    items = read_ahead(counting(), 2)
    next(items)
    next(items)
    assert enough.wait(10)
    assert len(made) <= 4
    items.close()
