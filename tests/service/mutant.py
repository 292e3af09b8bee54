"""The novikoff command with a fault: it acknowledges before it commits. The crash test must find it."""

import sys

from novikoff.__main__ import run
from novikoff.service.sqlite_log import SqliteLog

_commit, _close = SqliteLog._commit, SqliteLog.close
_late = []


def commit_one_batch_late(log, batch):
    """Commit the batch before this one."""
    _late.append(batch)
    if len(_late) > 1:
        _commit(log, _late.pop(0))


def close(log):
    """Commit what is left, then close."""
    while _late:
        _commit(log, _late.pop(0))
    _close(log)


if __name__ == "__main__":  # not when doctests are collected
    SqliteLog._commit, SqliteLog.close = commit_one_batch_late, close
    sys.exit(run())
