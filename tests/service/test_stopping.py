"""SIGTERM under load, a second server, a disk that is full, a log that is damaged."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from novikoff.errors import LogError, ModelFileError, ServiceError
from novikoff.service.folder import FolderLock
from novikoff.service.hosting import HostedModel, HostingOptions
from novikoff.service.refusals import QueueFullError, UnavailableError
from novikoff.service.requests import Learn, Predict, PutLabel
from novikoff.service.starting import Beginning
from tests.service.crash import Rig, verify
from tests.service.process import ServerProcess, get

NEW = Beginning(labels=["ham", "spam"], rule="perceptron")


def host(folder, **options):
    return HostedModel("m", folder, new=NEW, options=HostingOptions(**options), warn=lambda message: None)


@pytest.mark.timeout(300)
def test_sigterm_under_load_loses_nothing(tmp_path):
    rig = Rig(tmp_path / "data", 4)
    server = rig.start()
    assert server.wait_until_ready()
    load = threading.Thread(target=rig.run_load, args=(server.port, 60.0))
    load.start()
    time.sleep(2.0)
    begin = time.monotonic()
    assert server.terminate() == 0
    assert time.monotonic() - begin < 5.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    load.join(60)
    assert rig.finish() > 10


@pytest.mark.timeout(300)
def test_the_second_server_of_a_folder_is_refused(tmp_path):
    with FolderLock(tmp_path / "data"):
        server = ServerProcess("--new", "m", "--labels", "a,b", "--data", tmp_path / "data")
        assert not server.wait_until_ready()
        assert server.wait() == 1
    assert any("is in use by another server" in line for line in server.lines)


def test_a_full_disk_refuses_and_recovers(tmp_path):
    hosted = host(tmp_path)
    writer = hosted.writer
    try:
        [before] = writer.ask([Learn({"links": 1}, "ham", "a")])
        pages = writer.log._execute("PRAGMA page_count")[0][0]
        writer.run(lambda: writer.log._execute(f"PRAGMA max_page_count = {pages}"))
        rows = [Learn({"text": "x" * 5000 + str(n), "new": n}, "spam", f"big-{n}") for n in range(20)]
        refused = writer.ask(rows)
        assert {type(each) for each in refused} == {UnavailableError}
        assert "no room left" in str(refused[0])
        assert "new" not in writer.features.kinds
        writer.run(lambda: writer.log._execute("PRAGMA max_page_count = 1000000"))
        results = writer.ask(rows)
        assert [each.seq for each in results] == list(range(before.seq + 1, before.seq + 21))
        assert writer.ask([PutLabel("a", "ham")])[0].duplicate
    finally:
        hosted.stop()
    verify(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a small file system")
def test_a_file_system_without_room(tmp_path):
    """ENOSPC of a real file system."""
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        hosted = host(small)
        writer = hosted.writer
        results = []
        for n in range(200):
            results += writer.ask([Predict({"subject": str(n) * 3000}, f"p{n}")])
            if isinstance(results[-1], Exception):
                break
        assert isinstance(results[-1], UnavailableError)
        subprocess.run(["mount", "-o", "remount,size=16m", small], check=True)
        assert writer.ask([Predict({"subject": "again"}, "again")])[0].id == "again"
        found = writer.run(lambda: writer.log.find([f"p{k}" for k in range(n)]))
        assert len(found) == n
        hosted.stop()
    finally:
        subprocess.run(["umount", small], check=True)


def test_an_error_of_the_disk_ends_the_writer_and_acknowledges_nothing(tmp_path, monkeypatch):
    hosted = host(tmp_path)
    failures = []
    hosted.writer._on_failure = failures.append

    def fail(batch):
        raise LogError("disk I/O error")

    monkeypatch.setattr(hosted.writer.log, "_insert", fail)
    [result] = hosted.writer.ask([Predict({"links": 1})])
    assert isinstance(result, UnavailableError)
    assert [str(error) for error in failures] == ["disk I/O error"]
    with pytest.raises(UnavailableError):
        hosted.writer.ask([Predict({"links": 1})])
    hosted.stop()


def damage(folder, statement):
    connection = sqlite3.connect(folder / "m" / "log.sqlite")
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.fixture
def folder_with_labels(tmp_path):
    hosted = host(tmp_path)
    for start in (0, 30):
        hosted.writer.ask(
            [Learn({"links": n % 7}, "ham" if n % 3 else "spam", f"x{n}") for n in range(start, start + 30)]
        )
        hosted.writer.run(hosted.writer.save_snapshot)
    hosted.stop()
    return tmp_path


def test_a_damaged_snapshot_leaves_the_older_one(folder_with_labels):
    [newest, older] = sorted((folder_with_labels / "m").glob("snapshot-*.nk"), reverse=True)
    content = newest.read_bytes()
    newest.write_bytes(content[: len(content) // 2])
    warnings = []
    hosted = HostedModel("m", folder_with_labels, warn=warnings.append)
    assert newest.name in warnings[0]
    assert hosted.writer.seq == hosted.writer.model.seq == 60
    hosted.stop()
    assert older.exists()
    newest.write_bytes(content)
    verify(folder_with_labels)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE labels SET label = CAST('\"ham\"' AS BLOB) WHERE seq = 1",
        "UPDATE predictions SET features = CAST('{\"links\":9}' AS BLOB) WHERE id = 'x5'",
        "DELETE FROM labels WHERE seq = 7",
        "DELETE FROM predictions WHERE id = 'x9'",
    ],
)
def test_a_damaged_log_is_refused(folder_with_labels, statement):
    for path in (folder_with_labels / "m").glob("snapshot-*.nk"):
        path.unlink()
    damage(folder_with_labels, statement)
    with pytest.raises(LogError, match="damaged: label"):
        HostedModel("m", folder_with_labels)


def test_a_log_that_lost_its_end_is_refused(folder_with_labels):
    damage(folder_with_labels, "DELETE FROM labels WHERE seq > 50")
    with pytest.raises(LogError, match="labels were lost"):
        HostedModel("m", folder_with_labels)


def test_other_beginnings_are_refused(folder_with_labels):
    with pytest.raises(ServiceError, match="goes on from what it has logged"):
        HostedModel("m", folder_with_labels, new=Beginning(labels=["a", "b"]))
    HostedModel("m", folder_with_labels, new=NEW).stop()


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "a.nk").write_bytes(b"nothing")
    with pytest.raises(ModelFileError):
        HostedModel("m", tmp_path / "data", tmp_path / "a.nk")


def test_requests_that_wait_are_limited(tmp_path):
    hosted = host(tmp_path, most_waiting=3)
    stopped = threading.Event()
    hosted.writer.call(stopped.wait, lambda result, error: None)
    time.sleep(0.1)
    received = []
    for n in range(3):
        hosted.writer.submit([Predict({"a": n})], received.append, n)
    with pytest.raises(QueueFullError):
        hosted.writer.submit([Predict({"a": 3})], received.append, 3)
    stopped.set()
    hosted.stop()
    assert sorted(token for pairs in received for token, _ in pairs) == [0, 1, 2]


def test_replay_runs_beside_a_server(tmp_path):
    rig = Rig(tmp_path / "data", 5)
    server = rig.start()
    assert server.wait_until_ready()
    rig.run_load(server.port, 1.0)
    command = [sys.executable, "-m", "novikoff", "replay", tmp_path / "data", "--verify"]
    assert subprocess.run(command, capture_output=True).returncode == 0

    assert asyncio.run(get(server.port, "/v2/health/ready")) == (200, {"ready": True})
    assert server.terminate() == 0


def test_duplicates_after_a_restart_get_the_first_answer(tmp_path):
    """From memory, from the windows, and from the log."""
    hosted = host(tmp_path, snapshot_labels=10_000)
    rows = [Learn({"links": n % 7}, "ham" if n % 3 else "spam", f"x{n}") for n in range(12_000)]
    first = []
    for start in range(0, len(rows), 1000):
        first += hosted.writer.ask(rows[start : start + 1000])
    assert {each.updated for each in first} == {True, False}
    again = [(hosted.writer.ask([rows[n]])[0], first[n]) for n in (5, 11_999, 1999, 1003)]
    hosted.stop()
    hosted = host(tmp_path)
    again += [(hosted.writer.ask([rows[n]])[0], first[n]) for n in (0, 1, 2, 3, 1500, 5000, 11_998)]
    hosted.stop()
    for found, one in again:
        assert found.duplicate
        found.duplicate = False
        assert found == one


def test_a_replay_after_a_crash_knows_what_was_updated(tmp_path, monkeypatch):
    hosted = host(tmp_path)
    rows = [Learn({"links": n % 7}, "ham" if n % 3 else "spam", f"x{n}") for n in range(50)]
    first = hosted.writer.ask(rows)
    monkeypatch.setattr(hosted.writer, "flush", lambda: False)  # so that neither outcomes nor a snapshot are written
    hosted.stop()
    assert not list((tmp_path / "m").glob("snapshot-*"))
    hosted = host(tmp_path)
    again = hosted.writer.ask(rows)
    hosted.stop()
    assert [each.updated for each in again] == [each.updated for each in first]
    verify(tmp_path)
