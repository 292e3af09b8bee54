"""Text in other encodings than UTF-8 is read if a byte order mark or the caller names it, and refused otherwise."""

import codecs
import gzip

import pytest

from novikoff.data.formats import open_source, open_stream
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

TEXT = "stadt;größe;y\nKöln;1,5;ja\nZürich;2,25;nein\nOldenburg;3;ja\n"
MARKED = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def read_all(source):
    return b"".join(iter(source.read, b""))


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
@pytest.mark.parametrize("codec", MARKED)
def test_a_byte_order_mark_names_the_encoding(codec, chunk):
    content = MARKED[codec] + TEXT.encode(codec)
    offsets = iter(range(0, len(content), chunk))
    source = Source("t.csv", lambda n: next((content[at : at + chunk] for at in offsets), b""))
    assert read_all(source) == TEXT.encode()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-8", "UTF-8-SIG"])
def test_a_given_encoding(tmp_path, encoding):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode(encoding), mtime=0))
    with open_source(path, encoding=encoding) as source:
        assert read_all(source) == TEXT.encode()
    with open_stream(path, encoding=encoding) as reader:
        [block] = reader
    assert block.columns["stadt"].tolist() == ["Köln", "Zürich", "Oldenburg"]


def test_another_encoding_is_not_guessed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode("latin-1"))
    with pytest.raises(RowError, match=r"t\.csv:1:\d+: byte 0xf6 is not UTF-8. Name the encoding") as info:
        open_stream(path)
    assert info.value.code is RejectCode.ENCODING


@pytest.mark.parametrize("encoding", ["utf-99", "hex", "rot13"])
def test_unknown_encodings(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    with pytest.raises(DataError, match="no text encoding"):
        open_stream(path, encoding=encoding)


def test_bytes_that_are_not_of_the_given_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,y\n1,x\n\xe9,z\n")
    with pytest.raises(DataError, match="offset 8 are not ascii"):
        open_stream(path, encoding="ascii")


def test_utf_16_cut_within_a_character(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes((codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"))[:-1])
    with pytest.raises(DataError, match="are not utf-16"), open_stream(path) as reader:
        list(reader)
