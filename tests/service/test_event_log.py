"""The contract of event logs, for each implementation."""

import pytest

from novikoff.errors import LogError
from novikoff.service.event_log import open_log
from novikoff.service.records import Batch, LabelEvent, Outcomes, Prediction, Totals


def prediction(number, id=None, at=0, answer=b'{"label":"ham","scores":{}}'):
    return Prediction(number, id or f"id-{number}", at, 0, b'{"links":%d}' % number, answer)


def label(seq, number=None, written=b'"ham"'):
    number = number or seq
    return LabelEvent(seq, number, written, 5, False, 17 + seq, f"id-{number}", b'{"links":%d}' % number)


def test_an_empty_log_is_at_its_beginning(log):
    state = log.state()
    assert (state.number, state.seq, state.checksum, state.outcomes_end) == (0, 0, 0, 1)
    assert state.totals == Totals()
    assert log.labels(0, 10) == log.pending(0, 10) == log.outcomes(0) == []
    assert log.find(["a"]) == {}
    assert log.read_fact("nothing") is None


def test_what_is_appended_can_be_read(log):
    log.append(Batch(predictions=[prediction(1), prediction(2, answer=None)], labels=[label(1, 2)], pending=[1]))
    found = log.find(["id-1", "id-2", "id-3"])
    assert found.keys() == {"id-1", "id-2"}
    assert found["id-1"].prediction == prediction(1)
    assert found["id-1"].seq is None
    assert (found["id-2"].seq, found["id-2"].label, found["id-2"].mistake) == (1, b'"ham"', False)
    assert log.labels(0, 10) == [label(1, 2)]
    assert [each.prediction.number for each in log.pending(0, 10)] == [1]
    assert log.count_pending() == 1


def test_it_goes_on_after_it_was_closed(open_again):
    log = open_again()
    totals = Totals(3, 2, 1, 0)
    log.append(Batch(predictions=[prediction(1)], labels=[label(1)], columns={"b": "number", "a": "word"}))
    log.append(Batch(predictions=[prediction(2)], labels=[label(2)], outcomes=[Outcomes(1, b"\1", totals)]))
    log.append(Batch(columns={"c": "text"}, predictions=[prediction(3)]))
    log.write_fact("color", "red")
    log = open_again()
    state = log.state()
    assert (state.number, state.seq, state.checksum, state.outcomes_end, state.totals) == (3, 2, 19, 2, totals)
    assert list(state.columns.items()) == [("b", "number"), ("a", "word"), ("c", "text")]
    assert log.read_fact("color") == "red"


def test_labels_come_in_pages(log):
    log.append(Batch(predictions=[prediction(n) for n in range(1, 8)], labels=[label(n) for n in range(1, 8)]))
    assert [each.seq for each in log.labels(2, 3)] == [3, 4, 5]
    assert [each.seq for each in log.labels(6, 3)] == [7]


def test_a_labelled_prediction_no_longer_waits(log):
    log.append(Batch(predictions=[prediction(n) for n in (1, 2, 3)], pending=[1, 2, 3]))
    log.append(Batch(labels=[label(1, 2)]))
    assert [each.prediction.number for each in log.pending(0, 10)] == [1, 3]
    assert [each.prediction.number for each in log.pending(1, 10)] == [3]
    assert [each.prediction.number for each in log.pending(0, 1)] == [1]


def test_predictions_wait_no_longer_than_the_window(log):
    log.append(Batch(predictions=[prediction(n, at=n) for n in (1, 2, 3)], pending=[1, 2, 3]))
    log.append(Batch(late=[(1, b'"ham"', 9)], expired_before=3))
    assert [each.prediction.number for each in log.pending(0, 10)] == [3]
    assert log.find(["id-1"])["id-1"].late_label == b'"ham"'
    log.append(Batch(late=[(1, b'"spam"', 9)]))  # the first one counts
    assert log.find(["id-1"])["id-1"].late_label == b'"ham"'


def test_outcomes_from_a_seq_on(log):
    parts = [Outcomes(1, b"\1\0\2", Totals(3)), Outcomes(4, b"\1", Totals(4))]
    log.append(Batch(outcomes=parts))
    assert log.outcomes(0) == parts
    assert log.outcomes(2) == parts
    assert log.outcomes(3) == parts[1:]
    assert log.outcomes(0, limit=1) == parts[:1]


@pytest.mark.parametrize(
    "batch",
    [
        Batch(predictions=[prediction(2, "id-1")]),
        Batch(predictions=[prediction(2)], labels=[label(1, 2)]),
        Batch(predictions=[prediction(2)], labels=[label(2, 1)]),
    ],
    ids=["id", "seq", "label of a prediction"],
)
def test_nothing_is_there_twice(open_again, batch):
    log = open_again()
    log.append(Batch(predictions=[prediction(1)], labels=[label(1)]))
    with pytest.raises(LogError):
        log.append(batch)
    log = open_again()
    assert log.state().number == 1
    assert log.state().seq == 1


def test_text_of_all_kinds(log):
    id, features = "päp-\U0001f600", '{"wört":"\U0001f600"}'.encode()
    log.append(Batch(predictions=[Prediction(1, id, 0, 0, features, None)], columns={"wört": "word"}))
    assert log.find([id])[id].prediction.features == features
    assert log.state().columns == {"wört": "word"}


def test_a_file_that_is_no_log_is_refused(tmp_path):
    path = tmp_path / "log.sqlite"
    path.write_bytes(b"this is no database, " * 100)
    with pytest.raises(LogError, match=r"log\.sqlite is no event log"):
        open_log(path)


def test_sqlite_syncs_every_commit(tmp_path):
    """FULL is 2; a connection that is opened by default has the same in WAL mode only if nobody changed it."""
    log = open_log(tmp_path / "log.sqlite")
    assert log._execute("PRAGMA synchronous") == [(2,)]
    assert log._execute("PRAGMA journal_mode") == [("wal",)]
    log.close()


def test_a_second_writer_of_a_database_is_kept_out(postgres):
    log = open_log(postgres, "twice")
    with pytest.raises(LogError, match="in use by another server"):
        open_log(postgres, "twice")
    other = open_log(postgres, "other")
    log.close()
    for _ in range(20):  # the lock is free at once, though the database closes connections later
        open_log(postgres, "twice").close()
    other.close()


def test_postgres_syncs_every_commit(postgres):
    log = open_log(postgres, "sync")
    assert log._execute("SHOW synchronous_commit") == [("on",)]
    log.close()


def test_a_database_that_is_not_there_is_refused():
    pytest.importorskip("psycopg")
    with pytest.raises(LogError, match="cannot be reached"):
        open_log("postgresql://nobody@127.0.0.1:1/nothing", "a")
