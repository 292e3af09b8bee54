"""Model files of an earlier version load, predict as they did then, and continue to learn as they would have."""

import json
from pathlib import Path

import pytest

import novikoff as nk
from tests.golden.cases import CASES

FILES = Path(__file__).parent / "files"
ANSWERS = FILES / "answers.json"


@pytest.mark.parametrize("name", CASES)
def test_file_of_an_earlier_version(name):
    case = CASES[name]
    before, after = json.loads(ANSWERS.read_text())[name]
    model = nk.load(FILES / f"{name}.nk", **case.load_options)
    assert_same(case.answers(model), before)
    case.learn_more(model)
    assert_same(case.answers(model), after)


def assert_same(found, expected):
    """Labels and counts must be equal; the last digits of scores may differ, because processors round differently."""
    assert [value for value in found if not isinstance(value, float)] == [
        value for value in expected if not isinstance(value, float)
    ]
    scores, before = ([value for value in values if isinstance(value, float)] for values in (found, expected))
    assert scores == pytest.approx(before, rel=1e-9, abs=1e-9)


def test_every_file_is_tested():
    assert {path.stem for path in FILES.glob("*.nk")} == set(CASES)
