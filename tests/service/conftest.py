"""Logs, models and servers for tests of the service."""

import pytest

pytest.importorskip("msgspec")

from novikoff.service.event_log import open_log


@pytest.fixture(params=["sqlite"])
def open_again(request, tmp_path):
    """Return a function that opens a log, after closing the one that it opened before."""
    opened = []

    def open_it():
        if opened:
            opened.pop().close()
        opened.append(open_log(tmp_path / "log.sqlite"))
        return opened[0]

    yield open_it
    for log in opened:
        log.close()


@pytest.fixture
def log(open_again):
    return open_again()
