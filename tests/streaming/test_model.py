"""StreamModel: encodings against their definitions; results do not depend on how a stream is cut or interrupted."""

import copy
import math
import pickle
import random
import threading
import time
import weakref
from dataclasses import replace
from fractions import Fraction
from inspect import GEN_RUNNING, getgeneratorstate
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Learner
from novikoff.data.encoding import Features, IndexEncoding, TableEncoding, text_blocks
from novikoff.data.formats.block import CategoricalColumn, Reject, SparseBlock, TableBlock, TextColumn
from novikoff.data.formats.jsonlines import JsonLinesReader
from novikoff.data.formats.sources import Source
from novikoff.data.formats.text import LabelledTextReader
from novikoff.data.formats.vw import VwReader
from novikoff.errors import DataError, ModelFileError, RuleError
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section
from novikoff.streaming.model import StreamModel


def table(rows, labels=None, source="t.csv", **more):
    """Return a block of rows (age, sky, note): a number or NaN, a category or None, a text or None."""
    ages, skies, notes = zip(*rows, strict=True)
    columns = {
        "age": np.array(ages, float),
        "sky": CategoricalColumn.from_cells(skies),
        "note": TextColumn.from_cells(notes),
    }
    lines = np.arange(2, 2 + len(rows))
    return TableBlock(source, lines, None if labels is None else np.array(labels, object), columns, **more)


def numbers_only(*ages, labels=None):
    labels = None if labels is None else np.array(labels, object)
    return TableBlock("t.csv", np.arange(2, 2 + len(ages)), labels, {"age": np.array(ages)})


def sparse(X, labels, source="t.svm"):
    return SparseBlock(source, np.arange(1, len(labels) + 1), np.asarray(labels, float), sp.csr_array(X))


def pieces(block, cuts):
    """Cut a block into several."""
    edges = [0, *sorted({cut % (len(block) + 1) for cut in cuts}), len(block)]
    return [block[start:stop] for start, stop in pairwise(edges) if stop > start]


def matrix(rows):
    """Return rows, in one piece or several, as one dense matrix."""
    parts = [part.take(np.arange(len(part))) for part in ([rows] if isinstance(rows, Rows) else rows)]
    parts = [part.toarray() if sp.issparse(part) else part for part in parts]
    width = max(part.shape[1] for part in parts)
    return np.vstack([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def standardise_by_definition(values):
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


ROWS = [
    (3.0, "sun", "a b"),
    (math.nan, "rain", "b"),
    (5.0, None, None),
    (4.0, "sun", "b b a"),
    (9.0, "fog", ""),
    (math.nan, "sun", "c"),
    (1.0, "rain", "a b"),
]
LABELS = ["stay", "go", "go", "stay", "go", "stay", "go"]
WORDS_ALONE = Features(hats=False, ngrams=(1, 1), char_ngrams=(0, 0))

numbers = st.floats(-1e6, 1e6) | st.just(math.nan)
texts = st.none() | st.text("aB \xe9.", max_size=6)
streams = st.lists(
    st.tuples(numbers, st.sampled_from(["sun", "rain", "fog", None]), texts, st.sampled_from(["a", "b", "c"])),
    min_size=1,
    max_size=25,
)


def test_a_table_becomes_numbers():
    encoding = TableEncoding(WORDS_ALONE)
    X = matrix(encoding.learn(table(ROWS)))
    assert encoding.names == [
        "age",
        "sky=sun",
        "note:a",
        "note:b",
        "sky=rain",
        "age is missing",
        "sky=?",
        "sky=fog",
        "note:c",
    ]
    np.testing.assert_allclose(X[:, 0], standardise_by_definition([age for age, *_ in ROWS]), atol=1e-12)
    assert X[1].tolist() == [0.0, 0.0, 0.0, 4.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert X[2, 1:].tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    twice = 1.0 + math.log(2.0)  # as b is there
    np.testing.assert_allclose(X[3, 1:5], [1.0, *(4.0 * v / math.hypot(1.0, twice) for v in (1.0, twice)), 0.0])


@given(st.lists(numbers, min_size=1, max_size=30))
def test_running_standardisation(values):
    found = matrix(TableEncoding(Features(hats=False)).learn(numbers_only(*values)))[:, 0]
    for a, b in zip(found, standardise_by_definition(values), strict=True):
        assert math.isfinite(a)
        assert b is None or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)


def test_reading_does_not_change_the_encoding():
    encoding = TableEncoding(WORDS_ALONE)
    list(encoding.learn(table(ROWS)))
    before = encoding.names, encoding.moments.copy()
    X = matrix(encoding.encode(table([(100.0, "hail", "d"), (math.nan, "sun", "a d")])))
    assert encoding.names == before[0]
    assert (encoding.moments == before[1]).all()
    assert X[0, 1:].tolist() == [0.0] * 8  # hail and d are new and count for nothing
    assert X[1].tolist() == [0.0, 1.0, 4.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_numbers_that_are_not_scaled():
    [rows] = TableEncoding(Features(scale=False)).learn(numbers_only(3.0, 7.0))
    assert rows.data[:, 0].tolist() == [3.0, 7.0]


def test_rows_are_dense_as_long_as_all_columns_are_numbers():
    encoding = TableEncoding(Features(hats=False))
    dense, sparse_ones = encoding.learn(numbers_only(3.0, 7.0, math.nan, 4.0))
    assert (len(dense), dense.is_sparse, len(sparse_ones), sparse_ones.is_sparse) == (2, False, 2, True)
    assert encoding.encode(numbers_only(3.0)).is_sparse


def jsonl_block(rows, labels=None):
    return table(rows, labels, "t.jsonl", is_loose=True)


def test_columns_added_later():
    """In JSON lines a column exists from the first row that has it; rows before it do not count as missing."""
    encoding = TableEncoding(WORDS_ALONE)
    rows = [(math.nan, "sun", None), (3.0, None, None), (math.nan, "sun", "a"), (5.0, "rain", None)]
    X = matrix(encoding.learn(jsonl_block(rows)))
    assert encoding.names == ["sky=sun", "age", "sky=?", "age is missing", "note:a", "sky=rain"]
    assert (X[:, 1:].tolist()) == [[0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 4, 0], [1, 0, 0, 0, 1]]
    absent = TableBlock("t.jsonl", np.array([1]), None, {}, is_loose=True)
    assert matrix(encoding.encode(absent)).tolist() == [[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]]


def named(text):
    chunks = iter([text.encode(), b""])
    [block] = VwReader(Source("t.vw", lambda n: next(chunks)))
    return block


def test_names_beyond_the_hash_bits_share_features():
    model = StreamModel(Learner(), Features(hash_bits=2, scale=False))
    model.learn(named("1 | a b c d:2\n-1 | e f:3 g a\n"))
    assert model.n_features == 4
    assert [name.partition(",")[0] for name in model.names] == ["a", "b", "c", "d"]
    assert any(name.endswith("and others") for name in model.names)
    before = model.names
    rows = model.rows_of(named("1 | e f:3 g a\n-1 | h\n"))
    X = matrix(rows)
    assert len(rows.indices) == np.count_nonzero(X)  # no feature occurs twice in a row
    rows.require_numbers()
    assert rows.squared_norms.tolist() == (X**2).sum(axis=1).tolist()
    assert X[0].sum() == 6.0  # values that share a feature are added up
    assert X[1].sum() == 1.0  # also for names never seen
    assert model.names == before


@given(
    streams,
    st.lists(st.integers(0, 25), max_size=4),
    st.sampled_from(["last", "averaged", "voted", "pocket"]),
    st.sampled_from([table, jsonl_block]),
    st.sampled_from([2, 20]),
)
def test_results_do_not_depend_on_blocks(tmp_path_factory, stream, cuts, hypothesis, make, hash_bits):
    block = make([row[:3] for row in stream], [row[3] for row in stream])
    whole, cut = (StreamModel(Learner(hypothesis=hypothesis), Features(hash_bits=hash_bits)) for _ in range(2))
    whole.learn(block)
    for piece in pieces(block, cuts):
        cut.learn(piece)
    assert contents(tmp_path_factory, whole) == contents(tmp_path_factory, cut)


@given(streams, streams, st.sampled_from(["last", "averaged", "voted", "pocket"]))
def test_saved_and_loaded_equals_uninterrupted(tmp_path_factory, first, second, hypothesis):
    path = tmp_path_factory.getbasetemp() / "between.nk"
    blocks = [table([row[:3] for row in part], [row[3] for row in part]) for part in (first, second)]
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
    model = StreamModel(Learner(), Features(hats=False))
    model.learn(sparse([[0, 1.0], [0, -1.0]], [1, -1]))
    model.learn(sparse([[0, 1.0, 5.0]], [1]))
    assert model.names == ["0", "1", "2"]
    assert model.predict(sparse([[0, 2.0, 0, 0, 9.0]], [1])).tolist() == [
        1.0
    ]  # feature 4 is new and counts for nothing
    assert model.rows_read == {"t.svm": 3}


def test_learn_until_pauses():
    model = StreamModel(Learner())
    seen = list(model.learn_until(table(ROWS, LABELS), [1, 2, 4, 8]))
    assert seen == [1, 2, 4, 7]
    assert model.ledger.examples == 7


def test_heaviest_features_have_names():
    model = StreamModel(Learner(hypothesis="last"))
    for _ in range(3):
        model.learn(table([(1.0, "sun", None), (1.0, "rain", None)], ["stay", "go"]))
    ((label, weights),) = model.heaviest(2)
    assert label == "stay"
    assert dict(weights)["sky=sun"] > 0.0 > dict(weights)["sky=rain"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (sparse([[1.0]], [1]), "a table with named columns"),
        (TableBlock("u.csv", np.array([2]), np.array(["a"], object), {"age": np.array([1.0])}), "no column 'sky'"),
        (
            TableBlock(
                "u.csv",
                np.array([2]),
                np.array(["a"], object),
                {
                    "age": CategoricalColumn.from_cells(["x"]),
                    "sky": CategoricalColumn.from_cells(["x"]),
                    "note": TextColumn.from_cells(["x"]),
                },
            ),
            "'age' holds words",
        ),
    ],
)
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


def _names_put(root, sizes):
    """Replace the names of a vocabulary by others of these sizes, all of the same letter and without heads."""
    tensors = {
        "sizes": np.array(sizes, np.uint8),
        "names": np.full(sum(sizes), 97, np.uint8),
        "head_of": np.zeros(len(sizes), np.int32),
        "head_sizes": np.zeros(1, np.uint8),
        "heads": np.zeros(0, np.uint8),
    }
    root.tensors.update({f"encoding.vocabulary.{name}": tensor for name, tensor in tensors.items()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: root.tensors["encoding.moments"].__setitem__((0, 0), -1.0), "moments"),
        (lambda root: root.facts["encoding"].__setitem__("kind", "poem"), "poem"),
        (lambda root: root.facts["encoding"]["kinds"].__setitem__(0, "poem"), "no known kind"),
        (lambda root: root.facts["encoding"]["kinds"].pop(), "no kinds"),
        (lambda root: root.tensors["encoding.places"].__setitem__(0, 10**6), "outside"),
        (lambda root: root.tensors["encoding.ngrams"].__setitem__((0, 0), 9), "ngrams"),
        (lambda root: root.tensors["encoding.vocabulary.sizes"].__setitem__(0, 100), "shape"),
        (lambda root: root.tensors["encoding.vocabulary.head_sizes"].__setitem__(0, 100), "shape"),
        (lambda root: root.tensors["encoding.vocabulary.head_of"].__setitem__(0, 99), "outside"),
        (lambda root: root.tensors["encoding.vocabulary.head_of"].__setitem__(0, -1), "outside"),
        (lambda root: _names_put(root, [2, 3, 2]), "same name twice"),
        (lambda root: _names_put(root, [2, 134]), "too long"),
        (lambda root: root.facts["encoding"]["vocabulary"].__setitem__("share_key", "00" * 16), "before all are used"),
        (lambda root: root.facts["encoding"]["vocabulary"].__setitem__("share_key", "00"), "no key"),
        (lambda root: root.facts["encoding"]["vocabulary"].__setitem__("share_key", "x"), "hexadecimal"),
        (lambda root: root.facts["encoding"]["vocabulary"].__setitem__("hash_bits", 1), "more names than indices"),
        (lambda root: root.facts["encoding"]["vocabulary"].__setitem__("hash_bits", 99), "hash_bits"),
    ],
)
def test_an_invalid_encoding_is_refused(change, message):
    from novikoff.streaming.encodings import read_encoding

    root = Section("m.nk holds no valid model")
    part = root.add_part("encoding")
    encoding = TableEncoding(Features(hats=False))
    list(encoding.learn(table(ROWS)))
    part.facts["kind"] = encoding.kind
    encoding.write_to(part)
    change(root)
    with pytest.raises(ModelFileError, match=message):
        read_encoding(root.part("encoding"))


def test_an_index_encoding_is_loaded():
    part = Section("m.nk").add_part("encoding")
    IndexEncoding(7).write_to(part)
    assert IndexEncoding.read_from(part) == IndexEncoding(7)


@pytest.mark.parametrize("clone", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
def test_copies_go_on_as_the_original(clone):
    """Weights may be in a buffer that is larger than they are; a copy must not keep both."""
    rng = random.Random(0)
    lines = [
        f"{rng.choice([1, -1])} | {' '.join(f'n{rng.randrange(40 + 10 * k)}' for _ in range(8))}" for k in range(60)
    ]
    original, cloned = StreamModel(Learner()), StreamModel(Learner())
    for line in lines:
        original.learn(named(line + "\n"))
        cloned.learn(named(line + "\n"))
        cloned = clone(cloned)
    assert cloned.ledger.mistakes == original.ledger.mistakes
    np.testing.assert_array_equal(cloned.model.state.raw.coef, original.model.state.raw.coef)


def wide(n_numbers, sky, labels):
    columns = {f"x{j}": np.arange(len(labels)) * (j + 1.0) for j in range(n_numbers)}
    if sky is not None:
        columns["sky"] = CategoricalColumn.from_cells(sky)
    return TableBlock("w.csv", np.arange(len(labels)), np.array(labels, object), columns)


@pytest.mark.parametrize("n_numbers", [1, 2, 3, 5])
@pytest.mark.parametrize("sky", [None, ["sun", "rain", "sun", "fog"]])
def test_few_features_for_many_columns(tmp_path, n_numbers, sky):
    """Two features for all names: a name without its own shares one."""
    model = StreamModel(Learner(), Features(hats=False, hash_bits=1))
    for block in pieces(wide(n_numbers, sky, ["a", "b", "a", "b"]), [2]):
        model.learn(block)
    model.save(tmp_path / "m.nk")
    again = StreamModel.load(tmp_path / "m.nk")
    probe = wide(n_numbers, sky, ["a", "b", "a", "b"])
    assert again.model.scores(again.rows_of(probe)).tolist() == model.model.scores(model.rows_of(probe)).tolist()
    assert model.encoding.is_dense == (sky is None and n_numbers <= 2)


def test_a_refused_block_changes_nothing(tmp_path_factory):
    model = StreamModel(Learner())
    model.learn(jsonl_block(ROWS, LABELS))
    before = contents(tmp_path_factory, model)
    wrong_kind = {"age": CategoricalColumn.from_cells(["x"]), "new": np.array([1.0])}
    refused = [
        TableBlock("t.jsonl", np.array([1]), np.array(["go"], object), wrong_kind, is_loose=True),
        TableBlock("t.jsonl", np.array([1]), np.array([3.5], object), {"new": np.array([1.0])}, is_loose=True),
        sparse([[1.0]], [1]),
    ]
    for block in refused:
        with pytest.raises((DataError, TypeError)):
            model.learn(block)
        assert contents(tmp_path_factory, model) == before


def diverge(margin, squared_norm):
    return 1e200 if margin < -3 else 1.0 if margin <= 0 else 0.0


@pytest.mark.parametrize("n_interrupts", [1, 3])
def test_a_refused_block_that_was_interrupted_changes_nothing(monkeypatch, n_interrupts):
    model = StreamModel(Learner(diverge))
    model.learn(numbers_only(1.0, -1.0, labels=["p", "q"]))
    known, rows_read = model.labels, dict(model.rows_read)
    refused = numbers_only(*np.arange(200.0), labels=["q", "p"] * 100)
    with pytest.raises(RuleError):
        model.learn(refused)
    with monkeypatch.context() as patch:

        def interrupt(*arguments):
            raise KeyboardInterrupt

        patch.setattr(model.model, "learn_encoded", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.learn(refused)
        for _ in range(1, n_interrupts):  # also while it recovers
            with pytest.raises(KeyboardInterrupt):
                model.predict(refused)
    assert model.predict(numbers_only(5.0, -5.0)).tolist() == ["p", "q"]
    assert (model.labels, model.rows_read, model.ledger.examples) == (known, rows_read, 2)
    assert copy.deepcopy(model).heaviest() == model.heaviest()
    model.learn(numbers_only(2.0, labels=["p"]))
    assert model.ledger.examples == 3


def test_columns_of_texts_that_the_model_does_not_know():
    model = StreamModel(Learner(), Features(hats=False))
    model.learn(numbers_only(1.0, 2.0, labels=["a", "b"]))
    more = numbers_only(1.0, 2.0, labels=["a", "b"])
    more.columns["note"] = TextColumn.from_cells(["some text", "other text"])
    model.learn(more)
    assert model.names == ["age"]
    assert not model.rows_of(more).is_sparse


def test_much_text_is_read_in_parts(monkeypatch):
    model = StreamModel(Learner())
    block = table(ROWS, LABELS)
    model.learn(block)
    whole = matrix(model.rows_of(block))
    monkeypatch.setattr(text_blocks, "_MAX_TEXT", 2)
    np.testing.assert_array_equal(matrix(model.rows_of(block)), whole)


def test_texts_prepared_ahead_give_equal_results(tmp_path, monkeypatch):
    """Also if a later table has text columns that the model does not know, and if the blocks are cut by the caller."""
    monkeypatch.setattr(text_blocks, "_MAX_TEXT", 40)
    rng = random.Random(3)
    rows = [
        (rng.random(), rng.choice("ab"), " ".join(rng.choices(["call", "now", "see", "you"], k=6))) for _ in range(40)
    ]
    labels = [rng.choice(["ham", "spam"]) for _ in rows]
    first = replace(table(rows[:20], labels[:20]), rejects=[Reject(3, "wrong", b"x")])
    second = table(rows[20:], labels[20:])
    second.columns["more"] = TextColumn.from_cells(["unknown words"] * 20)
    ways = [
        lambda model, blocks: blocks,
        lambda model, blocks: model.ahead_of(blocks),
        lambda model, blocks: (half for block in model.ahead_of(blocks) for half in (block[:1], block.after(1))),
    ]
    kept, rejects = [], []
    for way in ways:
        model = StreamModel(Learner())
        for block in way(model, [first, second]):
            rejects += block.rejects
            if len(block):
                model.learn(block)
        model.save(tmp_path / "m.nk")
        kept.append((tmp_path / "m.nk").read_bytes())
    assert kept[0] == kept[1] == kept[2]
    assert len(rejects) == 3


@pytest.mark.parametrize("is_steady", [False, True])
def test_a_reader_can_be_closed_while_a_thread_reads_ahead(is_steady):
    """The thread that prepares texts waits for the next block; the error of the loop over the blocks is raised."""
    chunks, asked, more = iter([b"ham\tsee you\n", b""]), threading.Event(), threading.Event()

    def read(n):
        chunk = next(chunks)
        if not chunk:
            asked.set()
            assert more.wait(10)
        return chunk

    def fail_in_the_middle():
        with LabelledTextReader(Source("slow", read, is_steady=is_steady)) as reader:
            for _ in StreamModel(Learner()).ahead_of(reader):
                assert asked.wait(10)
                while getgeneratorstate(reader._running()) != GEN_RUNNING:  # until the thread is in it
                    time.sleep(0.01)
                raise KeyError

    with pytest.raises(KeyError):
        fail_in_the_middle()
    more.set()


def test_ngrams_of_another_model_are_not_used():
    block = table([(1.0, "a", "call now"), (2.0, "b", "see you")], ["x", "y"])
    few = Features(ngrams=(1, 1), char_ngrams=(0, 0))
    alone, fed = StreamModel(Learner(), few), StreamModel(Learner(), few)
    alone.learn(block)
    for part in StreamModel(Learner()).ahead_of([block]):
        fed.learn(part)
    assert fed.names == alone.names


def test_columns_of_unequal_length_are_refused():
    block = numbers_only(*range(9), labels=["a", "b", "a"] * 3)
    block.columns["age"] = block.columns["age"][:4]
    with pytest.raises(ValueError, match=r"Columns of \[4\] numbers do not make 9 rows"):
        StreamModel(Learner()).learn(block)


def test_text_columns_of_json_lines_keep_their_order(tmp_path_factory):
    """The columns of a block have the order of its first row, which differs from block to block."""
    lines = [b'{"u": "call now", "t": "see you", "y": 1}\n', b'{"t": "see now", "u": "you all", "y": 0}\n'] * 2
    kept = set()
    for size in (1, 2, 4):
        chunks = iter([*(b"".join(lines[at : at + size]) for at in range(0, 4, size)), b""])
        model = StreamModel(Learner())
        source = Source("t.jsonl", lambda n, chunks=chunks: next(chunks), is_steady=False)
        for block in JsonLinesReader(source, target="y", types={"t": "text", "u": "text"}):
            model.learn(block)
        model.rows_read, model.rows_of_run = {}, {}
        kept.add(contents(tmp_path_factory, model))
    assert len(kept) == 1


def test_reading_ahead_does_not_change_other_blocks():
    for blocks in ([sparse(np.eye(2), [0, 1])], [numbers_only(1.0, 2.0, labels=["a", "b"])] * 3, []):
        assert list(StreamModel(Learner()).ahead_of(blocks)) == blocks
    model = StreamModel(Learner())
    model.learn(table([(1.0, "sun", "x")], ["a"]))
    _, block = model.ahead_of([table([(2.0, "sun", "y")], ["b"]), sparse(np.eye(2), [0, 1])])
    with pytest.raises(DataError, match="something else"):
        model.learn(block)


@pytest.mark.parametrize(
    "block",
    [
        lambda k: numbers_only(1.0, float(k), labels=["a", "b"]),
        lambda k: table([(1.0, "sun", f"call now {k}")], ["a"]),
        lambda k: sparse(np.eye(2), [0, k % 2]),
    ],
)
def test_no_block_stays_in_memory(block):
    """Not even the first, which decides the encoding. While a block is being read, the two before it may be in memory:
    the thread that prepares texts has one, and the loop over the blocks has the other."""
    made = []

    def blocks():
        for k in range(6):
            found = block(k)
            made.append(weakref.ref(found))
            yield found
            del found
            assert [each() for each in made[:-2]] == [None] * (k - 1)

    for _ in StreamModel(Learner()).ahead_of(blocks()):
        pass
    assert len(made) == 6


def test_categories_after_a_first_block_without_rows():
    """The first block decides the types of the columns, and has no cells."""
    block = TableBlock(
        "t.csv", np.arange(2), np.array([0.0, 1.0]), {"sky": CategoricalColumn.from_cells(["sun", "rain"])}
    )
    model = StreamModel(Learner())
    model.learn(block[:0])
    model.learn(block)
    assert model.names == ["sky=sun", "sky=rain"]


def test_an_empty_category_is_missing():
    encoding = TableEncoding(Features(hats=False))
    block = TableBlock("t.parquet", np.arange(3), None, {"sky": CategoricalColumn.from_cells(["", None, "sun"])})
    assert matrix(encoding.learn(block)).tolist() == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    assert encoding.names == ["sky=?", "sky=sun"]
