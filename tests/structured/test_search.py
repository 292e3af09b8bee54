"""Chains of order two, beams, constraints, features that go with the tag before, the best few chains and margins: all
as one would do them by looking at every chain there is."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError
from novikoff.structured.constraints import SCHEMES, bars_for
from tests.reference import chains as literal
from tests.structured.test_sentence_files import encoded
from tests.structured.test_tagger import TEMPLATES, corpora, nonzero, parted, some_templates, weights_of, words

sentences = st.lists(st.lists(words, max_size=4), max_size=3)
hypotheses = st.sampled_from(["last", "averaged"])
LINKS = {
    "tag[-1]+word[0]": (("word", 0),),
    "tag[-1]+lower[-2]": (("lower", -2),),
    "suffix2[1]+tag[-1]+word[0]": (("suffix2", 1), ("word", 0)),
}
some_links = st.lists(st.sampled_from(sorted(LINKS)), unique=True)


def summed(history):
    """The mean times the number of weight vectors: whole numbers, so that ties are ties."""
    return {name: sum(w.get(name, 0) for w in history) for name in {name for w in history for name in w}}


def answering(history, hypothesis):
    return history[-1] if hypothesis == "last" else summed(history)


def assert_learned(tagger, history, mistakes):
    """The same weights, average and account."""
    assert weights_of(tagger) == nonzero(history[-1])
    moments, last, n = weights_of(tagger, "moments", "pair_moments"), weights_of(tagger), len(history)
    means = {name: n * last.get(name, 0) - moments.get(name, 0) for name in {**last, **moments}}
    assert nonzero(means) == nonzero(summed(history))
    ledger = tagger.ledger_
    assert (ledger.examples, ledger.mistakes) == (n, len(mistakes))
    assert ledger.radius == pytest.approx(max([literal.squared(delta) for delta in mistakes], default=0) ** 0.5)
    assert ledger.norm == pytest.approx(literal.squared(history[-1]) ** 0.5)


@given(corpora, some_templates, some_links, st.sampled_from([1, 2]), hypotheses, sentences)
def test_exact_search(corpus, templates, links, order, hypothesis, more):
    """Of either order, with features that go with the tag before: learned, averaged and answered as by brute force."""
    X, y = parted(corpus)
    shapes, kinds = [TEMPLATES[t] for t in templates], {"links": [LINKS[t] for t in links], "triples": order == 2}
    tagger = nk.SequenceTagger(
        [*templates, *links], max_iter=2, order="given", markov_order=order, hypothesis=hypothesis
    ).fit(X, y)
    history, mistakes, tagset = literal.train(X, y, shapes, 2, **kinds)
    assert_learned(tagger, history, mistakes)
    w = answering(history, hypothesis)
    assert tagger.predict(X + more) == [literal.best(w, x, tagset, shapes, **kinds) for x in X + more]


@given(corpora, some_templates, some_links, st.sampled_from([1, 2]), st.integers(1, 10), sentences)
def test_beam_search_with_early_update(corpus, templates, links, order, width, more):
    X, y = parted(corpus)
    shapes, kinds = [TEMPLATES[t] for t in templates], {"links": [LINKS[t] for t in links], "triples": order == 2}
    tagger = nk.SequenceTagger(
        [*templates, *links], max_iter=2, order="given", markov_order=order, beam=width, hypothesis="last"
    ).fit(X, y)
    history, mistakes, tagset = literal.train(X, y, shapes, 2, width=width, **kinds)
    assert_learned(tagger, history, mistakes)
    found = [literal.beam(history[-1], x, tagset, shapes, width, **kinds) for x in X + more]
    assert tagger.predict(X + more) == found
    if width >= len(tagset) ** order:  # nothing is lost
        assert found == [literal.best(history[-1], x, tagset, shapes, **kinds) for x in X + more]


@given(corpora, some_links, st.sampled_from([1, 2]), st.integers(1, 6), hypotheses, sentences)
def test_the_best_few_chains(corpus, links, order, k, hypothesis, more):
    X, y = parted(corpus)
    shapes, kinds = [TEMPLATES["word[0]"]], {"links": [LINKS[t] for t in links], "triples": order == 2}
    tagger = nk.SequenceTagger(
        ["word[0]", *links], max_iter=2, order="given", markov_order=order, hypothesis=hypothesis
    ).fit(X, y)
    history, _, tagset = literal.train(X, y, shapes, 2, **kinds)
    w, scale = answering(history, hypothesis), 1 if hypothesis == "last" else len(history)
    for x, found in zip(X + more, tagger.k_best(X + more, k), strict=True):
        every = literal.every_chain(w, x, tagset, shapes, **kinds)
        assert [guess.tags for guess in found] == [chain for chain, _ in every[:k]]
        assert [guess.score for guess in found] == [score / scale for _, score in every[:k]]


@given(
    corpora,
    st.sampled_from([1, 2]),
    hypotheses,
    st.lists(st.lists(st.sampled_from("ABCD"), min_size=4, max_size=4), min_size=7, max_size=7),
)
def test_margins(corpus, order, hypothesis, other):
    X, y = parted(corpus)
    shapes, kinds = [TEMPLATES["word[0]"]], {"triples": order == 2}
    tagger = nk.SequenceTagger(["word[0]"], max_iter=2, order="given", markov_order=order, hypothesis=hypothesis)
    tagger.fit(X, y)
    history, _, tagset = literal.train(X, y, shapes, 2, **kinds)
    w, scale = answering(history, hypothesis), 1 if hypothesis == "last" else len(history)
    asked = [tags[: len(x)] for tags, x in zip(other, X, strict=False)]
    for x, tags, lead, margin in zip(X, asked, tagger.margins(X), tagger.margins(X, asked), strict=True):
        every = literal.every_chain(w, x, tagset, shapes, **kinds)
        assert lead == pytest.approx((every[0][1] - every[1][1]) / scale if len(every) > 1 else np.inf)
        right = [score for chain, score in every if chain == tags]
        others = [score for chain, score in every if chain != tags]
        expected = (right[0] - max(others)) / scale if right and others else np.inf if right else np.nan
        assert margin == pytest.approx(expected, nan_ok=True)


@given(corpora)
def test_bigrams_of_crfpp_go_with_the_tag_before(corpus):
    X, y = parted(corpus)
    theirs = nk.SequenceTagger("U0:%x[0,0]\nB1:%x[0,0]/%x[-1,0]\nB", max_iter=2, order="given").fit(X, y)
    ours = nk.SequenceTagger(["word[0]", "tag[-1]+word[0]+word[-1]"], max_iter=2, order="given").fit(X, y)
    assert weights_of(theirs) == weights_of(ours)
    alone = nk.SequenceTagger("U0:%x[0,0]\nB1:%x[0,0]", max_iter=2, order="given").fit(X, y)
    history, mistakes, _ = literal.train(X, y, [TEMPLATES["word[0]"]], 2, pairs=False, links=[TEMPLATES["word[0]"]])
    assert_learned(alone, history, mistakes)


# -- constraints


def is_sound(scheme, tags):
    return _is_sound(scheme, tuple(tags))


@cache
def _is_sound(scheme, tags):
    """Whether a chain is what one gets by writing down its spans in the scheme, of all ways to cut it into spans."""

    def layouts(at):
        if at == len(tags):
            yield []
            return
        if tags[at] == "O":
            yield from layouts(at + 1)
        else:
            kind = tags[at][2:]
            for end in range(at + 1, len(tags) + 1):
                yield from ([(kind, at, end), *rest] for rest in layouts(end))

    names = {"bio": ["BIO"], "iob1": ["IOB1"], "ioe1": ["IOE1"], "ioe2": ["IOE2"], "bilou": ["BILOU", "IOBES"]}[scheme]
    return any(encoded(spans, len(tags), name) == list(tags) for spans in layouts(0) for name in names)


@given(st.sampled_from(SCHEMES), st.data())
def test_what_schemes_allow(scheme, data):
    """A chain is allowed if and only if it is what its spans look like in the scheme."""
    letters = {"bio": ["BI"], "iob1": ["BI"], "ioe1": ["IE"], "ioe2": ["IE"], "bilou": ["BILU", "BIES"]}[scheme]
    tagset = ["O", *(f"{letter}-{kind}" for letter in data.draw(st.sampled_from(letters)) for kind in "XY")]
    tags = data.draw(st.lists(st.sampled_from(tagset), min_size=1, max_size=6))
    codes = np.array([tagset.index(tag) for tag in tags])
    fault = bars_for(scheme, tagset).first_fault(np.array([0, len(tags)]), codes)
    assert (fault is None) == is_sound(scheme, tags)


@settings(max_examples=40)  # each looks at a thousand chains
@given(corpora, st.sampled_from([1, 2]), st.sampled_from([None, 2, 50]), hypotheses, sentences)
def test_only_chains_that_are_allowed(corpus, order, beam, hypothesis, more):
    X, _ = parted(corpus)
    y = [[("O", "B-N", "I-N", "B-V")[len(word) % 4] for word in x] for x in X]
    y = [own if is_sound("bio", own) else ["B-N"] * len(own) for own in y]
    tagger = nk.SequenceTagger(
        ["word[0]"], max_iter=2, order="given", markov_order=order, constraints="bio", beam=beam, hypothesis=hypothesis
    ).fit(X, y)
    found = tagger.predict(X + more)
    if beam is None:
        kinds = {"triples": order == 2, "allowed": lambda tags: is_sound("bio", tags)}
        history, mistakes, tagset = literal.train(X, y, [TEMPLATES["word[0]"]], 2, **kinds)
        assert_learned(tagger, history, mistakes)
        every = [
            literal.every_chain(answering(history, hypothesis), x, tagset, [TEMPLATES["word[0]"]], **kinds)
            for x in X + more
        ]
        assert found == [chains[0][0] for chains in every]
        lists = [[guess.tags for guess in own] for own in tagger.k_best(X + more, 3)]
        assert lists == [[chain for chain, _ in own[:3]] for own in every]
    assert all(is_sound("bio", own) for own in found)


def test_where_no_chain_is_allowed_none_is_barred():
    tagger = nk.SequenceTagger(["word[0]"], constraints="bilou").fit([["a", "b"]], [["B-X", "L-X"]])
    assert tagger.predict([["a"], ["a", "b"]]) == [["B-X"], ["B-X", "L-X"]]
    assert [guess.tags for guess in tagger.k_best([["b"]], 9)[0]] == [["B-X"], ["L-X"]], "both, and equal"
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
def test_tags_that_are_not_allowed(constraints, tags, message):
    with pytest.raises(DataError, match=message.replace(".", r"\.")):
        nk.SequenceTagger("pos", constraints=constraints).fit([["c"], ["a", "b"]], [["O"], tags])


# -- the theorem


@given(corpora, st.sampled_from([1, 2]), st.sampled_from([None, 1, 3]), st.booleans())
def test_the_mistake_bound_whatever_the_search(corpus, order, beam, constrained):
    """Separable by construction: a word has one tag, so u with a weight of 1 for each word and its tag prefers the
    right chain, and every right beginning, by 1 for each wrong tag: gamma >= 1 / |u|."""
    X, _ = parted(corpus)
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
