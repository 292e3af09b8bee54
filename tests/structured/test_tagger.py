"""SequenceTagger learns and predicts exactly as the perceptron over all chains."""

import copy
import itertools
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff._compiled.loops.viterbi import find_best_chain
from novikoff.errors import DataError
from novikoff.structured import attributes
from novikoff.structured.chain import neg_inf_of
from tests.reference import chains as reference

TEMPLATES = {
    "word[0]": (("word", 0),),
    "word[-1]+word[0]": (("word", -1), ("word", 0)),
    "suffix2[1]": (("suffix2", 1),),
    "lower[-2]": (("lower", -2),),
    "is_digit[0]+word[1]": (("is_digit", 0), ("word", 1)),
    "word[-3]+word[+3]": (("word", -3), ("word", 3)),
}

words = st.sampled_from(["The", "the", "dog", "dogs", "1", "22", "é", "a-b"])
tokens = st.tuples(words, st.sampled_from(["A", "B", "C"]))
corpora = st.lists(st.lists(tokens, max_size=4), min_size=1, max_size=7).filter(any)
some_templates = st.lists(st.sampled_from(sorted(TEMPLATES)), min_size=1, unique=True)


def split_corpus(corpus):
    return [[w for w, _ in s] for s in corpus], [[t for _, t in s] for s in corpus]


def weights_of(tagger, of="weights", pairs="pairs"):
    """Return the weights of a tagger by the names that tests/reference/chains.py gives them."""
    snapshot = tagger._require_snapshot()
    state, extractor = snapshot.state, snapshot.extractor
    rows, pair_weights = getattr(state, of), getattr(state, pairs)
    triples = getattr(state, pairs.replace("pair", "triple"))
    n_plain = len(extractor.templates) - extractor.n_transitions
    found = {}
    for row in range(state.n_rows):
        which, *numbers, before = state.origins[row].tolist()
        template = extractor.templates[which]
        values = [
            extractor._format_value(atom.attribute, number, extractor.words.texts)
            for atom, number in zip(template.atoms, numbers, strict=False)
        ]
        values = [True if value == "True" else value for value in values]
        for tag, weight in zip(tagger.tags_, rows[row].tolist(), strict=False):
            plain = (which, *values), tag
            found[plain if before < 0 else ("transition", (which - n_plain, *values), tagger.tags_[before], tag)] = (
                weight
            )
    for at in np.ndindex((0,) if triples is None else triples.shape):
        if at[-1] < len(tagger.tags_):
            found[tuple(tagger.tags_[k] for k in at)] = int(triples[at])
    for i, a in enumerate(tagger.tags_):
        for j, b in enumerate(tagger.tags_):
            found[a, b] = int(pair_weights[i, j])
    return {name: weight for name, weight in found.items() if weight}


def nonzero(w):
    return {name: weight for name, weight in w.items() if weight}


@given(corpora, some_templates, st.integers(1, 3))
def test_learning_equals_the_reference(corpus, templates, passes):
    """Features, the argmax over all chains, updates, R and the average are exactly those of the reference."""
    X, y = split_corpus(corpus)
    tagger = nk.SequenceTagger(templates, max_iter=passes, order="given").fit(X, y)
    shapes = [TEMPLATES[name] for name in templates]
    history, mistakes, tagset = reference.train(X, y, shapes, passes)
    assert tagger.tags_ == tagset
    assert weights_of(tagger) == nonzero(history[-1])
    ledger = tagger.ledger_
    assert (ledger.examples, ledger.mistakes) == (len(history), len(mistakes))
    assert ledger.radius == pytest.approx(max([reference.squared(delta) for delta in mistakes], default=0) ** 0.5)
    assert ledger.norm == pytest.approx(reference.squared(history[-1]) ** 0.5)
    moments = weights_of(tagger, "moments", "pair_moments")
    last = weights_of(tagger)
    mean = {name: last.get(name, 0) - moments.get(name, 0) / len(history) for name in {**last, **moments}}
    expected = reference.averaged(history)
    assert all(abs(mean.get(name, 0) - expected.get(name, 0)) < 1e-12 for name in {**mean, **expected})


@given(
    corpora, some_templates, st.sampled_from(["last", "averaged"]), st.lists(st.lists(words, max_size=4), max_size=3)
)
def test_viterbi_equals_enumeration(corpus, templates, hypothesis, more):
    X, y = split_corpus(corpus)
    tagger = nk.SequenceTagger(templates, max_iter=2, order="given", hypothesis=hypothesis).fit(X, y)
    shapes = [TEMPLATES[name] for name in templates]
    history, _, tagset = reference.train(X, y, shapes, 2)
    w = history[-1]
    if hypothesis == "averaged":  # the sum instead of the mean: integers, so ties are exact
        w = {name: sum(each.get(name, 0) for each in history) for each in history for name in each}
    assert tagger.predict(X + more) == [reference.best(w, x, tagset, shapes) for x in X + more]


@given(corpora)
def test_without_pairs_tags_are_independent(corpus):
    X, y = split_corpus(corpus)
    tagger = nk.SequenceTagger("U0:%x[0,0]\nU1:%x[-1,0]", max_iter=2, order="given").fit(X, y)
    history, _, _ = reference.train(X, y, [(("word", 0),), (("word", -1),)], 2, pairs=False)
    assert weights_of(tagger) == nonzero(history[-1])


@given(corpora, st.integers(0, 6))
def test_two_calls_of_partial_fit_equal_one(corpus, cut):
    X, y = split_corpus(corpus)
    whole = nk.SequenceTagger("pos").partial_fit(X, y)
    parts = nk.SequenceTagger("pos").partial_fit(X[:cut], y[:cut])
    if X[:cut] and any(X[:cut]):
        parts.predict([["never", "seen"], []])  # predicting in between changes nothing
    parts.partial_fit(X[cut:], y[cut:])
    assert weights_of(parts) == weights_of(whole)
    assert weights_of(parts, "moments", "pair_moments") == weights_of(whole, "moments", "pair_moments")
    assert parts.predict(X) == whole.predict(X)
    assert parts.ledger_.norm == whole.ledger_.norm


@given(corpora)
def test_structured_perceptron_learns_the_same_chains(corpus):
    X, y = split_corpus(corpus)
    shapes = [TEMPLATES["word[0]"], TEMPLATES["word[-1]+word[0]"]]
    tagset = list(dict.fromkeys(tag for own in y for tag in own))

    class Chains:
        def features(self, x, y):
            return reference.phi(x, y, shapes)

        def best(self, weights, x):
            return reference.best(weights, x, tagset, shapes)

    generic = nk.StructuredPerceptron(Chains(), max_iter=3, hypothesis="last").fit(X, y)
    tagger = nk.SequenceTagger(["word[0]", "word[-1]+word[0]"], max_iter=3, order="given").fit(X, y)
    assert nonzero(generic.weights_) == weights_of(tagger)
    assert generic.ledger_.mistakes == tagger.ledger_.mistakes
    assert generic.ledger_.radius == pytest.approx(tagger.ledger_.radius)


@given(corpora)
def test_mistake_bound(corpus):
    """Separable by construction, because every word has one tag: with weight 1 for each word and its tag, u has a
    margin of 1 for every wrong token, so gamma >= 1 / |u|."""
    X, _ = split_corpus(corpus)
    y = [["AB"[len(word) % 2] for word in x] for x in X]
    tagger = nk.SequenceTagger(["word[0]"], max_iter=50, order="given").fit(X, y)
    gamma = 1.0 / len({word for x in X for word in x}) ** 0.5
    ledger = tagger.ledger_
    assert ledger.mistakes <= (ledger.radius / gamma) ** 2
    assert ledger.mistakes == 0 or gamma <= ledger.margin_at_most
    assert ledger.mistakes_left is None
    assert nk.SequenceTagger(["word[0]"], max_iter=1000, hypothesis="last").fit(X, y).score(X, y) == 1.0


def test_fit_is_deterministic():
    rng = np.random.default_rng(0)
    X = [[f"w{k}" for k in rng.integers(0, 40, size=8)] for _ in range(60)]
    y = [[f"T{k}" for k in rng.integers(0, 4, size=8)] for _ in range(60)]
    first, again = (nk.SequenceTagger("pos", max_iter=3, random_state=5).fit(X, y) for _ in range(2))
    other = nk.SequenceTagger("pos", max_iter=3, random_state=6).fit(X, y)
    assert weights_of(first) == weights_of(again) != weights_of(other)
    assert first.fit(X, y).predict(X) == again.predict(X), "fit starts from zero weights"


def test_many_features_and_tags():
    """More features than the hash table has slots at first, and more sentences than one compiled call takes."""
    rng = np.random.default_rng(1)
    X = [[f"w{k}" for k in rng.integers(0, 9000, size=9)] for _ in range(5000)]
    y = [[f"T{int(word[1:]) % 40}" for word in x] for x in X]
    tagger = nk.SequenceTagger(["word[0]", "word[-1]+word[0]", "word[0]+word[1]"], max_iter=4).fit(X, y)
    assert tagger.score(X, y) > 0.99
    assert len(tagger.tags_) == 40
    assert tagger.ledger_.trace.norm[-1] == pytest.approx(tagger.ledger_.norm, rel=0.05)


@given(corpora, st.sampled_from([1, 2]))
def test_int64_scores_give_the_same_weights(corpus, markov_order):
    """Scores that may not fit into 32 bits are computed in 64."""
    X, y = split_corpus(corpus)
    narrow, wide = (nk.SequenceTagger("pos", max_iter=2, markov_order=markov_order) for _ in range(2))
    narrow.fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("novikoff.structured.chain._MAX_INT32_SCORE", 0)
        wide.fit(X, y)
        assert wide.predict(X) == narrow.predict(X)
    assert weights_of(wide) == weights_of(narrow)


def test_long_sentence():
    X = [[f"w{k % 97}" for k in range(4000)], ["w1", "w2"]]
    y = [["ABC"[k % 97 % 3] for k in range(4000)], ["B", "C"]]
    tagger = nk.SequenceTagger(["word[0]", "word[1]"], max_iter=9).fit(X, y)
    assert tagger.score(X, y) > 0.95


def test_hash_bits_bound_the_number_of_features():
    rng = np.random.default_rng(1)
    X = [[f"w{k}" for k in rng.integers(0, 500, size=9)] for _ in range(300)]
    y = [["AB"[int(word[1:]) % 2] for word in x] for x in X]
    tagger = nk.SequenceTagger("pos", hash_bits=6, max_iter=3).fit(X, y)
    assert tagger.n_features_ <= 64
    assert nk.SequenceTagger("pos", hash_bits=20, max_iter=3).fit(X, y).score(X, y) > 0.9
    assert tagger.known_words() is None
    assert tagger.heaviest(1)["A"][0][0].startswith("hash ")


def test_custom_columns_and_attributes():
    X = [[("the", "D", "x"), ("dogs", "N", "y")], [("dogs", "N", "x"), ("run", "V", "z")]]
    y = [["O", "S"], ["S", "O"]]
    tagger = nk.SequenceTagger(
        ["tag[0]", "lower(third)[-1]", "ends(tag)[0]", "ends[0]"],
        columns=["word", "tag", "third"],
        attributes={"ends": lambda text: text[-1] == "s"},
    ).fit(X, y)
    assert tagger.score(X, y) == 1.0
    assert tagger.columns_ == ("word", "tag", "third")
    assert "ends[0]=True" in [name for name, _ in tagger.heaviest()["S"]]


def test_names_of_features_and_transitions():
    tagger = nk.SequenceTagger(["word[-1]+word[0]", "word[+1]"], max_iter=3)
    tagger.fit([["a", "b"], ["b"]], [["X", "Y"], ["X"]])
    names = {name for found in tagger.heaviest().values() for name, _ in found}
    assert names <= {
        "word[-1]=_B-1 word[0]=a",
        "word[-1]=a word[0]=b",
        "word[-1]=_B-1 word[0]=b",
        "word[+1]=b",
        "word[+1]=_B+1",
    }
    assert set(tagger.transitions()) == {(a, b) for a in "XY" for b in "XY"}
    assert tagger.known_words() == {"a", "b"}
    assert "2 tags" in repr(tagger)
    assert "sentences" in repr(tagger.ledger_)


def test_tags_need_not_be_strings():
    tagger = nk.SequenceTagger(["word[0]"]).fit([["a", "b"]], [[1, ("x", 2)]])
    assert tagger.predict([["b", "a"]]) == [[("x", 2), 1]]


def test_empty_sentences():
    tagger = nk.SequenceTagger("pos").partial_fit([], []).partial_fit([["a"], []], [["X"], []])
    assert tagger.predict([]) == []
    assert tagger.predict([[], ["a"], []]) == [[], ["X"], []]
    assert tagger.predict([[]]) == [[]]
    assert tagger.ledger_.examples == 2


def test_unknown_words_are_forgotten(monkeypatch):
    """Words seen while tagging are stored up to a limit, and an id that is used again does not get the cached sums of
    the word before."""
    monkeypatch.setattr("novikoff.structured.tagging.MAX_UNKNOWN_WORDS", 4)
    monkeypatch.setattr("novikoff.structured.tagging._CHUNK", 2)
    X = [["the", "dog1"], ["a", "cat2"], ["the", "cats", "run3"]]
    y = [["D", "N"], ["D", "N"], ["D", "N", "V"]]
    tagger, fresh = (nk.SequenceTagger("pos", max_iter=5).fit(X, y) for _ in range(2))
    for k in range(40):
        sentence = [f"x{k % 7}", f"the{k}", f"{k}{k % 3}"]
        assert tagger.predict([sentence, X[k % 3]]) == [own for x in (sentence, X[k % 3]) for own in fresh.predict([x])]
        assert len(tagger._require_snapshot().extractor.words) < 7 + 4 + 10
        fresh = nk.SequenceTagger("pos", max_iter=5).fit(X, y)
    with pytest.raises(DataError):
        tagger.partial_fit([["new", 7]], [["N", "N"]])
    assert tagger.predict([["dog", "x9"]]) == fresh.predict([["dog", "x9"]])


def make_tagger():
    return nk.SequenceTagger("pos").fit([["a"]], [["X"]])


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: nk.SequenceTagger("pos").fit([["a", "b"]], [["X"]]), "Sentence 0 has 2 tokens, but 1 tags"),
        (lambda: nk.SequenceTagger("pos").fit([["a"]], [["X"], ["Y"]]), "1 sentences, but tags for 2"),
        (lambda: nk.SequenceTagger("pos").fit([[]], [[]]), "nothing to learn from"),
        (lambda: nk.SequenceTagger("pos").fit("a b", [["X"]]), "sentences is one string"),
        (lambda: nk.SequenceTagger("pos").fit(["a b"], [["X"]]), "Sentence 0 is 'a b', not a list of words"),
        (lambda: nk.SequenceTagger("pos").fit([["a"]], ["X"]), "tags of sentence 0 are 'X', not a list"),
        (lambda: nk.SequenceTagger("pos").fit([[1]], [["X"]]), "A token is 1, of type int"),
        (lambda: nk.SequenceTagger("pos").fit([["a", 1]], [["X", "Y"]]), "must be text; found 1, of type int"),
        (lambda: nk.SequenceTagger("pos").fit([["a", ["b"]]], [["X", "Y"]]), "must be text; found .* of type list"),
        (lambda: nk.SequenceTagger("pos").fit([[("a", "b"), "c"]], [["X", "Y"]]), "Token 1 of sentence 0 has 1 col"),
        (lambda: nk.SequenceTagger("pos").fit([[("a", "b"), 1]], [["X", "Y"]]), "some are not"),
        (lambda: nk.SequenceTagger("chunk").fit([["a"]], [["X"]]), "there is no 'pos' in .*Columns: word"),
        (lambda: nk.SequenceTagger("pos", columns=["word", "pos"]).fit([["a"]], [["X"]]), "but columns= names 2"),
        (lambda: nk.SequenceTagger("pos").predict([["a"]]), "has not learned yet"),
        (lambda: nk.SequenceTagger("pos").partial_fit([[]], [[]]).predict([["a"]]), "has seen no tag yet"),
        (lambda: nk.SequenceTagger("pos", markov_order=3), "markov_order must be an integer from 1 to 2; found 3"),
        (lambda: nk.SequenceTagger("pos", beam=0), "beam must be an integer from 1"),
        (lambda: make_tagger().k_best([["a"]], 0), "k must be an integer from 1"),
        (lambda: make_tagger().margins([["a"]], [[]]), "Sentence 0 has 1 tokens, but 0 tags"),
        (lambda: make_tagger().predict([[("a", "b")]]), "2 columns where 1 were expected"),
        (lambda: make_tagger().score([], []), "nothing to score"),
        (lambda: nk.SequenceTagger("pos").fit([["a"]], [[["X"]]]), "Tags must be text, or something else"),
        (lambda: nk.SequenceTagger("pos", max_iter=0), "max_iter must be an integer from 1 "),
        (lambda: nk.SequenceTagger("pos", hypothesis="voted"), "one of 'averaged', 'last'; found 'voted'"),
        (lambda: nk.SequenceTagger("pos", hash_bits=64), "hash_bits must be .* found 64"),
        (lambda: nk.SequenceTagger("f[0]", attributes={"f": len}).fit([["a"]], [["X"]]), "attribute 'f' of 'a' is 1"),
    ],
)
def test_error_messages(act, message):
    with pytest.raises(DataError, match=message):
        act()


def test_rejected_sentences_change_nothing():
    X, y = [["a", "b"], ["b"]], [["X", "Y"], ["X"]]
    tagger = nk.SequenceTagger("pos").fit(X, y)
    before, words_before = weights_of(tagger), list(tagger._require_snapshot().extractor.words.texts)
    for bad in ([["c", 1]], [["Z", "Z"]]), ([["c", "d"]], [["Z"]]):
        with pytest.raises(DataError):
            tagger.partial_fit(*bad)
        with pytest.raises(DataError):
            tagger.fit(*bad)
    assert weights_of(tagger) == before
    assert tagger._require_snapshot().extractor.words.texts == words_before
    assert tagger.tags_ == ["X", "Y"]


@given(n=st.integers(1, 4), n_tags=st.integers(1, 7), layers=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_best_chain_breaks_ties_from_the_end(n, n_tags, layers, seed):
    """Small integers, so that there are ties: then the chain whose last tag has the lowest number wins, and so on
    backwards."""
    rng = np.random.default_rng(seed)
    E, Q = (rng.integers(-2, 3, shape).astype(np.int32) for shape in ((n, 8), (n if layers else 1, n_tags, 8)))
    Q[:, :, n_tags:] = neg_inf_of(np.int32)
    scores, y = E.copy(), np.empty(n, np.int32)
    assert find_best_chain(E, Q, n, neg_inf_of(np.int32), np.empty((n, 8), np.int32), np.empty(1, np.int32), y)
    assert np.array_equal(E, scores)

    def score(chain):
        pairs = sum(int(Q[i if layers else 0, chain[i - 1], chain[i]]) for i in range(1, n))
        return sum(int(scores[i, tag]) for i, tag in enumerate(chain)) + pairs

    every = itertools.product(range(n_tags), repeat=n)
    assert tuple(y.tolist()) == min(every, key=lambda chain: (-score(chain), chain[::-1]))


def test_several_threads_predict():
    rng = np.random.default_rng(0)
    X = [[f"w{k}" for k in rng.integers(0, 50, 30)] for _ in range(200)]
    tagger = nk.SequenceTagger("pos", max_iter=2).fit(X, [["ABCDEFG"[int(w[1:]) % 7] for w in s] for s in X])
    parts = [X[k::4] for k in range(4)]
    right = [tagger.predict(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.predict, parts * 20)) == right * 20


def test_several_threads_predict_with_new_words(tmp_path):
    rng = np.random.default_rng(0)
    X = [[f"w{k}" for k in rng.integers(0, 50, 30)] for _ in range(100)]
    nk.SequenceTagger("pos", max_iter=2).fit(X, [["ABCDEFG"[int(w[1:]) % 7] for w in s] for s in X]).save(
        tmp_path / "m"
    )
    unknown = [[f"w{k}" for k in rng.integers(0, 20_000, 30)] for _ in range(1000)]
    right = nk.load(tmp_path / "m").predict(unknown)
    for _ in range(5):
        tagger = nk.load(tmp_path / "m")
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(tagger.predict, [unknown] * 6)) == [right] * 6


def test_several_threads_forget_words(monkeypatch):
    monkeypatch.setattr("novikoff.structured.tagging.MAX_UNKNOWN_WORDS", 500)
    rng = np.random.default_rng(0)
    X = [[f"w{k}" for k in rng.integers(0, 50, 30)] for _ in range(100)]
    tagger = nk.SequenceTagger("pos", max_iter=2).fit(X, [["ABCDEFG"[int(w[1:]) % 7] for w in s] for s in X])
    parts = [[[f"w{k}" for k in rng.integers(0, 2000, 30)] for _ in range(50)] for _ in range(8)]
    right = [tagger.predict(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.predict, parts * 10)) == right * 10


def test_interrupt_while_words_are_added():
    """After an interrupt between any two lines of Python, words and ids still agree in the next call."""
    X = [["a", "b"]]
    tagger = nk.SequenceTagger("pos", max_iter=2).fit(X, [["X", "Y"]])
    words = tagger._require_snapshot().extractor.words
    right = copy.deepcopy(tagger).predict([["c", "a", "d"]])
    interrupted = different = 0
    for line in range(40):
        steps = itertools.count()

        def interrupt(frame, event, arg, steps=steps, line=line):
            if event == "line" and next(steps) == line:
                raise KeyboardInterrupt
            return interrupt

        again = copy.deepcopy(words)
        tracer = sys.gettrace()
        sys.settrace(lambda frame, event, arg: interrupt if frame.f_code.co_name in ("encode", "append") else None)
        try:
            again.encode([["c", "a", "d"]], 3)
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(tracer)
        different += again._table.count != len(again.texts)
        assert [again.texts[number] for number in again.encode([["d", "c", "a", "e"]], 4)] == ["d", "c", "a", "e"]
        assert len(set(again.texts)) == len(again.texts) == 5
    assert 40 > interrupted > different > 0  # some interrupts came between the two changes
    assert tagger.predict([["c", "a", "d"]]) == right


def test_short_words_do_not_collide():
    """Hashes of words of up to eight bytes are distinct. These collided when the length of the word was hashed too."""
    X, y = [["bsm"], ["7b1j@h}E"], ["dQf"], ["4TpHuDY:"]], [["1"], ["2"], ["3"], ["4"]]
    assert nk.SequenceTagger(["word[0]"], max_iter=10).fit(X, y).predict(X) == y


def test_pickle():
    names = [name for name in attributes.NAMES if name != "…"]
    X, y = [["The", "dog-catcher", "ran", "12", "!"]], [["D", "N", "V", "M", "P"]]
    tagger = nk.SequenceTagger([f"{name}[0]" for name in names], max_iter=3).fit(X, y)
    again = pickle.loads(pickle.dumps(tagger))
    assert again.predict([*X, ["A", "cat", "sat"]]) == tagger.predict([*X, ["A", "cat", "sat"]])
    assert weights_of(again.partial_fit(X, y)) == weights_of(tagger.partial_fit(X, y))


def test_words_with_zero_bytes():
    X = [["a", "a\0", "a\0b", ""], [], ["\0"], [""], ["b"]]
    tags = [["1", "2", "3", "4"], [], ["5"], ["4"], ["6"]]
    tagger = nk.SequenceTagger(["word[0]", "lower[0]"], max_iter=20).fit(X[1:] + X[:1], tags[1:] + tags[:1])
    assert tagger._require_snapshot().extractor.words.texts == ["\0", "", "b", "a", "a\0", "a\0b"]
    assert tagger.predict([[], ["", "\0"], ["b", "a"]]) == [[], ["4", "5"], ["6", "1"]]


def test_sentence_with_a_wrong_length():
    class Short(list):
        def __iter__(self):
            return iter(["a"])

    tagger = nk.SequenceTagger("pos", max_iter=1).fit([["a", "b"]], [["X", "Y"]])
    with pytest.raises(DataError, match="lengths of sentences add up to 2, but their words to 1"):
        tagger.predict([Short(["a", "b"])])
