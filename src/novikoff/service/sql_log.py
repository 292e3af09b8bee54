"""SqlLog: what logs in SQL databases share: tables, statements, and rows as records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from novikoff.errors import LogError
from novikoff.service.records import Batch, LabelEvent, LogState, Outcomes, Prediction, StoredPrediction, Totals

__all__ = ["SCHEMA", "VERSION", "SqlLog"]

VERSION = "1"  # of the tables

# {integer}, {key} and {bytes} are types of the database.
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS columns (place {key}, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS predictions (
    number {key}, id TEXT NOT NULL UNIQUE, at {integer} NOT NULL, version {integer} NOT NULL,
    features {bytes} NOT NULL, answer {bytes});
CREATE TABLE IF NOT EXISTS pending (number {key}, at {integer} NOT NULL);
CREATE TABLE IF NOT EXISTS labels (
    seq {key}, number {integer} NOT NULL UNIQUE, label {bytes} NOT NULL, at {integer} NOT NULL,
    mistake {integer}, checksum {integer} NOT NULL);
CREATE TABLE IF NOT EXISTS late (number {key}, label {bytes} NOT NULL, at {integer} NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (
    first {key}, flags {bytes} NOT NULL, last {integer} NOT NULL, served {integer} NOT NULL,
    mistakes {integer} NOT NULL, updates {integer} NOT NULL, refused {integer} NOT NULL);
"""

_STORED = """
SELECT p.number, p.id, p.at, p.version, p.features, p.answer, l.seq, l.label, l.mistake, late.label
FROM predictions p LEFT JOIN labels l ON l.number = p.number LEFT JOIN late ON late.number = p.number
"""
_LABELS = """
SELECT l.seq, l.number, l.label, l.at, l.mistake, l.checksum, p.id, p.features
FROM labels l LEFT JOIN predictions p ON p.number = l.number WHERE l.seq > ? ORDER BY l.seq LIMIT ?
"""


class SqlLog(ABC):
    """The part of an `EventLog` that is the same in all SQL databases. Statements have ? for parameters.

    Parameters
    ----------
    name : str
        The file or database, for messages.
    """

    types: ClassVar[dict[str, str]]
    many_values: ClassVar[str]  # the values that `_pack` has packed into one parameter
    ignore_duplicates: ClassVar[str] = " ON CONFLICT DO NOTHING"

    def __init__(self, name: str) -> None:
        self.name = name
        found = self.read_fact("version")
        if found is None:
            self.write_fact("version", VERSION)
        elif found != VERSION:
            raise LogError(f"{name}: its tables have version {found}; this novikoff knows version {VERSION}.")

    # -- what a database does

    @abstractmethod
    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement and return its rows."""

    @abstractmethod
    def _pack(self, values: Sequence[str]) -> Any:
        """Return strings as one parameter of a statement."""

    @abstractmethod
    def _execute_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of parameters."""

    @abstractmethod
    def _commit(self, batch: Batch) -> None:
        """Run `_insert` in a transaction, and return when it is on the disk."""

    @abstractmethod
    def close(self) -> None:
        """Close the log."""

    # -- appending

    def append(self, batch: Batch) -> None:
        """Log a batch as a whole, and return when it is on the disk."""
        if batch:
            self._commit(batch)

    def _insert(self, batch: Batch) -> None:
        if batch.columns:
            self._execute_many(
                "INSERT INTO columns (name, kind, place) SELECT ?, ?, COALESCE(MAX(place), 0) + 1 FROM columns",
                batch.columns.items(),
            )
        if batch.predictions:
            self._execute_many(
                "INSERT INTO predictions VALUES (?, ?, ?, ?, ?, ?)",
                [(p.number, p.id, p.at, p.version, p.features, p.answer) for p in batch.predictions],
            )
        if batch.pending:
            at_of = {p.number: p.at for p in batch.predictions}
            self._execute_many("INSERT INTO pending VALUES (?, ?)", [(n, at_of[n]) for n in batch.pending])
        if batch.labels:
            self._execute_many(
                "INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?)",
                [(e.seq, e.number, e.label, e.at, _as_integer(e.mistake), e.checksum) for e in batch.labels],
            )
            self._execute_many("DELETE FROM pending WHERE number = ?", [(e.number,) for e in batch.labels])
        if batch.late:
            self._execute_many("INSERT INTO late VALUES (?, ?, ?)" + self.ignore_duplicates, batch.late)
        if batch.expired_before:
            self._expire(batch.expired_before)
        for each in batch.outcomes:
            totals = each.totals
            counts = totals.served, totals.mistakes, totals.updates, totals.refused
            self._execute(
                "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?)", (each.first, each.flags, each.end - 1, *counts)
            )

    def _expire(self, before: int) -> None:
        """Remove the oldest predictions from those that wait, if they came before a moment; a few at a time."""
        oldest = self._execute("SELECT number, at FROM pending ORDER BY number LIMIT 20000")
        self._execute_many("DELETE FROM pending WHERE number = ?", [(n,) for n, at in oldest if at < before])

    # -- reading

    def state(self) -> LogState:
        """Return where the log ends."""
        number = self._execute("SELECT COALESCE(MAX(number), 0) FROM predictions")[0][0]
        seq = self._execute("SELECT COALESCE(MAX(seq), 0) FROM labels")[0][0]
        checksum = self._execute("SELECT checksum FROM labels WHERE seq = ?", (seq,))
        totals_of_last = "SELECT last, served, mistakes, updates, refused FROM outcomes ORDER BY first DESC LIMIT 1"
        last = self._execute(totals_of_last)
        end, totals = (last[0][0] + 1, Totals(*last[0][1:])) if last else (1, Totals())
        columns = dict(self._execute("SELECT name, kind FROM columns ORDER BY place"))
        return LogState(number, seq, checksum[0][0] if checksum else 0, end, totals, columns)

    def find(self, ids: Sequence[str]) -> dict[str, StoredPrediction]:
        """Return the predictions with these ids, those that there are."""
        rows = self._execute(f"{_STORED}WHERE p.id IN ({self.many_values})", (self._pack(ids),)) if ids else []
        return {each.prediction.id: each for each in map(_as_stored, rows)}

    def labels(self, after: int, limit: int) -> list[LabelEvent]:
        """Return the labels with seq > after, in order, at most `limit` of them."""
        events = []
        for seq, number, label, at, mistake, checksum, id, features in self._execute(_LABELS, (after, limit)):
            if id is None:
                raise LogError(
                    f"{self.name}: the log is damaged: label {seq:,} is of prediction {number:,}, which is not "
                    "there. Restore it from a backup."
                )
            answer = None if mistake is None else bool(mistake)
            events.append(LabelEvent(seq, number, bytes(label), at, answer, checksum, id, bytes(features)))
        return events

    def outcomes(self, after: int, limit: int = 1 << 62) -> list[Outcomes]:
        """Return the outcomes of labels, in order, from those of seq = after + 1 on, at most `limit`."""
        rows = self._execute(
            "SELECT first, flags, served, mistakes, updates, refused FROM outcomes WHERE last > ? "
            "ORDER BY first LIMIT ?",
            (after, limit),
        )
        return [Outcomes(first, bytes(flags), Totals(*counts)) for first, flags, *counts in rows]

    def pending(self, after: int, limit: int) -> list[StoredPrediction]:
        """Return the predictions with number > after that wait for their label, in order, at most `limit` of them."""
        chosen = "WHERE p.number IN (SELECT number FROM pending WHERE number > ? ORDER BY number LIMIT ?)"
        return [_as_stored(row) for row in self._execute(f"{_STORED}{chosen} ORDER BY p.number", (after, limit))]

    def count_pending(self) -> int:
        """Return how many predictions wait for their label."""
        return int(self._execute("SELECT COUNT(*) FROM pending")[0][0])

    def read_fact(self, name: str) -> str | None:
        """Return what `write_fact` has written under this name."""
        found = self._execute("SELECT value FROM facts WHERE name = ?", (name,))
        return found[0][0] if found else None

    @abstractmethod
    def write_fact(self, name: str, value: str) -> None:
        """Write a fact about the log, durably."""


def _as_integer(flag: bool | None) -> int | None:
    return None if flag is None else int(flag)


def _as_stored(row: Sequence[Any]) -> StoredPrediction:
    number, id, at, version, features, answer, seq, label, mistake, late = row
    prediction = Prediction(number, id, at, version, bytes(features), None if answer is None else bytes(answer))
    return StoredPrediction(
        prediction,
        seq,
        None if label is None else bytes(label),
        None if mistake is None else bool(mistake),
        None if late is None else bytes(late),
    )
