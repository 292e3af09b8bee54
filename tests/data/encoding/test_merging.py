"""Encodings of parts, merged, are those of one pass over all parts."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.encoding import Features, IndexEncoding, NameBatch, NameEncoding, TableEncoding, Vocabulary
from novikoff.data.encoding.merging import add_moments, merge_encodings
from novikoff.data.formats.block import CategoricalColumn, SparseBlock, TableBlock, TextColumn
from novikoff.errors import DataError

cells = st.one_of(st.none(), st.sampled_from(["sun", "rain", "snow", ""]))


@st.composite
def tables(draw):
    """Draw a table of a number with gaps, a word and a text, and where it is cut into parts."""
    n = draw(st.integers(2, 12))
    numbers = draw(st.lists(st.one_of(st.just(np.nan), st.integers(-9, 9).map(float)), min_size=n, max_size=n))
    words = CategoricalColumn.from_cells(draw(st.lists(cells, min_size=n, max_size=n)))
    texts = TextColumn.from_cells(draw(st.lists(st.sampled_from(["a b", "b c a", "d"]), min_size=n, max_size=n)))
    columns = {"x": np.array(numbers), "sky": words, "text": texts}
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=3)))
    return TableBlock("days", np.arange(n), None, columns), [0, *cuts, n]


def learned(encoding, block):
    for _ in encoding.learn(block):
        pass
    return encoding


@given(tables(), st.booleans(), st.booleans())
def test_tables(drawn, scale, hats):
    block, edges = drawn
    features = Features(scale=scale, hats=hats)
    whole = learned(TableEncoding(features), block)
    parts = [learned(TableEncoding(features), block[a:b]) for a, b in pairwise(edges)]
    before = [part.names for part in parts]
    merged = merge_encodings(parts, [f"part{k}" for k in range(len(parts))])
    assert (merged.names, merged.kinds, merged.is_dense) == (whole.names, whole.kinds, whole.is_dense)
    np.testing.assert_allclose(merged.moments, whole.moments, atol=1e-9)
    assert merged.number_indices.tolist() == whole.number_indices.tolist()
    if scale and hats:
        assert merged.hats.indices.tolist() == whole.hats.indices.tolist()
        n = merged.n_features
        assert merged.hats.is_hat(n).tolist() == whole.hats.is_hat(n).tolist()
    np.testing.assert_allclose(_dense(merged.encode(block)), _dense(whole.encode(block)), atol=1e-9)
    assert [part.names for part in parts] == before


def _dense(rows):
    return rows.matrix.toarray() if rows.is_sparse else rows.data


@given(st.integers(0, 200), st.integers(1, 3), st.booleans())
def test_svmlight(seed, n_parts, hats):
    """Moments and dense features are those of all rows; features keep their numbers, hats come behind them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (12, 5)).astype(float) * (rng.random((12, 5)) < [1.0, 0.9, 0.3, 0.1, 0.5])
    X[:, 4] = X[:, 4] != 0.0
    labels = np.ones(12)
    whole = learned(IndexEncoding.empty(scale=True), SparseBlock("a", np.arange(12), labels, sp.csr_array(X)))
    parts = []
    for rows in np.array_split(np.arange(12), n_parts):
        block = SparseBlock("a", rows, labels[rows], sp.csr_array(X[rows]))
        parts.append(learned(IndexEncoding.empty(scale=True, hats=hats), block))
    merged = merge_encodings(parts, ["a"] * n_parts)
    assert merged.scaler.dense.tolist() == whole.scaler.dense.tolist()
    block = SparseBlock("a", np.arange(12), labels, sp.csr_array(X))
    encoded, expected = _dense(merged.encode(block)), _dense(whole.encode(block))
    np.testing.assert_allclose(encoded[:, : expected.shape[1]], expected, atol=1e-9)
    if hats:
        assert merged.n_features == 5 + 11 * len(merged.scaler.dense)
        np.testing.assert_allclose(encoded[:, 5:].sum(axis=1), len(merged.scaler.dense))


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9), min_size=1, max_size=4))
def test_names_that_share_indices(parts):
    """Once a vocabulary is full, every name still has an index."""
    vocabularies = []
    for names in parts:
        vocabularies.append(Vocabulary(2))
        vocabularies[-1].find_indices(NameBatch.with_prefix("", names), learn=True)
    merged = Vocabulary(2)
    for vocabulary, names in zip(vocabularies, parts, strict=True):
        batch = NameBatch.with_prefix("", names)
        before = vocabulary.find_indices(batch, learn=False)
        indices = merged.absorb(vocabulary)
        assert len(indices) == len(vocabulary)
        if not vocabulary.is_full and not merged.is_full:
            assert indices[before].tolist() == merged.find_indices(batch, learn=False).tolist()
    everything = NameBatch.with_prefix("", sorted({name for names in parts for name in names}))
    assert (merged.find_indices(everything, learn=False) >= 0).all()


def test_named_features_of_parts_are_matched_by_name(tmp_path):
    from novikoff import open_stream

    texts = ["1 | a:2 b:3\n0 | c:1.5\n", "0 | c:4 d:1\n1 | a:6\n"]
    for name, text in (("p0.vw", texts[0]), ("p1.vw", texts[1]), ("all.vw", "".join(texts))):
        (tmp_path / name).write_text(text)

    def encoding_of(name):
        with open_stream(tmp_path / name) as reader:
            encoding = NameEncoding.empty(10, scale=True)
            for block in reader:
                learned(encoding, block)
            return encoding, block

    whole, block = encoding_of("all.vw")
    merged = merge_encodings([encoding_of("p0.vw")[0], encoding_of("p1.vw")[0]], ["p0.vw", "p1.vw"])
    assert merged.names == whole.names
    np.testing.assert_allclose(_dense(merged.encode(block)), _dense(whole.encode(block)), atol=1e-12)


def test_moments_are_those_of_all_numbers():
    rng = np.random.default_rng(1)
    parts = [rng.normal(5, 2, (n, 3)) for n in (4, 1, 7)]
    total = np.zeros((3, 3))
    for part in parts:
        own = np.array([np.full(3, len(part)), part.mean(axis=0), ((part - part.mean(axis=0)) ** 2).sum(axis=0)])
        total = add_moments(total, own)
    numbers = np.concatenate(parts)
    np.testing.assert_allclose(total, [np.full(3, 12), numbers.mean(axis=0), numbers.var(axis=0) * 12])


def test_parts_that_do_not_go_together():
    numbers = learned(TableEncoding(), TableBlock("a", np.arange(2), None, {"x": np.ones(2)}))
    words = learned(TableEncoding(), TableBlock("b", np.arange(1), None, {"x": CategoricalColumn.from_cells(["sun"])}))
    with pytest.raises(DataError, match="b: column 'x' holds words"):
        merge_encodings([numbers, words], ["a", "b"])
    with pytest.raises(DataError, match="different formats"):
        merge_encodings([numbers, IndexEncoding.empty()], ["a", "c"])
