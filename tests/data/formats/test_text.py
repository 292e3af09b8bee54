"""Lines of label<TAB>text."""

import random

import pytest

from novikoff.data.formats.sources import Source
from novikoff.data.formats.text import LabelledTextReader
from novikoff.errors import DataError
from tests.reference.formats import labelled_text as literal


def read(text, chunk=1 << 20, **options):
    """All (line, label, text), rejects [(line, text)], and the error, if any, that ended it."""
    offsets = iter(range(0, len(text), chunk))
    source = Source("sms.txt", lambda n: next((text[at : at + chunk] for at in offsets), b""))
    rows, rejects = [], []
    try:
        for block in LabelledTextReader(source, **options):
            labels = [None] * len(block) if block.labels is None else block.labels.tolist()
            rows += zip(block.lines.tolist(), labels, block.columns["text"].tolist(), strict=True)
            rejects += [(reject.line, reject.text) for reject in block.rejects]
    except DataError as error:
        return rows, rejects, error
    return rows, rejects, None


def require_literal(text, chunk):
    rows, wrong = literal(text)
    found, rejects, error = read(text, chunk, bad_rows="skip")
    assert (found, rejects) == (rows, wrong)
    assert (error is None) == bool(rows or wrong)
    found, rejects, error = read(text, chunk)
    if wrong:
        assert found == [row for row in rows if row[0] < wrong[0][0]]
        assert str(error).startswith(f"sms.txt:{wrong[0][0]}:")
    else:
        assert found == rows


VALID = 'ham\tSee "you", é\r\n\nspam\tCall\tNOW\n  \n 1 \tx\nham\t\n'.encode()


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 20])
def test_every_truncation(chunk):
    for size in range(len(VALID) + 1):
        require_literal(VALID[:size], chunk)


def test_random_mutations():
    rng = random.Random(0)
    for _ in range(1500):
        text = bytearray(VALID)
        for _ in range(rng.choice([1, 2, 5])):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randint(0, 2)] = rng.choice([bytes([rng.randrange(256)]), b"\t", b"\n", b"\0", b""])
        require_literal(bytes(text), rng.choice([5, 1 << 20]))


def test_labels_are_coded():
    chunks = iter([b"ham\tx\n spam\ty\nham \tz\nno tab\n", b""])
    [block] = LabelledTextReader(Source("sms.txt", lambda n: next(chunks)), bad_rows="skip")
    assert (block.coded_labels.codes.tolist(), block.coded_labels.values) == ([0, 1, 0], ["ham", "spam"])
    assert block.labels is block.coded_labels.strings
    assert [reject.code for reject in block.rejects] == ["bad-label"]


def test_texts_without_labels():
    assert read(b"see you\ncall now\n", target=False)[0] == [(1, None, "see you"), (2, None, "call now")]
    assert read(b"see you\ncall\tnow\n", 1, target=False)[0] == [(1, None, "see you"), (2, None, "call\tnow")]
    assert read(b"ham\tsee you\nno tab\n", 1, target=False)[0] == [(1, None, "see you"), (2, None, "no tab")]
    assert read(b"ham\tsee you\nspam\tcall\n", target=False)[0] == [(1, None, "see you"), (2, None, "call")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"ham\tx\nno tab here\n", "sms.txt:2:1: expected a label, a tab and a text, found 'no tab here'"),
        (b"\tno label\n", "sms.txt:1:1: expected a label, a tab and a text"),
        (b"ham\t\xff\n", "sms.txt:1:5: byte 0xff is not UTF-8"),
        (b"ham\ta\0\n", "sms.txt:1:6: not a text file, it contains zero bytes"),
        (b"", "sms.txt: the file is empty"),
        (b"\n\n", "sms.txt: found no rows"),
    ],
)
def test_messages(text, message):
    assert str(read(text)[2]).startswith(message)


@pytest.mark.parametrize("options", [{"target": "author"}, {"types": {"text": "word"}}, {"types": {"age": "number"}}])
def test_other_columns_are_refused(options):
    with pytest.raises(DataError, match="say that its format is tsv"):
        LabelledTextReader(Source("sms.txt", lambda n: b""), **options)
