"""Search equals enumeration of all chains, for every order, beam and constraint."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError
from novikoff.structured.constraints import SCHEMES, build_constraints
from tests.reference import chains as reference
from tests.structured.test_sentence_files import encode_spans
from tests.structured.test_tagger import TEMPLATES, corpora, nonzero, some_templates, split_corpus, weights_of, words

sentences = st.lists(st.lists(words, max_size=4), max_size=3)
hypotheses = st.sampled_from(["last", "averaged"])
TRANSITIONS = {
    "tag[-1]+word[0]": (("word", 0),),
    "tag[-1]+lower[-2]": (("lower", -2),),
    "suffix2[1]+tag[-1]+word[0]": (("suffix2", 1), ("word", 0)),
}
some_transitions = st.lists(st.sampled_from(sorted(TRANSITIONS)), unique=True)


def sum_weights(history):
    """Return the mean times the number of weight vectors: integers, so that ties are exact."""
    return {name: sum(w.get(name, 0) for w in history) for name in {name for w in history for name in w}}


def predicting_weights(history, hypothesis):
    return history[-1] if hypothesis == "last" else sum_weights(history)


def assert_learned(tagger, history, mistakes):
    """Assert that a tagger has the weights, the average and the ledger of the reference."""
    assert weights_of(tagger) == nonzero(history[-1])
    moments, last, n = weights_of(tagger, "moments", "pair_moments"), weights_of(tagger), len(history)
    means = {name: n * last.get(name, 0) - moments.get(name, 0) for name in {**last, **moments}}
    assert nonzero(means) == nonzero(sum_weights(history))
    ledger = tagger.ledger_
    assert (ledger.examples, ledger.mistakes) == (n, len(mistakes))
    assert ledger.radius == pytest.approx(max([reference.squared(delta) for delta in mistakes], default=0) ** 0.5)
    assert ledger.norm == pytest.approx(reference.squared(history[-1]) ** 0.5)


@given(corpora, some_templates, some_transitions, st.sampled_from([1, 2]), hypotheses, sentences)
def test_exact_search_equals_the_reference(corpus, templates, transitions, order, hypothesis, more):
    """Weights, average and predictions of either order, with transition features, equal those by enumeration."""
    X, y = split_corpus(corpus)
    shapes, kinds = (
        [TEMPLATES[t] for t in templates],
        {"transitions": [TRANSITIONS[t] for t in transitions], "triples": order == 2},
    )
    tagger = nk.SequenceTagger(
        [*templates, *transitions], max_iter=2, order="given", markov_order=order, hypothesis=hypothesis
    ).fit(X, y)
    history, mistakes, tagset = reference.train(X, y, shapes, 2, **kinds)
    assert_learned(tagger, history, mistakes)
    w = predicting_weights(history, hypothesis)
    assert tagger.predict(X + more) == [reference.best(w, x, tagset, shapes, **kinds) for x in X + more]


@given(corpora, some_templates, some_transitions, st.sampled_from([1, 2]), st.integers(1, 10), sentences)
def test_beam_search_equals_the_reference(corpus, templates, transitions, order, width, more):
    X, y = split_corpus(corpus)
    shapes, kinds = (
        [TEMPLATES[t] for t in templates],
        {"transitions": [TRANSITIONS[t] for t in transitions], "triples": order == 2},
    )
    tagger = nk.SequenceTagger(
        [*templates, *transitions], max_iter=2, order="given", markov_order=order, beam=width, hypothesis="last"
    ).fit(X, y)
    history, mistakes, tagset = reference.train(X, y, shapes, 2, width=width, **kinds)
    assert_learned(tagger, history, mistakes)
    found = [reference.beam(history[-1], x, tagset, shapes, width, **kinds) for x in X + more]
    assert tagger.predict(X + more) == found
    if width >= len(tagset) ** order:  # then beam search is exact
        assert found == [reference.best(history[-1], x, tagset, shapes, **kinds) for x in X + more]


@given(corpora, some_transitions, st.sampled_from([1, 2]), st.integers(1, 6), hypotheses, sentences)
def test_k_best_equals_the_reference(corpus, transitions, order, k, hypothesis, more):
    X, y = split_corpus(corpus)
    shapes, kinds = (
        [TEMPLATES["word[0]"]],
        {"transitions": [TRANSITIONS[t] for t in transitions], "triples": order == 2},
    )
    tagger = nk.SequenceTagger(
        ["word[0]", *transitions], max_iter=2, order="given", markov_order=order, hypothesis=hypothesis
    ).fit(X, y)
    history, _, tagset = reference.train(X, y, shapes, 2, **kinds)
    w, scale = predicting_weights(history, hypothesis), 1 if hypothesis == "last" else len(history)
    for x, found in zip(X + more, tagger.k_best(X + more, k), strict=True):
        every = reference.every_chain(w, x, tagset, shapes, **kinds)
        assert [each.tags for each in found] == [chain for chain, _ in every[:k]]
        assert [each.score for each in found] == [score / scale for _, score in every[:k]]


@given(
    corpora,
    st.sampled_from([1, 2]),
    hypotheses,
    st.lists(st.lists(st.sampled_from("ABCD"), min_size=4, max_size=4), min_size=7, max_size=7),
)
def test_margins_equal_the_reference(corpus, order, hypothesis, other):
    X, y = split_corpus(corpus)
    shapes, kinds = [TEMPLATES["word[0]"]], {"triples": order == 2}
    tagger = nk.SequenceTagger(["word[0]"], max_iter=2, order="given", markov_order=order, hypothesis=hypothesis)
    tagger.fit(X, y)
    history, _, tagset = reference.train(X, y, shapes, 2, **kinds)
    w, scale = predicting_weights(history, hypothesis), 1 if hypothesis == "last" else len(history)
    true = [tags[: len(x)] for tags, x in zip(other, X, strict=False)]
    for x, tags, lead, margin in zip(X, true, tagger.margins(X), tagger.margins(X, true), strict=True):
        every = reference.every_chain(w, x, tagset, shapes, **kinds)
        assert lead == pytest.approx((every[0][1] - every[1][1]) / scale if len(every) > 1 else np.inf)
        right = [score for chain, score in every if chain == tags]
        others = [score for chain, score in every if chain != tags]
        expected = (right[0] - max(others)) / scale if right and others else np.inf if right else np.nan
        assert margin == pytest.approx(expected, nan_ok=True)


@given(corpora)
def test_bigram_templates_of_crfpp(corpus):
    X, y = split_corpus(corpus)
    theirs = nk.SequenceTagger("U0:%x[0,0]\nB1:%x[0,0]/%x[-1,0]\nB", max_iter=2, order="given").fit(X, y)
    ours = nk.SequenceTagger(["word[0]", "tag[-1]+word[0]+word[-1]"], max_iter=2, order="given").fit(X, y)
    assert weights_of(theirs) == weights_of(ours)
    alone = nk.SequenceTagger("U0:%x[0,0]\nB1:%x[0,0]", max_iter=2, order="given").fit(X, y)
    history, mistakes, _ = reference.train(
        X, y, [TEMPLATES["word[0]"]], 2, pairs=False, transitions=[TEMPLATES["word[0]"]]
    )
    assert_learned(alone, history, mistakes)


# -- constraints


def is_valid(scheme, tags):
    return _is_valid(scheme, tuple(tags))


@cache
def _is_valid(scheme, tags):
    """Return whether a chain is the encoding of some list of spans in the scheme, by trying all lists."""

    def span_lists(at):
        if at == len(tags):
            yield []
            return
        if tags[at] == "O":
            yield from span_lists(at + 1)
        else:
            kind = tags[at][2:]
            for end in range(at + 1, len(tags) + 1):
                yield from ([(kind, at, end), *rest] for rest in span_lists(end))

    names = {"bio": ["BIO"], "iob1": ["IOB1"], "ioe1": ["IOE1"], "ioe2": ["IOE2"], "bilou": ["BILOU", "IOBES"]}[scheme]
    return any(encode_spans(spans, len(tags), name) == list(tags) for spans in span_lists(0) for name in names)


@given(st.sampled_from(SCHEMES), st.data())
def test_constraints_of_schemes(scheme, data):
    """A chain is allowed if and only if it is the encoding of its spans in the scheme."""
    letters = {"bio": ["BI"], "iob1": ["BI"], "ioe1": ["IE"], "ioe2": ["IE"], "bilou": ["BILU", "BIES"]}[scheme]
    tagset = ["O", *(f"{letter}-{kind}" for letter in data.draw(st.sampled_from(letters)) for kind in "XY")]
    tags = data.draw(st.lists(st.sampled_from(tagset), min_size=1, max_size=6))
    codes = np.array([tagset.index(tag) for tag in tags])
    violation = build_constraints(scheme, tagset).first_violation(np.array([0, len(tags)]), codes)
    assert (violation is None) == is_valid(scheme, tags)


@settings(max_examples=40)  # each enumerates a thousand chains
@given(corpora, st.sampled_from([1, 2]), st.sampled_from([None, 2, 50]), hypotheses, sentences)
def test_predicted_chains_are_allowed(corpus, order, beam, hypothesis, more):
    X, _ = split_corpus(corpus)
    y = [[("O", "B-N", "I-N", "B-V")[len(word) % 4] for word in x] for x in X]
    y = [own if is_valid("bio", own) else ["B-N"] * len(own) for own in y]
    tagger = nk.SequenceTagger(
        ["word[0]"], max_iter=2, order="given", markov_order=order, constraints="bio", beam=beam, hypothesis=hypothesis
    ).fit(X, y)
    found = tagger.predict(X + more)
    if beam is None:
        kinds = {"triples": order == 2, "allowed": lambda tags: is_valid("bio", tags)}
        history, mistakes, tagset = reference.train(X, y, [TEMPLATES["word[0]"]], 2, **kinds)
        assert_learned(tagger, history, mistakes)
        every = [
            reference.every_chain(predicting_weights(history, hypothesis), x, tagset, [TEMPLATES["word[0]"]], **kinds)
            for x in X + more
        ]
        assert found == [chains[0][0] for chains in every]
        lists = [[each.tags for each in own] for own in tagger.k_best(X + more, 3)]
        assert lists == [[chain for chain, _ in own[:3]] for own in every]
    assert all(is_valid("bio", own) for own in found)


def test_without_an_allowed_chain_all_are_considered():
    tagger = nk.SequenceTagger(["word[0]"], constraints="bilou").fit([["a", "b"]], [["B-X", "L-X"]])
    assert tagger.predict([["a"], ["a", "b"]]) == [["B-X"], ["B-X", "L-X"]]
    assert [each.tags for each in tagger.k_best([["b"]], 9)[0]] == [["B-X"], ["L-X"]], "both, and equal"
    assert len(tagger.k_best([["a", "b"]], 9)[0]) == 1


@pytest.mark.parametrize(
    ("constraints", "tags", "message"),
    [
        ("bio", ["O", "I-X"], "Token 1 of sentence 1 has the tag 'I-X', which the scheme 'bio' does not allow there"),
        ("bio", ["B-X", "E-X"], "The tag 'E-X' is not of the scheme 'bio', whose tags are O, B-..., I-..."),
        ("bio", ["B-X", 7], "The tag 7 is not of the scheme"),
        ("bilou", ["B-X", "I-X"], "Token 1 of sentence 1 has the tag 'I-X'"),
        ("xyz", ["O", "O"], "constraints must be one of 'bio', 'iob1'"),
    ],
)
def test_forbidden_tags_raise_an_error(constraints, tags, message):
    with pytest.raises(DataError, match=message.replace(".", r"\.")):
        nk.SequenceTagger("pos", constraints=constraints).fit([["c"], ["a", "b"]], [["O"], tags])


# -- the theorem


@given(corpora, st.sampled_from([1, 2]), st.sampled_from([None, 1, 3]), st.booleans())
def test_mistake_bound_for_every_search(corpus, order, beam, constrained):
    """Separable by construction, because every word has one tag: with weight 1 for each word and its tag, u prefers the
    right chain, and every right prefix, by 1 for each wrong tag, so gamma >= 1 / |u|."""
    X, _ = split_corpus(corpus)
    y = [[("O", "B-X", "B-Y")[len(word) % 3] for word in x] for x in X]
    tagger = nk.SequenceTagger(
        ["word[0]"],
        max_iter=60,
        order="given",
        markov_order=order,
        beam=beam,
        constraints="bio" if constrained else None,
        hypothesis="last",
    ).fit(X, y)
    gamma, ledger = 1.0 / len({word for x in X for word in x}) ** 0.5, tagger.ledger_
    assert ledger.mistakes <= (ledger.radius / gamma) ** 2
    assert ledger.mistakes == 0 or gamma <= ledger.margin_at_most + 1e-12
    assert tagger.score(X, y) == 1.0
