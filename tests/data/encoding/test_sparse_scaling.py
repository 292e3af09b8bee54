"""Running standardisation of svmlight and Vowpal Wabbit's text: by definition, as tables, and however it is cut."""

import copy
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.data.encoding import Features, IndexEncoding, NameEncoding, TableEncoding
from novikoff.data.encoding.sparse_scaling import SparseScaler
from novikoff.data.formats.block import SparseBlock, TableBlock
from novikoff.data.formats.sources import Source
from novikoff.data.formats.vw import VwReader
from novikoff.errors import DataError, ModelFileError
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section
from tests.reference import scaling as reference

VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1000.0, 1e-3, 1e9, 1e9 + 1])
MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=1)
)
log_or_not = pytest.mark.parametrize("log_counts", [True, False], ids=["logarithms", "divided"])
CUTS = st.lists(st.integers(0, 40), max_size=4)


def svmlight(X, labels=None):
    labels = np.arange(len(X)) % 2 if labels is None else np.asarray(labels)
    return SparseBlock("t.svm", np.arange(1, len(X) + 1), labels.astype(float), sp.csr_array(np.asarray(X, float)))


def vw(X, labels=None):
    labels = np.arange(len(X)) % 2 if labels is None else labels
    lines = [
        f"{label:g} | {' '.join(f'f{j}:{v!r}' for j, v in enumerate(row) if v)}"
        for label, row in zip(labels, X, strict=True)
    ]
    chunks = iter(["\n".join([*lines, ""]).encode(), b""])
    [block] = VwReader(Source("t.vw", lambda n: next(chunks)))
    return block


def pieces(block, cuts):
    edges = [0, *sorted({cut % (len(block) + 1) for cut in cuts}), len(block)]
    return [block[start:stop] for start, stop in pairwise(edges) if stop > start]


def stack(parts, width):
    """Rows in pieces as the arrays of one CSR matrix, entries in their order."""
    parts = [part for part in parts if len(part)]
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    indices, data = (np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "data"))
    return sp.csr_array((data, indices, np.concatenate([[0], np.cumsum(sizes)])), shape=(len(sizes), width))


def assert_by_definition(found, expected):
    for row, wanted in zip(found.toarray().tolist(), expected, strict=True):
        for value, by_definition in zip(row, wanted, strict=True):
            if by_definition is not None:
                assert value == pytest.approx(by_definition, rel=1e-6, abs=1e-9)


# -- what it is


@log_or_not
@given(X=MATRICES)
def test_rows_are_scaled_by_definition(X, log_counts):
    scaler = SparseScaler(log_counts=log_counts)
    rows = Rows.of(sp.csr_array(np.array(X)))
    assert_by_definition(stack(scaler.learn(rows), len(X[0])), reference.scale_rows(X, log_counts))


@log_or_not
@given(X=MATRICES, Z=MATRICES)
def test_rows_that_are_not_learned_from_are_scaled_by_those_that_were(X, Z, log_counts):
    width = min(len(X[0]), len(Z[0]))
    X, Z = ([row[:width] for row in rows] for rows in (X, Z))
    encoding = IndexEncoding.empty(scale=True, log_counts=log_counts)
    for _ in encoding.learn(svmlight(X)):
        pass
    before = encoding.scaler.n_rows
    assert_by_definition(stack([encoding.encode(svmlight(Z))], width), reference.scale_by(X, Z, log_counts))
    assert encoding.scaler.n_rows == before


@given(MATRICES, st.sets(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=5))
def test_zeros_that_are_written_out_mean_nothing(X, zeros):
    rows = sp.csr_array(np.array(X))
    written = rows.tolil()
    dense = np.array(X)
    for i, j in zeros:
        if i < len(X) and j < len(X[0]):
            dense[i, j] = dense[i, j] or np.nan
    entries = [(i, j, 0.0 if np.isnan(v) else v) for (i, j), v in np.ndenumerate(dense) if v != 0.0]
    i, j, values = zip(*entries, strict=True) if entries else ((), (), ())
    written = sp.csr_array(sp.coo_array((np.array(values, float), (i, j)), shape=rows.shape))
    found, expected = (stack(SparseScaler().learn(Rows.of(each)), rows.shape[1]).toarray() for each in (written, rows))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_dense_rows_are_scaled_as_the_columns_of_a_table():
    rng = np.random.default_rng(0)
    X = rng.normal([5000.0, -3.0, 0.02, 0.0], [100.0, 1.0, 0.01, 50.0], (300, 4))
    columns = dict(zip("abcd", X.T.copy(), strict=True))
    labels = rng.integers(0, 2, 300).astype(float)
    [expected] = TableEncoding(Features(hats=False)).learn(TableBlock("t.csv", np.arange(300), labels, columns))
    [found] = IndexEncoding.empty(scale=True).learn(svmlight(X, labels))
    np.testing.assert_allclose(found.matrix.toarray(), expected.data, rtol=1e-13, atol=1e-13)
    [found] = NameEncoding.empty(20, scale=True).learn(vw(X.tolist(), labels))
    np.testing.assert_allclose(found.matrix.toarray(), expected.data, rtol=1e-13, atol=1e-13)


def test_zeros_that_svmlight_leaves_out_are_zeros_of_the_table():
    rng = np.random.default_rng(1)
    X = rng.normal(40.0, 3.0, (200, 3)) * (rng.random((200, 3)) < 0.8)
    X[0] = 41.5  # or a column could begin with a value that is not that of a dense feature
    X[1] = 39.5
    X[2] = 38.5
    block = TableBlock("t.csv", np.arange(200), np.zeros(200), dict(zip("abc", X.T.copy(), strict=True)))
    [expected] = TableEncoding(Features(hats=False)).learn(block)
    [found] = IndexEncoding.empty(scale=True).learn(svmlight(X))
    np.testing.assert_allclose(found.matrix.toarray(), expected.data, rtol=1e-9, atol=1e-9)


def test_features_that_are_0_or_1_stay_as_they_are():
    rng = np.random.default_rng(2)
    X = (rng.random((500, 30)) < rng.random(30)).astype(float)
    for block in (svmlight(X), vw(X.tolist())):
        plain, scaled = (nk.StreamModel(nk.Learner(), Features(scale=scale)) for scale in (False, True))
        for part in pieces(block, [3, 200]):
            for model in (plain, scaled):
                model.learn(part)
        assert scaled.model.state.raw.coef.tobytes() == plain.model.state.raw.coef.tobytes()
        assert scaled.ledger.mistakes == plain.ledger.mistakes
        assert scaled.rows_of(block).data.tobytes() == plain.rows_of(block).data.tobytes()
    X[:, 0] *= 7.5  # a number among them
    found = stack(SparseScaler().learn(Rows.of(sp.csr_array(X))), 30).toarray()
    assert (found[:, 1:] == X[:, 1:]).all()
    assert not (found[:, 0] == X[:, 0]).all()


def test_counts_become_logarithms():
    X = [[0.0, 3.0], [1.0, 0.0], [0.0, 1.0], [4.0, 0.5], *[[0.0, 0.0]] * 8, [100.0, 3.0]]
    found = stack(SparseScaler().learn(Rows.of(sp.csr_array(np.array(X)))), 2).toarray()
    assert found[:, 0].tolist() == [0.0, 1.0, 0.0, 1.0 + math.log(4.0), *[0.0] * 8, 1.0 + math.log(100.0)]
    assert found[[0, 2], 1].tolist() == [1.0 + math.log(3.0), 1.0]
    # From 0.5 on it is no count: 3 of 4 rows have it, and at last 4 of 13, with the squares 9, 1, 1/4 and 9.
    assert found[3, 1] == pytest.approx((0.5 - 4.5 / 4) / np.sqrt(10.25 / 4 - (4.5 / 4) ** 2))
    assert found[12, 1] == pytest.approx(3.0 / np.sqrt(19.25 / 8))


@pytest.mark.parametrize("v", [2.0, -3.0, 0.5, 1e6])
def test_values_that_counts_have_not_had_are_compressed_alike(v):
    for X in ([[1.0], [0.0], [0.0]], [[2.0], [0.0], [0.0]]):
        encoding = IndexEncoding.empty(scale=True)
        for _ in encoding.learn(svmlight(X)):
            pass
        assert encoding.encode(svmlight([[v]])).matrix.toarray().tolist() == [[reference.compress(v)]]


def test_dense_counts_are_standardised_after_eight_rows():
    X = np.array([[2.0, 0.0], [3.0, 1.0]] * 6)
    found = stack(SparseScaler().learn(Rows.of(sp.csr_array(X))), 2).toarray()
    assert found[:7, 0].tolist() == [reference.compress(v) for v in X[:7, 0]]
    assert found[7:, 0].tolist() == pytest.approx([row[0] for row in reference.scale_rows(X.tolist())[7:]])


def test_a_feature_that_becomes_rare_is_shifted_no_longer():
    X = [[5.0], [7.0], [9.0], *[[0.0]] * 9, [8.0]]
    found = stack(SparseScaler(log_counts=False).learn(Rows.of(sp.csr_array(np.array(X)))), 1)
    # Of 6 rows 3 have it: mean 21 / 6, squares 155, so 0 is (0 - 3.5) / sqrt(155 / 6 - 3.5^2).
    assert found.toarray()[5, 0] == pytest.approx(-3.5 / np.sqrt(155 / 6 - 3.5**2))
    assert found.toarray()[6:12, 0].tolist() == [0.0] * 6
    assert found.toarray()[12, 0] == pytest.approx(8 / np.sqrt((155 + 64) / 8))


# -- however it is cut, stopped and gone on with


@given(MATRICES, CUTS)
def test_results_do_not_depend_on_blocks(X, cuts):
    for block in (svmlight(X), vw(X)):
        found = []
        for parts in ([block], pieces(block, cuts), pieces(block, range(len(X)))):
            encoding = IndexEncoding.empty(scale=True) if block.source == "t.svm" else NameEncoding.empty(9, scale=True)
            encoded = [rows for part in parts for rows in encoding.learn(part)]
            whole = stack(encoded, encoding.n_features)
            found.append([whole.data.tobytes(), whole.indices.tolist(), whole.indptr.tolist()])
        assert found[0] == found[1] == found[2]


def test_many_rows_that_lack_the_dense_features_are_given_in_pieces():
    X = np.random.default_rng(3).normal(9.0, 1.0, (20, 30))
    empty = np.zeros((20, 30))
    scaler = SparseScaler()
    first = scaler.learn(Rows.of(sp.csr_array(X)))
    assert scaler.dense.tolist() == list(range(30))
    rest = scaler.learn(Rows.of(sp.csr_array(empty)))
    assert sum(map(len, rest)) == 20
    assert len(rest) > 1
    assert_by_definition(stack(first + rest, 30), reference.scale_rows(np.vstack([X, empty]).tolist()))


@given(MATRICES, CUTS)
def test_a_model_that_is_saved_and_loaded_goes_on_to_the_last_bit(X, cuts):
    whole = nk.StreamModel(nk.Learner())
    whole.learn(svmlight(X))
    resumed = nk.StreamModel(nk.Learner())
    for part in pieces(svmlight(X), cuts):
        resumed.learn(part)
        section = Section("").add_part("encoding")
        resumed.encoding.write_to(section)
        resumed.encoding = IndexEncoding.read_from(section)
    assert resumed.model.state.raw.coef.tobytes() == whole.model.state.raw.coef.tobytes()
    assert resumed.encoding.scaler.dense.tolist() == whole.encoding.scaler.dense.tolist()
    queries = svmlight(X[::-1])
    assert resumed.rows_of(queries).data.tobytes() == whole.rows_of(queries).data.tobytes()


@pytest.mark.parametrize("clone", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
def test_a_copy_goes_on_as_the_original(clone):
    X = np.random.default_rng(4).normal(3.0, 2.0, (60, 5)).tolist()
    model = nk.StreamModel(nk.Learner())
    model.learn(vw(X[:30]))
    cloned = clone(model)
    for each in (model, cloned):
        each.learn(vw(X[30:]))
    assert cloned.model.state.raw.coef.tobytes() == model.model.state.raw.coef.tobytes()


@given(MATRICES, MATRICES, MATRICES)
def test_what_was_learned_since_a_snapshot_can_be_forgotten(X, others, more):
    def encoded(encoding, rows):
        return [part.data.tobytes() for part in encoding.learn(svmlight(rows))]

    encoding, expected = IndexEncoding.empty(scale=True), IndexEncoding.empty(scale=True)
    for each in (encoding, expected):
        encoded(each, X)
    mark = encoding.snapshot()
    encoded(encoding, others)
    encoded(encoding, more)
    for _ in range(2):
        encoding.restore(mark)
        assert encoding.scaler.dense.tolist() == expected.scaler.dense.tolist()
    assert encoding.width == expected.width
    assert encoded(encoding, more) == encoded(expected, more)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_block_with_a_bad_value_changes_nothing(bad):
    X = np.random.default_rng(5).normal(3.0, 2.0, (40, 4))
    model, expected = nk.StreamModel(nk.Learner()), nk.StreamModel(nk.Learner())
    for each in (model, expected):
        each.learn(svmlight(X[:20]))
    wrong = X[20:].copy()
    wrong[7, 2] = bad
    with pytest.raises(DataError, match="row 7, column 2"):
        model.learn(svmlight(wrong))
    for each in (model, expected):
        each.learn(svmlight(X[20:]))
    assert model.model.state.raw.coef.tobytes() == expected.model.state.raw.coef.tobytes()


# -- model files


def scaled_section():
    encoding, root = IndexEncoding.empty(scale=True), Section("m.nk holds no valid model")
    list(encoding.learn(svmlight([[2.5, 1.0], [3.0, 0.0], [4.0, 1.0]])))
    section = root.add_part("encoding")
    encoding.write_to(section)
    return root, section


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: root.tensors["encoding.scaling.counts"].__setitem__(0, 4.0), "more rows than it has"),
        (lambda root: root.tensors["encoding.scaling.counts"].__setitem__(0, np.nan), "NaN or infinity"),
        (lambda root: root.tensors["encoding.scaling.counts"].__setitem__(0, 0.0), "not of any numbers"),
        (lambda root: root.tensors["encoding.scaling.moments"].__setitem__((1, 0), -1.0), "not of any numbers"),
        (lambda root: root.tensors["encoding.scaling.numeric"].__setitem__(0, 7), "points outside"),
        (lambda root: root.facts["encoding"]["scaling"].__setitem__("has_numbers", False), "no numbers"),
        (lambda root: root.facts["encoding"]["scaling"].__setitem__("log_counts", 1), "log_counts is 1"),
        (lambda root: root.tensors["encoding.scaling.measured"].__setitem__(0, 1), "no numbers"),
        (lambda root: root.facts["encoding"].__setitem__("scale", 1), "scale is 1"),
        (lambda root: root.facts["encoding"].__setitem__("width", 3), "has shape"),
    ],
)
def test_invalid_moments_are_refused(change, message):
    root, section = scaled_section()
    IndexEncoding.read_from(section)
    change(root)
    with pytest.raises(ModelFileError, match=message):
        IndexEncoding.read_from(section)


def test_an_encoding_of_an_older_file_scales_nothing():
    section = Section("").add_part("encoding")
    section.facts["width"] = 3
    encoding = IndexEncoding.read_from(section)
    assert not encoding.scales
    X = [[500.0, 0.0, 2.0], [700.0, 3.0, 0.0]]
    [rows] = encoding.learn(svmlight(X))
    assert rows.matrix.toarray().tolist() == X


def test_an_older_file_goes_on_dividing_counts():
    _, section = scaled_section()
    del section.facts["scaling"]["log_counts"], section.part("scaling").tensors["encoding.scaling.measured"]
    encoding = IndexEncoding.read_from(section)
    expected = IndexEncoding.empty(scale=True, log_counts=False)
    list(expected.learn(svmlight([[2.5, 1.0], [3.0, 0.0], [4.0, 1.0]])))
    for rows in ([[0.0, 3.0]], [[0.0, 0.0]] * 9, [[7.0, 5.0]]):
        found, wanted = (stack(list(each.learn(svmlight(rows))), 2).toarray() for each in (encoding, expected))
        assert found.tolist() == wanted.tolist()


def test_a_run_is_not_resumed_with_another_scale(tmp_path):
    path, checkpoint = tmp_path / "t.svm", tmp_path / "m.nk"
    path.write_text("1 1:500 2:3\n-1 1:400 2:2\n")
    nk.learn(path, checkpoint=checkpoint)
    with pytest.raises(DataError, match=r"scale=True and cannot be continued with scale=False"):
        nk.learn(path, checkpoint=checkpoint, resume=True, scale=False)
    assert nk.learn(path, checkpoint=checkpoint, resume=True).ledger.examples == 2
