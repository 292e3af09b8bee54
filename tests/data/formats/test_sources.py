"""Files, compressed files and pipes as chunks and lines; threads that read ahead."""

import bz2
import gc
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import time

import pytest

from novikoff.data.formats import lines, open_stream
from novikoff.data.formats.lines import read_text_chunks
from novikoff.data.formats.read_ahead import map_in_threads, read_ahead
from novikoff.data.formats.sources import open_source
from novikoff.data.writing import convert
from novikoff.errors import DataError

TEXT = b"".join(b"%d 1:%d.5 7:-0.25\n" % (n % 3, n) for n in range(20_000))
COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def read_everything(path, chunk):
    with open_source(path, chunk=chunk) as source:
        return b"".join(iter(source.read, b""))


@pytest.mark.parametrize("chunk", [1000, 65_537, 1 << 21])
@pytest.mark.parametrize("kind", ["plain", *COMPRESSORS])
def test_content(tmp_path, kind, chunk):
    path = tmp_path / "rows"
    path.write_bytes(COMPRESSORS.get(kind, bytes)(TEXT))
    assert read_everything(path, chunk) == TEXT


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_joined_compressed_files(tmp_path, kind):
    path = tmp_path / "rows"
    compress = COMPRESSORS[kind]
    path.write_bytes(compress(TEXT[:100]) + compress(b"") + compress(TEXT[100:]) + b"\0" * 512)
    assert read_everything(path, 1 << 16) == TEXT


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_every_truncation_of_a_compressed_file(tmp_path, kind):
    compressed = COMPRESSORS[kind](TEXT[:2000])
    path = tmp_path / "rows"
    for size in range(12, len(compressed)):
        path.write_bytes(compressed[:size])
        with pytest.raises(DataError, match=r"cut short|damaged"):
            read_everything(path, 1 << 16)


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_damaged_compressed_file(tmp_path, kind):
    compressed = bytearray(COMPRESSORS[kind](TEXT))
    compressed[len(compressed) // 2] ^= 0xFF
    path = tmp_path / "rows"
    path.write_bytes(compressed)
    with pytest.raises(DataError, match=r"rows: the compressed file is (damaged|cut short)"):
        read_everything(path, 1 << 16)


def test_garbage_after_a_compressed_file(tmp_path):
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(TEXT) + b"more")
    with pytest.raises(DataError, match="damaged"):
        read_everything(path, 1 << 16)


def test_zstandard(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    compressed = pyarrow.compress(TEXT, codec="zstd", asbytes=True)
    path = tmp_path / "rows.zst"
    path.write_bytes(compressed)
    assert read_everything(path, 1 << 16) == TEXT
    path.write_bytes(compressed[: len(compressed) // 2])
    with pytest.raises(DataError, match="damaged or cut short"):
        read_everything(path, 1 << 16)


@pytest.mark.parametrize("start", [b"B", b"BZ", b"BZh9 is a name\n", b"\x1f", b"(", b"BZh91AY", b"x"])
def test_almost_compressed(tmp_path, start):
    path = tmp_path / "rows"
    path.write_bytes(start)
    assert read_everything(path, 1) == start


def test_a_compression_bomb_is_read_in_chunks(tmp_path):
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
    assert read_everything("-", 1000) == TEXT


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("text", [b"a\nbc\n\nd", b"\n\n", b"\xef\xbb\xbfa\nb\n", b"one", b"a\r\nb\r\n"])
def test_text_chunks(tmp_path, text, chunk):
    path = tmp_path / "rows"
    path.write_bytes(text)
    with open_source(path, chunk=chunk) as source:
        chunks = list(read_text_chunks(source))
    text = text.removeprefix(b"\xef\xbb\xbf")
    assert b"".join(one.text for one in chunks) == text
    assert all(one.text.endswith(b"\n") for one in chunks[:-1])
    line = 1
    for one in chunks:
        assert one.line == line
        line += one.text.count(b"\n")


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty(tmp_path, content):
    path = tmp_path / "rows.svm"
    path.write_bytes(content)
    with open_source(path) as source, pytest.raises(DataError, match=r"rows\.svm: the file is empty"):
        list(read_text_chunks(source))


def test_too_long_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "rows"
    path.write_bytes(b"1\n" + b"x" * (1 << 21))
    with (
        open_source(path, chunk=1000) as source,
        pytest.raises(DataError, match="rows:2: this line is longer than 1 MB"),
    ):
        list(read_text_chunks(source))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_pipe_delivers_a_line_when_it_has_come(monkeypatch, compress):
    out, into = os.pipe()
    with open(out) as stdin, open(into, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        source = open_source("-")
        assert not source.is_steady
        chunks = read_text_chunks(source)
        for line in (b"1 1:2\n", b"-1 3:4\n"):
            pipe.write(compress(line))
            assert next(chunks).text == line
        pipe.close()
        assert list(chunks) == []


def numbers(n, closed):
    try:
        yield from range(n)
    finally:
        closed.set()


@pytest.mark.parametrize("depth", [1, 2])
def test_read_ahead(depth):
    closed = threading.Event()
    assert list(read_ahead(numbers(100, closed), depth)) == list(range(100))
    assert closed.wait(10)


def test_read_ahead_ends_when_closed_or_garbage():
    for leave in (lambda items: items.close(), lambda items: None):
        closed = threading.Event()
        items = read_ahead(numbers(10**9, closed))
        assert [next(items), next(items)] == [0, 1]
        leave(items)
        del items
        assert closed.wait(10)


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_map_in_threads_keeps_the_order(workers):
    def square(n):
        time.sleep(0.001 * (n % 3))
        return n * n

    assert list(map_in_threads(square, iter(range(50)), workers)) == [n * n for n in range(50)]
    assert list(map_in_threads(square, iter(()), workers)) == []


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("fails", ["items", "work"])
def test_map_in_threads_raises_errors_in_order(workers, fails):
    def items():
        yield from range(10)
        raise KeyError("no")

    def work(n):
        if n == 7 and fails == "work":
            raise KeyError("no")
        return n

    results = map_in_threads(work, items(), workers)
    n = 7 if fails == "work" else 10
    assert [next(results) for _ in range(n)] == list(range(n))
    with pytest.raises(KeyError):
        next(results)


def test_map_in_threads_is_bounded_and_ends_when_closed_or_garbage():
    before = set(threading.enumerate())
    for leave in (lambda results: results.close(), lambda results: None):
        made = []

        def items(made=made):
            for n in range(10**9):
                made.append(n)
                yield n

        results = map_in_threads(str, items(), 2)
        assert [next(results), next(results)] == ["0", "1"]
        time.sleep(0.05)
        assert len(made) <= 6
        leave(results)
        del results
        gc.collect()
        assert set(threading.enumerate()) <= before


def test_map_in_threads_ends_if_a_worker_collects_it_as_garbage():
    forgotten = threading.Event()

    def items():
        for n in range(10**6):
            if forgotten.is_set():
                gc.collect()
            yield n

    before = set(threading.enumerate())
    circle = [map_in_threads(str, items(), 2)]
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


def test_read_ahead_raises_errors():
    def failing():
        yield 1
        raise KeyError("no")

    items = read_ahead(failing())
    assert next(items) == 1
    with pytest.raises(KeyError):
        next(items)


def test_read_ahead_is_bounded():
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


INTERRUPT_EVERYWHERE = """
import dis, functools, sys, threading, time
from novikoff.data.formats.read_ahead import map_in_threads, read_ahead

@functools.cache
def interruptible(code):  # CPython handles signals at the start of a function, after calls and at backward jumps
    found, instructions = set(), list(dis.get_instructions(code))
    for one, following in zip(instructions, instructions[1:]):
        if one.opname.startswith(("CALL", "RESUME")):
            found.add(following.offset)
        elif "JUMP_BACKWARD" in one.opname:
            found.add(one.argval)
    return found

def trace(frame, event, argument):
    global n_seen
    if "threading" not in frame.f_code.co_filename and "read_ahead" not in frame.f_code.co_filename:
        return None
    frame.f_trace_opcodes = True
    if event == "opcode" and frame.f_lasti in interruptible(frame.f_code):
        n_seen += 1
        if n_seen == interrupt_at:
            raise KeyboardInterrupt
    return trace

def work(n):
    time.sleep(0.0005)
    return n

def numbers():
    for n in range(4):
        time.sleep(0.0005)
        yield n

for make in (lambda: map_in_threads(work, iter(range(4)), 2), lambda: read_ahead(numbers())):
    interrupt_at, is_over = 0, False
    while not is_over:
        interrupt_at, n_seen = interrupt_at + 1, 0
        items = make()
        sys.settrace(trace)
        try:
            assert list(items) == [0, 1, 2, 3]
            items.close()
            is_over = n_seen < interrupt_at
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
    print(interrupt_at)
"""


def test_an_interrupt_at_any_moment_ends_the_threads():
    """An interrupt within a lock of Python's threading module must not leave a thread waiting for it."""
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPT_EVERYWHERE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert all(int(n) > 20 for n in ended.stdout.split())


@pytest.fixture
def ignored(monkeypatch):
    """Exceptions that Python prints as ignored, since they occur where none can be raised."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda exception: found.append(exception.exc_value))
    return found


def interrupt(*arguments):
    raise KeyboardInterrupt


def test_an_interrupt_while_a_reader_is_closed_is_raised(tmp_path, monkeypatch, ignored):
    path = tmp_path / "t.svm"
    path.write_bytes(TEXT)
    monkeypatch.setattr(threading.Thread, "join", interrupt)

    def read():
        with open_stream(path) as reader:
            for _ in reader:
                raise KeyError

    with pytest.raises(KeyboardInterrupt):
        read()
    assert ignored == []


def test_an_interrupt_while_a_conversion_is_stopped_is_raised(tmp_path, monkeypatch, ignored):
    path, output = tmp_path / "t.svm", tmp_path / "t.csv"
    path.write_bytes(TEXT)
    monkeypatch.setattr(threading.Thread, "join", interrupt)

    def fail(block):
        raise KeyError

    with pytest.raises(KeyboardInterrupt):
        convert(path, output, to="jsonl", note=fail)
    assert ignored == []
    assert os.listdir(tmp_path) == ["t.svm"]
