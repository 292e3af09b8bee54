"""Replays of a log: what they compare, over pages of labels and snapshots in between."""

import numpy as np
import pytest

from novikoff.service.hosting import HostedModel
from novikoff.service.replaying import learn_log_again, open_existing_log
from novikoff.service.requests import Learn
from novikoff.service.starting import Beginning

N = 60


@pytest.fixture
def folder(tmp_path):
    """The folder of a model that has learned N labels, with a snapshot after a third of them."""
    hosted = HostedModel("m", tmp_path, new=Beginning(labels=["ham", "spam"], rule="perceptron"))
    X = np.random.default_rng(0).normal(size=(N, 2))
    requests = [Learn({"a": a, "b": b}, "spam" if a > b else "ham") for a, b in X.tolist()]
    for part in (requests[: N // 3], requests[N // 3 :]):
        assert all(answer.seq for answer in hosted.writer.ask(part))
        hosted.writer.run(hosted.writer.save_snapshot)
    hosted.stop()
    return tmp_path / "m"


def verified(folder):
    log = open_existing_log(folder, None, "m")
    try:
        return learn_log_again(folder, log, verify=True)
    finally:
        log.close()


@pytest.mark.parametrize("page", [7, 20, 4096])
def test_pages_are_compared_one_after_the_other(folder, monkeypatch, page):
    monkeypatch.setattr("novikoff.service.starting.PAGE", page)
    result = verified(folder)
    assert (result.labels, result.different) == (N, [])
    assert len(result.equal) == 2


@pytest.mark.parametrize("at", [0, 30, N - 1])
def test_an_outcome_that_is_not_what_was_learned_is_found(folder, monkeypatch, at):
    from novikoff.service import replaying

    monkeypatch.setattr("novikoff.service.starting.PAGE", 7)
    logged = replaying._logged_flags

    def with_one_changed(log, after):
        for seq, flag in enumerate(logged(log, after), after):
            yield flag ^ 1 if seq == at else flag

    monkeypatch.setattr(replaying, "_logged_flags", with_one_changed)
    (different,) = verified(folder).different
    assert different.startswith("the outcomes of labels ")
