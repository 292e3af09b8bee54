"""EventLog: the protocol of logs, and how one is opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from novikoff.service.records import Batch, LabelEvent, LogState, Outcomes, StoredPrediction

__all__ = ["EventLog", "open_log"]


class EventLog(Protocol):
    """Predictions and labels in order. All calls come from one thread.

    What `append` returns from survives kill -9 and a loss of power. If it raises an error, nothing of its batch is in
    the log: `LogFullError` if there is no room, after which it may be called again; any other error is final, and
    whether the batch is in the log is known only after it has been opened again.
    """

    def append(self, batch: Batch) -> None:
        """Log a batch as a whole, and return when it is on the disk."""

    def state(self) -> LogState:
        """Return where the log ends."""

    def find(self, ids: Sequence[str]) -> dict[str, StoredPrediction]:
        """Return the predictions with these ids, those that there are."""

    def labels(self, after: int, limit: int) -> list[LabelEvent]:
        """Return the labels with seq > after, in order, at most `limit` of them."""

    def outcomes(self, after: int, limit: int = 1 << 62) -> list[Outcomes]:
        """Return the outcomes of labels, in order, from those of seq = after + 1 on, at most `limit`."""

    def pending(self, after: int, limit: int) -> list[StoredPrediction]:
        """Return the predictions with number > after that wait for their label, in order, at most `limit` of them."""

    def count_pending(self) -> int:
        """Return how many predictions wait for their label."""

    def read_fact(self, name: str) -> str | None:
        """Return what `write_fact` has written under this name."""

    def write_fact(self, name: str, value: str) -> None:
        """Write a fact about the log, durably."""

    def close(self) -> None:
        """Close the log, so that another process may open it."""


def open_log(address: str | Path, name: str = "") -> EventLog:
    """Open a log, or create it.

    Parameters
    ----------
    address : path or str
        The path of an SQLite file, or the address of a PostgreSQL database, postgresql://...
    name : str
        In a database, the logs of different models have different names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from novikoff.service.event_log import open_log
    >>> from novikoff.service.records import Batch, Prediction
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = open_log(pathlib.Path(folder.name, "log.sqlite"))
    >>> log.append(Batch(predictions=[Prediction(1, "a", 0, 0, b"{}", None)]))
    >>> log.find(["a", "b"])["a"].prediction.number, log.state().number
    (1, 1)
    >>> log.close()
    >>> folder.cleanup()
    """
    if isinstance(address, str) and address.startswith(("postgresql://", "postgres://")):
        from novikoff.service.postgres_log import PostgresLog

        return PostgresLog(address, name)
    from novikoff.service.sqlite_log import SqliteLog

    return SqliteLog(Path(address))
