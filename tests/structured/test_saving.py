"""Taggers in files: what was saved, loaded and continued is what was never interrupted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError, ModelFileError
from novikoff.model_files import read
from novikoff.model_files.container import pack
from novikoff.structured.sentence_files import FileColumns
from tests.structured.test_tagger import corpora, parted


def assert_same(one, other):
    assert one.n_rows == other.n_rows
    for name in ("keys", "origins", "weights", "moments"):
        np.testing.assert_array_equal(getattr(one, name)[: one.n_rows], getattr(other, name)[: one.n_rows])
    np.testing.assert_array_equal(one.pairs, other.pairs)
    np.testing.assert_array_equal(one.pair_moments, other.pair_moments)
    np.testing.assert_array_equal(one.triples, other.triples)
    np.testing.assert_array_equal(one.triple_moments, other.triple_moments)


OPTIONS = st.sampled_from([{}, {"hash_bits": 8}, {"markov_order": 2}, {"beam": 2, "markov_order": 2}, {"beam": 1}])


@given(corpora, st.integers(1, 6), st.sampled_from(["averaged", "last"]), OPTIONS)
def test_saved_loaded_and_continued_is_uninterrupted(tmp_path_factory, corpus, cut, hypothesis, options):
    X, y = parted(corpus)
    path = tmp_path_factory.mktemp("m") / "t.nk"
    templates = ["word[0]", "tag[-1]+word[0]", "word[-1]+suffix2[0]"]
    whole = nk.SequenceTagger(templates, hypothesis=hypothesis, **options).partial_fit(X[:cut], y[:cut])
    whole.save(path)
    again = nk.load(path)
    if whole.tags_:
        assert again.predict(X) == whole.predict(X)
    whole.partial_fit(X[cut:], y[cut:])
    again.partial_fit(X[cut:], y[cut:])
    assert_same(again._known().chain, whole._known().chain)
    assert again.predict(X) == whole.predict(X)
    assert again.known_words() == whole.known_words()
    assert repr(again.ledger_) == repr(whole.ledger_)
    assert [point[:4] for point in again.ledger_.trace.points] == [point[:4] for point in whole.ledger_.trace.points]
    again.save(path)
    first = path.read_bytes()
    whole.save(path)
    assert path.read_bytes() == first


@given(corpora, st.integers(1, 3), st.integers(1, 3), OPTIONS)
def test_passes_that_go_on_are_those_of_one_run(tmp_path_factory, corpus, first, more, options):
    X, y = parted(corpus)
    path = tmp_path_factory.mktemp("m") / "t.nk"
    templates = ["word[0]", "word[-1]+suffix2[0]"]
    whole = nk.SequenceTagger(templates, max_iter=first + more, random_state=3, **options)
    whole_mistakes = list(whole.passes(X, y))
    part = nk.SequenceTagger(templates, max_iter=first, random_state=3, **options)
    mistakes = list(part.passes(X, y))
    part.save(path)
    again = nk.load(path)
    again.max_iter = more
    if mistakes[-1]:  # otherwise it had ended
        mistakes += again.passes(X, y, go_on=True)
    assert mistakes == whole_mistakes
    assert_same(again._known().chain, whole._known().chain)


def trained():
    return nk.SequenceTagger(["word[0]", "word[-1]+pos[0]"], max_iter=3).fit(
        [[("a", "N"), ("b", "V")], [("b", "N")]], [["X", "Y"], ["X"]]
    )


def test_everything_comes_back(tmp_path):
    tagger = trained()
    tagger.files = FileColumns("columns", ("word", "pos", "tag"), "tag")
    tagger.save(tmp_path / "t.nk")
    again = nk.load(tmp_path / "t.nk")
    assert isinstance(again, nk.SequenceTagger)
    assert again.heaviest() == tagger.heaviest()
    assert again.transitions() == tagger.transitions()
    assert (again.columns_, again.max_iter, repr(again)) == (tagger.columns_, 3, repr(tagger))
    assert again.files == tagger.files
    assert again.fit([[("c", "N")]], [["Z"]]).tags_ == ["Z"]
    assert again.files is None


def test_functions_are_given_again(tmp_path):
    tagger = nk.SequenceTagger("long[0]", attributes={"long": lambda word: len(word) > 2})
    tagger.fit([["abc", "d"]], [["X", "Y"]])
    tagger.save(tmp_path / "t.nk")
    with pytest.raises(DataError, match=r"attributes=\{'long': \.\.\.\}"):
        nk.load(tmp_path / "t.nk")
    again = nk.load(tmp_path / "t.nk", attributes={"long": lambda word: len(word) > 2})
    assert again.predict([["d", "abc"]]) == tagger.predict([["d", "abc"]])


def test_what_has_learned_nothing_cannot_be_saved(tmp_path):
    with pytest.raises(DataError, match="not learned yet"):
        nk.SequenceTagger().save(tmp_path / "t.nk")


def spoil_tensor(name, change):
    def spoil(root):
        root.tensors[name] = change(root.tensors[name])

    return spoil


def spoil_fact(*path, value):
    def spoil(root):
        facts = root.facts
        for name in path[:-1]:
            facts = facts[name]
        facts[path[-1]] = value

    return spoil


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_tensor("features.keys", lambda a: a[:-1]),
        spoil_tensor("features.keys", lambda a: a * np.uint64(0)),
        spoil_tensor("features.origins", lambda a: a + np.int8(100)),
        spoil_tensor("weights.tags", lambda a: a + np.uint8(9)),
        spoil_tensor("weights.sizes", lambda a: a + np.uint8(1)),
        spoil_tensor("weights.now", lambda a: a.astype(np.int64)),
        spoil_tensor("weights.moments", lambda a: a[1:]),
        spoil_tensor("pairs.now", lambda a: a[1:]),
        spoil_tensor("counts", lambda a: a - 1000),
        spoil_tensor("trace", lambda a: a * np.nan),
        spoil_tensor("words.known", lambda a: a[1:]),
        spoil_tensor("words.bytes", lambda a: a * 0 + 97),
        spoil_tensor("tags.bytes", lambda a: a * 0 + 97),
        spoil_fact("parameters", "templates", value=["nonsense[0]"]),
        spoil_fact("parameters", "templates", value=7),
        spoil_fact("parameters", "max_iter", value=-1),
        spoil_fact("columns", value=[]),
        spoil_fact("passes", value="many"),
        spoil_fact("files", value=7),
        spoil_fact("files", value={"format": "xml", "names": ["tag"], "tag": "tag"}),
        spoil_fact("files", value={"format": "columns", "names": ["word"], "tag": "tag"}),
        spoil_fact("files", value={"format": "columns", "names": [1, "tag"], "tag": "tag"}),
    ],
)
def test_a_spoilt_file_is_refused(tmp_path, spoil):
    path = tmp_path / "t.nk"
    trained().save(path)
    kind, root = read(path)
    spoil(root)
    path.write_bytes(pack(kind, root))
    with pytest.raises(ModelFileError):
        nk.load(path)
