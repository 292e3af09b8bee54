"""tokenize: nothing is lost, and each part of the rule by examples from the Penn Treebank and Unicode's annex 29."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.structured import tokenize
from novikoff.structured.sentence_files import SentenceFile

# Mostly characters that the rule is about; rarely any other.
CHARACTERS = st.one_of(
    st.sampled_from("aZé9ntsm'’-.,:/@! \t\u0301\u093f\u200d_$wh"), st.characters(exclude_categories=["Cs"])
)


@given(st.text(CHARACTERS))
def test_tokens_joined_are_the_text_without_white_space(text):
    tokens = tokenize(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(tokens)


@given(st.text(CHARACTERS), st.text(CHARACTERS))
def test_white_space_separates(one, other):
    assert tokenize(f"{one} {other}") == tokenize(one) + tokenize(other)


@given(st.text(st.characters(categories=["L", "N", "M"]), min_size=1))
def test_letters_digits_and_marks_stay_together(word):
    assert tokenize(word) == [word]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("They'll say it isn't Tom's, won't they?", "They 'll say it is n't Tom 's , wo n't they ?"),
        ("I’m sure he shouldn't've", "I ’m sure he should n't 've"),
        ("DON'T!", "DO N'T !"),
        ("'tis the dogs' O'Neill", "' tis the dogs ' O'Neill"),
        ("n't 's", "n't ' s"),
        ("1,003.5 10:30 9/11 3rd 51.257% -5", "1,003.5 10:30 9/11 3rd 51.257 % - 5"),
        ("end.Next 3. a,b 1,b", "end . Next 3 . a , b 1 , b"),
        ("the U.S. and e.g. this. I. A", "the U.S. and e.g. this . I . A"),
        ("well-known e-mail -- no... yes!?!", "well-known e-mail -- no ... yes ! ? !"),
        ("(see www.a.org/b, http://x.y/z?q=1.) me@a.org.", "( see www.a.org/b , http://x.y/z?q=1 . ) me@a.org ."),
        ("«Déjà» – “vu”", "« Déjà » – “ vu ”"),
        ("हिन्दी, में।", "हिन्दी , में ।"),
        ("می‌روم", "می‌روم"),
        ("你好。", "你好 。"),
        ("👍🏽👍🏽", "👍 🏽 👍 🏽"),
        ("", ""),
    ],
)
def test_examples(text, tokens):
    assert tokenize(text) == tokens.split()


def test_both_normal_forms_of_accents_give_the_same_words():
    text = "Café, naïve—Ångström."
    decomposed = unicodedata.normalize("NFD", text)
    assert [unicodedata.normalize("NFC", token) for token in tokenize(decomposed)] == tokenize(text)


def test_files_of_text_are_tokenized(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("It's (so) good.\n\nYes\n")
    for tokenized, first in (False, ["It's", "(so)", "good."]), (True, ["It", "'s", "(", "so", ")", "good", "."]):
        with SentenceFile(path, format="text", tokenize=tokenized) as file:
            found = [[row[0] for row in sentence.rows] for sentence in file]
        assert found == [first, [], ["Yes"]]
