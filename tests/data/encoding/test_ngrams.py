"""Indices of names, and n-grams of texts, compared with slow literal versions."""

import random
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.encoding import Features
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.ngrams import NgramBag
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.data.formats.block import TextColumn
from novikoff.errors import DataError
from novikoff.model_files import Section

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def in_order(names):
    """Names without repetition, in order of appearance."""
    return list(dict.fromkeys(names))


@given(
    st.lists(st.tuples(st.sampled_from(["", "a=", "ab", "long prefix of more than eight bytes"]), words), max_size=60),
    st.lists(st.integers(0, 60), max_size=3),
)
def test_every_name_has_an_index(pairs, cuts):
    vocabulary, found = Vocabulary(), []
    edges = [0, *sorted(cut % (len(pairs) + 1) for cut in cuts), len(pairs)]
    for start, stop in pairwise(edges):
        found += vocabulary.find_indices(
            NameBatch.with_prefixes([(prefix, [word]) for prefix, word in pairs[start:stop]]), learn=True
        ).tolist()
    distinct = in_order(pairs)
    assert found == [distinct.index(pair) for pair in pairs]
    assert len(vocabulary) == len(distinct)
    assert vocabulary.names == [(prefix + word).encode()[:100].decode(errors="replace") for prefix, word in distinct]


def test_many_names():
    """The tables grow many times."""
    rng, vocabulary = random.Random(0), Vocabulary()
    names = [f"{rng.choice(['user', 'a much longer name than that'])}{rng.randrange(10**5)}" for _ in range(200_000)]
    indices = vocabulary.find_indices(NameBatch.with_prefix("", names), learn=True)
    distinct = {name: index for index, name in enumerate(in_order(names))}
    assert indices.tolist() == [distinct[name] for name in names]
    assert vocabulary.names == list(distinct)


@given(st.lists(words, max_size=40), st.integers(1, 4))
def test_names_beyond_the_limit_share_indices(names, hash_bits):
    vocabulary = Vocabulary(hash_bits)
    indices = vocabulary.find_indices(NameBatch.with_prefix("", names), learn=True).tolist()
    distinct = in_order(names)
    limit = 2**hash_bits
    assert len(vocabulary) == min(limit, len(distinct))
    for name, index in zip(names, indices, strict=True):
        assert index == distinct.index(name) if name in distinct[:limit] else 0 <= index < limit
    shared = {index for name, index in zip(names, indices, strict=True) if name not in distinct[:limit]}
    assert {index for index, name in enumerate(vocabulary.names) if name.endswith(", and others")} == shared
    assert vocabulary.find_indices(NameBatch.with_prefix("", names), learn=False).tolist() == indices
    section = Section("").add_part("vocabulary")
    vocabulary.write_to(section)
    again = Vocabulary.read_from(section)
    assert again.names == vocabulary.names
    assert again.find_indices(NameBatch.with_prefix("", names), learn=True).tolist() == indices


def test_names_not_learned_have_no_index():
    vocabulary = Vocabulary()
    vocabulary.find_indices(NameBatch.with_prefix("", ["a"]), learn=True)
    assert vocabulary.find_indices(NameBatch.with_prefix("", ["b", "a", "c"]), learn=False).tolist() == [-1, 0, -1]
    assert vocabulary.names == ["a"]


@pytest.mark.parametrize("bits", [0, 29, -1])
def test_hash_bits_out_of_range(bits):
    with pytest.raises(DataError, match="hash_bits must be an integer from 1 to 28"):
        Vocabulary(bits)


@pytest.mark.parametrize("ngrams", [(0, 1), (2, 1), (1, 9)])
def test_ngrams_that_make_no_sense(ngrams):
    with pytest.raises(DataError, match="the fewest and the most"):
        Features(ngrams=ngrams)


def literal_ngrams(text, words, characters):
    """N-grams by definition, in the order of the compiled loop: words by where they end, characters by where they
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
    bag = NgramBag.from_texts("t", TextColumn.from_cells(cells), ngrams=words, char_ngrams=characters)
    expected = [[] if cell is None else literal_ngrams(cell, words, characters) for cell in cells]
    counted = [Counter(row) for row in expected]  # which keeps their order
    assert np.diff(bag.indptr).tolist() == [len(row) for row in counted]
    flat = [ngram for row in counted for ngram in row]
    assert bag.counts.tolist() == [count for row in counted for count in row.values()]
    indices = Vocabulary().find_indices(bag.names, learn=True).tolist()
    distinct = in_order(flat)
    assert indices == [distinct.index(ngram) for ngram in flat]


def test_names_of_two_text_columns_come_in_order_of_rows():
    bags = [
        NgramBag.from_texts(name, TextColumn.from_cells(cells), ngrams=(1, 1), char_ngrams=(0, 0))
        for name, cells in (("a", ["x y", "z"]), ("b", ["u", "v w v"]))
    ]
    both, vocabulary = NgramBag.join(bags), Vocabulary()
    vocabulary.find_indices(both.names, learn=True)
    assert vocabulary.names == ["a:x", "a:y", "b:u", "a:z", "b:v", "b:w"]
    assert both.indptr.tolist() == [0, 3, 6]
    assert both.counts.tolist() == [1, 1, 1, 1, 2, 1]
