"""From blocks to a model: encodings against literal ones, and nothing depends on how a stream is cut or interrupted."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Learner
from novikoff.encoding import IndexEncoding, TableEncoding
from novikoff.errors import DataError, ModelFileError
from novikoff.online import StreamModel
from novikoff.store import Section
from novikoff.streams.block import SparseBlock, TableBlock


def table(rows, labels=None, source="t.csv", age=float):
    """Rows of (age, sky): a number or NaN, a word or None."""
    columns = {"age": np.array([row[0] for row in rows], age), "sky": np.array([row[1] for row in rows], object)}
    lines = np.arange(2, 2 + len(rows))
    return TableBlock(source, lines, None if labels is None else np.array(labels, object), columns)


def sparse(X, labels, source="t.svm"):
    return SparseBlock(source, np.arange(1, len(labels) + 1), np.asarray(labels, float), sp.csr_array(X))


def pieces(block, cuts):
    """The same rows in several blocks."""
    edges = [0, *sorted({cut % (len(block) + 1) for cut in cuts}), len(block)]
    for start, stop in pairwise(edges):
        if stop > start:
            rest = block.after(start)
            kept = {"columns": {name: column[: stop - start] for name, column in rest.columns.items()}} if isinstance(
                block, TableBlock) else {"rows": rest.rows[: stop - start]}  # fmt: skip
            yield type(block)(block.source, rest.lines[: stop - start], rest.labels[: stop - start], **kept)


def literal_standardised(values):
    """Each value less the mean, over the deviation, of those up to it that are not missing, exactly; None where the
    deviation is so small that doubles hardly know it."""
    out = []
    for at, value in enumerate(values):
        seen = [Fraction(v) for v in values[: at + 1] if not math.isnan(v)]
        mean = sum(seen) / len(seen) if seen else 0
        deviation = math.sqrt(sum((v - mean) ** 2 for v in seen) / len(seen)) if seen else 0.0
        if math.isnan(value) or deviation == 0.0:
            out.append(0.0)
        elif deviation < 1e-6 * max(abs(v) for v in seen):
            out.append(None)
        else:
            out.append(float(value - mean) / deviation)
    return out


ROWS = [(3.0, "sun"), (math.nan, "rain"), (5.0, None), (4.0, "sun"), (9.0, "fog"), (math.nan, "sun"), (1.0, "rain")]
LABELS = ["stay", "go", "go", "stay", "go", "stay", "go"]

numbers = st.floats(-1e6, 1e6) | st.just(math.nan)
streams = st.lists(
    st.tuples(numbers, st.sampled_from(["sun", "rain", "fog", None]), st.sampled_from(["a", "b", "c"])),
    min_size=1,
    max_size=25,
)


def test_a_table_becomes_numbers():
    encoding = TableEncoding(["age"], ["sky"])
    rows = encoding.learn(table(ROWS))
    assert encoding.names == ["age", "sky=sun", "sky=rain", "age is missing", "sky=?", "sky=fog"]
    X = rows.take(np.arange(len(rows))).toarray()
    np.testing.assert_allclose(X[:, 0], literal_standardised([age for age, _ in ROWS]), atol=1e-12)
    assert X[1].tolist() == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert X[2, 1:].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]


@given(st.lists(numbers, min_size=1, max_size=30))
def test_running_standardisation(values):
    encoding = TableEncoding(["age"], [])
    rows = encoding.learn(table([(value, None) for value in values]))
    found = rows.take(np.arange(len(rows)))
    found = (found.toarray() if sp.issparse(found) else found)[:, 0]
    for a, b in zip(found, literal_standardised(values), strict=True):
        assert math.isfinite(a)
        assert b is None or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)


def test_reading_teaches_nothing():
    encoding = TableEncoding(["age"], ["sky"])
    encoding.learn(table(ROWS))
    before = encoding.names, encoding.moments.copy()
    rows = encoding.read(table([(100.0, "hail"), (math.nan, "sun")]))
    assert encoding.names == before[0]
    assert (encoding.moments == before[1]).all()
    X = rows.take(np.arange(2)).toarray()
    assert X[0, 1:].tolist() == [0.0] * 5  # hail is new and counts for nothing
    assert X[1].tolist() == [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]


def test_numbers_as_they_are():
    encoding = TableEncoding(["age"], [], scale=False)
    rows = encoding.learn(table([(3.0, None), (7.0, None)]))
    assert rows.data[:, 0].tolist() == [3.0, 7.0]


@given(streams, st.lists(st.integers(0, 25), max_size=4), st.sampled_from(["last", "averaged", "voted", "pocket"]))
def test_blocks_do_not_matter(tmp_path_factory, stream, cuts, hypothesis):
    block = table([row[:2] for row in stream], [row[2] for row in stream])
    whole, cut = (StreamModel(Learner(hypothesis=hypothesis)) for _ in range(2))
    whole.learn(block)
    for piece in pieces(block, cuts):
        cut.learn(piece)
    assert contents(tmp_path_factory, whole) == contents(tmp_path_factory, cut)


@given(streams, streams, st.sampled_from(["last", "averaged", "voted", "pocket"]))
def test_saved_and_loaded_is_uninterrupted(tmp_path_factory, first, second, hypothesis):
    path = tmp_path_factory.getbasetemp() / "between.nk"
    blocks = [table([row[:2] for row in part], [row[2] for row in part]) for part in (first, second)]
    straight, before = (StreamModel(Learner(hypothesis=hypothesis)) for _ in range(2))
    for block in blocks:
        straight.learn(block)
    before.learn(blocks[0])
    before.save(path)
    after = StreamModel.load(path)
    after.learn(blocks[1])
    assert contents(tmp_path_factory, after) == contents(tmp_path_factory, straight)


def contents(tmp_path_factory, model):
    path = tmp_path_factory.getbasetemp() / "model.nk"
    model.save(path)
    return path.read_bytes()


def test_svmlight_columns_may_grow():
    model = StreamModel(Learner())
    model.learn(sparse([[0, 1.0], [0, -1.0]], [1, -1]))
    model.learn(sparse([[0, 1.0, 5.0]], [1]))
    assert model.names == ["0", "1", "2"]
    assert model.predict(sparse([[0, 2.0, 0, 0, 9.0]], [1])).tolist() == [
        1.0
    ]  # feature 4 is new and counts for nothing
    assert model.rows_read == {"t.svm": 3}


def test_pausing_to_look():
    model = StreamModel(Learner())
    seen = list(model.learn_until(table(ROWS, LABELS), [1, 2, 4, 8]))
    assert seen == [1, 2, 4, 7]
    assert model.ledger.examples == 7


def test_heaviest_features_have_names():
    model = StreamModel(Learner(hypothesis="last"))
    for _ in range(3):
        model.learn(table([(1.0, "sun"), (1.0, "rain")], ["stay", "go"]))
    ((label, weights),) = model.heaviest(2)
    assert label == "stay"
    assert dict(weights)["sky=sun"] > 0.0 > dict(weights)["sky=rain"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (sparse([[1.0]], [1]), "a table with named columns"),
        (TableBlock("u.csv", np.array([2]), np.array(["a"], object), {"age": np.array([1.0])}), "no column 'sky'"),
        (table([("x", "sun")], ["a"], age=object), "holds words"),
    ],
)  # fmt: skip
def test_other_data_is_refused(block, message):
    model = StreamModel(Learner())
    model.learn(table(ROWS, LABELS))
    with pytest.raises(DataError, match=message):
        model.learn(block)


def test_files_of_another_kind(tmp_path):
    with pytest.raises(ModelFileError, match="learned nothing"):
        StreamModel(Learner()).save(tmp_path / "m.nk")
    model = StreamModel(Learner(rule=lambda margin, squared_norm: 1.0 if margin <= 0.0 else 0.0))
    model.learn(table(ROWS, LABELS))
    with pytest.raises(ModelFileError, match="no code"):
        model.save(tmp_path / "m.nk")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: root.tensors["encoding.moments"].__setitem__((0, 0), -1.0), "moments"),
        (lambda root: root.facts["encoding"].__setitem__("kind", "poem"), "poem"),
    ],
)
def test_an_unsound_encoding_is_refused(change, message):
    from novikoff.encoding import take_encoding

    root = Section("m.nk holds no sound model")
    part = root.open("encoding")
    encoding = TableEncoding(["age"], ["sky"])
    encoding.learn(table(ROWS))
    part.facts["kind"] = encoding.kind
    encoding.put(part)
    change(root)
    with pytest.raises(ModelFileError, match=message):
        take_encoding(root.part("encoding"))


def test_an_index_encoding_comes_back():
    part = Section("m.nk").open("encoding")
    IndexEncoding(7).put(part)
    assert IndexEncoding.take(part) == IndexEncoding(7)
