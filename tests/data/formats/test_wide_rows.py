"""Rows of very many cells: time grows in proportion to them, and the kinds of columns are still sniffed."""

import json

import numpy as np
import pytest

from novikoff.data.encoding import Features, TableEncoding
from novikoff.data.formats import TableBlock, delimited, jsonlines, open_stream
from novikoff.data.formats.sources import Source


def source_of(text, name, is_steady=True):
    chunks = iter([text[at : at + (1 << 16)] for at in range(0, len(text), 1 << 16)])
    return Source(name, lambda n: next(chunks, b""), is_steady=is_steady)


@pytest.mark.parametrize("is_steady", [True, False])
@pytest.mark.parametrize("n_rows", [1, 2, 30])
def test_kinds_are_sniffed_if_the_header_is_longer_than_the_sample(monkeypatch, n_rows, is_steady):
    monkeypatch.setattr(delimited, "_SAMPLE", 1 << 8)
    names = [f"column_{k}" for k in range(200)]
    rows = [[*(["red", "blue"][k % 2] if k % 3 else str(k) for k in range(200)), "ham"] for _ in range(n_rows)]
    text = "\n".join(map(",".join, [[*names, "label"], *rows])).encode() + b"\n"
    with open_stream(source_of(text, "t.csv", is_steady), header=True) as reader:
        assert reader.kinds == (*("word" if k % 3 else "number" for k in range(200)), "word")
        assert sum(map(len, reader)) == n_rows


def test_columns_are_not_listed_once_for_each_column(monkeypatch):
    counts = []
    inner = TableEncoding.columns
    monkeypatch.setattr(TableEncoding, "columns", lambda self, kind: counts.append(kind) or inner(self, kind))
    for n in (10, 1000):
        values = np.full((3, n), np.nan)
        values[1] = 1.0
        columns = {f"c{k}": values[:, k] for k in range(n)}
        block = TableBlock("t.jsonl", np.arange(3), np.array(["a", "b", "a"], object), columns, is_loose=True)
        encoding = TableEncoding(Features())
        list(encoding.learn(block))
        encoding.encode(block)
        counts.append(n)
    middle = counts.index(10)
    assert len(counts[:middle]) == len(counts[middle + 1 : -1]) < 30


def test_wide_lines_of_json_are_read_like_others(monkeypatch):
    rows = [
        {"y": "ab"[k % 2], **{f"key{j}": [j * 0.5, f"v{j}", None, True][j % 4] for j in range(k, 300 + k)}}
        for k in range(20)
    ]
    text = "\n".join(map(json.dumps, rows)).encode() + b"\n"
    found = []
    for wide in (1, 1 << 30):
        monkeypatch.setattr(jsonlines, "_WIDE", wide)
        [block] = open_stream(source_of(text, "t.jsonl"), format="jsonl")
        columns = {name: column.tolist() for name, column in sorted(block.columns.items())}
        found.append((block.labels.tolist(), json.dumps(columns)))
    assert found[0] == found[1]
