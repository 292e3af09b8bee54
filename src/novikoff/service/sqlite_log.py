"""SqliteLog: an event log in one file, by SQLite.

Write-ahead logging with synchronous=FULL: a transaction is synced to the disk before its commit returns. There is one
connection, used by one thread: before version 3.51.3 SQLite may lose a transaction if two connections write and reset
the write-ahead log at the same time.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from novikoff.errors import LogError, LogFullError
from novikoff.service.failpoints import failpoint
from novikoff.service.records import Batch
from novikoff.service.sql_log import SCHEMA, SqlLog

__all__ = ["SqliteLog"]

_CACHE = 64 << 10  # KiB of pages in memory


class SqliteLog(SqlLog):
    """An event log in an SQLite file.

    Parameters
    ----------
    path : Path
    read_only : bool
        Whether to open a log that another process may be writing to.
    """

    types: ClassVar[dict[str, str]] = {"integer": "INTEGER", "key": "INTEGER PRIMARY KEY", "bytes": "BLOB"}
    many_values: ClassVar[str] = "SELECT value FROM json_each(?)"

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        try:
            self._connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        except sqlite3.OperationalError as error:
            raise LogError(f"{path}: the log cannot be opened: {error}.") from error
        try:
            self._execute(f"PRAGMA cache_size = -{_CACHE}")
            if not read_only:
                self._execute("PRAGMA journal_mode = WAL")
                self._execute("PRAGMA synchronous = FULL")
                self._run_schema()
            super().__init__(str(path))
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise LogError(f"{path} is no event log, or is damaged: {error}. Restore it from a backup.") from error

    def _run_schema(self) -> None:
        for statement in SCHEMA.format(**self.types).split(";"):
            self._execute(statement)

    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") in ("SQLITE_CORRUPT", "SQLITE_NOTADB") and hasattr(self, "name"):
                raise LogError(f"{self.name}: the log is damaged: {error}. Restore it from a backup.") from error
            raise

    def _pack(self, values: Sequence[str]) -> str:
        return json.dumps(list(values))

    def _execute_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)

    def _commit(self, batch: Batch) -> None:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._insert(batch)
            failpoint("after append")
            connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
                raise LogFullError(f"{self.name}: there is no room left on the disk. Nothing was logged.") from error
            raise LogError(f"{self.name}: the log cannot be written: {error}.") from error
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def write_fact(self, name: str, value: str) -> None:
        """Write a fact about the log, durably."""
        self._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the log; SQLite then moves the write-ahead log into the file."""
        self._connection.close()
