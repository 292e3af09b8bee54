"""Logs, models and servers for tests of the service."""

import os
import uuid

import pytest

pytest.importorskip("msgspec")

from novikoff.service.event_log import open_log
from tests.service.postgres import PostgresServer, find_programs


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL database, on a real server."""
    programs = find_programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed: .ci/run installs it.")
        pytest.skip("PostgreSQL is not installed: the logs in databases are NOT tested.")
    pytest.importorskip("psycopg")
    server = PostgresServer(programs)
    yield server.address
    server.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def open_again(request, tmp_path):
    """Return a function that opens a log, after closing the one that it opened before."""
    address, name, opened = tmp_path / "log.sqlite", uuid.uuid4().hex[:8], []
    if request.param == "postgres":
        address = request.getfixturevalue("postgres")

    def open_it():
        if opened:
            opened.pop().close()
        opened.append(open_log(address, name))
        return opened[0]

    yield open_it
    for log in opened:
        log.close()


@pytest.fixture
def log(open_again):
    return open_again()
