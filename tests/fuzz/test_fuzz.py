"""A short, repeatable run of every attack; `make fuzz` goes on for longer, with new seeds."""

import pytest

from tests.fuzz.rounds import attacks, run


@pytest.mark.parametrize("name", attacks())
def test_attack_finds_nothing(name):
    report = run(name, seed=0, rounds=3)
    assert report.failure is None, report.failure
    assert report.cases > 0
