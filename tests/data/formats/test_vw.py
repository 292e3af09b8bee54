"""The compiled reader of Vowpal Wabbit's text against a literal one."""

import random

import numpy as np
import pytest

from novikoff.data.encoding.names import NameBatch
from novikoff.data.formats import vw
from novikoff.data.formats.sources import Source
from novikoff.data.formats.vw import VwReader
from novikoff.errors import DataError
from tests.reference.formats import lines as literal_lines
from tests.reference.formats import vw as literal

CHUNKS = [1, 2, 3, 5, 17, 64, 1000, 1 << 20]


def source_of(text, chunk=1 << 20, *, is_steady=True):
    offsets = iter(range(0, len(text), chunk))
    return Source("rows.vw", lambda n: next((text[at : at + chunk] for at in offsets), b""), is_steady=is_steady)


def hash_of(space, name):
    """The hash of a name, computed for itself."""
    return int(NameBatch.with_prefix(space.decode(), [name.decode()]).hashes[0])


def rows_of(block):
    text = block.memory.tobytes()
    for n in range(len(block)):
        row = {}
        for p in range(block.indptr[n], block.indptr[n + 1]):
            space, name = (text[begin:end] for begin, end in (block.namespaces[block.namespace_of[p]], block.names[p]))
            assert int(block.hashes[p]) == hash_of(space, name)
            row[space, name] = row.get((space, name), 0.0) + float(block.values[p])
        yield int(block.lines[n]), None if np.isnan(block.labels[n]) else float(block.labels[n]), row


def read(text, chunk=1 << 20, bad_rows="skip", target=False):
    """All rows, rejects [(line, text)], and the error, if any, that ended it."""
    rows, rejects = [], []
    try:
        for block in VwReader(source_of(text, chunk), bad_rows=bad_rows, target=target):
            rows += rows_of(block)
            rejects += [(reject.line, reject.text.rstrip(b"\r\n")) for reject in block.rejects]
    except DataError as error:
        return rows, rejects, error
    return rows, rejects, None


def require_literal(text, chunk=1 << 20):
    """Skipping, it is what the literal reader finds; stopping, the rows before the first wrong line. Where labels are
    wanted, a row without is wrong."""
    rows, wrong = literal(text)
    for target in (False, None):
        if target is None:
            lines = literal_lines(text)
            wrong = sorted([*wrong, *((n, lines[n - 1]) for n, label, _ in rows if label is None)])
            rows = [row for row in rows if row[1] is not None]
        found, rejects, error = read(text, chunk, target=target)
        assert (found, rejects) == (rows, wrong)
        assert (error is None) == bool(rows or wrong)
        found, rejects, error = read(text, chunk, "stop", target)
        if wrong:
            assert found == [row for row in rows if row[0] < wrong[0][0]]
            assert str(error).startswith(f"rows.vw:{wrong[0][0]}:")
            assert len(str(error)) < 250
        else:
            assert found == rows


def random_file(rng, n):
    """A file with everything that is allowed."""
    out = []
    for _ in range(n):
        if rng.random() < 0.1:
            out.append(rng.choice(["", "  ", "\t"]))
            continue
        groups = []
        for _ in range(rng.randint(1, 3)):
            names = [
                "".join(rng.choices("abcxyz123_^=/'é", k=rng.choice([1, 3, 7, 8, 9, 16, 20])))
                for _ in range(rng.randint(0, 5))
            ]
            values = ["", "", ":1", f":{rng.gauss(0, 1)!r}", ":.5", ":-2e-3", f":{rng.random():.25f}"]
            words = [name + rng.choice(values) for name in names]
            groups.append(
                rng.choice(["", "user", "a:2", "longer_namespace:0.5"])
                + " "
                + rng.choice([" ", "  ", "\t"]).join(words)
            )
        label = rng.choice(
            ["1 ", "-1 ", "+1 ", "0 ", "2.5 1 ", "1 1.0 'tag ", "'tag", "", "1 tag", "1 1 'tag", " -1\t"]
        )
        out.append(label + "|" + rng.choice(["|", " |"]).join(groups) + rng.choice(["", "", " ", "\r"]))
    return "\n".join(out + rng.choice([[], [""]])).encode()


@pytest.mark.parametrize("chunk", CHUNKS)
def test_files_in_chunks_of_any_size(chunk):
    rng = random.Random(chunk)
    for _ in range(30 if chunk > 3 else 8):
        require_literal(random_file(rng, rng.randint(1, 40)), chunk)


def test_short_features_with_one_byte_changed():
    """Features that fit a window are read by other code than long ones: also just before the end, and when wrong."""
    rng = random.Random(7)
    for _ in range(1200):
        names = ["".join(rng.choices("abcxyz123_^", k=rng.randint(1, 9))) for _ in range(9)]
        numbers = [f"{rng.uniform(-1, 1) * 10 ** rng.randint(0, 8):.{rng.randint(0, 8)}f}" for _ in names]
        words = " ".join(f"{name}:{number}" for name, number in zip(names, numbers, strict=True))
        text = bytearray(f"1 |{rng.choice(['', 'ad', 'ad:0.5', 'ad:1e149'])} {words}\n".encode() * 2)
        if rng.random() < 0.8:
            text[rng.randrange(len(text))] = rng.choice(b"0123456789 :.-+e#\n\t\r\x0b\x00\xc3|/;")
        require_literal(bytes(text[: rng.choice([len(text), len(text) - 1, rng.randrange(1, len(text))])]))


def test_duplicate_names_are_found():
    rng = random.Random(9)
    sizes = [0, 1, 2, 50, 4096, 5000]
    rows = [rng.sample(range(10**6), n) for n in sizes] + [[*rng.sample(range(10**6), n), 7, 7] for n in sizes]
    [block] = VwReader(source_of("".join(f"1 | {' '.join(f'n{k}' for k in row)}\n" for row in rows).encode()))
    assert block.distinct.tolist() == [len(set(row)) == len(row) <= 4096 for row in rows]
    few = block.distinct
    assert block.squared_norms[few].tolist() == [len(row) for row, is_one in zip(rows, few, strict=True) if is_one]
    assert block[2:9].distinct.tolist() == block.distinct[2:9].tolist()


VALID = b"1 'a |user old:0.5 x|ad:2 shoes price:1e-3\r\n\n-1 | a a b:12345678901234567890123\n2 1.0 tag|x yy\n| z"


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
                new = rng.choice([bytes([rng.randrange(256)]), b":", b" ", b"\n", b"|", b"'", b"-", b"e", b"9", b"\0"])
                text[at : at + rng.randint(0, 1)] = new
        require_literal(bytes(text), rng.choice([5, 1 << 20]))


def test_random_bytes():
    rng = random.Random(7)
    for _ in range(300):
        require_literal(rng.randbytes(rng.randint(0, 60)))


def test_blocks_of_few_rows(monkeypatch):
    monkeypatch.setattr(vw, "_ROWS", 3)
    require_literal(random_file(random.Random(8), 30))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 2.0 | a\n", "rows.vw:1: '2.0' after the label is an importance weight"),
        (b"1 | a\nspam | b\n", "rows.vw:2:1: expected a number as label, found 'spam'"),
        (b"1| b\n", "rows.vw:1:1: the label touches the bar"),
        (b"1 | b:x\n", "rows.vw:1:6: expected a number after the colon, found ':x'"),
        (b"1 |u:x b\n", "rows.vw:1:5: expected a number after the colon, found ':x'"),
        (b"1 | :3\n", "rows.vw:1:5: expected a name, such as price or price:3, found ':3'"),
        (b"1 b c\n", "rows.vw:1: found no bar"),
        (b"| a\n", "rows.vw:1:1: this row has no label"),
        (b"1 | \xff\n", "rows.vw:1:5: byte 0xff is not UTF-8"),
        (b"1 | a\0b\n", "rows.vw:1:6: not a text file, it contains zero bytes"),
        (b"1 | a:1e400\n", "rows.vw:1:5: the value of 'a' is not a finite number below 1e+150"),
        (b"1 |a:1e100 b:1e100\n", "rows.vw:1:12: the value of 'b' is not a finite number below 1e+150"),
        (b"1e200 | a\n", "rows.vw:1:1: expected a number as label"),
        (b"", "rows.vw: the file is empty"),
        (b"\n \n", "rows.vw: found no rows, only blank lines"),
    ],
)
def test_messages(text, message):
    with pytest.raises(DataError) as caught:
        list(VwReader(source_of(text)))
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"| a", "bad-label"),
        (b"spam | b", "bad-label"),
        (b"1 2.0 | a", "bad-label"),
        (b"1 | b:x", "not-a-number"),
        (b"1 | :3", "syntax"),
        (b"1 b c", "syntax"),
        (b"1 | a:1e400", "too-large"),
        (b"1 | \xff", "encoding"),
    ],
)
def test_reject_codes(row, code):
    [block] = VwReader(source_of(b"1 | a\n" + row + b"\n"), bad_rows="skip")
    assert [reject.code for reject in block.rejects] == [code]


def test_a_pipe_delivers_rows_as_they_come():
    calls = []

    def read(n):
        calls.append(n)
        return [b"1 | a\n-1 |", b" b\n", b"1 | c\n", b""][min(len(calls) - 1, 3)]

    reader = VwReader(Source("pipe", read, is_steady=False))
    assert [len(block) for block in reader] == [1, 1, 1]
