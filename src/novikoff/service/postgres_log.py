"""PostgresLog: an event log in a PostgreSQL database, by psycopg (extra "postgres").

Each model has a schema of its own. A commit is on the disk of the server before it returns, whatever the server's own
setting of synchronous_commit. An advisory lock keeps a second writer out; the server releases it when the connection
ends, however that happens.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from novikoff.errors import LogError, LogFullError
from novikoff.formatting.extras import explain_missing
from novikoff.service.failpoints import failpoint
from novikoff.service.records import Batch
from novikoff.service.sql_log import SCHEMA, SqlLog

try:
    import psycopg
    from psycopg import errors, sql
except ImportError as error:
    raise LogError(explain_missing("A log in PostgreSQL", "psycopg", "postgres")) from error

__all__ = ["PostgresLog"]

_ATTEMPTS, _PAUSE = 20, 0.05  # seconds between two attempts to take a lock


class PostgresLog(SqlLog):
    """An event log in a PostgreSQL database.

    Parameters
    ----------
    address : str
        postgresql://user@host/database
    name : str
        Of the model.
    read_only : bool
        Whether to open a log that another process may be writing to.
    """

    types: ClassVar[dict[str, str]] = {"integer": "BIGINT", "key": "BIGINT PRIMARY KEY", "bytes": "BYTEA"}
    many_values: ClassVar[str] = "SELECT UNNEST(CAST(? AS TEXT[]))"

    def __init__(self, address: str, name: str, *, read_only: bool = False) -> None:
        schema = f"novikoff_{name}"
        try:
            self._connection = psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError as error:
            raise LogError(f"The database of the log cannot be reached: {error}") from error
        label = f"{self._connection.info.dbname}.{schema}"
        try:
            if not read_only:
                self._connection.execute("SET synchronous_commit = on")
                self._lock(schema, label)
                self._connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
            self._connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(schema)))
            if not read_only:
                self._connection.execute(SCHEMA.format(**self.types).encode())
            super().__init__(label)
        except BaseException as error:
            self._connection.close()
            if isinstance(error, psycopg.Error):
                raise LogError(f"{label} cannot be used as a log: {error}") from error
            raise

    def _lock(self, schema: str, label: str) -> None:
        """Take the lock of a log. The database keeps that of a server that was killed until it has noticed."""
        for attempt in range(_ATTEMPTS):
            time.sleep(_PAUSE if attempt else 0.0)
            statement = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
            found = self._connection.execute(statement, (schema,)).fetchone()
            if found is not None and found[0]:
                return
        raise LogError(f"{label} is in use by another server. Stop it, or name another database.")

    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        try:
            cursor = self._connection.execute(_with_own_marks(statement), parameters)
            return cursor.fetchall() if cursor.description is not None else []
        except psycopg.Error as error:
            if self._connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
                raise LogError(f"The log cannot be read: {error}") from error
            raise

    def _pack(self, values: Sequence[str]) -> list[str]:
        return list(values)

    def _execute_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_with_own_marks(statement), rows)

    def _commit(self, batch: Batch) -> None:
        try:
            with self._connection.transaction():
                self._insert(batch)
                failpoint("after append")
        except errors.DiskFull as error:
            raise LogFullError(f"{self.name}: there is no room left on the disk. Nothing was logged.") from error
        except psycopg.Error as error:
            raise LogError(f"{self.name}: the log cannot be written: {error}") from error

    def write_fact(self, name: str, value: str) -> None:
        """Write a fact about the log, durably."""
        statement = "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value"
        self._execute(statement, (name, value))

    def close(self) -> None:
        """Close the log. Its lock is free when this returns; the database closes connections later."""
        with contextlib.suppress(psycopg.Error):  # a connection that is lost
            self._connection.execute("SELECT pg_advisory_unlock_all()")
        self._connection.close()


def _with_own_marks(statement: str) -> bytes:
    """Write parameters as psycopg wants them."""
    return statement.replace("?", "%s").encode()
