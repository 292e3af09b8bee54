"""Kill -9 at any moment: what was acknowledged is there, once, and a replay gives the same bytes."""

import pytest

from tests.service.crash import Rig

ROUNDS = 20


@pytest.mark.timeout(900)
def test_kill_at_any_moment(tmp_path):
    rig = Rig(tmp_path / "data", 20)
    run_rounds(rig, ROUNDS)
    assert rig.finish() > 100


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "failpoint", ["after append:3", "after commit:5", "after learn:7", "mid-snapshot:1", "after rename:0"]
)
def test_kill_at_a_place(tmp_path, failpoint):
    rig = Rig(tmp_path / "data", 1)
    rig.run_round(failpoint)
    rig.run_round(failpoint)
    rig.finish()


@pytest.mark.timeout(600)
def test_kill_during_replay(tmp_path):
    rig = Rig(tmp_path / "data", 2)
    rig.arguments += ["--snapshot-labels", "1000000"]
    rig.run_round("after commit:200")
    for _ in range(2):
        server = rig.start("during replay")
        assert not server.wait_until_ready()
        assert server.wait() == -9
    assert rig.finish() > 0


@pytest.mark.timeout(600)
def test_the_crash_test_finds_what_is_acknowledged_before_it_is_committed(tmp_path):
    rig = Rig(tmp_path / "data", 3, launcher=("-m", "tests.service.mutant"))
    with pytest.raises(AssertionError, match="was acknowledged and is lost"):
        run_rounds(rig, 10)


def run_rounds(rig, n):
    for _ in range(n):
        rig.run_round()
