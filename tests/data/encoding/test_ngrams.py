"""Names, their places, and the n-grams of texts, against literal ones."""

import random
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.encoding import Features
from novikoff.data.encoding.ngrams import Bag
from novikoff.data.encoding.vocabulary import Names, Vocabulary
from novikoff.data.formats.block import Texts
from novikoff.errors import DataError
from novikoff.model_files import Section

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def in_order(names):
    """Names without repetition, as they come."""
    return list(dict.fromkeys(names))


@given(
    st.lists(st.tuples(st.sampled_from(["", "a=", "ab", "long head of more than eight bytes"]), words), max_size=60),
    st.lists(st.integers(0, 60), max_size=3),
)
def test_every_name_has_its_place(pairs, cuts):
    vocabulary, found = Vocabulary(), []
    edges = [0, *sorted(cut % (len(pairs) + 1) for cut in cuts), len(pairs)]
    for start, stop in pairwise(edges):
        found += vocabulary.places(
            Names.joined([(head, [word]) for head, word in pairs[start:stop]]), learn=True
        ).tolist()
    distinct = in_order(pairs)
    assert found == [distinct.index(pair) for pair in pairs]
    assert len(vocabulary) == len(distinct)
    shown = [(head + word).encode()[:100].decode(errors="replace") for head, word in distinct]
    assert vocabulary.names == shown


def test_many_names():
    """More than the first tables hold; a hundred thousand hashes without a collision."""
    rng, vocabulary = random.Random(0), Vocabulary()
    names = [f"{rng.choice(['user', 'a much longer name than that'])}{rng.randrange(10**5)}" for _ in range(200_000)]
    places = vocabulary.places(Names.under("", names), learn=True)
    distinct = {name: place for place, name in enumerate(in_order(names))}
    assert places.tolist() == [distinct[name] for name in names]
    assert vocabulary.names == list(distinct)


@given(st.lists(words, max_size=40), st.integers(1, 4))
def test_places_run_out(names, hash_bits):
    vocabulary = Vocabulary(hash_bits)
    places = vocabulary.places(Names.under("", names), learn=True).tolist()
    distinct = in_order(names)
    room = 2**hash_bits
    assert len(vocabulary) == min(room, len(distinct))
    for name, place in zip(names, places, strict=True):
        assert place == distinct.index(name) if name in distinct[:room] else 0 <= place < room
    shared = {place for name, place in zip(names, places, strict=True) if name not in distinct[:room]}
    assert {place for place, name in enumerate(vocabulary.names) if name.endswith(", and others")} == shared
    assert vocabulary.places(Names.under("", names), learn=False).tolist() == places
    section = Section("").open("vocabulary")
    vocabulary.put(section)
    again = Vocabulary.take(section)
    assert again.names == vocabulary.names
    assert again.places(Names.under("", names), learn=True).tolist() == places


def test_names_not_learned_have_no_place():
    vocabulary = Vocabulary()
    vocabulary.places(Names.under("", ["a"]), learn=True)
    assert vocabulary.places(Names.under("", ["b", "a", "c"]), learn=False).tolist() == [-1, 0, -1]
    assert vocabulary.names == ["a"]


@pytest.mark.parametrize("bits", [0, 29, -1])
def test_too_few_places_or_too_many(bits):
    with pytest.raises(DataError, match="hash_bits must be a whole number from 1 to 28"):
        Vocabulary(bits)


@pytest.mark.parametrize("ngrams", [(0, 1), (2, 1), (1, 9)])
def test_ngrams_that_make_no_sense(ngrams):
    with pytest.raises(DataError, match="the fewest and the most"):
        Features(ngrams=ngrams)


def literal_ngrams(text, words, characters):
    """As the definition says, in the order of the reader's own: words by where they end, characters by where they
    begin."""
    if not text.isascii():
        text = re.sub(r"[^\w\x00-\x7f]+", " ", text.lower())
    text = "".join(c.lower() if c.isascii() else c for c in text)
    found, spoken = [], re.findall(r"[a-z0-9_\x80-\U0010ffff]+", text)
    for end in range(1, len(spoken) + 1):
        begins = range(max(0, end - words[1]), end - words[0] + 1)
        found += [("t:", tuple(spoken[begin:end])) for begin in begins if words[1]]
    padded = " " + re.sub("[\0- ]+", " ", text).strip(" ") + " "
    padded = padded if padded.strip(" ") else " "
    for begin in range(len(padded)):
        for size in range(characters[0], characters[1] + 1) if characters[1] else ():
            piece = padded[begin : begin + size]
            if len(piece) == size and " " not in piece[1:-1]:
                found.append(("t~", piece))
    return found


texts = st.text(st.sampled_from("abcXYZ 019_.,!\t\n'éÉß€“日本"), max_size=30)
long_texts = st.text(st.sampled_from("aBcd1éx "), min_size=30, max_size=150)  # longer than a window
ranges = st.sampled_from([(0, 0), (1, 1), (1, 2), (2, 3), (3, 5), (1, 4)])


@given(st.lists(st.none() | texts | long_texts, max_size=6), ranges, ranges)
def test_ngrams_are_the_literal_ones(cells, words, characters):
    bag = Bag.of("t", Texts.of(cells), ngrams=words, char_ngrams=characters)
    expected = [[] if cell is None else literal_ngrams(cell, words, characters) for cell in cells]
    counted = [Counter(row) for row in expected]  # which keeps their order
    assert np.diff(bag.indptr).tolist() == [len(row) for row in counted]
    flat = [ngram for row in counted for ngram in row]
    assert bag.counts.tolist() == [count for row in counted for count in row.values()]
    places = Vocabulary().places(bag.names, learn=True).tolist()
    distinct = in_order(flat)
    assert places == [distinct.index(ngram) for ngram in flat]


def test_two_columns_of_texts_keep_the_order_of_the_rows():
    bags = [
        Bag.of(name, Texts.of(cells), ngrams=(1, 1), char_ngrams=(0, 0))
        for name, cells in (("a", ["x y", "z"]), ("b", ["u", "v w v"]))
    ]
    both, vocabulary = Bag.together(bags), Vocabulary()
    vocabulary.places(both.names, learn=True)
    assert vocabulary.names == ["a:x", "a:y", "b:u", "a:z", "b:v", "b:w"]
    assert both.indptr.tolist() == [0, 3, 6]
    assert both.counts.tolist() == [1, 1, 1, 1, 2, 1]
