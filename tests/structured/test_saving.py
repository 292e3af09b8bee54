"""Taggers in model files: loading and continuing equals learning without interruption."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError, ModelFileError
from novikoff.model_files import read
from novikoff.model_files.container import pack
from novikoff.structured.sentence_files import FileColumns
from tests.structured.test_tagger import corpora, split_corpus


def assert_equal_states(one, other):
    assert one.n_rows == other.n_rows
    for name in ("keys", "origins", "weights", "moments"):
        np.testing.assert_array_equal(getattr(one, name)[: one.n_rows], getattr(other, name)[: one.n_rows])
    np.testing.assert_array_equal(one.pairs, other.pairs)
    np.testing.assert_array_equal(one.pair_moments, other.pair_moments)
    np.testing.assert_array_equal(one.triples, other.triples)
    np.testing.assert_array_equal(one.triple_moments, other.triple_moments)


OPTIONS = st.sampled_from([{}, {"hash_bits": 8}, {"markov_order": 2}, {"beam": 2, "markov_order": 2}, {"beam": 1}])


@given(corpora, st.integers(1, 6), st.sampled_from(["averaged", "last"]), OPTIONS)
def test_continuing_after_loading_equals_no_interruption(tmp_path_factory, corpus, cut, hypothesis, options):
    X, y = split_corpus(corpus)
    path = tmp_path_factory.mktemp("m") / "t.nk"
    templates = ["word[0]", "tag[-1]+word[0]", "word[-1]+suffix2[0]"]
    uninterrupted = nk.SequenceTagger(templates, hypothesis=hypothesis, **options).partial_fit(X[:cut], y[:cut])
    uninterrupted.save(path)
    loaded = nk.load(path)
    if uninterrupted.tags_:
        assert loaded.predict(X) == uninterrupted.predict(X)
    uninterrupted.partial_fit(X[cut:], y[cut:])
    loaded.partial_fit(X[cut:], y[cut:])
    assert_equal_states(loaded._require_snapshot().state, uninterrupted._require_snapshot().state)
    assert loaded.predict(X) == uninterrupted.predict(X)
    assert loaded.known_words() == uninterrupted.known_words()
    assert repr(loaded.ledger_) == repr(uninterrupted.ledger_)
    assert [point[:4] for point in loaded.ledger_.trace.points] == [
        point[:4] for point in uninterrupted.ledger_.trace.points
    ]
    loaded.save(path)
    first = path.read_bytes()
    uninterrupted.save(path)
    assert path.read_bytes() == first


@given(corpora, st.integers(1, 3), st.integers(1, 3), OPTIONS)
def test_continued_passes_equal_one_run(tmp_path_factory, corpus, first, more, options):
    X, y = split_corpus(corpus)
    path = tmp_path_factory.mktemp("m") / "t.nk"
    templates = ["word[0]", "word[-1]+suffix2[0]"]
    uninterrupted = nk.SequenceTagger(templates, max_iter=first + more, random_state=3, **options)
    uninterrupted_mistakes = list(uninterrupted.passes(X, y))
    part = nk.SequenceTagger(templates, max_iter=first, random_state=3, **options)
    mistakes = list(part.passes(X, y))
    part.save(path)
    loaded = nk.load(path)
    loaded.max_iter = more
    if mistakes[-1]:  # otherwise it had ended
        mistakes += loaded.passes(X, y, go_on=True)
    assert mistakes == uninterrupted_mistakes
    assert_equal_states(loaded._require_snapshot().state, uninterrupted._require_snapshot().state)


def train_tagger():
    return nk.SequenceTagger(["word[0]", "word[-1]+pos[0]"], max_iter=3).fit(
        [[("a", "N"), ("b", "V")], [("b", "N")]], [["X", "Y"], ["X"]]
    )


def test_load_restores_everything(tmp_path):
    tagger = train_tagger()
    tagger.files = FileColumns("columns", ("word", "pos", "tag"), "tag")
    tagger.save(tmp_path / "t.nk")
    loaded = nk.load(tmp_path / "t.nk")
    assert isinstance(loaded, nk.SequenceTagger)
    assert loaded.heaviest() == tagger.heaviest()
    assert loaded.transitions() == tagger.transitions()
    assert (loaded.columns_, loaded.max_iter, repr(loaded)) == (tagger.columns_, 3, repr(tagger))
    assert loaded.files == tagger.files
    assert loaded.fit([[("c", "N")]], [["Z"]]).tags_ == ["Z"]
    assert loaded.files is None


def test_custom_attributes_must_be_passed_to_load(tmp_path):
    tagger = nk.SequenceTagger("long[0]", attributes={"long": lambda word: len(word) > 2})
    tagger.fit([["abc", "d"]], [["X", "Y"]])
    tagger.save(tmp_path / "t.nk")
    with pytest.raises(DataError, match=r"attributes=\{'long': \.\.\.\}"):
        nk.load(tmp_path / "t.nk")
    loaded = nk.load(tmp_path / "t.nk", attributes={"long": lambda word: len(word) > 2})
    assert loaded.predict([["d", "abc"]]) == tagger.predict([["d", "abc"]])


def test_saving_before_learning_raises_an_error(tmp_path):
    with pytest.raises(DataError, match="not learned yet"):
        nk.SequenceTagger().save(tmp_path / "t.nk")


def change_tensor(name, change):
    def change_file(root):
        root.tensors[name] = change(root.tensors[name])

    return change_file


def change_fact(*path, value):
    def change_file(root):
        facts = root.facts
        for name in path[:-1]:
            facts = facts[name]
        facts[path[-1]] = value

    return change_file


@pytest.mark.parametrize(
    "change_file",
    [
        change_tensor("features.keys", lambda a: a[:-1]),
        change_tensor("features.keys", lambda a: a * np.uint64(0)),
        change_tensor("features.origins", lambda a: a + np.int8(100)),
        change_tensor("weights.tags", lambda a: a + np.uint8(9)),
        change_tensor("weights.sizes", lambda a: a + np.uint8(1)),
        change_tensor("weights.now", lambda a: a.astype(np.int64)),
        change_tensor("weights.moments", lambda a: a[1:]),
        change_tensor("pairs.now", lambda a: a[1:]),
        change_tensor("counts", lambda a: a - 1000),
        change_tensor("trace", lambda a: a * np.nan),
        change_tensor("words.known", lambda a: a[1:]),
        change_tensor("words.bytes", lambda a: a * 0 + 97),
        change_tensor("tags.bytes", lambda a: a * 0 + 97),
        change_fact("parameters", "templates", value=["nonsense[0]"]),
        change_fact("parameters", "templates", value=7),
        change_fact("parameters", "max_iter", value=-1),
        change_fact("columns", value=[]),
        change_fact("passes", value="many"),
        change_fact("files", value=7),
        change_fact("files", value={"format": "xml", "names": ["tag"], "tag": "tag"}),
        change_fact("files", value={"format": "columns", "names": ["word"], "tag": "tag"}),
        change_fact("files", value={"format": "columns", "names": [1, "tag"], "tag": "tag"}),
    ],
)
def test_loading_an_invalid_file_raises_an_error(tmp_path, change_file):
    path = tmp_path / "t.nk"
    train_tagger().save(path)
    kind, root = read(path)
    change_file(root)
    path.write_bytes(pack(kind, root))
    with pytest.raises(ModelFileError):
        nk.load(path)
