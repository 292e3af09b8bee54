"""Templates in our own language and in that of CRF++; attributes."""

import pytest

from novikoff.errors import DataError
from novikoff.structured.attributes import find_attribute
from novikoff.structured.templates import SETS, Atom, parse_templates, read_source

COLUMNS = ["word", "pos"]

CRFPP = """# Unigram
U00:%x[-2,0]
U05:%x[-1,0]/%x[0,0]
U10:%x[ 0, 1]   # with a remark

U99
# Bigram
B
"""


def parse(templates, columns=COLUMNS, **own):
    return parse_templates(read_source(templates), columns, own)


def test_own_language():
    found = parse(
        ["word[0]", " word[-1] + word[+2] ", "suffix3[0]", "pos[1]", "shape( pos )[-1]  # remark", "", "# no"]
    )
    assert [template.atoms for template in found.every] == [
        (Atom(None, 0, 0),),
        (Atom(None, 0, -1), Atom(None, 0, 2)),
        (Atom("suffix3", 0, 0),),
        (Atom(None, 1, 1),),
        (Atom("shape", 1, -1),),
    ]
    assert found.pairs


def test_column_takes_precedence_over_attribute():
    assert parse("lower[0]", ["word", "lower"]).every[0].atoms == (Atom(None, 1, 0),)


def test_files_of_crfpp():
    found = parse(CRFPP)
    assert [(t.stem, t.atoms) for t in found.every] == [
        ("U00:%x", (Atom(None, 0, -2),)),
        ("U05:%x/%x", (Atom(None, 0, -1), Atom(None, 0, 0))),
        ("U10:%x", (Atom(None, 1, 0),)),
        ("U99", ()),
    ]
    assert found.pairs
    assert not parse("U00:%x[0,0]").pairs


def test_transition_templates():
    found = parse(["tag[-1]", "tag[ -1 ] + word[+1]", "word[0]", "pos[0]+tag[-1]+word[0]"])
    assert [(t.text, t.stem, t.atoms, t.is_transition) for t in found.every] == [
        ("word[0]", "word[0]", (Atom(None, 0, 0),), False),
        ("word[+1]", "tag[-1]+word[+1]", (Atom(None, 0, 1),), True),
        ("pos[0]+word[0]", "pos[0]+tag[-1]+word[0]", (Atom(None, 1, 0), Atom(None, 0, 0)), True),
    ]
    assert not any(template.is_transition for template in parse("tag[-1]", ["word", "tag"]).every)
    found = parse("U0:%x[0,0]\nB01:%x[-1,1]\nU1:%x[1,0]")
    assert [(t.stem, t.is_transition) for t in found.every] == [("U0:%x", False), ("U1:%x", False), ("B01:%x", True)]
    assert not found.pairs


def test_templates_from_a_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(CRFPP)
    assert parse(path) == parse(CRFPP) == parse(str(path))
    path.write_text("word[0]\nnonsense[0]\n")
    with pytest.raises(DataError, match=r"mine.txt:2: there is no 'nonsense'"):
        parse(path)


@pytest.mark.parametrize("name", SETS)
def test_built_in_sets(name):
    assert len(parse(name).every) == len(SETS[name])


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        (
            ["word[0]", "wrod[0]"],
            r"templates:2: there is no 'wrod' in 'wrod\[0\]'. Columns: word, pos. Attributes: .*lower",
        ),
        (["shape(lemma)[0]"], "there is no 'lemma'"),
        (["word"], r"templates:1: 'word' in 'word' is not of the form name\[offset\]"),
        (["word[x]"], "is not of the form"),
        (["word[0]+"], "'' in 'word"),
        (["word[0]", "word[ 0 ]"], r"templates:2: .* is there twice, first in templates:1"),
        (["word[5000]"], "an offset of 5,000 tokens"),
        (["# nothing"], "no template in it"),
        (["U0:%x[0,7]"], r"uses column 7; there are 2, counted from 0: word, pos"),
        (["tag[-1]+word[0]"], "no template in it"),
        (["word[0]", "tag[-2]+word[0]"], r"templates:2: there is no 'tag' in .* The previous tag: tag\[-1\]"),
        (["U0:%x[0,0]", "X1:%x[0,0]"], "neither with U nor with B"),
        (["U0:%x[0,0]", "U1:%y[0,0]"], "has a % that is not"),
        ([1], "templates must be text"),
        ("nosuch", "neither one of 'pos', 'chunk', 'ner', nor a template"),
        (["suffix0[0]"], "there is no 'suffix0'"),
    ],
)
def test_errors_name_the_line(templates, message):
    with pytest.raises(DataError, match=message):
        parse(templates)


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("shape", "USA1999-x", "XXdd-x"),
        ("prefix2", "a", "a"),
        ("prefix2", "abc", "ab"),
        ("suffix12", "abc", "abc"),
        ("has_hyphen", "a-b", True),
        ("is_capital", "", False),
        ("length", "x" * 40, "12"),
        ("has_digit", "x2", True),
        ("has_punctuation", "can't", True),
        ("has_upper", "iPod", True),
        ("pattern", "USA1999", "XXXdddd"),
    ],
)
def test_attributes(name, word, value):
    assert find_attribute(name)(word) == value
